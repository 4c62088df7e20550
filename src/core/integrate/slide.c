// Laws that jump, and motions that slide along the jump.
//
// A law such as sign(s) jumps where its guard s passes zero. If the laws of both sides lead back to s = 0, a step with the law of
// one side ends on the other side. The motion stays at s = 0, and the law has the value between both sides that keeps s at zero
// (Filippov's solution). In a step each jump adds one unknown, its value v in [-1, 1], which is constant in the step:
//
//   v = 1 where s > 0 at the end,   v = -1 where s < 0,   any v between where s = 0
//
// A solution always exists, because s at the end is a continuous function of v. Newton's method on s(v) finds a solution within the
// bounds. Steps with another v give the initial slopes ds/dv, and Broyden's formula updates them. Gauss-Seidel sweeps solve the
// linear problem with bounds. The integrator takes the steps while the plant holds the jumps (od_plant_ops.hold), so sliding works
// with every integrator. The derivatives of such a step are exact; see below.
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "integrate/integrators.h"
#include "integrate/sim_block.h"
#include "math/dense.h"

enum { MOST_UNKNOWNS = OD_MOST_JUMPS_IN_STEP, MOST_ROUNDS = 30, SWEEPS = 500 };
static const double trial_change = 0.25;  // the change of v for difference quotients
static const double accuracy = 1e-9;      // tolerance of s at the end of the step, relative to ds/dv

typedef struct memory {
  double *kept;                   // the point at the beginning of the step, see copy_point()
  double *value, *guard, *slope;  // for each jump: value, guard at the end of the step, derivative of the guard
  double *du;                     // rates of the inputs
  double *change;                 // change of the rates at the beginning of the step, due to the values
  double *by_value;               // derivatives of the new state with respect to the values (nx x jumps)
  double *unit;                   // vector of zeros; one entry is temporarily 1
} memory;

// Returns the number of doubles of the point that copy_point() keeps.
static size_t kept_doubles(const od_plant *plant) {
  size_t nx = (size_t)od_plant_nx(plant), nk = (size_t)od_plant_nk(plant);
  return nx + 4 * nk + (size_t)plant->nu + 2 * (size_t)plant->nq + 2 * (size_t)plant->jumps;
}

static size_t unit_doubles(const od_plant *plant) {
  int nx = od_plant_nx(plant), most = od_most_parameters(plant) > plant->nu ? od_most_parameters(plant) : plant->nu;
  return (size_t)(nx > most ? nx : most);
}

size_t od_slide_doubles(const od_plant *plant, bool plain) {
  size_t jumps = (size_t)plant->jumps, nx = (size_t)od_plant_nx(plant);
  size_t derivatives = plain ? 0 : nx * jumps + unit_doubles(plant);
  return jumps ? kept_doubles(plant) + 3 * jumps + (size_t)plant->nu + (size_t)od_plant_nk(plant) + derivatives : 0;
}

static memory memory_of(od_sim *s) {
  memory m = {.kept = od_sim_at(s, s->slide)};
  m.value = m.kept + kept_doubles(s->plant);
  m.guard = m.value + s->plant->jumps;
  m.slope = m.guard + s->plant->jumps;
  m.du = m.slope + s->plant->jumps;
  m.change = m.du + s->plant->nu;
  m.by_value = m.change + od_plant_nk(s->plant);
  m.unit = m.by_value + od_plant_nx(s->plant) * s->plant->jumps;
  return m;
}

// Saves the current point, its earlier rates, energies and held values in the memory. With `back`, restores the saved values.
static void copy_point(od_sim *s, bool back) {
  const od_plant *plant = s->plant;
  const struct {
    size_t at;
    int count;
  } parts[] = {{s->k, od_plant_nk(plant)},
               {s->u, plant->nu},
               {s->x, od_plant_nx(plant)},
               {s->k_before, od_plant_nk(plant)},
               {s->k_earlier, od_plant_nk(plant)},
               {s->curve, od_plant_nk(plant)},
               {s->energy, plant->nq},
               {s->power, plant->nq},
               {s->held, 2 * plant->jumps}};
  double *kept = memory_of(s).kept;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    double *here = od_sim_at(s, parts[i].at);
    memcpy(back ? here : kept, back ? kept : here, (size_t)parts[i].count * sizeof *here);
    kept += parts[i].count;
  }
}

