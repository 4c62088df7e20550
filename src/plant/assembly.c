// Assembly: from rough initial values to a state in which all loops are closed and all exact values are met.
//
// Positions: find the z nearest to the rough one (in weighted least squares) with Phi(z) = 0 and c(z) = value, by
// Gauss-Newton steps of least norm. Redundant rows make the matrix singular, which a tiny regularisation forgives.
// Circuit: pressures and spools as given. Static balance then replaces what was asked to be balanced.
// Rates: the same for the linear problem Phi_z z' = 0, c_z z' = value. Derivatives of the conditions are complex
// steps. Runs once, when a model is built; allocates.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hydraulics/circuit.h"
#include "math/dense.h"
#include "mechanics/mechanics.h"
#include "mechanics/partition.h"
#include "model/builder.h"
#include "model/outputs.h"
#include "plant/equilibrium.h"
#include "plant/machine_plant.h"

static const double tiny = 1e-30;  // the imaginary step

// One exact initial value.
typedef struct condition {
  int initial;  // which of the builder's
  od_output output;
  double value;
} condition;

typedef struct assembly {
  od_build *b;
  od_model *m;
  double *w;
  double _Complex *wc;
  condition *at_position, *at_rate, *balanced;
  int positions, rates, balances;
  bool *given_z, *given_c;
  int rows;                         // of the largest problem: closure rows and conditions
  double *matrix, *normal, *r, *y, *trial;  // J (rows x n), J W J', residual, its solution, z
  int *pivot;
} assembly;

static bool is_position(od_output_kind kind) {
  return kind == OD_OUT_COORDINATE || kind == OD_OUT_POINT || kind == OD_OUT_BODY_ANGLE || kind == OD_OUT_SPRING_LENGTH ||
         kind == OD_OUT_CYLINDER_LENGTH;
}
static bool is_rate(od_output_kind kind) {
  return kind == OD_OUT_COORDINATE_RATE || kind == OD_OUT_POINT_VELOCITY || kind == OD_OUT_BODY_TURN_RATE ||
         kind == OD_OUT_SPRING_RATE || kind == OD_OUT_CYLINDER_RATE;
}
static bool is_state_of_circuit(const od_model *m, const od_output *o) {
  return (o->kind == OD_OUT_NODE_PRESSURE && m->node[o->index].state >= 0) ||
         (o->kind == OD_OUT_SPOOL && m->valve[o->index].state >= 0);
}
static int circuit_state(const od_model *m, const od_output *o) {
  return o->kind == OD_OUT_SPOOL ? m->valve[o->index].state : m->node[o->index].state;
}

// Values of conditions; lengths and speeds of cylinders belong to the circuit.
static double value_of(const od_model *m, const double *w, const od_output *o) {
  return od_output_is_of_circuit(o->kind) ? od_circuit_output(m, w, o) : od_mechanics(m)->output(m, w, o);
}
static double _Complex complex_value_of(const od_model *m, const double _Complex *w, const od_output *o) {
  return od_output_is_of_circuit(o->kind) ? od_circuit_output_complex(m, w, o)
                                          : od_mechanics_with_derivatives(m)->output(m, w, o);
}

// The output or coordinate that an initial value is about; false when there is none of that name.
static bool find_quantity(const od_model *m, const char *quantity, od_output *out) {
  int index = od_model_output_find(m, quantity), coordinate = od_model_coordinate_find(m, quantity, false);
  int rate = od_model_coordinate_find(m, quantity, true);
  if (index >= 0) *out = m->output[index];
  else if (coordinate >= 0) *out = (od_output){.kind = OD_OUT_COORDINATE, .index = coordinate};
  else if (rate >= 0) *out = (od_output){.kind = OD_OUT_COORDINATE_RATE, .index = rate};
  return index >= 0 || coordinate >= 0 || rate >= 0;
}

// A joint that closes a loop has no coordinate of its own.
static bool names_loop_joint(const od_model *m, const char *quantity, const char **joint) {
  for (int i = 0; i < m->joints; i++) {
    size_t length = strlen(m->joint[i].name);
    *joint = m->joint[i].name;
    if (m->joint[i].link < 0 && strncmp(quantity, *joint, length) == 0 && quantity[length] == '.') return true;
  }
  return false;
}

