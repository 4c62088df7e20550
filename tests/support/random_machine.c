// Loops that close: the machine is first built without them, which gives the initial position of every body; then two
// bodies get points and axes that coincide there, and the machine is built again with a cut joint between them.
#include "support/random_machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "friction/law.h"
#include "oleodyn/sim.h"
#include "support/random_block.h"
#include "support/random_instance.h"
#include "model/joint_types.h"

double od_dice_uniform(od_dice *d, double low, double high) {
  // splitmix64
  uint64_t z = d->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return low + (high - low) * (double)(z >> 11) / 9007199254740992.0;
}
int od_dice_pick(od_dice *d, int count) {
  return (int)od_dice_uniform(d, 0, (double)count);
}

enum { MOST_BODIES = 8, MOST_LOOPS = 2 };

// A loop to be added: its points and axes in the two bodies' frames.
typedef struct loop {
  int kind;  // 0 rod, else joint type + 1
  int body_a, body_b;
  double a[3], b[3], axis_a[3], axis_b[3], length;
} loop;

typedef struct plan {
  od_build *build;
  od_dice dice;
  bool planar;
  int bodies, joint_with_friction;
  bool laws;               // any friction law, not only the plain ones
  od_dice block_dice;      // separate, so that blocks change nothing else
  int driven[2], drivens;  // the last joints with one coordinate, and how many there are
  bool rare_joints;        // some joints are of the rarer types,
  od_dice rare;            // which have their own random numbers, too
  int blocks;
  bool lag;  // the valve's spool is a state
} plan;

static int number(plan *p, const char *what, double value) {
  return od_build_number(p->build, what, value, "1");
}

// The signal of an element: the given input, or with blocks mostly one of their outputs.
static int driver(plan *p, int input) {
  if (p->blocks == 0 || input < 0 || od_dice_pick(&p->block_dice, 4) == 0) return input;
  return od_build_block_signal(p->build, od_dice_pick(&p->block_dice, p->blocks), 0);
}

static int vector(plan *p, const char *what, const double v[3]) {
  int first = number(p, what, v[0]);
  number(p, what, v[1]);
  number(p, what, v[2]);
  return first;
}

static void random_vector(plan *p, double size, bool in_plane, double v[3]) {
  for (int k = 0; k < 3; k++) v[k] = od_dice_uniform(&p->dice, -size, size);
  if (in_plane) v[2] = 0;
}

static int random_point(plan *p, int body, const char *name) {
  double v[3];
  random_vector(p, 1, p->planar, v);
  return od_build_point(p->build, name, body, vector(p, "point", v), -1, 0);
}

// Direction of a joint's axis.
static int random_axis(plan *p, od_joint_type type) {
  double v[3] = {0, 0, 1};
  if (!p->planar || type == OD_PRISMATIC) random_vector(p, 1, p->planar, v), v[0] += 1.1;
  return vector(p, "axis", v);
}

static void add_body(plan *p, int i) {
  char name[32];
  snprintf(name, sizeof name, "body%d", i);
  od_shape shape = (od_shape)od_dice_pick(&p->dice, 5);
  if (shape == OD_SHAPE_POINT) shape = OD_SHAPE_GENERAL;  // with only a point mass a joint may have no inertia
  int first = number(p, "mass", od_dice_uniform(&p->dice, 0.5, 3));
  switch (shape) {
    case OD_SHAPE_GENERAL:
      for (int k = 0; k < 3; k++) number(p, "centre", od_dice_uniform(&p->dice, -0.5, 0.5));
      for (int k = 0; k < 3; k++) number(p, "inertia", od_dice_uniform(&p->dice, 0.8, 1.2));
      for (int k = 0; k < 3; k++) number(p, "product", od_dice_uniform(&p->dice, -0.1, 0.1));
      break;
    case OD_SHAPE_BEAM:
      number(p, "length", od_dice_uniform(&p->dice, 0.5, 2));
      // A slender beam has no inertia about its own axis; in space a joint may then have no inertia.
      if (!p->planar) shape = OD_SHAPE_CYLINDER, number(p, "radius", od_dice_uniform(&p->dice, 0.2, 0.5));
      break;
    case OD_SHAPE_CYLINDER:
      number(p, "length", od_dice_uniform(&p->dice, 0.5, 2));
      number(p, "radius", od_dice_uniform(&p->dice, 0.2, 0.5));
      break;
    default:
      for (int k = 0; k < 3; k++) number(p, "size", od_dice_uniform(&p->dice, 0.3, 1));
      for (int k = 0; k < 3; k++) number(p, "centre", od_dice_uniform(&p->dice, -0.5, 0.5));
  }
  od_build_body(p->build, name, shape, first);
}

