// The fit from its plan to its result, stage by stage: the problem (fit_problem.c), the search (fit_search.c), and the
// uncertainty of the parameters at the solution. fit_quality.c computes the quality of predictions.
#include "identify/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "identify/fit_work.h"
#include "io/clock.h"
#include "io/wording.h"
#include "least_squares/loss.h"
#include "least_squares/row_qr.h"

// --- Interrupts ---------------------------------------------------------------------------------------------------

static const double report_time = 0.5;   // time limit, s, for the report of the best values after an interrupt
static const double most_entries = 4e6;  // number of entries of a Jacobian that can be evaluated within the time limit

bool od_fit_keeps_going(void *work) {
  od_fit_work *w = work;
  if (!w->options->progress) return true;
  if (!w->interrupted && !w->options->progress(w->options->user, w->done)) {
    w->interrupted = true;
    w->report_deadline = od_seconds() + report_time;
  }
  if (!w->interrupted) return true;
  bool needed = !w->begun || w->reporting;
  bool large = w->reporting && (double)w->m * w->n > most_entries;
  if (needed && (large || od_seconds() >= w->report_deadline)) w->report_late = true;
  return needed && !w->report_late;
}

// Writes the best values so far into err, without the quality of predictions. Returns OD_INTERRUPTED.
static od_status describe_best(const od_fit_work *w, od_error *err) {
  const od_ls_result *r = w->f->search;
  char values[400] = "";
  for (int i = 0, at = 0; i < w->np && at < (int)sizeof values - 1; i++)
    at += snprintf(values + at, sizeof values - (size_t)at, "%s%s = %.6g %s", i ? ", " : "",
                   w->plan->e->parameter[i].path, r->x[i],
                   strcmp(w->plan->e->parameter[i].unit, "1") ? w->plan->e->parameter[i].unit : "");
  if (r->only_coarse)
    return od_fail(err, OD_INTERRUPTED,
                   "interrupted after %s using one row in %d; best values so far, from these rows: %s",
                   od_count(r->coarse_iterations, "iteration").text, r->coarse, values);
  return od_fail(err, OD_INTERRUPTED, "interrupted after %s; best values so far: %s",
                 od_count(r->iterations, "iteration").text, values);
}

// --- Estimates ----------------------------------------------------------------------------------------------------

// Returns the scale of a parameter's relative change: the larger of the magnitudes of its estimate and its start. If the start is
// zero, the scale is at least the distance between the bounds. Without two bounds, the scale is then at least the sigma in the file.
static double size_of(const od_estimated *p, double estimate) {
  double size = fmax(fabs(estimate), fabs(p->start)), room = p->high - p->low;
  if (p->start != 0) return size;
  return fmax(size, isfinite(room) ? room : p->sigma > 0 ? p->sigma : 0);
}

double od_fit_loss_scale(const od_fit_plan *plan) {
  return plan->loss_scale > 0 ? plan->loss_scale : 1;
}

// R factors of all fitted rows at the solution, in units of their noise: plain, and with the weights of a robust loss.
typedef struct triangles {
  const od_fit_work *w;
  od_row_qr plain, weighted;
  bool robust;
} triangles;

static void put_row(const od_fit_work *w, const od_fit_block *b, const double *from, double part, od_row_qr *qr) {
  int stride;
  double *to = od_row_qr_next(qr, &stride);
  for (int c = 0; c <= w->n; c++) to[c * stride] = 0;
  for (int c = 0; c < b->columns; c++) to[od_fit_column(w, b, c) * stride] = part * from[c];
}

static void add_rows(void *user, const od_fit_block *b) {
  triangles *t = user;
  const od_fit_work *w = t->w;
  const od_fit_data *d = w->f->data[b->set];
  for (long k = b->first; k < b->first + b->count && k < d->fitted; k++)
    for (int i = 0; i < w->ns; i++) {
      if (isnan(d->y[k * w->ns + i])) continue;
      const double *from = od_fit_derivatives(w, b, k, i);
      put_row(w, b, from, 1 / d->sigma[i], &t->plain);
      if (!t->robust) continue;
      double weight = od_loss_row(w->plan->loss, od_fit_loss_scale(w->plan), od_fit_residual(w, b->set, k, i)).row;
      put_row(w, b, from, weight / d->sigma[i], &t->weighted);
    }
}

