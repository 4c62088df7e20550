// Static balance of the initial state: which equations decide what is to be balanced, and what to say where they
// cannot.
//
// With n degrees of freedom, a balanced coordinates and p balanced pressures:
//   unknowns    n positions (none when a = 0), p pressures, balanced states of blocks
//   equations   n forces, less those that are zero anyway, as about the vertical axis that a crane slews by;
//               n - a positions that stay: exact values first, then rough ones where assembly put them;
//               pressures that rest, as many as make up for it;  the rates of the balanced states of blocks
// Of the balanced pressures, those rest that the forces do not decide; elimination tells which.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plant/assembly.h"
#include "plant/equilibrium.h"
#include "plant/model_plant_work.h"
#include "plant/model_plant.h"

typedef struct balance {
  od_assembly *s;
  const od_trial_plant *t;
  int n, angles, pressures, states;  // degrees of freedom; what is balanced
  od_condition *held;                // positions that stay
  int helds;
  int *state, *row;     // unknowns; rows of the residual
  int *owner, *source;  // the initial values that unknowns and rows are about
  double *scale;
  int unknowns, rows, forces;      // rows: forces first
  bool left_out;                   // some forces are no equations
  bool *row_pivot, *column_pivot;  // equations that decide an unknown each, unknowns that are decided
  double *work;                    // scratch: see take_memory()
} balance;

static const od_model *model_of(const balance *b) {
  return b->s->m;
}
static const char *name_of(const balance *b, int initial) {
  return b->s->b->initial[initial].quantity;
}
static bool is_coordinate(const od_condition *c) {
  return c->output.kind == OD_OUT_COORDINATE;
}
static bool is_pressure(const od_condition *c) {
  return c->output.kind == OD_OUT_NODE_PRESSURE;
}
static int coordinate_of_row(const balance *b, int k) {
  return od_model_plant_integers(b->t->plant, b->t->work)[model_of(b)->layout.independent + k];
}

// ---- positions that stay

// The change of an output with the independent coordinates, at the last point.
static void gradient(const balance *b, const od_output *o, double *row) {
  const od_plant_data *d = od_plant_data_of(b->t->plant);
  od_work_parts p = od_work_parts_of(d, b->t->work);
  od_model_plant_prepare_tangents(d, &p);
  od_directions v = clear_directions(b->t->plant, &p);
  for (int k = 0; k < b->n; k++) {
    v.dz[k] = 1;
    od_mechanics(d->m)->tangent_motion(d->m, p.in, p.w, v.dz, v.dzd, v.dzdd, OD_LEVEL_POSITION);
    row[k] = od_model_output_change(d->m, p.w, o, v.dc, v.du);
    v.dz[k] = 0;
  }
}

static double value_of(const balance *b, const od_output *o) {
  return od_model_output_value(model_of(b), od_model_plant_scalars(b->t->plant, b->t->work), o);
}

static void conditions(void *user, void *work, double *r, double *rz) {
  const balance *b = user;
  (void)work;
  for (int i = 0; i < b->helds; i++) {
    r[i] = value_of(b, &b->held[i].output) - b->held[i].value;
    gradient(b, &b->held[i].output, rz + i * b->n);
  }
}

// Orthonormal directions of motion that are spoken for.
typedef struct basis {
  double *vector;
  int rank;
} basis;

// Adds what an output says about the motion; false when that is known already.
static bool speak_for(const balance *b, basis *known, const od_output *o) {
  int n = b->n;
  double *v = known->vector + known->rank * n, before = 0, after = 0;
  if (known->rank >= n) return false;
  gradient(b, o, v);
  for (int k = 0; k < n; k++) {
    v[k] *= od_model_coordinate_unit(model_of(b), coordinate_of_row(b, k));
    before += v[k] * v[k];
  }
  for (int again = 0; again < 2; again++)
    for (int i = 0; i < known->rank; i++) {
      const double *q = known->vector + i * n;
      double dot = 0;
      for (int k = 0; k < n; k++) dot += q[k] * v[k];
      for (int k = 0; k < n; k++) v[k] -= dot * q[k];
    }
  for (int k = 0; k < n; k++) after += v[k] * v[k];
  if (!(after > 1e-16 * before)) return false;
  for (int k = 0; k < n; k++) v[k] /= sqrt(after);
  known->rank++;
  return true;
}

