#include "io/plot.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/chart.h"
#include "io/display.h"
#include "io/picture.h"
#include "io/svg.h"

// Dimensions of the page, in pixels.
static const double page_width = 960, left = 88, right = 28, top = 94, bottom = 62;
static const double chart_height = 128, chart_gap = 58, most_path_height = 380, legend_line = 22, tick_distance = 70,
                    room_for_range = 190;  // width of the text with the range, at the right end above a chart

// The margin between a curve and the frame, as a fraction of the range.
static const double margin = 0.07;

static const char style[] = OD_SVG_TEXT_STYLE
    ".faint{font-size:12px;fill:#8a94a3}.ring{fill:#fff;stroke:currentColor;stroke-width:1.6}.dot{fill:currentColor}"
    ".page{fill:#fff}.frame{fill:#fbfcfd;stroke:#c5ccd6}.grid{stroke:#e4e8ee}.zero{stroke:#b3bcc8}" OD_SVG_CURVE_STYLE;

static double at(const od_table *t, long row, int column) {
  return t->data[row * t->columns + column];
}

static od_series column_of(const od_table *t, int column, double factor) {
  return (od_series){t->data + column, t->rows, t->columns, factor};
}

// An axis in display units: displayed number = SI number * factor.
typedef struct scale {
  od_axis axis;
  double factor;
} scale;

static scale make_scale(double low, double high, double room, const char *si, double ticks) {
  od_display shown = od_display_unit(si, fmax(fabs(low), fabs(high)));
  return (scale){od_axis_make((low - room) * shown.factor, (high + room) * shown.factor, shown.unit, ticks),
                 shown.factor};
}

// Returns the first column of the chart that contains the given column.
static int first_in_panel(const int *panel, int column) {
  for (int c = 1; panel && c < column; c++)
    if (panel[c] == panel[column]) return c;
  return column;
}

static bool is_shared(const od_table *t, const int *panel, int column) {
  for (int c = column + 1; c < t->columns; c++)
    if (first_in_panel(panel, c) == column) return true;
  return false;
}

// Returns the length of the element's name, which is everything before the last dot: "crank.end" in "crank.end.vx". Outputs of an
// element share a color.
static size_t element_length(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot ? (size_t)(dot - name) : strlen(name);
}

// The class of a shape in the color of a column: "curve c3".
typedef struct shape {
  char class_name[24];
} shape;

static shape element_color(const char *kind, const od_table *t, int column) {
  int elements = 0;
  for (int c = 1; c <= column; c++) {
    size_t n = element_length(t->name[c]);
    bool seen = false;
    for (int d = 1; d < c && !seen; d++) seen = element_length(t->name[d]) == n && !strncmp(t->name[c], t->name[d], n);
    if (seen) continue;
    if (element_length(t->name[column]) == n && !strncmp(t->name[c], t->name[column], n)) break;
    elements++;
  }
  shape s;
  snprintf(s.class_name, sizeof s.class_name, "%.16s c%d", kind, elements % OD_SVG_COLORS);
  return s;
}

// Returns the class of the k-th curve of a shared chart.
static shape curve_color(const char *kind, int k) {
  shape s;
  snprintf(s.class_name, sizeof s.class_name, "%.16s c%d", kind, k % OD_SVG_COLORS);
  return s;
}

static void axis_title(char *text, size_t size, const char *name, const od_axis *axis) {
  snprintf(text, size, axis->unit[0] ? "%s (%s)" : "%s", name, axis->unit);
}

// Draws above a chart: as many names as fit (colored if the chart is shared), the number of omitted names, and the unit.
static void draw_names(FILE *to, const od_table *t, const int *panel, int column, double y, const char *unit) {
  double x = left;
  int drawn = 0, more = 0;
  if (!is_shared(t, panel, column)) {
    od_svg_label(to, left, y, t->name[column], unit);
    return;
  }
  for (int c = column; c < t->columns; c++) {
    double width = 30 + 8 * (double)strlen(t->name[c]);
    if (first_in_panel(panel, c) != column) continue;
    if (more > 0 || x + width > page_width - right - room_for_range) {
      more++;
      continue;
    }
    od_svg_circle(to, curve_color("dot", drawn++).class_name, x + 5, y - 4, 5);
    od_svg_text(to, "name", x + 16, y, "start", t->name[c]);
    x += width;
  }
  char text[300];
  snprintf(text, sizeof text, "and %d more %s", more, unit);
  od_svg_text(to, "faint", x, y, "start", more > 0 ? text : unit);
}

