// Writes a picture as an SVG file. The panels are one below another.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/display.h"
#include "io/picture.h"
#include "io/svg.h"

// Dimensions of the page, in pixels.
static const double width = 960, left = 88, right = 28, top = 94, height = 220, square_height = 420, row_height = 24,
                    list_left = 300, list_right = 130, gap = 68, legend_line = 20;
enum { LEGEND_COLUMNS = 3 };
static const char style[] = OD_SVG_TEXT_STYLE
    ".page{fill:#fff}.frame{fill:#fbfcfd;stroke:#c5ccd6}.grid{stroke:#e4e8ee}.zero,.level{stroke:#b3bcc8}"
    ".limit{fill:none;stroke:#6b7685;stroke-dasharray:4 3}.dots{stroke:currentColor;stroke-width:4;stroke-linecap:round;"
    "fill:none}.bar{stroke:currentColor;opacity:0.5;fill:none}.point{fill:currentColor;opacity:1}"
    ".area{fill:currentColor;fill-opacity:0.18;stroke:none}.mark{fill:none;stroke:#1c2430;stroke-width:1.6}"
    ".few{stroke-width:5}" OD_SVG_CURVE_STYLE;

// The class of a shape in the color of line i: "curve c3".
typedef struct class_text {
  char text[32];
} class_text;
static class_text colored(const char *kind, int i) {
  class_text c;
  snprintf(c.text, sizeof c.text, "%.16s c%d", kind, i % OD_SVG_COLORS);
  return c;
}

static int legend_count(const od_panel *panel) {
  int count = 0;
  for (const od_panel_line *l = panel->line; l; l = l->next) count += l->label != NULL;
  return count;
}

static double frame_height(const od_panel *panel) {
  if (panel->name) return row_height * (double)(panel->line ? panel->line->y.count : 0);
  return panel->has_equal_scales ? square_height : height;
}

