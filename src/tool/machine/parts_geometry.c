// Geometry of parts in the data of `info`: frames, points, axes and directions.
#include <math.h>
#include <string.h>

#include "io/json.h"
#include "machine/machine_parts.h"
#include "model/joint_types.h"

json_t *od_json_vector(const double v[3]) {
  return od_json_numbers(v, 3, 1);
}

const char *od_body_name(const od_model *m, int body) {
  return body == OD_GROUND ? "ground" : od_model_text(m, m->body[body].name);
}

json_t *od_json_point(const od_model *m, int point) {
  const od_point *p = &m->point[point];
  char text[1400];
  snprintf(text, sizeof text, "%s.%s", od_body_name(m, p->body), od_model_text(m, p->name));
  return od_json_text(text);
}

void od_point_place(const od_model *m, int point, double at[3]) {
  const od_point *p = &m->point[point];
  for (int k = 0; k < 3; k++) at[k] = p->number >= 0 ? m->theta[p->number + k] : 0;
  if (p->length >= 0) at[0] += p->fraction * m->theta[p->length];
}

void od_unit_vector(const od_model *m, int number, double unit[3]) {
  const double *v = m->theta + number;
  double size = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int k = 0; k < 3; k++) unit[k] = v[k] / size;
}

json_t *od_json_points_of(const od_model *m, int body) {
  json_t *list = json_array();
  for (int i = 0; i < m->points; i++) {
    double at[3];
    if (m->point[i].body != body) continue;
    od_point_place(m, i, at);
    json_array_append_new(list, json_pack("{s:o, s:o}", "name", od_json_text(od_model_text(m, m->point[i].name)), "at",
                                          od_json_vector(at)));
  }
  return list;
}

// --- Bodies -----------------------------------------------------------------------------------------------------------

// Returns the dimensions of a body in m: the length of a beam, the length and radius of a cylinder, or the three sides of a box; null
// for other shapes.
static json_t *dimensions_json(const od_model *m, const od_body *body) {
  const double *q = m->theta + body->number;
  switch (body->shape) {
    case OD_SHAPE_BEAM: return json_pack("{s:o}", "length", od_json_number(q[1]));
    case OD_SHAPE_CYLINDER:
      return json_pack("{s:o, s:o}", "length", od_json_number(q[1]), "radius", od_json_number(q[2]));
    case OD_SHAPE_BOX: return json_pack("{s:o}", "size", od_json_vector(q + 1));
    case OD_SHAPE_GENERAL:
    case OD_SHAPE_POINT: break;
  }
  return json_null();
}

void od_set_body_geometry(od_result_table *t, const od_model *m, int i) {
  static const char *const entry[6] = {"xx", "yy", "zz", "xy", "xz", "yz"};
  double mass, center[3], inertia[6];
  json_t *tensor = json_object();
  od_model_body_inertia(m, i, &mass, center, inertia);
  for (int k = 0; k < 6; k++) json_object_set_new(tensor, entry[k], od_json_number(inertia[k]));
  od_result_row_set(t, "center", od_json_vector(center));
  od_result_row_set(t, "inertia", tensor);
  od_result_row_set(t, "dimensions", dimensions_json(m, &m->body[i]));
  od_result_row_set(t, "points", od_json_points_of(m, i));
  int joint = m->link[m->body[i].link].joint;
  od_result_row_set(t, "moved_by", od_json_text(joint >= 0 ? od_model_text(m, m->joint[joint].name) : NULL));
  char pose[1400];
  snprintf(pose, sizeof pose, "%s.pose", od_model_text(m, m->body[i].name));
  od_result_row_set(t, "pose", od_json_text(pose));
}

// --- Joints -----------------------------------------------------------------------------------------------------------

// Computes one of the two directions perpendicular to an axis (od_axis_rule).
static void direction_across(const double a[3], int which, double out[3]) {
  int main = 0;
  for (int k = 1; k < 3; k++)
    if (fabs(a[k]) > fabs(a[main])) main = k;
  double first[3] = {0}, part = a[(main + 1) % 3], size = 0;
  first[(main + 1) % 3] = 1;
  for (int k = 0; k < 3; k++) first[k] -= part * a[k];
  for (int k = 0; k < 3; k++) size += first[k] * first[k];
  for (int k = 0; k < 3; k++) first[k] /= sqrt(size);
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    out[k] = which == 1 ? first[k] : a[i] * first[j] - a[j] * first[i];
  }
}

