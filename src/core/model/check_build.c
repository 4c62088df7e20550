// Checks of the collected elements: every index refers to an existing entry, every number is finite, and numbers of elements have
// the sign that their class requires. The loader of machine files reports such mistakes earlier. These checks are for programs
// that build a model with the C functions.
#include <math.h>
#include <string.h>

#include "base/formula.h"
#include "model/builder.h"

static bool is_index(int i, int count) {
  return i >= 0 && i < count;
}

// Returns whether theta has `count` numbers starting at `first`.
static bool has_numbers(const od_model *p, int first, int count) {
  return count == 0 || (first >= 0 && count > 0 && first <= p->numbers - count);
}

// Reports missing numbers of an element; `what` is the name of its kind. Returns whether theta has all numbers.
static bool check_numbers(od_build *b, od_culprit_kind kind, int index, const char *what, const char *name, int first,
                          int count) {
  if (has_numbers(&b->part, first, count)) return true;
  od_build_report(b, kind, index, "%s '%s' needs %d number%s from index %d on, but the count of numbers in theta is %d",
                  what, name, count, count == 1 ? "" : "s", first, b->part.numbers);
  return false;
}

static void check_reference(od_build *b, od_culprit_kind kind, int index, const char *what, const char *name,
                            const char *target, int i, int count) {
  if (is_index(i, count)) return;
  if (count > 0)
    od_build_report(b, kind, index, "%s '%s' refers to %s %d; expected an index from 0 to %d", what, name, target, i,
                    count - 1);
  else
    od_build_report(b, kind, index, "%s '%s' refers to %s %d, but the model has no %s; add one first", what, name,
                    target, i, target);
}

static void check_signal(od_build *b, od_culprit_kind kind, int index, const char *what, const char *name, int signal) {
  if (signal != OD_UNUSED) check_reference(b, kind, index, what, name, "signal", signal, b->part.signals);
}

static void check_theta(od_build *b) {
  const od_model *p = &b->part;
  for (int i = 0; i < p->numbers; i++)
    if (!isfinite(p->theta[i]))
      od_build_report(b, OD_ABOUT_NUMBER, i, "the number '%s' is %g; expected a finite number", od_number_path(p, i),
                      p->theta[i]);
}

// ---- the mechanism

// Checks gravity, the shapes and numbers of bodies, and the bodies and numbers of points. Reports each problem.
static void check_bodies(od_build *b) {
  const od_model *p = &b->part;
  if (p->gravity != OD_UNUSED) check_numbers(b, OD_ABOUT_MACHINE, -1, "the vector", "gravity", p->gravity, 3);
  for (int i = 0; i < p->bodies; i++) {
    const od_body *body = &p->body[i];
    if (od_shape_numbers(body->shape) < 0)
      od_build_report(b, OD_ABOUT_BODY, i, "body '%s' has the unknown shape %d; expected an od_shape",
                      od_model_text(p, body->name), (int)body->shape);
    else
      check_numbers(b, OD_ABOUT_BODY, i, "body", od_model_text(p, body->name), body->number,
                    od_shape_numbers(body->shape));
  }
  for (int i = 0; i < p->points; i++) {
    const od_point *q = &p->point[i];
    if (q->body != OD_GROUND)
      check_reference(b, OD_ABOUT_POINT, i, "point", od_model_text(p, q->name), "body", q->body, p->bodies);
    if (q->number != OD_UNUSED) check_numbers(b, OD_ABOUT_POINT, i, "point", od_model_text(p, q->name), q->number, 3);
    if (q->length != OD_UNUSED) check_numbers(b, OD_ABOUT_POINT, i, "point", od_model_text(p, q->name), q->length, 1);
  }
}

static void check_axis(od_build *b, int joint, int first) {
  const od_model *p = &b->part;
  const od_joint *j = &p->joint[joint];
  if (!check_numbers(b, OD_ABOUT_JOINT, joint, "the axis of joint", od_model_text(p, j->name), first, 3)) return;
  const double *a = b->part.theta + first;
  if (!(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] > 0))
    od_build_report(b, OD_ABOUT_JOINT, joint, "the axis of joint '%s' has zero length; expected a nonzero vector",
                    od_model_text(p, j->name));
}

