// Finishes a model: compiles and assembles the model, counts degrees of freedom, checks lengths and inertia, balances, and stores
// the initial energy.
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "hydraulics/circuit.h"
#include "mechanics/mechanics.h"
#include "mechanics/partition.h"
#include "model/model_parts.h"
#include "plant/assembly.h"
#include "plant/model_plant.h"
#include "plant/newton_choice.h"

#if OD_WITH_COMPLEX

// Returns whether some positions are balanced. Then the initial guess may be beyond the reach of cylinders.
static bool balances_positions(const od_assembly *s) {
  bool found = false;
  for (int i = 0; i < s->balances; i++) found = found || s->balanced[i].output.kind == OD_OUT_COORDINATE;
  return found;
}

bool od_assembly_check_reach(od_assembly *s, int instance, double length) {
  const od_instance *e = &s->m->instance[instance];
  const od_element_description *c = od_instance_description(s->m, e);
  const double *q = s->m->theta + e->number;
  double shortest = q[c->reach.closed], longest = shortest + od_element_stroke(c, q);
  if (!(length < shortest - 1e-9 * longest || length > longest + 1e-9 * longest)) return true;
  od_build_report(
      s->b, OD_ABOUT_ELEMENT, instance,
      "%s '%s' cannot connect its points: the points are %.4g m apart in the initial position, but its length "
      "ranges from %.4g m to %.4g m%s",
      c->noun, od_model_text(s->m, e->name), length, shortest, longest,
      s->b->starts_anywhere
          ? "; the search for a steady state begins there: add start positions to 'others: steady' in 'initial'"
          : "");
  return false;
}

static void check_reach(od_assembly *s) {
  const od_model *m = s->m;
  od_mechanics(m)->open_positions(m, s->w);
  od_mechanics(m)->open_velocities(m, s->w);
  for (int i = 0; i < m->instances; i++)
    if (od_instance_has_reach(m, &m->instance[i]))
      od_assembly_check_reach(s, i, s->w[m->layout.length + m->instance[i].actuator]);
}

// Reports elements between coincident points. The force of such an element has no direction.
static void check_directions(od_assembly *s) {
  const od_model *m = s->m;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    if (e->point_a < 0 || od_instance_has_reach(m, e) || s->w[m->layout.length + e->actuator] > 1e-12 * m->size)
      continue;
    od_build_report(
        s->b, OD_ABOUT_ELEMENT, i,
        "%s '%s' has zero length in the initial position, so its force has no direction; change its points or the initial values",
        od_instance_description(m, e)->noun, od_model_text(m, e->name));
  }
}

// Reports fixed and sliding joints with one body turned by 180 degrees: their closure equations also hold in such positions.
static void check_senses(od_assembly *s) {
  const od_model *m = s->m;
  const od_layout *l = &m->layout;
  for (int i = 0; i < m->joints; i++) {
    const od_joint *j = &m->joint[i];
    if (j->link >= 0 || (j->spec.type != OD_FIXED && (j->spec.type != OD_PRISMATIC || j->spec.axis_b >= 0))) continue;
    int a = m->point[j->spec.point_a].link, b = m->point[j->spec.point_b].link;
    bool turned = cos(s->w[l->angle + a] - s->w[l->angle + b]) < 0;
    if (!m->planar) {
      const double *A = s->w + l->rotation + OD_SPATIAL_NR * a, *B = s->w + l->rotation + OD_SPATIAL_NR * b;
      double trace = 0;
      for (int k = 0; k < 9; k++) trace += A[k] * B[k];
      turned = trace < 1;
    }
    if (turned)
      od_build_report(s->b, OD_ABOUT_JOINT, i,
                      "joint '%s' closes with one of its bodies turned by 180 degrees; change the "
                      "approximate initial values",
                      od_model_text(m, j->name));
  }
}

