// Steps of a linear plant with three coupled jumps, against the exact solution of each step (integrate/slide.c):
//
//   x = [z, w, c],   [w', c'] = k = A x + B v + b u + P p,   v = sign(s),   s = y + y^3 with y = C x + E u + Q p
//
// A step that slides has values v that are constant in the step. The oracle tries all combinations of "v = 1 and s > 0", "v = -1 and s < 0" and
// "s = 0" and solves the equations of the rule for each by elimination; exactly one combination is consistent. The same holds for the values at the
// end of the step, where the rates of the guards take the place of the guards, and for the derivatives of the step.
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "integrate/sim_block.h"
#include "oleodyn/sim.h"

enum { NZ = 1, NC = 4, NX = 2 * NZ + NC, NK = NZ + NC, NU = 2, NP = 2, NQ = 2, J = 3, MOST = NX + J };
static const double h = 0.1;
static const int jump_guard[J] = {1, 3, 4};  // among five zeros

// The equations. A trapezoidal step has an exact solution for any A; for the other rules A is zero, because they are exact for constant rates.
static struct {
  double A[NK][NX], B[NK][J], b[NK][NU], P[NK][NP], C[J][NX], E[J][NU], Q[J][NP], energy_x[NQ][NX], energy_v[NQ][J];
} eq;

typedef struct work {
  double x[NX], k[NK], u[NU], p[NP], held[J];
} work;

// Calls until a function of the plant fails; 0: none fails.
static long countdown, calls;
static od_status may_fail(void) {
  calls++;
  return countdown > 0 && --countdown == 0 ? OD_NOT_FINITE : OD_OK;
}

static double y_of(int j, const double *x, const double *u, const double *p) {
  double y = 0;
  for (int i = 0; i < NX; i++) y += eq.C[j][i] * x[i];
  for (int i = 0; i < NU; i++) y += eq.E[j][i] * u[i];
  for (int i = 0; i < NP; i++) y += eq.Q[j][i] * p[i];
  return y;
}
static double sign_of(double x) {
  return (x > 0) - (x < 0);
}
static void values_of(const work *w, double *v) {
  for (int j = 0; j < J; j++) v[j] = isnan(w->held[j]) ? sign_of(y_of(j, w->x, w->u, w->p)) : w->held[j];
}
static double rate_of(int i, const double *x, const double *v, const double *u, const double *p) {
  double k = 0;
  for (int j = 0; j < NX; j++) k += eq.A[i][j] * x[j];
  for (int j = 0; j < J; j++) k += eq.B[i][j] * v[j];
  for (int j = 0; j < NU; j++) k += eq.b[i][j] * u[j];
  for (int j = 0; j < NP; j++) k += eq.P[i][j] * p[j];
  return k;
}

// ---- the plant

