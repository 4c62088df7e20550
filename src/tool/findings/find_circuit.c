// Findings of the circuit: pumps, relief valves, cavitation, accumulators, check valves, temperature.
#include <math.h>
#include <stdio.h>

#include "findings/findings_work.h"

// Returns a clause about the lowest pressure: ", and P falls to 250 bar"; empty if no pressure is recorded.
static od_phrase falls_to(const od_found *x) {
  od_phrase p = {""};
  if (x->w->node[0] && x->w->condition.companion[OD_WITH_PRESSURE] >= 0)
    snprintf(p.text, sizeof p.text, ", and %.60s falls to %s", x->w->node,
             od_value_words(x->r->with[OD_WITH_PRESSURE].low, "Pa").text);
  return p;
}

static void write_pump(od_findings *f, const od_found *x) {
  od_findings_add(f, "pump.limit", OD_FINDING_WARNING, x->w->owner, x->w->output, x->r->longest, x->r->longest.from,
                  "Pump at its limit", "%.80s is fully swung out %s. It delivers at most %s%s.%s", x->w->owner, x->span,
                  od_value_words(x->r->with[OD_WITH_OUTPUT].high, x->w->with_unit).text, falls_to(x).text, x->others);
}

static void write_drive(od_findings *f, const od_found *x) {
  const double rpm = 60 / (2 * acos(-1));
  od_findings_add(f, "drive.limit", OD_FINDING_WARNING, x->w->owner, x->w->output, x->r->longest, x->r->longest.from,
                  "Drive at its limit",
                  "The drive of %.80s gives its largest torque, %s, %s. Its speed is then %.0f to %.0f rpm.%s",
                  x->w->owner, od_value_words(x->w->limit / 0.99, "N m").text, x->span,
                  rpm * x->r->with[OD_WITH_OUTPUT].low, rpm * x->r->with[OD_WITH_OUTPUT].high, x->others);
}

static void write_relief(od_findings *f, const od_found *x) {
  bool always = x->r->total > 0.9 * od_findings_time(f);
  const char *flow = x->w->with_unit;
  od_findings_add(f, "relief.open", always ? OD_FINDING_NOTE : OD_FINDING_WARNING, x->w->owner, x->w->output,
                  x->r->longest, x->r->high_at, always ? "Relief valve sets the pressure" : "Relief valve opens",
                  "%.80s is open %s. Its flow is at most %s at %s, and %.60s reaches %s.%s", x->w->owner, x->span,
                  od_value_words(x->r->with[OD_WITH_OUTPUT].high, flow).text, od_time_words(f, x->r->high_at).text,
                  x->w->node, od_value_words(x->r->with[OD_WITH_PRESSURE].high, "Pa").text, x->others);
}

// Reports the relief valve whose pressure is closest to its setting, if no relief valve opens. The opening pressure in
// the sentence is absolute, as the peak and as all pressures of pictures: the setting plus the pressure at the outlet.
static void write_nearest_relief(od_findings *f) {
  int nearest = -1, count = 0;
  for (int i = 0; i < f->followed_count; i++) {
    const od_condition_record *r = &f->record->condition[i];
    if (f->followed[i].type != OD_FIND_RELIEF) continue;
    count++;
    if (nearest < 0 || r->high > f->record->condition[nearest].high) nearest = i;
  }
  if (nearest < 0) return;
  const od_followed *w = &f->followed[nearest];
  const od_condition_record *r = &f->record->condition[nearest];
  double peak = r->with[OD_WITH_PRESSURE].at_high;
  od_findings_add(f, "relief.closed", OD_FINDING_GOOD, w->owner, w->output, (od_span){NAN, NAN}, r->high_at,
                  count > 1 ? "No relief valve opens" : "The relief valve does not open",
                  "%s%.60s peaks at %s at %s; %.80s opens at %s.", count > 1 ? "Closest: " : "", w->node,
                  od_value_words(peak, "Pa").text, od_time_words(f, r->high_at).text, w->owner,
                  od_value_words(peak + fmax(-r->high, 0), "Pa").text);
}