static bool is_balanced(const balance *b, int coordinate) {
  for (int i = 0; i < b->s->balances; i++)
    if (is_coordinate(&b->s->balanced[i]) && b->s->balanced[i].output.index == coordinate) return true;
  return false;
}

// False with a message when a balanced coordinate is decided by something else.
static bool choose_held(balance *b) {
  od_assembly *s = b->s;
  basis known = {b->work, 0};
  for (int i = 0; i < s->positions; i++)
    if (speak_for(b, &known, &s->at_position[i].output)) b->held[b->helds++] = s->at_position[i];
  bool good = true;
  for (int i = 0; i < s->balances; i++) {
    if (!is_coordinate(&s->balanced[i]) || speak_for(b, &known, &s->balanced[i].output)) continue;
    od_build_complain(s->b, OD_ABOUT_INITIAL, s->balanced[i].initial,
                      "'%s' cannot be balanced: the loops, the exact values and the coordinates balanced before it "
                      "decide it already; the machine has %d degree%s of freedom",
                      name_of(b, s->balanced[i].initial), b->n, b->n == 1 ? "" : "s");
    good = false;
  }
  for (int j = 0; j < s->m->coordinates && good; j++) {
    od_output o = {.kind = OD_OUT_COORDINATE, .index = j};
    if (!is_balanced(b, j) && speak_for(b, &known, &o))
      b->held[b->helds++] = (od_condition){s->initial_of_z[j], o, value_of(b, &o)};
  }
  return good;
}

static od_output length_output(const balance *b, int instance) {
  return (od_output){.kind = OD_OUT_LENGTH, .index = model_of(b)->instance[instance].actuator, .second = -1};
}

// False with a message when the positions that stay put a cylinder beyond its stroke: no balance can mend that.
static bool check_held_cylinders(balance *b) {
  const od_model *m = model_of(b);
  basis known = {b->work, 0};
  bool good = true;
  for (int i = 0; i < b->helds; i++) speak_for(b, &known, &b->held[i].output);
  for (int i = 0, rank = known.rank; i < m->instances; i++, known.rank = rank) {
    if (!od_instance_has_reach(&m->instance[i])) continue;
    od_output length = length_output(b, i);
    if (!speak_for(b, &known, &length)) good = od_assembly_check_reach(b->s, i, value_of(b, &length)) && good;
  }
  return good;
}

// ---- unknowns and equations

static void add_unknown(balance *b, int state, int owner, double scale) {
  b->state[b->unknowns] = state;
  b->owner[b->unknowns] = owner;
  b->scale[b->unknowns++] = scale;
}

static void add_row(balance *b, int row, int source) {
  b->row[b->rows] = row;
  b->source[b->rows++] = source;
}

// A typical size of a state: elements say what it is, blocks have none of their own.
static double typical_state(const balance *b, const od_condition *c, int state) {
  if (is_pressure(c)) return 1e6;
  if (c->output.kind == OD_OUT_ELEMENT_STATE) return b->t->plant->scale[b->n + state];
  double there = fabs(model_of(b)->c0[state]);
  return there > 1 ? there : 1;
}

