// Why innovations are not what they should be: what the run itself has to say about it, the strongest evidence first.
// Each cause comes with what can be checked.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiment/observe_verdict.h"
#include "io/display.h"

enum { MOST_CAUSES = 3, TEXT = 700 };

// Weights of evidence, by how often it means what it seems to mean. GENERAL: true of any bad run.
enum { CERTAIN = 120, NEARLY_CERTAIN = 100, STRONG = 80, FAIR = 60, WEAK = 40, GENERAL = 10 };

typedef struct cause {
  int weight;
  const char *code;
  char text[TEXT];
} cause;

typedef struct causes {
  const od_experiment *e;
  const od_observed *o;
  cause item[MOST_CAUSES];  // the strongest, in order
  int count;
} causes;

// Keeps the strongest; of equal weight the first stays before.
static void add(causes *c, const cause *candidate) {
  int at = c->count;
  while (at > 0 && c->item[at - 1].weight < candidate->weight) at--;
  if (at == MOST_CAUSES) return;
  if (c->count < MOST_CAUSES) c->count++;
  for (int i = c->count - 1; i > at; i--) c->item[i] = c->item[i - 1];
  c->item[at] = *candidate;
}

static bool is_large(const od_scatter *s) {
  return s->count > 0 && s->square > 1.1;
}

static bool is_off(const od_scatter *s) {
  return fabs(s->mean) > 0.05 && fabs(s->mean) * sqrt((double)s->count) > 4;
}

static bool is_white(const causes *c, int sensor) {
  return !od_innovations_coloured(&c->o->innovations[sensor], c->o->level);
}

// --- Channels -----------------------------------------------------------------------------------------------------

static void held_inputs(causes *c) {
  const od_log *log = c->e->log;
  for (int i = 0; log && !c->e->data.hold && i < log->plan->channels; i++) {
    long jumps = log->plan->channel[i].is_input ? od_log_jumps(log, i) : 0;
    if (jumps == 0) continue;
    cause candidate = {NEARLY_CERTAIN, "cause.hold", ""};
    snprintf(candidate.text, TEXT,
             "the input %.80s jumps (%ld time%s), but goes straight from row to row here. Write 'hold: previous' under "
             "'data' if the machine has seen jumps.",
             log->plan->channel[i].name, jumps, jumps == 1 ? "" : "s");
    add(c, &candidate);
  }
}

static void paused_log(causes *c) {
  const od_log *log = c->e->log;
  if (!log || !od_log_pauses(log)) return;
  cause candidate = {STRONG + 6, "cause.pause", ""};
  snprintf(
      candidate.text, TEXT,
      "the log has no rows for %s after %.9g s, and what the inputs did meanwhile is not known. Begin after that, or "
      "end before it: 'start' and 'end' under 'data'.",
      od_duration_text(log->longest, 6).text, log->at);
  add(c, &candidate);
}

// The factor between two units of the trade that a ratio is, or NULL.
static const char *slip_of(double ratio) {
  static const struct {
    double factor;
    const char *text;
  } slips[] = {{1e5, "bar for Pa"},       {1e6, "MPa for Pa"},      {10, "MPa for bar"},        {1e3, "m for mm"},
               {57.29578, "rad for deg"}, {6e4, "m^3/s for l/min"}, {100, "a part for percent"}};
  double size = fabs(ratio) > 1 ? fabs(ratio) : 1 / fabs(ratio);
  for (size_t i = 0; i < sizeof slips / sizeof *slips; i++)
    if (size > slips[i].factor / 1.3 && size < slips[i].factor * 1.3) return slips[i].text;
  return NULL;
}

