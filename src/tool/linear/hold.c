// Newton's method for more or fewer unknowns than equations. Each step is the shortest least-squares solution of the linear
// equations, in units in which unknowns have typical sizes. If the wanted values cannot be reached, the path to them is bisected
// to find the reachable part and the limit that ends it.
#include "linear/hold.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/display.h"
#include "machine/machine.h"
#include "machine/steady.h"

enum { ROUNDS = 60, HALVINGS = 30, PLACES = 9 };
static const double small = 1e-9, longest_move = 0.3, rank_bound = 1e-10, nearest = 1e-6;

typedef struct search {
  od_operating_point *p;
  const od_point_options *o;
  const od_stops *limits;
  int nx, nz, nk, nu, ny, unknowns, rows;
  int *unknown;       // a state, or nx + an input
  int *hold_at;       // per hold: index among the plant's outputs
  double *scale;      // of each unknown
  bool *is_pressure;  // per unknown: it must stay positive
  double *x, *u, *f, *fx, *fu, *y, *hx, *hu;
  double *target;          // of each hold
  double *r, *J, *weight;  // rows: rates, then holds
  double *a, *b, *s;       // of the least-squares solver
  double *best_x, *best_u;
} search;

static int find_output(const od_operating_point *p, int output) {
  for (int i = 0; i < p->plant->ny; i++)
    if (p->output[i] == output) return i;
  return -1;
}

static void search_free(search *s) {
  void *memory[] = {s->is_pressure, s->unknown, s->hold_at, s->scale, s->x,  s->u,      s->f,
                    s->fx,          s->fu,      s->y,       s->hx,    s->hu, s->target, s->r,
                    s->J,           s->weight,  s->a,       s->b,     s->s,  s->best_x, s->best_u};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
}

static double *room(int rows, int columns) {
  return calloc((size_t)rows * (size_t)columns + 1, sizeof(double));
}

static bool allocate(search *s) {
  int nx = s->nx, nu = s->nu, ny = s->ny, all = nx + nu, rows = s->nk + s->o->holds, most = all > rows ? all : rows;
  s->unknown = calloc((size_t)all + 1, sizeof *s->unknown);
  s->hold_at = calloc((size_t)s->o->holds + 1, sizeof *s->hold_at);
  s->scale = room(all, 1);
  s->is_pressure = calloc((size_t)all + 1, sizeof *s->is_pressure);
  s->x = room(nx, 1), s->u = room(nu, 1), s->best_x = room(nx, 1), s->best_u = room(nu, 1);
  s->f = room(nx, 1), s->fx = room(nx, nx), s->fu = room(nx, nu);
  s->y = room(ny, 1), s->hx = room(ny, nx), s->hu = room(ny, nu);
  s->target = room(s->o->holds, 1);
  s->r = room(rows, 1), s->J = room(rows, all), s->weight = room(rows, 1);
  s->a = room(rows, all), s->b = room(most, 1), s->s = room(most, 1);
  return s->is_pressure && s->unknown && s->hold_at && s->scale && s->x && s->u && s->best_x && s->best_u && s->f &&
         s->fx && s->fu && s->y && s->hx && s->hu && s->target && s->r && s->J && s->weight && s->a && s->b && s->s;
}

// Evaluates the plant at x and u. False: failure.
static bool evaluate(search *s) {
  od_sim *sim = s->p->sim;
  return od_sim_set(sim, od_sim_time(sim), s->x, s->u) == OD_OK &&
         od_sim_derivatives(sim, s->f, s->fx, s->fu, NULL) == OD_OK && od_sim_outputs(sim, s->y) == OD_OK &&
         od_sim_output_jacobians(sim, s->hx, s->hu, NULL) == OD_OK;
}

static double by_unknown(const search *s, const double *by_x, const double *by_u, int row, int j) {
  int at = s->unknown[j];
  return (at < s->nx ? by_x[row * s->nx + at] : by_u[row * s->nu + at - s->nx]) * s->scale[j];
}

// Residuals and their derivatives by the scaled unknowns. The weight of a row makes its largest derivative 1.
static void gather(search *s) {
  for (int i = 0; i < s->rows; i++) {
    bool rate = i < s->nk;
    int row = rate ? s->nz + i : s->hold_at[i - s->nk];
    double largest = 0;
    s->r[i] = rate ? s->f[row] : s->y[row] - s->target[i - s->nk];
    for (int j = 0; j < s->unknowns; j++) {
      s->J[i * s->unknowns + j] = by_unknown(s, rate ? s->fx : s->hx, rate ? s->fu : s->hu, row, j);
      largest = fmax(largest, fabs(s->J[i * s->unknowns + j]));
    }
    double usual = rate && s->p->plant->scale ? s->p->plant->scale[i] : 1;
    s->weight[i] = 1 / (largest > 0 ? largest : usual > 0 ? usual : 1);
  }
}

