#include "inverse/trajectory.h"

#include <math.h>
#include <stdbool.h>

#include "machine/machine.h"
#include "machine/saved_state.h"
#include "memory/scoped.h"

enum {
  MOST_NODES = 20000000,
  LEAST_EVALUATIONS = 8,       // least number of evaluations of a piece of a signal between two breaks
  MOST_EVALUATIONS = 2000000,  // largest number of evaluations of the whole signal
};
// Breaks closer than this fraction of the whole time are merged.
static const double break_distance = 1e-9;
// A jump of the value or of the rate below this fraction of the largest value or rate is round-off.
static const double rounding_limit = 1e-6;
// A rate that changes by more than this fraction of its range between nodes is not resolved. A sine with fewer than five nodes
// per period exceeds this limit.
static const double resolution_limit = 0.6;

// ---- peaks

// For each peak (od_trajectory.peak): the largest result of peak_size(), and the time interval around this result.
typedef struct peaks {
  double value[OD_TRAJECTORY_PEAKS], low[OD_TRAJECTORY_PEAKS], high[OD_TRAJECTORY_PEAKS];
} peaks;

// Returns the value for peak `which`: value, rate or second derivative. For minima the sign is reversed.
static double peak_size(const double y[3], int which) {
  return which % 2 ? -y[which / 2] : y[which / 2];
}

// Evaluates the motion at t, and keeps the largest values. low, high: the neighboring times.
static void evaluate_peaks(od_trajectory *r, peaks *p, double t, double low, double high) {
  double y[3];
  od_trajectory_at(r, t, y);
  for (int k = 0; k < OD_TRAJECTORY_PEAKS; k++)
    if (!(peak_size(y, k) <= p->value[k]))
      p->value[k] = peak_size(y, k), p->low[k] = low, p->high[k] = high, r->peak[k] = t;
}

// Refines a peak by golden-section search. Assumes that the motion has one peak between the two evaluations next to the
// largest value.
static void refine(od_trajectory *r, const peaks *p, int which) {
  const double section = 0.6180339887498949;
  double a = p->low[which], b = p->high[which], y[3];
  for (int i = 0; i < 60 && b > a; i++) {
    double x = b - section * (b - a), z = a + section * (b - a);
    od_trajectory_at(r, x, y);
    double first = peak_size(y, which);
    od_trajectory_at(r, z, y);
    if (first > peak_size(y, which))
      b = z;
    else
      a = x;
  }
  od_trajectory_at(r, a, y);
  if (peak_size(y, which) > p->value[which]) r->peak[which] = a;
}

static peaks no_peaks(void) {
  peaks p;
  for (int k = 0; k < OD_TRAJECTORY_PEAKS; k++) p.value[k] = -INFINITY, p.low[k] = p.high[k] = 0;
  return p;
}

// ---- signals in closed form

// Evaluates the peaks of a piece without breaks, from `begin` to `last`, at intervals of about `shortest` or more (s). Returns
// the number of evaluations.
static int evaluate_piece(od_trajectory *r, peaks *p, double begin, double last, double shortest) {
  int evaluations = 0;
  for (double t = begin, before = begin; t <= last; evaluations++) {
    double pace = od_machine_input_pace(r->machine, r->input, t, last);
    // Steps are unequal, to avoid aliasing with a sine.
    double uneven = 0.75 + 0.5 * fmod(0.6180339887498949 * evaluations, 1);
    double next = t + fmax(fmin(pace, (last - begin) / LEAST_EVALUATIONS), shortest) * uneven;
    if (isfinite(pace) && next - t < r->spacing) r->spacing = next - t;
    if (!(next > t)) next = nextafter(t, INFINITY);
    if (t < last && next > last) next = last;
    evaluate_peaks(r, p, t, before, fmin(next, last));
    before = t, t = next;
  }
  return evaluations;
}

static od_status of_file(const od_machine *machine, const double *pairs, int count, double begin, double end,
                         od_trajectory *out);

