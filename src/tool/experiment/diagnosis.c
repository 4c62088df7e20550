// Tries the faults one after another, and selects the cause.
#include "experiment/diagnosis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/display.h"
#include "io/wording.h"
#include "machine/machine.h"

// A cause is named under three conditions:
// 1. The gain of the cause in twice the log likelihood exceeds least_gain (the samples are e^10 times as likely).
// 2. This gain exceeds the gain of the best other kind or column by least_margin. If innovations are still not as expected, the
//    difference must also exceed the fraction margin_part of the gain.
// 3. The NIS is below nis_explained, or the gain exceeds the fraction excess_explained of the excess cost.
static const double least_gain = 20;
static const double margin_part = 0.05, least_margin = 8;
static const double nis_explained = 1.3, excess_explained = 0.6;
static const double settled_nis = 1.1;  // limit of the NIS below which white innovations are as expected
// Larger initial sigmas are accepted as the cause if their gain exceeds this fraction of the best gain.
static const double prior_part = 0.4;
// Decrease of twice the log likelihood at the ends of the 95 % interval of a time (chi-squared with one degree of freedom).
static const double interval_drop = 3.84;
static const double gross_factor = 1.5;  // root of a sensor's NIS (outliers limited) above which gross errors are tried
enum { MOST_SUSPECTS = 400, MOST_NUMBERS = 60, MOST_RATIOS = 40, MOST_EQUALS = 3 };

typedef struct search {
  od_arena memory;
  od_trials t;
  od_suspect *suspect;
  int count;
  bool incomplete;  // whether some faults were not tried
  od_status status;
  od_error *err;
} search;

static void free_search(search *s) {
  od_trials_end(&s->t);
  od_arena_free(&s->memory);
}

// Returns whether innovations are as expected after the fault is undone.
static bool is_settled(const od_suspect *s) {
  return s->white && s->nis < settled_nis;
}

// Returns whether another run is possible. Sets `incomplete` if a limit is reached.
static bool goes_on(search *s) {
  if (s->count == MOST_SUSPECTS || od_trials_exhausted(&s->t)) s->incomplete = true;
  return s->status == OD_OK && !s->incomplete && !s->t.interrupted;
}

// Runs the observer with the fault undone and adds a suspect. Returns the gain of the suspect; -INFINITY: the run
// failed or the search must end.
static double try_fault(search *s, od_fault f, bool calibrate) {
  if (!goes_on(s)) return -INFINITY;
  if (f.kind == OD_FAULT_DELAY) f.amount = round(f.amount);
  od_suspect *to = &s->suspect[s->count];
  s->status = od_trial(&s->t, f, calibrate, to, s->err);
  if (s->status != OD_OK) return -INFINITY;
  double gain = to->gain;
  if (gain > -INFINITY) s->count++;
  return gain;
}

// Searches for the best amount. The first search is on a grid on both sides of `none`, the amount without a fault. If the best gain
// exceeds half of least_gain, the distance to the neighbors is then halved until it is below least_step.
static void search_amount(search *s, od_fault f, double none, const double *grid, int points, double least_step) {
  double best = none, gain = 0, step = grid[0];
  for (int side = -1; side <= 1; side += 2)
    for (int i = 0; i < points; i++) {
      f.amount = none + side * grid[i];
      double now = try_fault(s, f, false);
      if (now > gain) gain = now, best = f.amount, step = i ? grid[i] - grid[i - 1] : grid[0];
    }
  if (!(gain > least_gain / 2)) return;
  for (step /= 2; step >= least_step; step /= 2) {
    double from = best;
    for (int side = -1; side <= 1; side += 2) {
      f.amount = from + side * step;
      double now = fabs(f.amount - none) < least_step / 2 ? 0 : try_fault(s, f, false);
      if (now > gain) gain = now, best = f.amount;
    }
  }
}

// --- Columns ------------------------------------------------------------------------------------------------------

static const char *name_of(const od_experiment *e, int column) {
  return column < 0            ? ""
         : column < e->sensors ? e->sensor[column].name
                               : od_machine_input_name(e->model, column - e->sensors);
}

