// Findings of the mechanism: ends of strokes, stops, ropes, brakes, loads of joints, loads that reverse.
#include <math.h>
#include <stdio.h>

#include "findings/findings_work.h"

static void write_stroke(od_findings *f, const od_found *x) {
  double speed = fabs(x->r->with[OD_WITH_OUTPUT].begin);
  od_span span = x->r->held_at_start ? x->r->longest : x->r->first;
  bool brief = span.to - span.from < 0.1;
  od_phrase rest = {""};
  if (x->r->count - x->r->held_at_start > 1)
    snprintf(rest.text, sizeof rest.text, ", %ld times in total", x->r->count - x->r->held_at_start);
  else if (!brief)
    snprintf(rest.text, sizeof rest.text, " and stays there for %s", od_duration_text(span.to - span.from, 3).text);
  od_findings_add(f, "stroke.end", speed > 0.1 ? OD_FINDING_WARNING : OD_FINDING_NOTE, x->w->owner, x->w->output, span,
                  span.from, "End of stroke", "%.80s reaches its %s end at %s with %s%s.%s", x->w->owner,
                  x->w->side > 0 ? "outer" : "inner", od_time_words(f, span.from).text,
                  od_value_words(speed, x->w->with_unit).text, rest.text, x->others);
}

// Reports the cylinder nearest to an end of its stroke, if no cylinder reaches an end. Cylinders that come within 0.1 % of their stroke
// to an end are omitted, for example cylinders that start at an end.
static void write_nearest_end(od_findings *f) {
  int nearest = -1, count = 0;
  for (int i = 0; i < f->followed_count; i++) {
    const od_condition_record *r = &f->record->condition[i];
    if (f->followed[i].type != OD_FIND_STROKE) continue;
    if (od_followed_matters(f, i)) return;
    count += f->followed[i].side > 0;
    if (r->high > -1e-3 * f->followed[i].scale) continue;
    if (nearest < 0 || r->high > f->record->condition[nearest].high) nearest = i;
  }
  if (nearest < 0) return;
  const od_followed *w = &f->followed[nearest];
  const od_condition_record *r = &f->record->condition[nearest];
  od_findings_add(f, "stroke.left", OD_FINDING_GOOD, w->owner, w->output, (od_span){NAN, NAN}, r->high_at,
                  count > 1 ? "No cylinder reaches its end" : "The cylinder does not reach its end",
                  "%s%.80s is %s from its %s end at %s; its stroke is %s.", count > 1 ? "Closest: " : "", w->owner,
                  od_value_words(-r->high, "m").text, w->side > 0 ? "outer" : "inner",
                  od_time_words(f, r->high_at).text, od_value_words(w->scale, "m").text);
}

static void write_stop(od_findings *f, const od_found *x) {
  od_findings_add(f, "stop.reached", OD_FINDING_NOTE, x->w->owner, x->w->output, x->r->longest, x->r->high_at,
                  "Stop reached", "%.80s is in contact %s. Its largest force is %s at %s.%s", x->w->owner, x->span,
                  od_value_words(x->r->high + x->w->limit, x->w->unit).text, od_time_words(f, x->r->high_at).text,
                  x->others);
}

static void write_slack(od_findings *f, const od_found *x) {
  od_findings_add(f, "rope.slack", OD_FINDING_WARNING, x->w->owner, x->w->output, x->r->longest, x->r->longest.from,
                  "Rope goes slack", "%.80s has no tension %s.%s", x->w->owner, x->span, x->others);
}

static void write_slip(od_findings *f, const od_found *x) {
  od_findings_add(f, "brake.slips", OD_FINDING_WARNING, x->w->owner, x->w->output, x->r->longest, x->r->longest.from,
                  "Brake slips", "%.80s is at its holding limit, %s, %s.%s", x->w->owner,
                  od_value_words(x->w->limit / 0.999, x->w->unit).text, x->span, x->others);
}

// --- Loads ------------------------------------------------------------------------------------------------------------