// Checks points, types, axes and leads of joints; also gears and rods. Reports each problem.
static void check_joints(od_build *b) {
  const od_model *p = &b->part;
  for (int i = 0; i < p->joints; i++) {
    const od_joint_spec *s = &p->joint[i].spec;
    const char *name = od_model_text(p, p->joint[i].name);
    check_reference(b, OD_ABOUT_JOINT, i, "joint", name, "point", s->point_a, p->points);
    check_reference(b, OD_ABOUT_JOINT, i, "joint", name, "point", s->point_b, p->points);
    if (is_index(s->point_a, p->points) && is_index(s->point_b, p->points) &&
        p->point[s->point_a].body == p->point[s->point_b].body)
      od_build_report(b, OD_ABOUT_JOINT, i,
                      "joint '%s' connects two points of the same body; expected points of two bodies", name);
    switch (s->type) {
      case OD_UNIVERSAL:
        check_axis(b, i, s->axis_a);
        check_axis(b, i, s->axis_b);
        break;
      case OD_SCREW:
        if (check_numbers(b, OD_ABOUT_JOINT, i, "joint", name, s->lead, 1) && p->theta[s->lead] == 0)
          od_build_report(b, OD_ABOUT_JOINT, i,
                          "the lead of joint '%s' is zero; use a revolute joint for a rotation without travel", name);
        check_axis(b, i, s->axis_a);
        break;
      case OD_REVOLUTE:
      case OD_PRISMATIC:
      case OD_CYLINDRICAL:
      case OD_PLANAR_JOINT:
        check_axis(b, i, s->axis_a);
        if (s->axis_b != OD_UNUSED) check_axis(b, i, s->axis_b);
        break;
      case OD_SPHERICAL:
      case OD_FREE:
      case OD_FIXED: break;
      default:
        od_build_report(b, OD_ABOUT_JOINT, i, "joint '%s' has the unknown type %d; expected an od_joint_type", name,
                        (int)s->type);
    }
  }
  for (int i = 0; i < p->gears; i++) {
    const od_gear *g = &p->gear[i];
    check_reference(b, OD_ABOUT_GEAR, i, "gear", od_model_text(p, g->name), "joint", g->joint_a, p->joints);
    check_reference(b, OD_ABOUT_GEAR, i, "gear", od_model_text(p, g->name), "joint", g->joint_b, p->joints);
    if (g->joint_a == g->joint_b)
      od_build_report(b, OD_ABOUT_GEAR, i, "gear '%s' couples a joint with itself; expected two joints",
                      od_model_text(p, g->name));
    if (check_numbers(b, OD_ABOUT_GEAR, i, "gear", od_model_text(p, g->name), g->number, 2) && p->theta[g->number] == 0)
      od_build_report(b, OD_ABOUT_GEAR, i, "the ratio of gear '%s' is zero; expected a nonzero ratio",
                      od_model_text(p, g->name));
  }
  for (int i = 0; i < p->rods; i++) {
    const od_rod *r = &p->rod[i];
    check_reference(b, OD_ABOUT_ROD, i, "rod", od_model_text(p, r->name), "point", r->point_a, p->points);
    check_reference(b, OD_ABOUT_ROD, i, "rod", od_model_text(p, r->name), "point", r->point_b, p->points);
    if (check_numbers(b, OD_ABOUT_ROD, i, "rod", od_model_text(p, r->name), r->number, 1) && !(p->theta[r->number] > 0))
      od_build_report(b, OD_ABOUT_ROD, i, "rod '%s' is %g m long; expected a positive length",
                      od_model_text(p, r->name), p->theta[r->number]);
  }
}

