// Draws a machine in space: all shapes become faces, which are sorted by depth and drawn from back to front, with simple shading.
//
// The projection is parallel. Faces that look away from the viewer are left out. Long faces are divided, because a face is sorted by
// the depth of its middle.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/svg.h"
#include "memory/scoped.h"
#include "scene/scene_draw.h"

enum { MOST_ROUND = 48 };

typedef struct face {
  double (*p)[3];
  int n;
  double depth, shade;
  const char *color;  // NULL: `own`
  int own;            // 0xrrggbb
  bool has_edge;      // whether the outline of the face is drawn
  int order;
} face;

typedef struct mesh {
  od_draw *d;
  od_arena *arena;
  face *list;
  int count, room;
  const char *color;
  int own;
} mesh;

static void add_face(mesh *m, double (*p)[3], int n, const double normal[3], bool has_edge, double bias) {
  if (od_dot3(normal, m->d->to_viewer) <= 1e-9) return;
  if (m->count >= m->room) {
    int room = 2 * m->room + 256;
    face *larger = od_arena_take_array(m->arena, room, sizeof *larger);
    if (!larger) return;
    if (m->count) memcpy(larger, m->list, (size_t)m->count * sizeof *larger);
    m->list = larger, m->room = room;
  }
  double(*copy)[3] = od_arena_take_array(m->arena, n, sizeof *copy);
  if (!copy) return;
  memcpy(copy, p, (size_t)n * sizeof *p);
  face *f = &m->list[m->count];
  *f = (face){.p = copy, .n = n, .color = m->color, .own = m->own, .has_edge = has_edge, .order = m->count};
  for (int i = 0; i < n; i++) f->depth += od_dot3(p[i], m->d->to_viewer) / n;
  f->depth += bias;
  // Light from above, from the viewer's left.
  double light[3];
  for (int k = 0; k < 3; k++) light[k] = 0.75 * m->d->s->up[k] + 0.55 * m->d->to_viewer[k] - 0.35 * m->d->across[k];
  od_unit3(light);
  f->shade = 0.34 * (1 - fmax(0, od_dot3(normal, light)));
  m->count++;
}

// Clips a polygon at a plane: keeps the part where (p - origin) . way is at most `limit`, times the sign. Returns the number of points; `out`
// has room for twice the points.
static int clip(double (*p)[3], int n, const double origin[3], const double way[3], double limit, double sign,
                double (*out)[3]) {
  int count = 0;
  for (int i = 0; i < n; i++) {
    const double *a = p[i], *b = p[(i + 1) % n];
    double da[3] = {a[0] - origin[0], a[1] - origin[1], a[2] - origin[2]};
    double db[3] = {b[0] - origin[0], b[1] - origin[1], b[2] - origin[2]};
    double fa = sign * (od_dot3(da, way) - limit), fb = sign * (od_dot3(db, way) - limit);
    if (fa <= 0) memcpy(out[count++], a, sizeof *out);
    if ((fa < 0 && fb > 0) || (fa > 0 && fb < 0)) {
      for (int k = 0; k < 3; k++) out[count][k] = a[k] + fa / (fa - fb) * (b[k] - a[k]);
      count++;
    }
  }
  return count;
}

