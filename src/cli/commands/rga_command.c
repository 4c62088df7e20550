// oleodyn rga: relative gains over frequency, and which input should drive which output.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/command.h"
#include "options/frequency_options.h"
#include "options/linear_options.h"
#include "terminal/terminal.h"
#include "io/json.h"
#include "linear/response.h"

enum { POINTS = 60 };

typedef struct arguments {
  od_linear_arguments linear;
  od_frequency_arguments frequencies;
} arguments;

typedef struct results {
  const od_machine *machine;
  const od_linear_model *model;
  int n, count;
  double *frequency;
  od_complex *gains;  // n x n per frequency; NAN where the gains have no inverse
  int *pair;          // of each frequency and output: its input; -1: unknown
  od_table *table;
} results;

static void free_results(results *r) {
  free(r->frequency);
  free(r->gains);
  free(r->pair);
  od_table_free(r->table);
}

static od_status label(results *r) {
  const od_linear_model *m = r->model;
  od_status status = od_table_label(r->table, 0, "frequency", "Hz");
  for (int i = 0; i < r->n * r->n && status == OD_OK; i++) {
    char text[600];
    snprintf(text, sizeof text, "%.250s.to.%.250s.relative", m->input[i % r->n].name, m->output[i / r->n].name);
    status = od_table_label(r->table, 1 + i, text, "1");
  }
  return status;
}

static od_status find(results *r, od_error *err) {
  int square = r->n * r->n;
  od_linear_response *response = od_linear_response_new(r->model);
  od_complex *G = calloc((size_t)square + 1, sizeof *G);
  double *row = calloc((size_t)square + 1, sizeof *row);
  r->gains = calloc((size_t)square * (size_t)r->count + 1, sizeof *r->gains);
  r->pair = calloc((size_t)r->n * (size_t)r->count + 1, sizeof *r->pair);
  r->table = od_table_new(1 + square);
  od_status status = response && G && row && r->gains && r->pair && r->table ? label(r) : OD_NO_MEMORY;
  for (int k = 0; k < r->count && status == OD_OK; k++) {
    od_complex *gains = r->gains + k * square;
    od_status found = od_linear_response_at(response, r->frequency[k], G);
    if (found == OD_OK) found = od_relative_gains(r->n, G, gains);
    for (int i = 0; i < square; i++) {
      if (found != OD_OK) gains[i] = NAN;
      row[1 + i] = creal(gains[i]);
    }
    for (int i = 0; i < r->n; i++) r->pair[k * r->n + i] = -1;
    if (found == OD_OK) od_relative_gains_pair(r->n, gains, r->pair + k * r->n);
    row[0] = r->frequency[k];
    status = od_table_append(r->table, row);
  }
  od_linear_response_free(response);
  free(G);
  free(row);
  return status == OD_OK ? OD_OK : od_fail(err, status, "%s", od_status_text(status));
}

static bool same_pairing(const results *r, int a, int b) {
  for (int i = 0; i < r->n; i++)
    if (r->pair[a * r->n + i] != r->pair[b * r->n + i]) return false;
  return true;
}

static void print_array(const results *r, int k, FILE *to) {
  const od_linear_model *m = r->model;
  int width = 0;
  for (int i = 0; i < r->n; i++) width = od_text_widest(width, m->output[i].name);
  fprintf(to, "  at %.6g Hz:\n", r->frequency[k]);
  for (int i = 0; i < r->n; i++) {
    fprintf(to, "    ");
    od_print_padded(to, m->output[i].name, width);
    for (int j = 0; j < r->n; j++) fprintf(to, " %12.5g", creal(r->gains[(k * r->n + i) * r->n + j]));
    fprintf(to, "\n");
  }
}

static void print(const results *r, FILE *to) {
  const od_linear_model *m = r->model;
  char place[80], line[400];
  const char *title = od_machine_title(r->machine);
  od_linear_place(m, place, sizeof place);
  snprintf(line, sizeof line, "%.200s: relative gains at %s", title && title[0] ? title : od_machine_file(r->machine),
           place);
  od_heading(to, line);
  fprintf(to, "  columns:");
  for (int j = 0; j < r->n; j++) fprintf(to, " %s", m->input[j].name);
  fprintf(to, "\n");
  print_array(r, 0, to);
  if (r->count > 1) print_array(r, r->count - 1, to);
  // Ranges of frequency with one pairing.
  for (int k = 0; k < r->count;) {
    int last = k;
    while (last + 1 < r->count && same_pairing(r, k, last + 1)) last++;
    fprintf(to, "  from %.6g to %.6g Hz:", r->frequency[k], r->frequency[last]);
    if (r->pair[k * r->n] < 0) fprintf(to, " the gains have no inverse");
    for (int i = 0; i < r->n && r->pair[k * r->n] >= 0; i++)
      fprintf(to, "%s %s by %s", i ? "," : "", m->output[i].name, m->input[r->pair[k * r->n + i]].name);
    fprintf(to, "\n");
    k = last + 1;
  }
}