// Checks points, bodies or joints, numbers and signals of loads.
static void check_loads(od_build *b) {
  const od_model *p = &b->part;
  for (int i = 0; i < p->loads; i++) {
    const od_load *l = &p->load[i];
    switch (l->kind) {
      case OD_LOAD_CONTACT:
      case OD_LOAD_FORCE:
        check_reference(b, OD_ABOUT_LOAD, i, "force", od_model_text(p, l->name), "point", l->point, p->points);
        break;
      case OD_LOAD_TORQUE:
        check_reference(b, OD_ABOUT_LOAD, i, "torque", od_model_text(p, l->name), "body", l->link, p->bodies);
        break;
      case OD_LOAD_JOINT:
        check_reference(b, OD_ABOUT_LOAD, i, "joint force", od_model_text(p, l->name), "joint", l->coordinate,
                        p->joints);
        break;
    }
    check_numbers(b, OD_ABOUT_LOAD, i, "force", od_model_text(p, l->name), l->number, od_load_numbers(l->kind));
    check_signal(b, OD_ABOUT_LOAD, i, "force", od_model_text(p, l->name), l->input);
  }
}

// ---- the circuit

// Checks that a circuit has oil, the law of the oil, and the numbers of the oil and of its viscosity.
static void check_oil(od_build *b) {
  const od_model *p = &b->part;
  bool needed = p->nodes > 0;
  for (int i = 0; i < p->instances; i++) {
    int c = p->instance[i].element_class;
    needed = needed || (is_index(c, od_element_class_count()) && od_element_class_at(c)->needs_oil);
  }
  if (p->oil == OD_UNUSED && needed)
    od_build_report(b, OD_ABOUT_MACHINE, -1, "the circuit has no oil: call od_build_oil()");
  if (p->viscosity != OD_UNUSED)
    check_numbers(b, OD_ABOUT_MACHINE, -1, "the", "oil's viscosity", p->viscosity, OD_VISCOSITY_NUMBERS);
  if (p->oil == OD_UNUSED) return;
  if (od_oil_numbers(p->oil_law) < 0)
    od_build_report(b, OD_ABOUT_MACHINE, -1, "the oil has the unknown law %d; expected an od_oil_law", (int)p->oil_law);
  else
    check_numbers(b, OD_ABOUT_MACHINE, -1, "the", "oil", p->oil, od_oil_numbers(p->oil_law));
}

// Checks kinds, volumes, pressures and signals of nodes; also the nodes of pressure differences.
static void check_nodes(od_build *b) {
  const od_model *p = &b->part;
  for (int i = 0; i < p->nodes; i++) {
    const od_node *n = &p->node[i];
    if (n->kind == OD_NODE_JUNCTION) continue;
    if (n->kind != OD_NODE_VOLUME && n->kind != OD_NODE_TANK && n->kind != OD_NODE_SOURCE)
      od_build_report(b, OD_ABOUT_NODE, i, "node '%s' has the unknown kind %d; expected an od_node_kind",
                      od_model_text(p, n->name), (int)n->kind);
    if (check_numbers(b, OD_ABOUT_NODE, i, "node", od_model_text(p, n->name), n->number, 1) &&
        !(p->theta[n->number] >= 0))
      od_build_report(b, OD_ABOUT_NODE, i, "node '%s' has %s of %g %s; expected zero or more",
                      od_model_text(p, n->name), n->kind == OD_NODE_VOLUME ? "a volume" : "a pressure",
                      p->theta[n->number], n->kind == OD_NODE_VOLUME ? "m3" : "Pa");
    check_signal(b, OD_ABOUT_NODE, i, "node", od_model_text(p, n->name), n->input);
  }
  for (int i = 0; i < p->differences; i++) {
    const od_difference *d = &p->difference[i];
    check_reference(b, OD_ABOUT_PRESSURE_DIFFERENCE, i, "pressure difference", od_model_text(p, d->name), "node",
                    d->node_a, p->nodes);
    check_reference(b, OD_ABOUT_PRESSURE_DIFFERENCE, i, "pressure difference", od_model_text(p, d->name), "node",
                    d->node_b, p->nodes);
  }
}