// Adds a polygon with edges. A long polygon is cut into strips across its longest direction; its edges become separate lines, slightly
// nearer to the viewer.
static void add_polygon(mesh *m, double (*p)[3], int n, const double normal[3]) {
  OD_SCRATCH(scratch);
  double step = 0.05 * m->d->s->size, longest = 0, way[3] = {0};
  if (od_dot3(normal, m->d->to_viewer) <= 1e-9) return;
  for (int i = 1; i < n; i++) {
    double d = od_distance3(p[0], p[i]);
    if (d <= longest) continue;
    longest = d;
    for (int k = 0; k < 3; k++) way[k] = p[i][k] - p[0][k];
  }
  if (longest < 1.5 * step || od_unit3(way) == 0) {
    add_face(m, p, n, normal, true, 0);
    return;
  }
  double low = 0, high = 0;
  for (int i = 0; i < n; i++) {
    double d[3] = {p[i][0] - p[0][0], p[i][1] - p[0][1], p[i][2] - p[0][2]};
    low = fmin(low, od_dot3(d, way)), high = fmax(high, od_dot3(d, way));
  }
  double(*half)[3] = od_arena_take_array(&scratch, 2 * n + 2, sizeof *half);
  double(*strip)[3] = od_arena_take_array(&scratch, 4 * n + 4, sizeof *strip);
  if (!half || !strip) return;
  int parts = (int)ceil((high - low) / step);
  for (int i = 0; i < parts; i++) {
    double from = low + (high - low) * i / parts, to = low + (high - low) * (i + 1) / parts;
    int count = clip(p, n, p[0], way, to, 1, half);
    count = count > 2 ? clip(half, count, p[0], way, from, -1, strip) : 0;
    if (count > 2) add_face(m, strip, count, normal, false, 0);
  }
  for (int i = 0; i < n; i++) {
    const double *a = p[i], *b = p[(i + 1) % n];
    int pieces = (int)fmin(60, fmax(1, ceil(od_distance3(a, b) / step)));
    for (int j = 0; j < pieces; j++) {
      double line[2][3];
      for (int e = 0; e < 2; e++)
        for (int k = 0; k < 3; k++) line[e][k] = a[k] + (b[k] - a[k]) * (j + e) / pieces;
      add_face(m, line, 2, normal, true, 0.004 * m->d->s->size);
    }
  }
}

// Adds a quadrilateral, divided along its first edge into pieces of at most `step`.
static void add_strip(mesh *m, double (*q)[3], const double normal[3], double step) {
  double length = fmax(od_distance3(q[0], q[1]), od_distance3(q[3], q[2]));
  int parts = (int)fmin(40, fmax(1, ceil(length / step)));
  for (int i = 0; i < parts; i++) {
    double p[4][3], t0 = (double)i / parts, t1 = (double)(i + 1) / parts;
    for (int k = 0; k < 3; k++) {
      p[0][k] = q[0][k] + t0 * (q[1][k] - q[0][k]), p[1][k] = q[0][k] + t1 * (q[1][k] - q[0][k]);
      p[2][k] = q[3][k] + t1 * (q[2][k] - q[3][k]), p[3][k] = q[3][k] + t0 * (q[2][k] - q[3][k]);
    }
    add_face(m, p, 4, normal, false, 0);
  }
}

// Adds a prism: a polygon in ground axes with a unit normal, half of the thickness on each side.
static void add_prism(mesh *m, double (*p)[3], int n, const double normal[3], double thickness) {
  OD_SCRATCH(scratch);
  double(*top)[3] = od_arena_take_array(&scratch, n, sizeof *top),
  (*bottom)[3] = od_arena_take_array(&scratch, n, sizeof *bottom);
  double sense = 0, area[3] = {0}, minus[3] = {-normal[0], -normal[1], -normal[2]};
  if (!top || !bottom) return;
  for (int i = 0; i < n; i++) {
    double c[3];
    od_cross3(p[i], p[(i + 1) % n], c);
    for (int k = 0; k < 3; k++) area[k] += c[k];
  }
  sense = od_dot3(area, normal) < 0 ? -1 : 1;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) {
      top[i][k] = p[i][k] + thickness / 2 * normal[k];
      bottom[i][k] = p[i][k] - thickness / 2 * normal[k];
    }
  add_polygon(m, top, n, normal);
  add_polygon(m, bottom, n, minus);
  for (int i = 0; i < n; i++) {
    int j = (i + 1) % n;
    double along[3], out[3], q[4][3];
    for (int k = 0; k < 3; k++) along[k] = sense * (p[j][k] - p[i][k]);
    od_cross3(along, normal, out);
    if (od_unit3(out) == 0) continue;
    memcpy(q[0], bottom[i], sizeof q[0]), memcpy(q[1], bottom[j], sizeof q[1]);
    memcpy(q[2], top[j], sizeof q[2]), memcpy(q[3], top[i], sizeof q[3]);
    add_strip(m, q, out, 0.08 * m->d->s->size);
  }
}

// Returns the number of sides of a round shape of a radius.
static int sides_of(const mesh *m, double radius) {
  return (int)fmax(12, fmin(MOST_ROUND, 10 + 0.5 * m->d->scale * radius));
}

