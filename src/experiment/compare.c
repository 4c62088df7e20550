// Parameters and curves at the end of a run beside the true ones: errors, and whether they are as large as the observer
// expects.
#include "experiment/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/scalar_x.h"
#include "machine/loader.h"
#include "machine/machine.h"
#include "math/dense.h"
#include "math/spline_x.h"

static const double normal95 = 1.959963984540054;
enum { CURVE_SAMPLES = 201 };

// --- Parameters ---------------------------------------------------------------------------------------------------

double od_observed_nees(const od_experiment *e, const od_observed *o, const int *which, int count) {
  size_t n = (size_t)count;
  double *P = malloc((n * n + 2 * n + 1) * sizeof *P), sum = NAN;
  int *pivot = malloc((n + 1) * sizeof *pivot);
  if (P && pivot && count > 0) {
    double *error = P + count * count, *solved = error + count;
    // In units of the standard deviations, which may differ by many orders of magnitude.
    for (int i = 0; i < count; i++) {
      int a = which[i];
      solved[i] = error[i] = (o->estimate[a] - e->parameter[a].truth) / o->sigma[a];
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
    if (isnan(e->parameter[i].truth)) continue;
    o->compared++;
    o->covered += fabs(o->estimate[i] - e->parameter[i].truth) <= normal95 * o->sigma[i];
  }
}

// --- Curves -------------------------------------------------------------------------------------------------------

// A port's curve with estimated ordinates: parameter[i] is the parameter that is ordinate i, or -1.
typedef struct curve {
  const od_flow *flow;
  double *ordinate;
  int *parameter;
  bool any;
} curve;

// The number of the model that a parameter is; -1: none of them.
static int theta_of(const od_experiment *e, int parameter) {
  int number = e->parameter[parameter].number;
  return number < 0 ? -1 : e->model->numbers.item[number].theta;
}

static bool read_curve(const od_experiment *e, const od_observed *o, const od_flow *flow, curve *c) {
  const od_model *m = od_machine_model(e->model);
  int first = flow->number + 1 + flow->count;  // overlap, abscissae, ordinates
  *c = (curve){.flow = flow,
               .ordinate = malloc((size_t)flow->count * sizeof *c->ordinate),
               .parameter = malloc((size_t)flow->count * sizeof *c->parameter)};
  if (!c->ordinate || !c->parameter) return false;
  for (int i = 0; i < flow->count; i++) {
    c->ordinate[i] = m->theta[first + i];
    c->parameter[i] = -1;
    for (int p = 0; p < e->parameters; p++) {
      if (theta_of(e, p) != first + i) continue;
      c->parameter[i] = p;
      c->ordinate[i] = o->estimate[p];
      c->any = true;
    }
  }
  return true;
}

static double value_of(const double *theta, const od_flow *f, const double *ordinate, double x, curve_point_r *at) {
  curve_evaluate(f->degree, f->count, theta + f->number + 1, ordinate, x, at);
  return at->y;
}

// The standard deviation of the curve at a point: its ordinates count by their basis functions.
static double curve_sigma(const od_experiment *e, const od_observed *o, const curve *c, const curve_point_r *at) {
  double sum = 0;
  for (int a = 0; a <= c->flow->degree; a++)
    for (int b = 0; b <= c->flow->degree; b++) {
      int i = c->parameter[at->first + a], j = c->parameter[at->first + b];
      if (i >= 0 && j >= 0) sum += at->B[a] * at->B[b] * o->covariance[i * e->parameters + j];
    }
  return sqrt(fmax(sum, 0));
}

static od_curve_result compare_curve(const od_experiment *e, const od_observed *o, const curve *c,
                                     const od_flow *true_flow) {
  const od_model *truth = od_machine_model(e->truth), *model = od_machine_model(e->model);
  const od_valve *valve = &model->valve[c->flow->valve];
  double stroke = model->theta[valve->number + OD_VALVE_STROKE], full = model->theta[valve->number + OD_VALVE_FULL];
  const double *true_ordinate = truth->theta + true_flow->number + 1 + true_flow->count;
  double squares = 0, variance = 0;
  int inside = 0, uncertain = 0;
  for (int i = 0; i < CURVE_SAMPLES; i++) {
    curve_point_r at, true_at;
    double x = stroke * i / (CURVE_SAMPLES - 1);
    double difference = value_of(model->theta, c->flow, c->ordinate, x, &at) -
                        value_of(truth->theta, true_flow, true_ordinate, x, &true_at);
    double sigma = curve_sigma(e, o, c, &at);
    squares += difference * difference;
    variance += sigma * sigma;
    uncertain += sigma > 0;
    inside += sigma > 0 && fabs(difference) <= normal95 * sigma;
  }
  return (od_curve_result){.valve = valve->name,
                           .port = c->flow->name,
                           .rmse = sqrt(squares / CURVE_SAMPLES) / full,
                           .sigma = sqrt(variance / CURVE_SAMPLES) / full,
                           .coverage = uncertain > 0 ? (double)inside / uncertain : (double)NAN};
}

// The same port of the true machine, or NULL.
static const od_flow *find_port(const od_model *m, const char *valve, const char *port) {
  for (int i = 0; i < m->flows; i++) {
    const od_flow *f = &m->flow[i];
    if (f->kind == OD_FLOW_PORT && strcmp(f->name, port) == 0 && strcmp(m->valve[f->valve].name, valve) == 0) return f;
  }
  return NULL;
}

static bool find_curves(const od_experiment *e, od_observed *o) {
  const od_model *m = od_machine_model(e->model);
  bool ok = (o->curve = calloc((size_t)m->flows + 1, sizeof *o->curve)) != NULL;
  for (int i = 0; ok && i < m->flows; i++) {
    if (m->flow[i].kind != OD_FLOW_PORT) continue;
    const od_flow *true_flow = find_port(od_machine_model(e->truth), m->valve[m->flow[i].valve].name, m->flow[i].name);
    curve c;
    ok = read_curve(e, o, &m->flow[i], &c);
    if (ok && c.any && true_flow) o->curve[o->curves++] = compare_curve(e, o, &c, true_flow);
    free(c.ordinate);
    free(c.parameter);
  }
  return ok;
}

int od_curve_points(const od_experiment *e, int *which, double *full) {
  const od_model *m = od_machine_model(e->model);
  int count = 0;
  for (int p = 0; p < e->parameters; p++) {
    int theta = theta_of(e, p);
    for (int i = 0; i < m->flows; i++) {
      const od_flow *f = &m->flow[i];
      int first = f->number + 1 + f->count;
      if (f->kind != OD_FLOW_PORT || theta < first || theta >= first + f->count) continue;
      full[count] = m->theta[m->valve[f->valve].number + OD_VALVE_FULL];
      which[count++] = p;
    }
  }
  return count;
}

// --- All of it ----------------------------------------------------------------------------------------------------

bool od_compare(const od_experiment *e, od_observed *o) {
  find_coverage(e, o);
  return find_nees(e, o) && find_curves(e, o);
}

double od_observed_curve_rmse(const od_observed *o) {
  double sum = 0;
  for (int i = 0; i < o->curves; i++) sum += o->curve[i].rmse * o->curve[i].rmse;
  return o->curves > 0 ? sqrt(sum / o->curves) : (double)NAN;
}

// Quantiles of chi-squared over its dimension, after Wilson and Hilferty.
od_consistency od_observed_nis(const od_observed *o) {
  double n = (double)o->nis_dimension, spread = 2 / (9 * n);
  if (!(n > 0)) return (od_consistency){NAN, NAN, NAN};
  return (od_consistency){o->nis / n, pow(1 - spread - normal95 * sqrt(spread), 3),
                          pow(1 - spread + normal95 * sqrt(spread), 3)};
}
