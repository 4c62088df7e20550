// The scene as JSON, for the script of the report page and for other programs (docs/draw.md).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "scene/scene_parts.h"

// Returns a length in m, rounded to less than a 50000th of the machine's size, so that texts stay short.
static json_t *length_json(const od_scene *s, double v) {
  char text[400];
  int digits = (int)ceil(-log10(s->size)) + 5;
  if (!isfinite(v)) return json_null();
  snprintf(text, sizeof text, "%.*f", digits < 0 ? 0 : digits, v);
  return od_json_number(strtod(text, NULL) + 0.0);
}

static json_t *place_json(const od_scene *s, const double v[3]) {
  return json_pack("[o, o, o]", length_json(s, v[0]), length_json(s, v[1]), length_json(s, v[2]));
}

// Returns a unit vector, rounded to 7 decimals.
static json_t *direction_json(const double v[3]) {
  double r[3];
  for (int k = 0; k < 3; k++) r[k] = round(1e7 * v[k]) / 1e7 + 0.0;
  return od_json_numbers(r, 3, 1);
}

static json_t *end_json(const od_scene *s, const od_scene_end *e) {
  return json_pack("{s:i, s:o}", "body", e->body, "at", place_json(s, e->at));
}

// Returns the name of an output of the scene; null: no such output.
static json_t *output_json(const od_scene *s, int output) {
  return od_json_text(output >= 0 ? od_machine_output_name(s->machine, s->output[output]) : NULL);
}

static json_t *points_json(const od_scene *s, const od_look_shape *shape) {
  json_t *list = json_array();
  for (int i = 0; i < shape->points; i++) json_array_append_new(list, place_json(s, shape->point[i]));
  return list;
}

static json_t *shape_json(const od_scene *s, const od_look_shape *shape) {
  const char *color = shape->color ? shape->color : "body";
  switch (shape->kind) {
    case OD_LOOK_OUTLINE:
      return json_pack("{s:s, s:o, s:o, s:o, s:s}", "kind", "outline", "points", points_json(s, shape), "thickness",
                       length_json(s, shape->thickness), "normal", direction_json(shape->axis), "color", color);
    case OD_LOOK_LINE:
      return json_pack("{s:s, s:o, s:o, s:s}", "kind", "line", "points", points_json(s, shape), "width",
                       length_json(s, shape->width), "color", color);
    case OD_LOOK_CAPSULE:
      return json_pack("{s:s, s:o, s:o, s:o, s:o, s:s}", "kind", "capsule", "a", place_json(s, shape->point[0]), "b",
                       place_json(s, shape->point[1]), "width", length_json(s, shape->width), "end_width",
                       length_json(s, shape->end_width), "color", color);
    case OD_LOOK_DISC:
      return json_pack("{s:s, s:o, s:o, s:o, s:o, s:s}", "kind", "disc", "center", place_json(s, shape->point[0]),
                       "axis", direction_json(shape->axis), "radius", length_json(s, shape->radius), "thickness",
                       length_json(s, shape->thickness), "color", color);
    case OD_LOOK_BOX:
      return json_pack("{s:s, s:o, s:o, s:[i, i, i, i], s:s}", "kind", "box", "center", place_json(s, shape->point[0]),
                       "size", place_json(s, shape->size), "quaternion", 1, 0, 0, 0, "color", color);
  }
  return json_null();
}

static json_t *bodies_json(const od_scene *s) {
  json_t *list = json_array();
  for (int i = 0; i < s->bodies; i++) {
    const od_scene_body *b = &s->body[i];
    json_t *shapes = json_array(), *pose = json_null();
    for (int k = 0; k < b->shapes; k++) json_array_append_new(shapes, shape_json(s, &b->shape[k]));
    if (b->index != OD_GROUND) {
      char name[1400];
      snprintf(name, sizeof name, "%s.pose", b->name);
      pose = od_json_text(name);
    }
    json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o}", "name", od_json_text(b->name), "pose", pose, "part",
                                          od_json_text(b->name), "shapes", shapes));
  }
  return list;
}

static json_t *joints_json(const od_scene *s) {
  json_t *list = json_array();
  for (int i = 0; i < s->joints; i++) {
    const od_scene_joint *j = &s->joint[i];
    json_t *o =
        json_pack("{s:o, s:s, s:b, s:o, s:o, s:o}", "name", od_json_text(j->name), "type", j->type, "pin", j->is_pin,
                  "a", end_json(s, &j->a), "b", end_json(s, &j->b), "radius", length_json(s, j->radius));
    if (j->has_axis) json_object_set_new(o, "axis", direction_json(j->axis));
    json_array_append_new(list, o);
  }
  return list;
}

static json_t *chamber_json(const od_scene *s, const od_scene_cylinder *c, int k) {
  if (c->node[k] < 0) return json_null();
  return json_pack("{s:o, s:o}", "node", od_json_text(od_model_text(s->m, s->m->node[c->node[k]].name)), "pressure",
                   output_json(s, c->pressure[k]));
}