static const char *unit_of(const od_experiment *e, int column) {
  return column < e->sensors ? e->sensor[column].unit : od_machine_input_unit(e->model, column - e->sensors);
}

static bool is_calibrated(const od_experiment *e, int sensor, od_calibrated calibrated) {
  for (int i = 0; i < e->parameters; i++)
    if (e->parameter[i].sensor == sensor && e->parameter[i].calibrated == calibrated) return true;
  return false;
}

// Tries delays of a column, or of all inputs.
static void try_delays(search *s, int column) {
  static const double rows[] = {1, 4, 12, 30, 70, 120, 180, 250};
  int points = 0;
  if (is_calibrated(s->t.task->e, column, OD_SENSOR_DELAY)) return;
  while (points < 8 && rows[points] < 0.2 * (double)s->t.task->record->rows) points++;
  if (points) search_amount(s, (od_fault){.kind = OD_FAULT_DELAY, .column = column}, 0, rows, points, 1);
}

// Tries an offset and a scale of a column. The values for a sensor are estimated; the values for an input are searched on a grid.
static void try_calibration(search *s, int column) {
  const od_experiment *e = s->t.task->e;
  od_fault offset = {.kind = OD_FAULT_OFFSET, .column = column}, scale = {.kind = OD_FAULT_SCALE, .column = column};
  if (column < e->sensors) {
    if (!is_calibrated(e, column, OD_SENSOR_BIAS)) try_fault(s, offset, true);
    if (!is_calibrated(e, column, OD_SENSOR_SCALE)) try_fault(s, scale, true);
    return;
  }
  double range = od_record_range(s->t.task->record, column);
  const double offsets[] = {0.02 * range, 0.06 * range, 0.2 * range}, scales[] = {0.03, 0.1, 0.3};
  if (!(range > 0)) return;
  search_amount(s, offset, 0, offsets, 3, 0.002 * range);
  search_amount(s, scale, 1, scales, 3, 0.003);
}

// Writes the factors between common units of a quantity. Returns the number of factors.
static int ratios_of(const char *unit, double *ratio) {
  static const struct {
    const char *si;
    double factor[6];
  } units[] = {{"Pa", {1, 1e-3, 1e-5, 1e-6, 1.4503774e-4}},
               {"m", {1, 1e3, 100, 39.370079}},
               {"rad", {1, 57.29578, 0.15915494}},
               {"rad/s", {1, 57.29578, 9.5492966}},
               {"m/s", {1, 1e3, 3.6}},
               {"m^3/s", {1, 6e4, 1e3, 1e6}},
               {"N", {1, 1e-3}},
               {"", {1, 100, 1e3}}};
  int at = 0, count = 0;
  while (units[at].si[0] && strcmp(units[at].si, unit) != 0) at++;
  for (int i = 0; i < 6 && units[at].factor[i] > 0; i++)
    for (int j = 0; j < 6 && units[at].factor[j] > 0; j++) {
      double now = units[at].factor[i] / units[at].factor[j];
      bool known = fabs(now - 1) < 1e-6;
      for (int k = 0; k < count; k++) known = known || fabs(now / ratio[k] - 1) < 0.01;
      if (!known && count < MOST_RATIOS) ratio[count++] = now;
    }
  return count;
}

// Tries wrong units of a column, by the ratios of its unit to related units.
static void try_units(search *s, int column) {
  double ratio[MOST_RATIOS];
  int count = ratios_of(unit_of(s->t.task->e, column), ratio);
  for (int i = 0; i < count; i++)
    try_fault(s, (od_fault){.kind = OD_FAULT_UNIT, .column = column, .amount = ratio[i]}, false);
}

// Tries to exchange a sensor with each later sensor of the same unit, or an input with each later input of the same unit.
static void try_swaps(search *s, int column) {
  const od_experiment *e = s->t.task->e;
  int columns = e->sensors + s->t.task->record->inputs, end = column < e->sensors ? e->sensors : columns;
  for (int other = column + 1; other < end; other++)
    if (!strcmp(unit_of(e, column), unit_of(e, other)))
      try_fault(s, (od_fault){.kind = OD_FAULT_SWAP, .column = column, .other = other}, false);
}

