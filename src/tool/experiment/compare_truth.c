// Compares the estimated parameters and curves at the end of a run with the true parameters and curves. Computes the
// errors, and whether the errors agree with the observer's covariance.
#include "experiment/observe.h"

#include <math.h>
#include <string.h>

#include "base/scalar_x.h"
#include "machine/machine.h"
#include "math/dense.h"
#include "math/normal.h"
#include "math/spline_x.h"

enum { CURVE_SAMPLES = 201 };

// --- Parameters ---------------------------------------------------------------------------------------------------

double od_observed_nees(const od_experiment *e, const od_observed *o, const int *which, int count) {
  OD_SCRATCH(scratch);
  double *P = OD_TAKE(&scratch, double, count *count), *error = OD_TAKE(&scratch, double, count);
  double *solved = OD_TAKE(&scratch, double, count), sum = 0;
  int *pivot = OD_TAKE(&scratch, int, count);
  if (od_arena_status(&scratch) != OD_OK || count == 0) return NAN;
  // The matrix is scaled by the standard deviations, which may differ by many orders of magnitude.
  for (int i = 0; i < count; i++) {
    int a = which[i];
    solved[i] = error[i] = (o->estimate[a] - o->truth[a]) / o->sigma[a];
    for (int j = 0; j < count; j++)
      P[i * count + j] = o->covariance[a * e->parameters + which[j]] / (o->sigma[a] * o->sigma[which[j]]);
  }
  if (od_lu_factor(count, P, pivot) != OD_OK) return NAN;
  od_lu_solve(count, P, pivot, solved, 1);
  for (int i = 0; i < count; i++) sum += error[i] * solved[i];
  return sum;
}

// --- Curves -------------------------------------------------------------------------------------------------------

// Returns the index of a parameter among the numbers of the model; -1: not a number of the model.
static int theta_of(const od_experiment *e, int parameter) {
  int number = e->parameter[parameter].number;
  return number < 0 ? -1 : od_machine_number_theta(e->model, number);
}

// The curve of an element: degree, abscissae and ordinates of its control points.
typedef struct curve {
  int degree, count;
  const double *x, *y;
} curve;

static curve curve_of(const od_machine *machine, const od_instance *element) {
  const od_model *m = od_machine_model(machine);
  const double *x = m->theta + element->number + od_instance_description(m, element)->field_count;
  int count = element->choice[OD_PORT_COUNT];
  return (curve){element->choice[OD_PORT_DEGREE], count, x, x + count};
}

static double value_at(const curve *c, double x, curve_point_r *at) {
  curve_evaluate_r(c->degree, c->count, c->x, c->y, x, at);
  return at->y;
}

// Returns the curve of an element of the true machine, with the values of its changing numbers at the end of the run. The arena owns the
// ordinates.
static curve true_curve_of(const od_experiment *e, const od_observed *o, const od_instance *element, od_arena *memory) {
  curve c = curve_of(e->truth, element);
  double *y = OD_TAKE(memory, double, c.count);
  int first = (int)(c.y - od_machine_model(e->truth)->theta);
  for (int i = 0; y && i < c.count; i++) y[i] = c.y[i];
  for (int i = 0; y && i < e->changes; i++) {
    int at = od_machine_number_theta(e->truth, e->change[i].number) - first;
    if (at >= 0 && at < c.count) y[at] = o->changed[i];
  }
  if (y) c.y = y;
  return c;
}

// Returns the element of the true machine that has a curve and the given names of host and element, or NULL.
static const od_instance *find_true_element(const od_experiment *e, const char *host, const char *name) {
  const od_model *m = e->truth ? od_machine_model(e->truth) : NULL;
  for (int i = 0; m && i < m->instances; i++) {
    const od_instance *f = &m->instance[i];
    if (od_instance_class(m, f)->has_curve && !strcmp(od_model_text(m, f->name), name) &&
        !strcmp(od_model_text(m, m->instance[f->host].name), host))
      return f;
  }
  return NULL;
}

// Returns the unit of a machine's number with the index `theta` in the model; "1": there is no such number.
static const char *unit_of(const od_machine *machine, int theta) {
  for (int i = 0; i < od_machine_number_count(machine); i++)
    if (od_machine_number_theta(machine, i) == theta) return od_machine_number(machine, i).unit;
  return "1";
}