// Creates a plant at the initial point for the last checks. Returns false if the start of the plant fails, or if an allocation fails;
// then sets od_assembly.no_memory. end_trial() frees the plant in all cases.
static bool begin_trial(od_assembly *s, od_trial_plant *t) {
  const od_model *m = s->m;
  *t = (od_trial_plant){0};
  od_status status = od_model_plant(m, NULL, 0, NULL, 0, &t->plant, NULL);
  s->no_memory = s->no_memory || status == OD_NO_MEMORY;
  if (status != OD_OK) return false;
  size_t nx = (size_t)od_plant_nx(t->plant), nk = (size_t)od_plant_nk(t->plant), nz = (size_t)t->plant->nz;
  t->work = od_calloc(1, t->plant->work_size);
  t->x = od_calloc(nx + 1, sizeof *t->x);
  t->u = od_calloc((size_t)m->inputs + 1, sizeof *t->u);
  t->g = od_calloc(2 * nk, sizeof *t->g);
  t->mass = od_calloc(nz * nz + 1, sizeof *t->mass);
  for (int i = 0; t->u && i < m->inputs; i++) t->u[i] = m->input[i].start;
  bool memory = t->work && t->x && t->u && t->g && t->mass;
  s->no_memory = s->no_memory || !memory;
  return memory && t->plant->ops->start(t->plant, t->work, t->x) == OD_OK;
}

static void end_trial(od_trial_plant *t) {
  od_free(t->work);
  od_free(t->x);
  od_free(t->u);
  od_free(t->g);
  od_free(t->mass);
  od_plant_free(t->plant);
}

// Returns the coordinate that moves a link: its own coordinate, or the coordinate of the nearest ancestor that has one; -1: the
// link does not move.
static int moving_coordinate(const od_model *m, int link) {
  while (link > 0 && m->link[link].coordinate < 0) link = m->link[link].parent;
  return link > 0 ? m->link[link].coordinate : -1;
}

// Computes for each coordinate the mass of all bodies that it moves, kg.
static void sum_carried_masses(const od_model *m, double *mass) {
  for (int j = 0; j < m->coordinates; j++) mass[j] = 0;
  for (int i = 0; i < m->bodies; i++) {
    int j = moving_coordinate(m, m->body[i].link);
    if (j >= 0) mass[j] += m->theta[m->body[i].number];
  }
  for (int i = m->links - 1; i > 0; i--) {
    int parent = m->link[i].coordinate >= 0 ? moving_coordinate(m, m->link[i].parent) : -1;
    if (parent >= 0) mass[parent] += mass[m->link[i].coordinate];
  }
}

// Returns a typical inertia of a coordinate: the mass that it moves (kg), for angles at a typical distance (kg m2).
// Inertias are compared with this value to decide whether they are zero.
static double typical_inertia(const od_model *m, int coordinate, double mass) {
  return m->link[m->coordinate_link[coordinate]].kind == OD_LINK_PRISMATIC ? mass : mass * m->size * m->size;
}

// Returns whether the angles of a spherical joint are singular at the start. The angles are singular only if the assembly was
// unable to change the joint's reference rotation.
static bool is_at_singular_angles(const od_model *m, int joint) {
  int last = m->joint[joint].link, first = last - 2;  // the last three links of the joint belong to its angles
  return last > 2 && m->link[first].chart >= 0 && fabs(cos(m->z0[m->link[first + 1].coordinate])) < 1e-6;
}

// Reports a joint that can move without moving any mass. A force in the direction of this motion gives an infinite acceleration. A
// pivot of the mass matrix is the inertia of a coordinate if the earlier coordinates are free to move.
static void check_inertia(od_assembly *s, const od_trial_plant *t) {
  const od_model *m = s->m;
  const od_plant *plant = t->plant;
  int n = plant->nz;
  double *k = t->g + od_plant_nk(plant), *M = t->mass;
  if (plant->ops->residual(plant, t->work, 0, t->x, k, t->u, t->g) != OD_OK) return;
  od_model_plant_mass_matrix(plant, t->work, M);
  const int *in = od_model_plant_integers(plant, t->work);
  double *mass = s->trial;
  sum_carried_masses(m, mass);
  for (int i = 0; i < n; i++) t->g[i] = M[i * n + i];
  for (int i = 0; i < n; i++) {
    int coordinate = in[m->layout.independent + i];
    double pivot = M[i * n + i];
    if (!(pivot > 1e-12 * t->g[i] + 1e-13 * typical_inertia(m, coordinate, mass[coordinate]))) {
      int joint = m->link[m->coordinate_link[coordinate]].joint;
      if (is_at_singular_angles(m, joint))
        od_build_report(
            s->b, OD_ABOUT_JOINT, joint,
            "joint '%s' starts with its middle angle at 90 degrees, where the other two angles cannot be distinguished; "
            "give all three angles as exact values, or all three as 'about'",
            od_model_text(m, m->joint[joint].name));
      else
        od_build_report(
            s->b, OD_ABOUT_JOINT, joint,
            "joint '%s' can move without moving any mass; expected a body with mass or inertia in the direction of this motion",
            od_model_text(m, m->joint[joint].name));
      return;
    }
    for (int r = i + 1; r < n; r++) {
      double factor = M[r * n + i] / pivot;
      if (factor == 0) continue;
      for (int c = i + 1; c < n; c++) M[r * n + c] -= factor * M[i * n + c];
    }
  }
}