// Tries gauge instead of absolute pressure and vice versa, for all pressure sensors together and for each pressure sensor.
static void try_gauges(search *s) {
  static const double atmosphere[] = {101325, 1e5, -101325, -1e5};
  const od_experiment *e = s->t.task->e;
  int pressures = 0, last = 0;
  for (int i = 0; i < e->sensors; i++)
    if (!strcmp(e->sensor[i].unit, "Pa")) pressures++, last = i;
  for (int k = 0; k < 4 && pressures > 0; k++) {
    int all = pressures > 1 ? OD_ALL_COLUMNS : last;
    try_fault(s, (od_fault){.kind = OD_FAULT_GAUGE, .column = all, .amount = atmosphere[k]}, false);
    for (int i = 0; i < e->sensors && pressures > 1; i++)
      if (!strcmp(e->sensor[i].unit, "Pa"))
        try_fault(s, (od_fault){.kind = OD_FAULT_GAUGE, .column = i, .amount = atmosphere[k]}, false);
  }
}

// Tries clocks that are too fast or too slow: the clock of the whole log, and the clock of the sensors relative to the inputs.
static void try_clocks(search *s) {
  static const double parts[] = {0.002, 0.008, 0.03, 0.1};
  for (int of_sensors = 0; of_sensors < 2; of_sensors++)
    if (!of_sensors || s->t.task->record->inputs > 0)
      search_amount(s, (od_fault){.kind = OD_FAULT_CLOCK, .other = of_sensors}, 0, parts, 4, 1e-4);
}

// --- Sensors and the model ----------------------------------------------------------------------------------------

// Tries larger noise of a sensor, or of all sensors. The factor is computed from the NIS of these sensors.
static void try_noise(search *s, int column) {
  od_fault f = {.kind = OD_FAULT_NOISE, .column = column, .amount = 0};
  int ns = s->t.task->e->sensors, n = 0;
  for (int i = 0; i < ns; i++)
    if (column == i || column == OD_ALL_COLUMNS) f.amount += s->t.factor[i], n++;
  f.amount /= n;
  if (f.amount < 1.1) return;
  for (int again = 0; again < 3; again++) {
    double gain = try_fault(s, f, false);
    const od_suspect *last = &s->suspect[s->count - 1];
    if (!(gain > -INFINITY) || column != OD_ALL_COLUMNS || fabs(last->nis - 1) < 0.05) break;
    f.amount *= sqrt(last->nis);
  }
}

// Tries steps that are 4 times shorter. If the gain exceeds half of least_gain, but innovations are still not as expected, also tries
// steps that are 16 times shorter.
static void try_shorter_steps(search *s) {
  for (double factor = 4; factor < 20; factor *= 4) {
    double gain = try_fault(s, (od_fault){.kind = OD_FAULT_STEP, .amount = factor}, false);
    if (!(gain > least_gain / 2) || is_settled(&s->suspect[s->count - 1])) return;
  }
}

// Returns the end of the 95 % interval of the time of a change, before (side -1) or after (side 1) the most likely time f.from.
// Times at which no sample depends on the number have the same likelihood, so this interval can be long. NAN: the search must end.
static double end_of_interval(search *s, od_fault f, double gain, int side) {
  const od_record *r = s->t.task->record;
  double first = r->t[0], last = r->t[r->rows - 1], inside = f.from, outside = NAN;
  for (double step = 0.005 * (last - first); isnan(outside); step *= 2) {
    if (s->count == MOST_SUSPECTS || od_trials_exhausted(&s->t) || s->status != OD_OK || s->t.interrupted) return NAN;
    f.from = inside + side * step;
    if (f.from <= first || f.from >= last)
      outside = side < 0 ? first : last;
    else if (try_fault(s, f, false) > gain - interval_drop)
      inside = f.from;
    else
      outside = f.from;
  }
  while (fabs(outside - inside) > 0.002 * (last - first)) {
    if (s->count == MOST_SUSPECTS || od_trials_exhausted(&s->t) || s->status != OD_OK || s->t.interrupted) return NAN;
    f.from = 0.5 * (inside + outside);
    if (try_fault(s, f, false) > gain - interval_drop)
      inside = f.from;
    else
      outside = f.from;
  }
  return outside;
}