static void add_joint(plan *p, int i) {
  char name[32], quantity[48];
  static const od_joint_type kinds[] = {OD_REVOLUTE,  OD_REVOLUTE,  OD_REVOLUTE,
                                        OD_PRISMATIC, OD_UNIVERSAL, OD_SPHERICAL};
  static const od_joint_type rare[] = {OD_PLANAR_JOINT, OD_CYLINDRICAL, OD_SCREW, OD_FREE};
  od_joint_type type = kinds[od_dice_pick(&p->dice, p->planar ? 4 : 6)];
  if (i > 1 && od_dice_pick(&p->dice, 8) == 0) type = OD_FIXED;
  // One in five is of a rarer type.
  if (p->rare_joints && od_dice_pick(&p->rare, 5) == 0) type = rare[p->planar ? 0 : od_dice_pick(&p->rare, 4)];
  snprintf(name, sizeof name, "joint%d", i);
  int parent = od_dice_pick(&p->dice, i + 1) - 1;  // the ground or an earlier body
  const od_joint_class *c = od_joint_class_of(type);
  od_joint_spec spec = od_joint_spec_of(type, -1, -1);
  spec.point_a = random_point(p, parent, "on");
  spec.point_b = random_point(p, i, "at");
  if (c->axis || c->axes) spec.axis_a = random_axis(p, type == OD_PLANAR_JOINT ? OD_REVOLUTE : type);
  if (type == OD_SCREW) spec.lead = number(p, "lead", od_dice_uniform(&p->dice, 0.5, 2));
  if (type == OD_UNIVERSAL) {
    double v[3] = {0.1, -0.2, 1};
    spec.axis_b = vector(p, "axis", v);
  }
  // Some joints are described from the child's side.
  if (od_dice_pick(&p->dice, 3) == 0) {
    int swap = spec.point_a;
    spec.point_a = spec.point_b, spec.point_b = swap;
    swap = spec.axis_a;
    if (type == OD_UNIVERSAL) spec.axis_a = spec.axis_b, spec.axis_b = swap;
  }
  int joint = od_build_joint(p->build, name, &spec);
  if (c->drives) p->joint_with_friction = joint, p->driven[1] = p->driven[0], p->driven[0] = joint, p->drivens++;
  int freedom = c->coordinates;
  for (int k = 0; k < freedom; k++) {
    snprintf(quantity, sizeof quantity, "%s.%s", name, c->coordinate[k].label[0]);
    od_build_initial(p->build, quantity, od_dice_uniform(&p->dice, -0.8, 0.8), false);
  }
  if (freedom == 1 && od_dice_pick(&p->dice, 2) == 0) {
    int first = number(p, "stiffness", od_dice_uniform(&p->dice, 0, 20));
    number(p, "damping", od_dice_uniform(&p->dice, 0, 3));
    number(p, "free", od_dice_uniform(&p->dice, -1, 1));
    number(p, "preload", od_dice_uniform(&p->dice, -2, 2));
    od_element_spec spring = od_element_spec_of("joint spring");
    spring.joint = joint, spring.first_number = first;
    od_build_element(p->build, "", &spring);
  }
  if (freedom == 1 && od_dice_pick(&p->dice, 2) == 0)
    od_build_joint_force(p->build, "motor", joint, number(p, "value", od_dice_uniform(&p->dice, -3, 3)), driver(p, 0));
}

// A gear between the last two joints with one coordinate.
static void add_gear(plan *p) {
  if (!p->rare_joints || od_dice_pick(&p->rare, 2) == 0) return;
  int first = number(p, "ratio", od_dice_uniform(&p->rare, 0.5, 1.5));
  number(p, "offset", od_dice_uniform(&p->rare, -0.5, 0.5));
  od_build_gear(p->build, "gear", p->driven[0], p->driven[1], first);
}

// A contact of a point of the last body with a plane nearby.
static void add_contact(plan *p) {
  if (!p->rare_joints) return;
  int first = number(p, "stiffness", od_dice_uniform(&p->rare, 10, 100));
  double n[3] = {1.5 + od_dice_uniform(&p->rare, -1, 1), od_dice_uniform(&p->rare, -1, 1),
                 od_dice_uniform(&p->rare, -1, 1)};
  if (p->planar) n[2] = 0;
  vector(p, "normal", n);
  double plane[3] = {od_dice_uniform(&p->rare, -1, 3), od_dice_uniform(&p->rare, -1, 1), 0};
  vector(p, "plane", plane);
  number(p, "damping", od_dice_uniform(&p->rare, 0, 0.5));
  number(p, "friction", od_dice_uniform(&p->rare, 0, 1));
  number(p, "slip", od_dice_uniform(&p->rare, 0.1, 1));
  double at[3] = {od_dice_uniform(&p->rare, -1, 1), od_dice_uniform(&p->rare, -1, 1), 0};
  od_build_contact(p->build, "contact", od_build_point(p->build, "toe", p->bodies - 1, vector(p, "toe", at), -1, 0),
                   first);
}

