// Compares parameters and curves at the end of a run with the true ones: their errors, and whether the observer's covariance
// predicts them.
#include "experiment/compare_truth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/scalar_x.h"
#include "machine/machine.h"
#include "math/dense.h"
#include "math/normal.h"
#include "math/spline_x.h"

enum { CURVE_SAMPLES = 201 };

// --- Parameters ---------------------------------------------------------------------------------------------------

double od_observed_nees(const od_experiment *e, const od_observed *o, const int *which, int count) {
  size_t n = (size_t)count;
  double *P = malloc((n * n + 2 * n + 1) * sizeof *P), sum = NAN;
  int *pivot = malloc((n + 1) * sizeof *pivot);
  if (P && pivot && count > 0) {
    double *error = P + count * count, *solved = error + count;
    // Scaled by the standard deviations, which may differ by many orders of magnitude.
    for (int i = 0; i < count; i++) {
      int a = which[i];
      solved[i] = error[i] = (o->estimate[a] - o->truth[a]) / o->sigma[a];
      for (int j = 0; j < count; j++)
        P[i * count + j] = o->covariance[a * e->parameters + which[j]] / (o->sigma[a] * o->sigma[which[j]]);
    }
    if (od_lu_factor(count, P, pivot) == OD_OK) {
      od_lu_solve(count, P, pivot, solved, 1);
      sum = 0;
      for (int i = 0; i < count; i++) sum += error[i] * solved[i];
    }
  }
  free(P);
  free(pivot);
  return sum;
}

static bool find_nees(const od_experiment *e, od_observed *o) {
  int *all = malloc(((size_t)e->parameters + 1) * sizeof *all);
  if (!all) return false;
  for (int i = 0; i < e->parameters; i++) all[i] = i;
  o->nees = o->compared == e->parameters ? od_observed_nees(e, o, all, e->parameters) : (double)NAN;
  free(all);
  return true;
}

static void find_coverage(const od_experiment *e, od_observed *o) {
  for (int i = 0; i < e->parameters; i++) {
    if (isnan(o->truth[i])) continue;
    o->compared++;
    o->covered += fabs(o->estimate[i] - o->truth[i]) <= OD_NORMAL95 * o->sigma[i];
  }
}

// --- Curves -------------------------------------------------------------------------------------------------------

// Index of a parameter among the numbers of the model; -1: not a number of the model.
static int theta_of(const od_experiment *e, int parameter) {
  int number = e->parameter[parameter].number;
  return number < 0 ? -1 : od_machine_number_theta(e->model, number);
}

// Index of the parameter that estimates number `theta` of the model, or -1.
static int parameter_of(const od_experiment *e, int theta) {
  for (int p = 0; p < e->parameters; p++)
    if (theta_of(e, p) == theta) return p;
  return -1;
}

static bool is_port(const od_instance *instance) {
  return od_instance_class(instance) == &od_port_class;
}

// Curve of a port with estimated ordinates. parameter[i]: the parameter that estimates ordinate i, or -1.
typedef struct curve {
  const od_instance *flow, *true_flow;  // true_flow: port of the true machine, or NULL
  double *start, *estimate;             // ordinates
  int *parameter;
  bool any;
} curve;

static bool read_curve(const od_experiment *e, const od_observed *o, const od_instance *flow, curve *c) {
  const od_model *m = od_machine_model(e->model);
  int first = flow->number + 1 + flow->choice[OD_PORT_COUNT];  // overlap, abscissae, ordinates
  *c = (curve){.flow = flow,
               .start = malloc(2 * (size_t)flow->choice[OD_PORT_COUNT] * sizeof *c->start),
               .parameter = malloc((size_t)flow->choice[OD_PORT_COUNT] * sizeof *c->parameter)};
  if (!c->start || !c->parameter) return false;
  c->estimate = c->start + flow->choice[OD_PORT_COUNT];
  for (int i = 0; i < flow->choice[OD_PORT_COUNT]; i++) {
    int p = c->parameter[i] = parameter_of(e, first + i);
    c->start[i] = p >= 0 ? e->parameter[p].start : m->theta[first + i];
    c->estimate[i] = p >= 0 ? o->estimate[p] : m->theta[first + i];
    c->any = c->any || p >= 0;
  }
  return true;
}

