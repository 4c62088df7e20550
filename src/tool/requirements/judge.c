// Judges requirements: pass, fail or undecided, from the recorded behavior of a run.
#include "requirements/judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "io/display.h"
#include "machine/machine.h"
#include "requirements/sizing.h"
#include "requirements/track.h"

// One requirement during the run, with the columns of its outputs among the recorded outputs; -1: none.
typedef struct watched_requirement {
  const od_requirement *q;
  int output, reference, relative, pressure;
  od_track track, pressures, references;
} watched_requirement;

typedef struct output_range {
  double low, high;
} output_range;

// The data that a judge records during one run.
typedef struct record {
  int count, outputs;
  output_range *range;  // range of each recorded output over all steps
  watched_requirement *item;
  od_arena arena;
} record;

struct od_judge {
  const od_machine *machine;
  double time;
  int count, outputs;
  int *output;
  record *record;  // record of the delivered run; before the run, an empty record
  od_judgment *judgment;
  od_arena arena;
};

const char *od_outcome_text(od_outcome outcome) {
  static const char *const texts[] = {"pass", "fail", "undecided", "not judged"};
  return texts[outcome];
}

// --- Before the run -----------------------------------------------------------------------------------------------

bool od_judge_covers(const od_requirement *q, double time) {
  double end = isnan(q->to) ? q->from : q->to;
  return !od_requirement_is_of_run(q) || (end <= time * (1 + 1e-9) && q->from < time);
}

od_status od_judge_fail_uncovered(const od_machine *machine, const od_requirement *q, double time, od_error *err) {
  return od_fail(
      err, OD_BAD_INPUT,
      "%s:%d:%d: the window of the requirement '%.80s' extends to %.6g s, but the run ends at %.6g s; use a longer run "
      "or change the window",
      od_machine_file(machine), q->line, q->column, q->name, isnan(q->to) ? q->from : q->to, time);
}

int od_judge_outputs(const od_machine *machine, int *output) {
  int count, found = 0;
  const od_requirement *q = od_machine_requirements(machine, &count);
  for (int i = 0; i < count; i++) {
    if (!od_requirement_is_of_run(&q[i])) continue;
    int pressure = q[i].kind == OD_REQUIRE_ACCUMULATOR ? q[i].accumulator.pressure : -1;
    const int wanted[] = {q[i].signal.output, q[i].signal.reference, q[i].signal.relative, pressure};
    for (int k = 0; k < 4; k++) {
      int at = 0;
      while (at < found && output[at] != wanted[k]) at++;
      if (wanted[k] >= 0 && at == found) output[found++] = wanted[k];
    }
  }
  return found;
}

static int column_of(const int *output, int outputs, int wanted) {
  for (int i = 0; i < outputs; i++)
    if (output[i] == wanted) return i;
  return -1;
}

// --- During the run -----------------------------------------------------------------------------------------------

static void drop_record(void *judge, void *of_run) {
  (void)judge;
  record *r = of_run;
  for (int i = 0; r->item && i < r->count; i++) od_track_free(&r->item[i].track);
  od_arena_free(&r->arena);
  od_free(r);
}

static void *begin_record(void *judge) {
  const od_judge *g = judge;
  int count, outputs = g->outputs;
  const od_requirement *q = od_machine_requirements(g->machine, &count);
  record *r = od_calloc(1, sizeof *r);
  if (!r) return NULL;
  r->outputs = outputs;
  r->range = OD_TAKE(&r->arena, output_range, outputs);
  r->item = OD_TAKE(&r->arena, watched_requirement, count);
  if (od_arena_status(&r->arena) != OD_OK) {
    drop_record(judge, r);
    return NULL;
  }
  r->count = count;
  for (int i = 0; i < outputs; i++) r->range[i] = (output_range){INFINITY, -INFINITY};
  for (int i = 0; i < count; i++) {
    double to = isnan(q[i].to) ? g->time : fmin(q[i].to, g->time);
    bool sums = q[i].kind == OD_REQUIRE_ACCUMULATOR;
    r->item[i] = (watched_requirement){.q = &q[i],
                                       .output = column_of(g->output, outputs, q[i].signal.output),
                                       .reference = column_of(g->output, outputs, q[i].signal.reference),
                                       .relative = column_of(g->output, outputs, q[i].signal.relative),
                                       .pressure = sums ? column_of(g->output, outputs, q[i].accumulator.pressure) : -1,
                                       .track = od_track_new(q[i].from, to, q[i].band, sums),
                                       .pressures = od_track_new(q[i].from, to, 0, false),
                                       .references = od_track_new(q[i].from, to, 0, false)};
  }
  return r;
}