// Reports the two joints with the largest forces.
static void write_joint_loads(od_findings *f) {
  int first = -1, second = -1;
  for (int i = 0; i < f->followed_count; i++) {
    if (f->followed[i].type != OD_FIND_JOINT_LOAD) continue;
    double high = f->record->condition[i].high;
    if (first < 0 || high > f->record->condition[first].high)
      second = first, first = i;
    else if (second < 0 || high > f->record->condition[second].high)
      second = i;
  }
  if (first < 0 || !(f->record->condition[first].high > 1e-3)) return;
  const od_followed *w = &f->followed[first];
  const od_condition_record *r = &f->record->condition[first];
  od_phrase next = {""};
  if (second >= 0 && f->record->condition[second].high > 1e-3)
    snprintf(next.text, sizeof next.text, ", %.80s %s", f->followed[second].owner,
             od_value_words(f->record->condition[second].high, w->unit).text);
  bool is_constant = r->high - r->low < 1e-4 * r->high;
  od_phrase when = {"during the whole run"};
  if (!is_constant) snprintf(when.text, sizeof when.text, "at %s", od_time_words(f, r->high_at).text);
  od_findings_add(f, "load.largest", OD_FINDING_NOTE, w->owner, w->output, (od_span){NAN, NAN},
                  is_constant ? (double)NAN : r->high_at, "Largest load of a joint", "%.80s carries %s %s%s.", w->owner,
                  od_value_words(r->high, w->unit).text, when.text, next.text);
}

// Reports a cylinder whose mean load has one direction, and whose load has the opposite direction for a while. `with`
// and `against` are the conditions of the direction of the mean and of the opposite direction.
static void write_reversal(od_findings *f, int with, int against) {
  const double part_of_mean = 0.3, part_against = 0.1, shortest = 0.02, low_pressure = 2e5;
  const od_followed *w = &f->followed[against];
  const od_condition_record *r = &f->record->condition[against], *main = &f->record->condition[with];
  double mean = main->integral / od_findings_time(f);
  double longest = isnan(r->longest.to) ? 0 : r->longest.to - r->longest.from;
  if (mean < part_of_mean * main->high || r->high < part_against * main->high || longest < shortest) return;
  double falls = r->with[OD_WITH_PRESSURE].low;
  bool low = falls < low_pressure;
  od_phrase pressure = {""};
  if (w->node[0])
    snprintf(pressure.text, sizeof pressure.text, ", and %.60s falls to %s", w->node, od_value_words(falls, "Pa").text);
  od_findings_add(f, "load.reverses", low ? OD_FINDING_WARNING : OD_FINDING_NOTE, w->owner, w->output, r->longest,
                  r->high_at, "Load reverses", "The load of %.80s reverses %s. The cylinder %s with %s at %s%s.",
                  w->owner, od_span_words(f, r).text, w->side > 0 ? "pushes" : "pulls",
                  od_value_words(r->high, w->unit).text, od_time_words(f, r->high_at).text, pressure.text);
}

static void write_reversals(od_findings *f) {
  if (!(od_findings_time(f) > 0)) return;
  for (int i = 0; i + 1 < f->followed_count; i++) {
    const od_followed *push = &f->followed[i], *pull = &f->followed[i + 1];
    bool pair = push->type == OD_FIND_REVERSAL && pull->type == OD_FIND_REVERSAL && push->part == pull->part;
    if (!pair || push->side < 0) continue;
    if (f->record->condition[i].integral >= 0)
      write_reversal(f, i, i + 1);
    else
      write_reversal(f, i + 1, i);
  }
}

void od_find_in_mechanism(od_findings *f) {
  od_find_all(f, OD_FIND_STROKE, write_stroke);
  write_nearest_end(f);
  od_find_all(f, OD_FIND_STOP, write_stop);
  od_find_all(f, OD_FIND_SLACK, write_slack);
  od_find_all(f, OD_FIND_SLIP, write_slip);
  write_joint_loads(f);
  write_reversals(f);
}