static void check_and_balance(od_assembly *s) {
  od_trial_plant t;
  if (begin_trial(s, &t)) {
    check_inertia(s, &t);
    if (!s->b->problems) od_assembly_balance(s, &t);
  }
  end_trial(&t);
}

// Computes the degrees of freedom of the mechanism with closed loops. Reports a singular initial position, and a
// mechanism that cannot move. Sets od_assembly.no_memory if an allocation fails.
static void count_freedom(od_assembly *s) {
  od_model *m = s->m;
  int *integers = od_calloc((size_t)m->layout.integers + 1, sizeof *integers);
  double *matrix = od_calloc(od_partition_doubles(m), sizeof *matrix);
  s->no_memory = s->no_memory || !integers || !matrix;
  if (integers && matrix) {
    int rank = od_assembly_rank(s, integers, matrix);
    int nearby = m->rows ? od_assembly_rank_nearby(s, integers, matrix, rank) : rank;
    m->freedom = m->coordinates - rank;
    if (nearby > rank)
      od_build_report(
          s->b, OD_ABOUT_MACHINE, -1,
          "the machine starts in a singular position: the machine has %d degree%s of freedom there, but %d nearby; change "
          "the initial position slightly",
          m->freedom, m->freedom == 1 ? "" : "s", m->coordinates - nearby);
  }
  od_free(integers);
  od_free(matrix);
  if (m->freedom == 0 && m->coordinates > 0) {
    const od_closure *last = m->closures ? &m->closure[m->closures - 1] : NULL;
    od_build_report(
        s->b,
        last && last->joint >= 0 ? OD_ABOUT_JOINT
        : last                   ? OD_ABOUT_ROD
                                 : OD_ABOUT_MACHINE,
        last ? (last->joint >= 0 ? last->joint : last->rod) : -1,
        "the mechanism cannot move: its loops remove all freedom of its %d joint coordinate%s; remove a joint or a rod",
        m->coordinates, m->coordinates == 1 ? "" : "s");
  }
}

static void note_energy(od_assembly *s) {
  const od_mechanics_real *mech = od_mechanics(s->m);
  mech->open_positions(s->m, s->w);
  mech->open_velocities(s->m, s->w);
  memcpy(s->w + s->m->layout.c, s->m->c0, (size_t)s->m->states * sizeof *s->w);
  od_circuit_evaluate(s->m, s->w);
  s->m->stored0 = od_model_output_value(s->m, s->w, &(od_output){.kind = OD_OUT_STORED, .second = -1});
  s->m->oil0 = od_circuit_oil(s->m, s->w);
}

// Allocates the memory of the assembly. Returns false if an allocation fails.
static bool take_memory(od_assembly *s) {
  const od_model *m = s->m;
  size_t n = (size_t)m->coordinates + 1;
  s->w = od_calloc((size_t)m->layout.scalars_real + 1, sizeof *s->w);
  s->wc = od_calloc((size_t)m->layout.scalars + 1, sizeof *s->wc);
  s->at_position = od_calloc((size_t)s->b->initials + 1, sizeof *s->at_position);
  s->at_rate = od_calloc((size_t)s->b->initials + 1, sizeof *s->at_rate);
  s->balanced = od_calloc((size_t)s->b->initials + 1, sizeof *s->balanced);
  s->given_z = od_calloc(n, sizeof *s->given_z);
  s->initial_of_z = od_calloc(n, sizeof *s->initial_of_z);
  s->given_c = od_calloc((size_t)m->states + 1, sizeof *s->given_c);
  s->trial = od_calloc(2 * n, sizeof *s->trial);
  return s->w && s->wc && s->at_position && s->at_rate && s->balanced && s->given_z && s->initial_of_z && s->given_c &&
         s->trial;
}