// One initial value: rough ones go into z0, pressures and spools into c0, exact ones become conditions.
static void take_initial_value(assembly *s, int i) {
  const od_model *m = s->m;
  const od_initial *in = &s->b->initial[i];
  condition c = {.initial = i, .value = in->value};
  const char *joint;
  if (!find_quantity(m, in->quantity, &c.output)) {
    if (names_loop_joint(m, in->quantity, &joint))
      od_build_complain(s->b, OD_ABOUT_INITIAL, i, "'%s' is not a quantity: joint '%s' closes a loop and has no coordinate",
                        in->quantity, joint);
    else
      od_build_complain(s->b, OD_ABOUT_INITIAL, i, "unknown quantity '%s'", in->quantity);
    return;
  }
  bool position = is_position(c.output.kind), rate = is_rate(c.output.kind), circuit = is_state_of_circuit(m, &c.output);
  if (!position && !rate && !circuit) {
    od_build_complain(s->b, OD_ABOUT_INITIAL, i,
                      "'%s' cannot be an initial value: only positions, angles, lengths, their rates, pressures of volumes "
                      "and spools with a time constant can", in->quantity);
    return;
  }
  if (in->balance && c.output.kind != OD_OUT_COORDINATE && c.output.kind != OD_OUT_NODE_PRESSURE) {
    od_build_complain(s->b, OD_ABOUT_INITIAL, i, "'%s' cannot be balanced: only joint coordinates and pressures of volumes can",
                      in->quantity);
    return;
  }
  if (c.output.kind == OD_OUT_COORDINATE) m->z0[c.output.index] = in->value, s->given_z[c.output.index] = true;
  if (c.output.kind == OD_OUT_COORDINATE_RATE) m->zd0[c.output.index] = in->value;
  if (circuit) {
    m->c0[circuit_state(m, &c.output)] = in->value;
    s->given_c[circuit_state(m, &c.output)] = true;
  }
  if (in->balance) s->balanced[s->balances++] = c;
  if (in->exact && position) s->at_position[s->positions++] = c;
  if (in->exact && rate) s->at_rate[s->rates++] = c;
}

static void complain_about_missing_values(assembly *s) {
  const od_model *m = s->m;
  for (int j = 0; j < m->coordinates; j++) {
    if (s->given_z[j]) continue;
    int joint = m->link[m->coordinate_link[j]].joint;
    const od_joint *owner = &m->joint[joint];
    od_build_complain(s->b, OD_ABOUT_JOINT, joint,
                      "joint '%s' has no initial value: 'initial' needs '%s.%s', exact or 'about' a rough value",
                      owner->name, owner->name, od_coordinate_label(m, j, 0));
  }
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].state >= 0 && !s->given_c[m->node[i].state])
      od_build_complain(s->b, OD_ABOUT_NODE, i, "volume '%s' has no initial pressure: 'initial' needs '%s.pressure'",
                        m->node[i].name, m->node[i].name);
}

static void sort_initial_values(assembly *s) {
  for (int i = 0; i < s->b->initials; i++) take_initial_value(s, i);
  complain_about_missing_values(s);
}

// Real and complex work memory for the numbers at hand.
static void load_numbers(assembly *s) {
  const od_model *m = s->m;
  const od_layout *l = &m->layout;
  memcpy(s->w + l->theta, m->theta, (size_t)m->numbers * sizeof(double));
  for (int c = 0; c < m->charts; c++)
    for (int k = 0; k < 9; k++) s->w[l->chart + 9 * c + k] = k % 4 == 0;
  for (int i = 0; i < m->numbers; i++) s->wc[l->theta + i] = m->theta[i];
  for (int i = 0; i < 9 * m->charts; i++) s->wc[l->chart + i] = s->w[l->chart + i];
  od_mechanics(m)->prepare(m, s->w);
  od_mechanics_with_derivatives(m)->prepare(m, s->wc);
}

// The closure rows of J as a dense matrix.
static void closure_rows(const assembly *s, double *matrix) {
  const od_model *m = s->m;
  int n = m->coordinates;
  memset(matrix, 0, (size_t)(m->rows * n) * sizeof *matrix);
  for (int c = 0; c < m->closures; c++) {
    const od_closure *closure = &m->closure[c];
    for (int k = 0; k < closure->rows; k++)
      for (int e = 0; e < closure->path_count; e++)
        matrix[(closure->row + k) * n + m->link[m->path_step[closure->path + e].link].coordinate] =
            s->w[m->layout.jacobian + closure->entry + k * closure->path_count + e];
  }
}

