// Default shapes of bodies, by general rules from joints, points, mass and inertia:
//
//   box                          the box of the file
//   a body that only slides      a block, or a bar if its mass is spread along the sliding axis (telescopes)
//   a body with one pin          a disc with the body's inertia; a bar with a weight if its center of mass is away from the pin
//   two points                   a link: a capsule
//   several points, elongated    a boom: a tapered spine between the two farthest points that bends toward the points where
//                                cylinders and springs act, with a lug for each point beside the spine
//   several points               a plate: the hull of circles around the points
//
// Half-widths are shares of the length of the body, limited by the size of the machine.
#include <math.h>
#include <string.h>

#include "machine/machine_parts.h"
#include "memory/scoped.h"
#include "model/joint_types.h"
#include "scene/scene_parts.h"

// A place of the body where something acts, in the frame of the body and in the plane of its outline.
typedef struct anchor {
  double at[3], x, y;
  int use;
} anchor;

typedef struct sketch {
  od_scene *s;
  od_scene_body *body;
  anchor *list;
  int count;
  double mass, center[3], inertia[6];
  double slide[3];  // sliding axis in the frame of the body
  bool slides, slides_on_ground;
  double origin[3], u[3], v[3], normal[3];  // plane of the outline
} sketch;

enum { MOST_ANCHORS = 200 };

od_look_shape *od_scene_add_shape(od_scene *s, od_scene_body *body) {
  od_look_shape *longer = od_arena_extend(s->arena, body->shape, body->shapes, sizeof *longer);
  if (!longer) return NULL;
  body->shape = longer;
  return &body->shape[body->shapes++];
}

void od_scene_add_outline(od_scene *s, od_scene_body *body, const od_polygon *p, const double origin[3],
                          const double u[3], const double v[3], double thickness, const char *color) {
  double(*point)[3] = od_arena_take_array(s->arena, p->points, sizeof *point);
  od_look_shape *shape = p->points > 2 && point ? od_scene_add_shape(s, body) : NULL;
  if (!shape) return;
  for (int i = 0; i < p->points; i++)
    for (int k = 0; k < 3; k++) point[i][k] = origin[k] + p->point[i][0] * u[k] + p->point[i][1] * v[k];
  *shape = (od_look_shape){
      .kind = OD_LOOK_OUTLINE, .color = color, .point = point, .points = p->points, .thickness = thickness};
  od_cross3(u, v, shape->axis);
}

static void add_capsule(sketch *k, const double a[3], const double b[3], double ra, double rb, const char *color) {
  double(*point)[3] = od_arena_take_array(k->s->arena, 2, sizeof *point);
  od_look_shape *shape = point ? od_scene_add_shape(k->s, k->body) : NULL;
  if (!shape) return;
  memcpy(point[0], a, sizeof point[0]);
  memcpy(point[1], b, sizeof point[1]);
  *shape = (od_look_shape){
      .kind = OD_LOOK_CAPSULE, .color = color, .point = point, .points = 2, .width = 2 * ra, .end_width = 2 * rb};
}

static void add_disc(sketch *k, const double at[3], const double axis[3], double radius, double thickness,
                     const char *color) {
  double(*point)[3] = od_arena_take_array(k->s->arena, 1, sizeof *point);
  od_look_shape *shape = point ? od_scene_add_shape(k->s, k->body) : NULL;
  if (!shape) return;
  memcpy(point[0], at, sizeof point[0]);
  *shape = (od_look_shape){
      .kind = OD_LOOK_DISC, .color = color, .point = point, .points = 1, .radius = radius, .thickness = thickness};
  memcpy(shape->axis, axis, sizeof shape->axis);
}

// --- Anchors ----------------------------------------------------------------------------------------------------------

static void add_anchor(sketch *k, const double at[3], int use) {
  for (int i = 0; i < k->count; i++)
    if (od_distance3(k->list[i].at, at) < 1e-6 * k->s->size) {
      k->list[i].use |= use;
      return;
    }
  if (k->count >= MOST_ANCHORS) return;
  k->list[k->count] = (anchor){.use = use};
  memcpy(k->list[k->count++].at, at, sizeof k->list[0].at);
}