static int random_body(plan *p) {
  return od_dice_pick(&p->dice, p->bodies + 1) - 1;
}

static void add_elements(plan *p) {
  for (int i = 0; i < 2; i++) {
    int a = random_body(p), b = od_dice_pick(&p->dice, p->bodies);
    if (a == b) a = OD_GROUND;
    int first = number(p, "stiffness", od_dice_uniform(&p->dice, 10, 100));
    number(p, "damping", od_dice_uniform(&p->dice, 0, 10));
    number(p, "length", od_dice_uniform(&p->dice, 0.2, 1));
    number(p, "preload", od_dice_uniform(&p->dice, -5, 5));
    od_element_spec spring = od_element_spec_of("spring");
    spring.point_a = random_point(p, a, "from"), spring.point_b = random_point(p, b, "to");
    spring.first_number = first;
    od_build_element(p->build, "spring", &spring);
  }
  for (int i = 0; i < 4; i++) {
    int body = od_dice_pick(&p->dice, p->bodies), first = number(p, "value", od_dice_uniform(&p->dice, -5, 5));
    double v[3];
    random_vector(p, 1, false, v);
    v[0] += 1.1;
    vector(p, "direction", v);
    if (i < 2)
      od_build_force(p->build, "force", random_point(p, body, "at"), first, driver(p, i - 1),
                     od_dice_pick(&p->dice, 2));
    else
      od_build_torque(p->build, "torque", body, first, driver(p, i - 2), od_dice_pick(&p->dice, 2));
  }
}

// ---- random circuits

static int numbers(plan *p, const char *what, const double *values, int count) {
  int first = number(p, what, values[0]);
  for (int i = 1; i < count; i++) number(p, what, values[i]);
  return first;
}

static void add_oil(plan *p) {
  od_oil_law law = (od_oil_law)od_dice_pick(&p->dice, 3);
  const double base[2] = {od_dice_uniform(&p->dice, 800, 900), od_dice_uniform(&p->dice, 5e3, 2e4)};
  int first = numbers(p, "oil", base, 2);
  const double constant[1] = {1.2e9}, linear[2] = {1.5e9, od_dice_uniform(&p->dice, 0.3, 10)};
  const double air[4] = {1.4e9, od_dice_uniform(&p->dice, 0.001, 0.02), 1e5, 1.4};
  if (law == OD_OIL_CONSTANT) numbers(p, "oil", constant, 1);
  if (law == OD_OIL_LINEAR) numbers(p, "oil", linear, 2);
  if (law == OD_OIL_AIR) numbers(p, "oil", air, 4);
  od_build_oil(p->build, law, first);
  od_dice dice = {p->dice.state + od_dice_seed("viscosity")};  // separate: it does not change other random numbers
  double viscosity[8] = {46e-6, 313, od_dice_uniform(&dice, 290, 340), 0.03, 2e-8, 7e-4, 373, 0};
  bool given = od_dice_pick(&dice, 2);
  if (od_dice_pick(&dice, 2)) viscosity[7] = 6.8e-6;  // Walther's law
  if (given) od_build_oil_viscosity(p->build, numbers(p, "viscosity", viscosity, 8));
}

enum { VOLUMES = 3, TANK = VOLUMES, SOURCE, J1, J2 };

// Volumes 0 .. 2, a tank, a source with an input, two junctions.
static void add_nodes(plan *p) {
  static const char *const names[] = {"va", "vb", "vc"};
  for (int i = 0; i < VOLUMES; i++) {
    char quantity[32];
    od_build_node(p->build, names[i], OD_NODE_VOLUME, number(p, "volume", od_dice_uniform(&p->dice, 1e-3, 5e-3)), -1);
    snprintf(quantity, sizeof quantity, "%s.pressure", names[i]);
    od_build_initial(p->build, quantity, od_dice_uniform(&p->dice, 1e6, 8e6), true);
  }
  od_build_node(p->build, "tank", OD_NODE_TANK, number(p, "pressure", 1e5), -1);
  od_build_node(p->build, "source", OD_NODE_SOURCE, number(p, "pressure", 5e6), driver(p, 1));
  od_build_node(p->build, "j1", OD_NODE_JUNCTION, OD_UNUSED, OD_UNUSED);
  od_build_node(p->build, "j2", OD_NODE_JUNCTION, OD_UNUSED, OD_UNUSED);
  od_build_pressure_difference(p->build, "ab", 0, 1);
  od_build_pressure_difference(p->build, "supply", SOURCE, 2);
}

// An element between two nodes, with a signal or without (-1).
static int flow(plan *p, const char *name, const char *class_name, int from, int to, const double *q, int count,
                int signal) {
  od_element_spec spec = od_element_spec_of(class_name);
  spec.end[0] = from, spec.end[1] = to, spec.signal = signal;
  spec.first_number = numbers(p, class_name, q, count);
  return od_build_element(p->build, name, &spec);
}

