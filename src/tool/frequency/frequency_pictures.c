#include "frequency/frequency_pictures.h"

#include <math.h>
#include <stdio.h>

// The numbers of a drawn response, one list after another.
typedef struct numbers {
  double *frequency, *magnitude, *phase, *magnitude_half, *phase_half, *fitted_magnitude, *fitted_phase;
  bool has_intervals;
} numbers;

static bool take_numbers(od_picture *p, const od_drawn_response *r, numbers *n) {
  const double degree = 180 / acos(-1);
  const od_frf *f = r->frf;
  long points = f->points;
  double *all = OD_TAKE(&p->arena, double, 7 * points);
  if (!all) return false;
  *n = (numbers){
      all,  all + points, all + 2 * points, all + 3 * points, all + 4 * points, all + 5 * points, all + 6 * points,
      false};
  od_frf_phases(f, r->output, n->phase);
  for (int i = 0; i < points; i++) {
    double amplitude = cabs(f->value[r->output * points + i]), half = od_frf_half(f, r->output, i) / amplitude;
    n->frequency[i] = f->frequency[i];
    n->magnitude[i] = 20 * log10(amplitude);
    // First-order effect of a relative error e: the amplitude changes by 20 log10(1 + e) dB, the phase by e rad.
    n->magnitude_half[i] = 20 * log10(1 + half);
    n->phase_half[i] = degree * fmin(half, acos(-1));
    n->has_intervals = n->has_intervals || (isfinite(half) && half > 0);
    double phase = n->phase[i];
    n->phase[i] = degree * phase;
    if (!r->fitted) continue;
    n->fitted_magnitude[i] = 20 * log10(cabs(r->fitted[i]));
    // Shifts the phase of the model by full turns to the value nearest to the phase of the data.
    n->fitted_phase[i] = degree * (phase + carg(r->fitted[i] * cexp(-phase * _Complex_I)));
  }
  return true;
}

static void add_panel(od_picture *p, const od_drawn_response *r, const numbers *n, bool is_phase) {
  long points = r->frf->points;
  char title[300], note[120];
  snprintf(title, sizeof title, "%.200s: %s", r->name, is_phase ? "phase" : "magnitude");
  snprintf(note, sizeof note, "of %.80s", r->unit);
  od_panel *panel = od_picture_add(p, (od_panel){.title = title,
                                                 .note = is_phase ? NULL : note,
                                                 .x_name = "frequency",
                                                 .x_unit = "Hz",
                                                 .y_unit = is_phase ? "deg" : "dB",
                                                 .x_log = true});
  od_series x = {n->frequency, points, 1, 1};
  od_panel_line data = {.label = r->fitted ? r->label : NULL,
                        .as = n->has_intervals || r->fitted ? OD_AS_POINTS : OD_AS_LINE,
                        .x = x,
                        .y = {is_phase ? n->phase : n->magnitude, points, 1, 1}};
  if (n->has_intervals) data.half = (od_series){is_phase ? n->phase_half : n->magnitude_half, points, 1, 1};
  od_panel_add(p, panel, data);
  if (r->fitted)
    od_panel_add(
        p, panel,
        (od_panel_line){
            .label = r->fitted_label, .x = x, .y = {is_phase ? n->fitted_phase : n->fitted_magnitude, points, 1, 1}});
}

void od_picture_add_response(od_picture *p, const od_drawn_response *r) {
  numbers n;
  if (r->frf->points < 2 || !take_numbers(p, r, &n)) return;
  add_panel(p, r, &n, false);
  add_panel(p, r, &n, true);
}

// --- A response -------------------------------------------------------------------------------------------------------

static void add_coherence(od_picture *p, const od_response *r, int k) {
  const od_frf *f = r->frf;
  double *xy = OD_TAKE(&p->arena, double, 2L * f->points);
  bool is_known = false;
  if (!xy) return;
  for (int i = 0; i < f->points; i++) {
    xy[2 * i] = f->frequency[i], xy[2 * i + 1] = f->coherence[k * f->points + i];
    is_known = is_known || isfinite(xy[2 * i + 1]);
  }
  if (!is_known) return;
  char title[300];
  snprintf(title, sizeof title, "%.200s: coherence", r->output[k].name);
  od_panel *panel = od_picture_add(
      p, (od_panel){.title = title, .x_name = "frequency", .x_unit = "Hz", .x_log = true, .note = "1: no noise"});
  od_panel_add(p, panel, (od_panel_line){.x = {xy, f->points, 2, 1}, .y = {xy + 1, f->points, 2, 1}});
}

