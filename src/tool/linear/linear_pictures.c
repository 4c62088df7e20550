#include "linear/linear_pictures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 40 };  // largest number of names in a list

// --- Frequency responses ----------------------------------------------------------------------------------------------

// Returns whether the output of a path depends on its input.
static bool has_gain(const od_responses *r, int k) {
  return r->margins[k].peak > 0;
}

// Returns whether a path is drawn in the panels of an output; output -1: the panels of all outputs.
static bool is_drawn(const od_responses *r, int k, int output) {
  return has_gain(r, k) && (output < 0 || r->path[k].output == output);
}

static od_panel *add_curves(od_picture *p, const od_responses *r, int output, bool is_phase, const char *note) {
  const od_table *t = r->table;
  const char *quantity = is_phase ? "phase" : "magnitude";
  char title[300];
  snprintf(title, sizeof title, output < 0 ? "%s" : "%s of %.200s", quantity,
           output < 0 ? "" : r->model->output[output].name);
  od_panel *panel = od_picture_add(p, (od_panel){.title = title,
                                                 .note = is_phase ? NULL : note,
                                                 .x_name = "frequency",
                                                 .x_unit = "Hz",
                                                 .y_unit = is_phase ? "deg" : "dB",
                                                 .x_log = true});
  for (int k = 0; k < r->paths; k++)
    if (is_drawn(r, k, output))
      od_panel_add(p, panel,
                   (od_panel_line){.label = r->name[k],
                                   .x = {t->data, t->rows, t->columns, 1},
                                   .y = {t->data + 1 + 2 * k + is_phase, t->rows, t->columns, 1}});
  return panel;
}

// Returns the value of a column at a frequency, linearly between the rows over the logarithm of the frequency. NAN: outside.
static double value_at(const od_table *t, int column, double frequency) {
  for (long i = 0; i + 1 < t->rows; i++) {
    const double *a = t->data + i * t->columns, *b = a + t->columns;
    if (!(a[0] <= frequency && frequency <= b[0])) continue;
    double part = b[0] > a[0] ? log(frequency / a[0]) / log(b[0] / a[0]) : 0;
    return a[column] + part * (b[column] - a[column]);
  }
  return NAN;
}

static bool has_margins(const od_margins *m) {
  return !isnan(m->gain) || !isnan(m->phase);
}

// Marks the margins of a path: the gain margin where the phase crosses -180 degrees, the phase margin where the gain
// crosses 1. Also marks the bandwidth.
static void mark_margins(od_picture *p, od_panel *magnitude, od_panel *phase, const od_responses *r, int k) {
  const od_margins *m = &r->margins[k];
  char text[80];
  if (!isnan(m->gain)) {
    snprintf(text, sizeof text, "gain margin %.3g dB at %.3g Hz", 20 * log10(m->gain), m->gain_at);
    od_panel_mark_point(p, magnitude, m->gain_at, value_at(r->table, 1 + 2 * k, m->gain_at), OD_MARK_RING, text);
  }
  if (!isnan(m->phase)) {
    snprintf(text, sizeof text, "phase margin %.3g deg at %.3g Hz", m->phase, m->phase_at);
    od_panel_mark_point(p, phase, m->phase_at, value_at(r->table, 2 + 2 * k, m->phase_at), OD_MARK_RING, text);
  }
  if (!isnan(m->bandwidth)) {
    snprintf(text, sizeof text, "bandwidth %.3g Hz", m->bandwidth);
    od_panel_mark_point(p, magnitude, m->bandwidth, value_at(r->table, 1 + 2 * k, m->bandwidth), OD_MARK_CROSS, text);
  }
}

