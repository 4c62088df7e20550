// Newton's method for systems with more or fewer unknowns than equations. Each step is the shortest least-squares solution of the
// linear equations, with each unknown divided by its typical size. If the wanted values cannot be reached, bisection finds the
// reachable part of the path to these values. Bisection also finds the limit at the end of this part.
#include "linear/hold.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/display.h"
#include "io/wording.h"
#include "linear/kinks.h"
#include "machine/machine.h"
#include "machine/steady.h"
#include "memory/scoped.h"

enum { MAX_ITERATIONS = 60, MAX_BISECTIONS = 30, MAX_SHORTENINGS = 12 };
static const double residual_tolerance = 1e-9, longest_move = 0.3, rank_tolerance = 1e-10, path_tolerance = 1e-6;

typedef struct search {
  od_operating_point *p;
  const od_point_options *o;
  const od_stops *limits;
  int nx, nz, nk, nu, unknowns, rows;
  int *unknown;       // index of a state, or nx + index of an input
  int *hold_at;       // per hold: index of the held output among the plant's outputs
  double *scale;      // size of each unknown
  bool *is_pressure;  // per unknown: whether the unknown is a pressure, which must remain positive

  // States, then inputs: the current values, the values before a step, and the start of the next search.
  double *x, *before, *best;
  od_slopes slopes;        // at x
  double *target;          // target value of each hold
  double *r, *J, *weight;  // residuals, derivatives and weights; rows: rates, then holds
  double *a, *b, *s;       // memory of the least-squares solver
  double *V, *superdiagonal;
  od_arena arena;
} search;

static void search_free(search *s) {
  od_arena_free(&s->arena);
}

static int find_output(const od_operating_point *p, int output) {
  for (int i = 0; i < p->plant->ny; i++)
    if (p->output[i] == output) return i;
  return -1;
}

static void copy(const search *s, double *to, const double *from) {
  memcpy(to, from, (size_t)(s->nx + s->nu) * sizeof *to);
}

// Evaluates the plant at x. Returns false if the plant cannot be evaluated at x.
static bool evaluate(search *s) {
  od_sim *sim = s->p->sim;
  return od_sim_set(sim, od_sim_time(sim), s->x, s->x + s->nx) == OD_OK && od_slopes_find(&s->slopes, sim) == OD_OK;
}

// Computes residuals and their derivatives with respect to the scaled unknowns. The weight of a row makes its largest derivative
// 1.
static void gather(search *s) {
  const od_slopes *d = &s->slopes;
  for (int i = 0; i < s->rows; i++) {
    bool rate = i < s->nk;
    int row = rate ? s->nz + i : s->hold_at[i - s->nk];
    double largest = 0;
    const double *by_x = rate ? d->fx : d->hx, *by_u = rate ? d->fu : d->hu;
    s->r[i] = rate ? d->f[row] : d->y[row] - s->target[i - s->nk];
    for (int j = 0; j < s->unknowns; j++) {
      int at = s->unknown[j];
      double slope = at < s->nx ? by_x[row * s->nx + at] : by_u[row * s->nu + at - s->nx];
      s->J[i * s->unknowns + j] = slope * s->scale[j];
      largest = fmax(largest, fabs(s->J[i * s->unknowns + j]));
    }
    double usual = rate && s->p->plant->scale ? s->p->plant->scale[i] : 1;
    s->weight[i] = 1 / (largest > 0 ? largest : usual > 0 ? usual : 1);
  }
}

// Returns the norm of the residuals at the current point, with the weights of the last gather().
static double residual_norm(const search *s) {
  double sum = 0;
  for (int i = 0; i < s->rows; i++) {
    double r = i < s->nk ? s->slopes.f[s->nz + i] : s->slopes.y[s->hold_at[i - s->nk]] - s->target[i - s->nk];
    sum += r * r * s->weight[i] * s->weight[i];
  }
  return sqrt(sum);
}

// Writes the shortest least-squares step, in scaled unknowns, to s->b. Returns false if a derivative is not finite, or
// if LAPACK failed.
static bool find_step(search *s) {
  lapack_int rank;
  for (int i = 0; i < s->rows; i++) {
    s->b[i] = -s->r[i] * s->weight[i];
    for (int j = 0; j < s->unknowns; j++) s->a[i * s->unknowns + j] = s->J[i * s->unknowns + j] * s->weight[i];
  }
  for (int i = 0; i < s->rows * s->unknowns; i++)
    if (!isfinite(s->a[i])) return false;
  return LAPACKE_dgelsd(LAPACK_ROW_MAJOR, s->rows, s->unknowns, 1, s->a, s->unknowns, s->b, 1, s->s, rank_tolerance,
                        &rank) == 0;
}