// Rows and residuals of the conditions: their derivatives by z (or z', when rate) from the complex kernel.
static void condition_rows(assembly *s, const condition *list, int count, bool rate) {
  const od_model *m = s->m;
  const od_layout *l = &m->layout;
  const od_mechanics_complex *mech = od_mechanics_with_derivatives(m);
  int n = m->coordinates, moved = rate ? l->zd : l->z;
  if (count == 0) return;
  for (int j = 0; j < n; j++) s->wc[l->z + j] = s->w[l->z + j], s->wc[l->zd + j] = s->w[l->zd + j];
  for (int j = 0; j < n; j++) {
    double _Complex step = tiny * (double _Complex){__builtin_complex(0.0, 1.0)};
    s->wc[moved + j] += step;
    mech->open_positions(m, s->wc);
    mech->open_velocities(m, s->wc);
    for (int i = 0; i < count; i++) {
      double _Complex y = complex_value_of(m, s->wc, &list[i].output);
      s->matrix[(m->rows + i) * n + j] = __imag__ y / tiny;
      s->r[m->rows + i] = __real__ y - list[i].value;
    }
    s->wc[moved + j] -= step;
  }
}

// The step of least norm: y = (J W^2 J' + mu) ^-1 r, step = -W^2 J' y. W: typical size of a coordinate.
static void least_norm_step(assembly *s, int rows, double *step) {
  const od_model *m = s->m;
  int n = m->coordinates;
  double trace = 0;
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < rows; k++) {
      double sum = 0;
      for (int j = 0; j < n; j++) {
        double weight = m->link[m->coordinate_link[j]].kind == OD_LINK_PRISMATIC ? m->size : 1;
        sum += s->matrix[i * n + j] * weight * weight * s->matrix[k * n + j];
      }
      s->normal[i * rows + k] = sum;
      if (i == k) trace += sum;
    }
  for (int i = 0; i < rows; i++) s->normal[i * rows + i] += 1e-14 * trace + 1e-300;
  memcpy(s->y, s->r, (size_t)rows * sizeof *s->y);
  if (od_lu_factor(rows, s->normal, s->pivot) == OD_OK) od_lu_solve(rows, s->normal, s->pivot, s->y, 1);
  for (int j = 0; j < n; j++) {
    double weight = m->link[m->coordinate_link[j]].kind == OD_LINK_PRISMATIC ? m->size : 1, sum = 0;
    for (int i = 0; i < rows; i++) sum += s->matrix[i * n + j] * s->y[i];
    step[j] = -weight * weight * sum;
  }
}

// The residual of positions with so many conditions, its size, and (on demand) J.
static double position_residual(assembly *s, int conditions, bool derivatives) {
  const od_model *m = s->m;
  const od_mechanics_real *mech = od_mechanics(m);
  mech->open_positions(m, s->w);
  memcpy(s->r, s->w + m->layout.phi, (size_t)m->rows * sizeof *s->r);
  mech->open_velocities(m, s->w);
  for (int i = 0; i < conditions; i++)
    s->r[m->rows + i] = value_of(m, s->w, &s->at_position[i].output) - s->at_position[i].value;
  if (derivatives) {
    closure_rows(s, s->matrix);
    condition_rows(s, s->at_position, conditions, false);
  }
  double sum = 0;
  for (int i = 0; i < m->rows + conditions; i++) sum += s->r[i] * s->r[i];
  return sqrt(sum);
}