static void add_flows(plan *p) {
  const double orifice[3] = {1e-5, 0.6, 0.7}, relief[2] = {2e6, 1e-10}, check[4] = {1e-5, 0.6, 1e6, 9e6},
               leak[1] = {1e-12}, pump[1] = {1e-3};
  int from = od_dice_pick(&p->dice, 2) ? TANK : OD_UNUSED;
  flow(p, "pump", "pump", from, 0, pump, 1, driver(p, od_dice_pick(&p->dice, 3) - 1));
  flow(p, "throttle", "orifice", 0, 1, orifice, 3, driver(p, 1));
  flow(p, "bleed", "orifice", 1, TANK, orifice, 3, -1);
  flow(p, "feed", "orifice", SOURCE, 2, orifice, 3, -1);
  flow(p, "relief", "relief valve", 0, TANK, relief, 2, -1);
  flow(p, "check", "check valve", 2, 1, check, 4, -1);
  flow(p, "leak", "leak", 2, TANK, leak, 1, -1);
  flow(p, "branch", "orifice", 0, J1, orifice, 3, -1);
  flow(p, "bridge", "orifice", J1, J2, orifice, 3, -1);
  flow(p, "return", "check valve", J2, 2, check, 4, -1);
  flow(p, "seep", "leak", J1, TANK, leak, 1, -1);
  flow(p, "spill", "relief valve", J2, TANK, relief, 2, -1);
}

// Elements of every class with a table of fields, each with a probability such that about ten of them are in a machine; classes with
// modes are in all machines: between random volumes, in the joint with friction, with random numbers around the usual ones. A new
// class is included automatically. Machines with all classes at once would be so stiff that round-off exceeds the tolerances of tests.
static void add_some_classes(plan *p) {
  int one_in = od_element_class_count() / 10;
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_description *c = od_element_description_at(i);
    od_dice dice = {p->dice.state +
                    od_dice_seed(c->equations->name)};  // separate: a new class does not change the others
    bool in_joint = c->equations->acts == OD_ACTS_IN_JOINT || c->equations->acts == OD_ACTS_SOMEWHERE;
    if (od_dice_pick(&dice, one_in) && !c->equations->margin) continue;
    if (!c->section || !(c->equations->needs_oil || in_joint) || c->has_parts) continue;
    if (c->equations->acts == OD_ACTS_BETWEEN_POINTS || (in_joint && p->joint_with_friction < 0)) continue;
    double q[64];
    od_element_spec spec = od_element_spec_of(c->equations->name);
    int count = od_random_numbers(&dice, c, q, spec.choice), from = od_dice_pick(&dice, VOLUMES);
    int ends = od_element_end_count(c);
    for (int k = 0; k < ends; k++) spec.end[k] = (from + k) % VOLUMES;
    if (in_joint) spec.joint = p->joint_with_friction;
    if (c->signal_key) spec.signal = 0;
    if (c->formula_key) {
      spec.signal = driver(p, 0), spec.more_signals[0] = 1;
      spec.formula = *od_random_formula_of(c), spec.numbers = count;
    }
    spec.first_number = numbers(p, c->equations->name, q, count);
    char name[64];
    snprintf(name, sizeof name, "any_%s", c->section);
    od_build_element(p->build, name, &spec);
    // States start inside their range, not at its ends.
    for (int k = 0; k < OD_MOST_ELEMENT_STATES && c->states[k].name; k++) {
      const od_element_state *state = &c->states[k];
      char quantity[128];
      snprintf(quantity, sizeof quantity, "%s.%s", name, state->name);
      double size = state->scale > 0 ? state->scale : q[state->scale_field];
      if (state->present_if < 0)  // temperatures are absolute
        od_build_initial(p->build, quantity,
                         strcmp(state->unit, "K") == 0 && state->initial > 0 ? state->initial - 8 : 0.3 * size, true);
    }
  }
}