// Sets x to `from` plus the given fraction of the step. A pressure falls by at most nine tenths in one step, because no rate
// depends on a negative pressure.
static void move(search *s, const double *from, double part) {
  copy(s, s->x, from);
  for (int j = 0; j < s->unknowns; j++) {
    double *value = &s->x[s->unknown[j]], least = 0.1 * *value;
    *value += part * s->b[j] * s->scale[j];
    if (s->is_pressure[j] && least > 0 && *value < least) *value = least;
  }
}

// Takes the step in s->b, shortened until the residuals decrease. Returns false if no decrease was found; x is then
// unchanged.
static bool take_step(search *s, double norm) {
  double part = 1;
  for (int j = 0; j < s->unknowns; j++)
    if (s->unknown[j] < s->nz && fabs(s->b[j]) * part > longest_move) part = longest_move / fabs(s->b[j]);
  copy(s, s->before, s->x);
  for (int k = 0; k < MAX_SHORTENINGS; k++, part /= 2) {
    move(s, s->before, part);
    if (evaluate(s) && residual_norm(s) < norm) return true;
  }
  move(s, s->before, 0);
  return false;
}

// Iterates from the current x. Returns whether all outputs are held and all rates are zero.
static bool iterate(search *s) {
  if (!evaluate(s)) return false;
  for (int k = 0; k < MAX_ITERATIONS; k++) {
    gather(s);
    double norm = residual_norm(s), size = 0;
    if (norm == 0) return true;
    if (!isfinite(norm) || !find_step(s)) return false;
    for (int j = 0; j < s->unknowns; j++) size = fmax(size, fabs(s->b[j]));
    bool decreased = take_step(s, norm);
    if (!decreased && !evaluate(s)) return false;
    if (!decreased || size < 1e-14) break;
  }
  gather(s);
  return residual_norm(s) < residual_tolerance;
}

static const od_stop *passed_limit(const search *s, double *value) {
  return od_stops_passed(s->limits, s->p->output, s->slopes.ny, s->slopes.y, value);
}

// The result of a trial: whether all outputs are held, and the reason if not.
typedef struct trial {
  bool found;            // whether all outputs are held and no limit is exceeded
  const od_stop *limit;  // the exceeded limit; else, if not all outputs are held, a limit that was reached; NULL: none
  double value;          // value of the output that has the limit
  int unsolved;          // the row with the largest residual, if not all outputs are held
} trial;

// Returns whether the search has emptied a volume: its pressure has fallen below 1 kPa. A machine with empty volumes is also at
// rest, but not at a valid operating point.
static bool is_emptied(const search *s) {
  static const double least = 1e3;  // Pa
  for (int j = 0; j < s->unknowns; j++)
    if (s->is_pressure[j] && s->x[s->unknown[j]] < least && s->best[s->unknown[j]] >= least) return true;
  return false;
}

// Searches from the best point. If a valve is closed, no rate depends on its command. Therefore other values of the
// free inputs are also tried. Returns the first successful trial. If no trial is successful, returns the first trial
// that meets a limit, else the first trial.
static trial attempt(search *s) {
  static const double offsets[] = {0, 0.1, -0.1, 1, -1, 3, -3, 0.01, -0.01};
  size_t count = s->o->free_count > 0 ? sizeof offsets / sizeof *offsets : 1;
  trial best = {.unsolved = -1};
  for (size_t k = 0; k < count && !best.found; k++) {
    copy(s, s->x, s->best);
    for (int j = 0; j < s->unknowns; j++)
      if (s->unknown[j] >= s->nx) s->x[s->unknown[j]] += offsets[k] * s->scale[j];
    trial t = {.unsolved = -1};
    bool held = iterate(s);
    double largest = 0;
    t.limit = passed_limit(s, &t.value);
    held = held && !is_emptied(s);
    t.found = held && !t.limit;
    if (!held && !t.limit) t.limit = od_stops_reached(s->limits, s->p->output, s->slopes.ny, s->slopes.y, &t.value);
    for (int i = 0; i < s->rows && !held; i++)
      if (fabs(s->r[i]) * s->weight[i] > largest) largest = fabs(s->r[i]) * s->weight[i], t.unsolved = i;
    if (t.found || k == 0 || (!best.limit && t.limit)) best = t;
  }
  return best;
}

