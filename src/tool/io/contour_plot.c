#include "io/contour_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/chart.h"
#include "io/display.h"
#include "io/svg.h"

enum { LEVELS = 12 };

static const double page_width = 960, page_height = 720, left = 96, top = 94, width = 660, height = 540, key_x = 800;

// The colors of the levels, from dark blue through green to yellow, remain distinct in grayscale.
static const char style[] = OD_SVG_TEXT_STYLE
    ".page{fill:#fff}.frame{fill:none;stroke:#c5ccd6}.grid{stroke:#e4e8ee}.zero{stroke:#b3bcc8}"
    "rect{shape-rendering:crispEdges}"
    ".l0{fill:#440154}.l1{fill:#482173}.l2{fill:#433e85}.l3{fill:#38588c}.l4{fill:#2d708e}.l5{fill:#25858e}"
    ".l6{fill:#1e9b8a}.l7{fill:#2ab07f}.l8{fill:#52c569}.l9{fill:#86d549}.l10{fill:#c2df23}.l11{fill:#fde725}";

typedef struct page {
  const od_contour *c;
  od_chart chart;
  double low, high;           // range of z, SI
  double x_factor, y_factor;  // displayed number = SI number * factor
  double half_x, half_y;      // half the size of a cell, SI
} page;

static int level_of(const page *p, double z) {
  int level = (int)((z - p->low) / (p->high - p->low) * LEVELS);
  return level < 0 ? 0 : level >= LEVELS ? LEVELS - 1 : level;
}

static od_axis axis_of(const double *value, int count, double half, const char *unit, double ticks, double *factor) {
  double low = value[0] - half, high = value[count - 1] + half;
  od_display shown = od_display_unit(unit, fmax(fabs(low), fabs(high)));
  *factor = shown.factor;
  return od_axis_make(low * shown.factor, high * shown.factor, shown.unit, ticks);
}

// Draws the cells. Neighboring cells of a row that have the same level become one rectangle.
static void draw_field(FILE *to, const page *p) {
  const od_contour *c = p->c;
  for (int row = 0; row < c->rows; row++)
    for (int from = 0, end; from < c->columns; from = end) {
      const double *z = c->z + row * c->columns;
      if (!isfinite(z[from])) {
        end = from + 1;
        continue;
      }
      int level = level_of(p, z[from]);
      for (end = from + 1; end < c->columns && isfinite(z[end]) && level_of(p, z[end]) == level;) end++;
      char name[8];
      snprintf(name, sizeof name, "l%d", level);
      double x0 = od_chart_x(&p->chart, (c->x[from] - p->half_x) * p->x_factor);
      double x1 = od_chart_x(&p->chart, (c->x[end - 1] + p->half_x) * p->x_factor);
      double y0 = od_chart_y(&p->chart, (c->y[row] + p->half_y) * p->y_factor);
      double y1 = od_chart_y(&p->chart, (c->y[row] - p->half_y) * p->y_factor);
      od_svg_rectangle(to, name, x0, y0, x1 - x0, y1 - y0);
    }
}

static void draw_key(FILE *to, const page *p) {
  od_display shown = od_display_unit(p->c->z_unit, fmax(fabs(p->low), fabs(p->high)));
  double step = height / LEVELS;
  od_svg_label(to, key_x, top - 12, p->c->z_name, shown.unit);
  for (int i = 0; i <= LEVELS; i++) {
    char text[32], name[16];
    double y = top + height - i * step;
    snprintf(text, sizeof text, "%.4g", (p->low + (p->high - p->low) * i / LEVELS) * shown.factor);
    snprintf(name, sizeof name, "l%d", i);
    if (i < LEVELS) od_svg_rectangle(to, name, key_x, y - step, 24, step);
    od_svg_text(to, "tick", key_x + 32, y + 4, "start", text);
  }
}

static void draw_page(FILE *to, const page *p, const char *title, const char *subtitle) {
  char text[160];
  od_svg_begin(to, page_width, page_height, title, style);
  od_svg_rectangle(to, "page", 0, 0, page_width, page_height);
  od_svg_text(to, "title", left, 34, "start", title);
  od_svg_text(to, "subtitle", left, 55, "start", subtitle);
  od_chart_frame(to, &p->chart, "tick");
  od_chart_inside_begin(to, &p->chart);
  draw_field(to, p);
  od_chart_inside_end(to);
  od_svg_label(to, left, top - 12, p->c->y_name, p->chart.vertical.unit);
  snprintf(text, sizeof text, "%s, %s", p->c->x_name, p->chart.horizontal.unit);
  od_svg_text(to, "name", left + width / 2, top + height + 44, "middle", text);
  draw_key(to, p);
  od_svg_end(to);
}

// Adds curves over x, for some values of y.
void od_picture_add_contour(od_picture *p, const od_contour *c) {
  enum { MOST_CURVES = 6 };
  od_panel *panel =
      od_picture_add(p, (od_panel){.title = c->z_name, .x_name = c->x_name, .x_unit = c->x_unit, .y_unit = c->z_unit});
  int curves = c->rows < MOST_CURVES ? c->rows : MOST_CURVES;
  for (int i = 0; i < curves; i++) {
    int row = curves > 1 ? i * (c->rows - 1) / (curves - 1) : 0;
    char label[300];
    snprintf(label, sizeof label, "%.150s: %s", c->y_name, od_display_quantity(c->y[row], c->y_unit).text);
    od_panel_add(
        p, panel,
        (od_panel_line){
            .label = label, .x = {c->x, c->columns, 1, 1}, .y = {c->z + (long)row * c->columns, c->columns, 1, 1}});
  }
}

od_status od_contour_write(const od_contour *c, const char *title, const char *subtitle, const char *path,
                           od_error *err) {
  if (c->columns < 2 || c->rows < 2)
    return od_fail(err, OD_BAD_ARGUMENT,
                   "nothing to plot: the numbers of columns and rows are %d and %d; expected at least 2 of each",
                   c->columns, c->rows);
  if (strcmp(path, "-") == 0) {
    OD_SCOPED(od_picture_free) od_picture picture = {.title = title, .subtitle = subtitle};
    od_picture_add_contour(&picture, c);
    return od_picture_show(&picture, path, err);
  }
  page p = {.c = c, .low = INFINITY, .high = -INFINITY};
  for (int i = 0; i < c->rows * c->columns; i++)
    if (isfinite(c->z[i])) p.low = fmin(p.low, c->z[i]), p.high = fmax(p.high, c->z[i]);
  if (!isfinite(p.low))
    return od_fail(err, OD_BAD_ARGUMENT, "nothing to plot: no value is finite; expected at least one finite value");
  if (!(p.high > p.low)) p.high = p.low + fmax(fabs(p.low), 1) * 1e-6;
  p.half_x = (c->x[1] - c->x[0]) / 2, p.half_y = (c->y[1] - c->y[0]) / 2;
  p.chart = (od_chart){.x = left, .y = top, .width = width, .height = height};
  p.chart.horizontal = axis_of(c->x, c->columns, p.half_x, c->x_unit, 10, &p.x_factor);
  p.chart.vertical = axis_of(c->y, c->rows, p.half_y, c->y_unit, 8, &p.y_factor);
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  draw_page(f.file, &p, title, subtitle);
  return od_atomic_commit(&f, err);
}
