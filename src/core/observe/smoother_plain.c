// The plain filter of the relinearizing filter: an iterated extended Kalman filter without repeated linearization.
//
// The trajectory with the smallest J is the best estimate if the model is correct. If the model is wrong, this trajectory
// compensates the error of the model by wrong parameters, and repeated linearization can be worse than none. The filter therefore
// falls back: if J over the last windows is too large for noise, the live observer becomes the plain filter. The plain filter
// starts at the last estimate of a settled filter, or at the user's prior, and processes the same samples as the live observer.
//
// The live observer itself is the plain filter until the worker replaces it. So a separate plain filter exists only from the first
// replacement to the time at which the filter settles. A settled filter has no additional cost.
//
// The plain filter remains in use until od_observer_start(), or until a guard or the caller increases the covariance.
#include <string.h>

#include "observe/smoother.h"

static od_iterated *memory_of(const od_smoother *s) {
  return od_observer_memory(od_smoother_plain(s));
}

void od_smoother_copy_estimate(const od_smoother *s, od_observer *from, const od_iterated *from_memory, od_observer *to,
                               od_iterated *to_memory) {
  size_t d = sizeof(double), n = (size_t)s->n;
  memcpy(od_observer_sim(to), od_observer_sim(from), s->sim_size);
  memcpy(od_observer_at(to, to->P), od_observer_at(from, from->P), n * n * d);
  memcpy(od_observer_at(to, to->bias), od_observer_at(from, from->bias), n * d);
  if (s->np) memcpy(od_observer_at(to, to->p), od_observer_at(from, from->p), (size_t)s->np * d);
  to_memory->may_repeat = from_memory->may_repeat;
}

void od_smoother_keep_plain(od_smoother *s, od_observer *o) {
  od_smoother_copy_estimate(s, o, od_smoother_live(s), od_smoother_plain(s), memory_of(s));
  s->has_plain = 1;
}

void od_smoother_discard_plain(od_smoother *s) {
  s->has_plain = s->fell_back = 0;
}

// If the plain filter fails, only the live observer continues.
void od_smoother_predict_plain(od_smoother *s, const double *Q, const double *q) {
  if (!s->has_plain) return;
  od_observer *w = od_smoother_plain(s);
  od_window_sample e = od_smoother_sample(s, s->last);
  od_status status = s->nu ? od_sim_set_inputs(od_observer_sim(w), e.u0) : OD_OK;
  if (status == OD_OK) status = od_smoother_jump(s, w);
  s->jumped = 0;
  if (status == OD_OK) status = od_linear_predict(w, *e.h, e.u1, Q, q);
  s->has_plain = status == OD_OK;
}

void od_smoother_correct_plain(od_smoother *s) {
  if (!s->has_plain) return;
  od_observer *w = od_smoother_plain(s);
  const double *y = od_smoother_sample(s, s->last).y;
  if (od_observer_begin_correction(w, y) > 0)
    s->has_plain = od_iterated_correct(w, memory_of(s), OD_ITERATED_PASSES, y) == OD_OK;
}

void od_smoother_fall_back(od_smoother *s, od_observer *o) {
  if (s->has_plain) od_smoother_copy_estimate(s, od_smoother_plain(s), memory_of(s), o, od_smoother_live(s));
  s->has_plain = 0;
  od_smoother_cut(s, o);
}