// Adds a tube between two points with radii ra and rb, closed by caps.
static void add_tube(mesh *m, const double a[3], const double b[3], double ra, double rb) {
  double axis[3], u[3], v[3], cap[2][MOST_ROUND][3], minus[3];
  int n = sides_of(m, fmax(ra, rb));
  for (int k = 0; k < 3; k++) axis[k] = b[k] - a[k];
  if (od_unit3(axis) == 0) return;
  od_across3(axis, u, v);
  for (int i = 0; i < n; i++) {
    double t = 2 * acos(-1.0) * i / n;
    for (int k = 0; k < 3; k++) {
      double side = cos(t) * u[k] + sin(t) * v[k];
      cap[0][i][k] = a[k] + ra * side, cap[1][i][k] = b[k] + rb * side;
    }
  }
  for (int k = 0; k < 3; k++) minus[k] = -axis[k];
  add_polygon(m, cap[1], n, axis);
  add_polygon(m, cap[0], n, minus);
  for (int i = 0; i < n; i++) {
    int j = (i + 1) % n;
    double q[4][3], t = 2 * acos(-1.0) * (i + 0.5) / n, out[3];
    for (int k = 0; k < 3; k++) out[k] = cos(t) * u[k] + sin(t) * v[k];
    memcpy(q[0], cap[0][i], sizeof q[0]), memcpy(q[1], cap[1][i], sizeof q[1]);
    memcpy(q[2], cap[1][j], sizeof q[2]), memcpy(q[3], cap[0][j], sizeof q[3]);
    add_strip(m, q, out, 0.06 * m->d->s->size);
  }
}

// Adds a ball as a disc that faces the viewer.
static void add_ball(mesh *m, const double at[3], double r) {
  double p[MOST_ROUND][3];
  int n = sides_of(m, r);
  for (int i = 0; i < n; i++) {
    double t = 2 * acos(-1.0) * i / n;
    for (int k = 0; k < 3; k++) p[i][k] = at[k] + r * (cos(t) * m->d->across[k] + sin(t) * m->d->up[k]);
  }
  add_face(m, p, n, m->d->to_viewer, true, r);
}

// --- Parts ------------------------------------------------------------------------------------------------------------

static void use_color(mesh *m, const char *color) {
  m->color = color;
}

static void add_shape(mesh *m, const od_look_shape *shape, const double *pose) {
  OD_SCRATCH(scratch);
  double(*p)[3] = od_arena_take_array(&scratch, shape->points + 8, sizeof *p), axis[3], a[3], b[3];
  if (!p) return;
  use_color(m, shape->color);
  for (int i = 0; i < shape->points; i++) od_pose_apply(pose, shape->point[i], false, p[i]);
  od_pose_apply(pose, shape->axis, true, axis);
  switch (shape->kind) {
    case OD_LOOK_OUTLINE: add_prism(m, p, shape->points, axis, shape->thickness); break;
    case OD_LOOK_LINE: break;
    case OD_LOOK_CAPSULE:
      add_tube(m, p[0], p[1], shape->width / 2, shape->end_width / 2);
      add_ball(m, p[0], shape->width / 2);
      add_ball(m, p[1], shape->end_width / 2);
      break;
    case OD_LOOK_DISC:
      for (int k = 0; k < 3; k++) {
        a[k] = p[0][k] - shape->thickness / 2 * axis[k];
        b[k] = p[0][k] + shape->thickness / 2 * axis[k];
      }
      add_tube(m, a, b, shape->radius, shape->radius);
      break;
    case OD_LOOK_BOX: {
      double corner[4][3], normal[3], own[3];
      for (int i = 0; i < 4; i++) {
        memcpy(own, shape->point[0], sizeof own);
        own[0] += shape->size[0] * (i == 1 || i == 2 ? 0.5 : -0.5);
        own[1] += shape->size[1] * (i >= 2 ? 0.5 : -0.5);
        od_pose_apply(pose, own, false, corner[i]);
      }
      od_pose_apply(pose, (const double[3]){0, 0, 1}, true, normal);
      add_prism(m, corner, 4, normal, shape->size[2]);
      break;
    }
  }
}

// Computes the point at a distance from a along the line to b.
static void along(const double a[3], const double b[3], double x, double out[3]) {
  double length = od_distance3(a, b);
  for (int k = 0; k < 3; k++) out[k] = a[k] + (length > 0 ? x / length : 0) * (b[k] - a[k]);
}

