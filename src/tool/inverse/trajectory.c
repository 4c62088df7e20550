#include "inverse/trajectory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "machine/machine.h"

// Nodes of the polynomials that rates are taken from, and the fewest of a piece between two breaks.
enum { STENCIL = 7, LEAST_NODES = 9, MOST_NODES = 20000000 };
// A break is looked at from so near (part of the piece before it).
static const double beside = 1e-10;
// A jump of the rate below this part of its largest value is rounding.
static const double rounding = 1e-6;

static bool add_node(od_trajectory *r, double t, double value, double rate) {
  if (r->nodes == r->capacity) {
    int more = r->capacity ? 2 * r->capacity : 256;
    double **const column[] = {&r->t, &r->value, &r->rate, &r->second};
    for (int i = 0; i < 4; i++) {
      double *grown = realloc(*column[i], (size_t)more * sizeof **column[i]);
      if (!grown) return false;
      *column[i] = grown;
    }
    r->capacity = more;
  }
  r->t[r->nodes] = t, r->value[r->nodes] = value, r->rate[r->nodes] = rate, r->second[r->nodes] = 0;
  r->nodes++;
  return true;
}

// First and second derivative at a time of the polynomial through `count` nodes, every `apart`-th one: divided differences, evaluated by
// Horner's rule together with their derivatives.
static void differentiate_through(const double *t, const double *f, int count, int apart, double at, double *one,
                                  double *two) {
  double c[STENCIL] = {0}, b, d = 0, e = 0;
  for (int i = 0; i < count; i++) c[i] = f[i * apart];
  for (int order = 1; order < count; order++)
    for (int i = count - 1; i >= order; i--) c[i] = (c[i] - c[i - 1]) / (t[i * apart] - t[(i - order) * apart]);
  b = c[count - 1];
  for (int i = count - 2; i >= 0; i--) {
    double x = at - t[i * apart];
    e = e * x + 2 * d;
    d = d * x + b;
    b = b * x + c[i];
  }
  *one = d;
  if (two) *two = e;
}

// The same at node `at`, through the nodes around it, of those from first to last.
static void differentiate(const double *t, const double *f, int first, int last, int at, double *one, double *two) {
  int count = last - first + 1 < STENCIL ? last - first + 1 : STENCIL, from = at - count / 2;
  if (from < first) from = first;
  if (from + count - 1 > last) from = last - count + 1;
  differentiate_through(t + from, f + from, count, 1, t[at], one, two);
}

static void find_jumps(od_trajectory *r, int before, int after) {
  double jump = fabs(r->rate[after] - r->rate[before]), step = fabs(r->value[after] - r->value[before]);
  if (jump > r->jump) r->jump = jump, r->jump_at = r->t[after];
  if (step > r->step) r->step = step, r->step_at = r->t[after];
}

// Jumps that are rounding are none, and neither are rates at rest.
static void forget_rounding(od_trajectory *r) {
  double fastest = 0, largest = 0, sharpest = 0;
  for (int i = 0; i < r->nodes; i++) {
    largest = fmax(largest, fabs(r->value[i]));
    fastest = fmax(fastest, fabs(r->rate[i]));
    sharpest = fmax(sharpest, fabs(r->second[i]));
  }
  for (int i = 0; i < r->nodes; i++) {
    if (fabs(r->rate[i]) < 1e-13 * fastest) r->rate[i] = 0;
    if (fabs(r->second[i]) < 1e-13 * sharpest) r->second[i] = 0;
  }
  if (r->jump <= rounding * fastest) r->jump = 0;
  if (r->step <= rounding * largest) r->step = 0;
}

// A piece of a signal without breaks, with exact values and slopes.
static bool add_piece(const od_machine *machine, int input, double begin, double end, double spacing, double *u,
                      od_trajectory *out) {
  int nodes = (int)fmax(LEAST_NODES, ceil((end - begin) / spacing) + 1), first = out->nodes;
  double near = beside * (end - begin);
  bool slopes = true;
  for (int k = 0; k < nodes; k++) {
    double t = k == nodes - 1 ? end : begin + (end - begin) * k / (nodes - 1);
    double seen = k == nodes - 1 ? t - near : t;
    od_machine_inputs(machine, seen, u);
    double slope = od_machine_input_slope(machine, input, seen);
    slopes = slopes && isfinite(slope);
    if (!add_node(out, t, u[input] + (isfinite(slope) ? slope * (t - seen) : 0), slope)) return false;
  }
  int last = out->nodes - 1;
  for (int k = first; k <= last; k++)
    if (slopes)
      differentiate(out->t, out->rate, first, last, k, &out->second[k], NULL);
    else
      differentiate(out->t, out->value, first, last, k, &out->rate[k], &out->second[k]);
  if (first > 0) find_jumps(out, first - 1, first);
  return true;
}

