#include "io/plot.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/chart.h"
#include "io/svg.h"

// The page, in pixels.
static const double page_width = 960, left = 88, right = 28, top = 94, bottom = 62;
static const double chart_height = 128, chart_gap = 58, most_path_height = 380, legend_line = 22, tick_distance = 70;
// The part of its range that a curve keeps away from the frame.
static const double margin = 0.07;

static const char style[] =
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;fill:#3d4654}"
    ".title{font-size:21px;font-weight:600;fill:#1c2430}.subtitle{font-size:13.5px;fill:#6b7685}"
    ".name{font-size:13.5px;font-weight:600}.note{font-weight:400;fill:#6b7685}.tick{font-size:12px}"
    ".faint{font-size:12px;fill:#8a94a3}.ring{fill:#fff;stroke:currentColor;stroke-width:1.6}.dot{fill:currentColor}"
    ".page{fill:#fff}.frame{fill:#fbfcfd;stroke:#c5ccd6}.grid{stroke:#e4e8ee}.zero{stroke:#b3bcc8}"
    ".curve{fill:none;stroke:currentColor;stroke-width:1.6;stroke-linejoin:round}"
    ".c0{color:#1769d1}.c1{color:#d1490c}.c2{color:#23823b}.c3{color:#8e36ad}"
    ".c4{color:#0b7a8f}.c5{color:#c22a4b}.c6{color:#8a6d00}.c7{color:#4f46c8}";
enum { colour_count = 8 };

static double at(const od_table *t, long row, int column) {
  return t->data[row * t->columns + column];
}

static od_series column_of(const od_table *t, int column) {
  return (od_series){t->data + column, t->rows, t->columns, 1};
}

// "crank.end.vx": the element is everything before the last dot. Its outputs share a colour.
static size_t element_length(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot ? (size_t)(dot - name) : strlen(name);
}

// The class of a shape in the colour of a column: "curve c3".
typedef struct shape {
  char class_name[24];
} shape;

static shape coloured(const char *kind, const od_table *t, int column) {
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
  snprintf(s.class_name, sizeof s.class_name, "%.16s c%d", kind, elements % colour_count);
  return s;
}

static void axis_title(char *text, size_t size, const char *name, const od_axis *axis) {
  snprintf(text, size, axis->unit[0] ? "%s (%s)" : "%s", name, axis->unit);
}

static void draw_time_chart(FILE *to, const od_table *t, int column, double y, const od_axis *time, bool last) {
  od_summary s = od_table_summary(t, column);
  double room = margin * (s.max - s.min);
  od_chart c = {left,         y,     page_width - left - right,
                chart_height, *time, od_axis_make(s.min - room, s.max + room, t->unit[column], 4)};
  char text[256], low[OD_AXIS_TEXT], high[OD_AXIS_TEXT];
  od_chart_frame(to, &c, last ? "tick" : "faint");
  od_chart_line(to, &c, column_of(t, 0), column_of(t, column), coloured("curve", t, column).class_name, NULL);
  snprintf(text, sizeof text, c.vertical.unit[0] ? "(%s)" : "%s", c.vertical.unit);
  od_svg_label(to, left, y - 9, t->name[column], text);
  if (isfinite(s.min) && isfinite(s.max)) {
    od_axis_value(&c.vertical, s.min, low);
    od_axis_value(&c.vertical, s.max, high);
    snprintf(text, sizeof text, strcmp(low, high) != 0 ? "%s to %s" : "%s", low, high);
    od_svg_text(to, "faint", left + c.width, y - 9, "end", text);
  }
  if (!last) return;
  axis_title(text, sizeof text, t->name[0], time);
  od_svg_text(to, "tick", left + c.width / 2, y + chart_height + 42, "middle", text);
}

// The column that holds the y of the point whose x this column holds, or -1.
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

// Equal scales in both directions: the frame is as large as the page allows and no larger than the paths need.
static od_chart fit_paths(const od_table *t, double y) {
  double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
  const char *unit = "";
  for (int i = 1; i < t->columns; i++) {
    int j = partner(t, i);
    if (j < 0) continue;
    od_summary xs = od_table_summary(t, i), ys = od_table_summary(t, j);
    x0 = fmin(x0, xs.min), x1 = fmax(x1, xs.max), y0 = fmin(y0, ys.min), y1 = fmax(y1, ys.max);
    unit = t->unit[i];
  }
  // Without a single finite point, or with one only, there is still a frame.
  if (!isfinite(x0) || !isfinite(x1) || !isfinite(y0) || !isfinite(y1)) x0 = y0 = -1, x1 = y1 = 1;
  double full = page_width - left - right, width = (1 + 2 * margin) * (x1 - x0), height = (1 + 2 * margin) * (y1 - y0);
  double scale = fmax(width / full, height / most_path_height);
  if (!(scale > 1e-12)) scale = 1 / full;
  od_chart c = {.x = left, .y = y, .width = fmin(fmax(width / scale, 320), full), .height = fmax(height / scale, 180)};
  double xm = 0.5 * (x0 + x1), ym = 0.5 * (y0 + y1), w = 0.5 * scale * c.width, h = 0.5 * scale * c.height;
  // As many ticks per pixel both ways: the grid is of squares.
  c.vertical = od_axis_make(ym - h, ym + h, unit, c.height / tick_distance);
  c.horizontal = od_axis_make(xm - w, xm + w, unit, c.width / tick_distance);
  return c;
}