// Adds the curve of a path in the complex plane. Large values, for example values of integrators, are omitted, because
// they would hide the neighborhood of -1.
static void add_nyquist_curve(od_picture *p, od_panel *panel, const od_responses *r, int k, double most) {
  const od_table *t = r->table;
  double *xy = OD_TAKE(&p->arena, double, 2 * t->rows);
  if (!xy) return;
  for (long i = 0; i < t->rows; i++) {
    double gain = pow(10, t->data[i * t->columns + 1 + 2 * k] / 20);
    double angle = t->data[i * t->columns + 2 + 2 * k] * acos(-1) / 180;
    bool is_shown = gain <= most;
    xy[2 * i] = is_shown ? gain * cos(angle) : NAN;
    xy[2 * i + 1] = is_shown ? gain * sin(angle) : NAN;
  }
  od_panel_add(p, panel, (od_panel_line){.label = r->name[k], .x = {xy, t->rows, 2, 1}, .y = {xy + 1, t->rows, 2, 1}});
}

static void add_nyquist(od_picture *p, const od_responses *r) {
  static const double most = 3;
  od_panel *panel = NULL;
  for (int k = 0; k < r->paths; k++) {
    if (!has_gain(r, k) || (!r->path[k].loop && !has_margins(&r->margins[k]))) continue;
    if (!panel)
      panel = od_picture_add(p, (od_panel){.title = "Nyquist plot",
                                           .note = "frequencies above zero; magnitudes up to 3",
                                           .x_name = "real part",
                                           .has_equal_scales = true});
    add_nyquist_curve(p, panel, r, k, most);
  }
  od_panel_mark_point(p, panel, -1, 0, OD_MARK_CROSS, "-1");
}

// Adds magnitude and phase of the paths to an output; output -1: of all paths.
static void add_bode(od_picture *p, const od_responses *r, int output) {
  od_panel *magnitude = add_curves(p, r, output, false, "of SI units");
  od_panel *phase = add_curves(p, r, output, true, NULL);
  bool any = false;
  for (int k = 0; k < r->paths; k++) {
    if (!is_drawn(r, k, output)) continue;
    mark_margins(p, magnitude, phase, r, k);
    any = any || r->path[k].loop || has_margins(&r->margins[k]);
  }
  if (!any) return;
  od_panel_level(p, magnitude, 0, "gain 1");
  od_panel_level(p, phase, -180, "-180 deg");
}

void od_picture_add_responses(od_picture *p, const od_responses *r) {
  enum { MOST_TOGETHER = 6 };  // largest number of paths in one panel, unless they have the same output
  int drawn = 0;
  for (int k = 0; k < r->paths; k++) drawn += has_gain(r, k);
  if (drawn == 0) return;
  if (drawn <= MOST_TOGETHER) add_bode(p, r, -1);
  for (int y = 0; y < r->model->outputs && drawn > MOST_TOGETHER; y++) {
    bool any = false;
    for (int k = 0; k < r->paths; k++) any = any || is_drawn(r, k, y);
    if (any) add_bode(p, r, y);
  }
  add_nyquist(p, r);
}

// --- Poles and zeros ------------------------------------------------------------------------------------------------

static void mark_poles(od_picture *p, od_panel *panel, const od_pole *pole, int count, od_mark_shape shape) {
  for (int i = 0; i < count; i++) od_panel_mark_point(p, panel, pole[i].real, pole[i].imaginary, shape, NULL);
}