static void draw_time_chart(FILE *to, const od_table *t, const int *panel, int column, double y, const scale *time,
                            bool last) {
  double low = NAN, high = NAN;
  bool shared = is_shared(t, panel, column);
  for (int c = column; c < t->columns; c++) {
    if (first_in_panel(panel, c) != column) continue;
    od_summary s = od_table_summary(t, c);
    low = fmin(low, s.min);
    high = fmax(high, s.max);
  }
  scale own = make_scale(low, high, margin * (high - low), t->unit[column], 4);
  od_chart c = {left, y, page_width - left - right, chart_height, time->axis, own.axis};
  char text[256], from[OD_AXIS_TEXT], to_text[OD_AXIS_TEXT];
  od_chart_frame(to, &c, last ? "tick" : "faint");
  for (int i = column, drawn = 0; i < t->columns; i++) {
    if (first_in_panel(panel, i) != column) continue;
    shape color = shared ? curve_color("curve", drawn++) : element_color("curve", t, i);
    od_chart_line(to, &c, column_of(t, 0, time->factor), column_of(t, i, own.factor), color.class_name, NULL);
  }
  snprintf(text, sizeof text, c.vertical.unit[0] ? "(%s)" : "%s", c.vertical.unit);
  draw_names(to, t, panel, column, y - 9, text);
  if (isfinite(low) && isfinite(high)) {
    od_axis_value(&c.vertical, low * own.factor, from);
    od_axis_value(&c.vertical, high * own.factor, to_text);
    snprintf(text, sizeof text, strcmp(from, to_text) != 0 ? "%s to %s" : "%s", from, to_text);
    od_svg_text(to, "faint", left + c.width, y - 9, "end", text);
  }
  if (!last) return;
  axis_title(text, sizeof text, t->name[0], &time->axis);
  od_svg_text(to, "tick", left + c.width / 2, y + chart_height + 42, "middle", text);
}

// Returns the column with the y coordinate of the point whose x coordinate is in this column; -1: no such column.
static int partner(const od_table *t, int column) {
  size_t n = strlen(t->name[column]);
  if (n < 3 || strcmp(t->name[column] + n - 2, ".x") != 0) return -1;
  for (int c = 1; c < t->columns; c++)
    if (strlen(t->name[c]) == n && !strncmp(t->name[c], t->name[column], n - 1) && t->name[c][n - 1] == 'y') return c;
  return -1;
}

static bool has_paths(const od_table *t) {
  for (int c = 1; c < t->columns; c++)
    if (partner(t, c) >= 0) return true;
  return false;
}

// A chart of paths. Coordinates are in meters times the factor.
typedef struct paths {
  od_chart chart;
  double factor;
} paths;

// Fits a chart with equal scales in both directions. The frame is as large as possible on the page, but not larger than necessary
// for the paths.
static paths fit_paths(const od_table *t, double y) {
  double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
  const char *unit = "";
  for (int i = 1; i < t->columns; i++) {
    int j = partner(t, i);
    if (j < 0) continue;
    od_summary xs = od_table_summary(t, i), ys = od_table_summary(t, j);
    x0 = fmin(x0, xs.min), x1 = fmax(x1, xs.max), y0 = fmin(y0, ys.min), y1 = fmax(y1, ys.max);
    unit = t->unit[i];
  }
  // Without finite points, the frame has a default size.
  if (!isfinite(x0) || !isfinite(x1) || !isfinite(y0) || !isfinite(y1)) x0 = y0 = -1, x1 = y1 = 1;
  od_display shown = od_display_unit(unit, fmax(fmax(fabs(x0), fabs(x1)), fmax(fabs(y0), fabs(y1))));
  x0 *= shown.factor, x1 *= shown.factor, y0 *= shown.factor, y1 *= shown.factor;
  double full = page_width - left - right, width = (1 + 2 * margin) * (x1 - x0), height = (1 + 2 * margin) * (y1 - y0);
  double per_pixel = fmax(width / full, height / most_path_height);
  if (!(per_pixel > 1e-12)) per_pixel = 1 / full;
  od_chart c = {
      .x = left, .y = y, .width = fmin(fmax(width / per_pixel, 320), full), .height = fmax(height / per_pixel, 180)};
  double xm = 0.5 * (x0 + x1), ym = 0.5 * (y0 + y1), w = 0.5 * per_pixel * c.width, h = 0.5 * per_pixel * c.height;
  // Both directions have the same number of ticks per pixel, so the grid consists of squares.
  c.vertical = od_axis_make(ym - h, ym + h, shown.unit, c.height / tick_distance);
  c.horizontal = od_axis_make(xm - w, xm + w, shown.unit, c.width / tick_distance);
  return (paths){c, shown.factor};
}

static double path_x(const paths *p, const od_table *t, long row, int column) {
  return od_chart_x(&p->chart, at(t, row, column) * p->factor);
}
static double path_y(const paths *p, const od_table *t, long row, int column) {
  return od_chart_y(&p->chart, at(t, row, column) * p->factor);
}