static bool is_predefined(const char *name) {
  static const char *const names[] = {"origin", "centre", "start", "middle", "end"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

static void collect(sketch *k) {
  const od_model *m = k->s->m;
  int body = k->body->index;
  const od_body *b = &m->body[body];
  double at[3];
  for (int i = 0; i < m->points; i++) {
    if (m->point[i].body != body || !k->s->use[i]) continue;
    od_point_place(m, i, at);
    add_anchor(k, at, k->s->use[i]);
  }
  if (b->shape == OD_SHAPE_BEAM || b->shape == OD_SHAPE_CYLINDER) {
    const double start[3] = {0}, end[3] = {m->theta[b->number + 1]};
    add_anchor(k, start, 0), add_anchor(k, end, 0);
  }
  // If joints and elements are at one place only, other points and the center of mass determine the extent of the body.
  if (k->count <= 1) {
    for (int i = 0; i < m->points; i++) {
      if (m->point[i].body != body || is_predefined(od_model_text(m, m->point[i].name))) continue;
      od_point_place(m, i, at);
      add_anchor(k, at, OD_USE_LOAD);
    }
  }
  for (int i = 0; i < m->joints; i++) {
    const od_joint_spec *spec = &m->joint[i].spec;
    int a = m->point[spec->point_a].body, c = m->point[spec->point_b].body;
    if (spec->type != OD_PRISMATIC || (a != body && c != body) || spec->axis_a < 0) continue;
    // If this body carries the body that slides, this body does not count as sliding.
    if (a == body && c != OD_GROUND && m->joint[i].link >= 0 && m->link[m->joint[i].link].body == c) continue;
    od_unit_vector(m, a == body || spec->axis_b < 0 ? spec->axis_a : spec->axis_b, k->slide);
    k->slides = true;
    k->slides_on_ground = a == OD_GROUND || c == OD_GROUND;
  }
}

// Finds the plane of the outline: the plane of a planar machine; else a plane perpendicular to a pin of the body that contains all
// anchors; else the plane of the anchors. Returns false if no plane contains all anchors.
static bool find_plane(sketch *k) {
  const od_scene *s = k->s;
  const od_model *m = s->m;
  memcpy(k->origin, k->list[0].at, sizeof k->origin);
  if (s->is_planar) {
    double level = od_dot3(k->list[0].at, s->normal);
    memcpy(k->u, s->right, sizeof k->u), memcpy(k->v, s->up, sizeof k->v),
        memcpy(k->normal, s->normal, sizeof k->normal);
    for (int i = 0; i < 3; i++) k->origin[i] = level * s->normal[i];
    return true;
  }
  double longest = 0;
  for (int i = 1; i < k->count; i++) longest = fmax(longest, od_distance3(k->list[0].at, k->list[i].at));
  for (int i = -1; i < m->joints; i++) {
    double n[3] = {0};
    if (i < 0) {  // first candidate: the plane of the first three anchors
      double a[3] = {0}, c[3];
      for (int p = 1; p < k->count && od_dot3(n, n) < 1e-6 * longest * longest * longest * longest; p++) {
        for (int d = 0; d < 3; d++) c[d] = k->list[p].at[d] - k->list[0].at[d];
        if (p == 1) memcpy(a, c, sizeof a);
        od_cross3(a, c, n);
      }
      if (od_unit3(n) < 1e-3 * longest * longest) continue;
    } else {
      const od_joint_spec *spec = &m->joint[i].spec;
      int a = m->point[spec->point_a].body, c = m->point[spec->point_b].body;
      if (spec->type != OD_REVOLUTE || (a != k->body->index && c != k->body->index) || spec->axis_a < 0) continue;
      od_unit_vector(m, a == k->body->index || spec->axis_b < 0 ? spec->axis_a : spec->axis_b, n);
    }
    bool fits = true;
    for (int p = 1; p < k->count; p++) {
      double d[3] = {k->list[p].at[0] - k->list[0].at[0], k->list[p].at[1] - k->list[0].at[1],
                     k->list[p].at[2] - k->list[0].at[2]};
      fits = fits && fabs(od_dot3(d, n)) <= 0.02 * longest;
    }
    if (!fits) continue;
    memcpy(k->normal, n, sizeof n);
    od_across3(n, k->u, k->v);
    return true;
  }
  return false;
}

static void to_plane(sketch *k) {
  for (int i = 0; i < k->count; i++) {
    double d[3];
    for (int c = 0; c < 3; c++) d[c] = k->list[i].at[c] - k->origin[c];
    k->list[i].x = od_dot3(d, k->u), k->list[i].y = od_dot3(d, k->v);
  }
}

// --- Blocks, discs, pendulums -----------------------------------------------------------------------------------------

// Returns the edge of a cube with the mass of a body, within proportions that can be drawn, m.
static double block_edge(const sketch *k) {
  return fmax(0.06 * k->s->size, fmin(0.15 * k->s->size, cbrt(k->mass / 3000)));
}

// Adds a rounded rectangle about a point: half-length a along the axis, half-width b across the axis.
static void add_block(sketch *k, const double at[3], const double axis[3], double a, double b, double thickness,
                      const char *color) {
  double u[3], v[3], r = 0.18 * fmin(a, b);
  memcpy(u, axis, sizeof u);
  if (k->s->is_planar)
    od_cross3(k->s->normal, u, v);
  else
    od_cross3(fabs(od_dot3(u, k->s->up)) < 0.9 ? k->s->normal : k->s->right, u, v);
  od_unit3(v);
  const od_circle corner[4] = {{a - r, b - r, r}, {r - a, b - r, r}, {r - a, r - b, r}, {a - r, r - b, r}};
  od_polygon p = od_outline_hull(k->s->arena, corner, 4);
  od_scene_add_outline(k->s, k->body, &p, at, u, v, thickness, color);
}

static bool is_one_place(const sketch *k) {
  for (int i = 1; i < k->count; i++)
    if (od_distance3(k->list[0].at, k->list[i].at) > 0.03 * k->s->size) return false;
  return true;
}

// Adds the shape of a body that slides: a block about its points, or a bar along the sliding axis.
static void draw_slider(sketch *k) {
  double low = INFINITY, high = -INFINITY, middle[3] = {0}, edge = block_edge(k);
  for (int i = 0; i < k->count; i++) {
    double along = od_dot3(k->list[i].at, k->slide);
    low = fmin(low, along), high = fmax(high, along);
    for (int c = 0; c < 3; c++) middle[c] += k->list[i].at[c] / k->count;
  }
  double center = od_dot3(k->center, k->slide), half = fmax(fabs(high - center), fabs(center - low));
  k->body->radius = 0.4 * edge;
  if (half < 1.2 * edge) {
    double spread = od_dot3(middle, k->slide);
    for (int c = 0; c < 3; c++) middle[c] += (fmax(low, fmin(high, center)) - spread) * k->slide[c];
    add_block(k, middle, k->slide, 0.75 * edge, 0.55 * edge, edge, "body");
    return;
  }
  double r = fmax(0.008 * k->s->size, fmin(0.016 * k->s->size, 0.035 * half));
  double a[3], b[3], across[3];
  k->body->radius = r;
  // The axis of the bar passes through the point of the sliding joint. The center of mass is at the middle of the bar.
  for (int i = 0; i < k->count; i++)
    if (k->list[i].use & OD_USE_SLIDE)
      for (int c = 0; c < 3; c++) middle[c] = k->list[i].at[c];
  double along = od_dot3(middle, k->slide);
  for (int c = 0; c < 3; c++) a[c] = middle[c] + (center - half - along) * k->slide[c];
  for (int c = 0; c < 3; c++) b[c] = middle[c] + (center + half - along) * k->slide[c];
  for (int c = 0; c < 3; c++) across[c] = (a[c] + b[c]) / 2;
  add_block(k, across, k->slide, half, r, 1.6 * r, "body");
  for (int i = 0; i < k->count; i++) {
    double foot[3], t = od_dot3(k->list[i].at, k->slide);
    for (int c = 0; c < 3; c++) foot[c] = middle[c] + (t - along) * k->slide[c];
    if (od_distance3(foot, k->list[i].at) > 0.8 * r) add_capsule(k, foot, k->list[i].at, 0.9 * r, 0.6 * r, "body");
  }
}

// Finds the axis of the body's first turning joint in the frame of the body. Without such a joint, the axis is the
// normal of the picture.
static void turning_axis(const sketch *k, double axis[3]) {
  const od_model *m = k->s->m;
  memcpy(axis, k->s->normal, sizeof k->s->normal);
  for (int i = m->joints - 1; i >= 0; i--) {
    const od_joint_spec *spec = &m->joint[i].spec;
    int a = m->point[spec->point_a].body, c = m->point[spec->point_b].body;
    if ((a == k->body->index || c == k->body->index) && spec->type == OD_REVOLUTE && spec->axis_a >= 0)
      od_unit_vector(m, a == k->body->index || spec->axis_b < 0 ? spec->axis_a : spec->axis_b, axis);
  }
}

static bool hangs_freely(const sketch *k) {
  const od_model *m = k->s->m;
  for (int i = 0; i < m->joints; i++) {
    const od_joint_spec *spec = &m->joint[i].spec;
    bool is_own = m->point[spec->point_a].body == k->body->index || m->point[spec->point_b].body == k->body->index;
    if (is_own && (spec->type == OD_UNIVERSAL || spec->type == OD_SPHERICAL)) return true;
  }
  return false;
}

// Adds the shape of a body with one pin: a disc with the inertia of the body, or a bar from the pin to a weight at the
// center of mass.
static void draw_pivoted(sketch *k) {
  const double *pin = k->list[0].at, *q = k->inertia;
  double away = od_distance3(pin, k->center), axis[3], edge = block_edge(k);
  turning_axis(k, axis);
  // The moment of inertia of the body about the axis of the disc.
  double about = q[0] * axis[0] * axis[0] + q[1] * axis[1] * axis[1] + q[2] * axis[2] * axis[2] +
                 2 * (q[3] * axis[0] * axis[1] + q[4] * axis[0] * axis[2] + q[5] * axis[1] * axis[2]);
  if (away < 0.02 * k->s->size) {
    double radius = k->mass > 0 && about > 0 ? sqrt(2 * about / k->mass) : edge / 2;
    radius = fmax(0.03 * k->s->size, fmin(0.35 * k->s->size, radius));
    k->body->radius = 0.3 * radius;
    add_disc(k, pin, axis, radius, 0.3 * radius, "body");
    add_disc(k, pin, axis, 0.78 * radius, 0.32 * radius, "steel");
    add_disc(k, pin, axis, 0.3 * radius, 0.4 * radius, "body");
    // A spoke makes the angle of the disc visible.
    double u[3], v[3], end[3];
    od_across3(axis, u, v);
    if (k->s->is_planar) memcpy(u, k->s->right, sizeof u);
    for (int c = 0; c < 3; c++) end[c] = pin[c] + 0.72 * radius * u[c];
    add_capsule(k, pin, end, 0.09 * radius, 0.07 * radius, "body");
    return;
  }
  double r = fmax(0.006 * k->s->size, fmin(0.012 * k->s->size, 0.04 * away));
  double way[3];
  for (int c = 0; c < 3; c++) way[c] = k->center[c] - pin[c];
  od_unit3(way);
  k->body->radius = r;
  // If the body can swing in all directions, a thin line is drawn as a rope.
  if (hangs_freely(k)) r = 0.0025 * k->s->size;
  add_capsule(k, pin, k->center, r, r, r < 0.005 * k->s->size ? "dark" : "steel");
  add_block(k, k->center, way, 0.5 * edge, 0.42 * edge, 0.84 * edge, "body");
}

// --- Links, booms, plates ---------------------------------------------------------------------------------------------

static double share(double value, double low, double high) {
  return fmax(low, fmin(high, value));
}

// Returns the half-width of a body of this length at its pins, m.
static double half_width(const sketch *k, double length) {
  const od_model *m = k->s->m;
  const od_body *b = &m->body[k->body->index];
  double size = k->s->size;
  if (b->shape == OD_SHAPE_CYLINDER) return share(m->theta[b->number + 2], 0.006 * size, 0.05 * size);
  return share(0.045 * length, 0.009 * size, 0.019 * size);
}

// Returns the half-width of the outline around an anchor: smaller than r at lugs, smallest at tools, and r at all other
// places.
static double width_at(const anchor *a, double r) {
  if (a->use & OD_USE_JOINT) return r;
  if (a->use & OD_USE_ELEMENT) return 0.85 * r;
  return a->use & OD_USE_LOAD ? 0.4 * r : r;
}

static od_circle circle_at(const anchor *a, double r) {
  return (od_circle){a->x, a->y, width_at(a, r)};
}

// Finds the two anchors with the greatest distance; joints count more than other places.
static void find_ends(const sketch *k, int *from, int *to) {
  double most = -1;
  *from = 0, *to = 1;
  for (int i = 0; i < k->count; i++)
    for (int j = i + 1; j < k->count; j++) {
      const anchor *a = &k->list[i], *b = &k->list[j];
      double d = od_distance3(a->at, b->at);
      for (int e = 0; e < 2; e++)
        if ((e ? b : a)->use && !((e ? b : a)->use & (OD_USE_JOINT | OD_USE_LOAD))) d *= 0.7;
      if (d > most) most = d, *from = i, *to = j;
    }
}

// The spine of a boom, which consists of up to two strokes, and the place of a point on the spine.
typedef struct spine {
  od_stroke stroke[2];
  int strokes;
  double length;
} spine;

static spine make_spine(const sketch *k, int from, int to, double r) {
  const anchor *a = &k->list[from], *b = &k->list[to];
  double dx = b->x - a->x, dy = b->y - a->y, length = hypot(dx, dy), along = 0, beside = 0;
  int loaded = 0;
  spine out = {.length = length};
  for (int i = 0; i < k->count; i++) {
    const anchor *c = &k->list[i];
    double t = ((c->x - a->x) * dx + (c->y - a->y) * dy) / (length * length);
    double o = ((c->y - a->y) * dx - (c->x - a->x) * dy) / length;
    if (i == from || i == to || t < 0.12 || t > 0.88 || !(c->use & OD_USE_ELEMENT)) continue;
    along += t, beside += o, loaded++;
  }
  if (loaded == 0) {
    out.stroke[0] = (od_stroke){circle_at(a, r), circle_at(b, r), {0}, false};
    out.strokes = 1;
    return out;
  }
  double t = share(along / loaded, 0.3, 0.7), o = share(0.5 * beside / loaded, -0.1 * length, 0.1 * length);
  od_circle knee = {a->x + t * dx - o * dy / length, a->y + t * dy + o * dx / length, 1.45 * r};
  out.stroke[0] = (od_stroke){circle_at(a, r), knee, {0}, false};
  out.stroke[1] = (od_stroke){knee, circle_at(b, r), {0}, false};
  out.strokes = 2;
  return out;
}

// Finds the nearest point of the spine's center line: its stroke and its place on the stroke, 0 to 1. Returns the distance from the
// spine's edge.
static double nearest_on(const spine *s, double x, double y, int *which, double *place) {
  double least = INFINITY;
  for (int i = 0; i < s->strokes; i++) {
    const od_circle *a = &s->stroke[i].a, *b = &s->stroke[i].b;
    double dx = b->x - a->x, dy = b->y - a->y,
           t = share(((x - a->x) * dx + (y - a->y) * dy) / (dx * dx + dy * dy), 0, 1);
    double d = hypot(x - a->x - t * dx, y - a->y - t * dy) - (a->r + t * (b->r - a->r));
    if (d < least) least = d, *which = i, *place = t;
  }
  return least;
}

static od_circle on_stroke(const od_stroke *s, double t, double scale) {
  t = share(t, 0, 1);
  return (od_circle){s->a.x + t * (s->b.x - s->a.x), s->a.y + t * (s->b.y - s->a.y),
                     scale * (s->a.r + t * (s->b.r - s->a.r))};
}

// Adds a lug from the spine to an anchor: a triangle whose base is on the spine.
static void add_lug(const spine *s, const anchor *c, double r, od_stroke *stroke, int *strokes) {
  int which = 0;
  double t = 0, away = nearest_on(s, c->x, c->y, &which, &t);
  double own = c->use & OD_USE_LOAD && !(c->use & (OD_USE_JOINT | OD_USE_ELEMENT)) ? 0.3 * r : 0.8 * r;
  if (away < -0.9 * own) return;
  const od_stroke *base = &s->stroke[which];
  double length = hypot(base->b.x - base->a.x, base->b.y - base->a.y);
  double reach = length > 0 ? share(0.75 * (away + r), 0.5 * r, 0.22 * s->length) / length : 0;
  od_circle tip = {c->x, c->y, own};
  if (t <= 0 || t >= 1) {
    bool beyond = (t <= 0 && which == 0) || (t >= 1 && which == s->strokes - 1);
    if (beyond) {
      stroke[(*strokes)++] = (od_stroke){on_stroke(base, t, 0.9), tip, {0}, false};
      return;
    }
  }
  stroke[(*strokes)++] =
      (od_stroke){tip, on_stroke(base, t - reach, 0.55), on_stroke(base, t + reach, 0.55), .is_triangle = true};
}

// Adds the shape of a body with several points in a plane.
static void draw_plate(sketch *k) {
  OD_SCRATCH(scratch);
  int from, to, strokes = 0;
  find_ends(k, &from, &to);
  double length = od_distance3(k->list[from].at, k->list[to].at), r = half_width(k, length), width = 0;
  k->body->radius = r;
  to_plane(k);
  const anchor *a = &k->list[from], *b = &k->list[to];
  double dx = b->x - a->x, dy = b->y - a->y, above = 0, below = 0;
  for (int i = 0; i < k->count; i++) {
    double o = ((k->list[i].y - a->y) * dx - (k->list[i].x - a->x) * dy) / length;
    above = fmax(above, o), below = fmin(below, o);
  }
  width = above - below;
  od_polygon p = {0};
  if (width > 0.42 * length) {
    od_circle *circle = OD_TAKE(&scratch, od_circle, k->count);
    for (int i = 0; circle && i < k->count; i++) circle[i] = circle_at(&k->list[i], r);
    if (circle) p = od_outline_hull(k->s->arena, circle, k->count);
  } else {
    spine s = make_spine(k, from, to, r);
    od_stroke *stroke = OD_TAKE(&scratch, od_stroke, k->count + 2);
    if (!stroke) return;
    for (int i = 0; i < s.strokes; i++) stroke[strokes++] = s.stroke[i];
    for (int i = 0; i < k->count; i++)
      if (i != from && i != to) add_lug(&s, &k->list[i], r, stroke, &strokes);
    p = od_outline_union(k->s->arena, stroke, strokes, 1.2 * r);
  }
  od_scene_add_outline(k->s, k->body, &p, k->origin, k->u, k->v, 1.5 * r, "body");
}

// Adds the shape of a body whose points are not in one plane: bars between the points.
static void draw_frame(sketch *k) {
  int from, to;
  find_ends(k, &from, &to);
  const double *a = k->list[from].at, *b = k->list[to].at;
  double length = od_distance3(a, b), r = half_width(k, length), d[3];
  k->body->radius = r;
  add_capsule(k, a, b, r, r, "body");
  for (int c = 0; c < 3; c++) d[c] = (b[c] - a[c]) / length;
  for (int i = 0; i < k->count; i++) {
    if (i == from || i == to) continue;
    double rel[3], foot[3];
    for (int c = 0; c < 3; c++) rel[c] = k->list[i].at[c] - a[c];
    double t = share(od_dot3(rel, d), 0, length);
    for (int c = 0; c < 3; c++) foot[c] = a[c] + t * d[c];
    if (od_distance3(foot, k->list[i].at) > 0.5 * r) add_capsule(k, foot, k->list[i].at, r, 0.8 * r, "body");
  }
}

static void add_box(sketch *k) {
  const od_body *b = &k->s->m->body[k->body->index];
  double(*point)[3] = od_arena_take_array(k->s->arena, 1, sizeof *point);
  od_look_shape *shape = point ? od_scene_add_shape(k->s, k->body) : NULL;
  if (!shape) return;
  memcpy(point[0], k->center, sizeof point[0]);
  *shape = (od_look_shape){.kind = OD_LOOK_BOX, .color = "body", .point = point, .points = 1};
  memcpy(shape->size, k->s->m->theta + b->number + 1, sizeof shape->size);
  k->body->radius = 0.02 * k->s->size;
}

static bool only_slides(const sketch *k) {
  for (int i = 0; i < k->count; i++)
    if (k->list[i].use & OD_USE_TURN && od_distance3(k->list[i].at, k->list[0].at) > 0.03 * k->s->size) return false;
  return k->slides;
}

void od_scene_shape_body(od_scene *s, od_scene_body *body) {
  OD_SCRATCH(scratch);
  sketch k = {.s = s, .body = body, .list = OD_TAKE(&scratch, anchor, MOST_ANCHORS)};
  if (!k.list) {
    s->arena->exhausted = true;
    return;
  }
  od_model_body_inertia(s->m, body->index, &k.mass, k.center, k.inertia);
  collect(&k);
  if (k.count == 0) add_anchor(&k, k.center, 0);
  bool turns = false;
  for (int i = 0; i < k.count; i++) turns = turns || (k.list[i].use & OD_USE_TURN);
  if (s->m->body[body->index].shape == OD_SHAPE_BOX) {
    add_box(&k);
  } else if (k.slides && (only_slides(&k) || !k.slides_on_ground)) {
    draw_slider(&k);
  } else if (is_one_place(&k)) {
    if (turns) {
      draw_pivoted(&k);
    } else {
      double edge = block_edge(&k);
      body->radius = 0.3 * edge;
      add_block(&k, k.list[0].at, s->right, 0.5 * edge, 0.5 * edge, edge, "body");
    }
  } else if (k.count == 2) {
    double r = half_width(&k, od_distance3(k.list[0].at, k.list[1].at));
    body->radius = r;
    add_capsule(&k, k.list[0].at, k.list[1].at, width_at(&k.list[0], r), width_at(&k.list[1], r), "body");
  } else if (find_plane(&k)) {
    draw_plate(&k);
  } else {
    draw_frame(&k);
  }
}
