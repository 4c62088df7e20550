// The square-root unscented Kalman filter. Mean and covariance of a step's result, and of the sensors, come from sigma points x +-
// c s. These points are on both sides of the estimate, along the rows s of the square root of P. Each pair gives
//
//   a = (y+ - y-) / 2,   b = (y+ + y-) / 2 - y0,   shift of the mean d = sum of b / c^2,   c^2 = alpha^2 (n + kappa)
//   covariance = sum of (a a' + b b') / c^2 + (beta - alpha^2) d d'
//
// These formulas equal the usual weighted sums, but avoid large weights of opposite signs. With beta >= alpha^2 the covariance is a
// sum of squares, and Householder reflections give a triangular root. Sigma points that the machine cannot reach are moved closer,
// and their results are extrapolated by linear and quadratic functions.
#include <math.h>

#include "observe/filters.h"
#include "observe/deviation_filter.h"

enum { ALPHA, BETA, KAPPA, OPTIONS };
static const od_filter_option options[] = {
    {"alpha",
     "factor alpha of the distance alpha sqrt(n + kappa) of the sigma points; default: 0.8",
     0.8,
     1e-4,
     10,
     NULL,
     {0}},
    {"beta",
     "weight of the shift of the mean in the covariance; the default gives the exact variance of a quadratic function of one state",
     NAN,
     0,
     100,
     NULL,
     {0}},
    {"kappa",
     "number kappa in the distance alpha sqrt(n + kappa) of the sigma points; default: 3 - n",
     NAN,
     -50,
     1000,
     NULL,
     {0}},
};
enum { MOST_HALVES = 4 };  // largest number of halvings of the distance to a sigma point that cannot be reached

static double kappa_of(const double *choice, int n) {
  return isnan(choice[KAPPA]) ? 3 - n : choice[KAPPA];
}
static double beta_of(const double *choice, int n) {
  double alpha = choice[ALPHA];
  return isnan(choice[BETA]) ? fmax(alpha * alpha, 2 - alpha * alpha * (n + kappa_of(choice, n) - 1)) : choice[BETA];
}

static const char *check(const od_observer_options *o) {
  if (!o->choice || isnan(o->choice[BETA]) || o->choice[BETA] >= o->choice[ALPHA] * o->choice[ALPHA]) return NULL;
  return "'beta' must be at least the square of 'alpha'; otherwise the covariance may become negative";
}

static size_t memory(const od_plant *plant, const od_observer_options *o) {
  (void)o;
  return od_deviations_size(plant, 2 * (od_plant_nx(plant) + plant->np) + 1);
}

static od_status start(od_observer *o) {
  int n = o->nx + o->np;
  return n + kappa_of(o->choice, n) > 0 ? OD_OK : OD_BAD_ARGUMENT;
}

// The step of a trial: length and inputs. Without a step (trial NULL), a trial computes the outputs at the trial state.
typedef struct trial {
  double h;
  const double *u;
} trial;

static od_status evaluate(od_observer *o, const trial *t, double *result) {
  od_sim *probe = od_deviations_probe(o);
  if (!t) return od_sim_outputs(probe, result);
  od_status status = od_sim_step(probe, t->h, t->u);
  if (status == OD_OK) memcpy(result, od_sim_state(probe), (size_t)o->nx * sizeof *result);
  return status;
}

// Computes the results at both sigma points along d minus the result at the center (count entries each). *part: the fraction of the
// distance at which both points could be reached. Fails with a status of od_sim_step().
static od_status try_pair(od_observer *o, const od_deviations *r, const trial *t, double c, const double *d,
                          const double *middle, int count, double *part) {
  od_status status = OD_OK;
  *part = 1;
  for (int half = 0; half <= MOST_HALVES; half++, *part /= 2) {
    double *result[2] = {r->up, r->down};
    for (int side = 0; side < 2; side++) {
      status = od_deviations_try(o, r, (side ? -c : c) * *part, d);
      if (status == OD_OK) status = evaluate(o, t, result[side]);
      if (status != OD_OK) break;
      for (int i = 0; i < count; i++) result[side][i] -= middle[i];
    }
    if (status == OD_OK) return OD_OK;
  }
  return status;
}

// Adds the rows of all pairs: results (count, at entry `place` of a row) and the rows s themselves (starting at entry `first`).
// `shift` receives d. Fails with a status of od_sim_step().
static od_status fill(od_observer *o, od_deviations *r, const trial *t, const double *middle, int count, int place,
                      int first, double *shift) {
  int n = o->nx + o->np, width = n + o->ny;
  od_covariance estimate = od_observer_estimate(o);
  double alpha = o->choice[ALPHA], c = alpha * sqrt(n + kappa_of(o->choice, n));
  if (!od_covariance_rows(&estimate, r->root)) return OD_NOT_FINITE;
  memset(shift, 0, (size_t)count * sizeof *shift);
  for (int j = 0; j < n; j++) {
    const double *s = r->root + j * n;
    double part, size = 0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(s[i]));
    if (size == 0) continue;
    od_status status = try_pair(o, r, t, c, s, middle, count, &part);
    if (status != OD_OK) return status;
    double *odd = od_deviations_next(r, width), *even = od_deviations_next(r, width);
    memcpy(odd + first, s + first, (size_t)(n - first) * sizeof *odd);
    for (int i = 0; i < count; i++) {
      double a = (r->up[i] - r->down[i]) / (2 * part), b = (r->up[i] + r->down[i]) / (2 * part * part);
      odd[place + i] = a / c;
      even[place + i] = b / c;
      shift[i] += b / (c * c);
    }
  }
  double *last = od_deviations_next(r, width), weight = sqrt(beta_of(o->choice, n) - alpha * alpha);
  for (int i = 0; i < count; i++) last[place + i] = weight * shift[i];
  return OD_OK;
}

static od_deviations rows_of(const od_observer *o) {
  return od_deviations_of(o, 2 * (o->nx + o->np) + 1);
}

// Predicts with sigma points about the estimate. Fails with a status of od_sim_step().
static od_status predict(od_observer *o, double h, const double *u, const double *Q, const double *q) {
  od_deviations r = rows_of(o);
  double *shift = od_observer_at(o, od_observer_linear(o)->delta);
  const trial step = {h, u};
  od_status status = od_deviations_step(o, &r, h, u);
  if (status == OD_OK) status = fill(o, &r, &step, od_observer_state(o), o->nx, 0, o->nx, shift);
  return status == OD_OK ? od_deviations_predicted(o, &r, shift, Q, q) : status;
}

static od_status fill_sensors(od_observer *o, od_deviations *r) {
  const double *y = od_observer_at(o, od_observer_linear(o)->y);
  od_status status = fill(o, r, NULL, y, o->ny, o->nx + o->np, 0, r->expected);
  for (int i = 0; i < o->ny; i++) r->expected[i] += y[i];
  return status;
}

static od_status correct(od_observer *o, const double *y) {
  od_deviations r = rows_of(o);
  return od_deviations_correct(o, &r, y, fill_sensors);
}

const od_filter od_filter_ukf = {
    .name = "ukf",
    .description = "unscented Kalman filter in square-root form",
    .option = options,
    .options = OPTIONS,
    .check = check,
    .memory = memory,
    .start = start,
    .predict = predict,
    .correct = correct,
    .output_sigma = od_linear_output_sigma,
};