void od_picture_add_poles(od_picture *p, const od_linear_results *r) {
  int zeros = 0, damped = 0;
  for (int i = 0; i < r->pairs; i++) zeros += r->zeros[i].count > 0 ? r->zeros[i].count : 0;
  if (r->poles.count + zeros == 0) return;
  od_panel *map =
      od_picture_add(p, (od_panel){.title = zeros ? "poles and zeros" : "poles",
                                   .note = zeros ? "x: poles, o: zeros of all pairs of input and output" : "x: poles",
                                   .x_name = "real part",
                                   .x_unit = "1/s",
                                   .y_unit = "1/s"});
  mark_poles(p, map, r->poles.pole, r->poles.count, OD_MARK_CROSS);
  for (int i = 0; i < r->pairs; i++)
    if (r->zeros[i].count > 0) mark_poles(p, map, r->zeros[i].zero, r->zeros[i].count, OD_MARK_RING);
  od_panel_instant(p, map, 0, "stability limit");

  // Integrators have poles at zero, apart from round-off.
  double *xy = OD_TAKE(&p->arena, double, 2 * (long)r->poles.count), zero = 0;
  for (int i = 0; i < r->poles.count; i++) zero = fmax(zero, 1e-12 * od_pole_frequency(r->poles.pole[i]));
  for (int i = 0; xy && i < r->poles.count; i++) {
    double frequency = od_pole_frequency(r->poles.pole[i]);
    if (!(frequency > zero) || r->poles.pole[i].imaginary < 0) continue;
    xy[2 * damped] = frequency, xy[2 * damped++ + 1] = od_pole_damping(r->poles.pole[i]);
  }
  if (damped == 0) return;
  od_panel *damping = od_picture_add(p, (od_panel){.title = "damping of the poles",
                                                   .note = "1: no oscillation, 0: not damped",
                                                   .x_name = "natural frequency",
                                                   .x_unit = "Hz",
                                                   .x_log = true});
  od_panel_add(p, damping, (od_panel_line){.as = OD_AS_POINTS, .x = {xy, damped, 2, 1}, .y = {xy + 1, damped, 2, 1}});
  od_panel_level(p, damping, 0, "stability limit");
}

// --- Relative gains -------------------------------------------------------------------------------------------------

void od_picture_add_gains(od_picture *p, const od_gain_arrays *g) {
  const od_table *t = g->table;
  for (int i = 0; i < g->n; i++) {
    char title[300];
    snprintf(title, sizeof title, "relative gains of %.200s", g->model->output[i].name);
    od_panel *panel = od_picture_add(
        p, (od_panel){.title = title, .note = "real parts", .x_name = "frequency", .x_unit = "Hz", .x_log = true});
    for (int j = 0; j < g->n; j++)
      od_panel_add(p, panel,
                   (od_panel_line){.label = g->model->input[j].name,
                                   .x = {t->data, t->rows, t->columns, 1},
                                   .y = {t->data + 1 + i * g->n + j, t->rows, t->columns, 1}});
    od_panel_level(p, panel, 1, "independent loop");
    od_panel_level(p, panel, 0, "no effect");
  }
}

// --- Operating points -----------------------------------------------------------------------------------------------

// Returns signal i of the list of all inputs, then all outputs, then all states; NULL: there are no more signals.
static const od_linear_signal *signal_at(const od_linear_model *m, int i) {
  if (i < m->inputs) return &m->input[i];
  if (i < m->inputs + m->outputs) return &m->output[i - m->inputs];
  return i < m->inputs + m->outputs + m->states ? &m->state[i - m->inputs - m->outputs] : NULL;
}

// Returns whether an earlier signal has the same name, for example an output that is also a state.
static bool is_repeated(const od_linear_model *m, int i) {
  for (int k = 0; k < i; k++)
    if (strcmp(signal_at(m, k)->name, signal_at(m, i)->name) == 0) return true;
  return false;
}

static void add_unit(od_picture *p, const od_linear_model *m, const char *unit) {
  const char *name[MOST_NAMES];
  double value[MOST_NAMES];
  int count = 0, all = 0;
  for (int i = 0; signal_at(m, i); i++) {
    const od_linear_signal *s = signal_at(m, i);
    if (strcmp(s->unit, unit) != 0 || is_repeated(m, i)) continue;
    all++;
    if (count < MOST_NAMES) name[count] = s->name, value[count++] = s->value;
  }
  char title[120];
  if (all > count)
    snprintf(title, sizeof title, "values at the operating point, the first %d of %d", count, all);
  else
    snprintf(title, sizeof title, "values at the operating point");
  od_picture_add_list(p, title, unit, name, value, NULL, count);
}

void od_picture_add_point(od_picture *p, const od_linear_model *m) {
  for (int i = 0; signal_at(m, i); i++) {
    bool is_new = true;
    for (int k = 0; k < i; k++) is_new = is_new && strcmp(signal_at(m, k)->unit, signal_at(m, i)->unit) != 0;
    if (is_new) add_unit(p, m, signal_at(m, i)->unit);
  }
}
