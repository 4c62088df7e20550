// Writes a linear model as CSV and MATLAB file. All numbers are in SI.
#include <stdlib.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/mat_matrices.h"
#include "io/number.h"
#include "linear/linear_result.h"

// --- CSV -------------------------------------------------------------------------------------------------------------

static void write_cell(FILE *to, const char *name, const char *unit, const char *rate) {
  fprintf(to, "%s%s [%s%s]", name, rate, unit[0] ? unit : "1", rate[0] ? "/s" : "");
}

static void write_row(FILE *to, const double *left, int left_count, const double *right, int right_count) {
  char text[OD_NUMBER_SIZE];
  for (int j = 0; j < left_count + right_count; j++) {
    od_number_format(text, j < left_count ? left[j] : right[j - left_count]);
    fprintf(to, ",%s", text);
  }
  fprintf(to, "\n");
}

static void write_matrices(FILE *to, const od_linear_model *m) {
  int n = m->states, nu = m->inputs;
  fprintf(to, "row");
  for (int j = 0; j < n + nu; j++) {
    const od_linear_signal *s = j < n ? &m->state[j] : &m->input[j - n];
    fprintf(to, ",");
    write_cell(to, s->name, s->unit, "");
  }
  fprintf(to, "\n");
  for (int i = 0; i < n; i++) {
    write_cell(to, m->state[i].name, m->state[i].unit, "'");
    write_row(to, m->A + i * n, n, m->B + i * nu, nu);
  }
  for (int i = 0; i < m->outputs; i++) {
    write_cell(to, m->output[i].name, m->output[i].unit, "");
    write_row(to, m->C + i * n, n, m->D + i * nu, nu);
  }
}

od_status od_linear_write_csv(const void *user, const char *path, od_error *err) {
  const od_linear_model *m = ((const od_linear_results *)user)->model;
  if (!strcmp(path, "-")) {
    write_matrices(stdout, m);
    return fflush(stdout) == 0 ? OD_OK : od_fail(err, OD_IO, "cannot write to standard output");
  }
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  write_matrices(f.file, m);
  return od_atomic_commit(&f, err);
}

// --- MATLAB ----------------------------------------------------------------------------------------------------------

enum { NAMES = 6 };

static bool list_names(const od_linear_model *m, const char **text[NAMES]) {
  const od_linear_signal *const list[] = {m->state, m->input, m->output};
  const int count[] = {m->states, m->inputs, m->outputs};
  for (int k = 0; k < NAMES; k++) {
    text[k] = calloc((size_t)count[k / 2] + 1, sizeof *text[k]);
    if (!text[k]) return false;
    for (int i = 0; i < count[k / 2]; i++) text[k][i] = k % 2 ? list[k / 2][i].unit : list[k / 2][i].name;
  }
  return true;
}

od_status od_linear_write_mat(const void *user, const char *path, od_error *err) {
  const od_linear_results *r = user;
  const od_linear_model *m = r->model;
  const char **text[NAMES] = {NULL};
  int n = m->states, nu = m->inputs, ny = m->outputs;
  double *poles = calloc(2 * (size_t)n + 1, sizeof *poles), *x = calloc((size_t)n + 1, sizeof *x),
         *u = calloc((size_t)nu + 1, sizeof *u), *y = calloc((size_t)ny + 1, sizeof *y);
  od_status status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (poles && x && u && y && list_names(m, text)) {
    for (int i = 0; i < n; i++)
      poles[2 * i] = r->poles.pole[i].real, poles[2 * i + 1] = r->poles.pole[i].imaginary, x[i] = m->state[i].value;
    for (int i = 0; i < nu; i++) u[i] = m->input[i].value;
    for (int i = 0; i < ny; i++) y[i] = m->output[i].value;
    const od_mat_variable variables[] = {{"A", n, n, m->A, NULL},
                                         {"B", n, nu, m->B, NULL},
                                         {"C", ny, n, m->C, NULL},
                                         {"D", ny, nu, m->D, NULL},
                                         {"x0", n, 1, x, NULL},
                                         {"u0", nu, 1, u, NULL},
                                         {"y0", ny, 1, y, NULL},
                                         {"poles", n, 2, poles, NULL},
                                         {"states", n, 1, NULL, text[0]},
                                         {"state_units", n, 1, NULL, text[1]},
                                         {"inputs", nu, 1, NULL, text[2]},
                                         {"input_units", nu, 1, NULL, text[3]},
                                         {"outputs", ny, 1, NULL, text[4]},
                                         {"output_units", ny, 1, NULL, text[5]}};
    if (err) *err = (od_error){0};
    status = od_matrices_write_mat(variables, (int)(sizeof variables / sizeof *variables), path, err);
  }
  for (int k = 0; k < NAMES; k++) free(text[k]);
  free(poles);
  free(x);
  free(u);
  free(y);
  return status;
}
