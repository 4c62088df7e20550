// Events within a step: finds where a mode switches, and whether a step passes several knots of laws.
//
// The values and rates of a guard are known at both ends of a step. These values show whether the guard may have crossed zero
// twice in between. A step that passed a switch is taken again with other lengths, until two nearly equal lengths enclose the
// switch.
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "integrate/sim_block.h"

enum {
  TRIALS = 50,     // largest number of steps in the search for a switch; at least every second step halves the interval
  MOST_DIPS = 4,   // largest number of guards that are evaluated between the ends of a step
  MOST_KNOTS = 64  // largest number of crossings that are counted in a step
};
static const double resolution = 1e-7;       // resolution of the time of a switch, relative to the step
static const double difference_step = 1e-4;  // time difference of difference quotients of guards, relative to the step
static const double same_time = 1e-9;        // crossings at times closer than this, relative to the step, count as
                                             // simultaneous

// Sets the guards of held jumps to exactly zero, to remove round-off.
static void zero_held(od_sim *s, double *guard) {
  for (int j = 0; s->holding && j < od_sim_jumps(s); j++)
    if (!isnan(od_sim_at(s, s->held)[j])) guard[s->plant->jump_guard[j]] = 0;
}

od_status od_sim_guards(od_sim *s, double *guard) {
  od_status status = od_sim_refresh(s);
  if (status != OD_OK || !s->plant->ops->guards) return status;
  status = s->plant->ops->guards(s->plant, od_sim_work(s), guard);
  zero_held(s, guard);
  return status;
}

od_status od_sim_margin(od_sim *s, double *margin) {
  double *guard = od_sim_at(s, s->guards);
  *margin = INFINITY;
  if (!s->started) return OD_BAD_ARGUMENT;
  if (s->plant->margins == 0) return OD_OK;
  od_status status = od_sim_guards(s, guard);
  for (int i = 0; i < s->plant->margins; i++) *margin = fmin(*margin, guard[i]);
  return status;
}

// ---- memory

// Memory of a search: guards and their rates at both ends of a step; guards at trial points; inputs at the end of the step and at
// any point; a state.
typedef struct memory {
  double *low, *low_rate, *high, *high_rate, *at_low, *at_high, *trial, *u_end, *u, *x;
} memory;

size_t od_event_doubles(const od_plant *plant) {
  return 7 * (size_t)od_plant_guards(plant) + 2 * (size_t)plant->nu + (size_t)od_plant_nx(plant) + 1;
}

static memory memory_of(const od_sim *s, const od_event_search *q) {
  int n = od_plant_guards(s->plant);
  memory m = {.low = q->memory};
  m.low_rate = m.low + n;
  m.high = m.low_rate + n;
  m.high_rate = m.high + n;
  m.at_low = m.high_rate + n;
  m.at_high = m.at_low + n;
  m.trial = m.at_high + n;
  m.u_end = m.trial + n;
  m.u = m.u_end + s->plant->nu;
  m.x = m.u + s->plant->nu;
  return m;
}

// ---- guards and their rates

static void inputs_aside(const od_sim *s, const od_event_search *q, double t, double *u) {
  if (q->inputs)
    q->inputs(q->user, t, u);
  else
    memcpy(u, od_sim_inputs(s), (size_t)s->plant->nu * sizeof *u);
}

// Computes the guards at the current point, and their rates from the difference to a point dt later (dt > 0) or
// earlier. If that point cannot be evaluated, the rates are zero.
static od_status find_guards(od_sim *s, const od_event_search *q, double dt, double *guard, double *rate) {
  const od_plant *plant = s->plant;
  const memory m = memory_of(s, q);
  const double *x = od_sim_state(s), *k = od_sim_rates(s);
  int n = od_plant_guards(plant), nz = plant->nz, nx = od_plant_nx(plant);
  for (int i = 0; i < nx; i++) m.x[i] = x[i] + dt * (i < nz ? x[nz + i] : k[i - nz]);
  inputs_aside(s, q, s->t + dt, m.u);
  s->counts.residuals++;
  s->at_point = 0;
  od_status status = plant->ops->residual(plant, od_sim_work(s), s->t + dt, m.x, k, m.u, od_sim_at(s, s->g));
  if (status == OD_OK) status = plant->ops->guards(plant, od_sim_work(s), rate);
  if (status != OD_OK) od_sim_settle(s, status);
  bool known = status == OD_OK;
  status = od_sim_guards(s, guard);
  for (int i = 0; i < n; i++) rate[i] = known ? (rate[i] - guard[i]) / dt : 0;
  zero_held(s, rate);
  return status;
}

