#include "frequency/transfer_block.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/number.h"

// Writes a name that is valid for an element, with letters, digits and underscores only.
static void put_name(FILE *to, const char *name) {
  if (!isalpha((unsigned char)name[0])) fputc('x', to);
  for (; *name; name++) fputc(isalnum((unsigned char)*name) ? *name : '_', to);
}

// Writes a text in double quotes, without characters that need escapes.
static void put_text(FILE *to, const char *text) {
  fputc('"', to);
  for (; *text; text++) fputc(*text == '"' || *text == '\\' || (unsigned char)*text < ' ' ? '\'' : *text, to);
  fputc('"', to);
}

static void put_unit(FILE *to, const char *unit) {
  if (strcmp(unit, "1") == 0) return;
  fprintf(to, "unit: ");
  put_text(to, unit);
  fprintf(to, ", ");
}

// Writes a polynomial in s instead of s/scale, starting with the highest power, divided by `lead`.
static void put_polynomial(FILE *to, const double *coefficient, int degree, double scale, double lead) {
  while (degree > 0 && coefficient[degree] == 0) degree--;
  fprintf(to, "[");
  for (int i = degree; i >= 0; i--) {
    char text[OD_NUMBER_SIZE];
    od_number_format(text, coefficient[i] / pow(scale, i) / lead);
    fprintf(to, "%s%s", text, i > 0 ? ", " : "]");
  }
}

// Writes the name of the block of an output: "y_p", or with several inputs "y_p_of_u".
static void put_part_name(FILE *to, const od_transfer_names *names, int output, int input) {
  fprintf(to, "y_");
  put_name(to, names->output[output]);
  if (names->inputs == 1) return;
  fprintf(to, "_of_");
  put_name(to, names->input[input]);
}

static void put_part(FILE *to, const od_transfer *t, const od_transfer_names *names, int output, int input) {
  double lead = t->denominator[t->order] / pow(t->scale, t->order);
  fprintf(to, "  ");
  put_part_name(to, names, output, input);
  fprintf(to, ":\n    {type: transfer-function, input: ");
  put_name(to, names->input[input]);
  fprintf(to, ", ");
  put_unit(to, names->output_unit[output]);
  if (names->sample > 0) fprintf(to, "sample: %.15g s, ", names->sample);
  fprintf(to, "\n     numerator: ");
  put_polynomial(to, t->numerator[output * names->inputs + input], t->order, t->scale, lead);
  fprintf(to, ",\n     denominator: ");
  put_polynomial(to, t->denominator, t->order, t->scale, lead);
  fprintf(to, "}\n");
}

static void put_sum(FILE *to, const od_transfer_names *names, int output) {
  fprintf(to, "  y_");
  put_name(to, names->output[output]);
  fprintf(to, ": {type: sum, ");
  put_unit(to, names->output_unit[output]);
  fprintf(to, "inputs: [");
  for (int j = 0; j < names->inputs; j++) {
    fprintf(to, "%s", j ? ", " : "");
    put_part_name(to, names, output, j);
  }
  fprintf(to, "]}\n");
}

od_status od_transfer_write_block(const od_transfer *t, const od_transfer_names *names, const char *path,
                                  od_error *err) {
  od_atomic_file file;
  od_status status = od_atomic_open(&file, path, err);
  if (status != OD_OK) return status;
  FILE *to = file.file;
  int outputs = t->outputs / names->inputs;
  fprintf(to, "# ");
  for (const char *at = names->note; *at; at++) fputc((unsigned char)*at < ' ' ? ' ' : *at, to);
  fprintf(to, "\nmachine: ");
  put_text(to, names->title);
  fprintf(to, "\n\ninputs:\n");
  for (int j = 0; j < names->inputs; j++) {
    fprintf(to, "  ");
    put_name(to, names->input[j]);
    fprintf(to, ": {");
    put_unit(to, names->input_unit[j]);
    fprintf(to, "steps: {at: [[0 s, 1]]}}\n");
  }
  fprintf(to, "\nblocks:\n");
  for (int k = 0; k < outputs; k++) {
    for (int j = 0; j < names->inputs; j++) put_part(to, t, names, k, j);
    if (names->inputs > 1) put_sum(to, names, k);
  }
  // The run is long enough for the slowest pole, and the step short enough for the fastest pole.
  double slowest = INFINITY, fastest = 0;
  for (int i = 0; i < t->order; i++) {
    double decay = fabs(creal(t->pole[i]));
    if (decay > 0) slowest = fmin(slowest, decay);
    fastest = fmax(fastest, cabs(t->pole[i]));
  }
  double time = isfinite(slowest) ? od_number_125(10 / slowest) : 1,
         step = fmax(od_number_125(0.1 / fastest), time / 1e5);
  if (names->sample > 0) step = names->sample, time = 1000 * step;
  fprintf(to, "\nrun: {time: %g s, step: %g s, outputs: [", time, step);
  for (int k = 0; k < outputs; k++) {
    fprintf(to, "%sy_", k ? ", " : "");
    put_name(to, names->output[k]);
  }
  fprintf(to, "]}\n");
  return od_atomic_commit(&file, err);
}
