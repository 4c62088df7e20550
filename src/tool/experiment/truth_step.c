// The true machine of an experiment takes steps of the experiment's length. A simulation of the same machine with the same steps
// measures their error.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/true_run.h"
#include "io/display.h"
#include "io/number.h"
#include "simulate/run.h"

// Copies the remarks of the simulation about its steps, not those about the machine. An inaccurate true motion makes estimates
// questionable, but not unsound.
static bool pass_on(const od_verdict *from, od_verdict *to) {
  bool ok = true;
  for (int i = 0; i < from->count && ok; i++) {
    const od_remark *r = &from->remark[i];
    if (strncmp(r->code, "step.", 5) == 0)
      ok = od_verdict_add(to, r->trust == OD_UNSOUND ? OD_DOUBTFUL : r->trust, r->code, r->lead,
                          "of the simulated true machine: %s", r->text);
  }
  return ok;
}

// Adds a remark about the sensor with the largest error relative to its noise, if the error exceeds the noise.
static bool compare_with_noise(const od_experiment *e, const od_run_accuracy *a, double step, od_verdict *v) {
  int worst = -1;
  double most = 1, off = 0;
  for (int i = 0; i < e->sensors && a->error; i++) {
    double error = a->error[i].part * a->error[i].range, sigma = od_sensor_sigma(&e->sensor[i]);
    if (sigma > 0 && !(error <= most * sigma)) worst = i, most = error / sigma, off = error;
  }
  if (worst < 0) return true;
  od_display shown = od_display_unit(e->sensor[worst].unit, off);
  // Errors of most integrators are proportional to the square of the step.
  return od_verdict_add(
      v, OD_DOUBTFUL, "step.noise", "Truth too coarse:",
      "in steps of %s the simulated true machine is off by up to %.3g %s in %.100s near %.4g s, %.3g times the noise of that "
      "sensor. A step of %s may do.",
      od_duration_text(step, 3).text, off * shown.factor, shown.unit, e->sensor[worst].name, a->error[worst].at, most,
      od_duration_text(od_number_125(step * sqrt(0.5 / most)), 3).text);
}

od_status od_experiment_judge_step(const od_experiment *e, bool beside_noise, od_going_on going, od_verdict *verdict,
                                   od_error *err) {
  if (!e->truth || e->sensors == 0) return OD_OK;
  int *outputs = calloc((size_t)e->sensors + 1, sizeof *outputs);
  if (!outputs) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < e->sensors; i++)
    outputs[i] = e->sensor[i].source ? e->sensor[i].source_output : e->watched[i].truth_output;
  const od_run_options options = {.time = e->time,
                                  .step = e->step,
                                  .integrator = e->integrator ? e->integrator->name : NULL,
                                  .outputs = outputs,
                                  .output_count = e->sensors,
                                  .progress = going.progress,
                                  .user = going.user};
  od_table *table = NULL;
  od_run_report report = {0};
  od_status status = od_run(e->truth, &options, &table, &report, err);
  bool ok = status != OD_OK || pass_on(&report.verdict, verdict);
  if (status == OD_OK && ok && beside_noise && !od_verdict_has(verdict, "step.long"))
    ok = compare_with_noise(e, &report.accuracy, e->step, verdict);
  if (status != OD_NO_MEMORY && status != OD_INTERRUPTED) status = OD_OK;
  if (!ok) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_run_report_free(&report);
  od_table_free(table);
  free(outputs);
  return status;
}
