// Static balance of the initial state: the choice of unknowns and equations, and the search for a solution.
//
// With n degrees of freedom, a balanced coordinates and p balanced pressures:
//   unknowns    n positions (none when a = 0), p pressures, balanced states of blocks
//   equations   n forces, except forces that are always zero (such as the torque about the vertical slewing axis of a crane);
//               n - a held positions: exact values first, then approximate values at their assembled values;
//               rates of pressures, until there are as many equations as unknowns;  the rates of the balanced states of elements and blocks
// The rate of a balanced state may be zero for all values of the unknowns. Examples are an integral whose error is zero, and a
// spool whose rate is another state. Then the rates of the other states of this element or block, and rates of pressures, replace
// this equation.
// Only balanced pressures that the forces do not determine have their rates set to zero. Elimination finds these pressures.
#include "plant/balance.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"

// ---- unknowns and equations

static void add_unknown(od_balance *b, int state, int owner, double scale) {
  b->state[b->unknowns] = state;
  b->owner[b->unknowns] = owner;
  b->scale[b->unknowns++] = scale;
}

static void add_row(od_balance *b, int row, int source) {
  b->row[b->rows] = row;
  b->source[b->rows++] = source;
}

// Returns a typical size of a state: 1e6 Pa for pressures; for elements the value of their class; for blocks the magnitude of
// the initial value, but at least 1.
static double typical_state(const od_balance *b, const od_condition *c, int state) {
  if (od_balance_is_pressure(c)) return 1e6;
  if (c->output.kind == OD_OUT_ELEMENT_STATE) return b->t->plant->scale[b->n + state];
  double there = fabs(od_balance_model(b)->c0[state]);
  return there > 1 ? there : 1;
}

// Lists the unknowns (positions, pressures, other balanced states) and the rows: forces, rates of the other balanced states, then
// the rates of all balanced pressures as candidates.
static void list_unknowns(od_balance *b) {
  const od_assembly *s = b->s;
  for (int k = 0; k < b->n && b->angles > 0; k++)
    add_unknown(b, k, s->initial_of_z[od_balance_coordinate(b, k)],
                od_model_coordinate_unit(s->m, od_balance_coordinate(b, k)));
  for (int k = 0; k < b->n && b->angles + b->pressures > 0; k++)
    add_row(b, k, s->initial_of_z[od_balance_coordinate(b, k)]);
  b->forces = b->rows;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < s->balances; i++) {
      const od_condition *c = &s->balanced[i];
      if (od_balance_is_coordinate(c) || od_balance_is_pressure(c) != (pass == 0)) continue;
      int state = od_assembly_first_order_state(s->m, &c->output);
      add_unknown(b, 2 * b->n + state, c->initial, typical_state(b, c, state));
      if (pass == 1) add_row(b, b->n + state, c->initial);
    }
  b->state_rows = b->rows - b->forces;
  for (int i = 0; i < s->balances; i++)
    if (od_balance_is_pressure(&s->balanced[i]))
      add_row(b, b->n + od_assembly_first_order_state(s->m, &s->balanced[i].output), s->balanced[i].initial);
}

od_equilibrium od_balance_problem(od_balance *b) {
  return (od_equilibrium){.plant = b->t->plant,
                          .work = b->t->work,
                          .u = b->t->u,
                          .state = b->state,
                          .scale = b->scale,
                          .states = b->unknowns,
                          .row = b->row,
                          .rows = b->rows,
                          .conditions = b->helds,
                          .condition = od_balance_conditions,
                          .user = b,
                          .fixed_coordinates = od_balance_model(b)->charts > 0 || b->left_out};
}

// Performs Gaussian elimination with full pivoting, with at most `most` pivots. Uses `count` rows starting at `first`, and the
// first `allowed` columns.
static void eliminate(const od_balance *b, double *a, int first, int count, int allowed, int most) {
  int columns = b->unknowns;
  for (; most > 0; most--) {
    int r = -1, c = -1;
    double best = 1e-9;
    for (int i = first; i < first + count; i++)
      for (int j = 0; j < allowed && !b->row_pivot[i]; j++)
        if (!b->column_pivot[j] && fabs(a[i * columns + j]) > best) best = fabs(a[i * columns + j]), r = i, c = j;
    if (r < 0) return;
    b->row_pivot[r] = b->column_pivot[c] = true;
    for (int i = 0; i < b->rows + b->helds; i++) {
      if (b->row_pivot[i]) continue;
      double factor = a[i * columns + c] / a[r * columns + c];
      for (int j = 0; j < columns; j++) a[i * columns + j] -= factor * a[r * columns + j];
    }
  }
}

