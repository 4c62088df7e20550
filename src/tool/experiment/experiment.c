// A loaded experiment: its plants, the covariance of its sensors, and the covariance of its process noise.
#include "experiment/experiment.h"

#include <string.h>

#include "base/allocate.h"
#include "document/document.h"
#include "machine/machine.h"
#include "oleodyn/plant.h"

void od_experiment_use_filter(od_experiment *e, const od_filter *filter) {
  e->filter = filter;
  for (int i = 0; i < filter->options; i++) e->filter_choice[i] = filter->option[i].fallback;
}

void od_experiment_free(od_experiment *e) {
  if (!e) return;
  od_machine_free(e->truth);
  od_machine_free(e->model);
  od_document_free(e->file);
  od_log_free(e->log);
  od_log_plan_free(&e->data);
  od_arena_free(&e->memory);
  od_free(e);
}

int od_parameter_of(const od_experiment *e, int number) {
  for (int i = 0; i < e->parameters; i++)
    if (e->parameter[i].sensor < 0 && e->parameter[i].number == number) return i;
  return -1;
}

od_estimated od_unbounded_parameter(const char *path, const char *unit, double start, double sigma) {
  return (od_estimated){.path = path,
                        .unit = unit,
                        .number = -1,
                        .sensor = -1,
                        .start = start,
                        .sigma = sigma,
                        .low = -INFINITY,
                        .high = INFINITY,
                        .least = -INFINITY,
                        .most = INFINITY,
                        .truth = NAN};
}

void od_experiment_sensor_covariance(const od_experiment *e, double *R) {
  memset(R, 0, (size_t)(e->outputs * e->outputs) * sizeof *R);
  for (int i = 0; i < e->outputs; i++) R[i * (e->outputs + 1)] = 1;
  for (int i = 0; i < e->sensors; i++) {
    memcpy(R + i * e->outputs, e->sensor_covariance + i * e->sensors, (size_t)e->sensors * sizeof *R);
    R[i * (e->outputs + 1)] += e->sensor[i].resolution * e->sensor[i].resolution / 12;
  }
}

// Creates the plant of the true machine or of the model, with sensor models for calibrated sensors. Fails with a status of
// od_machine_plant() or od_plant_calibrated().
static od_status make_plant(const od_experiment *e, bool truth, od_plant **out, od_error *err) {
  OD_SCRATCH(scratch);
  int *outputs = OD_TAKE(&scratch, int, e->outputs), *number = OD_TAKE(&scratch, int, e->parameters);
  od_calibration *calibration = OD_TAKE(&scratch, od_calibration, e->parameters);
  int numbers = 0, calibrations = 0;
  static const od_calibration_kind kinds[] = {OD_CALIBRATE_BIAS, OD_CALIBRATE_SCALE, OD_CALIBRATE_NOTHING};
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < e->watches; i++) {
    const od_watched *w = &e->watched[i];
    outputs[i] = outputs[w->row] = !truth ? w->model_output : w->truth_output >= 0 ? w->truth_output : 0;
  }
  for (int i = 0; i < e->parameters; i++) {
    const od_estimated *p = &e->parameter[i];
    if (p->sensor < 0)
      number[numbers++] = truth ? od_machine_number_find(e->truth, p->path) : p->number;
    else
      calibration[calibrations++] = (od_calibration){p->sensor, kinds[p->calibrated]};
  }
  od_plant *inner = NULL;
  od_status status = od_machine_plant(truth ? e->truth : e->model, outputs, e->outputs, number, numbers, &inner, err);
  *out = inner;
  if (status != OD_OK || calibrations == 0) return status;
  status = od_plant_calibrated(inner, calibration, calibrations, out, err);
  if (status != OD_OK) od_plant_free(inner);
  return status;
}

od_status od_experiment_plant(const od_experiment *e, od_plant **out, od_error *err) {
  return make_plant(e, false, out, err);
}
od_status od_experiment_true_plant(const od_experiment *e, od_plant **out, od_error *err) {
  return make_plant(e, true, out, err);
}

// --- Process noise ------------------------------------------------------------------------------------------------

// Returns the variance of the noise in a step h, relative to the variance in the experiment's step.
static double fraction_of(double h, double step) {
  return fabs(h - step) < 1e-6 * step ? 1 : h / step;
}

// Adds the noise of disturbances. For a state with the time constant T, the exact variance of a step h is
// noise^2 (1 - exp(-2h/T)) T/2.
static void add_random_walks(const od_model *m, int first, double h, int n, double *Q) {
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_state *state = od_instance_description(m, e)->states;
    for (int k = 0; k < OD_MOST_ELEMENT_STATES && state[k].name; k++) {
      if (state[k].noise_field == 0 || e->state[k] < 0) continue;
      double noise = m->theta[e->number + state[k].noise_field], T = m->theta[e->number + state[k].time_field];
      Q[(first + e->state[k]) * (n + 1)] += noise * noise * (T > 0 ? -expm1(-2 * h / T) * T / 2 : h);
    }
  }
}

// Implements eq. 31 of source 1 in docs/theory.md: white acceleration over the step, and independent changes of pressures.
void od_process_noise_covariance(const od_process_noise *noise, const od_model *m, const od_plant *plant, double h,
                                 double step, const double *process, double *Q, int n) {
  double a = pow(noise->acceleration, 2), part = fraction_of(h, step);
  int nz = plant->nz, nx = od_plant_nx(plant);
  memset(Q, 0, (size_t)(n * n) * sizeof *Q);
  for (int i = 0; i < nx && process; i++)
    for (int j = 0; j < nx; j++) Q[i * n + j] = process[i * nx + j] * part;
  add_random_walks(m, 2 * nz, h, n, Q);
  if (process) return;
  for (int i = 0; i < nz; i++) {
    Q[i * n + i] = a * h * h * h / 3;
    Q[i * n + nz + i] = Q[(nz + i) * n + i] = a * h * h / 2;
    Q[(nz + i) * (n + 1)] = a * h;
  }
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].state >= 0) Q[(2 * nz + m->node[i].state) * (n + 1)] = pow(noise->pressures, 2) * part;
}

// Computes the same matrix as od_process_noise_covariance(), and adds the noise of the parameters.
void od_experiment_process_noise(const od_experiment *e, const od_plant *plant, double h, const double *process,
                                 double *Q) {
  const od_process_noise noise = {.pressures = e->pressure_noise, .acceleration = e->acceleration_noise};
  int nx = od_plant_nx(plant), n = nx + e->parameters;
  od_process_noise_covariance(&noise, od_machine_model(e->model), plant, h, e->step, process, Q, n);
  for (int i = 0; i < e->parameters; i++)
    Q[(nx + i) * (n + 1)] = pow(e->parameter[i].noise, 2) * fraction_of(h, e->step);
}
