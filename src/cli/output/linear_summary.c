#include "output/linear_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/linear_options.h"
#include "terminal/terminal.h"
#include "io/display.h"
#include "io/json.h"
#include "io/number.h"

void od_linear_results_free(od_linear_results *r) {
  od_poles_free(&r->poles);
  for (int i = 0; i < r->pairs; i++) free(r->zeros[i].zero);
  free(r->zeros);
  *r = (od_linear_results){0};
}

od_status od_linear_results_find(const od_machine *machine, const od_linear_model *m, od_linear_results *out,
                                 od_error *err) {
  *out = (od_linear_results){.machine = machine, .model = m};
  od_status status = od_poles_find(m, &out->poles, err);
  if (status != OD_OK) return status;
  out->zeros = calloc((size_t)m->inputs * (size_t)m->outputs + 1, sizeof *out->zeros);
  if (!out->zeros) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < m->outputs; i++)
    for (int j = 0; j < m->inputs && status == OD_OK; j++) {
      od_zeros *z = &out->zeros[out->pairs++];
      *z = (od_zeros){.input = j, .output = i};
      status = od_zeros_find(m, &j, &i, 1, &z->zero, &z->count, err);
    }
  if (status != OD_OK) od_linear_results_free(out);
  return status;
}

enum { MOST_NAMED = 4 };
static const double least_named = 0.05;

void od_mode_text(const od_linear_model *m, const double *part, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  double last = INFINITY;
  int last_at = -1;
  // In falling order; of equal ones the first comes first.
  for (int round = 0; round < MOST_NAMED; round++) {
    int best = -1;
    for (int i = 0; i < m->states; i++) {
      bool later = part[i] < last || (part[i] == last && i > last_at);
      if (later && (best < 0 || part[i] > part[best])) best = i;
    }
    if (best < 0 || (round > 0 && part[best] < least_named)) return;
    last = part[best], last_at = best;
    int n =
        snprintf(text + used, size - used, "%s%.0f %% %s", round ? ", " : "", 100 * part[best], m->state[best].name);
    used += n > 0 ? (size_t)n : 0;
    if (used >= size) return;
  }
}

// --- For people -----------------------------------------------------------------------------------------------------

void od_linear_print_signals(FILE *to, const char *heading, const od_linear_signal *s, int count) {
  if (count == 0) return;
  int width = 0, value_width = 0;
  char text[OD_NUMBER_SIZE];
  for (int i = 0; i < count; i++) {
    od_display shown = od_display_unit(s[i].unit, fabs(s[i].value));
    width = od_text_widest(width, s[i].name);
    int length = od_number_round(text, s[i].value * shown.factor, 6);
    value_width = length > value_width ? length : value_width;
  }
  fprintf(to, "\n");
  od_heading(to, heading);
  for (int i = 0; i < count; i++) {
    od_display shown = od_display_unit(s[i].unit, fabs(s[i].value));
    od_number_round(text, s[i].value * shown.factor, 6);
    fprintf(to, "  ");
    od_print_padded(to, s[i].name, width);
    fprintf(to, "  %*s%s%s%s\n", value_width, text, shown.unit[0] ? " " : "", shown.unit,
            s[i].undecided ? "  (not decided: near where it was)" : "");
  }
}

// Of a pair of poles one line.
static void print_poles(const od_linear_results *r, FILE *to) {
  fprintf(to, "\n");
  od_heading(to, "Poles (rad/s), natural frequency, damping, time constant, and the states that take part");
  for (int i = 0; i < r->poles.count; i++) {
    od_pole p = r->poles.pole[i];
    char value[64], states[400], time[64] = "-", damping[32] = "-";
    if (p.imaginary < 0) continue;
    snprintf(value, sizeof value, p.imaginary > 0 ? "%.6g +- %.6gi" : "%.6g", p.real, p.imaginary);
    if (p.real != 0)
      snprintf(time, sizeof time, "%s%s", p.real > 0 ? "grows " : "",
               od_duration_text(fabs(od_pole_time_constant(p)), 4).text);
    if (p.imaginary > 0) snprintf(damping, sizeof damping, "%.4g", od_pole_damping(p));
    od_mode_text(r->model, r->poles.participation + i * r->model->states, states, sizeof states);
    fprintf(to, "  %-24s %12.6g Hz  %9s  %-12s  %s\n", value, od_pole_frequency(p), damping, time, states);
  }
  int unstable = od_poles_unstable(&r->poles);
  if (unstable) fprintf(to, "  unstable: %d pole%s with a positive real part\n", unstable, unstable > 1 ? "s" : "");
}

// The zeros of one pair, behind so many characters of its line; further lines begin below its name.
static void print_zeros_of(const od_zeros *z, int used, FILE *to) {
  enum { WIDTH = 100 };
  bool first = true;
  for (int k = 0; k < z->count; k++) {
    od_pole p = z->zero[k];
    char text[64];
    if (p.imaginary < 0) continue;
    int length = p.imaginary > 0 ? snprintf(text, sizeof text, "%.6g +- %.6gi", p.real, p.imaginary)
                                 : snprintf(text, sizeof text, "%.6g", p.real);
    if (!first) used += fprintf(to, ",");
    if (!first && used + 1 + length >= WIDTH) used = fprintf(to, "\n   ") - 1;
    used += fprintf(to, " %s", text);
    first = false;
  }
}

static void print_zeros(const od_linear_results *r, FILE *to) {
  if (r->pairs == 0) return;
  fprintf(to, "\n");
  od_heading(to, "Zeros (rad/s) from inputs to outputs");
  for (int i = 0; i < r->pairs; i++) {
    const od_zeros *z = &r->zeros[i];
    int used = fprintf(to, "  %s to %s:", r->model->input[z->input].name, r->model->output[z->output].name);
    if (z->count < 0) fprintf(to, " no path");
    if (z->count < 0 && r->model->closed[0]) fprintf(to, " (closed here, by its overlap: %s)", r->model->closed);
    if (z->count == 0) fprintf(to, " none");
    print_zeros_of(z, used, to);
    fprintf(to, "\n");
  }
}

static const char *plural(int count) {
  return count == 1 ? "" : "s";
}

void od_linear_print(const od_linear_results *r, FILE *to) {
  const od_linear_model *m = r->model;
  const char *title = od_machine_title(r->machine);
  char place[80], line[400];
  od_linear_place(m, place, sizeof place);
  snprintf(line, sizeof line, "%.200s: linear model at %s", title && title[0] ? title : od_machine_file(r->machine),
           place);
  od_heading(to, line);
  fprintf(to, "  %d state%s, %d input%s, %d output%s\n", m->states, plural(m->states), m->inputs, plural(m->inputs),
          m->outputs, plural(m->outputs));
  od_linear_print_signals(to, "States at the operating point", m->state, m->states);
  od_linear_print_signals(to, "States that nothing moves, left out", m->constant, m->constants);
  od_linear_print_signals(to, "Inputs", m->input, m->inputs);
  od_linear_print_signals(to, "Outputs", m->output, m->outputs);
  print_poles(r, to);
  print_zeros(r, to);
}