static void add_valve(plan *p) {
  double lag = od_dice_pick(&p->dice, 2) ? 0.02 : 0;
  const double q[6] = {lag, 1.5, 2e-5, 0.6, 2, 0.05};
  p->lag = lag > 0;
  od_element_spec spec = od_element_spec_of("valve");
  int law = od_dice_pick(&p->dice, 2);
  spec.first_number = numbers(p, "valve", q, 6);
  spec.signal = driver(p, 0);
  int valve = od_build_element(p->build, "valve", &spec);
  static const int from[4] = {0, 2, 0, J2}, to[4] = {1, TANK, 2, TANK};
  static const char *const names[] = {"a", "b", "c", "d"};
  for (int i = 0; i < 4; i++) {
    int degree = 1 + od_dice_pick(&p->dice, 3), count = degree + 1 + od_dice_pick(&p->dice, 4);
    int first = number(p, "overlap", od_dice_uniform(&p->dice, -0.05, 0.05));
    for (int k = 0; k < count; k++)
      number(p, "at",
             1.5 * k / (count - 1) + (k > 0 && k < count - 1 ? od_dice_uniform(&p->dice, -0.1, 0.1) / count : 0));
    for (int k = 0; k < count; k++) number(p, "value", k == 0 ? 0 : od_dice_uniform(&p->dice, 0.3, 2));
    od_element_spec port = od_element_spec_of("port");
    port.host = valve, port.end[0] = from[i], port.end[1] = to[i];
    port.first_number = first, port.numbers = 1 + 2 * count;
    port.choice[OD_PORT_SIDE] = i < 2 ? 1 : -1;
    port.choice[OD_PORT_DEGREE] = degree;
    port.choice[OD_PORT_COUNT] = count;
    port.choice[OD_PORT_LAW] = law;
    od_build_element(p->build, names[i], &port);
  }
  if (lag > 0) od_build_initial(p->build, "valve.spool", od_dice_uniform(&p->dice, -1.4, 1.4), true);
}

static void add_friction(plan *p, int host, int joint, bool coulomb, const double q[4]) {
  // After their parameters: the factor and its powers.
  const double without_static[7] = {q[0], q[2], q[3], 1, 1, 0, 0}, with_static[9] = {q[0], q[1], q[2], q[3], 1, 1, 1};
  od_element_spec spec = od_element_spec_of(coulomb ? "coulomb" : "brown-mcphee");
  spec.host = host, spec.joint = joint;
  spec.first_number = coulomb ? numbers(p, "friction", without_static, 7) : numbers(p, "friction", with_static, 9);
  od_build_element(p->build, "", &spec);
}

// Any law with numbers around the usual ones, torques a hundredth of forces; states begin inside their range.
static void add_law(plan *p, int host, int joint, const char *owner) {
  od_dice dice = {p->dice.state + od_dice_seed(owner)};  // separate: a new law does not change the others
  const od_element_description *c = od_friction_laws[od_dice_pick(&dice, od_friction_law_count())]->element;
  od_element_spec spec = od_element_spec_of(c->equations->name);
  double q[2 * OD_MOST_ELEMENT_FIELDS];
  int count = od_random_numbers(&dice, c, q, spec.choice);
  for (int i = 0; i < count; i++) {
    if (joint != OD_UNUSED && strcmp(c->fields[i].unit, "N") == 0) q[i] *= 0.01;
    // Bristles soft enough for steps of a millisecond with a light body; unit.friction.in_machine has stiff ones.
    if (strncmp(c->fields[i].key, "sigma_0", 7) == 0) q[i] *= 1e-3;
  }
  spec.host = host, spec.joint = joint;
  spec.first_number = numbers(p, "friction", q, count);
  if (od_dice_pick(&dice, 3) == 0 && c->fields[c->field_count - 1].key) spec.signal = driver(p, 1);
  od_build_element(p->build, "", &spec);
  for (int k = 0; k < OD_MOST_ELEMENT_STATES && c->states[k].name; k++) {
    char quantity[128];
    snprintf(quantity, sizeof quantity, "%s.friction_%s", owner, c->states[k].name);
    od_build_initial(p->build, quantity,
                     0.3 * (c->states[k].scale > 0 ? c->states[k].scale : q[c->states[k].scale_field]), true);
  }
}

static void add_frictions(plan *p, int cylinder) {
  const double q[4] = {200, 500, 0.3, 100}, r[4] = {2, 3, 0.2, 1};
  int kind = od_dice_pick(&p->dice, 2);
  char joint[32];
  snprintf(joint, sizeof joint, "joint%d", p->joint_with_friction);
  if (p->laws)
    add_law(p, cylinder, OD_UNUSED, "c0");
  else
    add_friction(p, cylinder, OD_UNUSED, kind == 0, q);
  // In the first joint, if it has one coordinate.
  if (p->joint_with_friction >= 0 && p->laws)
    add_law(p, OD_UNUSED, p->joint_with_friction, joint);
  else if (p->joint_with_friction >= 0)
    add_friction(p, OD_UNUSED, p->joint_with_friction, false, r);
}

static int add_cylinder(plan *p, const char *name, int point_a, int point_b, int node_a, int node_b, bool diameters) {
  // Long enough for any random points. A cylinder rarely touches its stops, so some get short strokes.
  const double q[9] = {diameters ? 0.03 : 2e-3, diameters ? 0.02 : 1.5e-3, 0.001, 30, 1e-4, 2e-4, 1e-13, 1e4, 0.5};
  od_element_spec spec = od_element_spec_of("cylinder"), leak = od_element_spec_of("leak");
  spec.point_a = point_a, spec.point_b = point_b;
  spec.end[0] = leak.end[0] = node_a, spec.end[1] = leak.end[1] = node_b;
  spec.choice[OD_CYLINDER_DIAMETERS] = diameters;
  spec.first_number = numbers(p, "cylinder", q, 9);
  leak.host = od_build_element(p->build, name, &spec);
  leak.first_number = spec.first_number + OD_CYLINDER_LEAKAGE;
  od_build_element(p->build, "", &leak);
  return leak.host;
}

