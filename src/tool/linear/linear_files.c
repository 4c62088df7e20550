// Writes a linear model as a CSV and as a MATLAB file. All numbers are in SI.
#include <errno.h>
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
    return fflush(stdout) == 0 ? OD_OK : od_fail(err, OD_IO, "cannot write to standard output: %s", strerror(errno));
  }
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  write_matrices(f.file, m);
  return od_atomic_commit(&f, err);
}

// --- MATLAB ----------------------------------------------------------------------------------------------------------

// Returns the names or the units of signals; NULL if out of memory.
static const char **list_texts(od_arena *arena, const od_linear_signal *s, int count, bool units) {
  const char **text = OD_TAKE(arena, const char *, count);
  for (int i = 0; text && i < count; i++) text[i] = units ? s[i].unit : s[i].name;
  return text;
}

static double *list_values(od_arena *arena, const od_linear_signal *s, int count) {
  double *value = OD_TAKE(arena, double, count);
  for (int i = 0; value && i < count; i++) value[i] = s[i].value;
  return value;
}

od_status od_linear_write_mat(const void *user, const char *path, od_error *err) {
  OD_SCRATCH(scratch);
  const od_linear_results *r = user;
  const od_linear_model *m = r->model;
  int n = m->states, nu = m->inputs, ny = m->outputs;
  double *poles = OD_TAKE(&scratch, double, 2L * n);
  for (int i = 0; poles && i < n; i++) {
    poles[2 * i] = r->poles.pole[i].real;
    poles[2 * i + 1] = r->poles.pole[i].imaginary;
  }
  const od_mat_variable variables[] = {{"A", n, n, .data = m->A},
                                       {"B", n, nu, .data = m->B},
                                       {"C", ny, n, .data = m->C},
                                       {"D", ny, nu, .data = m->D},
                                       {"x0", n, 1, .data = list_values(&scratch, m->state, n)},
                                       {"u0", nu, 1, .data = list_values(&scratch, m->input, nu)},
                                       {"y0", ny, 1, .data = list_values(&scratch, m->output, ny)},
                                       {"poles", n, 2, .data = poles},
                                       {"states", n, 1, .text = list_texts(&scratch, m->state, n, false)},
                                       {"state_units", n, 1, .text = list_texts(&scratch, m->state, n, true)},
                                       {"inputs", nu, 1, .text = list_texts(&scratch, m->input, nu, false)},
                                       {"input_units", nu, 1, .text = list_texts(&scratch, m->input, nu, true)},
                                       {"outputs", ny, 1, .text = list_texts(&scratch, m->output, ny, false)},
                                       {"output_units", ny, 1, .text = list_texts(&scratch, m->output, ny, true)}};
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  return od_matrices_write_mat(variables, (int)(sizeof variables / sizeof *variables), path, err);
}
