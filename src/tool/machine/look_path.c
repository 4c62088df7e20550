#include "machine/look_path.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The reader of a path: the text, the current point, the start of the line, and the last control point of a curve.
typedef struct reader {
  od_arena *arena;
  const char *text, *at;
  od_path_points *path;
  double x, y, start_x, start_y;
  double control_x, control_y;
  char last;  // last command, as an upper-case letter
  bool is_full;
} reader;

static void add_point(reader *r, double x, double y) {
  if (r->path->points >= OD_MOST_PATH_POINTS) {
    r->is_full = true;
    return;
  }
  double(*longer)[2] = od_arena_extend(r->arena, r->path->point, r->path->points, sizeof *longer);
  if (!longer) return;
  r->path->point = longer;
  longer[r->path->points][0] = x, longer[r->path->points][1] = y;
  r->path->points++;
}

static void line_to(reader *r, double x, double y) {
  add_point(r, x, y);
  r->x = x, r->y = y;
}

// Adds a cubic Bezier curve from the current point.
static void curve_to(reader *r, double x1, double y1, double x2, double y2, double x, double y) {
  double x0 = r->x, y0 = r->y;
  double bend = fmax(hypot(x0 - 2 * x1 + x2, y0 - 2 * y1 + y2), hypot(x1 - 2 * x2 + x, y1 - 2 * y2 + y));
  double size = fmax(fmax(hypot(x1 - x0, y1 - y0), hypot(x2 - x0, y2 - y0)), hypot(x - x0, y - y0));
  // The deviation of n lines from the curve is at most 6/8 of `bend`, divided by n squared. `bend` is the largest
  // second difference of the control points.
  int n = size > 0 ? (int)ceil(sqrt(0.75 * bend / (0.002 * size))) : 1;
  n = n < 1 ? 1 : n > 48 ? 48 : n;
  for (int i = 1; i <= n; i++) {
    double t = (double)i / n, s = 1 - t;
    double a = s * s * s, b = 3 * s * s * t, c = 3 * s * t * t, d = t * t * t;
    add_point(r, a * x0 + b * x1 + c * x2 + d * x, a * y0 + b * y1 + c * y2 + d * y);
  }
  r->x = x, r->y = y, r->control_x = x2, r->control_y = y2;
}

// Adds an elliptic arc from the current point. The center follows from the end points as in the SVG standard.
static void arc_to(reader *r, double rx, double ry, double turn, bool large, bool sweep, double x, double y) {
  double c = cos(turn), s = sin(turn), dx = (r->x - x) / 2, dy = (r->y - y) / 2;
  double u = c * dx + s * dy, v = -s * dx + c * dy;
  rx = fabs(rx), ry = fabs(ry);
  if (rx == 0 || ry == 0 || (dx == 0 && dy == 0)) {
    line_to(r, x, y);
    return;
  }
  double excess = u * u / (rx * rx) + v * v / (ry * ry);
  if (excess > 1) rx *= sqrt(excess), ry *= sqrt(excess);
  double square = (rx * rx * ry * ry - rx * rx * v * v - ry * ry * u * u) / (rx * rx * v * v + ry * ry * u * u);
  double factor = (large == sweep ? -1 : 1) * sqrt(fmax(0, square));
  double cu = factor * rx * v / ry, cv = -factor * ry * u / rx;
  double cx = c * cu - s * cv + (r->x + x) / 2, cy = s * cu + c * cv + (r->y + y) / 2;
  double from = atan2((v - cv) / ry, (u - cu) / rx), to = atan2((-v - cv) / ry, (-u - cu) / rx), full = 2 * acos(-1.0);
  if (sweep && to < from) to += full;
  if (!sweep && to > from) to -= full;
  int n = (int)ceil(fabs(to - from) / (full / 40));
  for (int i = 1; i < n; i++) {
    double a = from + (to - from) * i / n, p = rx * cos(a), q = ry * sin(a);
    add_point(r, cx + c * p - s * q, cy + s * p + c * q);
  }
  line_to(r, x, y);
}

