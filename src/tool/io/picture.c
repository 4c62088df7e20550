#include "io/picture.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "io/display.h"

void od_picture_free(od_picture *p) {
  od_arena_free(&p->arena);
  *p = (od_picture){0};
}

// Copies a text that may be NULL.
static const char *keep(od_picture *p, const char *text) {
  return text ? od_arena_text(&p->arena, text) : NULL;
}

od_panel *od_picture_add(od_picture *p, od_panel panel) {
  od_panel *added = OD_TAKE(&p->arena, od_panel, 1);
  if (!added) return NULL;
  *added = panel;
  added->title = keep(p, panel.title ? panel.title : "");
  added->note = keep(p, panel.note);
  added->x_name = keep(p, panel.x_name ? panel.x_name : "");
  added->x_unit = keep(p, panel.x_unit ? panel.x_unit : "1");
  added->y_unit = keep(p, panel.y_unit ? panel.y_unit : "1");
  added->line = added->last_line = NULL;
  added->mark = added->last_mark = NULL;
  added->lines = 0;
  added->next = NULL;
  *(p->last ? &p->last->next : &p->panel) = added;
  p->last = added;
  p->panels++;
  return added;
}

void od_panel_add(od_picture *p, od_panel *panel, od_panel_line line) {
  od_panel_line *added = panel ? OD_TAKE(&p->arena, od_panel_line, 1) : NULL;
  if (!added) return;
  *added = line;
  added->label = keep(p, line.label);
  added->next = NULL;
  *(panel->last_line ? &panel->last_line->next : &panel->line) = added;
  panel->last_line = added;
  panel->lines++;
}

static void add_mark(od_picture *p, od_panel *panel, od_panel_mark mark) {
  od_panel_mark *added = panel && isfinite(mark.x) && isfinite(mark.y) ? OD_TAKE(&p->arena, od_panel_mark, 1) : NULL;
  if (!added) return;
  *added = mark;
  added->text = keep(p, mark.text ? mark.text : "");
  *(panel->last_mark ? &panel->last_mark->next : &panel->mark) = added;
  panel->last_mark = added;
}

void od_panel_level(od_picture *p, od_panel *panel, double y, const char *text) {
  add_mark(p, panel, (od_panel_mark){.kind = OD_LIMIT_LEVEL, .y = y, .text = text});
}

void od_panel_instant(od_picture *p, od_panel *panel, double x, const char *text) {
  add_mark(p, panel, (od_panel_mark){.kind = OD_LIMIT_INSTANT, .x = x, .text = text});
}

void od_panel_mark_point(od_picture *p, od_panel *panel, double x, double y, od_mark_shape shape, const char *text) {
  add_mark(p, panel, (od_panel_mark){.kind = OD_POINT_MARK, .shape = shape, .x = x, .y = y, .text = text});
}

// --- Tables, histograms, lists ------------------------------------------------------------------------------------

// Returns the title of a shared panel: the names of its columns, at most four; NULL if out of memory.
static const char *shared_title(od_picture *p, const od_table *t, const int *panel, int first) {
  const char *title = t->name[first];
  for (int c = first + 1, count = 1; panel && title && c < t->columns; c++) {
    if (panel[c] != panel[first]) continue;
    if (++count > 4) return od_arena_format(&p->arena, "%s, ...", title);
    title = od_arena_format(&p->arena, "%s, %s", title, t->name[c]);
  }
  return title;
}

void od_picture_add_table(od_picture *p, const od_table *t, const int *panel) {
  od_series x = {t->data, t->rows, t->columns, 1};
  for (int c = 1; c < t->columns && t->rows > 0; c++) {
    bool is_first = true, is_shared = false;
    for (int d = 1; panel && d < t->columns; d++) {
      is_first = is_first && !(d < c && panel[d] == panel[c]);
      is_shared = is_shared || (d != c && panel[d] == panel[c]);
    }
    if (!is_first) continue;
    od_panel *added = od_picture_add(
        p,
        (od_panel){
            .title = shared_title(p, t, panel, c), .x_name = t->name[0], .x_unit = t->unit[0], .y_unit = t->unit[c]});
    for (int d = c; d < t->columns; d++)
      if (d == c || (panel && panel[d] == panel[c]))
        od_panel_add(p, added,
                     (od_panel_line){
                         .label = is_shared ? t->name[d] : NULL, .x = x, .y = {t->data + d, t->rows, t->columns, 1}});
  }
}