// Gauss-Newton with step control. True when all residuals vanish.
static bool find_positions(assembly *s, int conditions) {
  od_model *m = s->m;
  int n = m->coordinates, rows = m->rows + conditions;
  double *z = s->w + m->layout.z, *step = s->trial;
  memcpy(z, m->z0, (size_t)n * sizeof *z);
  double size = position_residual(s, conditions, true), good = 1e-13 * (1 + m->size);
  if (rows == 0) return true;
  for (int round = 0; round < 200; round++) {
    least_norm_step(s, rows, step);
    // No joint turns by more than half a radian at once.
    double largest = 0;
    for (int j = 0; j < n; j++) {
      double weight = m->link[m->coordinate_link[j]].kind == OD_LINK_PRISMATIC ? m->size : 1;
      largest = fmax(largest, fabs(step[j]) / weight);
    }
    double part = largest > 0.5 ? 0.5 / largest : 1;
    double *before = s->trial + n;
    memcpy(before, z, (size_t)n * sizeof *z);
    double smaller = INFINITY;
    for (int halving = 0; halving < 12 && !(smaller < size); halving++, part /= 2) {
      for (int j = 0; j < n; j++) z[j] = before[j] + part * step[j];
      smaller = position_residual(s, conditions, false);
      if (size < 1e-9 * (1 + m->size)) break;  // at round-off: take the step as it is
    }
    bool stuck = !(smaller < size);
    size = position_residual(s, conditions, true);
    if (size <= good && (largest < 1e-12 || stuck)) return true;
    if (stuck) break;
  }
  return size < 1e-10 * (1 + m->size);
}

// Names the loop with the widest gap.
static void complain_about_loop(assembly *s) {
  const od_model *m = s->m;
  const od_closure *worst = &m->closure[0];
  double gap = -1;
  for (int i = 0; i < m->closures; i++) {
    const od_closure *c = &m->closure[i];
    double sum = 0;
    for (int k = 0; k < c->rows; k++) sum += s->r[c->row + k] * s->r[c->row + k];
    if (sqrt(sum) > gap) gap = sqrt(sum), worst = c;
  }
  const char *unit = worst->kind == OD_CLOSE_DOT ? " rad" : " m";
  if (worst->joint >= 0)
    od_build_complain(s->b, OD_ABOUT_JOINT, worst->joint,
                      "the loop through joint '%s' cannot close: a gap of %.3g%s remains; expected lengths, axes and "
                      "rough initial values that let it close", m->joint[worst->joint].name, gap, unit);
  else
    od_build_complain(s->b, OD_ABOUT_ROD, worst->rod,
                      "the loop through rod '%s' cannot close: it is %.3g m too long or too short; expected lengths and "
                      "rough initial values that let it close", m->rod[worst->rod].name, gap);
}

// With the loops closed but not all exact values met: says how near they can be met.
static void complain_about_conditions(assembly *s) {
  const od_model *m = s->m;
  for (int i = 0; i < s->positions; i++) {
    double miss = s->r[m->rows + i];
    if (fabs(miss) > 1e-9 * (1 + m->size))
      od_build_complain(s->b, OD_ABOUT_INITIAL, s->at_position[i].initial,
                        "'%s' cannot be %.6g together with the loops and the other exact values; the nearest found is "
                        "%.6g", s->b->initial[s->at_position[i].initial].quantity, s->at_position[i].value,
                        s->at_position[i].value + miss);
  }
}

static void assemble_positions(assembly *s) {
  od_model *m = s->m;
  if (find_positions(s, s->positions)) {
    memcpy(m->z0, s->w + m->layout.z, (size_t)m->coordinates * sizeof *m->z0);
    return;
  }
  int before = s->b->problems;
  double *r = malloc((size_t)s->rows * sizeof *r);
  if (r) memcpy(r, s->r, (size_t)s->rows * sizeof *r);
  if (s->positions > 0 && find_positions(s, 0)) {
    if (r) memcpy(s->r, r, (size_t)s->rows * sizeof *r);
    complain_about_conditions(s);
  }
  if (s->b->problems == before && m->closures > 0) complain_about_loop(s);
  if (s->b->problems == before)
    od_build_complain(s->b, OD_ABOUT_MACHINE, -1, "the exact initial values contradict each other");
  free(r);
}

