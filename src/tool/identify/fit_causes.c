// Diagnosis of a bad fit. An observer with the fit's model, sensors and parameters runs over the samples of the worst set.
// Hypothetical faults are removed one after another (experiment/diagnosis.h).
#include <math.h>
#include <string.h>

#include "experiment/diagnosis.h"
#include "identify/fit_work.h"
#include "memory/owned.h"
#include "oleodyn/sim.h"

enum { MOST_ROWS = 2000 };
static const double widest =
    0.5;  // sigma of a parameter without a sigma in the file: at most this fraction of its start or estimate

static bool is_blamed(const od_verdict *v) {
  static const char *const codes[] = {"noise.larger",     "residual.not_white", "fit.poor",        "fit.sensor",
                                      "search.stuck",     "search.evaluations", "search.rugged",   "residual.outlier",
                                      "validation.worse", "residual.together",  "parameter.bound", "parameter.moved"};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (od_verdict_has(v, codes[i])) return v->trust > OD_SOUND;
  return false;
}

// Returns the index of the fitted set with the largest residuals, in units of noise and summed over sensors; -1: no set
// has two fitted rows.
static int worst_set(const od_fit_work *w) {
  int worst = -1;
  double most = -1;
  for (int set = 0; set < w->f->sets; set++) {
    double sum = 0;
    for (int i = 0; i < w->ns; i++) {
      double size = w->f->set[set].fitted_quality[i].rms / w->f->data[set]->sigma[i];
      if (size > 0) sum += size;
    }
    if (w->f->data[set]->fitted > 1 && sum > most) most = sum, worst = set;
  }
  return worst;
}

static bool holds(const od_fit_work *w, const od_fit_data *d) {
  return (d->set->log && d->set->plan.hold) || w->plan->hold == OD_HOLD_ZERO;
}

// Removes the estimated delay of a sensor from its samples: linear interpolation between rows. Samples beyond the rows are missing.
static void remove_delay(const od_fit_work *w, const od_fit_data *d, int sensor, double delay, od_record *r) {
  for (long k = 0, row = 0; k < r->rows; k++) {
    const double t = r->t[k] + delay;
    while (row + 2 < d->rows && d->time[row + 1] <= t) row++;
    const double *y = d->y + row * w->ns + sensor, part = (t - d->time[row]) / (d->time[row + 1] - d->time[row]);
    r->y[k * w->ns + sensor] = part >= 0 && part <= 1 ? y[0] + part * (y[w->ns] - y[0]) : (double)NAN;
  }
}

static od_record *record_of(const od_fit_work *w, const od_fit_data *d) {
  long rows = d->rows < MOST_ROWS ? d->rows : MOST_ROWS;
  od_record *r = od_record_new(rows, w->ns, w->nu);
  if (!r) return NULL;
  memcpy(r->t, d->time, (size_t)rows * sizeof *r->t);
  memcpy(r->y, d->y, (size_t)rows * (size_t)w->ns * sizeof *r->y);
  for (int i = 0; i < w->np; i++) {
    const od_estimated *p = &w->plan->e->parameter[i];
    if (p->sensor >= 0 && p->calibrated == OD_SENSOR_DELAY) remove_delay(w, d, p->sensor, w->f->estimate[i], r);
  }
  if (w->nu) memcpy(r->u, d->u, (size_t)rows * (size_t)w->nu * sizeof *r->u);
  if (w->nu) memcpy(r->u_after, d->u, (size_t)rows * (size_t)w->nu * sizeof *r->u);
  for (long k = 1; k < rows && w->nu && holds(w, d); k++)
    memcpy(r->u + k * w->nu, r->u_after + (k - 1) * w->nu, (size_t)w->nu * sizeof *r->u);
  return r;
}