// Computes the interval of the time of a change and stores it in all suspects with this change.
static void find_interval(search *s, od_fault f, double gain) {
  double earliest = end_of_interval(s, f, gain, -1), latest = end_of_interval(s, f, gain, 1);
  for (int i = 0; i < s->count; i++) {
    od_suspect *now = &s->suspect[i];
    if (now->fault.kind == OD_FAULT_PARAMETER && now->fault.other == f.other &&
        now->fault.from > s->t.task->record->t[0])
      now->earliest = earliest, now->latest = latest;
  }
}

// Finds the first change of an estimated number with the likelihood ratios of the observer (observe/change_watch.h). Tries this
// change at the beginning, the middle and the end of the 95 % interval of its time. If the largest of these gains exceeds *gain,
// updates *best and *gain.
static void try_watched_change(search *s, od_fault *best, double *gain) {
  od_parameter_change found;
  bool any = false;
  if (!goes_on(s)) return;
  s->status = od_trial_watch(&s->t, &found, &any, s->err);
  if (s->status != OD_OK || !any) return;
  od_fault f = {.kind = OD_FAULT_PARAMETER, .column = -1, .other = s->t.task->e->parameter[found.parameter].number};
  for (int k = 0; k < 3; k++) {
    f.from = found.earliest + 0.5 * k * (found.latest - found.earliest);
    double now = try_fault(s, f, false);
    if (now > *gain) *gain = now, *best = f;
  }
}

// Tries free numbers of the model that are not zero and not initial values. A number that is not estimated may be wrong from the start.
// If the costs increase at a certain time (od_trials.change), each number may also change at this time. The time of the best change is
// then refined. The change of an estimated number is preferred over changes whose gain is larger by less than least_margin.
static void try_numbers(search *s) {
  const od_diagnosis_task *task = s->t.task;
  const od_machine *model = task->e->model;
  const od_record *r = task->record;
  od_fault best = {0}, best_estimated = {0};
  double gain = least_gain, estimated_gain = least_gain;
  for (int i = 0, tried = 0; i < od_machine_number_count(model) && tried < MOST_NUMBERS; i++) {
    od_number number = od_machine_number(model, i);
    if (!od_machine_number_is_free(model, i) || number.value == 0 || !strncmp(number.path, "initial.", 8)) continue;
    od_fault f = {.kind = OD_FAULT_PARAMETER, .column = -1, .other = i, .from = r->t[0]};
    if (od_parameter_of(task->e, i) < 0) try_fault(s, f, false);
    if (isnan(s->t.change)) continue;
    f.from = s->t.change;
    double now = try_fault(s, f, false);
    if (now > gain) gain = now, best = f;
    if (now > estimated_gain && od_parameter_of(task->e, i) >= 0) estimated_gain = now, best_estimated = f;
    tried++;
  }
  try_watched_change(s, &best_estimated, &estimated_gain);
  if (best_estimated.kind == OD_FAULT_PARAMETER && estimated_gain > gain - least_margin)
    best = best_estimated, gain = estimated_gain;
  // The change may be earlier than its effect.
  double length = r->t[r->rows - 1] - r->t[0], at = best.from;
  if (best.kind != OD_FAULT_PARAMETER) return;
  for (double step = 0.08 * length; step > 0.004 * length; step /= 2)
    for (int side = -1; side <= 1; side += 2) {
      best.from = at + side * step;
      if (best.from <= r->t[0] || best.from >= r->t[r->rows - 1]) continue;
      double now = try_fault(s, best, false);
      if (now > gain) gain = now, at = best.from;
    }
  best.from = at;
  find_interval(s, best, gain);
}