static void add_circuit(plan *p) {
  add_oil(p);
  add_nodes(p);
  add_flows(p);
  add_some_classes(p);
  add_valve(p);
  for (int i = 0; i < 2; i++) {
    int a = random_body(p), b = od_dice_pick(&p->dice, p->bodies);
    if (a == b) a = OD_GROUND;
    bool diameters = od_dice_pick(&p->dice, 2);
    int from = random_point(p, a, "ca"), to = random_point(p, b, "cb");
    int cylinder = add_cylinder(p, i ? "c1" : "c0", from, to, 1, i ? TANK : 2, diameters);
    if (i == 0) add_frictions(p, cylinder);
  }
}

// ---- random blocks

enum { SENSORS = 5, NETWORK = 10, MOST_BLOCK_STATES = 14 };

static void random_block_numbers(plan *p, int block, const od_block_spec *s, double gain) {
  double q[OD_MOST_BLOCK_NUMBERS];
  int count = od_random_block_numbers(&p->block_dice, s, gain, q);
  if (count > 0) od_build_block_numbers(p->build, block, numbers(p, "block", q, count));
}

// Blocks that can be sampled sometimes are, but not delays, which hide derivatives.
static od_block_spec random_block(od_dice *d, int block_class) {
  bool sampled = od_block_classes[block_class]->step && od_dice_pick(d, 4) == 0;
  return od_random_block_spec(d, block_class, sampled ? 2e-3 : 0);
}

// First blocks with a measurement as input, then a network of all kinds. Numbers and connections are added after
// everything that can be measured.
static void declare_blocks(plan *p, od_block_spec spec[SENSORS + NETWORK]) {
  static const char *const sensors[] = {"gain", "first-order", "lead-lag"};
  int states = 0;
  for (int i = 0; i < SENSORS + NETWORK; i++) {
    char name[24];
    snprintf(name, sizeof name, "block%d", i);
    int which = od_dice_pick(&p->block_dice, od_block_class_count());
    if (i < SENSORS) which = od_block_class_find(sensors[od_dice_pick(&p->block_dice, 3)]);
    if (states > MOST_BLOCK_STATES) which = od_block_class_find("sum");
    spec[i] = random_block(&p->block_dice, which);
    // These use separate random numbers and do not change the others.
    static const char *const more[] = {"formula", "power", "relay", "switch", "sample-hold", "state-machine"};
    od_dice dice = {p->block_dice.state + od_dice_seed("formula")};
    int pick = od_dice_pick(&dice, 24);
    if (i >= SENSORS && pick < 6 && states <= MOST_BLOCK_STATES)
      spec[i] = random_block(&dice, od_block_class_find(more[pick]));
    od_build_block(p->build, name, &spec[i], "1");
    states += od_block_count(&spec[i]).states;
  }
  p->blocks = SENSORS + NETWORK;
}

// A quantity to measure, and the factor that scales it to about one.
static const char *random_quantity(plan *p, bool circuit, char text[32], double *factor) {
  static const char *const of_mechanism[] = {"body0.o.x",    "body0.o.vy",      "spring.length",   "spring.rate",
                                             "spring.force", "body0.turn_rate", "body0.o.body_vx", "body0.gyro_z"};
  static const char *const of_circuit[] = {"va.pressure", "vc.pressure", "c0.length",     "c0.rate",    "c1.length",
                                           "c0.force",    "c0.friction", "tank.pressure", "ab.pressure"};
  od_dice *d = &p->block_dice;
  *factor = 1;
  if (od_dice_pick(d, 4) == 0 && p->joint_with_friction >= 0) {
    snprintf(text, 32, "joint%d.rate", p->joint_with_friction);
    return text;
  }
  if (circuit && p->lag && od_dice_pick(d, 5) == 0) return "valve.spool";
  const char *name = circuit && od_dice_pick(d, 2) ? of_circuit[od_dice_pick(d, 9)] : of_mechanism[od_dice_pick(d, 8)];
  if (strstr(name, "pressure")) *factor = 3e-7;
  if (strstr(name, "force") || strstr(name, "friction")) *factor = 1e-3;
  if (!p->planar && strcmp(name, "body0.turn_rate") == 0) name = "body0.wx";
  return name;
}

