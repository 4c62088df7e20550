#include "linear/response_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/chart.h"
#include "io/number.h"
#include "io/picture.h"
#include "io/svg.h"
#include "memory/scoped.h"

static const double width = 960, left = 88, right = 28, top = 94, height = 240, gap = 62, legend_line = 20;
static const char style[] = OD_SVG_TEXT_STYLE
    ".page{fill:#fff}.frame{fill:#fbfcfd;stroke:#c5ccd6}.grid{stroke:#e4e8ee}.level{stroke:#b3bcc8}"
    ".bar{stroke:currentColor;opacity:0.45}.dot{fill:currentColor}" OD_SVG_CURVE_STYLE;

// The table columns of the curves of a group: magnitudes (which 0) or phases (which 1).
typedef struct panel {
  const od_bode_plot *plot;
  const double *decades;  // logarithms of the frequencies
  int first, curves, which;
} panel;

static od_series series_of(const panel *p, int curve) {
  const od_table *t = p->plot->table;
  return (od_series){t->data + 1 + 2 * (p->first + curve) + p->which, t->rows, t->columns, 1};
}

// The range of all curves, widened to whole steps.
typedef struct range {
  double low, high, step;
} range;

static range find_range(const panel *p) {
  range r = {INFINITY, -INFINITY, 0};
  for (int k = 0; k < p->curves; k++) {
    od_series s = series_of(p, k);
    for (long i = 0; i < s.count; i++)
      if (isfinite(od_series_at(&s, i)))
        r.low = fmin(r.low, od_series_at(&s, i)), r.high = fmax(r.high, od_series_at(&s, i));
  }
  if (!(r.low <= r.high)) r.low = -1, r.high = 1;
  r.step = p->which ? 45 : r.high - r.low > 12 ? 20 : od_number_125((r.high - r.low) / 4 + 0.1);
  while ((r.high - r.low) / r.step > 8) r.step *= 2;
  r.low = r.step * floor(r.low / r.step - 0.05), r.high = r.step * ceil(r.high / r.step + 0.05);
  return r;
}

static void draw_frame(FILE *to, const od_chart *c, const range *r) {
  char text[40];
  od_svg_rectangle(to, "frame", c->x, c->y, c->width, c->height);
  for (double v = r->low; v <= r->high + r->step / 2; v += r->step) {
    double y = od_chart_y(c, v);
    od_svg_line(to, fabs(v) < r->step / 2 ? "level" : "grid", c->x, y, c->x + c->width, y);
    snprintf(text, sizeof text, "%.4g", fabs(v) < r->step / 2 ? 0 : v);
    od_svg_text(to, "tick", c->x - 8, y + 4, "end", text);
  }
  for (double decade = floor(c->horizontal.low); decade <= c->horizontal.high; decade++)
    for (int k = 1; k < 10; k++) {
      double at = decade + log10(k);
      if (at < c->horizontal.low - 1e-9 || at > c->horizontal.high + 1e-9) continue;
      double x = od_chart_x(c, at);
      od_svg_line(to, k == 1 ? "level" : "grid", x, c->y, x, c->y + c->height);
      bool has_number = k == 1 || ((k == 2 || k == 5) && c->horizontal.high - c->horizontal.low < 2.5);
      snprintf(text, sizeof text, "%g", k * pow(10, decade));
      if (has_number) od_svg_text(to, "tick", x, c->y + c->height + 18, "middle", text);
    }
}

// Draws points and their intervals: 20 log10(1 +- spread) for magnitudes, +- spread as an angle for phases.
static void draw_points(FILE *to, const od_chart *c, const panel *p, int curve, const double *spread) {
  od_series s = series_of(p, curve);
  for (long i = 0; i < s.count; i++) {
    double x = od_chart_x(c, p->decades[i]), value = od_series_at(&s, i), half = spread[i];
    if (!isfinite(value)) continue;
    double low = p->which ? -fmin(half, 3) * 180 / acos(-1) : 20 * log10(fmax(1 - half, 1e-3)),
           high = p->which ? -low : 20 * log10(1 + half);
    if (isfinite(half)) od_svg_line(to, "bar", x, od_chart_y(c, value + low), x, od_chart_y(c, value + high));
    od_svg_circle(to, "dot", x, od_chart_y(c, value), s.count > 300 ? 1.2 : 2);
  }
}