static void draw_path(FILE *to, const od_chart *c, const od_table *t, int xc, int yc) {
  bool first = true;
  double x = 0, y = 0;
  od_svg_path_begin(to, coloured("curve", t, xc).class_name, NULL);
  for (long row = 0; row < t->rows; row++) {
    double px = od_chart_x(c, at(t, row, xc)), py = od_chart_y(c, at(t, row, yc));
    bool gap = isnan(px) || isnan(py);
    // Points nearer than half a pixel add nothing.
    if (!gap && (first || hypot(px - x, py - y) > 0.5 || row == t->rows - 1))
      od_svg_path_point(to, first ? 'M' : 'L', x = px, y = py), first = false;
    if (gap) first = true;
  }
  od_svg_path_end(to);
  long end = t->rows - 1;
  if (!isnan(at(t, end, xc) + at(t, end, yc)))
    od_svg_circle(to, coloured("ring", t, xc).class_name, od_chart_x(c, at(t, end, xc)), od_chart_y(c, at(t, end, yc)),
                  4.5);
  if (!isnan(at(t, 0, xc) + at(t, 0, yc)))
    od_svg_circle(to, coloured("dot", t, xc).class_name, od_chart_x(c, at(t, 0, xc)), od_chart_y(c, at(t, 0, yc)), 4);
}

// The names of the paths, in as many lines as they need; to NULL: nothing is drawn. Returns the height of the lines.
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
      od_svg_circle(to, coloured("dot", t, i).class_name, x + 5, y - 4, 5);
      od_svg_text(to, "tick", x + 16, y, "start", text);
    }
    x += width;
  }
  return y - first + legend_line;
}

// Where the frame of the paths lies when their part of the page begins at y.
static od_chart paths_chart(const od_table *t, double y) {
  return fit_paths(t, y + draw_legend(NULL, t, y) + 4);
}

static void draw_paths(FILE *to, const od_table *t, double y) {
  od_chart c = paths_chart(t, y);
  draw_legend(to, t, y + 14);
  od_chart_frame(to, &c, "tick");
  for (int i = 1; i < t->columns; i++)
    if (partner(t, i) >= 0) draw_path(to, &c, t, i, partner(t, i));
  char text[256];
  axis_title(text, sizeof text, "x and y", &c.vertical);
  strncat(text, "; a dot at the start, a ring at the end", sizeof text - strlen(text) - 1);
  od_svg_label(to, left, y - 9, "paths", text);
}

static void draw_page(FILE *to, const od_table *t, const char *title, const char *subtitle) {
  od_chart paths = paths_chart(t, top);
  double first_chart = has_paths(t) ? paths.y + paths.height + chart_gap + 10 : top;
  double height = first_chart + (t->columns - 1) * (chart_height + chart_gap) - chart_gap + bottom;
  od_svg_begin(to, page_width, height, title, style);
  od_svg_rectangle(to, "page", 0, 0, page_width, height);
  od_svg_text(to, "title", left, 34, "start", title);
  od_svg_text(to, "subtitle", left, 55, "start", subtitle);

  if (has_paths(t)) draw_paths(to, t, top);
  od_summary s = od_table_summary(t, 0);
  od_axis time = od_axis_make(s.min, s.max, t->unit[0], 10);
  for (int c = 1; c < t->columns; c++)
    draw_time_chart(to, t, c, first_chart + (c - 1) * (chart_height + chart_gap), &time, c == t->columns - 1);
  od_svg_end(to);
}

od_status od_plot_write(const od_table *table, const char *title, const char *subtitle, const char *path,
                        od_error *err) {
  if (table->rows == 0 || table->columns < 2) return od_fail(err, OD_BAD_ARGUMENT, "there is nothing to plot");
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  draw_page(f.file, table, title, subtitle);
  return od_atomic_commit(&f, err);
}