static double start_state[NX], start_parameters[NP];
static od_status plant_start(const od_plant *plant, void *memory, double *x) {
  work *w = memory;
  (void)plant;
  memcpy(x, start_state, sizeof start_state);
  memcpy(w->p, start_parameters, sizeof w->p);
  for (int j = 0; j < J; j++) w->held[j] = NAN;
  return OD_OK;
}
static void plant_get(const od_plant *plant, const void *memory, double *p) {
  (void)plant;
  memcpy(p, ((const work *)memory)->p, NP * sizeof *p);
}
static od_status plant_set(const od_plant *plant, void *memory, const double *p) {
  (void)plant;
  memcpy(((work *)memory)->p, p, NP * sizeof *p);
  return OD_OK;
}
static od_status plant_residual(const od_plant *plant, void *memory, double t, const double *x, const double *k,
                                const double *u, double *g) {
  work *w = memory;
  double v[J];
  (void)plant, (void)t;
  if (may_fail() != OD_OK) return OD_NOT_FINITE;
  memcpy(w->x, x, sizeof w->x), memcpy(w->k, k, sizeof w->k), memcpy(w->u, u, sizeof w->u);
  values_of(w, v);
  for (int i = 0; i < NK; i++) g[i] = k[i] - rate_of(i, x, v, u, w->p);
  return OD_OK;
}
static od_status plant_step_matrix(const od_plant *plant, void *memory, double alpha, double beta, double *matrix) {
  (void)plant, (void)memory;
  for (int i = 0; i < NK; i++)
    for (int j = 0; j < NK; j++)
      matrix[i * NK + j] = (i == j) - beta * eq.A[i][NZ + j] - (j < NZ ? alpha * eq.A[i][j] : 0);
  return may_fail();
}
static od_status plant_jacobians(const od_plant *plant, void *memory, double *gx, double *gk, double *gu) {
  (void)plant, (void)memory;
  for (int i = 0; i < NK; i++) {
    for (int j = 0; gx && j < NX; j++) gx[i * NX + j] = -eq.A[i][j];
    for (int j = 0; gk && j < NK; j++) gk[i * NK + j] = i == j;
    for (int j = 0; gu && j < NU; j++) gu[i * NU + j] = -eq.b[i][j];
  }
  return may_fail();
}
static od_status plant_parameter_jacobian(const od_plant *plant, void *memory, double *gp) {
  (void)plant, (void)memory;
  for (int i = 0; i < NK * NP; i++) gp[i] = -eq.P[i / NP][i % NP];
  return may_fail();
}
static od_status plant_powers(const od_plant *plant, void *memory, double *power) {
  double v[J];
  const work *w = memory;
  (void)plant;
  values_of(w, v);
  for (int q = 0; q < NQ; q++) {
    power[q] = 0;
    for (int i = 0; i < NX; i++) power[q] += eq.energy_x[q][i] * w->x[i];
    for (int j = 0; j < J; j++) power[q] += eq.energy_v[q][j] * v[j];
  }
  return may_fail();
}
static void plant_hold(const od_plant *plant, void *memory, const double *held) {
  (void)plant;
  for (int j = 0; j < J; j++) ((work *)memory)->held[j] = held ? held[j] : NAN;
}
static od_status plant_guards(const od_plant *plant, void *memory, double *guard) {
  const work *w = memory;
  (void)plant;
  for (int i = 0; i < 5; i++) guard[i] = 7 + i;
  for (int j = 0; j < J; j++) {
    double y = y_of(j, w->x, w->u, w->p);
    guard[jump_guard[j]] = y + y * y * y;
  }
  return may_fail();
}
static od_status plant_held_jacobian(const od_plant *plant, void *memory, double *gv) {
  const work *w = memory;
  (void)plant;
  for (int i = 0; i < NK; i++)
    for (int j = 0; j < J; j++) gv[i * J + j] = fabs(w->held[j]) < 1 ? -eq.B[i][j] : 0;
  return may_fail();
}
static od_status plant_guard_slopes(const od_plant *plant, void *memory, od_point_change along, double *slope) {
  const work *w = memory;
  static const double zeros[NX + NU + NP];
  (void)plant;
  for (int j = 0; j < J; j++) {
    double y = y_of(j, w->x, w->u, w->p);
    slope[j] =
        (1 + 3 * y * y) * y_of(j, along.x ? along.x : zeros, along.u ? along.u : zeros, along.p ? along.p : zeros);
  }
  return may_fail();
}

static const od_plant_ops ops = {.start = plant_start,
                                 .get_parameters = plant_get,
                                 .set_parameters = plant_set,
                                 .residual = plant_residual,
                                 .step_matrix = plant_step_matrix,
                                 .jacobians = plant_jacobians,
                                 .parameter_jacobian = plant_parameter_jacobian,
                                 .powers = plant_powers,
                                 .guards = plant_guards,
                                 .hold = plant_hold,
                                 .held_jacobian = plant_held_jacobian,
                                 .guard_slopes = plant_guard_slopes};
static const od_plant plant = {.nz = NZ,
                               .nc = NC,
                               .nu = NU,
                               .np = NP,
                               .nq = NQ,
                               .work_size = sizeof(work),
                               .ops = &ops,
                               .zeros = 5,
                               .jumps = J,
                               .jump_guard = jump_guard};

// ---- the oracle

static void solve(int n, int columns, double m[MOST][MOST], double r[MOST][NX + 2 * NU + NP + 1]) {
  for (int c = 0; c < n; c++) {
    int best = c;
    for (int i = c + 1; i < n; i++)
      if (fabs(m[i][c]) > fabs(m[best][c])) best = i;
    for (int j = 0; j < n; j++) {
      double keep = m[c][j];
      m[c][j] = m[best][j], m[best][j] = keep;
    }
    for (int j = 0; j < columns; j++) {
      double keep = r[c][j];
      r[c][j] = r[best][j], r[best][j] = keep;
    }
    for (int i = 0; i < n; i++) {
      double part = i == c ? 0 : m[i][c] / m[c][c];
      for (int j = 0; j < n; j++) m[i][j] -= part * m[c][j];
      for (int j = 0; j < columns; j++) r[i][j] -= part * r[c][j];
    }
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < columns; j++) r[i][j] /= m[i][i];
}