void od_sim_release_jumps(od_sim *s) {
  if (od_sim_jumps(s)) s->plant->ops->hold(s->plant, od_sim_work(s), NULL);
  s->holding = 0;
  s->entered = 0;
  s->at_point = 0;
}

void od_sim_hold_within(od_sim *s, const od_sim *after, double t) {
  int jumps = s->plant->jumps;
  double *held = od_sim_at(s, s->held);
  for (int j = 0; j < jumps; j++)
    if (!isnan(held[j])) held[j] = fmin(fmax(held[j] + (t - after->t) * held[jumps + j], -1), 1);
  s->plant->ops->hold(s->plant, od_sim_work(s), held);
}

// A step to be taken: the simulation before the step (its point is in the memory), the length of the step, and its inputs.
typedef struct attempt {
  od_sim before;
  double h;
  const double *inside, *u;
} attempt;

// Restores the simulation before the step, including its count of steps. The counts of evaluations remain.
static void go_back(od_sim *s, const attempt *a) {
  const od_sim_counts counts = s->counts;
  *s = a->before;
  s->counts = counts;
  s->counts.steps = a->before.counts.steps;
  s->has_matrix = OD_NO_MATRIX;
  od_sim_leave_point(s);
  copy_point(s, true);
}

// Computes the guards of the jumps at the plant's last point.
static od_status read_guards(od_sim *s, double *guard) {
  const od_plant *plant = s->plant;
  double *all = od_sim_at(s, s->guards);
  od_status status = plant->ops->guards(plant, od_sim_work(s), all);
  for (int i = 0; i < plant->jumps; i++) guard[i] = all[plant->jump_guard[i]];
  return status;
}

// Computes the rates of the guards of all jumps at the current point, with the mean rates of the inputs in the last
// step. h: length of this step; u0: inputs at its beginning (NULL: constant inputs).
static od_status find_guard_rates(od_sim *s, double h, const double *u0, double *rate) {
  const od_plant *plant = s->plant;
  const double *x = od_sim_state(s), *k = od_sim_rates(s), *u = od_sim_inputs(s);
  double *dx = od_sim_at(s, s->x_next), *du = memory_of(s).du;
  int nz = plant->nz;
  for (int i = 0; i < od_plant_nx(plant); i++) dx[i] = i < nz ? x[nz + i] : k[i - nz];
  for (int i = 0; i < plant->nu; i++) du[i] = u0 ? (u[i] - u0[i]) / h : 0;
  od_status status = od_sim_refresh(s);
  const od_point_change along = {.x = dx, .u = du};
  return status == OD_OK ? plant->ops->guard_slopes(plant, od_sim_work(s), along, rate) : status;
}

// Takes the step by the integrator alone.
static od_status plain_step(od_sim *s, const attempt *a, const od_transition *out) {
  return out ? s->integrator->step_with_jacobians(s, a->h, a->u, out) : s->integrator->step(s, a->h, a->inside, a->u);
}

// Takes the step with all jumps held at `value`, and computes the guards at its end. Fails with a status of od_sim_step().
static od_status held_step(od_sim *s, const attempt *a, const double *value, const od_transition *out, double *guard) {
  const od_plant *plant = s->plant;
  const memory m = memory_of(s);
  double *k = od_sim_at(s, s->k);
  go_back(s, a);
  plant->ops->hold(plant, od_sim_work(s), value);
  s->counts.residuals += 2;
  od_status status = od_sim_find_rates(s, s->t, od_sim_at(s, s->x), od_sim_at(s, s->u), k);
  if (status == OD_OK && plant->nq) status = plant->ops->powers(plant, od_sim_work(s), od_sim_at(s, s->power));
  if (od_sim_settle(s, status) != OD_OK) return status;
  od_sim_adopt_rates_point(s);
  for (int i = 0; i < od_plant_nk(plant); i++)
    m.change[i] = k[i] - m.kept[i];  // m.kept begins with the rates of the saved point
  status = plain_step(s, a, out);
  if (status == OD_OK) status = od_sim_refresh(s);
  return status == OD_OK ? read_guards(s, guard) : status;
}

// ---- values of jumps

typedef struct unknowns {
  int count, jump[MOST_UNKNOWNS];
  int left_out;  // 1 + the index of a jump beyond MOST_UNKNOWNS; 0: none
  bool has_slopes;
  double slope[MOST_UNKNOWNS][MOST_UNKNOWNS];  // derivatives of guards with respect to values
  double v[MOST_UNKNOWNS], s[MOST_UNKNOWNS];   // values and guards of the last step
  double tolerance[MOST_UNKNOWNS];
} unknowns;

