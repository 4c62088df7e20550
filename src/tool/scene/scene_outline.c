// Outlines of bodies in a plane: the convex hull of circles, and the smooth union of tapered strokes.
//
// The union is the zero contour of a distance: the least distance to all strokes, blended where two strokes meet (a polynomial
// smooth minimum), sampled on a grid and traced cell by cell. Vertices that change the outline by less than a tolerance are removed.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory/scoped.h"
#include "scene/scene_parts.h"

enum { CIRCLE_POINTS = 32, GRID = 160 };

static double cross(const double o[2], const double a[2], const double b[2]) {
  return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
}

static int compare_points(const void *a, const void *b) {
  const double *p = a, *q = b;
  if (p[0] != q[0]) return p[0] < q[0] ? -1 : 1;
  return p[1] < q[1] ? -1 : p[1] > q[1];
}

od_polygon od_outline_points_hull(od_arena *arena, double (*point)[2], int count) {
  double(*hull)[2] = od_arena_take_array(arena, 2 * count + 2, sizeof *hull);
  if (!hull || count < 1) return (od_polygon){0};
  qsort(point, (size_t)count, sizeof *point, compare_points);
  int n = 0;
  for (int pass = 0; pass < 2; pass++) {
    int least = n + 2;
    for (int i = 0; i < count; i++) {
      const double *p = point[pass ? count - 1 - i : i];
      while (n >= least && cross(hull[n - 2], hull[n - 1], p) <= 0) n--;
      memcpy(hull[n++], p, sizeof *hull);
    }
    n--;  // the last point is also the first point of the other half
  }
  return (od_polygon){hull, n > 0 ? n : 1};
}

od_polygon od_outline_hull(od_arena *arena, const od_circle *circle, int count) {
  double(*sample)[2] = od_arena_take_array(arena, (long long)CIRCLE_POINTS * count + 1, sizeof *sample);
  if (!sample) return (od_polygon){0};
  for (int i = 0; i < count; i++)
    for (int k = 0; k < CIRCLE_POINTS; k++) {
      double angle = 2 * acos(-1.0) * (k + 0.5) / CIRCLE_POINTS, *p = sample[CIRCLE_POINTS * i + k];
      p[0] = circle[i].x + circle[i].r * cos(angle), p[1] = circle[i].y + circle[i].r * sin(angle);
    }
  return od_outline_points_hull(arena, sample, CIRCLE_POINTS * count);
}

// --- Union of strokes -------------------------------------------------------------------------------------------------

// Returns the distance from a tapered stroke between two circles; negative inside.
static double stroke_distance(const od_circle *a, const od_circle *b, double x, double y) {
  double dx = b->x - a->x, dy = b->y - a->y, square = dx * dx + dy * dy;
  double t = square > 0 ? ((x - a->x) * dx + (y - a->y) * dy) / square : 0;
  t = fmin(1, fmax(0, t));
  return hypot(x - a->x - t * dx, y - a->y - t * dy) - (a->r + t * (b->r - a->r));
}

static double distance_to(const od_stroke *s, double x, double y) {
  double d = stroke_distance(&s->a, &s->b, x, y);
  if (!s->is_triangle) return d;
  d = fmin(d, fmin(stroke_distance(&s->b, &s->c, x, y), stroke_distance(&s->c, &s->a, x, y)));
  const double p[2] = {x, y}, a[2] = {s->a.x, s->a.y}, b[2] = {s->b.x, s->b.y}, c[2] = {s->c.x, s->c.y};
  double ab = cross(a, b, p), bc = cross(b, c, p), ca = cross(c, a, p);
  bool inside = (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
  return inside ? fmin(d, -fmin(s->a.r, fmin(s->b.r, s->c.r))) : d;
}

// Returns the blended least distance to all strokes; negative inside.
static double union_distance(const od_stroke *stroke, int count, double blend, double x, double y) {
  double all = INFINITY;
  for (int i = 0; i < count; i++) {
    double d = distance_to(&stroke[i], x, y), part = fmax(0, blend - fabs(all - d));
    all = fmin(all, d) - (blend > 0 && isfinite(all) ? part * part / (4 * blend) : 0);
  }
  return all;
}

typedef struct grid {
  double x, y, step;
  int nx, ny;  // number of samples
  double *f;
} grid;

// Index of the edge from sample (i, j) to its right (across false) or upper neighbor (across true).
static int edge(const grid *g, int i, int j, bool upward) {
  return 2 * (j * g->nx + i) + upward;
}

// Links the crossings of one cell. A contour that enters the cell at edge e leaves the cell at edge next[e]. The inside
// is on the left of the contour.
static void link_cell(const grid *g, int i, int j, int *next) {
  const double *f = g->f + j * g->nx + i;
  bool in[4] = {f[0] < 0, f[1] < 0, f[g->nx + 1] < 0, f[g->nx] < 0};  // corners, counterclockwise
  const int side[4] = {edge(g, i, j, false), edge(g, i + 1, j, true), edge(g, i, j + 1, false), edge(g, i, j, true)};
  // The edges are visited counterclockwise. The contour enters the cell at an edge from inside to outside. It leaves
  // the cell at the nearest previous edge from outside to inside.
  for (int k = 0; k < 4; k++) {
    if (!(in[k] && !in[(k + 1) % 4])) continue;
    int back = k;
    do back = (back + 3) % 4;
    while (!(!in[back] && in[(back + 1) % 4]));
    next[side[k]] = side[back];
  }
}

// Computes the point where the contour crosses an edge, by linear interpolation.
static void crossing(const grid *g, int e, double out[2]) {
  int at = e / 2, i = at % g->nx, j = at / g->nx;
  int other = at + (e % 2 ? g->nx : 1);
  double a = g->f[at], b = g->f[other], t = a != b ? a / (a - b) : 0.5;
  out[0] = g->x + g->step * (i + (e % 2 ? 0 : t));
  out[1] = g->y + g->step * (j + (e % 2 ? t : 0));
}

static double area_of(double (*p)[2], int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    const double *a = p[i], *b = p[(i + 1) % n];
    sum += a[0] * b[1] - a[1] * b[0];
  }
  return sum / 2;
}