// Computes the direction of a coordinate. Returns the body in whose frame the direction is constant: "a" or "b".
static const char *coordinate_axis(const od_model *m, const od_joint_spec *spec, od_axis_rule rule, double axis[3]) {
  double a[3];
  bool of_b = rule == OD_ALONG_B;
  for (int k = 0; k < 3; k++) axis[k] = rule >= OD_ALONG_X && (int)rule - OD_ALONG_X == k;
  if (rule >= OD_ALONG_X) return "a";
  od_unit_vector(m, of_b ? spec->axis_b : spec->axis_a, a);
  if (rule == OD_ACROSS_1 || rule == OD_ACROSS_2)
    direction_across(a, rule == OD_ACROSS_1 ? 1 : 2, axis);
  else
    memcpy(axis, a, sizeof a);
  return of_b ? "b" : "a";
}

// Returns the coordinates of a joint of the tree. A hidden coordinate is not an output, because its reference changes during a
// run. The caller owns the list.
static json_t *coordinates_json(const od_model *m, const od_joint *joint) {
  const od_joint_class *c = od_joint_class_of(joint->spec.type);
  json_t *list = json_array();
  for (int k = 0; k < joint->coordinates; k++) {
    const od_joint_coordinate *x = &c->coordinate[k];
    double axis[3];
    const char *frame = coordinate_axis(m, &joint->spec, x->axis, axis);
    char output[1400];
    snprintf(output, sizeof output, "%s.%s", od_model_text(m, joint->name), x->label[0]);
    json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:s, s:o}", "name", x->label[0], "kind",
                                          x->kind == OD_LINK_PRISMATIC ? "translation"
                                          : x->kind == OD_LINK_SCREW   ? "screw"
                                                                       : "rotation",
                                          "axis", od_json_vector(axis), "frame", frame, "output",
                                          od_json_text(x->hidden ? NULL : output)));
  }
  return list;
}

void od_set_joint_geometry(od_result_table *t, const od_model *m, int i) {
  const od_joint *joint = &m->joint[i];
  const od_joint_spec *s = &joint->spec;
  const od_joint_class *c = od_joint_class_of(s->type);
  int axis_b = s->axis_b >= 0 ? s->axis_b : s->axis_a;
  double a[3], b[3];
  bool has_axis = (c->axis || c->axes) && s->axis_a >= 0;
  if (has_axis) od_unit_vector(m, s->axis_a, a), od_unit_vector(m, axis_b, b);
  od_result_row_set(t, "bodies",
                    json_pack("[o, o]", od_json_text(od_body_name(m, m->point[s->point_a].body)),
                              od_json_text(od_body_name(m, m->point[s->point_b].body))));
  od_result_row_set(t, "axis_a", has_axis ? od_json_vector(a) : json_null());
  od_result_row_set(t, "axis_b", has_axis ? od_json_vector(b) : json_null());
  od_result_row_set(t, "lead", s->type == OD_SCREW ? od_json_number(m->theta[s->lead]) : json_null());
  od_result_row_set(t, "coordinates", coordinates_json(m, joint));
}

// --- Loads and space --------------------------------------------------------------------------------------------------

void od_set_load_geometry(od_result_table *t, const od_model *m, int i) {
  static const char *const kinds[] = {
      [OD_LOAD_FORCE] = "force", [OD_LOAD_TORQUE] = "torque", [OD_LOAD_JOINT] = "joint", [OD_LOAD_CONTACT] = "contact"};
  const od_load *load = &m->load[i];
  bool contact = load->kind == OD_LOAD_CONTACT;
  double direction[3];
  od_result_row_set(t, "kind", json_string(kinds[load->kind]));
  if (load->kind != OD_LOAD_JOINT) {
    od_unit_vector(m, load->number + 1, direction);
    od_result_row_set(t, contact ? "normal" : "direction", od_json_vector(direction));
  }
  if (contact) {
    od_result_row_set(t, "plane", od_json_vector(m->theta + load->number + OD_CONTACT_PLANE));
    od_result_row_set(t, "friction", od_json_number(m->theta[load->number + OD_CONTACT_FRICTION]));
  } else {
    od_result_row_set(t, "follows_body", json_boolean(load->follows_body));
  }
}

json_t *od_json_plane(const od_model *m) {
  if (!m->planar) return json_null();
  return json_pack("{s:[o, o], s:o}", "axes", od_json_vector(m->plane[0]), od_json_vector(m->plane[1]), "normal",
                   od_json_vector(m->plane[2]));
}