// Computes error, standard deviation and coverage of a curve from its samples.
static void find_errors(od_curve_result *r) {
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

// Adds the curve of an element to the results if some of its ordinates are estimated. Returns false if out of memory.
static bool compare_curve(const od_experiment *e, od_observed *o, const od_instance *element) {
  OD_SCRATCH(scratch);
  const od_model *m = od_machine_model(e->model);
  const od_element_description *of = od_instance_description(m, element);
  const od_instance *host = &m->instance[element->host],
                    *true_element = find_true_element(e, od_model_text(m, host->name), od_model_text(m, element->name));
  curve start = curve_of(e->model, element), estimate = start, truth = {0};
  int n = start.count, first = (int)(start.y - m->theta), np = e->parameters;
  double *y0 = OD_TAKE(&scratch, double, n), *y1 = OD_TAKE(&scratch, double, n);
  int *parameter = OD_TAKE(&scratch, int, n);  // per ordinate: index of its parameter, or -1
  bool any = false;
  if (od_arena_status(&scratch) != OD_OK) return false;
  for (int i = 0; i < n; i++) {
    int p = 0;
    while (p < np && theta_of(e, p) != first + i) p++;
    parameter[i] = p < np ? p : -1;
    y0[i] = p < np ? e->parameter[p].start : start.y[i];
    y1[i] = p < np ? o->estimate[p] : start.y[i];
    any = any || p < np;
  }
  if (!any) return true;
  start.y = y0, estimate.y = y1;
  if (true_element) truth = true_curve_of(e, o, true_element, &scratch);
  if (od_arena_status(&scratch) != OD_OK) return false;
  od_curve_result *r = &o->curve[o->curves];
  *r = (od_curve_result){.valve = od_model_text(m, host->name),
                         .port = od_model_text(m, element->name),
                         .from = od_model_text(m, m->node[element->end[0]].name),
                         .to = od_model_text(m, m->node[element->end[1]].name),
                         .side = element->choice[OD_PORT_SIDE],
                         .x_unit = unit_of(e->model, host->number + of->curve_stroke),
                         .full = m->theta[host->number + of->curve_full],
                         .samples = CURVE_SAMPLES,
                         .sample = OD_TAKE(&o->memory, od_curve_place, CURVE_SAMPLES),
                         .points = n,
                         .point = OD_TAKE(&o->memory, od_curve_place, n),
                         .parameter = OD_TAKE(&o->memory, int, n),
                         .weight = OD_TAKE_MATRIX(&o->memory, double, n, CURVE_SAMPLES)};
  if (od_arena_status(&o->memory) != OD_OK) return false;
  o->curves++;
  memcpy(r->parameter, parameter, (size_t)n * sizeof *parameter);
  for (int k = 0; k < r->samples; k++) {
    double x = m->theta[host->number + of->curve_stroke] * k / (CURVE_SAMPLES - 1), variance = 0;
    curve_point_r at;
    od_curve_place *to = &r->sample[k];
    *to = (od_curve_place){.x = x, .start = value_at(&start, x, &at), .truth = NAN};
    to->estimate = value_at(&estimate, x, &at);
    // The value of the curve is the sum of the ordinates, weighted with their basis functions.
    for (int a = 0; a <= start.degree; a++) r->weight[(at.first + a) * r->samples + k] = at.B[a];
    for (int a = 0; a <= start.degree; a++)
      for (int b = 0; b <= start.degree; b++) {
        int i = parameter[at.first + a], j = parameter[at.first + b];
        if (i >= 0 && j >= 0) variance += at.B[a] * at.B[b] * o->covariance[i * np + j];
      }
    to->sigma = sqrt(fmax(variance, 0));
    if (true_element) to->truth = value_at(&truth, x, &at);
  }
  // Control points have true values only if the true curve has the same number of control points.
  for (int i = 0; i < n; i++)
    r->point[i] = (od_curve_place){.x = start.x[i],
                                   .start = y0[i],
                                   .estimate = y1[i],
                                   .sigma = parameter[i] >= 0 ? o->sigma[parameter[i]] : 0,
                                   .truth = truth.count == n ? truth.y[i] : (double)NAN};
  find_errors(r);
  return true;
}

int od_curve_points(const od_experiment *e, int *which, double *full) {
  const od_model *m = od_machine_model(e->model);
  int count = 0;
  for (int p = 0; p < e->parameters; p++) {
    int theta = theta_of(e, p);
    for (int i = 0; i < m->instances; i++) {
      const od_instance *f = &m->instance[i];
      if (!od_instance_class(m, f)->has_curve) continue;
      curve c = curve_of(e->model, f);
      int first = (int)(c.y - m->theta);
      if (theta < first || theta >= first + c.count) continue;
      full[count] = m->theta[m->instance[f->host].number + od_instance_description(m, f)->curve_full];
      which[count++] = p;
    }
  }
  return count;
}

// --- Results ------------------------------------------------------------------------------------------------------

bool od_compare_truth(const od_experiment *e, od_observed *o) {
  const od_model *m = od_machine_model(e->model);
  OD_SCRATCH(scratch);
  int *all = OD_TAKE(&scratch, int, e->parameters);
  o->curve = OD_TAKE(&o->memory, od_curve_result, m->instances);
  if (!o->curve || !all) return false;
  for (int i = 0; i < e->parameters; i++) {
    all[i] = i;
    if (isnan(o->truth[i])) continue;
    o->compared++;
    o->covered += fabs(o->estimate[i] - o->truth[i]) <= OD_NORMAL95 * o->sigma[i];
  }
  o->nees = o->compared == e->parameters ? od_observed_nees(e, o, all, e->parameters) : (double)NAN;
  for (int i = 0; i < m->instances; i++)
    if (od_instance_class(m, &m->instance[i])->has_curve && !compare_curve(e, o, &m->instance[i])) return false;
  return true;
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
