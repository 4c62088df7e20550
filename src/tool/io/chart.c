#include "io/chart.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "io/svg.h"

// --- Positions ----------------------------------------------------------------------------------------------------

double od_chart_x(const od_chart *c, double value) {
  return c->x + c->width * od_axis_place(&c->horizontal, value);
}

double od_chart_y(const od_chart *c, double value) {
  return c->y + c->height * (1 - od_axis_place(&c->vertical, value));
}

// Returns the vertical position of a value. Values far outside the frame are moved to two heights of the frame outside
// the frame, so that coordinates stay short.
static double bounded_y(const od_chart *c, double value) {
  return fmin(fmax(od_chart_y(c, value), c->y - 2 * c->height), c->y + 3 * c->height);
}

// Draws the lines of the grid as one path.
static void draw_compact_grid(FILE *to, const od_chart *c) {
  fputs("<path class=\"grid\" d=\"", to);
  for (int i = 0; i < c->horizontal.ticks; i++)
    fprintf(to, "M%ld %ldv%ld", lround(od_chart_x(c, od_axis_tick(&c->horizontal, i))), lround(c->y),
            lround(c->height));
  for (int i = 0; i < c->vertical.ticks; i++)
    fprintf(to, "M%ld %ldh%ld", lround(c->x), lround(od_chart_y(c, od_axis_tick(&c->vertical, i))), lround(c->width));
  fputs("\"/>\n", to);
}

void od_chart_frame(FILE *to, const od_chart *c, const char *horizontal_class) {
  char text[OD_AXIS_TEXT];
  od_svg_rectangle(to, "frame", c->x, c->y, c->width, c->height);
  if (c->is_compact) draw_compact_grid(to, c);
  for (int i = 0; i < c->horizontal.ticks; i++) {
    double x = od_chart_x(c, od_axis_tick(&c->horizontal, i));
    if (!c->is_compact) od_svg_line(to, "grid", x, c->y, x, c->y + c->height);
    od_axis_label(&c->horizontal, i, text);
    od_svg_text(to, horizontal_class, x, c->y + c->height + 18, "middle", text);
  }
  for (int i = 0; i < c->vertical.ticks; i++) {
    double value = od_axis_tick(&c->vertical, i), y = od_chart_y(c, value);
    bool zero = !c->vertical.is_log && fabs(value) < 1e-6 * c->vertical.step;
    if (zero || !c->is_compact) od_svg_line(to, zero ? "zero" : "grid", c->x, y, c->x + c->width, y);
    od_axis_label(&c->vertical, i, text);
    od_svg_text(to, "tick", c->x - 9, y + 4, "end", text);
  }
}

// Begins an inner SVG element, which clips its contents. The view box leaves the coordinates unchanged.
void od_chart_inside_begin(FILE *to, const od_chart *c) {
  fprintf(to, "<svg x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" viewBox=\"%.0f %.0f %.0f %.0f\">\n", c->x,
          c->y, c->width, c->height, c->x, c->y, c->width, c->height);
}

void od_chart_inside_end(FILE *to) {
  fputs("</svg>\n", to);
}

// --- Paths --------------------------------------------------------------------------------------------------------

static void listen(const od_chart *c, od_drawn drawn) {
  if (c->listen) c->listen(c->listener, &drawn);
}

// A path. In a compact path, points are relative to the previous point, in whole fifths of a pixel, and only the first
// point of a line has a letter.
typedef struct path {
  FILE *to;
  bool is_compact;
  long x, y;  // last point of a compact path
} path;

static const double compact_scale = 5;

static path path_begin(FILE *to, const od_chart *c, const char *class_name, const char *name) {
  if (c->is_compact)
    fprintf(to, "<path class=\"%s\" transform=\"scale(.2)\" vector-effect=\"non-scaling-stroke\" d=\"", class_name);
  else
    od_svg_path_begin(to, class_name, name);
  return (path){.to = to, .is_compact = c->is_compact};
}