// Tries all faults. Likely faults that take little work come first.
static void try_all(search *s) {
  const od_diagnosis_task *task = s->t.task;
  int sensors = task->e->sensors, columns = sensors + task->record->inputs;
  for (int i = 0; i < sensors; i++) try_noise(s, i);
  if (sensors > 1) try_noise(s, OD_ALL_COLUMNS);
  try_fault(s, (od_fault){.kind = OD_FAULT_OUTLIERS}, false);
  if (task->can_hold) try_fault(s, (od_fault){.kind = OD_FAULT_HOLD}, false);
  try_fault(s, (od_fault){.kind = OD_FAULT_PRIOR, .amount = 10}, false);
  for (double factor = 3; factor < 1000; factor *= 6)
    try_fault(s, (od_fault){.kind = OD_FAULT_MODEL, .amount = factor}, false);
  if (task->can_shorten) try_shorter_steps(s);
  try_gauges(s);
  // A wrong sign or unit and two exchanged columns are gross errors.
  double worst = 0;
  for (int i = 0; i < sensors; i++) worst = fmax(worst, s->t.factor[i]);
  bool gross = worst > gross_factor;
  for (int c = 0; c < columns && gross; c++)
    try_fault(s, (od_fault){.kind = OD_FAULT_SIGN, .column = c, .amount = -1}, false);
  for (int c = 0; c < columns; c++) try_calibration(s, c);
  for (int c = 0; c < columns && gross; c++) try_swaps(s, c);
  for (int c = 0; c < columns; c++) try_delays(s, c);
  if (columns - sensors > 1) try_delays(s, OD_ALL_COLUMNS);
  try_clocks(s);
  for (int c = 0; c < columns && gross; c++) try_units(s, c);
  try_numbers(s);
}

// --- Texts --------------------------------------------------------------------------------------------------------

static const char *code_of(od_fault_kind kind) {
  static const char *const codes[] = {[OD_FAULT_NONE] = "cause.none",           [OD_FAULT_DELAY] = "cause.delay",
                                      [OD_FAULT_OFFSET] = "cause.offset",       [OD_FAULT_SCALE] = "cause.scale",
                                      [OD_FAULT_SIGN] = "cause.sign",           [OD_FAULT_UNIT] = "cause.unit",
                                      [OD_FAULT_SWAP] = "cause.swap",           [OD_FAULT_GAUGE] = "cause.gauge",
                                      [OD_FAULT_CLOCK] = "cause.clock",         [OD_FAULT_HOLD] = "cause.hold",
                                      [OD_FAULT_OUTLIERS] = "cause.outliers",   [OD_FAULT_NOISE] = "cause.noise",
                                      [OD_FAULT_PARAMETER] = "cause.parameter", [OD_FAULT_PRIOR] = "cause.prior",
                                      [OD_FAULT_STEP] = "cause.step",           [OD_FAULT_MODEL] = "cause.model"};
  return codes[kind];
}