bool od_balance_find_pivots(od_balance *b, const double *x, int resting) {
  od_equilibrium e = od_balance_problem(b);
  int rows = b->rows + b->helds, columns = b->unknowns, forces = b->forces, fixed = forces + b->state_rows;
  double *r = b->work, *a = r + rows;
  memset(b->row_pivot, 0, (size_t)rows * sizeof *b->row_pivot);
  memset(b->column_pivot, 0, (size_t)columns * sizeof *b->column_pivot);
  if (od_equilibrium_evaluate(&e, x, r, a) != OD_OK) return false;
  for (int i = 0; i < rows; i++) {
    double largest = 0;
    for (int j = 0; j < columns; j++)
      a[i * columns + j] *= b->scale[j], largest = fmax(largest, fabs(a[i * columns + j]));
    for (int j = 0; j < columns && largest > 0; j++) a[i * columns + j] /= largest;
  }
  eliminate(b, a, b->rows, b->helds, columns, b->helds);
  if (b->angles > 0) eliminate(b, a, 0, forces, b->n, forces);
  eliminate(b, a, 0, forces, columns, forces);
  eliminate(b, a, forces, b->state_rows, columns, b->state_rows);
  eliminate(b, a, fixed, b->rows - fixed, columns, resting);
  return true;
}

void od_balance_mass_matrix(const od_balance *b) {
  od_model_plant_mass_matrix(b->t->plant, b->t->work, b->t->mass);
}

bool od_balance_is_at_rest(const od_balance *b, int row, double force) {
  const double least = 1e-6;  // m/s2 or rad/s2
  return fabs(force) <= least * b->t->mass[row * (b->n + 1)];
}

static void remove_row(od_balance *b, int i) {
  b->rows--;
  for (int k = i; k < b->rows; k++) {
    b->row[k] = b->row[k + 1];
    b->source[k] = b->source[k + 1];
    b->row_pivot[k] = b->row_pivot[k + 1];
    b->work[k] = b->work[k + 1];
  }
}

// Removes forces that no unknown changes from the equations: first forces that are zero, then other forces while there are more
// forces than balanced coordinates and pressures. At least as many forces as balanced coordinates remain. od_balance_check_forces()
// reports removed forces that are not zero. b->work holds the residuals.
static void leave_out_forces(od_balance *b) {
  od_balance_mass_matrix(b);
  for (int only_zero = 1; only_zero >= 0; only_zero--)
    for (int i = b->forces - 1; i >= 0; i--) {
      bool leaves = only_zero ? od_balance_is_at_rest(b, b->row[i], b->work[i]) : b->forces > b->angles + b->pressures;
      if (b->row_pivot[i] || !leaves || b->forces <= b->angles) continue;
      remove_row(b, i);
      b->forces--;
      b->left_out = true;
    }
}

// Adds the rates of the other states of the element or block that has `state`, unless they are already rows.
static void add_companions(od_balance *b, int state, int source) {
  const od_model *m = od_balance_model(b);
  for (int other = 0; other < m->states; other++) {
    bool same = false, known = false;
    for (int i = 0; i < m->instances && !same; i++) {
      bool has_state = false, has_other = false;
      for (int k = 0; k < OD_MOST_ELEMENT_STATES; k++) {
        has_state = has_state || m->instance[i].state[k] == state;
        has_other = has_other || m->instance[i].state[k] == other;
      }
      same = has_state && has_other;
    }
    for (int i = 0; i < m->blocks && !same; i++) {
      int first = m->block[i].state, end = first + m->block[i].states;
      same = state >= first && state < end && other >= first && other < end;
    }
    for (int i = 0; i < b->rows; i++) known = known || b->row[i] == b->n + other;
    if (same && other != state && !known) add_row(b, b->n + other, source);
  }
}

// Removes rates of balanced states that no unknown changes and that are zero, if other rows can replace them. Returns the number
// of removed rates. b->work holds the residuals.
static int leave_out_states(od_balance *b) {
  int left_out = 0;
  for (int i = b->forces + b->state_rows - 1; i >= b->forces; i--) {
    if (b->row_pivot[i] || fabs(b->work[i]) > 1e-9) continue;
    int state = b->row[i] - b->n, source = b->source[i], before = b->rows;
    add_companions(b, state, source);
    if (b->rows == before && left_out >= b->forces - b->angles) continue;
    remove_row(b, i);
    b->state_rows--;
    left_out++;
  }
  return left_out;
}

// Chooses `resting` rates of pressures as equations. Rates with a pivot have priority.
static void choose_resting(od_balance *b, int resting) {
  int fixed = b->forces + b->state_rows, kept = fixed;
  for (int with = 1; with >= 0; with--)
    for (int i = kept; i < b->rows && kept < fixed + resting; i++) {
      if (b->row_pivot[i] != (with == 1)) continue;
      int row = b->row[i], source = b->source[i];
      b->row[i] = b->row[kept], b->source[i] = b->source[kept], b->row_pivot[i] = b->row_pivot[kept];
      b->row[kept] = row, b->source[kept] = source, b->row_pivot[kept] = with;
      kept++;
    }
  b->rows = kept;
}