static void draw_path(FILE *to, const paths *p, const od_table *t, int xc, int yc) {
  bool first = true;
  double x = 0, y = 0;
  od_svg_path_begin(to, element_color("curve", t, xc).class_name, NULL);
  for (long row = 0; row < t->rows; row++) {
    double px = path_x(p, t, row, xc), py = path_y(p, t, row, yc);
    bool gap = isnan(px) || isnan(py);
    // Points closer than half a pixel are omitted.
    if (!gap && (first || hypot(px - x, py - y) > 0.5 || row == t->rows - 1))
      od_svg_path_point(to, first ? 'M' : 'L', x = px, y = py), first = false;
    if (gap) first = true;
  }
  od_svg_path_end(to);
  long end = t->rows - 1;
  if (!isnan(at(t, end, xc) + at(t, end, yc)))
    od_svg_circle(to, element_color("ring", t, xc).class_name, path_x(p, t, end, xc), path_y(p, t, end, yc), 4.5);
  if (!isnan(at(t, 0, xc) + at(t, 0, yc)))
    od_svg_circle(to, element_color("dot", t, xc).class_name, path_x(p, t, 0, xc), path_y(p, t, 0, yc), 4);
}

// Draws the names of the paths, in as many lines as needed. If `to` is NULL, only computes the height. Returns the height of the
// lines.
static double draw_legend(FILE *to, const od_table *t, double y) {
  double x = left, first = y;
  for (int i = 1; i < t->columns; i++) {
    if (partner(t, i) < 0) continue;
    char text[64];
    size_t n = element_length(t->name[i]);
    snprintf(text, sizeof text, "%.*s", (int)(n < 60 ? n : 60), t->name[i]);
    double width = 40 + 7.2 * (double)strlen(text);
    if (x > left && x + width > page_width - right) x = left, y += legend_line;
    if (to) {
      od_svg_circle(to, element_color("dot", t, i).class_name, x + 5, y - 4, 5);
      od_svg_text(to, "tick", x + 16, y, "start", text);
    }
    x += width;
  }
  return y - first + legend_line;
}

// Places the frame of the paths on the page, below y.
static paths place_paths(const od_table *t, double y) {
  return fit_paths(t, y + draw_legend(NULL, t, y) + 4);
}

static void draw_paths(FILE *to, const od_table *t, double y) {
  paths p = place_paths(t, y);
  draw_legend(to, t, y + 14);
  od_chart_frame(to, &p.chart, "tick");
  for (int i = 1; i < t->columns; i++)
    if (partner(t, i) >= 0) draw_path(to, &p, t, i, partner(t, i));
  char text[256];
  axis_title(text, sizeof text, "x and y", &p.chart.vertical);
  strncat(text, "; a dot at the start, a ring at the end", sizeof text - strlen(text) - 1);
  od_svg_label(to, left, y - 9, "paths", text);
}

static void draw_page(FILE *to, const od_table *t, const int *panel, const char *title, const char *subtitle) {
  od_chart above = place_paths(t, top).chart;
  double first_chart = has_paths(t) ? above.y + above.height + chart_gap + 10 : top;
  int charts = 0, drawn = 0;
  for (int c = 1; c < t->columns; c++) charts += first_in_panel(panel, c) == c;
  double height = first_chart + charts * (chart_height + chart_gap) - chart_gap + bottom;
  od_svg_begin(to, page_width, height, title, style);
  od_svg_rectangle(to, "page", 0, 0, page_width, height);
  od_svg_text(to, "title", left, 34, "start", title);
  od_svg_text(to, "subtitle", left, 55, "start", subtitle);

  if (has_paths(t)) draw_paths(to, t, top);
  od_summary s = od_table_summary(t, 0);
  scale time = make_scale(s.min, s.max, 0, t->unit[0], 10);
  for (int c = 1; c < t->columns; c++) {
    if (first_in_panel(panel, c) != c) continue;
    draw_time_chart(to, t, panel, c, first_chart + drawn * (chart_height + chart_gap), &time, drawn + 1 == charts);
    drawn++;
  }
  od_svg_end(to);
}

od_status od_plot_write(const od_table *table, const int *panel, const char *title, const char *subtitle,
                        const char *path, od_error *err) {
  if (table->rows == 0 || table->columns < 2)
    return od_fail(err, OD_BAD_ARGUMENT,
                   "nothing to plot: the table has no rows, or only the time column; expected an output");
  od_atomic_file f;
  if (strcmp(path, "-") == 0) {
    OD_SCOPED(od_picture_free) od_picture picture = {.title = title, .subtitle = subtitle};
    od_picture_add_table(&picture, table, panel);
    return od_picture_show(&picture, path, err);
  }
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  draw_page(f.file, table, panel, title, subtitle);
  return od_atomic_commit(&f, err);
}