static void add_cylinder(mesh *m, const od_scene_cylinder *c) {
  double a[3], b[3], p[3], q[3];
  od_draw_place(m->d, &c->a, a);
  od_draw_place(m->d, &c->b, b);
  od_cylinder_parts parts = od_draw_cylinder_parts(c, od_distance3(a, b));
  double r = c->diameter / 2, rod = c->rod / 2;
  use_color(m, "steel");
  along(a, b, parts.end, p);
  for (int i = c->stages; i >= 1; i--) {
    double t = (double)i / c->stages;
    along(a, b, parts.end + (parts.length - parts.end) * t, q);
    add_tube(m, p, q, i == c->stages ? rod : rod + (r - rod) * (1 - t),
             i == c->stages ? rod : rod + (r - rod) * (1 - t));
  }
  add_ball(m, b, 1.5 * rod);
  along(a, b, parts.barrel, q);
  add_tube(m, a, q, 0.5 * r, 0.5 * r);
  add_ball(m, a, 0.75 * r);
  m->color = NULL;
  for (int i = 0; i < 2; i++) {
    m->own = c->node[i] >= 0 ? od_draw_pressure_color(od_draw_pressure(m->d, c->pressure[i])) : 0xd9dee4;
    along(a, b, i ? parts.piston + parts.thickness : parts.barrel, p);
    along(a, b, i ? parts.end : parts.piston, q);
    if (od_distance3(p, q) > 1e-9) add_tube(m, p, q, r, r);
  }
  use_color(m, "dark");
  along(a, b, parts.piston, p);
  along(a, b, parts.piston + parts.thickness, q);
  add_tube(m, p, q, 1.02 * r, 1.02 * r);
  along(a, b, parts.end, p);
  along(a, b, parts.end + 0.2 * r, q);
  add_tube(m, p, q, 1.08 * r, 1.08 * r);
}

static void add_line(mesh *m, const od_scene_line *l, double radius, const char *color) {
  double a[3], b[3];
  od_draw_place(m->d, &l->a, a);
  od_draw_place(m->d, &l->b, b);
  use_color(m, color);
  add_tube(m, a, b, radius, radius);
}

static void add_joint(mesh *m, const od_scene_joint *j) {
  double at[3], a[3], b[3], axis[3];
  if (!j->is_pin) return;
  od_draw_place(m->d, &j->a, at);
  use_color(m, "dark");
  if (strcmp(j->type, "revolute") != 0 && strcmp(j->type, "screw") != 0) {
    add_ball(m, at, 1.5 * j->radius);
    return;
  }
  od_pose_apply(od_scene_pose_at(m->d->s, j->a.body, m->d->value), j->axis, true, axis);
  // The pin ends just outside the thicker of its two bodies.
  double half = 1.6 * j->radius;
  for (int k = 0; k < 2; k++) {
    const od_scene_body *body = &m->d->s->body[k ? j->b.body : j->a.body];
    for (int i = 0; i < body->shapes; i++) {
      const od_look_shape *shape = &body->shape[i];
      if (shape->kind == OD_LOOK_OUTLINE && shape->thickness < 8 * body->radius &&
          shape->thickness < 0.06 * m->d->s->size)
        half = fmax(half, shape->thickness / 2 + 0.25 * j->radius);
    }
  }
  for (int k = 0; k < 3; k++) a[k] = at[k] - half * axis[k], b[k] = at[k] + half * axis[k];
  add_tube(m, a, b, j->radius, j->radius);
}

// --- Faces ------------------------------------------------------------------------------------------------------------

static int compare_faces(const void *x, const void *y) {
  const face *a = x, *b = y;
  if (a->depth != b->depth) return a->depth < b->depth ? -1 : 1;
  return a->order - b->order;
}