// The full equations: x' = A x + B v + b u + P p with the row of w for z.
static double full(int i, int kind, int j) {
  if (i < NZ) return kind == 0 && j == NZ + i;
  return kind == 0 ? eq.A[i - NZ][j] : kind == 1 ? eq.B[i - NZ][j] : kind == 2 ? eq.b[i - NZ][j] : eq.P[i - NZ][j];
}

enum { COLUMNS = NX + 2 * NU + NP + 1 };  // derivatives with respect to x0, u0, u1, p; the solution itself
typedef struct step_result {
  double x[NX], v[J], s[J], slope[NX][COLUMNS];
  int place[J];  // -1, 0 (s = 0), 1
} step_result;

// The step with the given places of the jumps.
static step_result step_with(const int *place, const double *x0, const double *u0, const double *u1, const double *p) {
  double m[MOST][MOST] = {{0}}, r[MOST][COLUMNS] = {{0}};
  step_result o = {0};
  for (int i = 0; i < NX; i++) {
    for (int j = 0; j < NX; j++) {
      m[i][j] = (i == j) - h / 2 * full(i, 0, j);
      r[i][j] = (i == j) + h / 2 * full(i, 0, j);
    }
    for (int j = 0; j < NU; j++) r[i][NX + j] = r[i][NX + NU + j] = h / 2 * full(i, 2, j);
    for (int j = 0; j < NP; j++) r[i][NX + 2 * NU + j] = h * full(i, 3, j);
    for (int j = 0; j < NX; j++) r[i][COLUMNS - 1] += r[i][j] * x0[j];
    for (int j = 0; j < NU; j++) r[i][COLUMNS - 1] += h / 2 * full(i, 2, j) * (u0[j] + u1[j]);
    for (int j = 0; j < NP; j++) r[i][COLUMNS - 1] += h * full(i, 3, j) * p[j];
    for (int j = 0; j < J; j++) m[i][NX + j] = -h * full(i, 1, j);
  }
  for (int j = 0; j < J; j++) {
    if (place[j]) {  // v = place
      m[NX + j][NX + j] = 1;
      r[NX + j][COLUMNS - 1] = place[j];
      continue;
    }
    for (int i = 0; i < NX; i++) m[NX + j][i] = eq.C[j][i];
    for (int i = 0; i < NU; i++) r[NX + j][NX + NU + i] = -eq.E[j][i], r[NX + j][COLUMNS - 1] -= eq.E[j][i] * u1[i];
    for (int i = 0; i < NP; i++) r[NX + j][NX + 2 * NU + i] = -eq.Q[j][i], r[NX + j][COLUMNS - 1] -= eq.Q[j][i] * p[i];
  }
  solve(NX + J, COLUMNS, m, r);
  for (int i = 0; i < NX; i++) o.x[i] = r[i][COLUMNS - 1], memcpy(o.slope[i], r[i], sizeof o.slope[i]);
  for (int j = 0; j < J; j++) o.v[j] = r[NX + j][COLUMNS - 1], o.place[j] = place[j];
  for (int j = 0; j < J; j++) o.s[j] = y_of(j, o.x, u1, p);
  return o;
}

static void place_of(int number, int *place) {
  for (int j = 0; j < J; j++, number /= 3) place[j] = number % 3 - 1;
}

static step_result exact_step(const double *x0, const double *u0, const double *u1, const double *p) {
  step_result found = {0};
  int count = 0, place[J];
  for (int number = 0; number < 27; number++) {
    place_of(number, place);
    step_result o = step_with(place, x0, u0, u1, p);
    bool fits = true;
    for (int j = 0; j < J; j++) fits = fits && (place[j] ? place[j] * o.s[j] > 0 : fabs(o.v[j]) <= 1);
    if (fits) found = o, count++;
  }
  assert_int_equal(count, 1);
  return found;
}

static double guard_rate(int j, const double *x, const double *v, const double *u, const double *du, const double *p) {
  double dx[NX], none[NP] = {0};
  for (int i = 0; i < NX; i++) dx[i] = i < NZ ? x[NZ + i] : rate_of(i - NZ, x, v, u, p);
  return y_of(j, dx, du, none);
}

