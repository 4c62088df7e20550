// Draws a spatial machine: all shapes become faces, which are drawn from back to front, with simple shading.
//
// The projection is parallel. Faces that look away from the viewer are left out. The order follows from a binary space
// partition: the plane of a face divides the other faces, which are cut where they cross the plane. Faces behind the
// plane are drawn first.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/svg.h"
#include "memory/scoped.h"
#include "scene/scene_draw.h"

enum { MOST_ROUND = 48 };

// A polygon, or a line (2 points) on a polygon.
typedef struct face {
  double (*p)[3];
  int n;
  double normal[3];
  double shade;
  const char *color;  // NULL: `own`
  int own;            // 0xrrggbb
  struct face *next;
} face;

// A list of faces in the order of drawing.
typedef struct face_list {
  face *first, *last;
  int count;
} face_list;

// A color of a face: a word and a share of black, percent. EDGE: the color of the edges of this word.
enum { EDGE = -1 };
typedef struct shaded_color {
  const char *color;
  int percent;
} shaded_color;
enum { MOST_COLORS = 256 };

typedef struct mesh {
  od_draw *d;
  od_arena *arena;
  face_list list;
  const char *color;
  int own;
  const face *written;               // the last written face, whose path is open
  int at[2];                         // the current point of the open path, tenths of a pixel
  shaded_color shaded[MOST_COLORS];  // colors that have a class
  int colors;
} mesh;

// If there are more faces, the faces are sorted by the depth of their centers, which is faster and less exact.
enum { MOST_EXACT = 30000, MOST_DEPTH = 4000 };

static void append(face_list *list, face *f) {
  f->next = NULL;
  if (list->last)
    list->last->next = f;
  else
    list->first = f;
  list->last = f;
  list->count++;
}

static void add_face(mesh *m, double (*p)[3], int n, const double normal[3]) {
  if (od_dot3(normal, m->d->to_viewer) <= 1e-9) return;
  face *f = OD_TAKE(m->arena, face, 1);
  double(*copy)[3] = od_arena_take_array(m->arena, n, sizeof *copy);
  if (!copy || !f) return;
  memcpy(copy, p, (size_t)n * sizeof *p);
  *f = (face){.p = copy, .n = n, .color = m->color, .own = m->own};
  memcpy(f->normal, normal, sizeof f->normal);
  // The light comes from above, from the viewer's left.
  double light[3];
  for (int k = 0; k < 3; k++) light[k] = 0.75 * m->d->s->up[k] + 0.55 * m->d->to_viewer[k] - 0.35 * m->d->across[k];
  od_unit3(light);
  if (n > 2) f->shade = round(50 * 0.34 * (1 - fmax(0, od_dot3(normal, light)))) / 50;
  append(&m->list, f);
}

// Adds a polygon and its edges.
static void add_polygon(mesh *m, double (*p)[3], int n, const double normal[3]) {
  add_face(m, p, n, normal);
  for (int i = 0; i < n; i++) {
    double line[2][3];
    memcpy(line[0], p[i], sizeof line[0]);
    memcpy(line[1], p[(i + 1) % n], sizeof line[1]);
    add_face(m, line, 2, normal);
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
    add_face(m, q, 4, out);
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
    add_face(m, q, 4, out);
  }
}