static void check_ends(od_build *b, int index, const od_element_description *c) {
  const od_model *p = &b->part;
  const od_instance *e = &p->instance[index];
  int at = 0;
  for (int k = 0; k < OD_MOST_END_KEYS && c->ends[k].key; k++)
    for (int i = 0; i < c->ends[k].count; i++, at++)
      if (!(c->ends[k].optional && e->end[at] == OD_UNUSED))
        check_reference(b, OD_ABOUT_ELEMENT, index, c->noun, od_model_text(p, e->name), "node", e->end[at], p->nodes);
}

// Checks the points, the joint and the host of an element. Reports each problem.
static void check_place(od_build *b, int index, const od_element_description *c) {
  const od_model *p = &b->part;
  const od_instance *e = &p->instance[index];
  bool in_space = e->point_a != OD_UNUSED || e->point_b != OD_UNUSED;
  bool needs_joint = c->equations->acts == OD_ACTS_IN_JOINT ||
                     (c->equations->acts == OD_ACTS_ON_HOST && e->host == OD_UNUSED) ||
                     (c->equations->acts == OD_ACTS_SOMEWHERE && !in_space);
  if (c->equations->acts == OD_ACTS_BETWEEN_POINTS || in_space) {
    check_reference(b, OD_ABOUT_ELEMENT, index, c->noun, od_model_text(p, e->name), "point", e->point_a, p->points);
    check_reference(b, OD_ABOUT_ELEMENT, index, c->noun, od_model_text(p, e->name), "point", e->point_b, p->points);
  }
  if (needs_joint || e->joint != OD_UNUSED)
    check_reference(b, OD_ABOUT_ELEMENT, index, c->noun, od_model_text(p, e->name), "joint", e->joint, p->joints);
  // A host must be added before the elements that belong to it.
  if (c->host || e->host != OD_UNUSED)
    check_reference(b, OD_ABOUT_ELEMENT, index, c->noun, od_model_text(p, e->name), "element", e->host, index);
  if (c->host && is_index(e->host, index) &&
      p->instance[e->host].element_class != od_element_class_find(c->host->equations->name))
    od_build_report(b, OD_ABOUT_ELEMENT, index, "%s '%s' belongs to '%s'; expected a %s as its host", c->noun,
                    od_model_text(p, e->name), od_model_text(p, p->instance[e->host].name), c->host->noun);
}

// Returns whether oil can flow from a node into an element. Ends that only feed the node are ignored.
static bool takes_oil_from(const od_instance *e, int node) {
  if (!is_index(e->element_class, od_element_class_count())) return false;
  const od_element_description *c = od_element_description_at(e->element_class);
  for (int k = 0; k < c->equations->outs; k++) {
    int end = c->equations->out[k].index;
    if (c->equations->out[k].kind == OD_TO_THROUGH && (e->end[0] == node || e->end[1] == node)) return true;
    if (c->equations->out[k].kind == OD_TO_END && e->end[end] == node && !(c->shared_end && end == c->shared_end))
      return true;
  }
  return false;
}

// Checks a sense line that several sections feed. Reports a problem of the first section if no element drains the sense line.
static void check_shared_end(od_build *b, int index, const od_element_description *c) {
  const od_model *p = &b->part;
  const od_instance *e = &p->instance[index];
  int node = e->end[c->shared_end], other = -1;
  if (!e->choice[0] || !is_index(node, p->nodes)) return;
  if (p->node[node].kind != OD_NODE_VOLUME && p->node[node].kind != OD_NODE_JUNCTION) return;
  for (int i = 0; i < p->instances; i++) {
    bool shares = p->instance[i].element_class == e->element_class && p->instance[i].end[c->shared_end] == node;
    if (takes_oil_from(&p->instance[i], node) || (shares && i < index)) return;
    if (shares && i > index && other < 0) other = i;
  }
  if (other < 0) return;
  od_build_report(
      b, OD_ABOUT_ELEMENT, index,
      "the %ss '%s' and '%s' share the sense line '%s', but no element drains this line. Sections that share a line feed this line through check valves."
      " Add an orifice from '%s' to the tank, or give each section its own "
      "node and connect these nodes by 'shuttles'",
      c->noun, od_model_text(p, e->name), od_model_text(p, p->instance[other].name),
      od_model_text(p, p->node[node].name), od_model_text(p, p->node[node].name));
}

