// The relinearizing filter: an iterated extended Kalman filter that linearizes past samples again at better estimates.
//
// An extended Kalman filter linearizes each sample once. If the estimate at that time was poor, the linearization was wrong and the
// covariance is too small. The relinearizing filter therefore stores samples, and smooths windows of samples with the machine
// linearized at the later estimate (smoother.h). Windows are short at first, when estimates are worst. The first window has 16
// samples. The next windows have the same start. Each of them is twice as long as the preceding window, up to the maximum length.
// Each later window begins with the estimate and covariance at the end of the preceding window.
//
// In these cases the window is abandoned, and another window begins at the live estimate:
// - The coordinates of a mechanism change. Process noise and covariances refer to coordinates, so the worker would have
//   to change its coordinates at the same sample as the live observer. The filter stays settled if it was settled.
// - A guard or the caller (od_observer_inflate) has increased the covariance: earlier samples are no longer used.
// - The process noise correlates states with parameters, or parameters with each other.
// - The memory for samples is full, after many samples without any sensor.
//
// Windows may contain jumps of sampled blocks, jumps of inputs and missing sensors. Windows do not contain values that the live
// observer rejected.
//
// If the samples do not fit the model, the filter falls back: it continues as an iterated extended Kalman filter
// (smoother_plain.c).
#include <math.h>
#include <string.h>

#include "observe/filters.h"
#include "observe/smoother.h"

static od_smoother *smoother_of(const od_observer *o) {
  return od_observer_memory(o);
}

static size_t memory(const od_plant *plant, const od_observer_options *options) {
  return od_smoother_size(plant, options);
}

static od_status start(od_observer *o) {
  od_smoother *s = od_smoother_init(o);
  od_smoother_live(s)->may_repeat = 1;
  s->repartitions = od_sim_count(od_observer_sim(o)).repartitions;
  s->last = -1;
  od_smoother_add(s);
  od_smoother_restart(s, o);
  return od_smoother_take_declared_start(s, o);
}

// Begins a new window after an increase of the covariance.
static void begin_again(od_smoother *s, od_observer *o) {
  od_smoother_discard_plain(s);
  od_smoother_restart(s, o);
}

static void restart(od_observer *o) {
  od_smoother_live(smoother_of(o))->may_repeat = 1;
  begin_again(smoother_of(o), o);
}

// Follows a jump of the state, or abandons the window after a change of coordinates.
static od_status follow(od_observer *o, const double *map, const double *by_parameters) {
  od_smoother *s = smoother_of(o);
  size_t d = sizeof(double), nx = (size_t)s->nx;
  long repartitions = od_sim_count(od_observer_sim(o)).repartitions;
  if (repartitions != s->repartitions) {
    s->repartitions = repartitions;
    s->corrected = 1;  // the next sensor values belong to another time
    s->has_plain = 0;  // the plain filter has the former coordinates
    od_smoother_cut(s, o);
    return OD_OK;
  }
  s->jumped = 1;
  memcpy(od_smoother_at(s, s->jump), map, nx * nx * d);
  if (s->np) memcpy(od_smoother_at(s, s->jump_p), by_parameters, nx * (size_t)s->np * d);
  return OD_OK;
}

// Predicts, and records the step in the window. A failure leaves the window unchanged.
static od_status predict(od_observer *o, double h, const double *u, const double *Q, const double *q) {
  od_smoother *s = smoother_of(o);
  if (s->fell_back) {
    od_status status = od_linear_predict(o, h, u, Q, q);
    if (status == OD_OK) s->corrected = s->jumped = 0;
    return status;
  }
  od_smoother_look(s);  // also begins a window that a sample without sensor values has completed
  long last = s->last;
  int corrected = s->corrected;
  bool kept = od_smoother_add_step(s, h, od_sim_inputs(od_observer_sim(o)), u, Q, q);
  od_status status = od_linear_predict(o, h, u, Q, q);
  if (status != OD_OK) {
    s->last = last;
    s->corrected = corrected;
    return status;
  }
  if (kept && s->phase == OD_SMOOTHER_IDLE) od_smoother_keep_slope(s, o, s->last);
  s->jumped = 0;
  if (kept) {
    od_smoother_predict_plain(s, Q, q);
  } else {
    s->corrected = 0;
    s->has_plain = 0;
    od_smoother_restart(s, o);
  }
  return OD_OK;
}

// Corrects the estimate, records the sensor values, and smooths some samples of the window. Fails with a status of od_sim_step().
static od_status correct(od_observer *o, const double *y) {
  od_smoother *s = smoother_of(o);
  od_linear *l = od_observer_linear(o);
  if (!s->fell_back && s->corrected && !od_smoother_add(s)) od_smoother_restart(s, o);
  l->note = 0;
  if (s->phase == OD_SMOOTHER_IDLE && !s->fell_back) od_smoother_note(s, o, s->last);
  od_status status = od_iterated_correct(o, od_smoother_live(s), OD_ITERATED_PASSES, y);
  l->note = 0;
  if (status != OD_OK) return status;
  if (s->fell_back) {
    s->corrected = 1;
    if (l->widened) begin_again(s, o);
    return OD_OK;
  }
  od_window_sample e = od_smoother_sample(s, s->last);
  for (int i = 0; i < s->ny; i++) e.y[i] = od_observer_innovation(o, i)->use == OD_SENSOR_USED ? y[i] : (double)NAN;
  s->corrected = 1;
  od_smoother_correct_plain(s);
  if (l->widened) begin_again(s, o);
  od_smoother_work(s, o);
  return OD_OK;
}

static bool settled(const od_observer *o) {
  return smoother_of(o)->settled;
}

static bool fell_back(const od_observer *o) {
  return smoother_of(o)->fell_back;
}

static const char *const flags[] = {"false", "true", NULL};
static const od_filter_option options[] = {
    [OD_SMOOTHER_WINDOW] = {.key = "window",
                            .meaning = "largest number of samples that are linearized again at once; default: 1024",
                            .fallback = OD_SMOOTHER_DEFAULT_WINDOW,
                            .low = OD_SMOOTHER_LEAST_WINDOW,
                            .high = OD_SMOOTHER_MOST_WINDOW},
    [OD_SMOOTHER_SPREAD] = {.key = "spread",
                            .meaning = "whether the repeated linearization is spread over later samples; default: true",
                            .fallback = 1,
                            .words = flags},
    [OD_SMOOTHER_WIDEN] = {
        .key = "widen",
        .meaning =
            "whether the prior is widened if the smoothed start is more than five sigmas away from the prior; default: false",
        .fallback = 0,
        .words = flags}};

const od_filter od_filter_relinearizing = {
    .name = "relinearising",
    .description = "extended Kalman filter that linearizes past samples again, window by window",
    .option = options,
    .options = sizeof options / sizeof *options,
    .memory = memory,
    .start = start,
    .restart = restart,
    .predict = predict,
    .correct = correct,
    .follow = follow,
    .output_sigma = od_linear_output_sigma,
    .settled = settled,
    .fell_back = fell_back,
    .transfer = od_smoother_transfer,
    .detects_changes = true,
};