// --- The problem -----------------------------------------------------------------------------------------------------

// Returns whether a held output depends on a state. Derivatives are evaluated at the start, with all speeds zero.
static bool is_held(const search *s, int state) {
  for (int i = 0; i < s->o->holds; i++)
    if (s->slopes.hx[s->hold_at[i] * s->nx + state] != 0) return true;
  return false;
}

static bool is_pressure(const search *s, int first_order_state) {
  const od_model *m = od_machine_model(s->p->machine);
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].state == first_order_state) return true;
  return false;
}

// Lists the unknowns. A speed is unknown if a held output depends on this speed; otherwise the speed is zero. In steady motion,
// positions that no held output depends on are constant.
static void list_unknowns(search *s) {
  bool moves = false;
  for (int j = s->nz; j < 2 * s->nz; j++) moves = moves || is_held(s, j);
  for (int j = 0; j < s->nx; j++) {
    bool speed = j >= s->nz && j < 2 * s->nz, position = j < s->nz;
    if ((speed || (position && moves)) && !is_held(s, j)) continue;
    // The outputs that sampled blocks hold between samples are not unknowns.
    if (s->p->samples && j >= 2 * s->nz && od_slopes_is_constant(&s->slopes, j)) continue;
    s->scale[s->unknowns] = od_typical_state(s->p->plant, j);
    s->is_pressure[s->unknowns] = j >= 2 * s->nz && is_pressure(s, j - 2 * s->nz);
    s->unknown[s->unknowns++] = j;
  }
  for (int i = 0; i < s->o->free_count; i++) {
    s->scale[s->unknowns] = 1 + fabs(s->x[s->nx + s->o->free_inputs[i]]);
    s->unknown[s->unknowns++] = s->nx + s->o->free_inputs[i];
  }
}