// A block may read any block before it; a block with a state may also read blocks after it.
static void connect_blocks(plan *p, const od_block_spec *spec, bool circuit) {
  od_dice *d = &p->block_dice;
  for (int i = 0; i < p->blocks; i++) {
    double factor = 1;
    char text[32], quantity[48];
    if (i < SENSORS) od_build_block_measures(p->build, i, 0, random_quantity(p, circuit, text, &factor));
    bool passes_on = od_block_passes_on(&spec[i], false);
    for (int k = 0; i >= SENSORS && k < od_block_count(&spec[i]).inputs; k++) {
      int from = od_dice_pick(d, 2 + (passes_on ? i : p->blocks)) - 2;
      od_build_block_input(p->build, i, k, from < 0 ? from + 2 : od_build_block_signal(p->build, from, 0));
    }
    random_block_numbers(p, i, &spec[i], factor * od_dice_uniform(d, 0.5, 1.5));
    // Its initial value.
    for (int k = 0; k < od_block_count(&spec[i]).states && spec[i].sample == 0; k++) {
      snprintf(quantity, sizeof quantity, "block%d.%s", i, od_build_block_state_name(p->build, i, k));
      od_build_initial(p->build, quantity, od_dice_uniform(d, -0.5, 0.5) / factor, true);
    }
  }
}

// Points whose positions give a body's pose.
static void add_pose_points(plan *p, int body) {
  static const char *const names[4] = {"o", "x", "y", "z"};
  for (int k = 0; k < 4; k++) {
    double v[3] = {k == 1, k == 2, k == 3};
    od_build_point(p->build, names[k], body, vector(p, "pose", v), -1, 0);
  }
}

static void add_loop(plan *p, const loop *l, int i) {
  char name[32];
  snprintf(name, sizeof name, "loop%d", i);
  int a = od_build_point(p->build, "la", l->body_a, vector(p, "point", l->a), -1, 0);
  int b = od_build_point(p->build, "lb", l->body_b, vector(p, "point", l->b), -1, 0);
  if (l->kind == 0) {
    od_build_rod(p->build, name, a, b, number(p, "length", l->length));
    return;
  }
  od_joint_spec spec = {.type = (od_joint_type)(l->kind - 1), .point_a = a, .point_b = b, .cut = true};
  spec.axis_a = vector(p, "axis", l->axis_a);
  spec.axis_b = vector(p, "axis", l->axis_b);
  od_build_joint(p->build, name, &spec);
}

static od_model *build(uint64_t seed, bool planar, bool rare, bool circuit, bool blocks, od_sparsity sparsity,
                       const loop *loops, int count) {
  plan p = {.build = od_build_new(),
            .dice = {seed * 7919 + 13},
            .rare = {seed * 15485863 + 5},
            .rare_joints = rare,
            .planar = planar,
            .joint_with_friction = -1};
  if (!p.build) return NULL;
  p.block_dice.state = seed * 611953 + 5;
  p.build->sparsity = sparsity;
  p.laws = seed % 2;
  od_block_spec spec[SENSORS + NETWORK];
  double g[3] = {0.3, -9.81, 1.5};
  od_build_gravity(p.build, vector(&p, "gravity", g));
  od_build_input(p.build, "u0", "1");
  od_build_input(p.build, "u1", "1");
  if (blocks) declare_blocks(&p, spec);
  // Loops remove coordinates, in space many of them.
  p.bodies = (loops ? (planar ? 4 : 6) : 1) + od_dice_pick(&p.dice, 3);
  for (int i = 0; i < p.bodies; i++) {
    add_body(&p, i);
    add_joint(&p, i);
  }
  if (p.drivens >= 2) add_gear(&p);
  add_contact(&p);
  add_elements(&p);
  if (circuit) add_circuit(&p);
  for (int i = 0; i < p.bodies; i++) add_pose_points(&p, i);
  if (blocks) connect_blocks(&p, spec, circuit);
  for (int i = 0; i < count; i++) add_loop(&p, &loops[i], i);
  od_model *m = NULL;
  od_error err = {0};
  od_build_finish(p.build, &m, &err);
  if (!m && getenv("OD_TEST_VERBOSE")) fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, err.text);
  od_build_free(p.build);
  return m;
}

// Position and rotation (columns: body axes) of a body in the initial position.
static void pose(const od_model *m, int body, double r[3], double R[3][3]) {
  memset(R, 0, 9 * sizeof(double));
  for (int k = 0; k < 3; k++) r[k] = 0, R[k][k] = 1;
  if (body == OD_GROUND) return;
  int out[12];
  static const char *const names[4] = {"o", "x", "y", "z"};
  for (int k = 0; k < 12; k++) {
    char name[64];
    snprintf(name, sizeof name, "body%d.%s.%c", body, names[k / 3], "xyz"[k % 3]);
    out[k] = od_model_output_find(m, name);
  }
  od_plant *plant = NULL;
  double u[2] = {0}, y[12] = {0};
  if (od_model_plant(m, out, 12, NULL, 0, &plant, NULL) != OD_OK) abort();
  od_sim *sim = od_sim_new(plant);
  if (od_sim_start(sim, 0, u) != OD_OK || od_sim_outputs(sim, y) != OD_OK) abort();
  for (int i = 0; i < 3; i++) {
    r[i] = y[i];
    for (int k = 0; k < 3; k++) R[i][k] = y[3 + 3 * k + i] - y[i];
  }
  od_sim_free(sim);
  od_plant_free(plant);
}