static json_t *cylinders_json(const od_scene *s) {
  json_t *list = json_array();
  for (int i = 0; i < s->cylinders; i++) {
    const od_scene_cylinder *c = &s->cylinder[i];
    json_t *parts = json_array();
    for (int k = 0; k < 2; k++)
      if (c->bodies[k] >= 0)
        json_array_append_new(parts, od_json_text(od_model_text(s->m, s->m->body[c->bodies[k]].name)));
    json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:[o, o], s:i, s:b, s:o}", "name", od_json_text(c->name),
                          "a", end_json(s, &c->a), "b", end_json(s, &c->b), "closed", length_json(s, c->closed),
                          "stroke", length_json(s, c->stroke), "diameter", length_json(s, c->diameter), "rod",
                          length_json(s, c->rod), "chambers", chamber_json(s, c, 0), chamber_json(s, c, 1), "stages",
                          c->stages, "behind", c->is_behind, "parts", parts);
    if (c->length >= 0) json_object_set_new(o, "length", output_json(s, c->length));
    json_array_append_new(list, o);
  }
  return list;
}

static json_t *lines_json(const od_scene *s, const od_scene_line *line, int count, bool is_rope) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++) {
    json_t *a = end_json(s, &line[i].a), *b = end_json(s, &line[i].b), *name = od_json_text(line[i].name);
    json_array_append_new(list, is_rope ? json_pack("{s:o, s:[o, o]}", "name", name, "path", a, b)
                                        : json_pack("{s:o, s:o, s:o, s:o}", "name", name, "a", a, "b", b, "diameter",
                                                    length_json(s, line[i].diameter)));
  }
  return list;
}

static json_t *loads_json(const od_scene *s) {
  json_t *list = json_array();
  for (int i = 0; i < s->loads; i++) {
    const od_scene_load *l = &s->load[i];
    json_t *o = json_pack("{s:o, s:s, s:o}", "name", od_json_text(l->name), "kind", l->is_torque ? "torque" : "force",
                          "output", output_json(s, l->output));
    if (l->joint) {
      json_object_set_new(o, "joint", od_json_text(l->joint));
    } else {
      json_object_set_new(o, "at", end_json(s, &l->at));
      json_object_set_new(o, "direction", direction_json(l->direction));
      json_object_set_new(o, "follows_body", json_boolean(l->follows_body));
    }
    json_array_append_new(list, o);
  }
  return list;
}

static json_t *reactions_json(const od_scene *s) {
  static const char *const key[] = {"x", "y", "z"};
  json_t *list = json_array();
  for (int i = 0; i < s->reactions; i++) {
    json_t *o = json_pack("{s:o}", "joint", od_json_text(s->reaction[i].joint));
    for (int k = 0; k < 3; k++)
      if (s->reaction[i].output[k] >= 0) json_object_set_new(o, key[k], output_json(s, s->reaction[i].output[k]));
    json_array_append_new(list, o);
  }
  return list;
}

static json_t *ground_json(const od_scene *s) {
  json_t *planes = json_array();
  for (int i = 0; i < s->planes; i++)
    json_array_append_new(planes, json_pack("{s:o, s:o}", "point", place_json(s, s->plane[i].point), "normal",
                                            direction_json(s->plane[i].normal)));
  return json_pack("{s:o, s:s, s:o}", "level", s->has_level ? length_json(s, s->level) : json_null(), "color",
                   s->ground_color ? s->ground_color : "soil", "planes", planes);
}

json_t *od_scene_json(const od_scene *s) {
  json_t *motors = json_array(), *points = json_array(), *traces = json_array(), *gaps = json_array();
  for (int i = 0; i < s->motors; i++)
    json_array_append_new(motors, json_pack("{s:o, s:o}", "name", od_json_text(s->motor[i].name), "joint",
                                            od_json_text(s->motor[i].joint)));
  for (int i = 0; i < s->points; i++) {
    const od_scene_point *p = &s->point[i];
    json_array_append_new(points, json_pack("{s:o, s:i, s:o}", "name", od_json_text(p->name), "body", p->body, "at",
                                            place_json(s, p->at)));
    if (p->is_trace) json_array_append_new(traces, od_json_text(p->name));
  }
  for (int i = 0; i < s->gaps; i++)
    json_array_append_new(gaps, json_pack("{s:o, s:s, s:o, s:o, s:o}", "name", od_json_text(s->gap[i].name), "part",
                                          s->gap[i].is_rod ? "rod" : "joint", "gap", od_json_number(s->gap[i].size),
                                          "a", place_json(s, s->gap[i].a), "b", place_json(s, s->gap[i].b)));
  json_t *o = json_pack(
      "{s:b, s:{s:o, s:o, s:o}, s:{s:o, s:o}, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
      "planar", s->is_planar, "axes", "x", direction_json(s->right), "y", direction_json(s->up), "normal",
      direction_json(s->normal), "bounds", "low", place_json(s, s->low), "high", place_json(s, s->high), "size",
      length_json(s, s->size), "bodies", bodies_json(s), "joints", joints_json(s), "cylinders", cylinders_json(s),
      "springs", lines_json(s, s->spring, s->springs, false), "rods", lines_json(s, s->rod, s->rods, false), "ropes",
      lines_json(s, s->rope, s->ropes, true), "motors", motors, "ground", ground_json(s), "loads", loads_json(s),
      "joint_loads", reactions_json(s), "points", points, "traces", traces);
  if (o && !s->is_planar) json_object_set_new(o, "view", direction_json(s->view));
  if (o && s->gaps)
    json_object_set_new(o, "gaps", gaps);
  else
    json_decref(gaps);
  return o;
}
