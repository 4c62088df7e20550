// The estimate: its change by a filter, and its bias due to the step length.
//
// The bias b is the effect of the local errors of all steps. The filter's gains and transitions propagate b:
//   predict:  b <- F b + d, d the local error of the step         correct:  b <- b - K (h b)
// The bias is only reported and does not change the estimate.
#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "observe/observer_block.h"

// Computes the target prior + delta: the state in probe_x and the parameters, within their bounds, in p. delta becomes the actual
// change. Fails with OD_NOT_FINITE.
static od_status find_target(od_observer *o, const double *prior, double *delta) {
  const double *low = od_observer_at(o, o->low), *high = od_observer_at(o, o->high);
  double *p = od_observer_at(o, o->p), *x = od_observer_at(o, o->probe_x);
  for (int i = 0; i < o->nx + o->np; i++)
    if (!isfinite(delta[i])) return OD_NOT_FINITE;
  for (int i = 0; i < o->np; i++) {
    double *moved = &delta[o->nx + i], wanted = prior[o->nx + i] + *moved;
    p[i] = wanted < low[i] ? low[i] : wanted > high[i] ? high[i] : wanted;
    if (p[i] == wanted) continue;
    *moved = p[i] - prior[o->nx + i];
    od_observer_at(o, o->bias)[o->nx + i] = 0;
  }
  for (int i = 0; i < o->nx; i++) x[i] = prior[i] + delta[i];
  return OD_OK;
}

// Moves the estimate to the target.
static od_status go_to_target(od_observer *o) {
  od_sim *sim = od_observer_sim(o);
  const double *p = o->np ? od_observer_at(o, o->p) : NULL;
  return od_sim_set_with_parameters(sim, od_sim_time(sim), od_observer_at(o, o->probe_x), od_sim_inputs(sim), p);
}

od_status od_observer_move(od_observer *o, const double *prior, double *delta) {
  od_status status = find_target(o, prior, delta);
  return status == OD_OK ? go_to_target(o) : status;
}

od_status od_observer_try(od_observer *o, const double *prior, double *delta, double *y) {
  od_status status = find_target(o, prior, delta);
  if (status != OD_OK) return status;
  const double *p = o->np ? od_observer_at(o, o->p) : NULL;
  return od_sim_outputs_elsewhere(od_observer_sim(o), od_observer_at(o, o->probe_x), p, y);
}

od_status od_observer_move_to_trial(od_observer *o) {
  const double *p = od_observer_at(o, o->p);
  for (int i = 0; i < o->np; i++)
    if (p[i] <= od_observer_at(o, o->low)[i] || p[i] >= od_observer_at(o, o->high)[i])
      od_observer_at(o, o->bias)[o->nx + i] = 0;
  return go_to_target(o);
}

void od_observer_drop_trial(od_observer *o, const double *prior) {
  if (!o->np) return;
  memcpy(od_observer_at(o, o->p), prior + o->nx, (size_t)o->np * sizeof *prior);
  od_sim_set_parameters(od_observer_sim(o), prior + o->nx);
}

// Adds the products a[j] b[j] to four partial sums, four products at a time. Returns the number of products that were added, a multiple
// of 4.
OD_INTO_WIDE int add_fours(int n, const double *a, const double *b, double *sum) {
#if OD_HAS_VECTORS
  int j = 0;
  for (; j + 4 <= n; j += 4) OD_QUAD_AT(sum) += OD_QUAD_AT(a + j) * OD_QUAD_AT(b + j);
  return j;
#else
  const double *end = a + n / 4 * 4;
  double sum0 = sum[0], sum1 = sum[1], sum2 = sum[2], sum3 = sum[3];
  for (; a < end; a += 4, b += 4) sum0 += a[0] * b[0], sum1 += a[1] * b[1], sum2 += a[2] * b[2], sum3 += a[3] * b[3];
  sum[0] = sum0, sum[1] = sum1, sum[2] = sum2, sum[3] = sum3;
  return n / 4 * 4;
#endif
}

// Computes to <- A from + B p + after; after may be NULL.
OD_WIDE static void carry(int nx, int np, const double *A, const double *B, const double *from, const double *p,
                          const double *after, double *to) {
  for (int i = 0; i < nx; i++, A += nx, B += np) {
    double sum[4] = {0}, rest = after ? after[i] : 0;
    int j = add_fours(nx, A, from, sum), l = add_fours(np, B, p, sum);
    for (; j < nx; j++) rest += A[j] * from[j];
    for (; l < np; l++) rest += B[l] * p[l];
    to[i] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
  }
}

void od_observer_carry_bias(od_observer *o, const double *A, const double *B, const double *before,
                            const double *after) {
  int nx = o->nx, np = o->np;
  double *bias = od_observer_at(o, o->bias), *from = od_observer_at(o, o->probe_x);
  for (int j = 0; j < nx; j++) from[j] = bias[j] + (before ? before[j] : 0);
  carry(nx, np, A, B, from, bias + nx, after, bias);
}

// The local error of the step is (constant + transition A) before + after.
void od_observer_add_step_bias(od_observer *o, const double *A, const double *B) {
  const od_error_form *form = &od_sim_integrator(od_observer_sim(o))->error_form;
  double *before = od_observer_at(o, o->probe_x) + o->nx, *after = before + o->nx;
  od_sim_local_error(od_observer_sim(o), before, after);
  for (int i = 0; i < o->nx; i++) {
    after[i] += form->constant * before[i];
    before[i] *= form->transition;
  }
  od_observer_carry_bias(o, A, B, before, after);
  if (OD_WITH_CHANGES && o->watch) od_change_watch_predict(o->watch, A, B);
}