static int place_of(const unknowns *q, int jump) {
  for (int i = 0; i < q->count; i++)
    if (q->jump[i] == jump) return i;
  return -1;
}

static void add_unknown(unknowns *q, int jump) {
  if (q->count < MOST_UNKNOWNS)
    q->jump[q->count++] = jump;
  else
    q->left_out = jump + 1;
  q->has_slopes = false;
}

static double sign_of(double x) {
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}

// Returns whether the guard of a jump at the end of the step is consistent with the value v of the jump (the conditions
// on v at the top of this file).
static bool agrees(double value, double guard, double tolerance) {
  return fabs(guard) <= tolerance || (value >= 1 && guard > 0) || (value <= -1 && guard < 0);
}

// Returns whether all values are consistent. Inconsistent values become unknowns.
static bool all_agree(const od_sim *s, const memory *m, unknowns *q) {
  bool all = true;
  for (int j = 0; j < s->plant->jumps; j++) {
    int place = place_of(q, j);
    if (agrees(m->value[j], m->guard[j], place >= 0 && q->has_slopes ? q->tolerance[place] : 0)) continue;
    all = false;
    if (place < 0) add_unknown(q, j);
  }
  return all;
}

// Computes the slopes of guards with respect to values, from one step with a changed value for each unknown. The result of the
// iteration does not depend on the accuracy of the slopes. Fails with a status of od_sim_step().
static od_status find_slopes(od_sim *s, const attempt *a, const memory *m, unknowns *q) {
  for (int i = 0; i < q->count; i++) q->v[i] = m->value[q->jump[i]], q->s[i] = m->guard[q->jump[i]];
  for (int c = 0; c < q->count; c++) {
    double by = q->v[c] > 0 ? -trial_change : trial_change;
    m->value[q->jump[c]] = q->v[c] + by;
    od_status status = held_step(s, a, m->value, NULL, m->guard);
    m->value[q->jump[c]] = q->v[c];
    if (status != OD_OK) return status;
    for (int i = 0; i < q->count; i++) q->slope[i][c] = (m->guard[q->jump[i]] - q->s[i]) / by;
    q->tolerance[c] = accuracy * fabs(q->slope[c][c]);
  }
  q->has_slopes = true;
  return OD_OK;
}

// Updates the slopes from the last step by Broyden's formula.
static void update_slopes(const memory *m, unknowns *q) {
  double dv[MOST_UNKNOWNS], left[MOST_UNKNOWNS], square = 0;
  for (int i = 0; i < q->count; i++) {
    dv[i] = m->value[q->jump[i]] - q->v[i];
    square += dv[i] * dv[i];
    left[i] = m->guard[q->jump[i]] - q->s[i];
  }
  for (int i = 0; i < q->count && square > 0; i++) {
    for (int j = 0; j < q->count; j++) left[i] -= q->slope[i][j] * dv[j];
    for (int j = 0; j < q->count; j++) q->slope[i][j] += left[i] * dv[j] / square;
  }
  for (int i = 0; i < q->count; i++) q->v[i] = m->value[q->jump[i]], q->s[i] = m->guard[q->jump[i]];
}

// Computes the values that are consistent with the linearized guards, by Gauss-Seidel sweeps. If a guard does not decrease with
// its own value, the value is the sign of the guard.
static void next_values(const memory *m, const unknowns *q) {
  double next[MOST_UNKNOWNS], largest = 1;
  memcpy(next, q->v, sizeof next);
  for (int sweep = 0; sweep < SWEEPS && largest > 1e-13; sweep++) {
    largest = 0;
    for (int i = 0; i < q->count; i++) {
      double s = q->s[i], own = q->slope[i][i], to;
      for (int j = 0; j < q->count; j++) s += q->slope[i][j] * (next[j] - q->v[j]);
      to = own < 0 ? fmin(fmax(next[i] - s / own, -1), 1) : s != 0 ? sign_of(s) : next[i];
      largest = fmax(largest, fabs(to - next[i]));
      next[i] = to;
    }
  }
  for (int i = 0; i < q->count; i++) m->value[q->jump[i]] = next[i];
}