// ---- the search

// Allocates the arrays of the balance. Returns false if an allocation fails.
static bool take_memory(od_balance *b) {
  size_t n = (size_t)b->n, most = n + (size_t)b->s->balances + 1, rows = 2 * most + n + (size_t)b->s->m->states;
  b->held = od_calloc(n + 1, sizeof *b->held);
  b->state = od_calloc(4 * rows, sizeof *b->state);
  b->scale = od_calloc(most, sizeof *b->scale);
  // Scratch memory for one of three uses: a basis of the motion; equations and their matrix; a step and a state.
  b->work = od_calloc(n * n + rows * (most + 2) + (size_t)od_plant_nx(b->t->plant) + 2 * n + 1, sizeof *b->work);
  b->row_pivot = od_calloc(rows + most, sizeof *b->row_pivot);
  if (!b->held || !b->state || !b->scale || !b->work || !b->row_pivot) return false;
  b->column_pivot = b->row_pivot + rows;
  b->row = b->state + rows;
  b->owner = b->row + rows;
  b->source = b->owner + rows;
  return true;
}

static void give_memory_back(od_balance *b) {
  od_free(b->held);
  od_free(b->state);
  od_free(b->scale);
  od_free(b->row_pivot);
  od_free(b->work);
}

// Chooses the unknowns and the same number of equations. If there is no such choice, reports a problem and returns false. If the plant
// cannot be evaluated at the start, returns true without equations; the search then reports the failure.
static bool pose(od_balance *b) {
  const od_trial_plant *t = b->t;
  if (t->plant->ops->residual(t->plant, t->work, 0, t->x, t->g, t->u, t->g + od_plant_nk(t->plant)) != OD_OK)
    return true;
  if (b->angles > 0 && (!od_balance_choose_held(b) || !od_balance_check_held_cylinders(b))) return false;
  list_unknowns(b);
  if (b->forces > 0 && od_balance_find_pivots(b, t->x, 0)) leave_out_forces(b);
  int left_out = b->states > 0 && od_balance_find_pivots(b, t->x, 0) ? leave_out_states(b) : 0;
  int resting = b->angles + b->pressures - b->forces + left_out;
  // Without forces, the rates of all pressures are equations.
  if (resting < b->rows - b->forces - b->state_rows) od_balance_find_pivots(b, t->x, resting);
  choose_resting(b, resting);
  return true;
}

// Searches for the balance, starting at t->x. Stores the balanced values in the model, or reports why no balance was
// found. Sets od_assembly.no_memory if an allocation fails.
static void search_balance(od_balance *b) {
  const od_trial_plant *t = b->t;
  od_model *m = b->s->m;
  int n = b->n, nx = od_plant_nx(t->plant);
  double *start = od_malloc((size_t)(nx + 1) * sizeof *start);
  od_status status = start ? OD_OK : OD_NO_MEMORY;
  od_equilibrium e = od_balance_problem(b);
  if (start) memcpy(start, t->x, (size_t)nx * sizeof *start), status = od_equilibrium_find(&e, t->x);
  if (status == OD_NO_MEMORY) {
    b->s->no_memory = true;
  } else if (status != OD_OK) {
    od_balance_report_failure(b, start, t->x);
  } else if (!od_balance_report_suction(b, t->x, true)) {
    t->plant->ops->residual(t->plant, t->work, 0, t->x, t->g, t->u, t->g + od_plant_nk(t->plant));
    od_balance_check_forces(b);
    od_balance_check_strokes(b);
    memcpy(m->c0, t->x + 2 * n, (size_t)m->states * sizeof *m->c0);
    memcpy(m->z0, od_model_plant_scalars(t->plant, t->work) + m->layout.z, (size_t)m->coordinates * sizeof *m->z0);
    memcpy(b->s->w + m->layout.z, m->z0, (size_t)m->coordinates * sizeof *m->z0);
  }
  od_free(start);
}

void od_assembly_balance(od_assembly *s, const od_trial_plant *t) {
  if (s->balances == 0) return;
  od_balance b = {.s = s, .t = t, .n = t->plant->nz};
  for (int i = 0; i < s->balances; i++) {
    b.angles += od_balance_is_coordinate(&s->balanced[i]);
    b.pressures += od_balance_is_pressure(&s->balanced[i]);
  }
  b.states = s->balances - b.angles - b.pressures;
  for (int k = b.n; k < 2 * b.n; k++) t->x[k] = 0;
  memset(t->g, 0, (size_t)od_plant_nk(t->plant) * sizeof *t->g);
  if (!take_memory(&b))
    s->no_memory = true;
  else if (pose(&b))
    search_balance(&b);
  give_memory_back(&b);
}