// Norm of the residuals at the present point with the weights of the last gather().
static double residual_norm(const search *s) {
  double sum = 0;
  for (int i = 0; i < s->rows; i++) {
    double r = i < s->nk ? s->f[s->nz + i] : s->y[s->hold_at[i - s->nk]] - s->target[i - s->nk];
    sum += r * r * s->weight[i] * s->weight[i];
  }
  return sqrt(sum);
}

// Writes the shortest least-squares step, in scaled unknowns, to s->b.
static bool find_step(search *s) {
  lapack_int rank;
  for (int i = 0; i < s->rows; i++) {
    s->b[i] = -s->r[i] * s->weight[i];
    for (int j = 0; j < s->unknowns; j++) s->a[i * s->unknowns + j] = s->J[i * s->unknowns + j] * s->weight[i];
  }
  for (int i = 0; i < s->rows * s->unknowns; i++)
    if (!isfinite(s->a[i])) return false;
  return LAPACKE_dgelsd(LAPACK_ROW_MAJOR, s->rows, s->unknowns, 1, s->a, s->unknowns, s->b, 1, s->s, rank_bound,
                        &rank) == 0;
}

// Moves along the step. A pressure falls by at most nine tenths in one step: below zero nothing depends on it.
static void move(search *s, const double *from_x, const double *from_u, double part) {
  memcpy(s->x, from_x, (size_t)s->nx * sizeof *s->x);
  if (s->nu) memcpy(s->u, from_u, (size_t)s->nu * sizeof *s->u);
  for (int j = 0; j < s->unknowns; j++) {
    int at = s->unknown[j];
    double *value = at < s->nx ? &s->x[at] : &s->u[at - s->nx], least = 0.1 * *value;
    *value += part * s->b[j] * s->scale[j];
    if (s->is_pressure[j] && least > 0 && *value < least) *value = least;
  }
}

// Takes one step, shortened until the residuals decrease. 1: continue, 0: no decrease, -1: the evaluation failed.
static int take_step(search *s, double norm, double *size) {
  double *from_x = room(s->nx, 1), *from_u = room(s->nu, 1), part = 1;
  int result = from_x && from_u ? 0 : -1;
  *size = 0;
  for (int j = 0; j < s->unknowns; j++) {
    *size = fmax(*size, fabs(s->b[j]));
    if (s->unknown[j] < s->nz && fabs(s->b[j]) * part > longest_move) part = longest_move / fabs(s->b[j]);
  }
  if (result == 0) {
    memcpy(from_x, s->x, (size_t)s->nx * sizeof *from_x);
    memcpy(from_u, s->u, (size_t)s->nu * sizeof *from_u);
    for (int k = 0; k < 12 && result == 0; k++, part /= 2) {
      move(s, from_x, from_u, part);
      if (evaluate(s) && residual_norm(s) < norm) result = 1;
    }
    if (result == 0) {
      move(s, from_x, from_u, 0);
      if (!evaluate(s)) result = -1;
    }
  }
  free(from_x);
  free(from_u);
  return result;
}

// Iterates from the present x and u. Returns whether all outputs are held.
static bool iterate(search *s) {
  if (!evaluate(s)) return false;
  double norm = INFINITY;
  for (int round = 0; round < ROUNDS; round++) {
    double size;
    gather(s);
    norm = residual_norm(s);
    if (norm == 0) return true;
    if (!isfinite(norm) || !find_step(s)) return false;
    int more = take_step(s, norm, &size);
    if (more < 0) return false;
    if (more == 0 || size < 1e-14) break;
  }
  gather(s);
  return residual_norm(s) < small;
}

static const od_stop *passed_limit(const search *s, double *value) {
  return od_stops_passed(s->limits, s->p->output, s->ny, s->y, value);
}

static void keep(search *s) {
  memcpy(s->best_x, s->x, (size_t)s->nx * sizeof *s->x);
  memcpy(s->best_u, s->u, (size_t)s->nu * sizeof *s->u);
}

static void go_back(search *s) {
  memcpy(s->x, s->best_x, (size_t)s->nx * sizeof *s->x);
  if (s->nu) memcpy(s->u, s->best_u, (size_t)s->nu * sizeof *s->u);
}