// Finds consistent values. The last step taken has these values. Fails with OD_NOT_CONVERGED if there are too many rounds
// or jumps, and with other statuses of od_sim_step().
static od_status find_values(od_sim *s, const attempt *a, const memory *m, unknowns *q) {
  for (int round = 0; round < MOST_ROUNDS && !q->left_out; round++) {
    od_status status = held_step(s, a, m->value, NULL, m->guard);
    if (status != OD_OK) return status;
    if (q->has_slopes) update_slopes(m, q);
    if (all_agree(s, m, q)) return OD_OK;
    if (!q->has_slopes && !q->left_out) status = find_slopes(s, a, m, q);
    if (status != OD_OK) return status;
    next_values(m, q);
  }
  return OD_NOT_CONVERGED;
}

// After a step: holds all jumps whose guard is zero, and stores their values. Returns the number of held jumps.
static int hold_on(od_sim *s, const attempt *a, const memory *m, const unknowns *q) {
  double *held = od_sim_at(s, s->held);
  const double *start = od_sim_at(s, s->jump_start);
  int count = 0;
  bool was_holding = s->holding > 0;
  for (int j = 0; j < s->plant->jumps; j++) {
    int i = place_of(q, j);
    bool was_held = was_holding && !isnan(held[j]);
    if (!was_held && start[j] != 0 && m->value[j] != sign_of(start[j])) s->entered = a->h;
    bool holds = i >= 0 && (fabs(m->value[j]) < 1 || fabs(m->guard[j]) <= (q->has_slopes ? q->tolerance[i] : 0));
    held[j] = holds ? m->value[j] : NAN;
    count += holds;
  }
  return count;
}

// ---- derivatives of a step that slides
//
// The values v of jumps between -1 and 1 depend on all other variables j, because s = 0 at the end. From ds = s_v dv + s_j dj
// = 0, the derivatives of the new state with respect to j are the derivatives at constant v minus x_v s_v^-1 s_j. x_v,
// like derivatives with respect to parameters, comes from the integrator (od_sim.by_held), and s_v and s_j from the plant.

// Computes the derivatives of the guards of q along a direction: a column of derivatives of the new state, entries `stride`
// apart, and the other changes in `along`.
static od_status guard_slopes(od_sim *s, const unknowns *q, const double *column, int stride, od_point_change along,
                              double *slope) {
  double *dx = od_sim_at(s, s->x_next), *all = memory_of(s).slope;
  for (int i = 0; i < od_plant_nx(s->plant); i++) dx[i] = column[i * stride];
  along.x = dx;
  od_status status = s->plant->ops->guard_slopes(s->plant, od_sim_work(s), along, all);
  for (int i = 0; i < q->count; i++) slope[i] = all[q->jump[i]];
  return status;
}

// Computes the matrix s_v and factors the matrix. Fails with a status of od_sim_step().
static od_status factor_slopes(od_sim *s, const memory *m, const unknowns *q, double *matrix, int *pivot) {
  double slope[MOST_UNKNOWNS];
  for (int c = 0; c < q->count; c++) {
    int jump = q->jump[c];
    m->unit[jump] = 1;
    od_status status =
        guard_slopes(s, q, m->by_value + jump, s->plant->jumps, (od_point_change){.held = m->unit}, slope);
    m->unit[jump] = 0;
    if (status != OD_OK) return status;
    for (int i = 0; i < q->count; i++) matrix[i * q->count + c] = slope[i];
  }
  return od_lu_factor(q->count, matrix, pivot);
}

// Subtracts x_v s_v^-1 s_j from all columns of the wanted derivatives.
static od_status correct_columns(od_sim *s, const memory *m, const unknowns *q, const od_transition *out) {
  const od_plant *plant = s->plant;
  int nx = od_plant_nx(plant), jumps = plant->jumps, pivot[MOST_UNKNOWNS];
  double matrix[MOST_UNKNOWNS * MOST_UNKNOWNS], right[MOST_UNKNOWNS];
  const struct {
    double *to;
    int count;
    od_point_change along;
  } parts[] = {{out->F, nx, {0}},
               {out->Gp, plant->np, {.p = m->unit}},
               {out->Gu0, plant->nu, {0}},
               {out->Gu1, plant->nu, {.u = m->unit}}};
  od_status status = factor_slopes(s, m, q, matrix, pivot);
  for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
    for (int j = 0, count = parts[part].count; parts[part].to && j < count && status == OD_OK; j++) {
      double *column = parts[part].to + j;
      m->unit[j] = 1;
      status = guard_slopes(s, q, column, count, parts[part].along, right);
      m->unit[j] = 0;
      od_lu_solve(q->count, matrix, pivot, right, 1);
      for (int i = 0; i < nx; i++)
        for (int k = 0; k < q->count; k++) column[i * count] -= m->by_value[i * jumps + q->jump[k]] * right[k];
    }
  return status;
}