static json_t *rga_json(const results *r) {
  const od_linear_model *m = r->model;
  json_t *object = od_linear_head_json(r->machine, m), *points = json_array(), *inputs = json_array(),
         *outputs = json_array();
  for (int i = 0; i < r->n; i++) {
    json_array_append_new(inputs, od_json_text(m->input[i].name));
    json_array_append_new(outputs, od_json_text(m->output[i].name));
  }
  for (int k = 0; k < r->count; k++) {
    json_t *real = json_array(), *imaginary = json_array(), *pairing = json_array();
    for (int i = 0; i < r->n * r->n; i++) {
      json_array_append_new(real, od_json_number(creal(r->gains[k * r->n * r->n + i])));
      json_array_append_new(imaginary, od_json_number(cimag(r->gains[k * r->n * r->n + i])));
    }
    for (int i = 0; i < r->n; i++) {
      int input = r->pair[k * r->n + i];
      json_array_append_new(pairing, od_json_text(input < 0 ? NULL : m->input[input].name));
    }
    json_array_append_new(points, json_pack("{s:o, s:o, s:o, s:o}", "frequency", od_json_number(r->frequency[k]),
                                            "real", real, "imaginary", imaginary, "pairing", pairing));
  }
  json_object_set_new(object, "inputs", inputs);
  json_object_set_new(object, "outputs", outputs);
  json_object_set_new(object, "points", points);
  return object;
}

static bool is_square(const od_linear_model *model) {
  if (model->inputs == model->outputs && model->inputs > 0) return true;
  od_cli_error("relative gains want as many inputs as outputs, not %d and %d; choose them with --input and --output",
               model->inputs, model->outputs);
  return false;
}

static int show(const arguments *a, results *r) {
  const od_linear_arguments *l = &a->linear;
  od_error err = {0};
  if (!is_square(r->model)) return OD_EXIT_BAD_INPUT;
  r->n = r->model->inputs;
  int code = od_frequencies_choose(&a->frequencies, r->model, POINTS, &r->frequency, &r->count);
  if (code >= 0) return code;
  od_status status = find(r, &err);
  if (status != OD_OK) {
    od_cli_error("%s", err.text);
    return od_exit_code(status);
  }
  FILE *notes = od_files_notes(&l->files, l->quiet);
  if (notes == stdout) print(r, notes);
  od_linear_warn(r->model);
  const od_file_contents contents = {.table = r->table, .summary = l->files.path[OD_FILE_JSON] ? rga_json(r) : NULL};
  return od_files_write(&l->files, &contents, notes) ? OD_EXIT_OK : OD_EXIT_FAILED;
}

// --- Sweeps ----------------------------------------------------------------------------------------------------------

typedef struct rga_sweep {
  const arguments *a;
  double *frequency;
  int count;
} rga_sweep;

static int begin_sweep(void *user, const od_machine *machine, const od_linear_model *model) {
  (void)machine;
  rga_sweep *g = user;
  if (!is_square(model)) return OD_EXIT_BAD_INPUT;
  return od_frequencies_choose(&g->a->frequencies, model, POINTS, &g->frequency, &g->count);
}

// The relative gains at the lowest and at the highest frequency.
static od_status measure(const void *user, const od_linear_model *model, bool (*goes_on)(void *, double), void *going,
                         od_sweep_row *row, od_error *err) {
  (void)goes_on, (void)going;
  const rga_sweep *g = user;
  double frequency[2] = {g->frequency[0], g->frequency[g->count - 1]};
  results r = {.model = model, .n = model->inputs, .count = 2, .frequency = frequency};
  od_status status = find(&r, err);
  for (int i = 0; i < 2 * r.n * r.n && status == OD_OK; i++) {
    char name[700];
    snprintf(name, sizeof name, "%.600s.%s", r.table->name[1 + i % (r.n * r.n)], i < r.n * r.n ? "low" : "high");
    if (!od_sweep_add(row, name, "1", creal(r.gains[i]))) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  r.frequency = NULL;
  free_results(&r);
  return status;
}

static int show_model(void *user, const od_machine *machine, const od_linear_model *model) {
  results r = {.machine = machine, .model = model};
  int code = show(user, &r);
  free_results(&r);
  return code;
}

static const char details[] =
    "The relative gain of an input and an output is how much of the gain between them stays when all other outputs are\n"
    "held by the other inputs: near 1, the two make a loop of their own; negative, the sign changes when the other\n"
    "loops are closed. The pairing whose relative gains are nearest to 1 is suggested. Relative gains have no units.\n\n"
    "Example\n"
    "  oleodyn rga crane.yaml --input lift_drive,tilt_drive --output heel.angle,elbow.angle\n";

int od_command_rga(int argc, char **argv) {
  arguments a = {0};
  od_linear_arguments *l = &a.linear;
  const od_option options[] = {
      {"input", OD_OPTION_LIST, "NAME,...", "inputs: names or patterns (repeatable); default: all", &l->inputs},
      {"output", OD_OPTION_LIST, "NAME,...",
       "as many outputs: names or patterns (repeatable); default: those of the file's\nrun section", &l->outputs},
      OD_FREQUENCY_OPTIONS(&a.frequencies),
      OD_LINEAR_OPTIONS(l),
  };
  const od_usage usage = {"rga",
                          "MACHINE",
                          "relative gains of a machine over frequency",
                          details,
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.files = &l->files,
                                     .file[OD_FILE_CSV] = "the real parts of the relative gains",
                                     .file[OD_FILE_MAT] = "the real parts of the relative gains",
                                     .file[OD_FILE_JSON] = "relative gains and pairings",
                                     .si = &l->si,
                                     .quiet = &l->quiet}};
  rga_sweep g = {.a = &a};
  od_linear_sweep sweep = {.arguments = l, .begin = begin_sweep, .measure = measure, .user = &g};
  const od_linear_command command = {&usage, l, &sweep, NULL, show_model, &a};
  int code = od_linear_command_run(&command, argc, argv);
  free(g.frequency);
  return code;
}
