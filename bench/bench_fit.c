// The fin servo's fit as a small shared library, for fit_scipy.py: the same residuals and exact derivatives, by the same
// predictions, for both searches. The library also runs oleodyn's own search over them.
#include <stdio.h>
#include <stdlib.h>

#include "identify/fit.h"

typedef struct bench_fit {
  od_fit_plan *plan;
  od_fit_data *data;
  od_plant *plant;
  od_predictor *predictor;
  double *y;
  int m, n;
} bench_fit;

bench_fit *bench_fit_open(const char *path);
void bench_fit_close(bench_fit *b);
void bench_fit_size(const bench_fit *b, int *m, int *n);
void bench_fit_box(const bench_fit *b, double *start, double *low, double *high);
int bench_fit_residuals(void *fit, const double *x, double *r);
int bench_fit_jacobian(void *fit, const double *x, double *J);

// Result of a search: the final cost and the numbers of evaluations.
typedef struct bench_search {
  double cost;
  long residuals, jacobians, iterations;
} bench_search;
int bench_fit_search(bench_fit *b, int differences, bench_search *out);
int bench_fit_whole(bench_fit *b, bench_search *out);

bench_fit *bench_fit_open(const char *path) {
  bench_fit *b = calloc(1, sizeof *b);
  od_messages *messages = od_messages_new();
  od_error err = {0};
  od_status status = b ? od_fit_plan_load(path, NULL, &b->plan, messages) : OD_NO_MEMORY;
  if (status != OD_OK) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  if (status == OD_OK) status = od_fit_data_make(b->plan, &b->plan->set[0], NULL, &b->data, &err);
  if (status == OD_OK) status = od_experiment_plant(b->plan->e, &b->plant, &err);
  if (status == OD_OK) {
    const od_logged_inputs drive = {.count = (int)b->data->rows, .step = b->data->step, .u = b->data->u};
    const od_predictor_options options = {.rule = {.exact = true}};
    status = od_predictor_new(b->plant, &drive, &options, &b->predictor, &err);
    b->m = (int)b->data->rows;
    b->n = b->plan->e->parameters;
    b->y = malloc((size_t)b->m * sizeof *b->y);
  }
  if (status == OD_OK && b->y) return b;
  fprintf(stderr, "%s\n", err.text);
  bench_fit_close(b);
  return NULL;
}

void bench_fit_close(bench_fit *b) {
  if (!b) return;
  od_predictor_free(b->predictor);
  od_plant_free(b->plant);
  od_fit_data_free(b->data);
  od_fit_plan_free(b->plan);
  free(b->y);
  free(b);
}

void bench_fit_size(const bench_fit *b, int *m, int *n) {
  *m = b->m;
  *n = b->n;
}

void bench_fit_box(const bench_fit *b, double *start, double *low, double *high) {
  for (int i = 0; i < b->n; i++) {
    const od_estimated *p = &b->plan->e->parameter[i];
    start[i] = p->start, low[i] = p->low, high[i] = p->high;
  }
}

// One sensor without gaps: a row per sample.
int bench_fit_residuals(void *fit, const double *x, double *r) {
  bench_fit *b = fit;
  if (od_predict(b->predictor, x, NULL, r, NULL) != OD_OK) return 1;
  const double part = 1 / b->data->sigma[0];
  for (int k = 0; k < b->m; k++) r[k] = part * (r[k] - b->data->y[k]);
  return 0;
}

int bench_fit_jacobian(void *fit, const double *x, double *J) {
  bench_fit *b = fit;
  if (od_predict(b->predictor, x, NULL, b->y, J) != OD_OK) return 1;
  const double part = 1 / b->data->sigma[0];
  for (int k = 0; k < b->m * b->n; k++) J[k] *= part;
  return 0;
}

static void keep(const od_ls_result *r, bench_search *out) {
  *out = (bench_search){r->cost, r->residual_evaluations, r->jacobian_evaluations, r->iterations};
}

// oleodyn's search over these functions, optionally with forward differences.
int bench_fit_search(bench_fit *b, int differences, bench_search *out) {
  double *start = malloc(3 * (size_t)b->n * sizeof *start);
  if (!start) return 1;
  bench_fit_box(b, start, start + b->n, start + 2 * b->n);
  const od_ls_problem problem = {.m = b->m,
                                 .n = b->n,
                                 .user = b,
                                 .residuals = bench_fit_residuals,
                                 .jacobian = differences ? NULL : bench_fit_jacobian,
                                 .start = start,
                                 .low = start + b->n,
                                 .high = start + 2 * b->n};
  const od_ls_options options = {
      .cost_tolerance = 1e-12, .step_tolerance = 1e-9, .precision = 1e-11, .forward_differences = differences};
  od_ls_result *result = NULL;
  od_status status = od_least_squares(&problem, &options, &result, NULL);
  if (result) keep(result, out);
  od_ls_result_free(result);
  free(start);
  return status != OD_OK;
}

// All of `oleodyn fit` between reading the file and writing: data, search, identifiability, prediction.
int bench_fit_whole(bench_fit *b, bench_search *out) {
  od_fitted *f = NULL;
  od_status status = od_fit(b->plan, NULL, &f, NULL);
  if (f) keep(f->search, out);
  od_fitted_free(f);
  return status != OD_OK;
}