static void watch_step(void *of_run, double t, const double *y) {
  record *r = of_run;
  for (int i = 0; i < r->outputs; i++) {
    r->range[i].low = fmin(r->range[i].low, y[i]);
    r->range[i].high = fmax(r->range[i].high, y[i]);
  }
  for (int i = 0; i < r->count; i++) {
    watched_requirement *w = &r->item[i];
    if (w->output < 0) continue;
    double reference = w->reference >= 0 ? y[w->reference] : w->q->signal.constant, x = y[w->output];
    if (w->q->kind == OD_REQUIRE_OVERSHOOT)
      od_track_add(&w->references, t, reference);
    else
      x -= reference;
    // An error of zero remains zero, even relative to an output of zero.
    if (w->relative >= 0) x = x == 0 ? 0 : x / fabs(y[w->relative]);
    od_track_add(&w->track, t, x);
    if (w->pressure >= 0) od_track_add(&w->pressures, t, y[w->pressure]);
  }
}

static void take_record(void *judge, void *of_run) {
  od_judge *g = judge;
  drop_record(g, g->record);
  g->record = of_run;
}

od_run_watcher od_judge_watcher(od_judge *g) {
  return (od_run_watcher){.user = g,
                          .outputs = g->output,
                          .output_count = g->outputs,
                          .begin = begin_record,
                          .step = watch_step,
                          .deliver = take_record,
                          .drop = drop_record};
}

// --- Judges -----------------------------------------------------------------------------------------------------------

od_judge *od_judge_new(const od_machine *machine, double time, const int *output, int outputs) {
  OD_OWNED(od_judge_free) od_judge *g = od_calloc(1, sizeof *g);
  if (!g) return NULL;
  const od_requirement *q = od_machine_requirements(machine, &g->count);
  g->machine = machine;
  g->time = time;
  g->outputs = outputs;
  g->output = OD_TAKE(&g->arena, int, outputs);
  g->judgment = OD_TAKE(&g->arena, od_judgment, g->count);
  if (od_arena_status(&g->arena) != OD_OK) return NULL;
  if (outputs > 0) memcpy(g->output, output, (size_t)outputs * sizeof *output);
  g->record = begin_record(g);
  if (!g->record) return NULL;
  for (int i = 0; i < g->count; i++)
    g->judgment[i] = (od_judgment){.requirement = &q[i],
                                   .outcome = OD_NOT_JUDGED,
                                   .reached = NAN,
                                   .best = NAN,
                                   .worst = NAN,
                                   .at = NAN,
                                   .left = NAN};
  return OD_GIVE(g);
}

void od_judge_free(od_judge *g) {
  if (!g) return;
  if (g->record) drop_record(g, g->record);
  od_arena_free(&g->arena);
  od_free(g);
}

// --- After the run -----------------------------------------------------------------------------------------------------

// Returns the error bound of a recorded output in its SI unit: twice the estimated error, because the estimate is accurate to
// a factor of about two. 0: the output is not recorded, or the run has no estimate.
static double error_of(const od_judge *g, const od_run_report *report, int column) {
  if (column < 0 || !report->accuracy.error) return 0;
  const od_output_error *e = &report->accuracy.error[column];
  if (isinf(e->part)) return INFINITY;
  return 2 * e->part * fmax(e->range, od_visible_range(g->record->range[column].low, g->record->range[column].high));
}

// Sets the outcome and the margin `left` from the possible range of the value. Adds a note to an undecided requirement.
static void decide(od_judgment *j) {
  const od_requirement *q = j->requirement;
  bool least = od_requirement_is_least(q);
  bool passes = least ? j->worst >= q->bound : j->worst <= q->bound;
  bool fails = least ? j->best < q->bound : j->best > q->bound;
  j->left = least ? j->reached - q->bound : q->bound - j->reached;
  j->outcome = passes ? OD_PASS : fails ? OD_FAIL : OD_UNDECIDED;
  // If no end of the range is known, the note already contains the reason.
  bool unknown = !isfinite(j->best) && !isfinite(j->worst);
  if (j->outcome != OD_UNDECIDED || (unknown && j->note[0])) return;
  char low[96], high[96];
  od_requirement_value_text(q, least ? j->worst : j->best, low);
  od_requirement_value_text(q, least ? j->best : j->worst, high);
  bool has_low = isfinite(least ? j->worst : j->best), has_high = isfinite(least ? j->best : j->worst);
  size_t used = strlen(j->note);
  snprintf(
      j->note + used, sizeof j->note - used,
      "%sthe run is not accurate enough to decide: the value is %s%s%s%s; use shorter steps or a tighter tolerance",
      used ? "; " : "",
      !has_low    ? "at most "
      : !has_high ? "at least "
                  : "between ",
      has_low ? low : "", has_low && has_high ? " and " : "", has_high ? high : "");
}

