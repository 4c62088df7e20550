// The error of a run, window by window: local errors, what the motion does with them, what that means for outputs. The
// equations are in docs/theory.md, "How far off a run is".
#include "simulate/accuracy.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "simulate/accuracy_state.h"

enum {
  FREE_WINDOWS = 20,      // windows may be short for so many times, and then as long as there are not more of them
  STEPS_PER_WINDOW = 12,  // than one in so many steps
  LOOK = 64,              // steps after which outputs are compared at the latest
  FREE_LOOKS = 50,        // when the error has grown, earlier, so many times, and then not more often
  STEPS_PER_LOOK = 16,    // than once in so many steps
  FREE_STABILITY = 64,    // windows at whose ends the stability of steps is looked at,
  STABILITY = 16,         // and after which it is looked at again
};
static const double grown = 1.1;  // the error of a state since outputs were compared
// The part of the rates' change over a window that its Jacobian does not explain: windows become shorter, or longer.
static const double bent = 0.1, straight = 0.02;
static const double split = 0.1;  // the change of what moves the error, from which on a window is halved

static void give_up(od_accuracy *a) {
  a->lost = true;
  for (int i = 0; i < a->judged; i++) a->error[i] = INFINITY, a->at[i] = od_sim_time(a->sim);
}

// ---- what a step does with errors
//
// Local errors are those at the computed solution, so the flow itself carries them on, not the rule: with the rule's own
// transition errors of stiff parts, which ring, would be counted again in every step. The flow is taken in an approximation
// of Pade's with more below than above, so that stiff parts die out,
//   E = D^-1 (1 + Z/3),   D = 1 - 2/3 Z + 1/6 Z^2,   Z = hJ,
// and G, which bounds the local error of a step, in one with the same denominator: see od_error_form.

static void unit_matrix(int n, double *M) {
  for (int i = 0; i < n * n; i++) M[i] = i % (n + 1) == 0;
}

static bool factor_denominator(od_accuracy *a, double h, const double *J) {
  int nx = a->nx;
  unit_matrix(nx, a->M);
  od_add_scaled(nx * nx, -2 * h / 3, J, a->M);
  for (int i = 0; i < nx; i++)
    for (int l = 0; l < nx; l++)
      if (J[i * nx + l] != 0) od_add_scaled(nx, h * h / 6 * J[i * nx + l], J + l * nx, a->M + i * nx);
  return od_lu_factor(nx, a->M, a->pivot) == OD_OK;
}

static const od_flow *find_transition(od_accuracy *a, double h) {
  for (int i = 0; i < OD_FLOW_LENGTHS; i++)
    if (a->kept[i].h > 0 && fabs(a->kept[i].h - h) <= 1e-6 * h) return &a->kept[i];
  od_flow *t = &a->kept[a->oldest];
  a->oldest = (a->oldest + 1) % OD_FLOW_LENGTHS;
  t->h = 0;
  if (!factor_denominator(a, h, a->mean)) return NULL;
  unit_matrix(a->nx, t->inverse);
  od_lu_solve(a->nx, a->M, a->pivot, t->inverse, a->nx);
  t->h = h;
  return t;
}

// to (nx) += factor times a matrix, given by its columns, times x.
static void add_product(int nx, double factor, const double *columns, const double *x, double *to) {
  for (int j = 0; j < nx; j++)
    if (x[j] != 0) od_add_scaled(nx, factor * x[j], columns + j * nx, to);
}

// The Jacobian that carries errors: the mean of two, by columns.
static void set_mean(od_accuracy *a, const double *J0, const double *J1) {
  int nx = a->nx;
  bool changed = false;  // not for linear machines
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < nx; j++) {
      double mean = (J0[i * nx + j] + J1[i * nx + j]) / 2;
      changed = changed || mean != a->mean[j * nx + i];
      a->mean[j * nx + i] = mean;
    }
  for (int i = 0; i < OD_FLOW_LENGTHS && changed; i++) a->kept[i].h = 0;
  a->mean_is_start = J0 == J1;
}