// Returns the time difference dt for the rates of guards in steps of about the length h, s. The difference exceeds the
// round-off of the time.
static double distance_aside(const od_sim *s, double h) {
  return fmax(difference_step * h, 1e-10 * fabs(s->t));
}

od_status od_sim_begin_events(od_sim *s, const od_event_search *q, bool continues) {
  const memory m = memory_of(s, q);
  int n = od_plant_guards(s->plant);
  if (!s->started) return OD_BAD_ARGUMENT;
  od_status status = OD_OK;
  if (n > 0 && continues) {
    memcpy(m.low, m.high, (size_t)n * sizeof *m.low);
    memcpy(m.low_rate, m.high_rate, (size_t)n * sizeof *m.low_rate);
  } else if (n > 0) {
    double h = s->last_step > 0 ? s->last_step : 1e-3;
    status = find_guards(s, q, distance_aside(s, h), m.low, m.low_rate);
  }
  memcpy(q->before, s, s->size);
  return status;
}

od_status od_sim_end_events(od_sim *s, const od_event_search *q, double h) {
  const memory m = memory_of(s, q);
  return od_plant_guards(s->plant) > 0 ? find_guards(s, q, -distance_aside(s, h), m.high, m.high_rate) : OD_OK;
}

// ---- dips: guards that may have crossed a level twice

// Returns whether a guard may have crossed `level` twice. The guard must be on the same side of the level at both ends.
// A guard on this side may have crossed twice if the tangents at both ends meet beyond the level. *at receives the time
// at which the tangents meet.
static bool may_dip(double low, double low_rate, double high, double high_rate, double level, double h, double *at) {
  double sign = low > level ? 1 : -1, fall = sign * low_rate, rise = sign * high_rate;
  if (!(sign * (high - level) > 0) || !(fall < 0) || !(rise > 0)) return false;
  *at = (sign * (high - low) - rise * h) / (fall - rise);
  return *at > 0 && *at < h && sign * (low - level) + fall * *at <= 0;
}

// Returns the time of the extreme value of the cubic with these values and rates at both ends; h / 2 if there is none.
static double cubic_extreme(double low, double low_rate, double high, double high_rate, double h) {
  // The derivative of the cubic is a + b s + c s^2 in s = t/h.
  double a = low_rate, d = (high - low) / h, b = 6 * d - 4 * low_rate - 2 * high_rate,
         c = 3 * (low_rate + high_rate) - 6 * d;
  double root = b * b - 4 * a * c;
  if (!(root >= 0)) return 0.5 * h;
  // Chooses the root of the derivative within the step. The form of the roots avoids cancellation.
  double q = -0.5 * (b + copysign(sqrt(root), b)), first = c != 0 ? q / c : -1, second = q != 0 ? a / q : -1;
  double s = first > 0 && first < 1 ? first : second;
  return (s > 0 && s < 1 ? s : 0.5) * h;
}

// ---- switches

// Takes a step of length h from the copy `before`. end: the length of the whole step, to whose end the inputs are
// known. Fails with a status of od_sim_step().
static od_status try_step(od_sim *s, const od_event_search *q, double end, double h) {
  int nu = s->plant->nu;
  const memory m = memory_of(s, q);
  memcpy(s, q->before, s->size);
  double t = s->t, *inside = od_sim_at(s, s->inside);
  const double *u0 = od_sim_inputs(s);
  for (int i = 0; i < nu; i++) m.u[i] = h < end ? u0[i] + h / end * (m.u_end[i] - u0[i]) : m.u_end[i];
  if (h < end && q->inputs && nu) q->inputs(q->user, t + h, m.u);
  if (!q->inputs) return od_sim_step(s, h, m.u);
  for (int k = 0; k < s->integrator->inside_count && nu; k++)
    q->inputs(q->user, t + s->integrator->inside[k] * h, inside + k * nu);
  return od_sim_step_within(s, h, inside, m.u);
}