static void judge_most(od_judgment *j, const od_extreme *e, double error, double sign) {
  j->reached = sign * e->between;
  j->at = e->between_at;
  j->best = sign * (e->value - error);
  j->worst = sign * (e->between + error);
}

// Judges the settling time, s. Its range follows from the error and the rate at which the signal entered the band.
static void judge_settling(od_judgment *j, const od_track *k, double error) {
  j->reached = k->is_outside ? INFINITY : k->outside - k->from;
  j->at = k->is_outside ? NAN : k->outside;
  double late = k->rate > 0 && isfinite(k->rate) ? error / k->rate : 0;
  j->best = fmax(j->reached - late, 0);
  j->worst = error < k->band ? (k->is_outside ? INFINITY : k->perhaps_outside - k->from + late) : INFINITY;
  if (k->is_outside)
    snprintf(j->note, sizeof j->note, "the signal is outside the band of %s at the end of the window",
             od_display_quantity(k->band, j->requirement->band_unit).text);
}

// Judges the overshoot relative to the step from the first value to the final reference.
static void judge_overshoot(od_judgment *j, const watched_requirement *w, double error) {
  const od_track *k = &w->track;
  double last = w->references.x[1], step = last - k->first, size = fabs(step), room = size - 2 * error;
  const od_extreme *e = step > 0 ? &k->high : &k->low;
  double goal = step > 0 ? last : -last;
  if (!(room > 0)) {
    j->best = -INFINITY, j->worst = INFINITY;
    snprintf(j->note, sizeof j->note,
             "the overshoot is not known: the step to the final reference is not larger than the error of the run; use "
             "shorter steps or a tighter tolerance");
    return;
  }
  j->reached = fmax((e->between - goal) / size, 0);
  j->at = e->between_at;
  j->best = fmax((e->value - error - goal) / (size + 2 * error), 0);
  j->worst = fmax((e->between + error - goal) / room, 0);
}

// Judges the required volume of the accumulator, m3, from the swing of the integrated flow and the range of pressures.
static void judge_accumulator(od_judgment *j, const watched_requirement *w, double error, double pressure_error) {
  const od_accumulator_size *a = &j->requirement->accumulator;
  const od_track *k = &w->track;
  double low = w->pressure >= 0 ? -w->pressures.low.between : a->low;
  double high = w->pressure >= 0 ? w->pressures.high.between : a->high;
  double precharge = a->precharge > 0 ? a->precharge : a->precharge_part * low, at;
  double swing = a->safety * od_swing_size(&k->swing, &at), most = fmax(k->high.value, k->low.value);
  double off = most > 0 ? error / most : 0;
  j->reached = od_size_accumulator(swing, precharge, low, high, a->exponent, a->correction);
  j->at = at;
  j->best = od_size_accumulator(swing * (1 - off), precharge, low - pressure_error, high + pressure_error, a->exponent,
                                a->correction);
  j->worst = od_size_accumulator(swing * (1 + off), precharge, low + pressure_error, high - pressure_error, a->exponent,
                                 a->correction);
  if (isinf(j->best) || isnan(j->best)) j->best = j->reached;
  snprintf(j->note, sizeof j->note,
           "the accumulator stores and returns %s, including the safety factor, between %s "
           "and %s, with a precharge of %s",
           od_display_quantity(swing, "m3").text, od_display_quantity(low, "Pa").text,
           od_display_quantity(high, "Pa").text, od_display_quantity(precharge, "Pa").text);
}