// One step: e <- E e + G before + after.
static bool carry_step(od_accuracy *a, double h, const double *before, double *after) {
  int nx = a->nx;
  bool finite = true;
  const od_flow *t = find_transition(a, h);
  double *sum = a->scratch, *difference = a->difference;
  if (!t) return true;
  const od_error_form *form = &a->integrator->error_form;
  for (int i = 0; i < nx; i++) {
    sum[i] = a->e[i] + form->flow * before[i];
    difference[i] = a->e[i] + form->bend * before[i];
  }
  add_product(nx, h / 3, a->mean, difference, sum);
  add_product(nx, 1, t->inverse, sum, after);
  if (form->slope != 0) add_product(nx, form->slope * h, a->mean, before, after);
  for (int i = 0; i < nx; i++) finite = finite && isfinite(a->e[i] = after[i]);
  return finite;
}

static void carry(od_accuracy *a, int first, int end) {
  const od_window *w = &a->window;
  bool finite = true;
  for (int k = first; k < end && finite; k++)
    finite = carry_step(a, w->h[k], w->before + k * a->nx, w->after + k * a->nx);
  if (!finite) give_up(a);
}

// How much otherwise the error is moved at the end of some steps than at their beginning, in the course of them.
static double turned(const od_accuracy *a, int first, int end, const double *J0, const double *J1) {
  int nx = a->nx;
  double time = 0, most = 0;
  for (int k = first; k < end; k++) time += a->window.h[k];
  for (int i = 0; i < nx; i++) {
    double change = 0, size = fmax(a->level[i], fabs(a->e[i]));
    for (int j = 0; j < nx; j++) change += (J1[i * nx + j] - J0[i * nx + j]) * a->e[j];
    if (fabs(change) * time > most * size && size > 0) most = fabs(change) * time / size;
  }
  return most;
}

static bool within_budget(const od_accuracy *a) {
  return a->windows < FREE_WINDOWS + a->steps / STEPS_PER_WINDOW;
}

// The Jacobian where a step of the window ended.
static bool jacobian_inside(od_accuracy *a, int step, double *J) {
  const od_window *w = &a->window;
  memcpy(a->shadow, a->sim, od_sim_size(a->plant));
  a->windows++;
  return od_sim_set(a->shadow, w->t[step], w->x_end + step * a->nx, w->u_end + step * a->nu) == OD_OK &&
         od_sim_derivatives(a->shadow, NULL, J, NULL, NULL) == OD_OK;
}

// The same with the Jacobian at the beginning and the end of these steps; where it changes much, in two parts.
static void carry_between(od_accuracy *a, int first, int end, const double *J0, const double *J1, int depth) {
  int middle = (first + end) / 2;
  if (a->lost) return;
  if (depth < OD_DEEPEST_SPLIT && end - first > 2 && within_budget(a) && turned(a, first, end, J0, J1) > split &&
      jacobian_inside(a, middle - 1, a->J_inside[depth])) {
    carry_between(a, first, middle, J0, a->J_inside[depth], depth + 1);
    carry_between(a, middle, end, a->J_inside[depth], J1, depth + 1);
    return;
  }
  set_mean(a, J0, J1);
  carry(a, first, end);
}

// ---- windows

static void present_rates(const od_accuracy *a, double *f) {
  int nz = a->plant->nz;
  memcpy(f, od_sim_state(a->sim) + nz, (size_t)nz * sizeof *f);
  memcpy(f + nz, od_sim_rates(a->sim), (size_t)(a->nx - nz) * sizeof *f);
}

static bool find_jacobian(od_accuracy *a, double *J, double *Ju) {
  if (od_sim_derivatives(a->sim, NULL, J, a->nu ? Ju : NULL, NULL) != OD_OK) return false;
  if (a->stability && (a->windows < FREE_STABILITY || a->windows % STABILITY == 0))
    a->stable_step = fmin(a->stable_step, od_stability_longest_step(a->stability, J));
  a->windows++;
  return true;
}