// Result of a trial.
typedef struct trial {
  bool found;            // all outputs are held, and no limit is passed
  const od_stop *limit;  // the passed limit; or, if not all outputs are held, the reached limit
  double value;          // value of its output
  int left;              // the row with the largest residual, if not all outputs are held
} trial;

// Whether the search has emptied a volume. Empty volumes are at rest, too, but are not a valid operating point.
static bool is_emptied(const search *s) {
  static const double least = 1e3;  // Pa
  for (int j = 0; j < s->unknowns; j++)
    if (s->is_pressure[j] && s->x[s->unknown[j]] < least && s->best_x[s->unknown[j]] >= least) return true;
  return false;
}

// Searches from the best point so far. If a valve is closed, nothing depends on its command, so other values of the free inputs
// are tried, too.
static trial attempt(search *s) {
  static const double aside[PLACES] = {0, 0.1, -0.1, 1, -1, 3, -3, 0.01, -0.01};
  trial best = {.left = -1};
  for (int k = 0; k < PLACES && !best.found; k++) {
    go_back(s);
    for (int j = 0; j < s->unknowns; j++)
      if (s->unknown[j] >= s->nx) s->u[s->unknown[j] - s->nx] += aside[k] * s->scale[j];
    trial t = {.left = -1};
    bool held = iterate(s);
    double largest = 0;
    t.limit = passed_limit(s, &t.value);
    held = held && !is_emptied(s);
    t.found = held && !t.limit;
    if (!held && !t.limit) t.limit = od_stops_reached(s->limits, s->p->output, s->ny, s->y, &t.value);
    for (int i = 0; i < s->rows && !held; i++)
      if (fabs(s->r[i]) * s->weight[i] > largest) largest = fabs(s->r[i]) * s->weight[i], t.left = i;
    if (t.found || k == 0 || (!best.limit && t.limit)) best = t;
    if (s->o->free_count == 0) break;
  }
  return best;
}

// --- The problem -----------------------------------------------------------------------------------------------------

// Whether a held output depends on a state, at the start, with all speeds zero.
static bool is_held(const search *s, int state) {
  for (int i = 0; i < s->o->holds; i++)
    if (s->hx[s->hold_at[i] * s->nx + state] != 0) return true;
  return false;
}

// Whether a state is an output that a sampled block holds between samples. Such states are given.
static bool is_sampled(const search *s, int state) {
  if (!s->p->samples || state < 2 * s->nz || s->f[state] != 0) return false;
  for (int j = 0; j < s->nx; j++)
    if (s->fx[state * s->nx + j] != 0) return false;
  for (int j = 0; j < s->nu; j++)
    if (s->fu[state * s->nu + j] != 0) return false;
  return true;
}

static bool is_pressure(const search *s, int first_order_state) {
  const od_model *m = od_machine_model(s->p->machine);
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].state == first_order_state) return true;
  return false;
}

// Lists the unknowns. Speeds are unknown if held outputs depend on them, else zero. In steady motion, positions that no held
// output depends on are constant.
static void list_unknowns(search *s) {
  bool moves = false;
  for (int j = s->nz; j < 2 * s->nz; j++) moves = moves || is_held(s, j);
  for (int j = 0; j < s->nx; j++) {
    bool speed = j >= s->nz && j < 2 * s->nz, position = j < s->nz;
    if ((speed || (position && moves)) && !is_held(s, j)) continue;
    if (is_sampled(s, j)) continue;
    s->scale[s->unknowns] = od_typical_state(s->p->plant, j);
    s->is_pressure[s->unknowns] = j >= 2 * s->nz && is_pressure(s, j - 2 * s->nz);
    s->unknown[s->unknowns++] = j;
  }
  for (int i = 0; i < s->o->free_count; i++) {
    s->scale[s->unknowns] = 1 + fabs(s->u[s->o->free_inputs[i]]);
    s->unknown[s->unknowns++] = s->nx + s->o->free_inputs[i];
  }
}

static od_status begin(search *s, od_operating_point *p, const od_point_options *o, const od_stops *limits,
                       od_error *err) {
  *s = (search){.p = p,
                .o = o,
                .limits = limits,
                .nx = od_plant_nx(p->plant),
                .nz = p->plant->nz,
                .nk = od_plant_nk(p->plant),
                .nu = p->plant->nu,
                .ny = p->plant->ny};
  s->rows = s->nk + o->holds;
  if (!allocate(s)) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < o->holds; i++) s->hold_at[i] = find_output(p, o->hold[i].output);
  memcpy(s->x, od_sim_state(p->sim), (size_t)s->nx * sizeof *s->x);
  if (s->nu) memcpy(s->u, od_sim_inputs(p->sim), (size_t)s->nu * sizeof *s->u);
  // All speeds start at zero, unless they are held.
  for (int j = s->nz; j < 2 * s->nz; j++) s->x[j] = 0;
  if (!evaluate(s)) return od_fail(err, OD_NOT_CONVERGED, "nothing can be evaluated where the search begins");
  list_unknowns(s);
  keep(s);
  return OD_OK;
}