// Marks the vertices between `first` and `last` that differ from a straight line by more than the tolerance.
static void keep_vertices(double (*p)[2], int first, int last, double tolerance, bool *keep) {
  double most = 0, dx = p[last][0] - p[first][0], dy = p[last][1] - p[first][1], length = hypot(dx, dy);
  int worst = -1;
  for (int i = first + 1; i < last; i++) {
    double d = length > 0 ? fabs(cross(p[first], p[last], p[i])) / length
                          : hypot(p[i][0] - p[first][0], p[i][1] - p[first][1]);
    if (d > most) most = d, worst = i;
  }
  if (worst < 0 || most <= tolerance) return;
  keep[worst] = true;
  keep_vertices(p, first, worst, tolerance, keep);
  keep_vertices(p, worst, last, tolerance, keep);
}

// Removes vertices that change a closed polygon by less than the tolerance.
static od_polygon simplify(od_arena *arena, double (*p)[2], int n, double tolerance) {
  OD_SCRATCH(scratch);
  bool *keep = OD_TAKE(&scratch, bool, n + 1);
  double(*closed)[2] = od_arena_take_array(&scratch, n + 1, sizeof *closed);
  double(*out)[2] = od_arena_take_array(arena, n + 1, sizeof *out);
  if (!keep || !closed || !out || n < 3) return (od_polygon){0};
  memcpy(closed, p, (size_t)n * sizeof *p);
  memcpy(closed[n], p[0], sizeof *p);
  keep[0] = keep[n / 2] = true;
  keep_vertices(closed, 0, n / 2, tolerance, keep);
  keep_vertices(closed, n / 2, n, tolerance, keep);
  int count = 0;
  for (int i = 0; i < n; i++)
    if (keep[i]) memcpy(out[count++], closed[i], sizeof *out);
  return (od_polygon){out, count};
}

// Finds the bounds of all circles, enlarged by a margin. Without a positive finite size, only the step is set.
static grid make_grid(const od_stroke *stroke, int count, double blend) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (int i = 0; i < count; i++)
    for (int k = 0; k < (stroke[i].is_triangle ? 3 : 2); k++) {
      const od_circle *c = k == 0 ? &stroke[i].a : k == 1 ? &stroke[i].b : &stroke[i].c;
      low[0] = fmin(low[0], c->x - c->r), high[0] = fmax(high[0], c->x + c->r);
      low[1] = fmin(low[1], c->y - c->r), high[1] = fmax(high[1], c->y + c->r);
    }
  double longest = fmax(high[0] - low[0], high[1] - low[1]) + blend;
  grid g = {.step = longest / GRID};
  if (!(g.step > 0) || !isfinite(g.step)) return g;
  double margin = blend / 2 + 2 * g.step;
  g.x = low[0] - margin, g.y = low[1] - margin;
  g.nx = (int)ceil((high[0] - low[0] + 2 * margin) / g.step) + 1;
  g.ny = (int)ceil((high[1] - low[1] + 2 * margin) / g.step) + 1;
  return g;
}

od_polygon od_outline_union(od_arena *arena, const od_stroke *stroke, int count, double blend) {
  OD_SCRATCH(scratch);
  if (count < 1) return (od_polygon){0};
  grid g = make_grid(stroke, count, blend);
  if (!(g.step > 0) || !isfinite(g.step)) return (od_polygon){0};
  int edges = 2 * g.nx * g.ny;
  g.f = OD_TAKE(&scratch, double, g.nx *g.ny);
  int *next = OD_TAKE(&scratch, int, edges);
  double(*trace)[2] = od_arena_take_array(&scratch, edges, sizeof *trace);
  double(*best)[2] = od_arena_take_array(&scratch, edges, sizeof *best);
  if (!g.f || !next || !trace || !best) {
    arena->exhausted = true;
    return (od_polygon){0};
  }
  for (int j = 0; j < g.ny; j++)
    for (int i = 0; i < g.nx; i++)
      g.f[j * g.nx + i] = union_distance(stroke, count, blend, g.x + g.step * i, g.y + g.step * j);
  for (int e = 0; e < edges; e++) next[e] = -1;
  for (int j = 0; j + 1 < g.ny; j++)
    for (int i = 0; i + 1 < g.nx; i++) link_cell(&g, i, j, next);
  // The outline is the contour with the largest area; holes are filled.
  double largest = 0;
  int points = 0;
  for (int start = 0; start < edges; start++) {
    int n = 0;
    for (int e = start; e >= 0 && next[e] >= 0;) {
      crossing(&g, e, trace[n++]);
      int to = next[e];
      next[e] = -1;
      e = to;
    }
    double area = n > 2 ? fabs(area_of(trace, n)) : 0;
    if (area <= largest) continue;
    largest = area, points = n;
    memcpy(best, trace, (size_t)n * sizeof *best);
  }
  od_polygon p = simplify(arena, best, points, 0.12 * g.step);
  if (p.points > 2 && area_of(p.point, p.points) < 0)
    for (int i = 0; i < p.points / 2; i++) {
      double swap[2];
      memcpy(swap, p.point[i], sizeof swap);
      memcpy(p.point[i], p.point[p.points - 1 - i], sizeof swap);
      memcpy(p.point[p.points - 1 - i], swap, sizeof swap);
    }
  return p;
}