// Takes the step with the derivatives `out`. Values of -1 or 1 are constants. A separate step gives the derivatives
// with respect to the other values.
static od_status slide_with_jacobians(od_sim *s, const attempt *a, const memory *m, unknowns q,
                                      const od_transition *out) {
  attempt by_values = *a;
  od_status status = OD_OK;
  int count = 0;
  for (int i = 0; i < q.count; i++)
    if (fabs(m->value[q.jump[i]]) < 1) q.jump[count++] = q.jump[i];
  q.count = count;
  by_values.before.by_held = 1;
  if (count) status = held_step(s, &by_values, m->value, &(od_transition){.Gp = m->by_value}, m->guard);
  if (status == OD_OK) status = held_step(s, a, m->value, out, m->guard);
  return status == OD_OK && count ? correct_columns(s, m, &q, out) : status;
}

// ---- steps

// Computes the rates at the current point with the held values; guard_rates (NULL: not wanted): see find_guard_rates().
static od_status rates_with_held(od_sim *s, double h, const double *u0, double *guard_rates) {
  const od_plant *plant = s->plant;
  plant->ops->hold(plant, od_sim_work(s), od_sim_at(s, s->held));
  s->counts.residuals += 2;
  od_status status = od_sim_find_rates(s, s->t, od_sim_at(s, s->x), od_sim_at(s, s->u), od_sim_at(s, s->k));
  if (status == OD_OK && plant->nq) status = plant->ops->powers(plant, od_sim_work(s), od_sim_at(s, s->power));
  if (od_sim_settle(s, status) != OD_OK) return status;
  od_sim_adopt_rates_point(s);
  return guard_rates ? find_guard_rates(s, h, u0, guard_rates) : OD_OK;
}

// The held values are constant in a step: they are mean values over the step. This function replaces them by the values
// that make the rates of the guards zero at the end of the step. The new values solve a linear problem with the bounds
// -1 and 1.
static od_status hold_for_end(od_sim *s, const attempt *a, const memory *m) {
  const od_plant *plant = s->plant;
  const double *u0 = m->kept + od_plant_nk(plant);  // the inputs of the saved point follow its rates
  double *held = od_sim_at(s, s->held);
  unknowns q = {0};
  for (int j = 0; j < plant->jumps; j++)
    if (!isnan(held[j])) q.v[q.count] = held[j], q.jump[q.count++] = j;
  od_status status = rates_with_held(s, a->h, u0, m->slope);
  for (int i = 0; i < q.count; i++) q.s[i] = m->slope[q.jump[i]];
  for (int c = 0; c < q.count && status == OD_OK; c++) {
    double by = q.v[c] > 0 ? -trial_change : trial_change;
    held[q.jump[c]] += by;
    status = rates_with_held(s, a->h, u0, m->slope);
    held[q.jump[c]] = q.v[c];
    for (int i = 0; i < q.count; i++) q.slope[i][c] = (m->slope[q.jump[i]] - q.s[i]) / by;
  }
  if (status == OD_OK) next_values(m, &q);
  for (int i = 0; i < q.count && status == OD_OK; i++)
    if (q.slope[i][i] < 0) held[q.jump[i]] = m->value[q.jump[i]];
  for (int i = 0; i < q.count; i++)
    held[plant->jumps + q.jump[i]] = s->entered > 0 ? 0 : 2 * (held[q.jump[i]] - q.v[i]) / a->h;
  return rates_with_held(s, 0, NULL, NULL);
}