// Completes a factorization of rows and copies its R (n x n).
static void finish(od_row_qr *qr, double *R) {
  int n = qr->k;
  od_row_qr_end(qr);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) R[i * n + j] = j >= i ? qr->R[i * (n + 1) + j] : 0;
}

// Computes both R factors, `plain` and `weighted` (n x n). Returns false if a set cannot be predicted at the solution.
static bool find_triangles(od_fit_work *w, double *memory, double *plain, double *weighted) {
  triangles t = {.w = w, .robust = w->plan->loss != OD_LOSS_LINEAR};
  od_row_qr_begin(&t.plain, w->n, memory);
  od_row_qr_begin(&t.weighted, w->n, memory + od_row_qr_size(w->n));
  if (od_fit_stand(w) != OD_OK) return false;
  for (int set = 0; set < w->f->sets; set++)
    if (w->f->data[set]->fitted > 0 && od_fit_visit_set(w, set, add_rows, &t) != OD_OK) return false;
  finish(&t.plain, plain);
  if (t.robust)
    finish(&t.weighted, weighted);
  else
    memcpy(weighted, plain, (size_t)w->n * (size_t)w->n * sizeof *plain);
  return true;
}

// Computes the identifiability of the parameters and the influence of the rows, from the derivatives at the solution.
// Residuals and derivatives of a row are divided by the standard deviation of its noise. If a set cannot be predicted, both
// results remain NULL. After an interrupt, the influence or both results remain NULL.
static od_status linearize(od_fit_work *w, od_error *err) {
  int tied = od_fit_active_rows(w->f, NULL), n = w->n;
  const od_ls_result *r = w->f->search;
  OD_SCRATCH(scratch);
  double *memory = OD_TAKE(&scratch, double, 2 * od_row_qr_size(n)), *plain = OD_TAKE_MATRIX(&scratch, double, n, n);
  double *weighted = OD_TAKE_MATRIX(&scratch, double, n, n), *size = OD_TAKE(&scratch, double, w->np);
  double *tie = OD_TAKE_MATRIX(&scratch, double, w->np, tied);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_fit_active_rows(w->f, tie);
  for (int i = 0; i < w->np; i++) size[i] = size_of(&w->plan->e->parameter[i], r->x[i]);
  if (!find_triangles(w, memory, plain, weighted) || !od_fit_keeps_going(w)) return OD_OK;
  od_status status =
      od_identifiability_without_states(n, n, w->np, plain, r->x, size, tied, tie, &w->f->identifiability, err);
  if (status != OD_OK || !od_fit_keeps_going(w)) return status;
  const od_influence_of of = {
      .m = n, .n = n, .np = w->np, .J = weighted, .at_bound = r->at_bound, .tied = tied, .tie = tie};
  return od_influence_new(&of, &w->influence, err);
}

// State of the callback that writes the influence of each value of a block: a row of one number per parameter.
typedef struct influences {
  const od_fit_work *w;
  double *to;  // address of the next row to be written
} influences;
static void add_influence(void *user, const od_fit_block *b) {
  influences *i = user;
  const od_fit_work *w = i->w;
  const od_fit_data *d = w->f->data[b->set];
  for (long k = b->first; k < b->first + b->count && k < d->fitted; k++)
    for (int s = 0; s < w->ns; s++) {
      if (isnan(d->y[k * w->ns + s])) continue;
      const double *derivative = od_fit_derivatives(w, b, k, s);
      for (int c = 0; c < b->columns; c++) {
        const double *by = w->influence->by + od_fit_column(w, b, c) * w->np;
        double change = derivative[c] / (d->sigma[s] * d->sigma[s]);
        for (int a = 0; a < w->np; a++) i->to[a] += change * by[a];
      }
      i->to += w->np;
    }
}

static od_status keep_influence(od_fit_work *w, od_error *err) {
  if (!w->influence) return OD_OK;
  w->f->influence = OD_TAKE_MATRIX(&w->f->arena, double, w->m, w->np);
  if (!w->f->influence) return od_fail(err, OD_NO_MEMORY, "out of memory");
  influences i = {w, w->f->influence};
  od_status status = OD_OK;
  for (int set = 0; set < w->f->sets && status == OD_OK; set++)
    if (w->f->data[set]->fitted > 0) status = od_fit_visit_set(w, set, add_influence, &i);
  return status;
}

