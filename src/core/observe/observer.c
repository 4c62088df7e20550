// The part of an observer that does not depend on the filter: memory, jumps before a prediction, results. See observer_block.h.
#include "oleodyn/observer.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/place.h"
#include "base/precision.h"
#include "math/dense.h"
#include "observe/linear_filter.h"

enum { default_patience = 50 };

od_sim *od_observer_sim(od_observer *o) {
  return (od_sim *)((char *)o + o->sim);
}

// Checks the value of an option: a number in its range, or the index of a word. Fails with OD_BAD_ARGUMENT.
static od_status check_option(const od_filter *filter, const od_filter_option *option, double value, od_error *err) {
  double low = option->low, high = option->high;
  if (option->words)
    for (low = 0, high = -1; option->words[(int)high + 1];) high++;
  if (isnan(value) ? isnan(option->fallback)
                   : value >= low && value <= high && (!option->words || value == floor(value)))
    return OD_OK;
  return od_fail(err, OD_BAD_ARGUMENT, "the option '%s' of the filter '%s' is %g; expected %s from %g to %g",
                 option->key, filter->name, value, option->words ? "the index of a word," : "a number", low, high);
}

od_status od_observer_check(const od_observer_options *options, od_error *err) {
  const od_filter *filter = options->filter ? options->filter : od_filter_at(0);
  od_status status = OD_OK;
  for (int i = 0; options->choice && i < filter->options && status == OD_OK; i++)
    status = check_option(filter, &filter->option[i], options->choice[i], err);
  if (status != OD_OK) return status;
  if (options->noise && (!filter->constant_noise || options->form != OD_FORM_SQUARE_ROOT))
    return od_fail(err, OD_BAD_ARGUMENT,
                   "constant process noise needs the square-root form and the filter ekf or iterated-ekf");
  if (!OD_WITH_JOSEPH && options->form == OD_FORM_JOSEPH)
    return od_fail(err, OD_BAD_ARGUMENT, "this build contains only the square-root form");
  const char *wrong = filter->check ? filter->check(options) : NULL;
  return wrong ? od_fail(err, OD_BAD_ARGUMENT, "%s", wrong) : OD_OK;
}

// ---- memory

// Assigns the offsets of the observer's memory. Returns its size in bytes.
static size_t lay_out(od_observer *o, od_linear *linear, const od_plant *plant, const od_observer_options *options) {
  size_t nx = (size_t)od_plant_nx(plant), np = (size_t)plant->np, ny = (size_t)plant->ny, n = nx + np,
         d = sizeof(double);
  size_t end = sizeof *o;
  *o = (od_observer){.plant = plant, .nx = (int)nx, .np = (int)np, .ny = (int)ny, .form = (int)options->form};
  o->filter = options->filter ? options->filter : od_filter_at(0);
  for (int i = 0; i < o->filter->options; i++)
    o->choice[i] = options->choice ? options->choice[i] : o->filter->option[i].fallback;
  o->unsound = od_observer_check(options, NULL) != OD_OK;
  o->sim = od_place(&end, od_sim_size(plant));
  o->P = od_place(&end, n * n * d);
  o->noise = options->noise;
  o->noise_rows = (int)options->noise_rows;
  o->room = (size_t)(o->noise ? od_covariance_small_scratch((int)nx, (int)np, o->noise_rows)
                              : od_covariance_scratch((int)nx, (int)np));
  o->scratch = od_place(&end, o->room * d);
  o->kept = od_place(&end, o->noise ? 0 : (size_t)od_covariance_kept((int)nx, (int)np) * d);
  o->map = od_place(&end, nx * nx * d);
  o->map_p = od_place(&end, nx * np * d);
  o->p = od_place(&end, np * d);
  o->low = od_place(&end, np * d);
  o->high = od_place(&end, np * d);
  o->bias = od_place(&end, n * d);
  o->sigma = od_place(&end, ny * d);
  o->R = od_place(&end, ny * ny * d);
  o->present = od_place(&end, ny);
  o->at_edge = od_place(&end, ny);
  o->innovation = od_place(&end, ny * sizeof(od_innovation));
  o->guard = od_place(&end, ny * sizeof(od_guard));
  o->rules = od_place(&end, ny * sizeof(od_guard_rules));
  o->probe_size = od_sim_size(plant);
  // With constant noise, the trial simulation and the computed covariance share their memory.
  o->probe = od_place(&end, o->noise && o->probe_size < n * n * d ? n * n * d : o->probe_size);
  o->P_out = o->noise ? o->probe : od_place(&end, n * n * d);
  o->probe_x = od_place(&end, (4 * n + 2 * ny) * d);
  o->spread = od_place(&end, ny * sizeof(od_spread));
  o->declared_output = od_place(&end, nx * sizeof(int));
  o->declared_C = od_place(&end, nx * nx * d);
  o->linear = od_place(&end, sizeof(od_linear));
  *linear = (od_linear){0};
  od_linear_lay_out(o, linear, &end);
  o->memory = od_place(&end, o->filter->memory(plant, options));
  o->size = od_place(&end, 0);
  return o->size;
}