od_panel *od_picture_add_histogram(od_picture *p, const char *title, const char *unit, const double *value,
                                   long count) {
  enum { MOST_BINS = 60 };
  double low = INFINITY, high = -INFINITY;
  long used = 0;
  for (long i = 0; i < count; i++)
    if (isfinite(value[i])) low = fmin(low, value[i]), high = fmax(high, value[i]), used++;
  if (used < 2) return NULL;
  // Values that are equal apart from round-off are shown as one narrow column.
  if (!(high - low > 1e-9 * fmax(fabs(low), fabs(high)))) {
    double room = fabs(low) > 0 ? 0.05 * fabs(low) : 1;
    low -= room, high += room;
  }
  int bins = (int)fmin(fmax(ceil(sqrt((double)used)), 5), MOST_BINS);
  double *corner = OD_TAKE(&p->arena, double, 2 * (2 * bins + 2)), *height = corner ? corner + 2 * bins + 2 : NULL;
  if (!corner) return NULL;
  double in_bin[MOST_BINS] = {0};
  for (long i = 0; i < count; i++) {
    if (!isfinite(value[i])) continue;
    int bin = (int)((value[i] - low) / (high - low) * bins);
    in_bin[bin < bins ? bin : bins - 1]++;
  }
  // The outline of the columns, from zero to zero.
  corner[0] = low, corner[2 * bins + 1] = high;
  for (int i = 0; i < bins; i++) {
    corner[2 * i + 1] = low + (high - low) * i / bins, corner[2 * i + 2] = low + (high - low) * (i + 1) / bins;
    height[2 * i + 1] = height[2 * i + 2] = in_bin[i];
  }
  char note[80];
  snprintf(note, sizeof note, "%ld values", used);
  od_panel *panel =
      od_picture_add(p, (od_panel){.title = title, .note = note, .x_name = title, .x_unit = unit, .y_unit = "1"});
  od_panel_add(p, panel,
               (od_panel_line){.as = OD_AS_AREA, .x = {corner, 2 * bins + 2, 1, 1}, .y = {height, 2 * bins + 2, 1, 1}});
  return panel;
}

od_panel *od_picture_add_list(od_picture *p, const char *title, const char *unit, const char *const *name,
                              const double *value, const double *half, int count) {
  double *numbers = OD_TAKE(&p->arena, double, 3 * (long)count);
  const char **names = OD_TAKE(&p->arena, const char *, count);
  if (!numbers || !names || count == 0) return NULL;
  for (int i = 0; i < count; i++) {
    names[i] = keep(p, name[i]);
    if (!names[i]) return NULL;
    numbers[i] = i + 1, numbers[count + i] = value[i], numbers[2 * count + i] = half ? half[i] : NAN;
  }
  od_panel *panel = od_picture_add(p, (od_panel){.title = title, .y_unit = unit, .name = names});
  od_panel_add(p, panel,
               (od_panel_line){.as = OD_AS_POINTS,
                               .x = {numbers, count, 1, 1},
                               .y = {numbers + count, count, 1, 1},
                               .half = {half ? numbers + 2 * count : NULL, count, 1, 1}});
  return panel;
}

// --- Ranges -------------------------------------------------------------------------------------------------------

typedef struct range {
  double low, high;
} range;

static void include(range *r, double value, bool is_log) {
  if (!isfinite(value) || (is_log && !(value > 0))) return;
  r->low = fmin(r->low, value);
  r->high = fmax(r->high, value);
}

// Includes a limit unless the limit would more than double the range.
static void include_limit(range *r, double value, bool is_log) {
  range with = *r;
  include(&with, value, is_log);
  bool is_near = is_log ? log(with.high / with.low) <= 2 * log(r->high / r->low) + 1
                        : with.high - with.low <= 2 * (r->high - r->low);
  if (is_near || !(r->low < r->high)) *r = with;
}

static range completed(range r, bool is_log) {
  if (!(r.low <= r.high)) return is_log ? (range){0.1, 10} : (range){-1, 1};
  return r;
}

static range widened(range r, bool is_log, double part) {
  if (!(r.high > r.low)) return r;
  if (is_log) {
    double factor = pow(r.high / r.low, part);
    return (range){r.low / factor, r.high * factor};
  }
  double room = part * (r.high - r.low);
  return (range){r.low - room, r.high + room};
}

od_panel_view od_panel_view_of(const od_panel *panel) {
  static const double margin = 0.06;
  range x = {INFINITY, -INFINITY}, y = x;
  bool has_area = false, has_points = panel->lines == 0;
  for (const od_panel_line *l = panel->line; l; l = l->next) {
    has_area = has_area || l->as == OD_AS_AREA;
    has_points = has_points || l->as == OD_AS_POINTS;
    for (long i = 0; i < l->y.count; i++) {
      double value = od_series_at(&l->y, i), half = l->half.data ? od_series_at(&l->half, i) : 0;
      include(&x, od_series_at(&l->x, i), panel->x_log);
      include(&y, value, panel->y_log);
      if (!isfinite(half)) continue;
      include(&y, value - half, panel->y_log);
      include(&y, value + half, panel->y_log);
    }
  }
  for (const od_panel_mark *m = panel->mark; m; m = m->next) {
    if (m->kind == OD_POINT_MARK) include(&x, m->x, panel->x_log), include(&y, m->y, panel->y_log);
    if (m->kind == OD_LIMIT_LEVEL) include_limit(&y, m->y, panel->y_log);
    if (m->kind == OD_LIMIT_INSTANT) include_limit(&x, m->x, panel->x_log);
  }
  if ((has_area || panel->name) && !panel->y_log) include(&y, 0, false);
  x = completed(x, panel->x_log), y = completed(y, panel->y_log);
  od_display across = od_display_unit(panel->x_unit, fmax(fabs(x.low), fabs(x.high)));
  od_display up = od_display_unit(panel->y_unit, fmax(fabs(y.low), fabs(y.high)));
  double bottom = y.low;
  y = widened(y, panel->y_log, margin);
  if (has_points || has_area || panel->has_equal_scales) x = widened(x, panel->x_log, margin);
  if (has_area && bottom == 0) y.low = 0;
  return (od_panel_view){.x_low = x.low * across.factor,
                         .x_high = x.high * across.factor,
                         .y_low = y.low * up.factor,
                         .y_high = y.high * up.factor,
                         .x_factor = across.factor,
                         .y_factor = up.factor,
                         .x_unit = across.unit,
                         .y_unit = up.unit};
}