// The values at the end of a step: of jumps with s = 0, those that keep the rates of the guards at zero, or 1 (-1) with a positive (negative) rate.
static void exact_end_values(const step_result *o, const double *u, const double *du, const double *p, double *v) {
  int count = 0, place[J];
  for (int number = 0; number < 27; number++) {
    double m[MOST][MOST] = {{0}}, r[MOST][COLUMNS] = {{0}}, trial[J], unit[J] = {0}, none[J] = {0};
    bool fits = true;
    place_of(number, place);
    for (int j = 0; j < J; j++) {
      if (o->place[j]) place[j] = 2 * o->place[j];  // not held
      m[j][j] = 1, r[j][0] = place[j] > 0 ? 1 : -1;
      for (int i = 0; i < J && !place[j]; i++) {
        unit[i] = 1;
        m[j][i] = guard_rate(j, o->x, unit, u, du, p) - guard_rate(j, o->x, none, u, du, p);
        unit[i] = 0;
      }
      if (!place[j]) r[j][0] = -guard_rate(j, o->x, none, u, du, p);
    }
    solve(J, 1, m, r);
    for (int j = 0; j < J; j++) trial[j] = r[j][0];
    for (int j = 0; j < J; j++)
      fits = fits && (abs(place[j]) == 2 ? number /
                                                   (j == 0   ? 1
                                                    : j == 1 ? 3
                                                             : 9) %
                                                   3 ==
                                               0  // one of three repetitions
                      : place[j] ? place[j] * guard_rate(j, o->x, trial, u, du, p) > 0
                                 : fabs(trial[j]) <= 1);
    if (fits) memcpy(v, trial, sizeof trial), count++;
  }
  assert_int_equal(count, 1);
}

// ---- random systems

static unsigned long seed;
static double draw(double most) {
  seed = seed * 6364136223846793005ul + 1442695040888963407ul;
  return most * ((double)(seed >> 11) / 4503599627370496.0 - 1);
}

// A system whose guards decrease with their own values, more than with the others: its steps have exactly one solution. All guards start at zero.
static void draw_system(unsigned long number, double rates) {
  seed = number;
  for (int i = 0; i < 8; i++) draw(1);
  for (int i = 0; i < NK; i++) {
    for (int j = 0; j < NX; j++) eq.A[i][j] = draw(rates);
    for (int j = 0; j < J; j++) eq.B[i][j] = (i == NZ + j ? -1.2 : 0) + draw(0.15);
    for (int j = 0; j < NU; j++) eq.b[i][j] = draw(1);
    for (int j = 0; j < NP; j++) eq.P[i][j] = draw(0.2);
  }
  for (int j = 0; j < J; j++) {
    for (int i = 0; i < NX; i++) eq.C[j][i] = i == 2 * NZ + j ? 1 : draw(0.2);
    for (int i = 0; i < NU; i++) eq.E[j][i] = draw(0.02);
    for (int i = 0; i < NP; i++) eq.Q[j][i] = draw(0.3);
  }
  for (int q = 0; q < NQ; q++) {
    for (int i = 0; i < NX; i++) eq.energy_x[q][i] = draw(1);
    for (int j = 0; j < J; j++) eq.energy_v[q][j] = draw(1);
  }
  for (int i = 0; i < NX; i++) start_state[i] = draw(0.5);
  for (int i = 0; i < NP; i++) start_parameters[i] = draw(0.5);
}

// Moves the first-order states until all guards are zero.
static void start_at_jumps(const double *u) {
  double m[MOST][MOST] = {{0}}, r[MOST][COLUMNS] = {{0}};
  for (int j = 0; j < J; j++) {
    for (int i = 0; i < J; i++) m[j][i] = eq.C[j][2 * NZ + i];
    r[j][0] = y_of(j, start_state, u, start_parameters);
  }
  solve(J, 1, m, r);
  for (int j = 0; j < J; j++) start_state[2 * NZ + j] -= r[j][0];
}

// ---- tests