// Adds the response in the complex plane, with the model if there is one.
static void add_plane(od_picture *p, const od_response *r, int k, const od_transfer *model) {
  const od_frf *f = r->frf;
  double *xy = OD_TAKE(&p->arena, double, 4L * f->points);
  char title[300], unit[80];
  if (!xy || f->points < 2) return;
  for (int i = 0; i < f->points; i++) {
    double _Complex value = f->value[k * f->points + i];
    double _Complex fitted = model ? od_transfer_value(model, k, f->frequency[i]) : 0;
    xy[4 * i] = creal(value), xy[4 * i + 1] = cimag(value), xy[4 * i + 2] = creal(fitted),
           xy[4 * i + 3] = cimag(fitted);
  }
  snprintf(title, sizeof title, "%.200s: Nyquist plot", r->output[k].name);
  od_response_unit(r, k, unit, sizeof unit);
  // The numbers have the unit of the note. Ratios of units have no display units.
  od_panel *panel =
      od_picture_add(p, (od_panel){.title = title, .note = unit, .x_name = "real part", .has_equal_scales = true});
  od_panel_add(p, panel,
               (od_panel_line){.label = model ? "data" : NULL,
                               .as = model || !r->is_exact ? OD_AS_POINTS : OD_AS_LINE,
                               .x = {xy, f->points, 4, 1},
                               .y = {xy + 1, f->points, 4, 1}});
  if (model)
    od_panel_add(p, panel,
                 (od_panel_line){.label = "model", .x = {xy + 2, f->points, 4, 1}, .y = {xy + 3, f->points, 4, 1}});
}

void od_picture_add_named_response(od_picture *p, const od_response *r) {
  for (int k = 0; k < r->outputs; k++) {
    char unit[80];
    od_response_unit(r, k, unit, sizeof unit);
    od_picture_add_response(p,
                            &(od_drawn_response){.frf = r->frf, .output = k, .name = r->output[k].name, .unit = unit});
    add_coherence(p, r, k);
    add_plane(p, r, k, NULL);
  }
}

// --- A fitted transfer function -----------------------------------------------------------------------------------------

static void add_model(od_picture *p, const od_fitted_transfer *f, int k) {
  const od_response *r = f->r;
  double _Complex *value = OD_TAKE(&p->arena, double _Complex, r->frf->points);
  char unit[80];
  if (!value) return;
  for (int i = 0; i < r->frf->points; i++) value[i] = od_transfer_value(f->t, k, r->frf->frequency[i]);
  od_response_unit(r, k, unit, sizeof unit);
  od_picture_add_response(p, &(od_drawn_response){.frf = r->frf,
                                                  .output = k,
                                                  .name = r->output[k].name,
                                                  .label = "data",
                                                  .unit = unit,
                                                  .fitted = value,
                                                  .fitted_label = "model"});
  add_plane(p, r, k, f->t);
}

static void add_roots(od_picture *p, const od_fitted_transfer *f) {
  const od_transfer *t = f->t;
  od_panel *map = od_picture_add(p, (od_panel){.title = "poles and zeros of the model",
                                               .note = "x: poles, o: zeros",
                                               .x_name = "real part",
                                               .x_unit = "1/s",
                                               .y_unit = "1/s"});
  for (int i = 0; i < t->order; i++)
    od_panel_mark_point(p, map, creal(t->pole[i]), cimag(t->pole[i]), OD_MARK_CROSS, NULL);
  for (int k = 0; k < t->outputs; k++) {
    double _Complex root[OD_TRANSFER_MOST];
    int degree = t->order;
    while (degree > 0 && t->numerator[k][degree] == 0) degree--;
    if (degree < 1 || !od_transfer_roots(degree, t->numerator[k], t->scale, root)) continue;
    for (int i = 0; i < degree; i++) od_panel_mark_point(p, map, creal(root[i]), cimag(root[i]), OD_MARK_RING, NULL);
  }
  od_panel_instant(p, map, 0, "stability limit");
}

void od_picture_add_transfer(od_picture *p, const od_fitted_transfer *f) {
  for (int k = 0; k < f->r->outputs; k++) add_model(p, f, k);
  add_roots(p, f);
  int orders = f->high - f->low + 1;
  double *xy = orders > 1 ? OD_TAKE(&p->arena, double, 2L * orders) : NULL;
  if (!xy) return;
  for (int i = 0; i < orders; i++) xy[2 * i] = f->low + i, xy[2 * i + 1] = f->error[i];
  od_panel *panel = od_picture_add(p, (od_panel){.title = "error at points that were not fitted",
                                                 .note = "relative to the response",
                                                 .x_name = "number of poles",
                                                 .y_log = true});
  od_panel_add(p, panel, (od_panel_line){.as = OD_AS_POINTS, .x = {xy, orders, 2, 1}, .y = {xy + 1, orders, 2, 1}});
  od_panel_instant(p, panel, f->t->order, "chosen");
}