// Adds a ball as a disc that faces the viewer.
static void add_ball(mesh *m, const double at[3], double r) {
  double p[MOST_ROUND][3];
  int n = sides_of(m, r);
  for (int i = 0; i < n; i++) {
    double t = 2 * acos(-1.0) * i / n;
    for (int k = 0; k < 3; k++)
      p[i][k] = at[k] + r * (cos(t) * m->d->across[k] + sin(t) * m->d->up[k] + m->d->to_viewer[k]);
  }
  add_polygon(m, p, n, m->d->to_viewer);
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

// Adds a spring: a rod with rings around it.
static void add_spring(mesh *m, const od_scene_line *l) {
  enum { RINGS = 14 };
  double a[3], b[3], from[3], to[3];
  od_draw_place(m->d, &l->a, a);
  od_draw_place(m->d, &l->b, b);
  double length = od_distance3(a, b), r = 0.5 * l->diameter;
  use_color(m, "dark");
  add_tube(m, a, b, 0.25 * r, 0.25 * r);
  use_color(m, "steel");
  for (int i = 1; i <= RINGS && length > 0; i++) {
    double x = length * (0.06 + 0.88 * i / (RINGS + 1));
    along(a, b, x - 0.012 * length, from);
    along(a, b, x + 0.012 * length, to);
    add_tube(m, from, to, r, r);
  }
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
  // The pin is slightly longer than the thickness of the thicker body.
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

// Returns the distance of a point from the plane of a face, toward the viewer.
static double height_above(const face *plane, const double p[3]) {
  double d[3] = {p[0] - plane->p[0][0], p[1] - plane->p[0][1], p[2] - plane->p[0][2]};
  return od_dot3(d, plane->normal);
}

// Finds the greatest distances of a face from a plane on both sides.
static void span_of(const face *f, const face *plane, double *below, double *above) {
  *below = *above = 0;
  for (int i = 0; i < f->n; i++) {
    double h = height_above(plane, f->p[i]);
    *below = fmin(*below, h), *above = fmax(*above, h);
  }
}

// Returns the part of a face on one side of a plane (sign 1: above), or NULL if an allocation fails.
static face *part_of(mesh *m, const face *f, const face *plane, double sign) {
  face *part = OD_TAKE(m->arena, face, 1);
  double(*p)[3] = od_arena_take_array(m->arena, 2 * f->n, sizeof *p);
  if (!part || !p) return NULL;
  *part = *f;
  part->p = p, part->n = 0;
  int edges = f->n > 2 ? f->n : 1;
  for (int i = 0; i < edges; i++) {
    const double *a = f->p[i], *b = f->p[(i + 1) % f->n];
    double ha = sign * height_above(plane, a), hb = sign * height_above(plane, b);
    if (ha >= 0) memcpy(p[part->n++], a, sizeof *p);
    if ((ha < 0 && hb > 0) || (ha > 0 && hb < 0)) {
      for (int k = 0; k < 3; k++) p[part->n][k] = a[k] + ha / (ha - hb) * (b[k] - a[k]);
      part->n++;
    }
    if (f->n == 2 && hb >= 0) memcpy(p[part->n++], b, sizeof *p);
  }
  return part;
}

// Chooses the plane of a face that cuts few other faces and divides the list evenly. Lines have no plane.
static const face *choose_plane(const face_list *list, double tolerance) {
  enum { TRIALS = 12 };
  const face *best = NULL;
  double least = INFINITY;
  int stride = list->count / TRIALS + 1, index = 0, sample = list->count / 60 + 1;
  for (const face *f = list->first; f; f = f->next, index++) {
    if (f->n < 3 || (best && index % stride)) continue;
    int cut = 0, front = 0, back = 0, at = 0;
    for (const face *g = list->first; g; g = g->next, at++) {
      double below, above;
      if (at % sample) continue;
      span_of(g, f, &below, &above);
      cut += below < -tolerance && above > tolerance;
      front += above > tolerance, back += below < -tolerance;
    }
    double cost = 4 * cut + abs(front - back);
    if (cost < least) least = cost, best = f;
  }
  return best;
}

// Ends the open path.
static void end_path(mesh *m) {
  if (m->written) fputs("\"/>\n", m->d->to);
  m->written = NULL;
}

// Writes a number of tenths of a pixel in few characters.
static void write_tenths(const mesh *m, int n, bool is_first) {
  int size = abs(n);
  if (n < 0)
    fputc('-', m->d->to);
  else if (!is_first)
    fputc(' ', m->d->to);
  if (size >= 10 || size == 0) fprintf(m->d->to, "%d", size / 10);
  if (size % 10) fprintf(m->d->to, ".%d", size % 10);
}

// Adds a point to the open path, relative to the current point. command: the letter before the numbers; 0: the last command continues.
static void write_point(mesh *m, char command, const int to[2]) {
  if (command) fputc(command, m->d->to);
  for (int k = 0; k < 2; k++) write_tenths(m, to[k] - (command == 'M' ? 0 : m->at[k]), command && k == 0);
  memcpy(m->at, to, sizeof m->at);
}

// Returns the share of black of a face in percent; equal colors of neighbors share a path.
static int percent_of(const face *f) {
  return 2 * (int)lround(50 * fmax(0, fmin(1, f->shade)));
}

// Returns whether a color has a class, which write_colors() defines.
static bool has_class(mesh *m, const char *color, int percent) {
  int i = 0;
  while (i < m->colors && (m->shaded[i].color != color || m->shaded[i].percent != percent)) i++;
  if (i == MOST_COLORS) return false;
  if (i == m->colors) m->shaded[m->colors++] = (shaded_color){color, percent};
  return true;
}

// Writes the color of a line. A color that is a word has a class.
static void write_line_color(mesh *m, const face *f) {
  char own[8];
  snprintf(own, sizeof own, "#%06x", (unsigned)f->own & 0xffffffu);
  if (f->color && f->color[0] != '#' && has_class(m, f->color, EDGE)) {
    fprintf(m->d->to, " class=\"%s edge %s-edge\"", f->color, f->color);
    return;
  }
  od_draw_fill(m->d, f->color ? f->color : own, 0, true);
  fputs(" style=\"fill:none\"", m->d->to);
}

// Writes the color of a face without an edge. The stroke hides the seams between faces. A color that is a word has a class for
// each shade.
static void write_color(mesh *m, const face *f) {
  FILE *to = m->d->to;
  if (!f->color || f->color[0] == '#') {
    char own[8];
    snprintf(own, sizeof own, "#%06x", (unsigned)f->own & 0xffffffu);
    unsigned fill = (unsigned)od_draw_shaded(f->color ? f->color : own, f->shade);
    fprintf(to, " fill=\"#%06x\" stroke=\"#%06x\"", fill, fill);
    return;
  }
  int percent = percent_of(f);
  if (has_class(m, f->color, percent))
    fprintf(to, " class=\"%s flat %s%d\"", f->color, f->color, percent);
  else
    od_draw_fill(m->d, f->color, f->shade, false);
}

// Defines the classes of colors. Viewers without CSS variables use these colors; all other viewers use the colors of the theme.
static void write_colors(const mesh *m) {
  if (m->colors == 0) return;
  fputs("<style>", m->d->to);
  for (int i = 0; i < m->colors; i++) {
    const shaded_color *c = &m->shaded[i];
    if (c->percent == EDGE) {
      fprintf(m->d->to, ".%s-edge{stroke:#%06x}", c->color, (unsigned)od_draw_edge_color(c->color));
      continue;
    }
    unsigned plain = (unsigned)od_draw_shaded(c->color, c->percent / 100.0);
    fprintf(m->d->to, ".%s%d{--s:%d%%;fill:#%06x;stroke:#%06x}", c->color, c->percent, c->percent, plain, plain);
  }
  fputs("</style>\n", m->d->to);
}

// Writes a face. Consecutive faces with the same attributes share one path, consecutive lines from the same point one move.
static void write_face(mesh *m, const face *f) {
  const od_draw *d = m->d;
  const face *w = m->written;
  bool is_line = f->n == 2;
  bool is_same = w && w->color == f->color && (f->color || w->own == f->own) && (w->n == 2) == is_line &&
                 percent_of(w) == percent_of(f);
  if (!is_same) {
    end_path(m);
    fputs("<path", d->to);
    if (is_line)
      write_line_color(m, f);
    else
      write_color(m, f);
    fputs(" d=\"", d->to);
    m->written = f;
  }
  int begin[2] = {0, 0};
  char command = 'l';  // command of the next point; 0: the last command continues
  for (int k = 0; k < f->n; k++) {
    double p[2];
    od_draw_project(d, f->p[k], p);
    int to[2] = {(int)lround(10 * fmax(-1e7, fmin(1e7, p[0]))), (int)lround(10 * fmax(-1e7, fmin(1e7, p[1])))};
    bool is_here = memcmp(to, m->at, sizeof to) == 0;
    if (k == 0) {
      memcpy(begin, to, sizeof begin);
      if (is_line && is_same && is_here) continue;
      write_point(m, is_same ? 'm' : 'M', to);
      command = is_same ? 0 : 'l';  // after 'm', further points are relative lines
    } else if (!is_here || is_line) {
      write_point(m, command, to);
      command = 0;
    }
  }
  if (is_line) return;
  fputc('z', d->to);
  memcpy(m->at, begin, sizeof m->at);
}

static double depth_of(const od_draw *d, const face *f) {
  double sum = 0;
  for (int i = 0; i < f->n; i++) sum += od_dot3(f->p[i], d->to_viewer) / f->n;
  return sum;
}

// Sorts a list by depth: merges sorted halves. Faces of equal depth keep their order.
static face *sort_by_depth(const od_draw *d, face *list, int count) {
  if (count < 2) return list;
  face *second = list, head = {0}, *tail = &head;
  for (int i = 1; i < count / 2; i++) second = second->next;
  face *rest = second->next;
  second->next = NULL;
  face *a = sort_by_depth(d, list, count / 2), *b = sort_by_depth(d, rest, count - count / 2);
  while (a || b) {
    face **from = !b || (a && depth_of(d, a) <= depth_of(d, b)) ? &a : &b;
    tail = tail->next = *from;
    *from = (*from)->next;
  }
  tail->next = NULL;
  return head.next;
}

// Writes a list of faces from back to front.
static void paint(mesh *m, face_list list, int depth) {
  double tolerance = 1e-7 * m->d->s->size;
  const face *plane = list.count > MOST_EXACT || depth > MOST_DEPTH ? NULL : choose_plane(&list, tolerance);
  if (!plane) {
    for (const face *f = list.first ? sort_by_depth(m->d, list.first, list.count) : NULL; f; f = f->next)
      write_face(m, f);
    return;
  }
  face_list behind = {0}, on = {0}, front = {0};
  const face root = *plane;
  for (face *f = list.first, *next; f; f = next) {
    double below, above;
    next = f->next;
    span_of(f, &root, &below, &above);
    if (below >= -tolerance && above <= tolerance) {
      append(&on, f);
    } else if (below >= -tolerance) {
      append(&front, f);
    } else if (above <= tolerance) {
      append(&behind, f);
    } else {
      face *lower = part_of(m, f, &root, -1), *upper = part_of(m, f, &root, 1);
      if (lower && lower->n > 1) append(&behind, lower);
      if (upper && upper->n > 1) append(&front, upper);
    }
  }
  paint(m, behind, depth + 1);
  for (const face *f = on.first; f; f = f->next) write_face(m, f);
  paint(m, front, depth + 1);
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
  for (int k = 0; k < 2; k++) {  // the width is at least a fifth of the machine's size
    double lack = fmax(0, 0.1 * s->size - (high[k] - low[k]) / 2);
    low[k] -= lack, high[k] += lack;
  }
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
    // Draws lines from the side a-b to the opposite side d-c.
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
  for (int i = 0; i < s->springs; i++) add_spring(&m, &s->spring[i]);
  for (int i = 0; i < s->rods; i++) add_line(&m, &s->rod[i], 0.25 * s->rod[i].diameter, "steel");
  for (int i = 0; i < s->ropes; i++) add_line(&m, &s->rope[i], 0.06 * s->rope[i].diameter, "dark");
  for (int i = 0; i < s->joints; i++) add_joint(&m, &s->joint[i]);
  if (scratch.exhausted) return false;
  write_floor(d);
  fputs("<g stroke-linejoin=\"round\" stroke-linecap=\"round\" stroke-width=\".8\">\n", d->to);
  paint(&m, m.list, 0);
  end_path(&m);
  fputs("</g>\n", d->to);
  write_colors(&m);
  return true;
}
