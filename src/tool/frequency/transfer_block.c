#include "frequency/transfer_block.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/number.h"

// A name that elements may have: letters, digits and underscores.
static void put_name(FILE *to, const char *name) {
  if (!isalpha((unsigned char)name[0])) fputc('x', to);
  for (; *name; name++) fputc(isalnum((unsigned char)*name) ? *name : '_', to);
}

// A text in double quotes, without what would need more than that.
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

// Of s instead of s/scale, from the highest power down, over `lead`.
static void put_polynomial(FILE *to, const double *coefficient, int degree, double scale, double lead) {
  while (degree > 0 && coefficient[degree] == 0) degree--;
  fprintf(to, "[");
  for (int i = degree; i >= 0; i--) {
    char text[OD_NUMBER_SIZE];
    od_number_format(text, coefficient[i] / pow(scale, i) / lead);
    fprintf(to, "%s%s", text, i > 0 ? ", " : "]");
  }
}

od_status od_transfer_write_block(const od_transfer *t, const od_transfer_names *names, const char *path,
                                  od_error *err) {
  od_atomic_file file;
  od_status status = od_atomic_open(&file, path, err);
  if (status != OD_OK) return status;
  FILE *to = file.file;
  double lead = t->denominator[t->order] / pow(t->scale, t->order);
  fprintf(to, "# ");
  for (const char *at = names->note; *at; at++) fputc((unsigned char)*at < ' ' ? ' ' : *at, to);
  fprintf(to, "\nmachine: ");
  put_text(to, names->title);
  fprintf(to, "\n\ninputs:\n  ");
  put_name(to, names->input);
  fprintf(to, ": {");
  put_unit(to, names->input_unit);
  fprintf(to, "steps: {at: [[0 s, 1]]}}\n\nblocks:\n");
  for (int k = 0; k < t->outputs; k++) {
    fprintf(to, "  y_");
    put_name(to, names->output[k]);
    fprintf(to, ":\n    {type: transfer-function, input: ");
    put_name(to, names->input);
    fprintf(to, ", ");
    put_unit(to, names->output_unit[k]);
    if (names->sample > 0) fprintf(to, "sample: %.15g s, ", names->sample);
    fprintf(to, "\n     numerator: ");
    put_polynomial(to, t->numerator[k], t->order, t->scale, lead);
    fprintf(to, ",\n     denominator: ");
    put_polynomial(to, t->denominator, t->order, t->scale, lead);
    fprintf(to, "}\n");
  }
  // Long enough for the slowest pole, in steps for the fastest.
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
  for (int k = 0; k < t->outputs; k++) {
    fprintf(to, "%sy_", k ? ", " : "");
    put_name(to, names->output[k]);
  }
  fprintf(to, "]}\n");
  return od_atomic_commit(&file, err);
}