static double value_of(const double *theta, const od_instance *f, const double *ordinate, double x, curve_point_r *at) {
  curve_evaluate_r(f->choice[OD_PORT_DEGREE], f->choice[OD_PORT_COUNT], theta + f->number + 1, ordinate, x, at);
  return at->y;
}

// Standard deviation of the curve at a point: the ordinates are weighted with their basis functions.
static double curve_sigma(const od_experiment *e, const od_observed *o, const curve *c, const curve_point_r *at) {
  double sum = 0;
  for (int a = 0; a <= c->flow->choice[OD_PORT_DEGREE]; a++)
    for (int b = 0; b <= c->flow->choice[OD_PORT_DEGREE]; b++) {
      int i = c->parameter[at->first + a], j = c->parameter[at->first + b];
      if (i >= 0 && j >= 0) sum += at->B[a] * at->B[b] * o->covariance[i * e->parameters + j];
    }
  return sqrt(fmax(sum, 0));
}

static od_curve_place place_at(const od_experiment *e, const od_observed *o, const curve *c, double x) {
  const double *theta = od_machine_model(e->model)->theta;
  curve_point_r at;
  od_curve_place place = {.x = x, .start = value_of(theta, c->flow, c->start, x, &at), .truth = NAN};
  place.estimate = value_of(theta, c->flow, c->estimate, x, &at);
  place.sigma = curve_sigma(e, o, c, &at);
  if (c->true_flow) {
    const double *true_theta = od_machine_model(e->truth)->theta;
    const double *ordinate = true_theta + c->true_flow->number + 1 + c->true_flow->choice[OD_PORT_COUNT];
    place.truth = value_of(true_theta, c->true_flow, ordinate, x, &at);
  }
  return place;
}

// Control points have true values only if the true curve has the same number of control points.
static od_curve_place control_point(const od_experiment *e, const od_observed *o, const curve *c, int i) {
  int p = c->parameter[i];
  od_curve_place place = {.x = od_machine_model(e->model)->theta[c->flow->number + 1 + i],
                          .start = c->start[i],
                          .estimate = c->estimate[i],
                          .sigma = p >= 0 ? o->sigma[p] : 0,
                          .truth = NAN};
  if (c->true_flow && c->true_flow->choice[OD_PORT_COUNT] == c->flow->choice[OD_PORT_COUNT])
    place.truth = od_machine_model(e->truth)->theta[c->true_flow->number + 1 + c->flow->choice[OD_PORT_COUNT] + i];
  return place;
}

static void compare_curve(od_curve_result *r) {
  double squares = 0, variance = 0;
  int inside = 0, uncertain = 0;
  for (int i = 0; i < r->samples; i++) {
    const od_curve_place *at = &r->sample[i];
    double difference = at->estimate - at->truth;
    squares += difference * difference;
    variance += at->sigma * at->sigma;
    uncertain += at->sigma > 0;
    inside += at->sigma > 0 && fabs(difference) <= OD_NORMAL95 * at->sigma;
  }
  r->rmse = sqrt(squares / r->samples) / r->full;
  r->sigma = sqrt(variance / r->samples) / r->full;
  r->coverage = uncertain > 0 && !isnan(squares) ? (double)inside / uncertain : (double)NAN;
}

// Unit of number `theta` of a machine.
static const char *unit_of(const od_machine *machine, int theta) {
  for (int i = 0; i < od_machine_number_count(machine); i++)
    if (od_machine_number_theta(machine, i) == theta) return od_machine_number(machine, i).unit;
  return "1";
}