double od_draw_floor(const od_scene *s, double corner[4][3]) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, at[3];
  double step = pow(10, round(log10(0.1 * s->size)));
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 3; k++) at[k] = i >> k & 1 ? s->high[k] : s->low[k];
    double x = od_dot3(at, s->right), z = od_dot3(at, s->normal);
    low[0] = fmin(low[0], x), high[0] = fmax(high[0], x), low[1] = fmin(low[1], z), high[1] = fmax(high[1], z);
  }
  if (step > 0.15 * s->size) step /= 2;
  for (int k = 0; k < 2; k++) low[k] = step * floor(low[k] / step), high[k] = step * ceil(high[k] / step);
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++)
      corner[i][k] = (i == 1 || i == 2 ? high[0] : low[0]) * s->right[k] + (i >= 2 ? high[1] : low[1]) * s->normal[k] +
                     s->level * s->up[k];
  return step;
}

// Writes the ground as a plate with a grid, below all faces.
static void write_floor(od_draw *d) {
  const od_scene *s = d->s;
  double corner[4][3], p[2][2];
  if (!s->has_level) return;
  double step = od_draw_floor(s, corner);
  fprintf(d->to, "<path class=\"soil\" fill=\"#%06x\" d=\"", (unsigned)od_draw_color(s->ground_color));
  for (int i = 0; i < 4; i++) {
    od_draw_project(d, corner[i], p[0]);
    fprintf(d->to, "%c%.1f %.1f", i ? 'L' : 'M', p[0][0], p[0][1]);
  }
  fputs(
      "Z\"/>\n<path class=\"soilline\" fill=\"none\" stroke=\"#b7a88c\" stroke-opacity=\".55\" stroke-width=\".7\" d=\"",
      d->to);
  for (int way = 0; way < 2; way++) {
    // Lines from the side a-b to the opposite side d-c.
    const double *a = corner[0], *b = corner[way ? 3 : 1], *c = corner[2], *e = corner[way ? 1 : 3];
    int count = (int)round(od_distance3(a, b) / step);
    for (int i = 0; i <= count && count < 500; i++) {
      for (int side = 0; side < 2; side++) {
        const double *from = side ? e : a, *to = side ? c : b;
        double at[3];
        for (int k = 0; k < 3; k++) at[k] = from[k] + (to[k] - from[k]) * i / count;
        od_draw_project(d, at, p[side]);
      }
      fprintf(d->to, "M%.1f %.1fL%.1f %.1f", p[0][0], p[0][1], p[1][0], p[1][1]);
    }
  }
  fputs("\"/>\n", d->to);
}

bool od_draw_space(od_draw *d) {
  OD_SCRATCH(scratch);
  const od_scene *s = d->s;
  mesh m = {.d = d, .arena = &scratch};
  for (int i = 0; i < s->bodies; i++)
    for (int k = 0; k < s->body[i].shapes; k++) add_shape(&m, &s->body[i].shape[k], od_scene_pose_at(s, i, d->value));
  for (int i = 0; i < s->cylinders; i++) add_cylinder(&m, &s->cylinder[i]);
  for (int i = 0; i < s->springs; i++) add_line(&m, &s->spring[i], 0.2 * s->spring[i].diameter, "steel");
  for (int i = 0; i < s->rods; i++) add_line(&m, &s->rod[i], 0.25 * s->rod[i].diameter, "steel");
  for (int i = 0; i < s->ropes; i++) add_line(&m, &s->rope[i], 0.06 * s->rope[i].diameter, "dark");
  for (int i = 0; i < s->joints; i++) add_joint(&m, &s->joint[i]);
  if (scratch.exhausted) return false;
  if (m.count) qsort(m.list, (size_t)m.count, sizeof *m.list, compare_faces);
  write_floor(d);
  fputs("<g stroke-linejoin=\"round\">\n", d->to);
  for (int i = 0; i < m.count; i++) {
    const face *f = &m.list[i];
    char own[8];
    snprintf(own, sizeof own, "#%06x", (unsigned)f->own & 0xffffffu);
    fputs("<path", d->to);
    od_draw_fill(d, f->color ? f->color : own, f->shade, f->has_edge);
    fputs(f->has_edge ? " stroke-width=\".8\" d=\"" : " stroke-width=\".6\" d=\"", d->to);
    for (int k = 0; k < f->n; k++) {
      double p[2];
      od_draw_project(d, f->p[k], p);
      fprintf(d->to, "%c%.1f %.1f", k ? 'L' : 'M', p[0], p[1]);
    }
    fputs(f->n > 2 ? "Z\"/>\n" : "\"/>\n", d->to);
  }
  fputs("</g>\n", d->to);
  return true;
}