static void write_cavitation(od_findings *f, const od_found *x) {
  od_findings_add(f, "cavitation", x->r->total > 0.1 ? OD_FINDING_SERIOUS : OD_FINDING_WARNING, x->w->owner,
                  x->w->output, x->r->longest, x->r->first.from, "Cavitation",
                  "%.80s cavitates %s: more oil flows out than in.%s", x->w->owner, x->span, x->others);
}

static void write_empty(od_findings *f, const od_found *x) {
  od_findings_add(f, "accumulator.empty", OD_FINDING_WARNING, x->w->owner, x->w->output, x->r->longest,
                  x->r->longest.from, "Runs empty", "%.80s is empty %s%s.%s", x->w->owner, x->span, falls_to(x).text,
                  x->others);
}

static void write_full(od_findings *f, const od_found *x) {
  od_findings_add(f, "accumulator.full", OD_FINDING_WARNING, x->w->owner, x->w->output, x->r->longest,
                  x->r->longest.from, "Full", "%.80s is full %s.%s", x->w->owner, x->span, x->others);
}

static void write_chatter(od_findings *f, const od_found *x) {
  double time = x->r->now.from - x->r->first.from;
  od_span span = {x->r->first.from, x->r->now.to};
  od_findings_add(f, "check.chatter", OD_FINDING_NOTE, x->w->owner, x->w->output, span, x->r->first.from,
                  "Check valve chatters", "%.80s opens %ld times from %s to %s, %.3g times per second.%s", x->w->owner,
                  x->r->count, od_time_words(f, span.from).text, od_time_words(f, span.to).text,
                  (double)(x->r->count - 1) / time, x->others);
}

static void write_hot(od_findings *f, const od_found *x) {
  od_findings_add(f, "oil.hot", OD_FINDING_WARNING, x->w->owner, x->w->output, x->r->longest, x->r->high_at,
                  "Oil is hot", "The oil is above 80 °C %s, at most %.3g °C at %s.", x->span,
                  x->r->high + x->w->limit - 273.15, od_time_words(f, x->r->high_at).text);
}

// Returns the highest setting of all relief valves; NAN: there are none.
static double highest_setting(const od_findings *f) {
  double highest = NAN;
  for (int i = 0; i < f->followed_count; i++)
    if (f->followed[i].type == OD_FIND_RELIEF) highest = fmax(highest, f->followed[i].limit);
  return highest;
}

// Reports the highest pressure. In machines with relief valves this pressure is reported only if it is far above the settings of
// all relief valves: the node is not protected.
static void write_highest_pressure(od_findings *f) {
  const double far_above = 1.25;
  int highest = -1;
  for (int i = 0; i < f->followed_count; i++) {
    if (f->followed[i].type != OD_FIND_PRESSURE) continue;
    if (highest < 0 || f->record->condition[i].high > f->record->condition[highest].high) highest = i;
  }
  if (highest < 0) return;
  const od_followed *w = &f->followed[highest];
  const od_condition_record *r = &f->record->condition[highest];
  double setting = highest_setting(f);
  od_phrase compared = {""};
  if (r->high <= far_above * setting) return;
  if (!isnan(setting))
    snprintf(compared.text, sizeof compared.text, ". No relief valve is set above %s",
             od_value_words(setting, "Pa").text);
  od_findings_add(f, "pressure.highest", isnan(setting) ? OD_FINDING_NOTE : OD_FINDING_WARNING, w->owner, w->output,
                  (od_span){NAN, NAN}, r->high_at,
                  isnan(setting) ? "Highest pressure" : "Pressure above the relief valves", "%.80s reaches %s at %s%s.",
                  w->owner, od_value_words(r->high, "Pa").text, od_time_words(f, r->high_at).text, compared.text);
}

void od_find_in_circuit(od_findings *f) {
  od_find_all(f, OD_FIND_CAVITATION, write_cavitation);
  od_find_all(f, OD_FIND_PUMP_LIMIT, write_pump);
  od_find_all(f, OD_FIND_DRIVE_LIMIT, write_drive);
  if (od_find_all(f, OD_FIND_RELIEF, write_relief) == 0) write_nearest_relief(f);
  od_find_all(f, OD_FIND_EMPTY, write_empty);
  od_find_all(f, OD_FIND_FULL, write_full);
  od_find_all(f, OD_FIND_CHATTER, write_chatter);
  od_find_all(f, OD_FIND_HOT, write_hot);
  write_highest_pressure(f);
}