size_t od_observer_size(const od_plant *plant, const od_observer_options *options) {
  od_observer o;
  od_linear linear;
  return lay_out(&o, &linear, plant, options);
}
size_t od_observer_block_size(const od_observer *o) {
  return o->size;
}
const od_filter *od_observer_filter(const od_observer *o) {
  return o->filter;
}

// Stores the covariance of the sensors' noise. Sets o->correlated to -1 if the covariance is not symmetric and positive definite.
// If the covariance of all sensors is positive definite, so is the covariance of any subset.
static void set_noise(od_observer *o, const double *R) {
  int ny = o->ny;
  o->correlated = R ? 1 : 0;
  if (!R) return;
  memcpy(od_observer_at(o, o->R), R, (size_t)(ny * ny) * sizeof *R);
  for (int i = 0; i < ny; i++) {
    od_observer_at(o, o->sigma)[i] = sqrt(R[i * ny + i]);
    for (int j = 0; j < i; j++)
      if (!(fabs(R[i * ny + j] - R[j * ny + i]) <= OD_TOLERANCE(1e-12) * sqrt(R[i * ny + i] * R[j * ny + j])))
        o->correlated = -1;
  }
  if (od_cholesky(ny, R, od_observer_at(o, od_observer_linear(o)->L)) != ny) o->correlated = -1;
}

od_observer *od_observer_init(void *memory, const od_plant *plant, const od_observer_options *options) {
  if (!memory) return NULL;
  od_observer *o = memory, laid;
  od_linear linear;
  memset(memory, 0, lay_out(&laid, &linear, plant, options));
  *o = laid;
  *od_observer_linear(o) = linear;
  od_sim *sim = od_sim_init((char *)memory + o->sim, plant);
  if (options->integrator) od_sim_set_integrator(sim, options->integrator);
  for (int i = 0; i < o->np; i++) {
    od_observer_at(o, o->low)[i] = options->low ? options->low[i] : -INFINITY;
    od_observer_at(o, o->high)[i] = options->high ? options->high[i] : INFINITY;
  }
  od_guard_rules *rules = (od_guard_rules *)((char *)o + o->rules);
  for (int i = 0; i < o->ny; i++) {
    if (!options->sensor_covariance) od_observer_at(o, o->sigma)[i] = options->sensor_sigma[i];
    rules[i] = (od_guard_rules){options->gate, options->patience > 0 ? options->patience : default_patience,
                                options->frozen ? options->frozen[i] : 0};
  }
  set_noise(o, options->sensor_covariance);
  return o;
}

od_observer *od_observer_new(const od_plant *plant, const od_observer_options *options) {
  return od_observer_init(od_malloc(od_observer_size(plant, options)), plant, options);
}
void od_observer_free(od_observer *o) {
  od_free(o);
}

// ---- the filter

od_status od_observer_declare_start(od_observer *o, int count, const int *output, const double *covariance) {
  if (count < 0 || count > o->nx) return OD_BAD_ARGUMENT;
  for (int i = 0; i < count; i++)
    if (output[i] < 0 || output[i] >= o->ny) return OD_BAD_ARGUMENT;
  o->declared = count;
  if (count == 0) return OD_OK;
  memcpy((char *)o + o->declared_output, output, (size_t)count * sizeof *output);
  memcpy(od_observer_at(o, o->declared_C), covariance, (size_t)(count * count) * sizeof *covariance);
  return OD_OK;
}

od_status od_observer_start(od_observer *o, double t, const double *x, const double *p, const double *P,
                            const double *u) {
  od_sim *sim = od_observer_sim(o);
  o->started = 0;
  if (o->correlated < 0 || o->unsound) return OD_BAD_ARGUMENT;
  od_status status = od_sim_start(sim, t, u);
  if (status == OD_OK && p) status = od_sim_set_parameters(sim, p);
  if (status == OD_OK && x) status = od_sim_set(sim, t, x, u);
  if (status != OD_OK) return status;
  od_sim_parameters(sim, od_observer_at(o, o->p));
  memset(od_observer_at(o, o->bias), 0, (size_t)(o->nx + o->np) * sizeof(double));
  memset(od_observer_innovation(o, 0), 0, (size_t)o->ny * sizeof(od_innovation));
  o->nis = o->used = 0;
  od_observer_start_guards(o);
  od_covariance b = od_observer_estimate(o);
  if (!od_covariance_set(&b, P)) return OD_BAD_ARGUMENT;
  status = o->filter->start ? o->filter->start(o) : OD_OK;
  o->started = status == OD_OK;
  return status;
}