static void begin_window(od_accuracy *a) {
  od_window *w = &a->window;
  w->steps = 0;
  memcpy(w->x, od_sim_state(a->sim), (size_t)a->nx * sizeof *w->x);
  if (a->nu) memcpy(w->u, od_sim_inputs(a->sim), (size_t)a->nu * sizeof *w->u);
  present_rates(a, w->f);
  for (int i = 0; i < a->nx; i++)
    if (fabs(w->f[i]) > a->rate_size[i]) a->rate_size[i] = fabs(w->f[i]);
  w->open = true;
}

// The part of the change of the rates over the window that J dx + Ju du with its mean does not explain.
static double unexplained(od_accuracy *a) {
  int nx = a->nx, nz = a->plant->nz;
  const od_window *w = &a->window;
  const double *x = od_sim_state(a->sim), *u = od_sim_inputs(a->sim);
  double *predicted = a->scratch, most = 0;
  memset(predicted, 0, (size_t)nx * sizeof *predicted);
  for (int j = 0; j < nx; j++) od_add_scaled(nx, x[j] - w->x[j], a->mean + j * nx, predicted);
  for (int i = nz; i < nx; i++) {
    double change = a->f_end[i] - w->f[i];
    for (int j = 0; j < a->nu; j++)
      predicted[i] += (w->Ju[i * a->nu + j] + a->Ju_end[i * a->nu + j]) / 2 * (u[j] - w->u[j]);
    double size = fabs(change) + fabs(predicted[i]) + 1e-6 * fabs(a->f_end[i]);
    if (fabs(change - predicted[i]) > most * size) most = fabs(change - predicted[i]) / size;
  }
  return most;
}

// Windows in which the rates bend are followed by shorter ones, as long as the budget allows.
static void choose_length(od_accuracy *a) {
  od_window *w = &a->window;
  double part = fmax(unexplained(a), turned(a, 0, w->steps, w->J, a->J_end) / 3);
  if (part > bent) w->length /= 2;
  if (part < straight) w->length *= 2;
  int least = within_budget(a) ? 1 : OD_LONGEST_WINDOW;
  w->length = w->length < least ? least : w->length > OD_LONGEST_WINDOW ? OD_LONGEST_WINDOW : w->length;
}

// ---- the part of the error that is a delay
//
// Where nothing from outside changes, the rates f themselves are carried along by the motion: an error c f, which is a
// delay by c, stays one. Known exactly, it must not be left to approximate Jacobians: over many periods of a swinging
// machine they would make an exponential of what grows in proportion to time.

static double weighted_product(const od_accuracy *a, const double *x, const double *y) {
  double sum = 0;
  for (int i = 0; i < a->nx; i++)
    if (a->rate_size[i] > 0) sum += x[i] / a->rate_size[i] * (y[i] / a->rate_size[i]);
  return sum;
}

// At rest the rates are no motion but what rounding and the ends of iterations leave: changes of the states by a part
// `unsure` of their sizes. From window to window they change at random, and an error that followed them would grow at random.
static bool rates_are_noise(const od_accuracy *a, const double *f) {
  const double unsure = 1e-10;
  int nx = a->nx;
  double *noise = a->scratch;
  memset(noise, 0, (size_t)nx * sizeof *noise);
  for (int j = 0; j < nx; j++)
    for (int i = 0; i < nx; i++) noise[i] += unsure * fabs(a->mean[j * nx + i] * a->window.x[j]);
  return weighted_product(a, f, f) <= weighted_product(a, noise, noise);
}