// Rates: two rounds, the second one only cleans up round-off.
static void assemble_rates(assembly *s) {
  od_model *m = s->m;
  const od_layout *l = &m->layout;
  int n = m->coordinates, rows = m->rows + s->rates;
  double *zd = s->w + l->zd;
  memcpy(zd, m->zd0, (size_t)n * sizeof *zd);
  double size = 0;
  for (int j = 0; j < n; j++) size = fmax(size, fabs(zd[j]));
  for (int round = 0; round < 3 && rows > 0; round++) {
    od_mechanics(m)->open_positions(m, s->w);
    closure_rows(s, s->matrix);
    for (int i = 0; i < m->rows; i++) {
      s->r[i] = 0;
      for (int j = 0; j < n; j++) s->r[i] += s->matrix[i * n + j] * zd[j];
    }
    condition_rows(s, s->at_rate, s->rates, true);
    least_norm_step(s, rows, s->trial);
    for (int j = 0; j < n; j++) zd[j] += s->trial[j], size = fmax(size, fabs(zd[j]));
  }
  for (int i = 0; i < s->rates; i++)
    if (fabs(s->r[m->rows + i]) > 1e-8 * (1 + size))
      od_build_complain(s->b, OD_ABOUT_INITIAL, s->at_rate[i].initial,
                        "the rate '%s' cannot be %.6g together with the loops and the other rates",
                        s->b->initial[s->at_rate[i].initial].quantity, s->at_rate[i].value);
  memcpy(m->zd0, zd, (size_t)n * sizeof *zd);
}

// ---- the circuit: cylinders within reach, static balance

static void check_reach(assembly *s) {
  const od_model *m = s->m;
  od_mechanics(m)->open_positions(m, s->w);
  od_mechanics(m)->open_velocities(m, s->w);
  for (int i = 0; i < m->cylinders; i++) {
    const double *q = m->theta + m->cylinder[i].number;
    double length = s->w[m->layout.length + i], shortest = q[OD_CYLINDER_CLOSED], longest = shortest + q[OD_CYLINDER_STROKE];
    if (length < shortest - 1e-9 * longest || length > longest + 1e-9 * longest)
      od_build_complain(s->b, OD_ABOUT_CYLINDER, i,
                        "cylinder '%s' cannot reach: its points are %.4g m apart in the initial position, but its length "
                        "goes from %.4g m to %.4g m", m->cylinder[i].name, length, shortest, longest);
  }
}

// Which states are free and which rows of the residual have to vanish.
static int choose_balance(assembly *s, const od_plant *plant, int *state, int *row) {
  const od_model *m = s->m;
  int count = 0, angles = 0, n = plant->nz, extra = 0;
  for (int i = 0; i < s->balances; i++) angles += s->balanced[i].output.kind == OD_OUT_COORDINATE;
  // Balanced coordinates stand for the freedom that the loops leave.
  for (int k = 0; k < n && angles > 0; k++) state[count++] = k;
  for (int i = 0; i < s->balances; i++)
    if (s->balanced[i].output.kind == OD_OUT_NODE_PRESSURE) state[count++] = 2 * n + circuit_state(m, &s->balanced[i].output);
  if ((angles > 0 && angles != n) || count < n) {
    od_build_complain(s->b, OD_ABOUT_INITIAL, s->balanced[0].initial,
                      "static balance wants %d balanced quantities, as many as there are degrees of freedom, not %d", n,
                      angles > 0 ? angles : count);
    return 0;
  }
  for (int k = 0; k < n; k++) row[k] = k;
  for (int i = 0; i < s->balances && n + extra < count; i++)
    if (s->balanced[i].output.kind == OD_OUT_NODE_PRESSURE) row[n + extra++] = n + circuit_state(m, &s->balanced[i].output);
  return count;
}

// A plant of the assembled machine for the last checks, at its initial point.
typedef struct trial_plant {
  od_plant *plant;
  void *work;
  double *x, *u, *g, *matrix;
} trial_plant;

static bool begin_trial(assembly *s, trial_plant *t) {
  const od_model *m = s->m;
  *t = (trial_plant){0};
  if (od_model_plant(m, NULL, 0, NULL, 0, &t->plant, NULL) != OD_OK) return false;
  size_t nx = (size_t)od_plant_nx(t->plant), nk = (size_t)od_plant_nk(t->plant);
  t->work = calloc(1, t->plant->work_size);
  t->x = calloc(nx + 1, sizeof *t->x);
  t->u = calloc((size_t)m->inputs + 1, sizeof *t->u);
  t->g = calloc(2 * nk, sizeof *t->g);
  t->matrix = calloc(nk * nk, sizeof *t->matrix);
  for (int i = 0; t->u && i < m->inputs; i++) t->u[i] = m->input[i].start;
  return t->work && t->x && t->u && t->g && t->matrix && t->plant->ops->start(t->plant, t->work, t->x) == OD_OK;
}