// Applies a jump of the state or a change of its coordinates to bias, covariance and filter. Fails with OD_NOT_FINITE or the status
// of od_filter.follow().
static od_status follow_jump(od_observer *o, const double *by_parameters) {
  od_covariance b = od_observer_estimate(o);
  const double *map = od_observer_at(o, o->map);
  od_observer_carry_bias(o, map, by_parameters, NULL, NULL);
  if (OD_WITH_CHANGES && o->watch) od_change_watch_predict(o->watch, map, by_parameters);
  if (!od_covariance_predict(&b, map, by_parameters, NULL, NULL)) return OD_NOT_FINITE;
  return o->filter->follow ? o->filter->follow(o, map, by_parameters) : OD_OK;
}

// Samples that are due at the current time are taken at the beginning of the prediction: after the correction, and, as in a
// simulation, with the inputs after a jump.
od_status od_observer_predict(od_observer *o, double h, const double *u, const double *Q, const double *q) {
  if (!o->started || (o->noise && (Q || q))) return OD_BAD_ARGUMENT;
  od_sim *sim = od_observer_sim(o);
  bool changed;
  double *map = od_observer_at(o, o->map), *map_p = o->np ? od_observer_at(o, o->map_p) : NULL;
  double before = od_sim_time(sim);
  od_status status = od_sim_sample(sim, map, map_p, &changed);
  if (status == OD_OK && changed) status = follow_jump(o, map_p);
  if (status == OD_OK) status = od_sim_repartition_with_parameters(sim, map, map_p, &changed);
  if (status == OD_OK && changed) status = follow_jump(o, map_p);
  // From here on the covariance is consistent with the state again.
  bool whole = status == OD_OK;
  if (whole) status = o->filter->predict(o, h, u, Q, q);
  if (status != OD_OK && ((!whole && changed) || od_sim_time(sim) != before)) o->started = 0;
  return status;
}

od_status od_observer_correct(od_observer *o, const double *y) {
  if (!o->started) return OD_BAD_ARGUMENT;
  od_status status = od_observer_begin_correction(o, y) > 0 ? o->filter->correct(o, y) : OD_OK;
  if (OD_WITH_CHANGES && o->watch) od_change_watch_corrected(o->watch);
  return status;
}

od_status od_observer_shift(od_observer *o, double *delta, const double *P) {
  od_covariance b = od_observer_estimate(o);
  const od_linear *l = od_observer_linear(o);
  od_linear_begin(o);
  od_status status = od_observer_move(o, od_observer_at(o, l->prior), delta);
  if (status == OD_OK && !od_covariance_add(&b, P, NULL)) status = OD_NOT_FINITE;
  if (o->filter->restart) o->filter->restart(o);
  return status;
}

void od_observer_inflate(od_observer *o, double factor) {
  od_covariance b = od_observer_estimate(o);
  od_covariance_scale(&b, factor);
  if (o->filter->restart) o->filter->restart(o);
}

// ---- results

bool od_observer_settled(const od_observer *o) {
  return !o->filter->settled || o->filter->settled(o);
}
bool od_observer_fell_back(const od_observer *o) {
  return o->filter->fell_back && o->filter->fell_back(o);
}
double od_observer_time(const od_observer *o) {
  return od_sim_time((const od_sim *)((const char *)o + o->sim));
}
const double *od_observer_state(const od_observer *o) {
  return od_sim_state((const od_sim *)((const char *)o + o->sim));
}
const double *od_observer_parameters(const od_observer *o) {
  return od_observer_at(o, o->p);
}
const double *od_observer_bias(const od_observer *o) {
  return od_observer_at(o, o->bias);
}

double *od_observer_covariance_memory(od_observer *o) {
  return od_observer_at(o, o->P_out);
}
int od_observer_noise_rows(int nx, int np, const double *Q, double *rows) {
  return od_covariance_noise(nx, np, Q, rows);
}
const double *od_observer_covariance(od_observer *o) {
  od_covariance b = od_observer_estimate(o);
  od_covariance_get(&b, od_observer_at(o, o->P_out));
  return od_observer_at(o, o->P_out);
}

double od_observer_parameter_sigma(const od_observer *o, int i) {
  od_covariance b = od_observer_estimate(o);
  return sqrt(fmax(od_covariance_variance(&b, o->nx + i), 0));
}

od_status od_observer_outputs(od_observer *o, double *y, double *sigma) {
  od_status status = od_sim_outputs(od_observer_sim(o), y);
  return status == OD_OK ? o->filter->output_sigma(o, y, sigma) : status;
}