// --- Limits ----------------------------------------------------------------------------------------------------------

static void describe(const search *s, const trial *t, char *text, size_t size) {
  const od_machine *machine = s->p->machine;
  if (t->limit) {
    od_stop_text(machine, t->limit, t->value, text, size);
  } else if (t->left >= s->nk) {
    int output = s->o->hold[t->left - s->nk].output;
    snprintf(text, size,
             "no change of the free inputs and states was found that brings %s there; more inputs with --free may",
             od_machine_output_name(machine, output));
  } else {
    snprintf(text, size, "something would not stay at rest: no balance of forces and flows was found");
  }
}

static void aim(search *s, const double *start, double part) {
  for (int i = 0; i < s->o->holds; i++)
    s->target[i] = part < 1 ? start[i] + part * (s->o->hold[i].value - start[i]) : s->o->hold[i].value;
}

// The reachable part of the path from the outputs at the start (at rest) to the wanted values; -1: not even rest is found. If
// nothing ends the path early, the wanted values are tried again from a point near them. `last`: the result of this trial, or the
// trial that ends the path.
static double follow(search *s, const double *start, trial *last) {
  double low = 0, high = 1;
  aim(s, start, 0);
  trial t = attempt(s);
  if (!t.found) {
    if (!last->limit) *last = t;
    return -1;
  }
  keep(s);
  for (int k = 0; k < HALVINGS && high - low > nearest; k++) {
    double part = (low + high) / 2;
    aim(s, start, part);
    t = attempt(s);
    if (t.found) {
      low = part;
      keep(s);
    } else {
      high = part;
      if (t.limit || !last->limit) *last = t;
    }
  }
  if (high < 1) return low;
  aim(s, start, 1);
  t = attempt(s);
  if (t.found || t.limit || !last->limit) *last = t;
  return low;
}

// Whether the path ends at a limit: at its last point the output is within a hundredth of its range of the limit. A limit that a
// search passes elsewhere is not necessarily the cause.
static bool ends_at_limit(search *s, const od_stop *limit) {
  int at = limit ? find_output(s->p, limit->output) : -1;
  go_back(s);
  if (at < 0 || !evaluate(s)) return false;
  double near = 0.01 * (isfinite(limit->high) ? limit->high - limit->low : 1e5);  // Pa
  return s->y[at] > limit->high - near || s->y[at] < limit->low + near;
}

// Only a limit at the end of the path shows that there is no such point. Otherwise a search from another start may find it.
static od_status explain(search *s, const double *start, double part, const trial *last, od_error *err) {
  const od_held_output *h = &s->o->hold[0];
  const char *name = od_machine_output_name(s->p->machine, h->output);
  char why[300], where[240] = "";
  if (part >= 0)
    snprintf(
        where, sizeof where, "; it ends %s %.80s = %s", part > 1 - 2 * nearest ? "just short of" : "at", name,
        od_display_quantity(start[0] + part * (h->value - start[0]), od_machine_output_unit(s->p->machine, h->output))
            .text);
  describe(s, last, why, sizeof why);
  if (part >= 0 && ends_at_limit(s, last->limit))
    return od_fail(err, OD_NOT_CONVERGED, "there is no such operating point: %s%s", why, where);
  return od_fail(err, OD_NOT_CONVERGED,
                 "no such operating point was found from this start: %s%s; try another start with --at", why, where);
}

// --- Undetermined unknowns -------------------------------------------------------------------------------------------

// Directions in which unknowns can change without a first-order change of the residuals: rows of V from *rank on. NULL: failure.
// The caller frees the result.
static double *find_free_directions(search *s, int *rank) {
  int n = s->unknowns, least = s->rows < n ? s->rows : n;
  double *V = room(n, n), *rest = room(n + s->rows, 1), none;
  for (int i = 0; i < s->rows; i++)
    for (int j = 0; j < n; j++) s->a[i * n + j] = s->J[i * n + j] * s->weight[i];
  bool ok = V && rest && s->rows > 0 && n > 0 &&
            LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'A', s->rows, n, s->a, n, s->s, &none, 1, V, n, rest) == 0;
  free(rest);
  if (!ok) {
    free(V);
    return NULL;
  }
  *rank = 0;
  while (*rank < least && s->s[*rank] > rank_bound * s->s[0]) ++*rank;
  return V;
}

