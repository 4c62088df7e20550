// Texts about faults.
#include <math.h>
#include <stdio.h>

#include "experiment/diagnosis.h"
#include "io/display.h"

const char *od_fault_code(od_fault_kind kind) {
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

static const char *name_of(const od_experiment *e, int column) {
  return column < 0            ? ""
         : column < e->sensors ? e->sensor[column].name
                               : od_machine_input_name(e->model, column - e->sensors);
}

static const char *unit_of(const od_experiment *e, int column) {
  return column < e->sensors ? e->sensor[column].unit : od_machine_input_unit(e->model, column - e->sensors);
}

static void parameter_text(const od_trials *t, const od_suspect *s, char *text, size_t size) {
  const od_fault *f = &s->fault;
  od_number n = od_machine_number(t->task->e->model, f->other);
  if (f->from > t->task->record->t[0])
    snprintf(text, size,
             "'%.100s' of the machine changes near %.4g s; it is about %s at the end. Check what happened then, and "
             "observe the parts before and after on their own.",
             n.path, f->from, od_display_quantity(s->value, n.unit).text);
  else
    snprintf(text, size,
             "'%.100s' is %s in the model, and about %s by these data. Check it, or estimate it under 'parameters'.",
             n.path, od_display_quantity(n.value, n.unit).text, od_display_quantity(s->value, n.unit).text);
}

static void step_text(const od_trials *t, double factor, char *text, size_t size) {
  double step = od_trials_step(t), shorter = step / factor;
  snprintf(
      text, size,
      "steps of %s are too long for this machine: with steps of %s its predictions are nearer to the samples. Write "
      "'step: %.4g s', or 'substeps: %.0f' in a fit.",
      od_duration_text(step, 3).text, od_duration_text(shorter, 3).text, shorter,
      ceil(od_record_step(t->task->record) / shorter * (1 - 1e-6)));
}

void od_fault_text(const od_trials *t, const od_suspect *s, char *text, size_t size) {
  const od_fault *f = &s->fault;
  const od_experiment *e = t->task->e;
  const char *name = name_of(e, f->column), *what = f->column >= e->sensors ? "the input " : "";
  double time = fabs(f->amount) * od_record_step(t->task->record);
  switch (f->kind) {
    case OD_FAULT_DELAY:
      snprintf(
          text, size, "%s%.80s %s %s by %s (%.0f row%s) against the other columns. Shift it, or correct its logger.",
          f->column < 0 ? "all inputs" : what, name, f->column < 0 ? "are" : "is", f->amount > 0 ? "late" : "early",
          od_duration_text(time, 3).text, fabs(f->amount), fabs(f->amount) > 1.5 ? "s" : "");
      break;
    case OD_FAULT_OFFSET:
      snprintf(text, size, "%s%.80s is off by %s throughout. Check its zero ('offset' under its channel)%s%.80s%s.",
               what, name, od_display_quantity(f->amount, unit_of(e, f->column)).text,
               f->column < e->sensors ? ", or estimate it: 'sensors." : "", f->column < e->sensors ? name : "",
               f->column < e->sensors ? ".bias' under 'parameters'" : "");
      break;
    case OD_FAULT_SCALE:
      snprintf(text, size,
               "%s%.80s is %.4g times what it should be. Check its calibration ('scale' under its channel).", what,
               name, f->amount);
      break;
    case OD_FAULT_SIGN:
      snprintf(text, size, "%s%.80s has the wrong sign ('scale: -1' under its channel).", what, name);
      break;
    case OD_FAULT_UNIT:
      snprintf(text, size,
               "%s%.80s is %.4g times what it should be, as if its unit were wrong. Check the unit of its channel.",
               what, name, f->amount);
      break;
    case OD_FAULT_SWAP:
      snprintf(text, size, "the columns of %.80s and %.80s are exchanged.", name, name_of(e, f->other));
      break;
    case OD_FAULT_GAUGE:
      snprintf(
          text, size,
          "%s%.80s too %s by the pressure of the atmosphere: %s pressure where %s pressure is expected ('offset: %s' "
          "under the channel%s).",
          f->column < 0 ? "all pressures are" : name, f->column < 0 ? "" : " is", f->amount > 0 ? "low" : "high",
          f->amount > 0 ? "gauge" : "absolute", f->amount > 0 ? "absolute" : "gauge",
          od_display_quantity(f->amount, "Pa").text, f->column < 0 ? "s" : "");
      break;
    case OD_FAULT_CLOCK:
      snprintf(text, size, "%s by %.3g %%. Check the clock%s of the logger%s.",
               f->other ? "the clock of the sensors and that of the inputs differ" : "the times of the log are off",
               100 * f->amount, f->other ? "s" : "", f->other ? "s" : "");
      break;
    case OD_FAULT_HOLD:
      snprintf(
          text, size,
          "inputs jump, but go straight from row to row here. Write 'hold: previous' under 'data' if the machine has "
          "seen jumps.");
      break;
    case OD_FAULT_OUTLIERS:
      snprintf(text, size, "wild values. Keep them out: 'filter: {gate: 5}', or 'prepare: {outliers: 5}' in a fit.");
      break;
    case OD_FAULT_NOISE:
      snprintf(text, size, "the noise of %s%.80s is %.2g times its sigma. Measure it at rest.",
               f->column < 0 ? "all sensors" : "", name, f->amount);
      break;
    case OD_FAULT_PARAMETER: parameter_text(t, s, text, size); break;
    case OD_FAULT_PRIOR:
      snprintf(
          text, size,
          "the start is farther off than 'initial' and the sigmas of the parameters allow. Begin nearer, or raise them.");
      break;
    case OD_FAULT_STEP: step_text(t, f->amount, text, size); break;
    default: snprintf(text, size, "the model misses something, or 'noise' is too small."); break;
  }
}