static void skip(reader *r) {
  while (*r->at == ' ' || *r->at == ',' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') r->at++;
}

// Reads one number: digits with a point and an exponent or, for a flag of an arc, a single digit. Returns false if the
// text is not such a number, or if its magnitude exceeds 1e6.
static bool read_number(reader *r, bool is_flag, double *value) {
  skip(r);
  const char *c = r->at;
  if (is_flag) {
    if (*c != '0' && *c != '1') return false;
    *value = *c - '0';
    r->at++;
    return true;
  }
  if (*c == '+' || *c == '-') c++;
  if (!isdigit((unsigned char)*c) && !(*c == '.' && isdigit((unsigned char)c[1]))) return false;
  bool is_hexadecimal = c[0] == '0' && (c[1] == 'x' || c[1] == 'X');
  char *end;
  *value = strtod(r->at, &end);
  r->at = is_hexadecimal ? c + 1 : end;
  return isfinite(*value) && fabs(*value) <= 1e6;
}

// Executes a command with its numbers. relative: whether coordinates are relative to the current point.
static void run_command(reader *r, char command, const double *q, bool relative) {
  double ox = relative ? r->x : 0, oy = relative ? r->y : 0;
  bool follows_cubic = r->last == 'C' || r->last == 'S', follows_quadratic = r->last == 'Q' || r->last == 'T';
  double x, y, cx, cy;
  switch (command) {
    case 'M':
      r->start_x = ox + q[0], r->start_y = oy + q[1];
      line_to(r, r->start_x, r->start_y);
      break;
    case 'L': line_to(r, ox + q[0], oy + q[1]); break;
    case 'H': line_to(r, ox + q[0], r->y); break;
    case 'V': line_to(r, r->x, oy + q[0]); break;
    case 'C': curve_to(r, ox + q[0], oy + q[1], ox + q[2], oy + q[3], ox + q[4], oy + q[5]); break;
    case 'S':
      cx = follows_cubic ? 2 * r->x - r->control_x : r->x, cy = follows_cubic ? 2 * r->y - r->control_y : r->y;
      curve_to(r, cx, cy, ox + q[0], oy + q[1], ox + q[2], oy + q[3]);
      break;
    case 'Q':
    case 'T':
      if (command == 'Q') {
        cx = ox + q[0], cy = oy + q[1], x = ox + q[2], y = oy + q[3];
      } else {
        cx = follows_quadratic ? 2 * r->x - r->control_x : r->x,
        cy = follows_quadratic ? 2 * r->y - r->control_y : r->y;
        x = ox + q[0], y = oy + q[1];
      }
      curve_to(r, r->x + 2 * (cx - r->x) / 3, r->y + 2 * (cy - r->y) / 3, x + 2 * (cx - x) / 3, y + 2 * (cy - y) / 3, x,
               y);
      r->control_x = cx, r->control_y = cy;
      break;
    case 'A': arc_to(r, q[0], q[1], q[2] * acos(-1.0) / 180, q[3] != 0, q[4] != 0, ox + q[5], oy + q[6]); break;
    default: break;
  }
  r->last = command;
}

bool od_path_read(od_arena *arena, const char *text, od_path_points *path, const char **problem, int *at) {
  static const char commands[] = "MLHVCSQTA";
  static const int numbers[] = {2, 2, 1, 1, 6, 4, 4, 2, 7};
  reader r = {.arena = arena, .text = text, .at = text, .path = path};
  char command = 0;
  bool relative = false, is_closed = false;
  *path = (od_path_points){0};
  *problem = NULL;
  for (skip(&r); *r.at && !*problem; skip(&r)) {
    *at = (int)(r.at - text) + 1;
    if (is_closed) {
      *problem = "expected the end of the path after 'Z'; write further outlines as further shapes";
      break;
    }
    if (isalpha((unsigned char)*r.at)) {
      command = (char)toupper((unsigned char)*r.at);
      relative = islower((unsigned char)*r.at) != 0;
      r.at++;
      if (command == 'Z') {
        is_closed = true;
        continue;
      }
      if (command == 'M' && r.path->points) *problem = "a second 'M'; write further outlines as further shapes";
    }
    const char *found = command ? strchr(commands, command) : NULL;
    if (!found) *problem = "expected one of the commands M, L, H, V, C, S, Q, T, A, Z";
    if (found && command != 'M' && !r.path->points) *problem = "expected 'M' as the first command";
    double q[7];
    for (int i = 0; !*problem && i < numbers[found - commands]; i++)
      if (!read_number(&r, command == 'A' && (i == 3 || i == 4), &q[i])) {
        *at = (int)(r.at - text) + 1;
        *problem = command == 'A' && (i == 3 || i == 4) ? "expected the flag 0 or 1" : "expected a number";
      }
    if (*problem) break;
    run_command(&r, command, q, relative);
    if (command == 'M') command = 'L';
    if (r.is_full) *problem = "the path has too many points; draw fewer curves, or divide the path into several shapes";
  }
  // A closed polygon does not repeat its first point at its end.
  int n = path->points;
  if (is_closed && n > 1 && path->point[0][0] == path->point[n - 1][0] && path->point[0][1] == path->point[n - 1][1])
    path->points--;
  return *problem == NULL;
}

od_path_points od_path_round(od_arena *arena, const od_path_points *path, double radius) {
  od_path_points out = {0};
  reader r = {.arena = arena, .path = &out};
  int n = path->points;
  if (n < 3 || !(radius > 0)) return *path;
  for (int i = 0; i < n; i++) {
    const double *p = path->point[i], *a = path->point[(i + n - 1) % n], *b = path->point[(i + 1) % n];
    double ux = a[0] - p[0], uy = a[1] - p[1], vx = b[0] - p[0], vy = b[1] - p[1], u = hypot(ux, uy), v = hypot(vx, vy);
    if (u == 0 || v == 0) continue;
    ux /= u, uy /= u, vx /= v, vy /= v;
    double half = acos(fmax(-1, fmin(1, ux * vx + uy * vy))) / 2, cut = radius / tan(half);
    double most = 0.5 * fmin(u, v), real = fmin(cut, most) * tan(half);
    if (half > 1.55 || half < 1e-6) {  // a straight line or a reversal has no arc
      add_point(&r, p[0], p[1]);
      continue;
    }
    cut = fmin(cut, most);
    // The center of the arc is on the bisector of the angle.
    double bx = ux + vx, by = uy + vy, size = hypot(bx, by), away = hypot(real, cut);
    double cx = p[0] + away * bx / size, cy = p[1] + away * by / size;
    double from = atan2(p[1] + cut * uy - cy, p[0] + cut * ux - cx),
           to = atan2(p[1] + cut * vy - cy, p[0] + cut * vx - cx);
    double turn = remainder(to - from, 2 * acos(-1.0));
    int steps = (int)ceil(fabs(turn) / 0.2);
    for (int k = 0; k <= steps; k++) {
      double t = from + (steps ? turn * k / steps : 0);
      add_point(&r, cx + real * cos(t), cy + real * sin(t));
    }
  }
  return out;
}