// how: 'M' begins a line at the point, 'L' continues the line.
static void path_point(path *p, char how, double x, double y) {
  if (!p->is_compact) {
    od_svg_path_point(p->to, how, x, y);
    return;
  }
  long px = lround(compact_scale * x), py = lround(compact_scale * y), dx = px - p->x, dy = py - p->y;
  fprintf(p->to, "%s%ld%s%ld", how == 'M' ? "m" : dx < 0 ? "" : " ", dx, dy < 0 ? "" : " ", dy);
  p->x = px;
  p->y = py;
}

static void path_close(path *p, double x, double y) {
  fputc('Z', p->to);
  // The first point of the next line of a compact path is relative to the first point of the closed line.
  p->x = lround(compact_scale * x);
  p->y = lround(compact_scale * y);
}

static void path_end(path *p) {
  od_svg_path_end(p->to);
}

// --- Thinning -----------------------------------------------------------------------------------------------------

// A run of rows with values in the same column of pixels: its last row, and the rows with the lowest and the highest value.
typedef struct span {
  long last, low, high;
} span;

static span same_pixel(const od_chart *c, const od_series *x, const od_series *y, long row) {
  span s = {row, row, row};
  double width = c->column > 0 ? c->column : 1, pixel = floor(od_chart_x(c, od_series_at(x, row)) / width);
  for (long i = row; i < y->count; i++) {
    double value = od_series_at(y, i);
    if (!isfinite(value) || floor(od_chart_x(c, od_series_at(x, i)) / width) != pixel) break;
    s.last = i;
    if (value < od_series_at(y, s.low)) s.low = i;
    if (value > od_series_at(y, s.high)) s.high = i;
  }
  return s;
}

// A polyline. Points are omitted if they lie, within a tolerance, on the straight line from the last written point to a later
// point. low and high are bounds of the slopes of such lines.
typedef struct pen {
  path path;
  bool down, waiting;  // whether a line has begun; whether a point has not been written yet
  double x0, y0, x1, y1, low, high;
  double begin_x, begin_y;  // first point of the line
} pen;

static void pen_aim(pen *p, double x, double y, bool is_first) {
  double tolerance = p->path.is_compact ? 0.2 : 0.12;
  double run = x - p->x0, a = (y - tolerance - p->y0) / run, b = (y + tolerance - p->y0) / run;
  double low = fmin(a, b), high = fmax(a, b);
  p->low = is_first ? low : fmax(p->low, low);
  p->high = is_first ? high : fmin(p->high, high);
  p->x1 = x;
  p->y1 = y;
  p->waiting = true;
}

static void pen_write(pen *p, char how, double x, double y) {
  path_point(&p->path, how, p->x0 = x, p->y0 = y);
  if (how == 'M') p->begin_x = x, p->begin_y = y;
  p->down = true;
}

static void pen_to(pen *p, double x, double y) {
  if (!p->down) {
    pen_write(p, 'M', x, y);
    return;
  }
  bool onward = p->waiting && (x - p->x1) * (p->x1 - p->x0) > 0;
  double slope = (y - p->y0) / (x - p->x0);
  if (onward && slope >= p->low && slope <= p->high) {
    pen_aim(p, x, y, false);
  } else {
    if (p->waiting) pen_write(p, 'L', p->x1, p->y1);
    pen_aim(p, x, y, true);
  }
}

static void pen_lift(pen *p) {
  if (p->waiting) pen_write(p, 'L', p->x1, p->y1);
  p->waiting = p->down = false;
}

// --- Series -------------------------------------------------------------------------------------------------------

// Draws only the extremes and the last point of each column of pixels.
void od_chart_line(FILE *to, const od_chart *c, od_series x, od_series y, const char *class_name, const char *name) {
  pen p = {.path = path_begin(to, c, class_name, name)};
  listen(c, (od_drawn){.kind = OD_DREW_LINE, .x = x, .y = y, .class_name = class_name, .name = name});
  for (long row = 0; row < y.count; row++) {
    if (!isfinite(od_series_at(&y, row))) {
      pen_lift(&p);
      continue;
    }
    span s = same_pixel(c, &x, &y, row);
    long rows[4] = {row, s.low < s.high ? s.low : s.high, s.low < s.high ? s.high : s.low, s.last}, drawn = row - 1;
    for (int i = 0; i < 4; i++) {
      // The first row of a column of pixels is drawn only if the line starts there, or if the column has no other row.
      if (rows[i] == drawn || (i == 0 && p.down && s.last > row)) continue;
      drawn = rows[i];
      pen_to(&p, od_chart_x(c, od_series_at(&x, drawn)), bounded_y(c, od_series_at(&y, drawn)));
    }
    row = s.last;
  }
  pen_lift(&p);
  path_end(&p.path);
}