static void random_loop(od_dice *dice, const od_model *m, bool planar, bool rare, loop *l) {
  static const int in_plane[] = {0, 1 + OD_REVOLUTE, 1 + OD_REVOLUTE, 1 + OD_PRISMATIC, 1 + OD_SPHERICAL, 1 + OD_FIXED};
  static const int in_space[] = {0,
                                 0,
                                 1 + OD_SPHERICAL,
                                 1 + OD_REVOLUTE,
                                 1 + OD_UNIVERSAL,
                                 1 + OD_PRISMATIC,
                                 1 + OD_FIXED,
                                 1 + OD_CYLINDRICAL,
                                 1 + OD_PLANAR_JOINT};
  *l = (loop){.kind = planar ? in_plane[od_dice_pick(dice, 6)] : in_space[od_dice_pick(dice, rare ? 9 : 7)]};
  l->body_a = od_dice_pick(dice, m->bodies);
  l->body_b = od_dice_pick(dice, m->bodies + 1) - 1;
  if (l->body_a == l->body_b) l->body_b = OD_GROUND;
  double ra[3], Ra[3][3], rb[3], Rb[3][3], axis[3];
  pose(m, l->body_a, ra, Ra);
  pose(m, l->body_b, rb, Rb);
  for (int k = 0; k < 3; k++) l->a[k] = od_dice_uniform(dice, -1, 1), axis[k] = od_dice_uniform(dice, -1, 1);
  axis[0] += 1.1;
  if (planar) l->a[2] = axis[2] = 0;
  if (planar && l->kind == 1 + OD_REVOLUTE) axis[0] = axis[1] = 0, axis[2] = 1;
  // Prismatic joints close anywhere along the axis, rods at any distance, the others where the points coincide.
  double apart = l->kind == 1 + OD_PRISMATIC || l->kind == 1 + OD_CYLINDRICAL ? od_dice_uniform(dice, -1, 1) : 0,
         world[3], world_axis[3];
  for (int i = 0; i < 3; i++) {
    world_axis[i] = Ra[i][0] * axis[0] + Ra[i][1] * axis[1] + Ra[i][2] * axis[2];
    world[i] = ra[i] + Ra[i][0] * l->a[0] + Ra[i][1] * l->a[1] + Ra[i][2] * l->a[2] + apart * world_axis[i];
    l->axis_a[i] = axis[i];
  }
  if (l->kind == 1 + OD_UNIVERSAL) {
    // The second axis: across the first.
    double c[3] = {world_axis[1], -world_axis[0], 0};
    memcpy(world_axis, c, sizeof c);
  }
  for (int k = 0; k < 3; k++) {
    l->b[k] = l->axis_b[k] = 0;
    for (int i = 0; i < 3; i++) l->b[k] += Rb[i][k] * (world[i] - rb[i]), l->axis_b[k] += Rb[i][k] * world_axis[i];
  }
  if (l->kind == 0) {
    double square = 0;
    for (int k = 0; k < 3; k++) {
      double shift = planar && k == 2 ? 0 : od_dice_uniform(dice, 0.3, 1);
      double in_world = Rb[k][0] * 0 + shift;
      for (int i = 0; i < 3; i++) l->b[i] += Rb[k][i] * in_world;
      square += shift * shift;
    }
    l->length = sqrt(square);
  }
  // Fixed joints demand parallel axes, which the initial position does not have.
  if (l->kind == 1 + OD_FIXED) l->kind = 1 + OD_SPHERICAL;
}

od_model *od_random_machine(uint64_t seed, bool planar, bool loops, bool circuit, bool blocks) {
  return od_random_machine_with(seed, planar, loops, circuit, blocks, OD_SPARSE_BY_SIZE);
}

od_model *od_random_machine_with(uint64_t seed, bool planar, bool loops, bool circuit, bool blocks,
                                 od_sparsity sparsity) {
  // Rarer joints are in machines without a circuit: free bodies make stiff circuits diverge within a step.
  bool rare = !circuit && !blocks;
  if (!loops) return build(seed, planar, rare, circuit, blocks, sparsity, NULL, 0);
  loop list[MOST_LOOPS] = {0};
  od_model *open = build(seed, planar, rare, false, false, sparsity, list, 0);
  if (!open) return NULL;
  od_dice dice = {seed * 104729 + 7};
  int count = 1 + od_dice_pick(&dice, MOST_LOOPS);
  for (int i = 0; i < count; i++) random_loop(&dice, open, planar, rare, &list[i]);
  od_model_free(open);
  return build(seed, planar, rare, circuit, blocks, sparsity, list, count);
}