// Prepares a search that starts at the state of the point, with all speeds zero. The caller frees the search in all cases. Fails
// with OD_NOT_CONVERGED or OD_NO_MEMORY.
static od_status begin(search *s, od_operating_point *p, const od_point_options *o, const od_stops *limits,
                       od_error *err) {
  const od_plant *plant = p->plant;
  *s = (search){.p = p,
                .o = o,
                .limits = limits,
                .nx = od_plant_nx(plant),
                .nz = plant->nz,
                .nk = od_plant_nk(plant),
                .nu = plant->nu,
                .rows = od_plant_nk(plant) + o->holds};
  od_arena *arena = &s->arena;
  int all = s->nx + s->nu, rows = s->rows, most = all > rows ? all : rows;
  s->unknown = OD_TAKE(arena, int, all);
  s->hold_at = OD_TAKE(arena, int, o->holds);
  s->scale = OD_TAKE(arena, double, all);
  s->is_pressure = OD_TAKE(arena, bool, all);
  s->x = OD_TAKE(arena, double, all);
  s->before = OD_TAKE(arena, double, all);
  s->best = OD_TAKE(arena, double, all);
  s->slopes = od_slopes_new(arena, plant);
  s->target = OD_TAKE(arena, double, o->holds);
  s->r = OD_TAKE(arena, double, rows);
  s->J = OD_TAKE_MATRIX(arena, double, rows, all);
  s->weight = OD_TAKE(arena, double, rows);
  s->a = OD_TAKE_MATRIX(arena, double, rows, all);
  s->b = OD_TAKE(arena, double, most);
  s->s = OD_TAKE(arena, double, most);
  s->V = OD_TAKE_MATRIX(arena, double, all, all);
  s->superdiagonal = OD_TAKE(arena, double, most);
  if (od_arena_status(arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < o->holds; i++) s->hold_at[i] = find_output(p, o->hold[i].output);
  memcpy(s->x, od_sim_state(p->sim), (size_t)s->nx * sizeof *s->x);
  if (s->nu) memcpy(s->x + s->nx, od_sim_inputs(p->sim), (size_t)s->nu * sizeof *s->x);
  for (int j = s->nz; j < 2 * s->nz; j++) s->x[j] = 0;
  if (!evaluate(s))
    return od_fail(err, OD_NOT_CONVERGED,
                   "the machine cannot be evaluated at the start of the search; choose another start with --at");
  list_unknowns(s);
  copy(s, s->best, s->x);
  return OD_OK;
}

// --- Limits ----------------------------------------------------------------------------------------------------------

typedef struct held_text {
  char text[180];
} held_text;

// Writes the reason why a trial failed: a limit, an output that cannot be held, or no balance.
static void describe(const search *s, const trial *t, char *text, size_t size) {
  const od_machine *machine = s->p->machine;
  if (t->limit) {
    od_stop_text(machine, t->limit, t->value, text, size);
  } else if (t->unsolved >= s->nk) {
    int output = s->o->hold[t->unsolved - s->nk].output;
    snprintf(
        text, size,
        "no values of the free inputs and states were found that bring %.80s to %s; free more inputs with --adjust",
        od_machine_output_name(machine, output),
        od_display_quantity(s->o->hold[t->unsolved - s->nk].value, od_machine_output_unit(machine, output)).text);
  } else {
    snprintf(text, size, "no balance of forces and flows was found");
  }
}

// Sets the targets to a fraction of the path from the outputs at the start to the wanted values.
static void set_targets(search *s, const double *start, double part) {
  for (int i = 0; i < s->o->holds; i++)
    s->target[i] = part < 1 ? start[i] + part * (s->o->hold[i].value - start[i]) : s->o->hold[i].value;
}

// Returns the reachable fraction of the path from the outputs at the start (at rest) to the wanted values; -1: no
// point at rest was found. If the whole path is reachable, the wanted values are tried again from a nearby point.
// *last: the result of this trial; if only a part is reachable, the result of a trial beyond this part, with priority for
// trials that ended at a limit.
static double find_reachable_part(search *s, const double *start, trial *last) {
  double low = 0, high = 1;
  set_targets(s, start, 0);
  trial t = attempt(s);
  if (!t.found) {
    if (!last->limit) *last = t;
    return -1;
  }
  copy(s, s->best, s->x);
  for (int k = 0; k < MAX_BISECTIONS && high - low > path_tolerance; k++) {
    double part = (low + high) / 2;
    set_targets(s, start, part);
    t = attempt(s);
    if (t.found) {
      low = part;
      copy(s, s->best, s->x);
    } else {
      high = part;
      if (t.limit || !last->limit) *last = t;
    }
  }
  if (high < 1) return low;
  set_targets(s, start, 1);
  t = attempt(s);
  if (t.found || t.limit || !last->limit) *last = t;
  return low;
}

// Returns whether the path ends at a limit: the distance of the last point from the limit is less than 1 % of the range between the
// limits. Without an upper limit, the distance is less than 1 kPa. A limit that the search meets at another point does not prove
// that the wanted point does not exist.
static bool ends_at_limit(search *s, const od_stop *limit) {
  int at = limit ? find_output(s->p, limit->output) : -1;
  copy(s, s->x, s->best);
  if (at < 0 || !evaluate(s)) return false;
  double near = 0.01 * (isfinite(limit->high) ? limit->high - limit->low : 1e5);  // Pa
  return s->slopes.y[at] > limit->high - near || s->slopes.y[at] < limit->low + near;
}

// Returns a value of held output i as a text: "rail.rate = 300 mm/s".
static held_text held_value(const search *s, int i, double value) {
  const od_machine *machine = s->p->machine;
  int output = s->o->hold[i].output;
  held_text t;
  snprintf(t.text, sizeof t.text, "%.80s = %s", od_machine_output_name(machine, output),
           od_display_quantity(value, od_machine_output_unit(machine, output)).text);
  return t;
}

// Writes the reason for a failure, with the wanted values. Only a limit at the end of the path proves that the wanted point does
// not exist. Otherwise a search from another start may find the point.
static od_status explain(search *s, const double *start, double part, const trial *last, od_error *err) {
  od_name_list wanted = {.most = 3};
  char why[300], where[240] = "";
  for (int i = 0; i < s->o->holds; i++) od_name_list_add(&wanted, "%s", held_value(s, i, s->o->hold[i].value).text);
  const char *with = wanted.count > 0 ? " with " : "", *values = wanted.count > 0 ? od_name_list_text(&wanted) : "";
  if (part >= 0 && s->o->holds > 0)
    snprintf(where, sizeof where, "; the reachable range ends %s %s",
             part > 1 - 2 * path_tolerance ? "just short of" : "at",
             held_value(s, 0, start[0] + part * (s->o->hold[0].value - start[0])).text);
  describe(s, last, why, sizeof why);
  if (part >= 0 && ends_at_limit(s, last->limit))
    return od_fail(err, OD_NOT_CONVERGED, "there is no operating point%s%s: %s%s", with, values, why, where);
  return od_fail(err, OD_NOT_CONVERGED,
                 "no operating point%s%s was found from this start: %s%s; try another start with --at", with, values,
                 why, where);
}

// --- Undetermined unknowns -------------------------------------------------------------------------------------------

// Finds the directions in which unknowns can change without a first-order change of the residuals: the rows of V starting at the
// returned index. Returns the number of unknowns if there is no such direction or the decomposition fails.
static int find_free_directions(search *s) {
  int n = s->unknowns, least = s->rows < n ? s->rows : n, rank = 0;
  double none;
  for (int i = 0; i < s->rows; i++)
    for (int j = 0; j < n; j++) s->a[i * n + j] = s->J[i * n + j] * s->weight[i];
  if (least == 0 ||
      LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'A', s->rows, n, s->a, n, s->s, &none, 1, s->V, n, s->superdiagonal) != 0)
    return n;
  while (rank < least && s->s[rank] > rank_tolerance * s->s[0]) rank++;
  return rank;
}