// Returns whether a switch is due: a margin that was positive before the step is no longer positive.
static bool is_due(const od_plant *plant, const memory *m, const double *guard) {
  for (int i = 0; i < plant->margins; i++)
    if (m->low[i] > 0 && !(guard[i] > 0)) return true;
  return false;
}

// Searches for a step length at which a switch is due, if margins may have dipped below zero between the ends. *high receives this
// length; *found: whether a length was found. Fails with a status of od_sim_step().
static od_status find_dip(od_sim *s, const od_event_search *q, double h, double *high, bool *found) {
  const od_plant *plant = s->plant;
  const memory m = memory_of(s, q);
  int looked_at = 0;
  for (int i = 0; i < plant->margins && looked_at < MOST_DIPS; i++) {
    double at[2];
    if (!may_dip(m.low[i], m.low_rate[i], m.high[i], m.high_rate[i], 0, h, &at[1])) continue;
    looked_at++;
    at[0] = cubic_extreme(m.low[i], m.low_rate[i], m.high[i], m.high_rate[i], h);
    for (int k = 0; k < 2; k++) {
      od_status status = try_step(s, q, h, at[k]);
      if (status == OD_OK) status = od_sim_guards(s, m.at_high);
      if (status != OD_OK) return status;
      if (!is_due(plant, &m, m.at_high)) continue;
      *high = at[k];
      *found = true;
      return OD_OK;
    }
  }
  return OD_OK;
}

// Returns the first crossing between two lengths, as a fraction of their distance, from straight lines through the margins at
// both lengths.
static double first_crossing(const od_plant *plant, const memory *m) {
  double first = 1;
  for (int i = 0; i < plant->margins; i++)
    if (m->low[i] > 0 && !(m->at_high[i] > 0)) first = fmin(first, m->at_low[i] / (m->at_low[i] - m->at_high[i]));
  return first;
}

// Narrows the interval from `low`, where no switch is due, to `high`, where a switch is due. The last step taken ends just
// after the first switch; *taken receives its length. Fails with a status of od_sim_step().
static od_status close_in(od_sim *s, const od_event_search *q, double h, double low, double high, double *taken) {
  const od_plant *plant = s->plant;
  const memory m = memory_of(s, q);
  size_t bytes = (size_t)plant->margins * sizeof(double);
  double at = NAN;
  bool halve = false;
  memcpy(m.at_low, m.low, bytes);
  for (int i = 0; i < TRIALS && high - low > resolution * h; i++) {
    // Takes a secant step that ends slightly beyond the zero, as seen from the nearer end, so that the farther end approaches the
    // zero. Bisects after a secant step that did not halve the interval.
    double width = high - low, zero = first_crossing(plant, &m);
    double part = halve ? 0.5 : zero < 0.5 ? 1.1 * zero : 1 - 1.1 * (1 - zero);
    at = low + fmin(fmax(part, 1e-3), 1 - 1e-3) * width;
    od_status status = try_step(s, q, h, at);
    if (status == OD_OK) status = od_sim_guards(s, m.trial);
    if (status != OD_OK) return status;
    bool due = is_due(plant, &m, m.trial);
    *(due ? &high : &low) = at;
    memcpy(due ? m.at_high : m.at_low, m.trial, bytes);
    halve = high - low > 0.5 * width;
  }
  *taken = high;
  return at == high ? OD_OK : try_step(s, q, h, high);
}

// Checks the step of length h just taken. If a switch is due in the step, takes the step again, up to just after the first
// switch. *taken receives the length of the step if it becomes shorter. Fails with a status of od_sim_step().
static od_status find_switch(od_sim *s, const od_event_search *q, double h, double *taken) {
  const memory m = memory_of(s, q);
  bool found = is_due(s->plant, &m, m.high);
  double high = h;
  if (s->plant->nu) memcpy(m.u_end, od_sim_inputs(s), (size_t)s->plant->nu * sizeof *m.u_end);
  memcpy(q->after, s, s->size);
  memcpy(m.at_high, m.high, (size_t)s->plant->margins * sizeof *m.high);
  if (!found) {
    od_status status = find_dip(s, q, h, &high, &found);
    if (status != OD_OK) return status;
  }
  if (found) return close_in(s, q, h, 0, high, taken);
  memcpy(s, q->after, s->size);
  return OD_OK;
}