// Unknowns: positions, pressures, states of blocks. Rows: forces, the blocks' rates, then all rates that pressures
// could rest by.
static void list_unknowns(balance *b) {
  const od_assembly *s = b->s;
  for (int k = 0; k < b->n && b->angles > 0; k++)
    add_unknown(b, k, s->initial_of_z[coordinate_of_row(b, k)],
                od_model_coordinate_unit(s->m, coordinate_of_row(b, k)));
  for (int k = 0; k < b->n && b->angles + b->pressures > 0; k++)
    add_row(b, k, s->initial_of_z[coordinate_of_row(b, k)]);
  b->forces = b->rows;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < s->balances; i++) {
      const od_condition *c = &s->balanced[i];
      if (is_coordinate(c) || is_pressure(c) != (pass == 0)) continue;
      int state = od_assembly_first_order_state(s->m, &c->output);
      add_unknown(b, 2 * b->n + state, c->initial, typical_state(b, c, state));
      if (pass == 1) add_row(b, b->n + state, c->initial);
    }
  for (int i = 0; i < s->balances; i++)
    if (is_pressure(&s->balanced[i]))
      add_row(b, b->n + od_assembly_first_order_state(s->m, &s->balanced[i].output), s->balanced[i].initial);
}

static od_equilibrium problem_of(balance *b) {
  return (od_equilibrium){.plant = b->t->plant,
                          .work = b->t->work,
                          .u = b->t->u,
                          .state = b->state,
                          .scale = b->scale,
                          .states = b->unknowns,
                          .row = b->row,
                          .rows = b->rows,
                          .conditions = b->helds,
                          .condition = conditions,
                          .user = b,
                          .fixed_coordinates = model_of(b)->charts > 0 || b->left_out};
}