static double panel_height(const od_panel *panel) {
  int rows = (legend_count(panel) + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;
  return frame_height(panel) + gap + legend_line * rows;
}

static od_axis axis_of(bool is_log, double low, double high, const char *unit, double ticks) {
  return is_log ? od_axis_make_log(low, high, unit, ticks) : od_axis_make(low, high, unit, ticks);
}

// Widens one of the ranges, so that a unit has the same length in both directions.
static void equalize(od_panel_view *v, double across, double up) {
  double per_pixel = fmax((v->x_high - v->x_low) / across, (v->y_high - v->y_low) / up);
  double x = 0.5 * (v->x_low + v->x_high), y = 0.5 * (v->y_low + v->y_high);
  v->x_low = x - 0.5 * per_pixel * across, v->x_high = x + 0.5 * per_pixel * across;
  v->y_low = y - 0.5 * per_pixel * up, v->y_high = y + 0.5 * per_pixel * up;
}

static od_series scaled(od_series s, double factor) {
  s.factor *= factor;
  return s;
}

static void draw_line(FILE *to, const od_chart *c, const od_panel_view *v, const od_panel_line *l, int i) {
  od_series x = scaled(l->x, v->x_factor), y = scaled(l->y, v->y_factor), half = scaled(l->half, v->y_factor);
  if (l->as == OD_AS_POINTS && l->half.data)
    od_chart_bars(to, c, x, y, half, colored("bar", i).text);
  else if (l->as == OD_AS_POINTS)
    od_chart_dots(to, c, x, y, colored("dots", i).text);
  if (l->as == OD_AS_AREA) {
    od_series middle = scaled(y, 0.5);
    od_chart_band(to, c, x, middle, middle, colored("area", i).text, NULL);
  }
  if (l->as != OD_AS_POINTS) od_chart_line(to, c, x, y, colored("curve", i).text, l->label);
}

static void draw_marks(FILE *to, const od_chart *c, const od_panel_view *v, const od_panel *panel) {
  for (const od_panel_mark *m = panel->mark; m; m = m->next) {
    double x = m->x * v->x_factor, y = m->y * v->y_factor;
    if (m->kind == OD_LIMIT_LEVEL) {
      od_chart_level(to, c, y, "limit", m->text);
      od_svg_text(to, "tick", c->x + c->width - 6, od_chart_y(c, y) - 4, "end", m->text);
    } else if (m->kind == OD_LIMIT_INSTANT) {
      od_chart_instant(to, c, x, "limit", m->text);
      od_svg_text(to, "tick", od_chart_x(c, x) + 4, c->y + 14, "start", m->text);
    } else {
      od_chart_mark(to, c, x, y, m->shape, "mark", m->text);
    }
  }
}

static void draw_legend(FILE *to, const od_panel *panel, double y) {
  int i = 0, drawn = 0;
  for (const od_panel_line *l = panel->line; l; l = l->next, i++) {
    if (!l->label) continue;
    double x = left + drawn % LEGEND_COLUMNS * (width - left) / LEGEND_COLUMNS;
    int row = drawn++ / LEGEND_COLUMNS;
    double line = y + legend_line * row;
    od_svg_line(to, colored("curve", i).text, x, line - 4, x + 24, line - 4);
    od_svg_text(to, "tick", x + 32, line, "start", l->label);
  }
}

static void label_panel(FILE *to, const od_panel *panel, double x, double y, const char *unit) {
  char note[400];
  snprintf(note, sizeof note, "%s%s%.300s", unit, unit[0] && panel->note ? "; " : "", panel->note ? panel->note : "");
  od_svg_label(to, x, y - 10, panel->title, note);
}

static void draw_chart(FILE *to, const od_panel *panel, double y) {
  od_panel_view v = od_panel_view_of(panel);
  od_chart c = {.x = left, .y = y, .width = width - left - right, .height = frame_height(panel)};
  if (panel->has_equal_scales) equalize(&v, c.width, c.height);
  c.horizontal = axis_of(panel->x_log, v.x_low, v.x_high, v.x_unit, 10);
  c.vertical = axis_of(panel->y_log, v.y_low, v.y_high, v.y_unit, panel->has_equal_scales ? 8 : 5);
  label_panel(to, panel, left, y, c.vertical.unit);
  od_chart_frame(to, &c, "tick");
  od_chart_inside_begin(to, &c);
  int i = 0;
  for (const od_panel_line *l = panel->line; l; l = l->next) draw_line(to, &c, &v, l, i++);
  draw_marks(to, &c, &v, panel);
  od_chart_inside_end(to);
  char text[400];
  snprintf(text, sizeof text, "%.300s%s%s", panel->x_name, c.horizontal.unit[0] ? ", " : "", c.horizontal.unit);
  od_svg_text(to, "tick", width - right, y + c.height + 36, "end", text);
  draw_legend(to, panel, y + c.height + 40);
}

// The axis of the values of a list with this many ticks.
static od_axis list_axis(const od_panel *panel, double ticks) {
  od_panel_view v = od_panel_view_of(panel);
  return axis_of(panel->y_log, v.y_low, v.y_high, v.y_unit, ticks);
}

const char *od_panel_list_unit(const od_panel *panel, char unit[OD_AXIS_TEXT]) {
  od_axis axis = list_axis(panel, 6);
  snprintf(unit, OD_AXIS_TEXT, "%s", axis.unit);
  return unit;
}

double od_panel_list_height(const od_panel *panel) {
  return frame_height(panel);
}

void od_panel_draw_list(FILE *to, const od_panel *panel, const od_list_style *s) {
  od_panel_view v = od_panel_view_of(panel);
  const od_panel_line *l = panel->line;
  double across = s->width, high = frame_height(panel), y = s->y;
  od_axis axis = list_axis(panel, s->ticks);
  od_svg_rectangle(to, "frame", s->x, y, across, high);
  for (int i = 0; i < axis.ticks; i++) {
    char text[OD_AXIS_TEXT];
    double x = s->x + across * od_axis_place(&axis, od_axis_tick(&axis, i));
    od_axis_label(&axis, i, text);
    od_svg_line(to, "grid", x, y, x, y + high);
    od_svg_text(to, "tick", x, y + high + 16, "middle", text);
  }
  for (long i = 0; l && i < l->y.count; i++) {
    double value = od_series_at(&l->y, i) * v.y_factor, middle = y + row_height * ((double)i + 0.5);
    double half = l->half.data ? od_series_at(&l->half, i) * v.y_factor : NAN;
    char text[OD_AXIS_TEXT];
    od_svg_text(to, "tick", s->x - 10, middle + 4, "end", panel->name[i]);
    if (!isfinite(value) || (panel->y_log && !(value > 0))) continue;
    if (isfinite(half)) {
      double low = fmax(od_axis_place(&axis, value - half), 0), up = fmin(od_axis_place(&axis, value + half), 1);
      od_svg_line(to, s->bar, s->x + across * low, middle, s->x + across * up, middle);
    }
    od_svg_circle(to, s->point, s->x + across * od_axis_place(&axis, value), middle, 4);
    od_axis_value(&axis, value, text);
    od_svg_text(to, "tick", s->x + across + 10, middle + 4, "start", text);
  }
  for (const od_panel_mark *m = panel->mark; m; m = m->next) {
    double x = s->x + across * od_axis_place(&axis, m->y * v.y_factor);
    if (m->kind != OD_LIMIT_LEVEL || x < s->x || x > s->x + across) continue;
    od_svg_line(to, "limit", x, y, x, y + high);
  }
}

static void draw_list(FILE *to, const od_panel *panel, double y) {
  char unit[OD_AXIS_TEXT];
  label_panel(to, panel, list_left, y, od_panel_list_unit(panel, unit));
  od_panel_draw_list(to, panel,
                     &(od_list_style){.x = list_left,
                                      .y = y,
                                      .width = width - list_left - list_right,
                                      .ticks = 6,
                                      .point = "point c0",
                                      .bar = "bar c0"});
}

od_status od_picture_write(const od_picture *p, const char *path, od_error *err) {
  if (od_arena_status(&p->arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (p->panels == 0)
    return od_fail(err, OD_BAD_ARGUMENT,
                   "nothing to plot: the result has no values over a range; expected a series or a curve");
  double page = top + 6;
  for (const od_panel *panel = p->panel; panel; panel = panel->next) page += panel_height(panel);
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  od_svg_begin(f.file, width, page, p->title, style);
  od_svg_rectangle(f.file, "page", 0, 0, width, page);
  od_svg_text(f.file, "title", left, 38, "start", p->title);
  od_svg_text(f.file, "subtitle", left, 60, "start", p->subtitle ? p->subtitle : "");
  double y = top;
  for (const od_panel *panel = p->panel; panel; panel = panel->next) {
    (panel->name ? draw_list : draw_chart)(f.file, panel, y);
    y += panel_height(panel);
  }
  od_svg_end(f.file);
  return od_atomic_commit(&f, err);
}