od_status od_trajectory_of_input(const od_machine *machine, int input, double begin, double end, double spacing,
                                 od_trajectory *out) {
  *out = (od_trajectory){0};
  double *u = calloc((size_t)od_machine_input_count(machine) + 1, sizeof *u);
  bool ok = u && (end - begin) / spacing < MOST_NODES;
  for (double t = begin; ok && t < end;) {
    double next = od_machine_input_next_break(machine, input, t);
    if (next < t + 1e-9 * (end - begin)) next = od_machine_input_next_break(machine, input, next);
    if (!(next < end - 1e-9 * (end - begin))) next = end;
    ok = add_piece(machine, input, t, next, spacing, u, out);
    t = next;
    ok = ok && out->nodes < MOST_NODES;
  }
  free(u);
  if (ok)
    forget_rounding(out);
  else
    od_trajectory_free(out);
  return ok ? OD_OK : OD_NO_MEMORY;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Second rates from all samples and from every other one are alike where the motion is smooth; noise makes less of itself in the wider
// polynomial. The median of their differences leaves out single kinks of the motion, which are no noise; rows at rest have none.
static bool find_noise(od_trajectory *r) {
  enum { HALF = STENCIL / 2, LEAST = 8 };
  // With white noise, the second rate has a standard deviation 1.14 times that of the difference, which is 1.48 times the median of its size.
  static const double deviation = 1.14 * 1.4826;
  static const double digits = 1e-14;  // of the values: less than that is rounding of numbers, not of samples
  double *apart = malloc((size_t)r->nodes * sizeof *apart), rate, second, largest = 0;
  double spacing = (r->t[r->nodes - 1] - r->t[0]) / (r->nodes - 1);
  int count = 0;
  if (!apart) return false;
  for (int i = 0; i < r->nodes; i++) largest = fmax(largest, fabs(r->value[i]));
  for (int i = 2 * HALF; i + 2 * HALF < r->nodes; i++) {
    differentiate_through(r->t + i - 2 * HALF, r->value + i - 2 * HALF, STENCIL, 2, r->t[i], &rate, &second);
    if (second != r->second[i]) apart[count++] = fabs(second - r->second[i]);
  }
  if (count >= LEAST) {
    qsort(apart, (size_t)count, sizeof *apart, by_size);
    double noise = deviation * apart[count / 2];
    if (noise > digits * largest / (spacing * spacing)) r->noise = noise;
  }
  free(apart);
  return true;
}

od_status od_trajectory_of_samples(const double *t, const double *value, long rows, od_trajectory *out) {
  *out = (od_trajectory){0};
  if (rows < 3 || rows > MOST_NODES) return OD_BAD_INPUT;
  for (long i = 0; i < rows; i++)
    if (!add_node(out, t[i], value[i], 0)) {
      od_trajectory_free(out);
      return OD_NO_MEMORY;
    }
  for (int i = 0; i < out->nodes; i++)
    differentiate(out->t, out->value, 0, out->nodes - 1, i, &out->rate[i], &out->second[i]);
  if (find_noise(out)) return OD_OK;
  od_trajectory_free(out);
  return OD_NO_MEMORY;
}

void od_trajectory_free(od_trajectory *r) {
  free(r->t);
  free(r->value);
  free(r->rate);
  free(r->second);
  *r = (od_trajectory){0};
}

void od_trajectory_at(const od_trajectory *r, double t, double out[3]) {
  int low = 0, high = r->nodes - 1;
  if (!(t >= r->t[0]) || t > r->t[high]) {
    out[0] = t > r->t[high] ? r->value[high] : r->value[0];
    out[1] = out[2] = 0;
    return;
  }
  while (low < high) {  // the last node at or before t
    int middle = (low + high + 1) / 2;
    if (r->t[middle] <= t)
      low = middle;
    else
      high = middle - 1;
  }
  double h = low + 1 < r->nodes ? r->t[low + 1] - r->t[low] : 0, s = h > 0 ? (t - r->t[low]) / h : 0;
  double a0 = r->value[low], a1 = h * r->rate[low], a2 = h * h * r->second[low] / 2;
  if (!(h > 0)) {
    out[0] = a0, out[1] = r->rate[low], out[2] = r->second[low];
    return;
  }
  // What is missing at the next node decides the three higher powers.
  double d0 = r->value[low + 1] - a0 - a1 - a2, d1 = h * r->rate[low + 1] - a1 - 2 * a2,
         d2 = h * h * r->second[low + 1] - 2 * a2;
  double a3 = 10 * d0 - 4 * d1 + d2 / 2, a4 = -15 * d0 + 7 * d1 - d2, a5 = 6 * d0 - 3 * d1 + d2 / 2;
  out[0] = a0 + s * (a1 + s * (a2 + s * (a3 + s * (a4 + s * a5))));
  out[1] = (a1 + s * (2 * a2 + s * (3 * a3 + s * (4 * a4 + s * 5 * a5)))) / h;
  out[2] = (2 * a2 + s * (6 * a3 + s * (12 * a4 + s * 20 * a5))) / (h * h);
}