// Gaussian elimination with full pivoting among some rows and the first so many columns, at most so many times.
static void eliminate(const balance *b, double *a, int first, int count, int allowed, int most) {
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

// At x: positions that stay first, then forces, by positions where they can, then blocks, and as many pressures that
// rest as are wanted.
static bool find_pivots(balance *b, const double *x, int resting) {
  od_equilibrium e = problem_of(b);
  int rows = b->rows + b->helds, columns = b->unknowns, forces = b->forces, fixed = forces + b->states;
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
  eliminate(b, a, 0, forces, b->angles > 0 ? b->n : 0, forces);
  eliminate(b, a, 0, forces, columns, forces);
  eliminate(b, a, forces, b->states, columns, b->states);
  eliminate(b, a, fixed, b->rows - fixed, columns, resting);
  return true;
}

// The mass matrix at the last point, into t->matrix.
static bool mass_matrix(const balance *b) {
  const od_trial_plant *t = b->t;
  return t->plant->ops->step_matrix(t->plant, t->work, 0, 0, t->matrix) == OD_OK;
}

// Whether a force makes no acceleration to speak of.
static bool is_at_rest(const balance *b, int row, double force) {
  const double least = 1e-6;  // m/s2 or rad/s2
  return fabs(force) <= least * b->t->matrix[row * (od_plant_nk(b->t->plant) + 1)];
}

// Forces that nothing balanced acts on are no equations if they are zero anyway, or if there are more of them than
// unknowns; what is left over of those is complained about in the end. The residuals stand in b->work.
static void leave_out_forces(balance *b) {
  if (b->forces == 0 || !mass_matrix(b)) return;
  for (int only_zero = 1; only_zero >= 0; only_zero--)
    for (int i = b->forces - 1; i >= 0; i--) {
      bool leaves = only_zero ? is_at_rest(b, b->row[i], b->work[i]) : b->forces > b->angles + b->pressures;
      if (b->row_pivot[i] || !leaves || b->forces <= b->angles) continue;  // coordinates have no other equations
      b->rows--;
      b->forces--;
      b->left_out = true;
      for (int k = i; k < b->rows; k++) {
        b->row[k] = b->row[k + 1];
        b->source[k] = b->source[k + 1];
        b->row_pivot[k] = b->row_pivot[k + 1];
        b->work[k] = b->work[k + 1];
      }
    }
}

// Keeps as many of the pressures' rates as are wanted, those with a pivot first.
static void choose_resting(balance *b, int resting) {
  int fixed = b->forces + b->states, kept = fixed;
  for (int with = 1; with >= 0; with--)
    for (int i = kept; i < fixed + b->pressures && kept < fixed + resting; i++) {
      if (b->row_pivot[i] != (with == 1)) continue;
      int row = b->row[i], source = b->source[i];
      b->row[i] = b->row[kept], b->source[i] = b->source[kept], b->row_pivot[i] = b->row_pivot[kept];
      b->row[kept] = row, b->source[kept] = source, b->row_pivot[kept] = with;
      kept++;
    }
  b->rows = kept;
}

// ---- messages

// Forces that are left over where nothing should move, in any of the equations, those that were left out too.
static void check_forces(balance *b) {
  const od_model *m = model_of(b);
  const od_plant *plant = b->t->plant;
  int nk = od_plant_nk(plant), unknowns = b->angles + b->pressures;
  const double *g = b->t->g + nk;
  if (unknowns == 0 || !mass_matrix(b)) return;
  for (int k = 0; k < b->n; k++) {
    if (is_at_rest(b, k, g[k])) continue;
    int coordinate = coordinate_of_row(b, k), initial = b->s->initial_of_z[coordinate];
    char count[120] = "";
    if (unknowns < b->n)
      snprintf(count, sizeof count,
               "; static balance of %d degrees of freedom wants as many balanced quantities, not %d", b->n, unknowns);
    od_build_complain(b->s->b, OD_ABOUT_INITIAL, initial,
                      "'%s' is not in balance: %.4g %s are left over, and nothing that is to be balanced acts on it%s",
                      name_of(b, initial), fabs(g[k]),
                      m->link[m->coordinate_link[coordinate]].kind == OD_LINK_PRISMATIC ? "N" : "N m", count);
  }
}

// Balanced pressures below zero, where oil does not pull. `value`: they are known and not just where a search ended.
static bool complain_about_suction(balance *b, const double *x, bool value) {
  bool found = false;
  for (int i = 0; i < b->s->balances; i++) {
    const od_condition *c = &b->s->balanced[i];
    if (!is_pressure(c)) continue;
    double pressure = x[2 * b->n + od_assembly_first_order_state(model_of(b), &c->output)];
    if (!(pressure < 0)) continue;
    if (value)
      od_build_complain(b->s->b, OD_ABOUT_INITIAL, c->initial,
                        "static balance needs %.4g bar in '%s', but oil cannot pull: less than 0 bar is impossible",
                        pressure / 1e5, model_of(b)->node[c->output.index].name);
    else
      od_build_complain(b->s->b, OD_ABOUT_INITIAL, c->initial,
                        "static balance needs a pressure below 0 bar in '%s', but oil cannot pull",
                        model_of(b)->node[c->output.index].name);
    found = true;
  }
  return found;
}

// Forces that nothing balanced acts on; else unknowns that nothing depends on.
static bool complain_about_rank(balance *b, const double *x) {
  int before = b->s->b->problems;
  if (!find_pivots(b, x, b->rows) || !mass_matrix(b)) return false;
  for (int i = 0; i < b->forces; i++)
    if (!b->row_pivot[i] && !is_at_rest(b, b->row[i], b->work[i]))
      od_build_complain(b->s->b, OD_ABOUT_INITIAL, b->source[i],
                        "'%s' is not in balance: nothing that is to be balanced acts on it", name_of(b, b->source[i]));
  for (int j = 0; j < b->unknowns && b->s->b->problems == before; j++)
    if (!b->column_pivot[j])
      od_build_complain(b->s->b, OD_ABOUT_INITIAL, b->owner[j],
                        "'%s' cannot be balanced: nothing that has to rest depends on it", name_of(b, b->owner[j]));
  return b->s->b->problems > before;
}

// What is left over where a search ended: the largest in proportion to how much the unknowns change it.
typedef struct leftover {
  int initial;  // the value whose equation is not met
  double size;
  const char *unit;  // of a force; NULL: a rate
} leftover;

static leftover find_leftover(balance *b, const double *x) {
  od_equilibrium e = problem_of(b);
  double *r = b->work, *a = r + b->rows + b->helds, largest = -1;
  const od_model *m = model_of(b);
  leftover left = {.initial = b->source[0]};
  if (od_equilibrium_evaluate(&e, x, r, a) != OD_OK) return left;
  for (int i = 0; i < b->rows; i++) {
    double size = 0;
    for (int j = 0; j < b->unknowns; j++) size = fmax(size, fabs(a[i * b->unknowns + j]) * b->scale[j]);
    if (!(size > 0 && fabs(r[i]) / size > largest)) continue;
    largest = fabs(r[i]) / size;
    left = (leftover){b->source[i], fabs(r[i]), NULL};
    if (b->row[i] >= b->n) continue;
    int coordinate = coordinate_of_row(b, b->row[i]);  // not always the one that was independent at first
    left.initial = b->s->initial_of_z[coordinate];
    left.unit = m->link[m->coordinate_link[coordinate]].kind == OD_LINK_PRISMATIC ? "N" : "N m";
  }
  return left;
}

// Of a coordinate's typical size: so near a balance, one step tells which pressures it wants.
static const double short_way = 0.3;

static void complain_about_failure(balance *b, const double *start, const double *x) {
  const od_plant *plant = b->t->plant;
  od_equilibrium e = problem_of(b);
  double *step = b->work, *there = step + b->unknowns;
  if (od_equilibrium_step(&e, start, step) == OD_OK) {
    bool near = true;
    memcpy(there, start, (size_t)od_plant_nx(plant) * sizeof *there);
    for (int j = 0; j < b->unknowns; j++) {
      there[b->state[j]] += step[j];
      near = near && (b->state[j] >= b->n || fabs(step[j]) < short_way * b->scale[j]);
    }
    // Without coordinates to move the balance is linear in the pressures, and known.
    if (near && complain_about_suction(b, there, b->angles == 0)) return;
  }
  if (complain_about_suction(b, x, false)) return;
  leftover left = find_leftover(b, x);
  // Back to the coordinates that were independent at the start.
  if (plant->ops->start(plant, b->t->work, there) == OD_OK && complain_about_rank(b, start)) return;
  const char *name = name_of(b, left.initial), *help = "another starting value ('balance from ...') may help";
  if (left.unit)
    od_build_complain(b->s->b, OD_ABOUT_INITIAL, left.initial,
                      "no static balance found: where the search ended, %.4g %s are left over at '%s'; %s", left.size,
                      left.unit, name, help);
  else
    od_build_complain(b->s->b, OD_ABOUT_INITIAL, left.initial,
                      "no static balance found: where the search ended, '%s' still changes by %.4g per second; %s",
                      name, left.size, help);
}

// The balanced coordinate that moves a cylinder most.
static int mover_of(const balance *b, int instance) {
  double *length = b->work, *own = length + b->n, most = -1;
  int found = b->s->balanced[0].initial;
  od_output o = length_output(b, instance);
  gradient(b, &o, length);
  for (int i = 0; i < b->s->balances; i++) {
    if (!is_coordinate(&b->s->balanced[i])) continue;
    gradient(b, &b->s->balanced[i].output, own);
    double sum = 0;
    for (int k = 0; k < b->n; k++) sum += fabs(own[k] * length[k]);
    if (sum > most) most = sum, found = b->s->balanced[i].initial;
  }
  return found;
}

// A balance that an end stop holds is none that the cylinder was built for.
static void check_strokes(balance *b) {
  const od_model *m = model_of(b);
  const double *w = od_model_plant_scalars(b->t->plant, b->t->work);
  for (int i = 0; i < m->instances && b->angles > 0; i++) {
    const od_instance *e = &m->instance[i];
    if (!od_instance_has_reach(e)) continue;
    const double *q = m->theta + e->number;
    double length = w[m->layout.length + e->actuator], shortest = q[od_instance_class(e)->closed_field],
           longest = shortest + q[od_instance_class(e)->stroke_field];
    double beyond = length > longest ? length - longest : shortest - length;
    if (!(beyond > 1e-9 * longest)) continue;
    od_build_complain(b->s->b, OD_ABOUT_INITIAL, mover_of(b, i),
                      "static balance lies beyond the stroke of cylinder '%s': its length would be %.6g m, %.4g mm %s, "
                      "%.6g m, and its end stop would hold %.4g kN",
                      e->name, length, 1e3 * beyond,
                      length > longest ? "more than the longest" : "less than the shortest",
                      length > longest ? longest : shortest, q[OD_CYLINDER_STOP_STIFFNESS] * beyond / 1e3);
  }
}

// ---- the search

static bool take_memory(balance *b) {
  size_t n = (size_t)b->n, most = n + (size_t)b->s->balances + 1, rows = 2 * most + n;
  b->held = calloc(n + 1, sizeof *b->held);
  b->state = calloc(4 * rows, sizeof *b->state);
  b->scale = calloc(most, sizeof *b->scale);
  // Scratch: a basis of the motion; or equations and their matrix; or a step and a state.
  b->work = calloc(n * n + rows * (most + 2) + (size_t)od_plant_nx(b->t->plant) + 2 * n + 1, sizeof *b->work);
  b->row_pivot = calloc(rows + most, sizeof *b->row_pivot);
  if (!b->held || !b->state || !b->scale || !b->work || !b->row_pivot) return false;
  b->column_pivot = b->row_pivot + rows;
  b->row = b->state + rows;
  b->owner = b->row + rows;
  b->source = b->owner + rows;
  return true;
}

static void give_memory_back(balance *b) {
  free(b->held);
  free(b->state);
  free(b->scale);
  free(b->row_pivot);
  free(b->work);
}

// Unknowns and as many equations; false with a message when there cannot be.
static bool pose(balance *b) {
  const od_trial_plant *t = b->t;
  if (t->plant->ops->residual(t->plant, t->work, 0, t->x, t->g, t->u, t->g + od_plant_nk(t->plant)) != OD_OK)
    return true;
  if (b->angles > 0 && (!choose_held(b) || !check_held_cylinders(b))) return false;
  list_unknowns(b);
  if (find_pivots(b, t->x, 0)) leave_out_forces(b);
  int resting = b->angles + b->pressures - b->forces;
  find_pivots(b, t->x, resting);
  choose_resting(b, resting);
  return true;
}

static void search_balance(balance *b) {
  const od_trial_plant *t = b->t;
  od_model *m = b->s->m;
  int n = b->n, nx = od_plant_nx(t->plant);
  double *start = malloc((size_t)(nx + 1) * sizeof *start);
  if (!start) return;
  memcpy(start, t->x, (size_t)nx * sizeof *start);
  od_equilibrium e = problem_of(b);
  if (od_equilibrium_find(&e, t->x) != OD_OK) {
    complain_about_failure(b, start, t->x);
  } else if (!complain_about_suction(b, t->x, true)) {
    t->plant->ops->residual(t->plant, t->work, 0, t->x, t->g, t->u, t->g + od_plant_nk(t->plant));
    check_forces(b);
    check_strokes(b);
    memcpy(m->c0, t->x + 2 * n, (size_t)m->states * sizeof *m->c0);
    memcpy(m->z0, od_model_plant_scalars(t->plant, t->work) + m->layout.z, (size_t)m->coordinates * sizeof *m->z0);
    memcpy(b->s->w + m->layout.z, m->z0, (size_t)m->coordinates * sizeof *m->z0);
  }
  free(start);
}

void od_assembly_balance(od_assembly *s, const od_trial_plant *t) {
  if (s->balances == 0) return;
  balance b = {.s = s, .t = t, .n = t->plant->nz};
  for (int i = 0; i < s->balances; i++) {
    b.angles += is_coordinate(&s->balanced[i]);
    b.pressures += is_pressure(&s->balanced[i]);
  }
  b.states = s->balances - b.angles - b.pressures;
  for (int k = b.n; k < 2 * b.n; k++) t->x[k] = 0;
  memset(t->g, 0, (size_t)od_plant_nk(t->plant) * sizeof *t->g);
  if (take_memory(&b) && pose(&b)) search_balance(&b);
  give_memory_back(&b);
}