static void find_undecided(search *s, bool *undecided) {
  int n = s->unknowns, rank = find_free_directions(s);
  memset(undecided, 0, (size_t)(s->nx + s->nu) * sizeof *undecided);
  for (int j = 0; j < n; j++) {
    double share = 0;
    for (int k = rank; k < n; k++) share += s->V[k * n + j] * s->V[k * n + j];
    undecided[s->unknown[j]] = share > 1e-6;
  }
}

// Moves back toward the start, which is in `best`, along undetermined directions. Newton's steps may have moved along these
// directions. All outputs stay held, and no limit is exceeded.
static void return_to_start(search *s) {
  int n = s->unknowns;
  double *x = OD_TAKE(&s->arena, double, s->nx + s->nu), ignored;
  if (!x) return;
  for (int round = 0; round < 8; round++) {
    double size = 0;
    int rank = find_free_directions(s);
    copy(s, x, s->x);
    for (int j = 0; j < n; j++) s->b[j] = 0;
    for (int k = rank; k < n; k++) {
      double along = 0;
      for (int j = 0; j < n; j++) {
        int at = s->unknown[j];
        along += s->V[k * n + j] * (s->best[at] / s->scale[j] - s->x[at] / s->scale[j]);
      }
      for (int j = 0; j < n; j++) s->b[j] += along * s->V[k * n + j];
      size = fmax(size, fabs(along));
    }
    if (size < 1e-9) return;
    move(s, x, 1);
    if (iterate(s) && !passed_limit(s, &ignored)) continue;
    copy(s, s->x, x);
    iterate(s);
    return;
  }
}

// Lets the machine settle with the inputs of the start and restarts the search at the settled state. Newton's method
// fails if no rate depends on the unknowns, for example at a closed spool. Returns false if the machine does not
// settle; the search is then unchanged.
static bool settle(search *s) {
  od_steady r = {0};
  copy(s, s->x, s->best);
  if (!evaluate(s) || od_steady_settle(s->p->machine, s->p->sim, s->p->plant, NULL, &r) != OD_OK || !r.found) {
    copy(s, s->x, s->best);
    return false;
  }
  memcpy(s->x, od_sim_state(s->p->sim), (size_t)s->nx * sizeof *s->x);
  for (int j = s->nz; j < 2 * s->nz; j++) s->x[j] = 0;
  copy(s, s->best, s->x);
  return true;
}

od_status od_hold_find(od_operating_point *p, const od_point_options *o, const od_stops *limits, bool *undecided,
                       od_error *err) {
  OD_SCOPED(search_free) search s;
  od_status status = begin(&s, p, o, limits, err);
  if (status != OD_OK) return status;
  double *start = OD_TAKE(&s.arena, double, o->holds), *first = OD_TAKE(&s.arena, double, s.nx + s.nu);
  if (od_arena_status(&s.arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < o->holds; i++) start[i] = s.slopes.y[s.hold_at[i]], s.target[i] = o->hold[i].value;
  copy(&s, first, s.best);
  trial t = attempt(&s), again = {0};
  if (!t.found && settle(&s)) again = attempt(&s);
  // Undetermined unknowns stay near the start, or near the point where the machine settles.
  if (again.found)
    t = again;
  else
    copy(&s, s.best, first);
  double part = t.found ? 1 : find_reachable_part(&s, start, &t);
  if (!t.found) return explain(&s, start, part, &t, err);
  if (!again.found) copy(&s, s.best, first);
  return_to_start(&s);
  find_undecided(&s, undecided);
  return OD_OK;
}