static void end_trial(trial_plant *t) {
  free(t->work);
  free(t->x);
  free(t->u);
  free(t->g);
  free(t->matrix);
  od_plant_free(t->plant);
}

// Every motion must move some mass: otherwise a force in its direction has no finite effect.
static void check_inertia(assembly *s, const trial_plant *t) {
  const od_model *m = s->m;
  const od_plant *plant = t->plant;
  int n = plant->nz, nk = od_plant_nk(plant);
  double *k = t->g + nk, largest = 0, smallest = INFINITY;
  if (plant->ops->residual(plant, t->work, 0, t->x, k, t->u, t->g) != OD_OK) return;
  plant->ops->step_matrix(plant, t->work, 0, 0, t->matrix);
  int weakest = 0;
  // Symmetric elimination without pivoting: the pivots of a mass matrix are the inertias left to each coordinate.
  for (int i = 0; i < n; i++) {
    double pivot = t->matrix[i * nk + i], diagonal = pivot;
    largest = fmax(largest, diagonal);
    if (pivot < smallest) smallest = pivot, weakest = i;
    for (int r = i + 1; r < n && pivot > 0; r++)
      for (int c = i + 1; c < n; c++) t->matrix[r * nk + c] -= t->matrix[r * nk + i] * t->matrix[i * nk + c] / pivot;
  }
  if (smallest > 1e-13 * largest) return;
  const int *in = od_machine_plant_integers(plant, t->work);
  int joint = m->link[m->coordinate_link[in[m->layout.independent + weakest]]].joint;
  od_build_complain(s->b, OD_ABOUT_JOINT, joint,
                    "joint '%s' can move without moving any mass; expected a body with mass or inertia in that direction",
                    m->joint[joint].name);
}

static void balance_machine(assembly *s, const trial_plant *t) {
  od_model *m = s->m;
  const od_plant *plant = t->plant;
  if (s->balances == 0) return;
  int nx = od_plant_nx(plant), n = plant->nz;
  int *state = calloc((size_t)nx + 1, sizeof *state), *row = calloc((size_t)nx + 1, sizeof *row);
  if (state && row) {
    int count = choose_balance(s, plant, state, row);
    for (int k = n; k < 2 * n; k++) t->x[k] = 0;
    if (count > 0 && od_equilibrium(plant, t->work, 0, t->u, t->x, state, row, count) != OD_OK)
      od_build_complain(s->b, OD_ABOUT_INITIAL, s->balanced[0].initial,
                        "no static balance found from here; another starting value ('balance from ...') may help");
    memcpy(m->c0, t->x + 2 * n, (size_t)m->circuit_states * sizeof *m->c0);
    memcpy(m->z0, od_machine_plant_scalars(plant, t->work) + m->layout.z, (size_t)m->coordinates * sizeof *m->z0);
    memcpy(s->w + m->layout.z, m->z0, (size_t)m->coordinates * sizeof *m->z0);
  }
  free(state);
  free(row);
  for (int i = 0; i < s->balances && !s->b->problems; i++) {
    const od_output *o = &s->balanced[i].output;
    if (o->kind == OD_OUT_NODE_PRESSURE && m->c0[circuit_state(m, o)] < 0)
      od_build_complain(s->b, OD_ABOUT_INITIAL, s->balanced[i].initial,
                        "static balance needs a negative pressure, %.4g Pa, in '%s'", m->c0[circuit_state(m, o)],
                        m->node[o->index].name);
  }
}

static void check_and_balance(assembly *s) {
  trial_plant t;
  if (begin_trial(s, &t)) {
    check_inertia(s, &t);
    if (!s->b->problems) balance_machine(s, &t);
  }
  end_trial(&t);
}