// ---- knots

typedef struct crossings {
  double first, second;  // times
  int count;
} crossings;

// Counts a crossing at time `at` (s after the beginning of the step), and keeps the first two times.
static void add_crossing(crossings *c, double at, double h) {
  if (!(at >= 0) || c->count >= MOST_KNOTS) return;
  at = fmin(at, h);
  c->count++;
  if (at < c->first) {
    if (c->first - at > same_time * h) c->second = c->first;
    c->first = at;
  } else if (at < c->second && at - c->first > same_time * h) {
    c->second = at;
  }
}

// Adds the crossings of a level by guard i, including two crossings where the guard may dip beyond the level.
static void add_level(crossings *c, const memory *m, int i, double level, double h) {
  double at, low = m->low[i], high = m->high[i];
  if ((low >= level) != (high >= level)) {
    add_crossing(c, h * (level - low) / (high - low), h);
  } else if (may_dip(low, m->low_rate[i], high, m->high_rate[i], level, h, &at)) {
    add_crossing(c, 0.5 * at, h);
    add_crossing(c, 0.5 * (at + h), h);
  }
}

double od_sim_knot_step(const od_sim *s, const od_event_search *q, double h) {
  const od_plant *plant = s->plant;
  const memory m = memory_of(s, q);
  crossings c = {INFINITY, INFINITY, 0};
  int zeros = plant->margins + plant->zeros;
  for (int i = plant->margins; i < zeros; i++) add_level(&c, &m, i, 0, h);
  for (int k = 0; k < plant->scales; k++) {
    int i = zeros + k;
    double low = fmin(m.low[i], m.high[i]), high = fmax(m.low[i], m.high[i]);
    int from = (int)fmin(fmax(floor(low), 0), plant->scale_knots[k] - 1);
    int to = (int)fmin(fmax(ceil(high), 0), plant->scale_knots[k] - 1);
    for (int knot = from; knot <= to; knot++) add_level(&c, &m, i, knot, h);
  }
  return c.second < h ? 0.5 * (c.first + c.second) : h;
}

od_status od_sim_find_switch(od_sim *s, const od_event_search *q, double h, double *taken) {
  *taken = h;
  if (s->plant->margins == 0) return OD_OK;
  od_status status = find_switch(s, q, h, taken);
  if (status != OD_OK) memcpy(s, q->before, s->size), *taken = 0;
  return status;
}

// ---- dense output

// Returns the value at s of the cubic with these values and slopes at both ends.
static double cubic(double a, double slope_a, double b, double slope_b, double h, double s) {
  double r = 1 - s;
  return r * r * ((1 + 2 * s) * a + s * h * slope_a) + s * s * ((1 + 2 * r) * b - r * h * slope_b);
}

od_status od_sim_interpolate(od_sim *between, const od_sim *before, const od_sim *after, double t, const double *u) {
  const od_plant *plant = after->plant;
  int nz = plant->nz, nx = od_plant_nx(plant);
  double h = after->t - before->t, s = (t - before->t) / h;
  od_sim *from = (od_sim *)before, *to = (od_sim *)after;  // read only
  const double *x0 = od_sim_state(before), *x1 = od_sim_state(after), *k0 = od_sim_rates(before),
               *k1 = od_sim_rates(after);
  memcpy(between, after, after->size);
  double *x = od_sim_at(between, between->x_next), *energy = od_sim_at(between, between->energy);
  for (int i = 0; i < nx; i++)
    x[i] =
        i < nz ? cubic(x0[i], x0[nz + i], x1[i], x1[nz + i], h, s) : cubic(x0[i], k0[i - nz], x1[i], k1[i - nz], h, s);
  for (int i = 0; i < plant->nq; i++)
    energy[i] = cubic(od_sim_at(from, from->energy)[i], od_sim_at(from, from->power)[i], od_sim_at(to, to->energy)[i],
                      od_sim_at(to, to->power)[i], h, s);
  // od_sim_set() would release held jumps. Therefore `holding` is zero during the call.
  int holding = between->holding;
  if (holding) od_sim_hold_within(between, after, t);
  between->holding = 0;
  od_status status = od_sim_set(between, t, x, u);
  between->holding = holding;
  return status;
}