// Takes the delay out of e at the beginning of the window; zero where rates are no solution: inputs change, the machine rests,
// or stiff parts ring, which G shows. Rules of higher order delay too little to matter.
static double take_delay(od_accuracy *a) {
  int nx = a->nx;
  const od_window *w = &a->window;
  const od_flow *t = find_transition(a, w->h[0]);
  double *part = a->scratch, *damped = a->difference, f2 = weighted_product(a, w->f, w->f);
  if (a->integrator->order > 2 || a->plant->ops->sample || !t || !(f2 > 0)) return 0;
  if (rates_are_noise(a, w->f) || rates_are_noise(a, a->f_end)) return 0;
  if (a->nu && memcmp(w->u, od_sim_inputs(a->sim), (size_t)a->nu * sizeof *w->u) != 0) return 0;
  for (int i = 0; i < nx; i++) {
    part[i] = w->f[i];
    damped[i] = -w->f[i];
  }
  add_product(nx, -w->h[0] / 3, a->mean, w->f, part);
  add_product(nx, 1, t->inverse, part, damped);
  if (weighted_product(a, damped, damped) > 0.1 * f2) return 0;
  double delay = weighted_product(a, a->e, w->f) / f2;
  od_add_scaled(nx, -delay, w->f, a->e);
  return delay;
}

static void swap(double **a, double **b) {
  double *other = *a;
  *a = *b;
  *b = other;
}

// Carries the error up to the present point without another Jacobian.
static void flush_window(od_accuracy *a) {
  od_window *w = &a->window;
  if (a->lost || w->steps == 0) return;
  if (!a->mean_is_start) set_mean(a, w->J, w->J);
  carry(a, 0, w->steps);
  w->steps = 0;
}

// Ends the window at the present point, which is the beginning of the next one.
static void close_window(od_accuracy *a) {
  od_window *w = &a->window;
  if (a->lost || w->steps == 0) return;
  if (find_jacobian(a, a->J_end, a->Ju_end)) {
    present_rates(a, a->f_end);
    set_mean(a, w->J, a->J_end);
    choose_length(a);
    double delay = take_delay(a);
    carry_between(a, 0, w->steps, w->J, a->J_end, 0);
    od_add_scaled(a->nx, delay, a->f_end, a->e);
    swap(&w->J, &a->J_end);
    swap(&w->Ju, &a->Ju_end);
    a->mean_is_start = false;
    begin_window(a);
  } else {
    flush_window(a);
    w->open = false;
  }
}

// ---- the local error of a step after a jump
//
// What follows a jump may be faster than the step and end far from where it began, so that the rates at both ends say
// little. The flow of the equations linearised at its beginning says more: with the same approximation,
//   x1 = x0 + D^-1 ((1 - hJ/6) h f0 + (1/2 - hJ/6) h Ju du),
// from which the computed state differs by the local error.
static bool local_error_after_jump(od_accuracy *a, double h, double *before, double *after) {
  int nx = a->nx;
  const od_window *w = &a->window;
  const double *x = od_sim_state(a->sim), *u = od_sim_inputs(a->sim);
  if (!factor_denominator(a, h, w->J)) return false;
  for (int i = 0; i < nx; i++) {
    double ramp = 0;
    for (int j = 0; j < a->nu; j++) ramp += w->Ju[i * a->nu + j] * (u[j] - w->u[j]);
    after[i] = h * (w->f[i] + ramp / 2);
    before[i] = h * (w->f[i] + ramp);
  }
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < nx; j++) after[i] -= h / 6 * w->J[i * nx + j] * before[j];
  od_lu_solve(nx, a->M, a->pivot, after, 1);
  for (int i = 0; i < nx; i++) {
    after[i] = x[i] - w->x[i] - after[i];
    before[i] = 0;
  }
  return true;
}

static void find_local_error(od_accuracy *a, double h, double *before, double *after) {
  bool needs_history = a->integrator->estimate_order == 0;
  if (!needs_history || !a->jumped || !local_error_after_jump(a, h, before, after))
    od_sim_local_error(a->sim, before, after);
}

// ---- steps

void od_accuracy_begin_step(od_accuracy *a) {
  if (!a) return;
  od_window *w = &a->window;
  if (a->lost || (w->open && !a->jumped)) return;
  if (!find_jacobian(a, w->J, w->Ju)) return;
  a->mean_is_start = false;
  w->length = 1;
  begin_window(a);
}