static void of_signal(const od_machine *machine, int input, double begin, double end, od_trajectory *out) {
  *out = (od_trajectory){.machine = machine, .input = input, .spacing = end - begin};
  peaks p = no_peaks();
  double near = break_distance * (end - begin);
  int evaluations = 0;
  for (double t = begin; t < end && evaluations < MOST_EVALUATIONS;) {
    double next = fmin(od_machine_input_next_break(machine, input, t), end), after = next;
    evaluations +=
        evaluate_piece(out, &p, t, next < end ? nextafter(next, -INFINITY) : end, (end - begin) / MOST_EVALUATIONS);
    while (after < end) {  // skip to the last of the merged breaks
      double further = od_machine_input_next_break(machine, input, after);
      if (!(further < next + near)) break;
      after = further;
    }
    if (next < end) {
      double a[3], b[3];
      od_trajectory_at(out, nextafter(next, -INFINITY), a);
      od_trajectory_at(out, after, b);
      if (fabs(b[1] - a[1]) > out->jump) out->jump = fabs(b[1] - a[1]), out->jump_at = after;
      if (fabs(b[0] - a[0]) > out->step) out->step = fabs(b[0] - a[0]), out->step_at = after;
      out->spacing = fmin(out->spacing, fmax((next - t) / (2 * LEAST_EVALUATIONS), near));
    }
    t = after;
  }
  for (int k = 0; k < OD_TRAJECTORY_PEAKS; k++) refine(out, &p, k);
  if (out->jump <= rounding_limit * fmax(p.value[2], p.value[3])) out->jump = 0;
  if (out->step <= rounding_limit * fmax(p.value[0], p.value[1])) out->step = 0;
}

od_status od_trajectory_of_input(const od_machine *machine, int input, double begin, double end, od_trajectory *out) {
  int samples;
  const double *pairs = od_machine_input_samples(machine, input, &samples);
  if (samples >= 3) return of_file(machine, pairs, samples, begin, end, out);
  of_signal(machine, input, begin, end, out);
  return OD_OK;
}

void od_input_peaks(const od_machine *machine, int input, double begin, double end, double at[2]) {
  int samples;
  const double *pairs = od_machine_input_samples(machine, input, &samples);
  double most = -INFINITY, least = INFINITY;
  od_trajectory signal;
  at[0] = at[1] = begin;
  for (int i = 0; i < samples; i++) {
    double t = pairs[2 * i] - od_machine_start_time(machine), value = pairs[2 * i + 1];
    if (!(t >= begin && t <= end)) continue;
    if (value > most) most = value, at[0] = t;
    if (value < least) least = value, at[1] = t;
  }
  if (samples > 0) return;
  of_signal(machine, input, begin, end, &signal);
  at[0] = signal.peak[0], at[1] = signal.peak[1];
}

// ---- samples

// Allocates memory for the nodes. Returns false if out of memory.
static bool allocate(od_trajectory *r, int nodes) {
  double **const column[] = {&r->t, &r->value, &r->rate, &r->second};
  for (int i = 0; i < 4; i++) *column[i] = OD_TAKE(&r->arena, double, nodes);
  r->nodes = nodes;
  return od_arena_status(&r->arena) == OD_OK;
}

// Finds the largest second derivative (r->coarse) at nodes at which the samples do not resolve the motion. A constant speed is
// always resolved.
static void find_coarse(od_trajectory *r) {
  double slowest = INFINITY, fastest = -INFINITY;
  for (int i = 0; i < r->nodes; i++) slowest = fmin(slowest, r->rate[i]), fastest = fmax(fastest, r->rate[i]);
  double range = fastest - slowest;
  if (!(range > 1e-3 * fmax(fabs(fastest), fabs(slowest)))) return;
  for (int i = 0; i < r->nodes; i++) {
    double h = i + 1 < r->nodes ? r->t[i + 1] - r->t[i] : r->t[i] - r->t[i - 1], size = fabs(r->second[i]);
    if (size * h > resolution_limit * range && size > r->coarse) r->coarse = size, r->coarse_at = r->t[i];
  }
}

od_status od_trajectory_of_samples(const double *t, const double *value, long rows, double low_pass,
                                   od_trajectory *out) {
  *out = (od_trajectory){0};
  if (rows < 3 || rows > MOST_NODES) return OD_BAD_INPUT;
  od_status status = OD_NO_MEMORY;
  if (allocate(out, (int)rows)) {
    for (long i = 0; i < rows; i++) out->t[i] = t[i];
    status = od_smooth_samples(t, value, (int)rows, low_pass, out->value, out->rate, out->second, &out->smoothing);
  }
  if (status != OD_OK) {
    od_trajectory_free(out);
    return status;
  }
  out->spacing = (t[rows - 1] - t[0]) / (double)(rows - 1);
  peaks p = no_peaks();
  for (long i = 0; i < rows; i++) evaluate_peaks(out, &p, t[i], t[i], t[i]);
  find_coarse(out);
  return OD_OK;
}