// A channel in the wrong unit is lost in its own noise, or far off from the first sample on by the factor of a unit.
static void unit_slips(causes *c) {
  for (int i = 0; i < c->e->sensors; i++) {
    const od_sensor *s = &c->e->sensor[i];
    const od_innovations *in = &c->o->innovations[i];
    double ratio = in->first / in->predicted, sigma = od_sensor_sigma(s);
    bool far = fabs(in->first - in->predicted) > 10 * sigma;
    const char *slip = far && isfinite(ratio) && ratio != 0 ? slip_of(ratio) : NULL;
    od_display shown = od_display_unit(s->unit, fmax(in->largest, sigma));
    cause candidate = {STRONG, "cause.unit", ""};
    if (in->run.count > 10 && in->largest < sigma) {
      candidate.weight = CERTAIN;
      snprintf(
          candidate.text, TEXT,
          "all that %.80s has measured is below %.3g %s, less than its noise of %.3g %s. Check the unit of its channel.",
          s->name, in->largest * shown.factor, shown.unit, sigma * shown.factor, shown.unit);
    } else if (slip) {
      snprintf(
          candidate.text, TEXT,
          "%.80s begins with %.4g %s where %.4g %s was expected: that is as if a unit were wrong (%s, or the other way "
          "round). Check the unit of its channel.",
          s->name, in->first * shown.factor, shown.unit, in->predicted * shown.factor, shown.unit, slip);
    } else if (far && ratio > -1.3 && ratio < -1 / 1.3) {
      snprintf(candidate.text, TEXT,
               "%.80s begins with %.4g %s where %.4g %s was expected: check its sign (scale: -1 under its channel).",
               s->name, in->first * shown.factor, shown.unit, in->predicted * shown.factor, shown.unit);
    } else {
      continue;
    }
    add(c, &candidate);
  }
}

// Innovations that come with the changes of an input.
static void shifted_inputs(causes *c) {
  int worst = -1;
  for (int i = 0; i < c->e->sensors; i++) {
    const od_innovations *in = &c->o->innovations[i];
    bool counts = in->input >= 0 && in->follows > fmax(0.2, 10 / sqrt((double)in->run.count));
    if (counts && (worst < 0 || in->follows > c->o->innovations[worst].follows)) worst = i;
  }
  if (worst < 0) return;
  const od_innovations *in = &c->o->innovations[worst];
  cause candidate = {STRONG, "cause.shift", ""};
  snprintf(
      candidate.text, TEXT,
      "innovations of %.80s go with changes of the input %.80s (correlation %.2f). Check whether that column is early or "
      "late against the sensors, its 'hold', and the valve or drive behind it.",
      c->e->sensor[worst].name, od_machine_input_name(c->e->model, in->input), in->follows);
  add(c, &candidate);
}

// --- Sensors ------------------------------------------------------------------------------------------------------

// One that is much worse than all others.
static void odd_sensor(causes *c) {
  int worst = -1;
  double most = 0, others = 0;
  for (int i = 0; i < c->e->sensors; i++)
    if (c->o->innovations[i].run.square > most) most = c->o->innovations[i].run.square, worst = i;
  for (int i = 0; i < c->e->sensors; i++)
    if (i != worst) others = fmax(others, c->o->innovations[i].run.square);
  if (worst < 0 || !(others > 0) || most < 4 * others || most < 2) return;
  cause candidate = {FAIR, "cause.sensor", ""};
  snprintf(
      candidate.text, TEXT,
      "%.80s is %.2g times as far off as expected, the other sensors at most %.2g times. Check its place, sign, zero and "
      "sigma, or leave it out by way of trial.",
      c->e->sensor[worst].name, sqrt(most), sqrt(others));
  add(c, &candidate);
}

static void small_sigmas(causes *c) {
  for (int i = 0; i < c->e->sensors; i++) {
    const od_innovations *in = &c->o->innovations[i];
    if (!is_large(&in->run) || !is_white(c, i) || is_off(&in->run)) continue;
    double sigma = od_sensor_sigma(&c->e->sensor[i]);
    od_display shown = od_display_unit(c->e->sensor[i].unit, sigma);
    cause candidate = {FAIR, "cause.sigma", ""};
    snprintf(
        candidate.text, TEXT,
        "innovations of %.80s are white and without a mean, but %.2g times as large as expected: its noise is larger than "
        "its sigma of %.3g %s. Measure it at rest.",
        c->e->sensor[i].name, sqrt(in->run.square), sigma * shown.factor, shown.unit);
    add(c, &candidate);
  }
}