// Writes the sentence about a fault: the finding, and a check or remedy.
static void describe(const od_trials *t, const od_suspect *s, char *text, size_t size) {
  const od_fault *f = &s->fault;
  const od_experiment *e = t->task->e;
  const char *name = name_of(e, f->column), *kind = f->column >= e->sensors ? "input" : "sensor";
  double row = od_record_step(t->task->record), step = od_trials_step(t);
  switch (f->kind) {
    case OD_FAULT_DELAY:
      snprintf(
          text, size,
          "%s%s%s%.80s %s %s by %s (%.0f row%s) relative to the other columns. Correct the logger, or add %.4g ms to 'delay' of %s.",
          f->column < 0 ? "all inputs" : "the ", f->column < 0 ? "" : kind, f->column < 0 ? "" : " ", name,
          f->column < 0 ? "are" : "is", f->amount > 0 ? "late" : "early",
          od_duration_text(fabs(f->amount) * row, 3).text, fabs(f->amount), fabs(f->amount) > 1.5 ? "s" : "",
          1e3 * f->amount * row, f->column < 0 ? "each input" : "this channel");
      break;
    case OD_FAULT_OFFSET:
      snprintf(
          text, size,
          "the %s %.80s has a constant error of %s. Check the zero point of this %s ('offset' of the channel)%s%.80s%s.",
          kind, name, od_display_quantity(f->amount, unit_of(e, f->column)).text, kind,
          f->column < e->sensors ? ", or estimate the error: 'sensors." : "", f->column < e->sensors ? name : "",
          f->column < e->sensors ? ".bias' under 'parameters'" : "");
      break;
    case OD_FAULT_SCALE:
      snprintf(
          text, size,
          "the value of the %s %.80s is %.4g times the expected value. Check the calibration of this %s ('scale' of the channel).",
          kind, name, f->amount, kind);
      break;
    case OD_FAULT_SIGN:
      snprintf(text, size, "the %s %.80s has the wrong sign. Write 'scale: -1' under the channel.", kind, name);
      break;
    case OD_FAULT_UNIT:
      snprintf(
          text, size,
          "the value of the %s %.80s is %.4g times the expected value, a factor between two units. Check the unit of the channel.",
          kind, name, f->amount);
      break;
    case OD_FAULT_SWAP:
      snprintf(text, size, "the columns of %.80s and %.80s are exchanged. Correct the columns under 'data'.", name,
               name_of(e, f->other));
      break;
    case OD_FAULT_GAUGE:
      snprintf(
          text, size,
          "%s%.80s%s too %s by the atmospheric pressure: the log contains %s pressure, but %s pressure is expected. Write "
          "'offset: %s' under the channel%s.",
          f->column < 0 ? "all pressures" : "the sensor ", name, f->column < 0 ? " are" : " is",
          f->amount > 0 ? "low" : "high", f->amount > 0 ? "gauge" : "absolute", f->amount > 0 ? "absolute" : "gauge",
          od_display_quantity(f->amount, "Pa").text, f->column < 0 ? "s" : "");
      break;
    case OD_FAULT_CLOCK:
      snprintf(text, size, "%s by %.3g %%. Check the clock%s of the logger%s.",
               f->other ? "the clocks of the sensors and the inputs differ" : "the times of the log are wrong",
               100 * f->amount, f->other ? "s" : "", f->other ? "s" : "");
      break;
    case OD_FAULT_HOLD:
      snprintf(text, size,
               "inputs jump, but are interpolated linearly between rows. If the inputs of the machine jumped, write "
               "'hold: previous' under 'data'.");
      break;
    case OD_FAULT_OUTLIERS:
      snprintf(text, size,
               "the samples contain outliers. Exclude outliers with 'filter: {gate: 5}', or with 'prepare: {outliers: "
               "5}' in a fit.");
      break;
    case OD_FAULT_NOISE:
      snprintf(
          text, size,
          "the noise of %s%.80s is %.2g times the noise that the observer assumes. Measure the noise with the machine at rest.",
          f->column < 0 ? "all sensors" : "", name, f->amount);
      break;
    case OD_FAULT_PARAMETER: {
      od_number n = od_machine_number(e->model, f->other);
      char when[80];
      if (isnan(s->earliest) || isnan(s->latest))
        snprintf(when, sizeof when, "near %.4g s", f->from);
      else
        snprintf(when, sizeof when, "between %.4g s and %.4g s (95 %% interval)", s->earliest, s->latest);
      if (f->from > t->task->record->t[0])
        snprintf(
            text, size,
            "the number '%.100s' of the machine changes %s, to about %s at the end. Check the machine at this time. "
            "To follow such a change, estimate this number with 'change' under 'parameters'.",
            n.path, when, od_display_quantity(s->value, n.unit).text);
      else
        snprintf(
            text, size,
            "'%.100s' is %s in the model, but about %s according to these data. Check this number, or estimate this number under 'parameters'.",
            n.path, od_display_quantity(n.value, n.unit).text, od_display_quantity(s->value, n.unit).text);
      break;
    }
    case OD_FAULT_PRIOR:
      snprintf(text, size,
               "the error of the start is larger than 'initial' and the sigmas of the parameters allow. Give "
               "start values closer to the true values, or increase these sigmas.");
      break;
    case OD_FAULT_STEP:
      snprintf(text, size,
               "steps of %s are too long for this machine. With steps of %s the predictions are closer to the samples. "
               "Write 'step: %.4g s', or 'substeps: %.0f' in a fit.",
               od_duration_text(step, 3).text, od_duration_text(step / f->amount, 3).text, step / f->amount,
               ceil(row / (step / f->amount) * (1 - 1e-6)));
      break;
    default:
      snprintf(text, size,
               "the model lacks an effect, or 'noise' is too small. Extend the model, or increase 'noise'.");
      break;
  }
}