static void find_undecided(search *s, bool *undecided) {
  int n = s->unknowns, rank = 0;
  double *V = find_free_directions(s, &rank);
  memset(undecided, 0, (size_t)(s->nx + s->nu) * sizeof *undecided);
  for (int j = 0; V && j < n; j++) {
    double share = 0;
    for (int k = rank; k < n; k++) share += V[k * n + j] * V[k * n + j];
    undecided[s->unknown[j]] = share > 1e-6;
  }
  free(V);
}

static double value_of(const search *s, const double *x, const double *u, int j) {
  int at = s->unknown[j];
  return (at < s->nx ? x[at] : u[at - s->nx]) / s->scale[j];
}

// Newton's steps may have moved in undetermined directions. Moves back along these towards the start, which is in best_x and
// best_u, as long as all outputs stay held and no limit is passed.
static void come_back(search *s) {
  int n = s->unknowns, rank = 0;
  double *x = room(s->nx, 1), *u = room(s->nu, 1);
  bool more = x && u;
  for (int round = 0; round < 8 && more; round++) {
    double *V = find_free_directions(s, &rank), size = 0, ignored;
    memcpy(x, s->x, (size_t)s->nx * sizeof *x);
    memcpy(u, s->u, (size_t)s->nu * sizeof *u);
    for (int j = 0; j < n; j++) s->b[j] = 0;
    for (int k = rank; V && k < n; k++) {
      double along = 0;
      for (int j = 0; j < n; j++)
        along += V[k * n + j] * (value_of(s, s->best_x, s->best_u, j) - value_of(s, s->x, s->u, j));
      for (int j = 0; j < n; j++) s->b[j] += along * V[k * n + j];
      size = fmax(size, fabs(along));
    }
    free(V);
    if (size < 1e-9) break;
    move(s, x, u, 1);
    more = iterate(s) && !passed_limit(s, &ignored);
  }
  if (x && u && !more) {
    memcpy(s->x, x, (size_t)s->nx * sizeof *x);
    memcpy(s->u, u, (size_t)s->nu * sizeof *u);
    iterate(s);
  }
  free(x);
  free(u);
}

// Newton's method fails if nothing depends on the unknowns, for example at a closed spool. The machine may settle by itself with
// the inputs of the start. Then the search starts again at that point. False: it does not settle, and the search is unchanged.
static bool settle(search *s) {
  od_steady r = {0};
  go_back(s);
  if (!evaluate(s) || od_steady_settle(s->p->machine, s->p->sim, s->p->plant, NULL, &r) != OD_OK || !r.found) {
    go_back(s);
    return false;
  }
  memcpy(s->x, od_sim_state(s->p->sim), (size_t)s->nx * sizeof *s->x);
  for (int j = s->nz; j < 2 * s->nz; j++) s->x[j] = 0;
  keep(s);
  return true;
}

// Resets states and inputs to those of the start, which are contiguous in `first`.
static void start_again(search *s, const double *first) {
  memcpy(s->best_x, first, (size_t)s->nx * sizeof *first);
  memcpy(s->best_u, first + s->nx, (size_t)s->nu * sizeof *first);
}

od_status od_hold_find(od_operating_point *p, const od_point_options *o, const od_stops *limits, bool *undecided,
                       od_error *err) {
  search s;
  od_status status = begin(&s, p, o, limits, err);
  double *start = room(o->holds, 1), *first = status == OD_OK ? room(s.nx + s.nu, 1) : NULL;
  if (status == OD_OK && !(start && first)) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (status == OD_OK) {
    for (int i = 0; i < o->holds; i++) start[i] = s.y[s.hold_at[i]], s.target[i] = o->hold[i].value;
    memcpy(first, s.best_x, (size_t)s.nx * sizeof *first);
    memcpy(first + s.nx, s.best_u, (size_t)s.nu * sizeof *first);
    trial t = attempt(&s), again = {0};
    if (!t.found && settle(&s)) again = attempt(&s);
    // Undetermined unknowns stay near the start, or near the point where the machine settles.
    if (!again.found) start_again(&s, first);
    if (again.found) t = again;
    double part = t.found ? 1 : follow(&s, start, &t);
    if (t.found) {
      if (!again.found) start_again(&s, first);
      come_back(&s);
      find_undecided(&s, undecided);
    } else {
      status = explain(&s, start, part, &t, err);
    }
  }
  free(start);
  free(first);
  search_free(&s);
  return status;
}