// Pixel columns of a band: position and lower edge. The lower edge is drawn after the upper edge.
enum { MOST_COLUMNS = 1024 };
typedef struct edge {
  double x[MOST_COLUMNS], low[MOST_COLUMNS];
  int count;
} edge;

static void close_band(pen *p, edge *lower) {
  while (lower->count > 0) {
    lower->count--;
    pen_to(p, lower->x[lower->count], lower->low[lower->count]);
  }
  if (p->down) {
    pen_lift(p);
    path_close(&p->path, p->begin_x, p->begin_y);
  }
}

void od_chart_band(FILE *to, const od_chart *c, od_series x, od_series middle, od_series half, const char *class_name,
                   const char *name) {
  pen p = {.path = path_begin(to, c, class_name, name)};
  edge lower = {.count = 0};
  listen(c,
         (od_drawn){.kind = OD_DREW_BAND, .x = x, .y = middle, .half = half, .class_name = class_name, .name = name});
  for (long row = 0; row < middle.count;) {
    double column = floor(od_chart_x(c, od_series_at(&x, row))), high = -INFINITY, low = INFINITY;
    long first = row;
    for (; row < middle.count && floor(od_chart_x(c, od_series_at(&x, row))) == column; row++) {
      double m = od_series_at(&middle, row), h = od_series_at(&half, row);
      if (!isfinite(m + h)) break;
      high = fmax(high, m + h);
      low = fmin(low, m - h);
    }
    bool gap = row == first, full = lower.count == MOST_COLUMNS;
    if (gap || full) close_band(&p, &lower);
    if (gap) {
      row++;
      continue;
    }
    // The first column is drawn at its first row, the other columns at their last rows, so that the band covers all rows.
    double at = od_chart_x(c, od_series_at(&x, lower.count == 0 ? first : row - 1));
    lower.x[lower.count] = at;
    lower.low[lower.count++] = bounded_y(c, low);
    pen_to(&p, at, bounded_y(c, high));
  }
  close_band(&p, &lower);
  path_end(&p.path);
}

// Returns whether there are few dots. Few dots are drawn larger, with an additional class.
static bool are_few(const od_chart *c, const od_series *y) {
  double count = 0;
  for (long i = 0; i < y->count && count <= c->width / 3; i++) count += isfinite(od_series_at(y, i));
  return count <= c->width / 3;
}

void od_chart_dots(FILE *to, const od_chart *c, od_series x, od_series y, const char *class_name) {
  char both[64];
  snprintf(both, sizeof both, are_few(c, &y) ? "%.50s few" : "%.50s", class_name);
  path p = path_begin(to, c, both, NULL);
  listen(c, (od_drawn){.kind = OD_DREW_DOTS, .x = x, .y = y, .class_name = class_name, .name = c->label});
  for (long row = 0; row < y.count; row++) {
    if (!isfinite(od_series_at(&y, row))) continue;
    // Dots have no connecting lines, so the span continues after a gap.
    double at = od_chart_x(c, od_series_at(&x, row)), low = od_series_at(&y, row), high = low;
    for (; row + 1 < y.count && floor(od_chart_x(c, od_series_at(&x, row + 1))) == floor(at); row++) {
      double value = od_series_at(&y, row + 1);
      if (!isfinite(value)) continue;
      low = fmin(low, value);
      high = fmax(high, value);
    }
    path_point(&p, 'M', at, bounded_y(c, low));
    path_point(&p, 'L', at, bounded_y(c, high));
  }
  path_end(&p);
}

static void stroke(path *p, double x0, double y0, double x1, double y1) {
  path_point(p, 'M', x0, y0);
  path_point(p, 'L', x1, y1);
}