// Judges the pressure loss (Pa) or the velocity (m/s) in a hose at the largest flow of the window.
static void judge_hose(od_judgment *j, const od_track *k, double error) {
  const od_hose_size *h = &j->requirement->hose;
  const od_extreme *e = k->high.between >= k->low.between ? &k->high : &k->low;
  const double flow[3] = {e->between, fmax(e->value - error, 0), e->between + error};
  double value[3];
  od_hose_flow shown = {0};
  for (int i = 0; i < 3; i++) {
    od_hose_flow f = od_size_hose(flow[i], h->diameter, h->length, h->density, h->viscosity);
    value[i] = j->requirement->kind == OD_REQUIRE_HOSE_LOSS ? f.loss : f.velocity;
    if (i == 0) shown = f;
  }
  j->reached = value[0], j->best = value[1], j->worst = value[2];
  j->at = e->between_at;
  snprintf(j->note, sizeof j->note, "largest flow %s: velocity %s, Reynolds number %.4g (%s), pressure loss %s",
           od_display_quantity(flow[0], "m3/s").text, od_display_quantity(shown.velocity, "m/s").text, shown.reynolds,
           shown.reynolds < 2300 ? "laminar" : "turbulent", od_display_quantity(shown.loss, "Pa").text);
}

static void judge_run(od_judgment *j, const watched_requirement *w, double error, double pressure_error) {
  const od_track *k = &w->track;
  const od_extreme *larger = k->high.between >= k->low.between ? &k->high : &k->low;
  od_extreme magnitude = *larger;
  magnitude.value = fmax(k->high.value, k->low.value);
  double rms = k->duration > 0 ? sqrt(k->squares / k->duration) : NAN;
  switch (j->requirement->kind) {
    case OD_REQUIRE_MAX: judge_most(j, &k->high, error, 1); break;
    case OD_REQUIRE_MIN: judge_most(j, &k->low, error, -1); break;
    case OD_REQUIRE_WITHIN:
      judge_most(j, &magnitude, error, 1);
      j->best = fmax(j->best, 0);
      break;
    case OD_REQUIRE_RMS: j->reached = rms, j->best = fmax(rms - error, 0), j->worst = rms + error; break;
    case OD_REQUIRE_SETTLING: judge_settling(j, k, error); break;
    case OD_REQUIRE_OVERSHOOT: judge_overshoot(j, w, error); break;
    case OD_REQUIRE_ACCUMULATOR: judge_accumulator(j, w, error, pressure_error); break;
    case OD_REQUIRE_HOSE_LOSS:
    case OD_REQUIRE_HOSE_SPEED: judge_hose(j, k, error); break;
    case OD_REQUIRE_PHASE_MARGIN:
    case OD_REQUIRE_GAIN_MARGIN: break;
  }
}

// Returns the error bound of a signal. The bound of a relative signal includes the error of the output to which the
// signal is relative.
static double error_of_signal(const od_judge *g, const watched_requirement *w, const od_run_report *report) {
  double error = error_of(g, report, w->output) + error_of(g, report, w->reference);
  if (w->relative < 0) return error;
  const output_range *s = &g->record->range[w->relative];
  double size = fmax(fabs(s->low), fabs(s->high)), most = fmax(w->track.high.between, w->track.low.between);
  return size > 0 ? (error + most * error_of(g, report, w->relative)) / size : INFINITY;
}

od_status od_judge_end(od_judge *g, const od_run_report *report, bool complete, od_error *err) {
  for (int i = 0; i < g->count; i++) {
    watched_requirement *w = &g->record->item[i];
    od_judgment *j = &g->judgment[i];
    if (!od_requirement_is_of_run(w->q)) {
      od_status status = complete ? od_judge_loop(g->machine, j, err) : OD_OK;
      if (status != OD_OK) return status;
      if (complete) decide(j);
    } else if (w->track.failed) {
      return od_fail(err, OD_NO_MEMORY, "out of memory");
    } else if (w->track.points > 0) {
      judge_run(j, w, error_of_signal(g, w, report), error_of(g, report, w->pressure));
      decide(j);
    }
    // An incomplete run can show that a bound is exceeded, but not that a requirement is met.
    bool is_extreme = w->q->kind <= OD_REQUIRE_WITHIN;
    if (complete || (j->outcome == OD_FAIL && is_extreme)) continue;
    j->outcome = OD_NOT_JUDGED;
    snprintf(j->note, sizeof j->note, "the run ended early");
  }
  return OD_OK;
}

const od_judgment *od_judge_results(const od_judge *g, int *count) {
  *count = g->count;
  return g->judgment;
}

od_outcome od_judge_outcome(const od_judge *g) {
  static const int severity[] = {[OD_PASS] = 0, [OD_UNDECIDED] = 1, [OD_NOT_JUDGED] = 2, [OD_FAIL] = 3};
  od_outcome worst = OD_PASS;
  for (int i = 0; i < g->count; i++)
    if (severity[g->judgment[i].outcome] > severity[worst]) worst = g->judgment[i].outcome;
  return worst;
}