// Checks the signs of numbers. Some choices change the meaning of a number, such as a rod diameter instead of an area; then signs
// are not checked.
static void check_values(od_build *b, int index, const od_element_description *c) {
  const od_model *p = &b->part;
  const od_instance *e = &p->instance[index];
  for (int i = 0; (c->equations->choices == 0 || c->equations->optional_numbers > 0 || c->equations->end_choice ||
                   c->shared_end) &&
                  i < c->field_count && i < e->numbers;
       i++) {
    const od_element_field *f = &c->fields[i];
    double value = p->theta[e->number + i];
    if (f->sign == OD_ANY || value > 0 || (f->sign == OD_NOT_NEGATIVE && value == 0) || value == f->fallback) continue;
    bool has_unit = strcmp(f->unit, "1") != 0 && strcmp(f->unit, "*") != 0;  // "*": the unit of a signal
    od_build_report(b, OD_ABOUT_ELEMENT, index, "'%s' of %s '%s' is %g%s%s; expected %s", f->key, c->noun,
                    od_model_text(p, e->name), value, has_unit ? " " : "", has_unit ? f->unit : "",
                    f->sign == OD_POSITIVE ? "more than zero" : "zero or more");
  }
}

// Checks side, degree and control points of a curve. Returns false if side, degree or count of points is invalid, or if
// theta lacks numbers of the curve.
static bool check_curve(od_build *b, int index, const od_element_description *c) {
  const od_model *p = &b->part;
  const od_instance *e = &p->instance[index];
  int side = e->choice[OD_PORT_SIDE], degree = e->choice[OD_PORT_DEGREE], points = e->choice[OD_PORT_COUNT];
  if (!od_element_curve_fits(c->equations, e->choice, e->numbers)) {
    od_build_report(
        b, OD_ABOUT_ELEMENT, index,
        "%s '%s' opens on side %d along a curve of degree %d with %d points in %d numbers. Expected: side +1 or -1; a degree from 1 to %d; more points than the degree; two numbers per point after the first %d numbers",
        c->noun, od_model_text(p, e->name), side, degree, points, e->numbers, OD_HIGHEST_CURVE_DEGREE, c->field_count);
    return false;
  }
  if (!check_numbers(b, OD_ABOUT_ELEMENT, index, c->noun, od_model_text(p, e->name), e->number, e->numbers))
    return false;
  const double *at = b->part.theta + e->number + c->field_count;
  for (int i = 1; i < points; i++)
    if (!(at[i] > at[i - 1]))
      od_build_report(b, OD_ABOUT_ELEMENT, index,
                      "the curve of %s '%s' has a point at %g after a point at %g; expected increasing abscissae",
                      c->noun, od_model_text(p, e->name), at[i], at[i - 1]);
  for (int i = points; i < 2 * points; i++)
    if (at[i] < 0)
      od_build_report(b, OD_ABOUT_ELEMENT, index, "the curve of %s '%s' has the value %g; expected zero or more",
                      c->noun, od_model_text(p, e->name), at[i]);
  return true;
}