static void check_derivatives(const step_result *o, const double *F, const double *Gu0, const double *Gu1,
                              const double *Gp) {
  for (int i = 0; i < NX; i++) {
    for (int j = 0; j < NX; j++) near(F[i * NX + j], o->slope[i][j], 1e-9);
    for (int j = 0; j < NU; j++) near(Gu0[i * NU + j], o->slope[i][NX + j], 1e-9);
    for (int j = 0; j < NU; j++) near(Gu1[i * NU + j], o->slope[i][NX + NU + j], 1e-9);
    for (int j = 0; j < NP; j++) near(Gp[i * NP + j], o->slope[i][NX + 2 * NU + j], 1e-9);
  }
}

// A cubic with these values and slopes at both ends of the step, by de Casteljau's construction.
static double cubic(double a, double slope_a, double b, double slope_b, double part) {
  double point[] = {a, a + h * slope_a / 3, b - h * slope_b / 3, b};
  for (int count = 3; count > 0; count--)
    for (int i = 0; i < count; i++) point[i] += part * (point[i + 1] - point[i]);
  return point[0];
}

static const double *power_at(const od_sim *sim) {
  return (const double *)((const char *)sim + sim->power);
}

// States and integrals between both ends are cubics. The rates follow from them: the values of held jumps are linear in time, with their mean
// over the step, unless sliding began in this step.
static void check_between(const od_sim *before, const od_sim *after, const step_result *o, const double *end,
                          bool entered, const double *u0, const double *u1) {
  od_sim *between = malloc(od_sim_bytes(after));
  assert_non_null(between);
  for (int n = 1; n < 4; n++) {
    double part = n / 4.0, u[NU], v[J];
    for (int i = 0; i < NU; i++) u[i] = u0[i] + part * (u1[i] - u0[i]);
    assert_int_equal(od_sim_interpolate(between, before, after, od_sim_time(before) + part * h, u), OD_OK);
    const double *x = od_sim_state(between), *x0 = od_sim_state(before), *x1 = od_sim_state(after);
    const double *k0 = od_sim_rates(before), *k1 = od_sim_rates(after);
    for (int i = 0; i < NX; i++)
      near(x[i], cubic(x0[i], i < NZ ? x0[NZ + i] : k0[i - NZ], x1[i], i < NZ ? x1[NZ + i] : k1[i - NZ], part), 1e-12);
    for (int q = 0; q < NQ; q++)
      near(od_sim_energy(between)[q],
           cubic(od_sim_energy(before)[q], power_at(before)[q], od_sim_energy(after)[q], power_at(after)[q], part),
           1e-12);
    assert_int_equal(between->holding, after->holding);
    for (int j = 0; j < J; j++) {
      double value = end[j] + (entered ? 0 : 2 * (part - 1) * (end[j] - o->v[j]));
      v[j] = o->place[j] == 0 ? fmin(fmax(value, -1), 1) : sign_of(y_of(j, x, u, start_parameters));
    }
    for (int i = 0; i < NK; i++) near(od_sim_rates(between)[i], rate_of(i, x, v, u, start_parameters), 1e-6);
  }
  free(between);
}