static void draw_panel(FILE *to, const panel *p, double y, const char *note) {
  const od_bode_plot *plot = p->plot;
  long rows = plot->table->rows;
  range r = find_range(p);
  od_chart c = {.x = left, .y = y, .width = width - left - right, .height = height};
  c.horizontal = (od_axis){.low = p->decades[0], .high = p->decades[rows - 1], .factor = 1};
  c.vertical = (od_axis){.low = r.low, .high = r.high, .factor = 1};
  if (!(c.horizontal.high > c.horizontal.low)) c.horizontal.high = c.horizontal.low + 1;
  od_svg_label(to, left, y - 10, p->which ? "phase" : "magnitude", p->which ? "deg" : note);
  draw_frame(to, &c, &r);
  od_chart_inside_begin(to, &c);
  for (int k = 0; k < p->curves; k++) {
    const double *spread = plot->spread ? plot->spread[p->first + k] : NULL;
    char class_name[24];
    snprintf(class_name, sizeof class_name, "curve c%d", k % OD_SVG_COLORS);
    fprintf(to, "<g class=\"%s\">\n", class_name + 6);
    if (spread)
      draw_points(to, &c, p, k, spread);
    else
      od_chart_line(to, &c, (od_series){p->decades, rows, 1, 1}, series_of(p, k), "curve", plot->name[p->first + k]);
    fprintf(to, "</g>\n");
  }
  od_chart_inside_end(to);
}

static double group_height(int curves) {
  return 2 * (height + gap) + legend_line * curves;
}

static void draw_group(FILE *to, const od_bode_plot *plot, const double *decades, int group, int curves) {
  double y = top + group * group_height(curves), legend = y + 2 * height + gap + 44;
  panel p = {plot, decades, group * curves, curves, 0};
  draw_panel(to, &p, y, plot->note[group]);
  p.which = 1;
  draw_panel(to, &p, y + height + gap, NULL);
  od_svg_text(to, "tick", width - right, legend - 6, "end", "frequency, Hz");
  for (int k = 0; k < curves; k++) {
    char class_name[24];
    double at = legend + legend_line * k + 8;
    snprintf(class_name, sizeof class_name, "curve c%d", k % OD_SVG_COLORS);
    od_svg_line(to, class_name, left, at - 4, left + 24, at - 4);
    od_svg_text(to, "tick", left + 32, at, "start", plot->name[p.first + k]);
  }
}

// Adds the panels of a group of paths.
static void add_group(od_picture *p, const od_bode_plot *plot, int group, int curves) {
  const od_table *t = plot->table;
  for (int which = 0; which < 2; which++) {
    od_panel *added = od_picture_add(p, (od_panel){.title = which ? "phase" : "magnitude",
                                                   .note = which ? NULL : plot->note[group],
                                                   .x_name = "frequency",
                                                   .x_unit = "Hz",
                                                   .y_unit = which ? "deg" : "dB",
                                                   .x_log = true});
    for (int k = group * curves; k < (group + 1) * curves; k++)
      od_panel_add(p, added,
                   (od_panel_line){.label = plot->name[k],
                                   .as = plot->spread && plot->spread[k] ? OD_AS_POINTS : OD_AS_LINE,
                                   .x = {t->data, t->rows, t->columns, 1},
                                   .y = {t->data + 1 + 2 * k + which, t->rows, t->columns, 1}});
  }
}

od_status od_bode_plot_write(const od_bode_plot *plot, const char *path, od_error *err) {
  const od_table *t = plot->table;
  int curves = (t->columns - 1) / 2 / plot->groups;
  double page = top + plot->groups * group_height(curves);
  OD_SCRATCH(scratch);
  if (strcmp(path, "-") == 0) {
    OD_SCOPED(od_picture_free) od_picture picture = {.title = plot->title, .subtitle = plot->subtitle};
    for (int group = 0; group < plot->groups; group++) add_group(&picture, plot, group, curves);
    return od_picture_show(&picture, path, err);
  }
  double *decades = OD_TAKE(&scratch, double, t->rows);
  if (!decades) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (long i = 0; i < t->rows; i++) decades[i] = log10(t->data[i * t->columns]);
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  od_svg_begin(f.file, width, page, plot->title, style);
  od_svg_rectangle(f.file, "page", 0, 0, width, page);
  od_svg_text(f.file, "title", left, 38, "start", plot->title);
  od_svg_text(f.file, "subtitle", left, 60, "start", plot->subtitle);
  for (int group = 0; group < plot->groups; group++) draw_group(f.file, plot, decades, group, curves);
  od_svg_end(f.file);
  return od_atomic_commit(&f, err);
}