static bool sample_curve(const od_experiment *e, const od_observed *o, const curve *c, od_curve_result *r) {
  const od_model *m = od_machine_model(e->model);
  const od_instance *valve = &m->instance[c->flow->host];
  double stroke = m->theta[valve->number + OD_VALVE_STROKE];
  *r = (od_curve_result){.valve = valve->name,
                         .port = c->flow->name,
                         .from = m->node[c->flow->end[0]].name,
                         .to = m->node[c->flow->end[1]].name,
                         .side = c->flow->choice[OD_PORT_SIDE],
                         .x_unit = unit_of(e->model, valve->number + OD_VALVE_STROKE),
                         .full = m->theta[valve->number + OD_VALVE_FULL],
                         .samples = CURVE_SAMPLES,
                         .points = c->flow->choice[OD_PORT_COUNT]};
  r->sample = calloc((size_t)(r->samples + r->points), sizeof *r->sample);
  if (!r->sample) return false;
  r->point = r->sample + r->samples;
  for (int i = 0; i < r->samples; i++) r->sample[i] = place_at(e, o, c, stroke * i / (CURVE_SAMPLES - 1));
  for (int i = 0; i < r->points; i++) r->point[i] = control_point(e, o, c, i);
  compare_curve(r);
  return true;
}

// The same port of the true machine, or NULL.
static const od_instance *find_port(const od_experiment *e, const char *valve, const char *port) {
  const od_model *m = e->truth ? od_machine_model(e->truth) : NULL;
  for (int i = 0; m && i < m->instances; i++) {
    const od_instance *f = &m->instance[i];
    if (is_port(f) && strcmp(f->name, port) == 0 && strcmp(m->instance[f->host].name, valve) == 0) return f;
  }
  return NULL;
}

static bool find_curves(const od_experiment *e, od_observed *o) {
  const od_model *m = od_machine_model(e->model);
  bool ok = (o->curve = calloc((size_t)m->instances + 1, sizeof *o->curve)) != NULL;
  for (int i = 0; ok && i < m->instances; i++) {
    if (!is_port(&m->instance[i])) continue;
    curve c;
    ok = read_curve(e, o, &m->instance[i], &c);
    c.true_flow = find_port(e, m->instance[m->instance[i].host].name, m->instance[i].name);
    if (ok && c.any) ok = sample_curve(e, o, &c, &o->curve[o->curves++]);
    free(c.start);
    free(c.parameter);
  }
  return ok;
}

int od_curve_points(const od_experiment *e, int *which, double *full) {
  const od_model *m = od_machine_model(e->model);
  int count = 0;
  for (int p = 0; p < e->parameters; p++) {
    int theta = theta_of(e, p);
    for (int i = 0; i < m->instances; i++) {
      const od_instance *f = &m->instance[i];
      if (!is_port(f)) continue;
      int first = f->number + 1 + f->choice[OD_PORT_COUNT];
      if (theta < first || theta >= first + f->choice[OD_PORT_COUNT]) continue;
      full[count] = m->theta[m->instance[f->host].number + OD_VALVE_FULL];
      which[count++] = p;
    }
  }
  return count;
}

// --- All of it ----------------------------------------------------------------------------------------------------

bool od_compare_truth(const od_experiment *e, od_observed *o) {
  find_coverage(e, o);
  return find_nees(e, o) && find_curves(e, o);
}

void od_compare_truth_free(od_observed *o) {
  for (int i = 0; i < o->curves; i++) free(o->curve[i].sample);
  free(o->curve);
}

double od_observed_curve_rmse(const od_observed *o) {
  double sum = 0;
  int known = 0;
  for (int i = 0; i < o->curves; i++) {
    if (isnan(o->curve[i].rmse)) continue;
    sum += o->curve[i].rmse * o->curve[i].rmse;
    known++;
  }
  return known > 0 ? sqrt(sum / known) : (double)NAN;
}

double od_observed_curve_sigma(const od_observed *o) {
  double sum = 0;
  for (int i = 0; i < o->curves; i++) sum += o->curve[i].sigma * o->curve[i].sigma;
  return o->curves > 0 ? sqrt(sum / o->curves) : (double)NAN;
}

od_consistency od_consistency_of(double sum, double n) {
  if (!(n > 0)) return (od_consistency){NAN, NAN, NAN};
  return (od_consistency){sum / n, od_chi_quantile(n, -OD_NORMAL95), od_chi_quantile(n, OD_NORMAL95)};
}

od_consistency od_observed_nis(const od_observed *o) {
  return od_consistency_of(o->nis, (double)o->nis_dimension);
}
