#include "linear/response_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/chart.h"
#include "io/svg.h"

static const double width = 960, left = 88, right = 28, top = 94, height = 240, gap = 62, legend_line = 20;
enum { COLOURS = 8 };
static const char style[] =
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;fill:#3d4654}"
    ".title{font-size:21px;font-weight:600;fill:#1c2430}.subtitle{font-size:13.5px;fill:#6b7685}"
    ".name{font-size:13.5px;font-weight:600}.note{font-weight:400;fill:#6b7685}.tick{font-size:12px}"
    ".page{fill:#fff}.frame{fill:#fbfcfd;stroke:#c5ccd6}.grid{stroke:#e4e8ee}.level{stroke:#b3bcc8}"
    ".curve{fill:none;stroke:currentColor;stroke-width:1.6;stroke-linejoin:round}"
    ".c0{color:#1769d1}.c1{color:#d1490c}.c2{color:#23823b}.c3{color:#8e36ad}"
    ".c4{color:#0b7a8f}.c5{color:#c22a4b}.c6{color:#8a6d00}.c7{color:#4f46c8}";

// The range of magnitudes (which 0) or phases (1) of all curves, widened to whole steps.
typedef struct range {
  double low, high, step;
} range;

static range find_range(const od_table *t, int which) {
  range r = {INFINITY, -INFINITY, 0};
  for (long i = 0; i < t->rows; i++)
    for (int c = 1 + which; c < t->columns; c += 2) {
      double v = t->data[i * t->columns + c];
      if (isfinite(v)) r.low = fmin(r.low, v), r.high = fmax(r.high, v);
    }
  if (!(r.low <= r.high)) r.low = -1, r.high = 1;
  r.step = which ? 45 : 20;
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
    snprintf(text, sizeof text, "%.0f", v + 0.0);
    od_svg_text(to, "tick", c->x - 8, y + 4, "end", text);
  }
  for (double decade = floor(c->horizontal.low); decade <= c->horizontal.high; decade++)
    for (int k = 1; k < 10; k++) {
      double at = decade + log10(k);
      if (at < c->horizontal.low - 1e-9 || at > c->horizontal.high + 1e-9) continue;
      double x = od_chart_x(c, at);
      od_svg_line(to, k == 1 ? "level" : "grid", x, c->y, x, c->y + c->height);
      snprintf(text, sizeof text, "%g", pow(10, decade));
      if (k == 1) od_svg_text(to, "tick", x, c->y + c->height + 18, "middle", text);
    }
}

static void draw_panel(FILE *to, const od_table *t, const double *decades, int which, double y,
                       const char *const *name) {
  range r = find_range(t, which);
  od_chart c = {.x = left, .y = y, .width = width - left - right, .height = height};
  c.horizontal = (od_axis){.low = decades[0], .high = decades[t->rows - 1], .factor = 1};
  c.vertical = (od_axis){.low = r.low, .high = r.high, .factor = 1};
  if (!(c.horizontal.high > c.horizontal.low)) c.horizontal.high = c.horizontal.low + 1;
  od_svg_label(to, left, y - 10, which ? "phase" : "magnitude", which ? "deg" : "dB, of SI units");
  draw_frame(to, &c, &r);
  od_chart_inside_begin(to, &c);
  for (int k = 0; 2 * k + 1 < t->columns; k++) {
    char class_name[24];
    snprintf(class_name, sizeof class_name, "curve c%d", k % COLOURS);
    od_chart_line(to, &c, (od_series){decades, t->rows, 1, 1},
                  (od_series){t->data + 1 + 2 * k + which, t->rows, t->columns, 1}, class_name, name[k]);
  }
  od_chart_inside_end(to);
}

od_status od_linear_response_plot_write(const od_table *t, const char *const *name, const char *title,
                                        const char *subtitle, const char *path, od_error *err) {
  int curves = (t->columns - 1) / 2;
  double legend = top + 2 * height + gap + 44, page = legend + legend_line * curves + 16;
  double *decades = malloc(((size_t)t->rows + 1) * sizeof *decades);
  if (!decades) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (long i = 0; i < t->rows; i++) decades[i] = log10(t->data[i * t->columns]);
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status == OD_OK) {
    od_svg_begin(f.file, width, page, title, style);
    od_svg_rectangle(f.file, "page", 0, 0, width, page);
    od_svg_text(f.file, "title", left, 38, "start", title);
    od_svg_text(f.file, "subtitle", left, 60, "start", subtitle);
    draw_panel(f.file, t, decades, 0, top, name);
    draw_panel(f.file, t, decades, 1, top + height + gap, name);
    od_svg_text(f.file, "tick", width - right, legend - 6, "end", "frequency, Hz");
    for (int k = 0; k < curves; k++) {
      char class_name[24];
      double y = legend + legend_line * k + 8;
      snprintf(class_name, sizeof class_name, "curve c%d", k % COLOURS);
      od_svg_line(f.file, class_name, left, y - 4, left + 24, y - 4);
      od_svg_text(f.file, "tick", left + 32, y, "start", name[k]);
    }
    od_svg_end(f.file);
    status = od_atomic_commit(&f, err);
  }
  free(decades);
  return status;
}
