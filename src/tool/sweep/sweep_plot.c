#include "sweep/sweep_plot.h"

#include <math.h>
#include <stdio.h>

#include "io/atomic_file.h"
#include "io/chart.h"
#include "io/display.h"
#include "io/svg.h"

static const double width = 960, left = 88, right = 28, top = 94, height = 280, gap = 66, legend_line = 20;
enum { LEGEND_COLUMNS = 3 };
static const char style[] = OD_SVG_TEXT_STYLE
    ".page{fill:#fff}.frame{fill:#fbfcfd;stroke:#c5ccd6}.grid{stroke:#e4e8ee}.level{stroke:#b3bcc8}" OD_SVG_CURVE_STYLE;

// Creates the axis of a column, in a unit that suits its largest number. *factor converts SI values to this unit.
static od_axis column_axis(const od_table *t, int column, double ticks, double *factor) {
  double low = INFINITY, high = -INFINITY;
  for (long i = 0; i < t->rows; i++) {
    double v = t->data[i * t->columns + column];
    if (isfinite(v)) low = fmin(low, v), high = fmax(high, v);
  }
  if (!(low <= high)) low = 0, high = 1;
  od_display shown = od_display_unit(t->unit[column], fmax(fabs(low), fabs(high)));
  *factor = shown.factor;
  if (low == high) low -= 0.5 / shown.factor, high += 0.5 / shown.factor;
  return od_axis_make(low * shown.factor, high * shown.factor, shown.unit, ticks);
}

// Writes the CSS class of a curve.
static void curve_class(char text[24], long curve) {
  snprintf(text, 24, "curve c%ld", curve % OD_SVG_COLORS);
}

static void draw_panel(FILE *to, const od_sweep_picture *p, int column, double y) {
  const od_table *t = p->table;
  int across = p->axes - 1;
  double x_factor, y_factor;
  od_chart c = {.x = left, .y = y, .width = width - left - right, .height = height};
  c.horizontal = column_axis(t, across, 8, &x_factor);
  c.vertical = column_axis(t, column, 6, &y_factor);
  od_svg_label(to, left, y - 10, t->name[column], c.vertical.unit);
  od_chart_frame(to, &c, "tick");
  od_chart_inside_begin(to, &c);
  long each = p->counts[across];
  for (long curve = 0; curve * each < t->rows; curve++) {
    const double *first = t->data + curve * each * t->columns;
    char class_name[24];
    curve_class(class_name, curve);
    od_chart_line(to, &c, (od_series){first + across, each, t->columns, x_factor},
                  (od_series){first + column, each, t->columns, y_factor}, class_name, NULL);
  }
  od_chart_inside_end(to);
  char text[400];
  snprintf(text, sizeof text, "%.300s%s%s", t->name[across], c.horizontal.unit[0] ? ", " : "", c.horizontal.unit);
  od_svg_text(to, "tick", width - right, y + height + 36, "end", text);
}

// Draws the legend of two axes: the values of the first axis.
static void draw_legend(FILE *to, const od_sweep_picture *p, double y) {
  const od_table *t = p->table;
  for (int i = 0; p->axes == 2 && i < p->counts[0]; i++) {
    char class_name[24], text[400];
    double x = left + i % LEGEND_COLUMNS * (width - left) / LEGEND_COLUMNS;
    int row = i / LEGEND_COLUMNS;
    double line = y + legend_line * row;
    double value = t->data[(long)i * p->counts[1] * t->columns];
    curve_class(class_name, i);
    snprintf(text, sizeof text, "%.200s = %s", t->name[0], od_display_quantity(value, t->unit[0]).text);
    od_svg_line(to, class_name, x, line - 4, x + 24, line - 4);
    od_svg_text(to, "tick", x + 32, line, "start", text);
  }
}

od_status od_sweep_plot_write(const od_sweep_picture *p, const char *path, od_error *err) {
  double legend = top + p->columns * (height + gap) + 10;
  int lines = p->axes == 2 ? (p->counts[0] + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS : 0;
  double page = legend + legend_line * lines + 6;
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  od_svg_begin(f.file, width, page, p->title, style);
  od_svg_rectangle(f.file, "page", 0, 0, width, page);
  od_svg_text(f.file, "title", left, 38, "start", p->title);
  char subtitle[800];
  snprintf(subtitle, sizeof subtitle, "over %.300s%s%.300s", p->table->name[p->axes - 1], p->axes == 2 ? " and " : "",
           p->axes == 2 ? p->table->name[0] : "");
  od_svg_text(f.file, "subtitle", left, 60, "start", subtitle);
  for (int i = 0; i < p->columns; i++) draw_panel(f.file, p, p->axes + i, top + i * (height + gap));
  draw_legend(f.file, p, legend);
  od_svg_end(f.file);
  return od_atomic_commit(&f, err);
}