// One step from the current point, in which at least one jump is held; returns the number of held jumps after it.
static int check_step(od_sim *sim, od_sim *before, int rule, const double *u1, bool with_derivatives) {
  double F[NX * NX], Gu0[NX * NU], Gu1[NX * NU], Gp[NX * NP], du[NU], u0[NU], x0[NX], end[J], energy[NQ], start[J];
  memcpy(before, sim, od_sim_bytes(sim));
  memcpy(u0, od_sim_inputs(sim), sizeof u0), memcpy(x0, od_sim_state(sim), sizeof x0);
  memcpy(energy, od_sim_energy(sim), sizeof energy);
  bool was_held[J], entered = false;
  for (int j = 0; j < J; j++) {
    was_held[j] = sim->holding && !isnan(od_sim_at(sim, sim->held)[j]);
    start[j] = y_of(j, x0, u0, start_parameters);
  }
  const step_result o = exact_step(x0, u0, u1, start_parameters);
  od_status status =
      with_derivatives ? od_sim_step_with_jacobians(sim, h, u1, F, Gu0, Gu1, Gp) : od_sim_step(sim, h, u1);
  assert_int_equal(status, OD_OK);
  for (int i = 0; i < NX; i++) near(od_sim_state(sim)[i], o.x[i], 1e-8);
  if (with_derivatives && rule == 0) check_derivatives(&o, F, Gu0, Gu1, Gp);
  int held = 0;
  for (int j = 0; j < J; j++) {
    held += o.place[j] == 0;
    entered = entered || (!was_held[j] && start[j] != 0 && o.v[j] != sign_of(start[j]));
  }
  assert_int_equal(sim->holding, held);
  assert_true(sim->entered == (entered ? h : 0));
  for (int i = 0; i < NU; i++) du[i] = (u1[i] - u0[i]) / h;
  exact_end_values(&o, u1, du, start_parameters, end);
  for (int j = 0; j < J && held; j++) {
    const double *value = od_sim_at(sim, sim->held);
    assert_int_equal(isnan(value[j]), o.place[j] != 0);
    if (o.place[j] == 0) {
      near(value[j], end[j], 1e-6);
      near(value[J + j], entered ? 0 : 2 * (end[j] - o.v[j]) / h, 1e-4);
    } else {
      end[j] = o.place[j];
    }
  }
  for (int i = 0; i < NK; i++) near(od_sim_rates(sim)[i], rate_of(i, o.x, end, u1, start_parameters), 1e-6);
  for (int q = 0; q < NQ && rule == 0; q++) {
    for (int i = 0; i < NX; i++) energy[q] += h / 2 * eq.energy_x[q][i] * (x0[i] + o.x[i]);
    for (int j = 0; j < J; j++) energy[q] += h * eq.energy_v[q][j] * o.v[j];
    near(od_sim_energy(sim)[q], energy[q], 1e-8);
  }
  double guard[5];
  assert_int_equal(od_sim_guards(sim, guard), OD_OK);
  for (int j = 0; j < J; j++) {  // guards of held jumps are exactly zero
    double y = y_of(j, od_sim_state(sim), u1, start_parameters);
    assert_true(guard[jump_guard[j]] == (held && o.place[j] == 0 ? 0 : y + y * y * y));
  }
  assert_true(guard[0] == 7 && guard[2] == 9);
  if (held && rule == 0) check_between(before, sim, &o, end, entered, u0, u1);
  return held;
}

static const char *const rules[] = {"trapezoid", "tr-bdf2", "rk4"};

static void steps_are_exact(void **state) {
  (void)state;
  int held_counts[J + 1] = {0}, entries = 0;
  long steps = 0, residuals = 0;
  od_sim *sim = od_sim_new(&plant), *before = malloc(od_sim_size(&plant));
  assert_true(sim && before);
  for (int rule = 0; rule < 3; rule++)
    for (unsigned long number = 1; number <= 40; number++) {
      double u[NU] = {0.3, -0.2};
      draw_system(number, rule ? 0 : 1);
      start_at_jumps(u);
      od_sim_set_integrator(sim, od_integrator_find(rules[rule]));
      assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
      for (int n = 0; n < 12; n++) {
        double most = n ? 2 : 0.3, u1[NU] = {draw(most), draw(most)};
        if (rule) assert_int_equal(od_sim_set_inputs(sim, u1), OD_OK);  // constant inputs in a step
        int held = check_step(sim, before, rule, u1, n % 2);
        held_counts[held]++;
        entries += sim->entered > 0;
        if (held == 0) break;
      }
      steps += od_sim_count(sim).steps, residuals += od_sim_count(sim).residuals;
    }
  print_message("steps by held jumps: %d %d %d %d; entries: %d\n", held_counts[0], held_counts[1], held_counts[2],
                held_counts[3], entries);
  print_message("evaluations per step: %.1f\n", (double)residuals / (double)steps);
  assert_true(residuals < 90 * steps);  // without updates of the slopes: 98
  for (int i = 0; i <= J; i++) assert_true(held_counts[i] > 10);
  assert_true(entries > 200);
  od_sim_free(sim);
  free(before);
}