void od_accuracy_end_step(od_accuracy *a, double h) {
  if (!a) return;
  od_window *w = &a->window;
  a->steps++;
  a->look_age++;
  if (a->lost || !w->open) return;
  find_local_error(a, h, w->before + w->steps * a->nx, w->after + w->steps * a->nx);
  memcpy(w->x_end + w->steps * a->nx, od_sim_state(a->sim), (size_t)a->nx * sizeof *w->x_end);
  if (a->nu) memcpy(w->u_end + w->steps * a->nu, od_sim_inputs(a->sim), (size_t)a->nu * sizeof *w->u_end);
  w->t[w->steps] = od_sim_time(a->sim);
  w->h[w->steps++] = h;
  a->jumped = false;
  if (w->steps == OD_LONGEST_WINDOW) close_window(a);
}

void od_accuracy_jump(od_accuracy *a) {
  if (!a) return;
  close_window(a);
  a->jumped = true;
}

void od_accuracy_map(od_accuracy *a, const double *map, bool coordinates) {
  if (!a) return;
  int nx = a->nx;
  flush_window(a);
  memcpy(a->scratch, a->e, (size_t)nx * sizeof *a->e);
  for (int i = 0; i < nx; i++) {
    a->e[i] = 0;
    for (int j = 0; j < nx; j++) a->e[i] += map[i * nx + j] * a->scratch[j];
  }
  // A machine with samples every few steps would never end a window, and keep the Jacobian of its first step for ever.
  if (coordinates || within_budget(a)) a->window.open = false;
}

// ---- what it means for the outputs

// The outputs y once more, in the state without its error.
static bool compare_outputs(od_accuracy *a, const double *y) {
  memcpy(a->shadow, a->sim, od_sim_size(a->plant));
  const double *x = od_sim_state(a->sim);
  for (int i = 0; i < a->nx; i++) a->scratch[i] = x[i] - a->e[i];
  if (od_sim_set(a->shadow, od_sim_time(a->sim), a->scratch, od_sim_inputs(a->sim)) != OD_OK) return false;
  if (od_sim_outputs(a->shadow, a->y_shadow) != OD_OK) return false;
  for (int i = 0; i < a->judged; i++) {
    double error = fabs(y[i] - a->y_shadow[i]);
    if (error <= a->error[i]) continue;
    a->error[i] = error;
    a->at[i] = od_sim_time(a->sim);
  }
  return true;
}

static bool look_is_due(const od_accuracy *a) {
  if (a->look_age >= LOOK) return true;
  if (a->looks >= FREE_LOOKS + a->steps / STEPS_PER_LOOK) return false;
  for (int i = 0; i < a->nx; i++)
    if (fabs(a->e[i]) > grown * a->level[i]) return true;
  return false;
}

static void look(od_accuracy *a, const double *y) {
  a->look_age = 0;
  a->looks++;
  for (int i = 0; i < a->nx; i++)
    if (fabs(a->e[i]) > a->level[i]) a->level[i] = fabs(a->e[i]);
  if (!compare_outputs(a, y)) give_up(a);
}

void od_accuracy_record(od_accuracy *a, const double *y) {
  if (!a) return;
  for (int i = 0; i < a->judged; i++) {
    if (y[i] < a->low[i]) a->low[i] = y[i];
    if (y[i] > a->high[i]) a->high[i] = y[i];
  }
  if (a->window.steps >= a->window.length || a->look_age >= LOOK) close_window(a);
  if (!a->lost && a->window.steps == 0 && look_is_due(a)) look(a, y);
}

od_output_error od_accuracy_of(const od_accuracy *a, int output, double least) {
  double low = a->low[output], high = a->high[output], error = a->error[output], at = a->at[output];
  double range = fmax(high >= low ? od_visible_range(low, high) : 0, least);
  return (od_output_error){.part = error > 0 ? error / range : 0, .at = at, .range = range};
}

double od_accuracy_stable_step(const od_accuracy *a) {
  return a->stable_step;
}