// A few wild values that make up most of the sum.
static void outliers(causes *c) {
  for (int i = 0; i < c->e->sensors; i++) {
    const od_scatter *s = &c->o->innovations[i].run;
    if (c->e->gate > 0 || s->count == 0 || s->square < 1.5 || s->far > 0.02) continue;
    cause candidate = {STRONG + 5, "cause.outliers", ""};
    snprintf(
        candidate.text, TEXT,
        "%.2g %% of the values of %.80s are beyond three standard deviations and make up most of its NIS. Keep wild values "
        "out: 'filter: {gate: 5}'.",
        100 * s->far, c->e->sensor[i].name);
    add(c, &candidate);
  }
}

// Told of the sensor that is off most.
static void biased_sensor(causes *c) {
  int worst = -1;
  for (int i = 0; i < c->e->sensors; i++) {
    const od_innovations *in = &c->o->innovations[i];
    if (!is_off(&in->run) || !is_off(&in->last) || in->run.mean * in->last.mean < 0) continue;
    if (worst < 0 || fabs(in->run.mean) > fabs(c->o->innovations[worst].run.mean)) worst = i;
  }
  if (worst < 0) return;
  const char *name = c->e->sensor[worst].name;
  cause candidate = {WEAK, "cause.bias", ""};
  snprintf(candidate.text, TEXT,
           "%.80s is off to the same side throughout. Check its zero, or estimate it: 'sensors.%.80s.bias' under "
           "'parameters'.",
           name, name);
  add(c, &candidate);
}

// --- The filter ---------------------------------------------------------------------------------------------------

static void bad_start(causes *c) {
  od_scatter run = od_scatter_of_all(c->o->innovations, c->e->sensors, false);
  od_scatter last = od_scatter_of_all(c->o->innovations, c->e->sensors, true);
  if (!is_large(&run) || is_large(&last)) return;
  cause candidate = {FAIR, "cause.start", ""};
  snprintf(
      candidate.text, TEXT,
      "the last quarter of the run is as expected (NIS per dimension %.3g): the start was farther off than 'initial' and "
      "the sigmas of the parameters say. Raise them, or begin later.",
      last.square);
  add(c, &candidate);
}

static void contradicted_start(causes *c) {
  bool contradicted = od_verdict_has(&c->o->verdict, "parameter.start");
  if (!contradicted && !od_verdict_has(&c->o->verdict, "start.matters")) return;
  const cause candidate = {
      contradicted ? STRONG : FAIR + 5, "cause.prior",
      "parameters began too far off, see above; while they were wrong and sure of themselves others have "
      "followed. Begin nearer, or raise the sigma of what may be wrong, and run again."};
  add(c, &candidate);
}

static void long_step(causes *c) {
  if (!od_verdict_has(&c->o->verdict, "step.shift")) return;
  const cause candidate = {STRONG, "cause.step",
                           "the step is too long for this machine, see above. Check with half of it."};
  add(c, &candidate);
}

static void poor_model(causes *c) {
  cause candidate = {
      GENERAL, "cause.model",
      "the model misses something (friction, leakage, a wrong number), or 'noise' under-rates what it misses. Raise "
      "'noise' until the innovations are white; estimates that move by more than their sigma meanwhile depend on "
      "what is missing."};
  for (int i = 0; i < c->e->sensors; i++)
    if (!is_white(c, i)) candidate.weight = WEAK + 5;
  add(c, &candidate);
}

bool od_observe_name_causes(const od_experiment *e, const od_observed *o, od_verdict *verdict) {
  causes c = {.e = e, .o = o};
  held_inputs(&c);
  paused_log(&c);
  unit_slips(&c);
  shifted_inputs(&c);
  contradicted_start(&c);
  long_step(&c);
  outliers(&c);
  odd_sensor(&c);
  bad_start(&c);
  small_sigmas(&c);
  biased_sensor(&c);
  poor_model(&c);
  bool ok = true;
  for (int i = 0; i < c.count; i++) {
    const char *lead = i ? "Next likely cause:" : "Most likely cause:";
    ok = od_verdict_add(verdict, OD_DOUBTFUL, c.item[i].code, lead, "%s", c.item[i].text) && ok;
  }
  return ok;
}