// Every function of the plant fails once in each step: a failed step leaves the point unchanged, and the step succeeds afterward.
static void failures_change_nothing(void **state) {
  (void)state;
  od_sim *sim = od_sim_new(&plant), *before = malloc(od_sim_size(&plant));
  double F[NX * NX], Gu0[NX * NU], Gu1[NX * NU], Gp[NX * NP], other[NX * NX], x[NX];
  int failures = 0;
  assert_true(sim && before);
  for (int rule = 0; rule < 3; rule++)
    for (unsigned long number = 1; number <= 4; number++) {
      double u[NU] = {0.3, -0.2};
      draw_system(number, rule ? 0 : 1);
      start_at_jumps(u);
      od_sim_set_integrator(sim, od_integrator_find(rules[rule]));
      assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
      for (int n = 0; n < 6; n++) {
        double u1[NU] = {draw(1.5), draw(1.5)};
        od_sim_counts counts = od_sim_count(sim);
        memcpy(before, sim, od_sim_bytes(sim));
        calls = 0;
        for (long fail = 0, most = 1; fail <= most; fail++) {
          memcpy(sim, before, od_sim_bytes(before));
          countdown = fail;
          double *to = fail ? other : F;
          od_status status = n % 2 ? od_sim_step_with_jacobians(sim, h, u1, to, to == F ? Gu0 : other,
                                                                to == F ? Gu1 : other, to == F ? Gp : other)
                                   : od_sim_step(sim, h, u1);
          countdown = 0;
          if (fail == 0) {
            assert_int_equal(status, OD_OK);
            most = calls;
            memcpy(x, od_sim_state(sim), sizeof x);
            continue;
          }
          if (status == OD_OK) continue;  // an estimate was omitted, or another rule was used
          failures++;
          assert_true(od_sim_time(sim) == od_sim_time(before));
          assert_int_equal(od_sim_count(sim).steps, counts.steps);
          assert_memory_equal(od_sim_state(sim), od_sim_state(before), NX * sizeof(double));
          assert_memory_equal(od_sim_inputs(sim), od_sim_inputs(before), NU * sizeof(double));
          assert_memory_equal(od_sim_energy(sim), od_sim_energy(before), NQ * sizeof(double));
          assert_memory_equal(od_sim_rates(sim), od_sim_rates(before), NK * sizeof(double));
          assert_memory_equal(od_sim_at(sim, sim->power), od_sim_at(before, before->power), NQ * sizeof(double));
          double again[NX * NX], again_u0[NX * NU], again_u1[NX * NU], again_p[NX * NP];
          assert_int_equal(od_sim_step_with_jacobians(sim, h, u1, again, again_u0, again_u1, again_p), OD_OK);
          for (int i = 0; i < NX; i++) near(od_sim_state(sim)[i], x[i], 1e-7);
          for (int i = 0; i < NX * NX && n % 2; i++) near(again[i], F[i], 1e-7);
          for (int i = 0; i < NX * NU && n % 2; i++) near(again_u0[i], Gu0[i], 1e-7), near(again_u1[i], Gu1[i], 1e-7);
          for (int i = 0; i < NX * NP && n % 2; i++) near(again_p[i], Gp[i], 1e-7);
        }
        memcpy(sim, before, od_sim_bytes(before));
        assert_int_equal(od_sim_step(sim, h, u1), OD_OK);
      }
    }
  print_message("%d failed steps\n", failures);
  assert_true(failures > 1000);
  od_sim_free(sim);
  free(before);
}

// A step with a shift behind it, from the jumps: the step half-way does not converge there, so the step slides and the state is shifted afterward.
static void shifted_steps(void **state) {
  (void)state;
  int slid = 0;
  od_sim *sim = od_sim_new(&plant);
  assert_non_null(sim);
  for (unsigned long number = 1; number <= 40; number++) {
    double u[NU] = {0.3, -0.2}, u1[NU] = {0.25, -0.1}, dx[NX], F[NX * NX], Gp[NX * NP], part = NAN;
    draw_system(number, 1);
    start_at_jumps(u);
    for (int i = 0; i < NX; i++) dx[i] = draw(1e-3);
    assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
    const step_result o = exact_step(start_state, u, u1, start_parameters);
    assert_int_equal(od_sim_step_and_shift(sim, h, u1, dx, F, Gp, &part), OD_OK);
    od_sim_end_shift(sim);
    near(od_sim_time(sim), h, 1e-15);
    if (part != 0) continue;
    slid++;
    for (int i = 0; i < NX; i++) near(od_sim_state(sim)[i], o.x[i] + dx[i], 1e-8);
    for (int i = 0; i < NX * NX; i++) near(F[i], o.slope[i / NX][i % NX], 1e-9);
    for (int i = 0; i < NX * NP; i++) near(Gp[i], o.slope[i / NP][NX + 2 * NU + i % NP], 1e-9);
  }
  print_message("%d shifted steps slide\n", slid);
  assert_true(slid > 5);
  od_sim_free(sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_are_exact), cmocka_unit_test(failures_change_nothing),
                                     cmocka_unit_test(shifted_steps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