// --- The verdict --------------------------------------------------------------------------------------------------

// Returns the kind that represents all kinds with the same cause in one column: a wrong unit is a wrong factor, and a
// missing atmospheric pressure is an offset.
static od_fault_kind family_of(od_fault_kind kind) {
  return kind == OD_FAULT_UNIT ? OD_FAULT_SCALE : kind == OD_FAULT_GAUGE ? OD_FAULT_OFFSET : kind;
}

static bool is_same_cause(const od_fault *a, const od_fault *b) {
  bool by_column = a->kind != OD_FAULT_PARAMETER && a->kind != OD_FAULT_CLOCK && a->kind != OD_FAULT_NOISE;
  return family_of(a->kind) == family_of(b->kind) && (!by_column || a->column == b->column);
}

// Returns the index of the suspect with the largest gain; -1: none. If `than` is not negative, excludes suspects that have the
// same cause as suspect `than`. Noise of a sensor is a possible cause only if the innovations are white.
static int find_best(const search *s, int than) {
  int best = -1;
  for (int i = 0; i < s->count; i++) {
    const od_suspect *now = &s->suspect[i];
    if (!(now->gain > -INFINITY) || (now->fault.kind == OD_FAULT_NOISE && !now->white)) continue;
    if (than >= 0 && is_same_cause(&now->fault, &s->suspect[than].fault)) continue;
    if (best < 0 || now->gain > s->suspect[best].gain) best = i;
  }
  return best;
}

// Returns the index of the cause, which is `best` unless the data contradict the start. In this case, initial sigmas that are too
// small are the cause under two conditions. With larger sigmas, the innovations are as expected (is_settled()). The gain exceeds
// the fraction prior_part of the best gain.
static int prefer_start(const search *s, int best) {
  for (int i = 0; i < s->count && best >= 0 && s->t.task->contradicted; i++) {
    const od_suspect *now = &s->suspect[i];
    if (now->fault.kind == OD_FAULT_PRIOR && is_settled(now) && now->gain > prior_part * s->suspect[best].gain)
      return i;
  }
  return best;
}

// If `best` is the change of a number that is not estimated, returns the change of an estimated number with the largest gain,
// provided that this gain is less than least_margin below the gain of `best`. Otherwise returns `best`.
static int prefer_estimated(const search *s, int best) {
  const od_diagnosis_task *task = s->t.task;
  const od_fault *f = &s->suspect[best].fault;
  bool is_change = f->kind == OD_FAULT_PARAMETER && f->from > task->record->t[0];
  if (!is_change || od_parameter_of(task->e, f->other) >= 0) return best;
  int preferred = best;
  for (int i = 0; i < s->count; i++) {
    const od_suspect *now = &s->suspect[i];
    bool possible = now->fault.kind == OD_FAULT_PARAMETER && now->fault.from > task->record->t[0] &&
                    od_parameter_of(task->e, now->fault.other) >= 0 && now->gain > s->suspect[best].gain - least_margin;
    if (possible && (preferred == best || now->gain > s->suspect[preferred].gain)) preferred = i;
  }
  return preferred;
}

// Returns the excess of the cost of the run without a fault over the expected cost.
static double excess_of(const search *s) {
  const od_trials *t = &s->t;
  int ns = t->task->e->sensors;
  double sum = 0;
  for (long k = 0; k < t->task->record->rows * ns; k++)
    if (!isnan(t->base[k])) sum += t->base[k] - 2 * log(od_sensor_sigma(&t->task->e->sensor[k % ns])) - 1;
  return fmax(sum, 0);
}