// Computes the ranges of the states in a simulation with the inputs of the record. If the simulation fails, the ranges cover
// the time before the failure.
static od_status find_ranges(const od_fit_work *w, const od_record *r, double *range) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_sim_free) od_sim *sim = od_sim_new(w->plant);
  double *low = OD_TAKE(&scratch, double, w->nx), *high = OD_TAKE(&scratch, double, w->nx);
  if (!sim || od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  od_status status = od_sim_start(sim, r->t[0], r->u);
  if (status == OD_NO_MEMORY) return status;
  for (int i = 0; i < w->nx && status == OD_OK; i++) low[i] = high[i] = od_sim_state(sim)[i];
  for (long k = 1; k < r->rows && status == OD_OK; k++) {
    status = od_sim_step(sim, r->t[k] - r->t[k - 1], r->u + k * w->nu);
    for (int i = 0; i < w->nx && status == OD_OK; i++) {
      low[i] = fmin(low[i], od_sim_state(sim)[i]);
      high[i] = fmax(high[i], od_sim_state(sim)[i]);
    }
  }
  for (int i = 0; i < w->nx; i++) range[i] = fmax(high[i] - low[i], 1e-9 * fmax(fabs(high[i]), 1e-6));
  return OD_OK;
}

// Runs the diagnosis of a set, with the model, the sensors and the parameters of the fit as an experiment. Fails with
// OD_NO_MEMORY or a status of od_diagnose().
static od_status diagnose(const od_fit_work *w, const od_fit_data *d, od_record *record, od_error *err) {
  od_experiment e = *w->plan->e;
  int nx = w->nx, n = nx + w->np;
  OD_SCRATCH(scratch);
  double *P = OD_TAKE_MATRIX(&scratch, double, n, n), *range = OD_TAKE(&scratch, double, nx);
  od_sensor *sensor = OD_TAKE(&scratch, od_sensor, w->ns);
  od_estimated *parameter = OD_TAKE(&scratch, od_estimated, w->np);
  if (od_arena_status(&scratch) != OD_OK || find_ranges(w, record, range) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < w->ns; i++) {
    sensor[i] = e.sensor[i];
    sensor[i].assume = d->sigma[i];
  }
  for (int i = 0; i < w->np; i++) {
    od_estimated *p = &parameter[i];
    *p = e.parameter[i];
    double box = isfinite(p->low) && isfinite(p->high) ? (p->high - p->low) / 4 : INFINITY;
    double size = widest * fmax(fabs(p->start), fabs(w->f->estimate[i]));
    p->noise = 0;
    p->sigma = p->sigma > 0 ? p->sigma : fmin(box, size > 0 ? size : box);
    if (!isfinite(p->sigma)) p->sigma = 1;
    P[(nx + i) * (n + 1)] = p->sigma * p->sigma;
  }
  // If the fit does not start at the model's initial state, the standard deviation of each initial state is the range
  // of the state.
  for (int i = 0; i < nx && od_fit_start_of(w->plan, d->set) != OD_FIT_FROM_MODEL; i++)
    P[i * (n + 1)] = pow(range[i], 2);
  e.sensor = sensor, e.parameter = parameter, e.covariance = P;
  e.sensor_covariance = NULL, e.process_noise = NULL, e.initial.count = 0, e.process.count = 0;
  e.log = NULL, e.gate = 0, e.uncorrected = false;
  od_experiment_use_filter(&e, od_filter_find("iterated-ekf"));
  if (!e.integrator_is_given && !w->f->rule.exact && w->f->rule.integrator) e.integrator = w->f->rule.integrator;
  e.step = d->step / (w->plan->substeps ? w->plan->substeps : 1);
  const od_diagnosis_task task = {.e = &e,
                                  .record = record,
                                  .step = e.step,
                                  .can_hold = !holds(w, d),
                                  .can_shorten = !w->f->rule.exact,
                                  .progress = w->options->progress,
                                  .user = w->options->user};
  return od_diagnose(&task, &w->f->verdict, NULL, err);
}

od_status od_fit_name_causes(od_fit_work *w, od_error *err) {
  int set = worst_set(w);
  if (!w->options->diagnose || set < 0 || w->f->only_predicted || !is_blamed(&w->f->verdict)) return OD_OK;
  od_record *record = record_of(w, w->f->data[set]);
  if (!record) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = diagnose(w, w->f->data[set], record, err);
  od_record_free(record);
  // After an interrupt, the verdict is complete except for the cause.
  return status == OD_INTERRUPTED ? OD_OK : status;
}