// Allocates the arrays whose size depends on the number of closure rows and conditions. Returns false if an allocation fails.
static bool take_equations(od_assembly *s) {
  size_t n = (size_t)s->m->coordinates + 1;
  size_t rows = (size_t)(s->m->rows + (s->positions > s->rates ? s->positions : s->rates)) + 1;
  s->rows = (int)rows;
  s->matrix = od_calloc(rows * n, sizeof *s->matrix);
  s->normal = od_calloc(rows * rows, sizeof *s->normal);
  s->r = od_calloc(rows, sizeof *s->r);
  s->y = od_calloc(rows, sizeof *s->y);
  s->pivot = od_calloc(rows, sizeof *s->pivot);
  return s->matrix && s->normal && s->r && s->y && s->pivot;
}

// Frees all arrays of the assembly.
static void give_memory_back(od_assembly *s) {
  od_free(s->w);
  od_free(s->wc);
  od_free(s->at_position);
  od_free(s->at_rate);
  od_free(s->balanced);
  od_free(s->given_z);
  od_free(s->initial_of_z);
  od_free(s->given_c);
  od_free(s->matrix);
  od_free(s->normal);
  od_free(s->r);
  od_free(s->y);
  od_free(s->trial);
  od_free(s->pivot);
}

od_status od_build_finish(od_build *b, od_model **out, od_error *err) {
  *out = NULL;
  b->problems = b->refused;
  if (!b->no_memory) od_build_check(b);
  if (b->part.bodies == 0 && b->part.nodes == 0 && b->part.blocks == 0)
    od_build_report(b, OD_ABOUT_MACHINE, -1,
                    "the machine has neither bodies nor a circuit nor blocks; add at least one body, node or block");
  od_assembly s = {.b = b, .m = b->no_memory || b->problems ? NULL : od_compile(b)};
  bool compiled = s.m && !b->problems;
  if (s.m && !b->problems && s.m->coordinates == 0 && s.m->states == 0)
    od_build_report(
        b, OD_ABOUT_MACHINE, -1,
        s.m->blocks
            ? "nothing can move: no block of the machine has a state; add a block with a state, such as an integrator"
        : s.m->joints
            ? "nothing can move: all joints of the machine are fixed; use a joint of another type"
            : "nothing can move: the machine has no joint, no volume and no block with a state; add one of these");
  od_error missing = {0};
  if (s.m && !b->problems && od_model_check_parts(s.m, &missing) != OD_OK)
    od_build_report(b, OD_ABOUT_MACHINE, -1, "%s", missing.text);
  bool memory = (s.m || b->problems) && !b->no_memory;
  if (memory && s.m && !b->problems && (memory = take_memory(&s))) {
    od_assembly_sort_initial_values(&s);
    memory = take_equations(&s);
    if (!memory) goto end;
    od_assembly_load_numbers(&s);
    if (b->problems && b->keeps_unassembled) od_assembly_guess_positions(&s);
    if (!b->problems) od_assembly_choose_charts(&s);
    if (!b->problems) od_assembly_positions(&s);
    if (!b->problems) od_assembly_rates(&s);
    if (!b->problems) count_freedom(&s);
    if (!b->problems) memory = od_model_choose_newton(s.m, b->sparsity);
    if (!memory) goto end;
    if (!b->problems && !balances_positions(&s)) check_reach(&s);
    if (!b->problems) check_directions(&s);
    if (!b->problems) check_senses(&s);
    if (!b->problems) check_and_balance(&s);
    if (!b->problems) note_energy(&s);
  }
end:
  give_memory_back(&s);
  if (!memory || s.no_memory || b->no_memory) {
    od_model_free(s.m);
    return od_fail(err, OD_NO_MEMORY, "out of memory while building the model");
  }
  if (b->problems) {
    bool kept = compiled && b->keeps_unassembled;
    od_model_free(kept ? b->unassembled : s.m);
    if (kept) b->unassembled = s.m;
    return od_fail(err, OD_BAD_INPUT, "%s", b->problem[0].text);
  }
  *out = s.m;
  return OD_OK;
}
#else
od_status od_build_finish(od_build *b, od_model **out, od_error *err) {
  (void)b;
  *out = NULL;
  return od_fail(
      err, OD_NOT_AVAILABLE,
      "this build does not support complex numbers (OD_WITHOUT=complex) and cannot build a model; read an image instead");
}
#endif