// Checks the formula of an element. The variables of the formula are the inputs of the element, then the numbers.
static void check_formula(od_build *b, int index, const od_element_description *c) {
  const od_model *p = &b->part;
  const od_instance *e = &p->instance[index];
  if (e->numbers < 0 || e->numbers > OD_MOST_FORMULA_NUMBERS) {
    od_build_report(b, OD_ABOUT_ELEMENT, index, "the count of numbers of %s '%s' is %d; expected 0 to %d", c->noun,
                    od_model_text(p, e->name), e->numbers, OD_MOST_FORMULA_NUMBERS);
    return;
  }
  od_formula formula = od_instance_formula(p, e);
  const char *problem = od_formula_problem(&formula, c->equations->ins + e->numbers);
  if (problem) od_build_report(b, OD_ABOUT_ELEMENT, index, "%s '%s' %s", c->noun, od_model_text(p, e->name), problem);
  for (int k = 0; k < OD_MORE_SIGNALS; k++)
    check_signal(b, OD_ABOUT_ELEMENT, index, c->noun, od_model_text(p, e->name), e->more_signals[k]);
}

// Checks all elements: class, numbers, place, ends and signals.
static void check_elements(od_build *b) {
  const od_model *p = &b->part;
  for (int i = 0; i < p->instances; i++) {
    const od_instance *e = &p->instance[i];
    if (!is_index(e->element_class, od_element_class_count())) {
      od_build_report(b, OD_ABOUT_ELEMENT, i,
                      "element '%s' has an unknown class; expected a class that 'oleodyn components' lists",
                      od_model_text(p, e->name));
      continue;
    }
    const od_element_description *c = od_instance_description(p, e);
    check_ends(b, i, c);
    check_place(b, i, c);
    check_signal(b, OD_ABOUT_ELEMENT, i, c->noun, od_model_text(p, e->name), e->signal);
    if (c->formula_key) check_formula(b, i, c);
    if (c->signal_key && e->signal == OD_UNUSED)
      od_build_report(b, OD_ABOUT_ELEMENT, i,
                      "%s '%s' has no signal; expected the index of an input or of an output of a block", c->noun,
                      od_model_text(p, e->name));
    if (c->equations->has_curve
            ? check_curve(b, i, c)
            : check_numbers(b, OD_ABOUT_ELEMENT, i, c->noun, od_model_text(p, e->name), e->number, e->numbers))
      check_values(b, i, c);
    if (c->shared_end) check_shared_end(b, i, c);
  }
}

// ---- blocks and initial values

// Checks inputs, states, numbers and formulas of blocks.
static void check_blocks(od_build *b) {
  const od_model *p = &b->part;
  for (int i = 0; i < p->blocks; i++) {
    const od_block *block = &p->block[i];
    if (block->inputs > OD_MOST_BLOCK_INPUTS || block->states > OD_MOST_BLOCK_STATES)
      od_build_report(b, OD_ABOUT_BLOCK, i,
                      "block '%s' has %d input%s and %d state%s; expected at most %d inputs and %d states",
                      od_model_text(p, block->name), block->inputs, block->inputs == 1 ? "" : "s", block->states,
                      block->states == 1 ? "" : "s", OD_MOST_BLOCK_INPUTS, (int)OD_MOST_BLOCK_STATES);
    check_numbers(b, OD_ABOUT_BLOCK, i, "block", od_model_text(p, block->name), block->number, block->numbers);
    const char *problem = od_block_formula_problem(p, block);
    if (problem) od_build_report(b, OD_ABOUT_BLOCK, i, "block '%s' %s", od_model_text(p, block->name), problem);
    for (int k = 0; k < block->inputs; k++)
      check_signal(b, OD_ABOUT_BLOCK, i, "block", od_model_text(p, block->name), p->block_line[block->line + k].source);
  }
}

static void check_initial_values(od_build *b) {
  for (int i = 0; i < b->initials; i++)
    if (!isfinite(b->initial[i].value))
      od_build_report(b, OD_ABOUT_INITIAL, i, "the initial value of '%s' is %g; expected a finite number",
                      b->initial[i].quantity, b->initial[i].value);
}

void od_build_check(od_build *b) {
  check_theta(b);
  check_bodies(b);
  check_joints(b);
  check_loads(b);
  check_oil(b);
  check_nodes(b);
  check_elements(b);
  check_blocks(b);
  check_initial_values(b);
}