// Takes a step with consistent values of all jumps. The step slides along jumps or passes jumps. stays: the step fails with
// OD_NOT_CONVERGED unless a jump is held at its end. After a failure the point before the step is restored.
static od_status slide(od_sim *s, const attempt *a, bool stays, const od_transition *out) {
  const od_plant *plant = s->plant;
  const memory m = memory_of(s);
  const double *held = od_sim_at(s, s->held), *start = od_sim_at(s, s->jump_start);
  unknowns q = {0};
  for (int j = 0; j < plant->jumps; j++) {
    bool is_held = a->before.holding > 0 && !isnan(held[j]);
    m.value[j] = is_held ? held[j] : sign_of(start[j]);
    if (is_held || start[j] == 0) add_unknown(&q, j);
  }
  od_status status = find_values(s, a, &m, &q);
  if (status == OD_OK && out) status = slide_with_jacobians(s, a, &m, q, out);
  if (status == OD_OK) {
    int count = hold_on(s, a, &m, &q);
    if (count > 0 || !stays) {
      s->holding = count;
      memcpy(od_sim_at(s, s->jump_start), m.guard, (size_t)plant->jumps * sizeof *m.guard);
      s->jumps_known = 1;
      od_sim_leave_point(s);
      if (count == 0) plant->ops->hold(plant, od_sim_work(s), NULL);
      if (count == 0 || hold_for_end(s, a, &m) == OD_OK) return OD_OK;
    }
    status = OD_NOT_CONVERGED;
  }
  go_back(s, a);
  s->left_out = q.left_out;
  s->jumps_known = 0;
  plant->ops->hold(plant, od_sim_work(s), s->holding ? held : NULL);
  return od_sim_settle(s, status);
}

// Sets *back to whether the motion returns to a jump that the last step has passed or left. With `rate`, a jump also
// counts if the step would have passed the jump at its initial rates, because stages of explicit rules may have passed
// this jump. guard: the guards at the end; rate: the rates of the guards at the beginning, or NULL.
static od_status turns_back(od_sim *s, double h, const double *guard, const double *rate, bool *back) {
  const od_plant *plant = s->plant;
  const memory m = memory_of(s);
  const double *start = od_sim_at(s, s->jump_start);
  bool passed = false;
  *back = false;
  for (int j = 0; j < plant->jumps; j++) {
    m.value[j] = start[j] * guard[j] <= 0 || (rate && start[j] * (start[j] + h * rate[j]) <= 0);
    passed = passed || m.value[j] != 0;
  }
  if (!passed) return OD_OK;
  od_status status = find_guard_rates(s, h, NULL, m.slope);
  for (int j = 0; j < plant->jumps && status == OD_OK; j++)
    if (m.value[j] != 0 && m.slope[j] * guard[j] < 0) *back = true;
  return status;
}

// Computes the guards at the current point unless they are known.
static od_status know_guards(od_sim *s) {
  if (s->jumps_known) return OD_OK;
  od_status status = od_sim_refresh(s);
  if (status == OD_OK) status = read_guards(s, od_sim_at(s, s->jump_start));
  s->jumps_known = status == OD_OK;
  return status;
}

od_status od_sim_step_with_jumps(od_sim *s, double h, const double *inside, const double *u, const od_transition *out) {
  const memory m = memory_of(s);
  s->entered = 0;
  s->left_out = 0;
  od_status status = know_guards(s);
  if (status != OD_OK) return status;
  const attempt a = {.before = *s, .h = h, .inside = inside, .u = u};
  copy_point(s, false);
  if (s->holding) return slide(s, &a, false, out);
  bool is_explicit = s->integrator->amplification != NULL, back;
  bool looks_ahead = is_explicit && find_guard_rates(s, h, NULL, m.slope) == OD_OK;
  status = plain_step(s, &a, out);
  if (status == OD_NOT_CONVERGED) return slide(s, &a, false, out);
  if (status != OD_OK) return status;
  status = read_guards(s, m.guard);
  if (status == OD_OK) status = turns_back(s, h, m.guard, looks_ahead ? m.slope : NULL, &back);
  if (status == OD_OK && back) {
    status = slide(s, &a, true, out);
    if (status != OD_NOT_CONVERGED || s->left_out) return status;
    status = plain_step(s, &a, out);
    if (status == OD_OK) status = read_guards(s, m.guard);
  }
  if (status != OD_OK) {
    go_back(s, &a);
    return od_sim_settle(s, status);
  }
  memcpy(od_sim_at(s, s->jump_start), m.guard, (size_t)s->plant->jumps * sizeof *m.guard);
  s->jumps_known = 1;
  return OD_OK;
}

// The time within the step at which sliding begins or a jump is passed is unknown. The error estimate is the change of the
// rates times half of the step.
void od_sim_add_entry_error(od_sim *s, double *before) {
  int nz = s->plant->nz, nx = od_plant_nx(s->plant);
  const double *change = memory_of(s).change;
  double h = s->entered;
  for (int i = 0; i < nx; i++) before[i] += i < nz ? h * h / 4 * change[i] : h / 2 * change[i - nz];
}
