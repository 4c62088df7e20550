// The motion of the true machine with measurements of any seed, and the check of the step.
#include "experiment/true_run.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "experiment/sample_source.h"
#include "io/display.h"
#include "io/number.h"
#include "simulate/run.h"

struct od_true_run {
  const od_experiment *e;
  od_kept_motion *motion;  // stored motion; NULL: the motion depends on the seed
};

// --- The motion ---------------------------------------------------------------------------------------------------

od_status od_true_run_new(const od_experiment *e, od_going_on going, od_true_run **out, od_error *err) {
  *out = NULL;
  OD_OWNED(od_true_run_free) od_true_run *r = od_calloc(1, sizeof *r);
  if (!r) return od_fail(err, OD_NO_MEMORY, "out of memory");
  r->e = e;
  od_status status;
  if (od_motion_is_same(e)) {
    status = od_kept_motion_new(e, going, &r->motion, err);
    if (status == OD_OK) status = od_kept_motion_status(r->motion, err);
  } else {
    // A motion that depends on the seed is not stored. The motion is created here only to check that the machine can be simulated.
    OD_OWNED(od_true_motion_free) od_true_motion *m = NULL;
    status = od_true_motion_new(e, &m, err);
  }
  if (status == OD_OK) *out = OD_GIVE(r);
  return status;
}

void od_true_run_free(od_true_run *r) {
  if (!r) return;
  od_kept_motion_free(r->motion);
  od_free(r);
}

// --- Measurements -------------------------------------------------------------------------------------------------

// Row 0 is the start, without measurements.
od_status od_true_run_measure(const od_true_run *r, uint64_t seed, od_table **out, od_error *err) {
  OD_SCRATCH(scratch);
  od_experiment e = *r->e;
  e.seed = seed;
  e.motion = r->motion;
  *out = NULL;
  double *row = OD_TAKE(&scratch, double, e.sensors + 1);
  OD_OWNED(od_table_free) od_table *t = od_table_new(1 + e.sensors);
  bool ok = row && t && od_table_label(t, 0, "time", "s") == OD_OK;
  for (int i = 0; ok && i < e.sensors; i++) ok = od_table_label(t, 1 + i, e.sensor[i].name, e.sensor[i].unit) == OD_OK;
  if (!ok) return od_fail(err, OD_NO_MEMORY, "out of memory");
  OD_SCOPED(od_sample_source_free) od_sample_source source = {0};
  od_status status = od_sample_source_simulated(&e, &source, err);
  while (status == OD_OK) {
    od_sample sample;
    bool more = true;
    status = source.next(source.self, &sample, &more, err);
    if (status != OD_OK || !more) break;
    row[0] = sample.t;
    for (int i = 0; i < e.sensors; i++) row[1 + i] = sample.y[i];
    status = od_table_append(t, row);
    if (status == OD_NO_MEMORY) od_fail(err, status, "out of memory");
  }
  if (status == OD_OK) *out = OD_GIVE(t);
  return status;
}

// --- The step -----------------------------------------------------------------------------------------------------

// Copies the remarks of the simulation about its steps, but not its remarks about the machine. An inaccurate true motion makes
// estimates questionable, but not unsound. Returns false if out of memory.
static bool copy_step_remarks(const od_verdict *from, od_verdict *to) {
  bool ok = true;
  for (int i = 0; i < from->count && ok; i++) {
    const od_remark *r = &from->remark[i];
    if (strncmp(r->code, "step.", 5) == 0)
      ok = od_verdict_add(to, r->trust == OD_UNSOUND ? OD_DOUBTFUL : r->trust, r->code, r->lead,
                          "simulated true machine: %s", r->text);
  }
  return ok;
}

// Adds a remark about the sensor with the largest error relative to its noise, if the error exceeds the noise. Returns
// false if out of memory.
static bool compare_with_noise(const od_experiment *e, const od_run_accuracy *a, double step, od_verdict *v) {
  int worst = -1;
  double ratio = 1, largest = 0;
  for (int i = 0; i < e->sensors && a->error; i++) {
    double error = a->error[i].part * a->error[i].range, sigma = od_sensor_sigma(&e->sensor[i]);
    if (sigma > 0 && !(error <= ratio * sigma)) worst = i, ratio = error / sigma, largest = error;
  }
  if (worst < 0) return true;
  od_display shown = od_display_unit(e->sensor[worst].unit, largest);
  // The errors of most integrators are proportional to the square of the step.
  return od_verdict_add(
      v, OD_DOUBTFUL, "step.noise", "Step of the true machine too long:",
      "with steps of %s, the error of the true machine is up to %.3g %s in %.100s near %.4g s. The error is %.3g "
      "times the noise of this sensor. Use a step of %s, which is probably short enough.",
      od_duration_text(step, 3).text, largest * shown.factor, shown.unit, e->sensor[worst].name, a->error[worst].at,
      ratio, od_duration_text(od_number_125(step * sqrt(0.5 / ratio)), 3).text);
}

// The true machine takes the steps of the experiment (`step`). A simulation of the same machine with the same steps measures the
// error of these steps.
od_status od_experiment_judge_step(const od_experiment *e, bool compare_noise, od_going_on going, od_verdict *verdict,
                                   od_error *err) {
  if (!e->truth || e->sensors == 0) return OD_OK;
  OD_SCRATCH(scratch);
  int *outputs = OD_TAKE(&scratch, int, e->sensors);
  if (!outputs) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < e->sensors; i++) outputs[i] = od_sensor_output(e, i);
  const od_run_options options = {.time = e->time,
                                  .step = e->step,
                                  .integrator = e->integrator ? e->integrator->name : NULL,
                                  .outputs = outputs,
                                  .output_count = e->sensors,
                                  .progress = going.progress,
                                  .user = going.user};
  OD_OWNED(od_table_free) od_table *table = NULL;
  OD_SCOPED(od_run_report_free) od_run_report report = {0};
  od_status status = od_run(e->truth, &options, &table, &report, err);
  if (status == OD_NO_MEMORY || status == OD_INTERRUPTED) return status;
  if (status != OD_OK) return OD_OK;
  bool ok = copy_step_remarks(&report.verdict, verdict);
  if (ok && compare_noise && !od_verdict_has(verdict, "step.long"))
    ok = compare_with_noise(e, &report.accuracy, e->step, verdict);
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}