void od_chart_bars(FILE *to, const od_chart *c, od_series x, od_series y, od_series half, const char *class_name) {
  static const double cap = 4, radius = 3;
  char both[64];
  path p = path_begin(to, c, class_name, NULL);
  listen(c, (od_drawn){.kind = OD_DREW_BARS, .x = x, .y = y, .half = half, .class_name = class_name, .name = c->label});
  for (long i = 0; i < y.count; i++) {
    double at = od_chart_x(c, od_series_at(&x, i)), value = od_series_at(&y, i), h = od_series_at(&half, i);
    if (!isfinite(value) || !(h > 0) || !isfinite(h)) continue;
    double top = bounded_y(c, value + h), bottom = bounded_y(c, value - h);
    stroke(&p, at, top, at, bottom);
    stroke(&p, at - cap, top, at + cap, top);
    stroke(&p, at - cap, bottom, at + cap, bottom);
  }
  path_end(&p);
  snprintf(both, sizeof both, "%.50s point", class_name);
  for (long i = 0; i < y.count; i++)
    if (isfinite(od_series_at(&y, i)))
      od_svg_circle(to, both, od_chart_x(c, od_series_at(&x, i)), bounded_y(c, od_series_at(&y, i)), radius);
}

void od_chart_stems(FILE *to, const od_chart *c, od_series x, od_series y, const char *class_name) {
  path p = path_begin(to, c, class_name, NULL);
  listen(c, (od_drawn){.kind = OD_DREW_STEMS, .x = x, .y = y, .class_name = class_name});
  for (long i = 0; i < y.count; i++) {
    double at = od_chart_x(c, od_series_at(&x, i));
    if (isfinite(od_series_at(&y, i))) stroke(&p, at, bounded_y(c, 0), at, bounded_y(c, od_series_at(&y, i)));
  }
  path_end(&p);
}

void od_chart_level(FILE *to, const od_chart *c, double value, const char *class_name, const char *name) {
  if (!isfinite(value)) return;
  path p = path_begin(to, c, class_name, name);
  listen(c, (od_drawn){.kind = OD_DREW_LEVEL, .at_y = value, .class_name = class_name, .name = name});
  stroke(&p, c->x, bounded_y(c, value), c->x + c->width, bounded_y(c, value));
  path_end(&p);
}

void od_chart_instant(FILE *to, const od_chart *c, double value, const char *class_name, const char *name) {
  if (!isfinite(value)) return;
  path p = path_begin(to, c, class_name, name);
  listen(c, (od_drawn){.kind = OD_DREW_INSTANT, .at_x = value, .class_name = class_name, .name = name});
  stroke(&p, od_chart_x(c, value), c->y, od_chart_x(c, value), c->y + c->height);
  path_end(&p);
}

void od_chart_mark(FILE *to, const od_chart *c, double x, double y, od_mark_shape shape, const char *class_name,
                   const char *text) {
  static const double arm = 4.5, character = 6.2, line = 14;  // pixels; character: mean width of a character
  if (!isfinite(x) || !isfinite(y)) return;
  double px = od_chart_x(c, x), py = bounded_y(c, y);
  listen(c, (od_drawn){
                .kind = OD_DREW_MARK, .at_x = x, .at_y = y, .shape = shape, .class_name = class_name, .name = text});
  path p = path_begin(to, c, class_name, NULL);
  if (shape == OD_MARK_CROSS) {
    stroke(&p, px - arm, py - arm, px + arm, py + arm);
    stroke(&p, px - arm, py + arm, px + arm, py - arm);
  } else {
    // The ring is a polygon in a path, like the cross. Both have the same style, which does not fill shapes.
    for (int i = 0; i <= 12; i++) {
      double angle = i * acos(-1) / 6;
      path_point(&p, i ? 'L' : 'M', px + arm * cos(angle), py + arm * sin(angle));
    }
  }
  path_end(&p);
  if (!text || !text[0]) return;
  // The text is to the right of the mark and above it, unless there is no room.
  bool is_left = px + 8 + character * (double)strlen(text) > c->x + c->width;
  od_svg_text(to, "tick", is_left ? px - 8 : px + 8, py - line < c->y ? py + line + 4 : py - 6,
              is_left ? "end" : "start", text);
}