// Creates the motion of an input whose values come from a file. The motion is constant before the first and after the
// last sample. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status of_file(const od_machine *machine, const double *pairs, int count, double begin, double end,
                         od_trajectory *out) {
  OD_SCRATCH(scratch);
  double *t = OD_TAKE(&scratch, double, count), *value = OD_TAKE(&scratch, double, count), y[3];
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  for (int i = 0; i < count; i++) t[i] = pairs[2 * i] - od_machine_start_time(machine), value[i] = pairs[2 * i + 1];
  od_status status = od_trajectory_of_samples(t, value, count, 0, out);
  if (status != OD_OK) return status;
  const double at[] = {t[0], t[count - 1]};
  for (int k = 0; k < 2; k++) {
    od_trajectory_at(out, at[k], y);
    if (at[k] > begin && at[k] < end && fabs(y[1]) > out->jump) out->jump = fabs(y[1]), out->jump_at = at[k];
  }
  return OD_OK;
}

od_status od_trajectory_of_constant(double value, double begin, double end, od_trajectory *out) {
  *out = (od_trajectory){.spacing = end - begin};
  if (!allocate(out, 2)) {
    od_trajectory_free(out);
    return OD_NO_MEMORY;
  }
  out->t[0] = begin, out->t[1] = end;
  out->value[0] = out->value[1] = value;
  for (int k = 0; k < OD_TRAJECTORY_PEAKS; k++) out->peak[k] = begin;
  return OD_OK;
}

void od_trajectory_free(od_trajectory *r) {
  od_arena_free(&r->arena);
  *r = (od_trajectory){0};
}

// Interpolates value, rate and second derivative, each by the cubic through the four nodes around t. Value, rate and
// second derivative at the nodes come from least-squares polynomials and are slightly inconsistent. One polynomial
// through all three would amplify these inconsistencies.
static void interpolate(const od_trajectory *r, int low, double t, double out[3]) {
  const double *const column[] = {r->value, r->rate, r->second};
  int first = low - 1 < 0 ? 0 : low + 3 > r->nodes ? r->nodes - 4 : low - 1;
  out[0] = out[1] = out[2] = 0;
  for (int i = first; i < first + 4; i++) {
    double weight = 1;
    for (int k = first; k < first + 4; k++)
      if (k != i) weight *= (t - r->t[k]) / (r->t[i] - r->t[k]);
    for (int d = 0; d < 3; d++) out[d] += weight * column[d][i];
  }
}

void od_trajectory_at(const od_trajectory *r, double t, double out[3]) {
  if (r->machine) {
    for (int order = 0; order < 3; order++) out[order] = od_machine_input_derivative(r->machine, r->input, t, order);
    return;
  }
  int low = 0, high = r->nodes - 1;
  // Times of rows are rounded, so times close to the first or last node get the rates of that node.
  double near = 1e-9 * (r->t[high] - r->t[0]) / high;
  if (fabs(t - r->t[0]) <= near) t = r->t[0];
  if (fabs(t - r->t[high]) <= near) t = r->t[high];
  if (!(t >= r->t[0]) || t > r->t[high]) {
    out[0] = t > r->t[high] ? r->value[high] : r->value[0];
    out[1] = out[2] = 0;
    return;
  }
  while (low < high) {  // find the last node at or before t
    int middle = (low + high + 1) / 2;
    if (r->t[middle] <= t)
      low = middle;
    else
      high = middle - 1;
  }
  if (r->smoothing.window > 7) {
    interpolate(r, low, t, out);
    return;
  }
  double h = low + 1 < r->nodes ? r->t[low + 1] - r->t[low] : 0, s = h > 0 ? (t - r->t[low]) / h : 0;
  double a0 = r->value[low], a1 = h * r->rate[low], a2 = h * h * r->second[low] / 2;
  if (!(h > 0)) {
    out[0] = a0, out[1] = r->rate[low], out[2] = r->second[low];
    return;
  }
  // The remainder at the next node determines the three higher powers.
  double d0 = r->value[low + 1] - a0 - a1 - a2, d1 = h * r->rate[low + 1] - a1 - 2 * a2,
         d2 = h * h * r->second[low + 1] - 2 * a2;
  double a3 = 10 * d0 - 4 * d1 + d2 / 2, a4 = -15 * d0 + 7 * d1 - d2, a5 = 6 * d0 - 3 * d1 + d2 / 2;
  out[0] = a0 + s * (a1 + s * (a2 + s * (a3 + s * (a4 + s * a5))));
  out[1] = (a1 + s * (2 * a2 + s * (3 * a3 + s * (4 * a4 + s * 5 * a5)))) / h;
  out[2] = (2 * a2 + s * (6 * a3 + s * (12 * a4 + s * 20 * a5))) / (h * h);
}