// Stores the estimates and allocates the arrays of later stages. Fails with OD_NO_MEMORY.
static od_status keep_estimates(od_fit_work *w, od_error *err) {
  const od_fit_plan *plan = w->plan;
  const od_ls_result *r = w->f->search;
  od_fitted *f = w->f;
  int np = w->np, nc = plan->combinations;
  OD_SCRATCH(scratch);
  double *gradient = OD_TAKE(&scratch, double, w->n);
  f->name = OD_TAKE(&f->arena, const char *, np);
  double **const of_parameters[] = {&f->estimate, &f->sigma, &f->sigma_white, &f->sigma_colored, &f->shift};
  double **const of_combinations[] = {&f->combination_value, &f->combination_sigma, &f->combination_bound,
                                      &f->combination_white, &f->combination_colored};
  for (size_t i = 0; i < 5; i++) *of_parameters[i] = OD_TAKE(&f->arena, double, np);
  for (size_t i = 0; i < 5; i++) *of_combinations[i] = OD_TAKE(&f->arena, double, nc);
  f->correlation = OD_TAKE_MATRIX(&f->arena, double, np, np);
  if (!gradient || od_arena_status(&f->arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < np; i++) {
    f->name[i] = plan->e->parameter[i].path;
    f->estimate[i] = r->x[i];
  }
  for (int c = 0; c < nc; c++) {
    f->combination_value[c] = od_combination_value(&plan->combination[c], np, r->x, gradient);
    f->combination_bound[c] = f->identifiability ? od_identifiability_sigma(f->identifiability, gradient) : (double)NAN;
  }
  return OD_OK;
}

// --- The complete fit ---------------------------------------------------------------------------------------------

static void release(od_fit_work *w) {
  for (int i = 0; i < w->f->sets; i++) od_predictor_free(w->predictor[i]);
  for (int i = 0; w->shooting && i < w->f->sets; i++) od_shooting_free(w->shooting[i]);
  od_influence_free(w->influence);
  od_plant_free(w->plant);
  od_arena_free(&w->arena);
}

od_status od_fit(const od_fit_plan *plan, const od_fit_options *options, od_fitted **out, od_error *err) {
  static const od_fit_options none = {0};
  od_fitted *f = *out = od_calloc(1, sizeof *f);
  if (!f) return od_fail(err, OD_NO_MEMORY, "out of memory");
  f->plan = plan;
  od_fit_work w = {.plan = plan, .options = options ? options : &none, .f = f};
  od_status status = od_fit_prepare(&w, err), searched = OD_OK;
  if (status == OD_OK) searched = od_fit_search(&w, err);
  if (status == OD_OK && !f->search) status = searched;
  w.reporting = true;
  typedef od_status stage(od_fit_work *, od_error *);
  static stage *const of_linearization[] = {linearize, keep_influence, NULL};
  static stage *const of_all[] = {
      linearize,         keep_estimates,         od_fit_judge_sets, od_fit_find_pair,   od_fit_find_sigmas,
      od_fit_find_shift, od_fit_check_cost_rise, od_fit_judge,      od_fit_name_causes, NULL};
  static stage *const none_more[] = {NULL};
  stage *const *next = w.options->extent == OD_FIT_SEARCH_ONLY     ? none_more
                       : w.options->extent == OD_FIT_LINEARIZATION ? of_linearization
                                                                   : of_all;
  // Checks for an interrupt before each stage, because a stage takes long if the data have very many rows.
  for (; *next && status == OD_OK && od_fit_keeps_going(&w); next++) status = (*next)(&w, err);
  if (w.report_late && f->search) status = describe_best(&w, err);
  release(&w);
  if (status == OD_OK) return searched;
  od_fitted_free(f);
  *out = NULL;
  return status;
}

void od_fitted_free(od_fitted *f) {
  if (!f) return;
  for (int i = 0; i < f->sets; i++) od_fit_data_free(f->data[i]);
  od_table_free(f->table);
  od_table_free(f->history);
  od_verdict_free(&f->verdict);
  od_identifiability_free(f->identifiability);
  od_ls_result_free(f->search);
  od_arena_free(&f->arena);
  od_free(f);
}