// Appends the names of other numbers of the model whose change explains the data about as well as the change of the fault's number:
// the gain is less than least_margin below the gain of the fault. Names at most MOST_EQUALS numbers.
static void add_equals(const search *s, const od_suspect *what, char *text, size_t size) {
  od_name_list names = {.most = MOST_EQUALS};
  int known[MOST_EQUALS + 1] = {what->fault.other}, count = 1;
  for (int i = 0; i < s->count && what->fault.kind == OD_FAULT_PARAMETER && count <= MOST_EQUALS; i++) {
    const od_suspect *now = &s->suspect[i];
    bool is_new = now->fault.kind == OD_FAULT_PARAMETER && now->gain > what->gain - least_margin;
    for (int k = 0; k < count; k++) is_new = is_new && now->fault.other != known[k];
    if (!is_new) continue;
    known[count++] = now->fault.other;
    od_name_list_add(&names, "'%s'", od_machine_number(s->t.task->e->model, now->fault.other).path);
  }
  size_t length = strlen(text);
  if (names.count > 0)
    snprintf(text + length, size - length, " %s would have the same effect.", od_name_list_text(&names));
}

// Adds the remark about a suspect. Returns false if out of memory.
static bool add_remark(search *s, const od_suspect *what, const char *lead, od_verdict *verdict) {
  char text[900];
  describe(&s->t, what, text, sizeof text);
  add_equals(s, what, text, sizeof text);
  return od_verdict_add(verdict, OD_DOUBTFUL, code_of(what->fault.kind), lead, "%s", text);
}

// Adds a remark about the best suspect, or a remark that the cause is not clear. Returns false if out of memory.
static bool conclude(search *s, od_verdict *verdict, od_suspect *named) {
  int first = find_best(s, -1), best = prefer_start(s, first), next = best < 0 ? -1 : find_best(s, best);
  const od_suspect *b = best < 0 ? NULL : &s->suspect[best];
  double gain = b ? b->gain : 0, other = next < 0 ? 0 : fmax(s->suspect[next].gain, 0);
  bool explains = b && gain > least_gain && (b->nis < nis_explained || gain > excess_explained * excess_of(s));
  bool is_clear = explains && (best != first ||
                               gain - other > (is_settled(b) ? least_margin : fmax(margin_part * gain, least_margin)));
  if (is_clear && b->fault.kind != OD_FAULT_MODEL) {
    b = &s->suspect[prefer_estimated(s, best)];
    if (named) *named = *b;
    return add_remark(s, b, "Most likely cause:", verdict);
  }
  bool ok = od_verdict_add(
      verdict, OD_DOUBTFUL, "cause.unclear", "Cause not clear:", "%s",
      explains && b->fault.kind != OD_FAULT_MODEL
          ? "two causes explain these data about equally well. Check both causes."
          : "no single fault of a column, a sensor or a number explains these data. The model may lack an effect (friction, "
            "leakage, elasticity), or there are several faults. A larger 'noise' makes the sigmas realistic, but "
            "does not correct the estimates.");
  if (explains && b->fault.kind != OD_FAULT_MODEL) {
    ok = add_remark(s, b, "Possible cause:", verdict) && ok;
    if (next >= 0) ok = add_remark(s, &s->suspect[next], "Other possible cause:", verdict) && ok;
  }
  return ok;
}

od_status od_diagnose(const od_diagnosis_task *task, od_verdict *verdict, od_suspect *named, od_error *err) {
  OD_SCOPED(free_search) search s = {.err = err};
  if (named) *named = (od_suspect){0};
  s.suspect = OD_TAKE(&s.memory, od_suspect, MOST_SUSPECTS);
  if (!s.suspect) return od_fail(err, OD_NO_MEMORY, "out of memory");
  s.status = od_trials_begin(&s.t, task, err);
  if (s.status == OD_OK) try_all(&s);
  if (s.status != OD_OK) return s.status;
  if (s.t.interrupted)
    return od_fail(err, OD_INTERRUPTED, "interrupted during the search for the cause; the estimates are complete");
  bool ok = conclude(&s, verdict, named);
  if (ok && s.incomplete)
    ok = od_verdict_add(
        verdict, OD_DOUBTFUL, "cause.incomplete", "Not all causes were tried:",
        "the search ended at a limit, after %s over these samples. With fewer samples the search can try more "
        "causes.",
        od_count(s.t.runs, "run").text);
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}