// The degrees of freedom that the loops leave.
static void count_freedom(assembly *s) {
  od_model *m = s->m;
  int *integers = calloc((size_t)m->layout.integers + 1, sizeof *integers);
  double *matrix = calloc((size_t)((m->rows + 2) * (m->coordinates + 1)), sizeof *matrix);
  if (integers && matrix) {
    m->freedom = -1;  // no rank to expect yet
    od_mechanics(m)->open_positions(m, s->w);
    m->freedom = m->coordinates - od_partition_choose(m, s->w + m->layout.jacobian, integers, matrix);
  }
  free(integers);
  free(matrix);
  if (m->freedom == 0) {
    const od_closure *last = m->closures ? &m->closure[m->closures - 1] : NULL;
    od_build_complain(s->b, last && last->joint >= 0 ? OD_ABOUT_JOINT : last ? OD_ABOUT_ROD : OD_ABOUT_MACHINE,
                      last ? (last->joint >= 0 ? last->joint : last->rod) : -1,
                      "the mechanism cannot move: its loops take away every freedom of its %d joint coordinate%s",
                      m->coordinates, m->coordinates == 1 ? "" : "s");
  }
}

static void note_energy(assembly *s) {
  const od_mechanics_real *mech = od_mechanics(s->m);
  mech->open_positions(s->m, s->w);
  mech->open_velocities(s->m, s->w);
  s->m->stored0 = mech->output(s->m, s->w, &(od_output){.kind = OD_OUT_STORED});
}

static bool take_memory(assembly *s) {
  const od_model *m = s->m;
  size_t n = (size_t)m->coordinates + 1, rows = (size_t)(m->rows + s->b->initials) + 1;
  s->rows = (int)rows;
  s->w = calloc((size_t)m->layout.scalars_real + 1, sizeof *s->w);
  s->wc = calloc((size_t)m->layout.scalars + 1, sizeof *s->wc);
  s->at_position = calloc((size_t)s->b->initials + 1, sizeof *s->at_position);
  s->at_rate = calloc((size_t)s->b->initials + 1, sizeof *s->at_rate);
  s->balanced = calloc((size_t)s->b->initials + 1, sizeof *s->balanced);
  s->given_z = calloc(n, sizeof *s->given_z);
  s->given_c = calloc((size_t)m->circuit_states + 1, sizeof *s->given_c);
  s->matrix = calloc(rows * n, sizeof *s->matrix);
  s->normal = calloc(rows * rows, sizeof *s->normal);
  s->r = calloc(rows, sizeof *s->r);
  s->y = calloc(rows, sizeof *s->y);
  s->trial = calloc(2 * n, sizeof *s->trial);
  s->pivot = calloc(rows, sizeof *s->pivot);
  return s->w && s->wc && s->at_position && s->at_rate && s->balanced && s->given_z && s->given_c && s->matrix && s->normal && s->r && s->y && s->trial && s->pivot;
}

static void give_memory_back(assembly *s) {
  free(s->w);
  free(s->wc);
  free(s->at_position);
  free(s->at_rate);
  free(s->balanced);
  free(s->given_z);
  free(s->given_c);
  free(s->matrix);
  free(s->normal);
  free(s->r);
  free(s->y);
  free(s->trial);
  free(s->pivot);
}

od_status od_build_finish(od_build *b, od_model **out, od_error *err) {
  *out = NULL;
  b->problems = 0;
  if (b->part.bodies == 0) od_build_complain(b, OD_ABOUT_MACHINE, -1, "the machine has no bodies");
  assembly s = {.b = b, .m = b->no_memory || b->problems ? NULL : od_compile(b)};
  if (s.m && !b->problems && s.m->coordinates == 0)
    od_build_complain(b, OD_ABOUT_MACHINE, -1, "nothing can move: all joints of the machine are fixed");
  bool memory = (s.m || b->problems) && !b->no_memory;
  if (memory && s.m && !b->problems && (memory = take_memory(&s))) {
    sort_initial_values(&s);
    load_numbers(&s);
    if (!b->problems) assemble_positions(&s);
    if (!b->problems) assemble_rates(&s);
    if (!b->problems) count_freedom(&s);
    if (!b->problems) check_reach(&s);
    if (!b->problems) check_and_balance(&s);
    if (!b->problems) note_energy(&s);
  }
  give_memory_back(&s);
  if (!memory || b->no_memory) {
    od_model_free(s.m);
    return od_fail(err, OD_NO_MEMORY, "memory ran out while building the model");
  }
  if (b->problems) {
    od_model_free(s.m);
    return od_fail(err, OD_BAD_INPUT, "%s", b->problem[0].text);
  }
  *out = s.m;
  return OD_OK;
}
