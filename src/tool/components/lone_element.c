#include "components/lone_element.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"

static const double usual_pressure = 100e5, usual_length = 0.5;

// Returns the default or, for a number without a default, the middle of the usual range. The middle of a positive range is the
// geometric mean. For a range that includes zero, the result is well below the upper limit. Without a usual range, the result is 1.
static double middle(const od_element_field *f, bool without_default) {
  double low = f->limits.usual_low, high = f->limits.usual_high;
  if (!isnan(f->fallback) && !without_default) return f->fallback;
  return low > 0 ? sqrt(low * high) : high > 0 ? fmin(high / 10, sqrt(high)) : 1;
}

// Returns whether a field is in the group of fields of which at least one must be given. The defaults of these fields have no
// effect.
static bool is_one_of(const od_element_description *c, int field) {
  for (int i = 0; i < c->one_of_count; i++)
    if (c->one_of[i] == field) return true;
  return false;
}

static void set_numbers(const od_element_description *c, double *q) {
  for (int i = 0; i < c->field_count; i++) q[i] = middle(&c->fields[i], is_one_of(c, i));
  for (int i = 0; i < c->rule_count; i++) {
    const od_element_rule *r = &c->rules[i];
    if (!od_element_rule_holds(r, q[r->greater], q[r->smaller]))
      q[r->greater] = q[r->smaller] > 0 ? 1.5 * q[r->smaller] : 1;
  }
}

static void find_sizes(od_lone_element *x) {
  const od_element_description *c = x->type;
  for (int i = 0; i < c->field_count; i++) {
    double value = fabs(od_lone_element_number(x, i));
    if (strcmp(c->fields[i].unit, "Pa") == 0) x->pressure = fmax(x->pressure, value);
    if (strcmp(c->fields[i].unit, "m") != 0) continue;
    x->length = fmax(x->length, value);
    x->two_sided = x->two_sided || c->fields[i].sign == OD_ANY;
  }
  if (!(x->pressure > 0)) x->pressure = usual_pressure;
  if (!(x->length > 0)) x->length = usual_length;
  x->first_pressure = c->equations->supplies ? 0 : 2 * x->pressure;
}

// Uses typical oil: 870 kg/m3, 46 mm2/s.
bool od_lone_element_make(const od_element_description *c, od_lone_element *x) {
  int numbers = OD_OIL_STATES, in = numbers + OD_MOST_ELEMENT_FIELDS, out = in + OD_MOST_IN, report = out + OD_MOST_OUT;
  int kept = report + OD_MOST_REPORTS;
  if (c->equations->has_curve || c->formula_key || c->host || !c->section || kept + c->equations->kept > OD_LONE_WORK)
    return false;
  *x = (od_lone_element){.type = c,
                         .pool = {numbers, 0},
                         .batch = {.count = 1,
                                   .in = in,
                                   .out = out,
                                   .report = report,
                                   .kept = kept,
                                   .kept_scalars = c->equations->kept,
                                   .choices = c->equations->choices,
                                   .number = 0,
                                   .host = 1,
                                   .choice = 2}};
  x->w[OD_OIL_STATE_ROOT] = sqrt(2 / 870.0);
  x->w[OD_OIL_STATE_SMOOTHING] = 1e4;
  x->w[OD_OIL_STATE_VISCOSITY] = 870 * 46e-6;
  x->w[OD_OIL_STATE_THINNESS] = 1;
  if (c->equations->end_choice) x->pool[2] = 1;
  set_numbers(c, x->w + numbers);
  find_sizes(x);
  od_lone_element_reset(x, false);
  return true;
}

double od_lone_element_state_size(const od_lone_element *x, int state) {
  const od_element_state *s = &x->type->states[state];
  return s->scale_field < 0 || s->scale > 0 ? s->scale : fabs(od_lone_element_number(x, s->scale_field));
}

static bool has_rate(const od_element_description *c, int state) {
  for (int k = 0; k < c->equations->outs; k++)
    if (c->equations->out[k].kind == OD_TO_RATE && c->equations->out[k].index == state) return true;
  return false;
}

void od_lone_element_reset(od_lone_element *x, bool modes) {
  const od_element_description *c = x->type;
  double stroke = od_element_stroke(c, x->w + x->pool[0]), closed = od_lone_element_number(x, c->reach.closed);
  for (int i = 0; i < c->equations->ins; i++) {
    double value = 0;
    switch (c->equations->in[i].kind) {
      case OD_IN_PRESSURE: value = c->equations->in[i].index > 0 ? x->pressure : x->first_pressure; break;
      case OD_IN_LENGTH: value = stroke > 0 ? closed + stroke / 2 : x->two_sided ? 0 : x->length; break;
      case OD_IN_SIGNAL: value = 1; break;
      case OD_IN_STATE:
        value = modes && !has_rate(c, c->equations->in[i].index)
                    ? od_lone_element_state_size(x, c->equations->in[i].index)
                    : c->states[c->equations->in[i].index].initial;
        break;
      default: break;
    }
    *od_lone_element_in(x, i) = value;
  }
}

static bool is_present(const od_lone_element *x, int state) {
  const od_element_state *s = &x->type->states[state];
  return s->present_if < 0 || od_lone_element_number(x, s->present_if) > s->present_above;
}

// Sets states that follow the signal without delay, such as a spool position without a frequency, to the signal. The
// numbers of the element determine which states follow the signal.
static void follow_signal(od_lone_element *x) {
  const od_element_description *c = x->type;
  double signal = 0;
  for (int i = c->equations->ins - 1; i >= 0; i--)
    if (c->equations->in[i].kind == OD_IN_SIGNAL) signal = *od_lone_element_in(x, i);
  for (int i = 0; i < c->equations->ins; i++)
    if (c->equations->in[i].kind == OD_IN_STATE && !is_present(x, c->equations->in[i].index))
      *od_lone_element_in(x, i) = signal;
}

// States with rates: input slot of the value, output slot of the rate, and size.
typedef struct moving {
  int count, in[OD_MOST_ELEMENT_STATES], out[OD_MOST_ELEMENT_STATES];
  double size[OD_MOST_ELEMENT_STATES];
} moving;

static moving list_moving(const od_lone_element *x) {
  const od_element_description *c = x->type;
  moving m = {0};
  for (int k = 0; k < c->equations->outs; k++) {
    if (c->equations->out[k].kind != OD_TO_RATE || !is_present(x, c->equations->out[k].index)) continue;
    for (int i = 0; i < c->equations->ins && m.count < OD_MOST_ELEMENT_STATES; i++) {
      if (c->equations->in[i].kind != OD_IN_STATE || c->equations->in[i].index != c->equations->out[k].index) continue;
      m.in[m.count] = i;
      m.out[m.count] = k;
      m.size[m.count++] = od_lone_element_state_size(x, c->equations->out[k].index);
    }
  }
  return m;
}

// Computes the rates of the states relative to their sizes. Returns the largest magnitude.
static double rates(od_lone_element *x, const moving *m, double *rate) {
  double greatest = 0;
  od_lone_element_evaluate(x);
  for (int i = 0; i < m->count; i++) {
    rate[i] = od_lone_element_out(x, m->out[i]) / m->size[i];
    greatest = fmax(greatest, fabs(rate[i]));
  }
  return greatest;
}

// Takes one implicit Euler step of h seconds with one Newton iteration: (1/h - J) dx = rate. States and rates are
// divided by the sizes of the states; J contains forward differences of the rates. Returns the largest |dx|; NAN: the
// step failed.
static double relax(od_lone_element *x, const moving *m, double h, double *dx) {
  enum { N = OD_MOST_ELEMENT_STATES };
  double a[N * N], shifted[N], greatest = 0;
  int pivot[N], n = m->count;
  rates(x, m, dx);
  for (int j = 0; j < n; j++) {
    double *state = od_lone_element_in(x, m->in[j]), kept = *state;
    *state = kept + 1e-6 * m->size[j];
    rates(x, m, shifted);
    for (int i = 0; i < n; i++) a[i * n + j] = (i == j) / h - (shifted[i] - dx[i]) / 1e-6;
    *state = kept;
  }
  if (od_lu_factor(n, a, pivot) != OD_OK) return NAN;
  od_lu_solve(n, a, pivot, dx, 1);
  for (int i = 0; i < n; i++) greatest = isfinite(dx[i]) && !isnan(greatest) ? fmax(greatest, fabs(dx[i])) : NAN;
  for (int i = 0; i < n; i++) *od_lone_element_in(x, m->in[i]) += dx[i] * m->size[i];
  return greatest;
}

// Takes steps that grow from 0.1 ms to years until the states settle. With `careful`, a step that would increase the rates is
// repeated with a shorter step. Returns whether the states have settled.
static bool settle(od_lone_element *x, const moving *m, bool careful) {
  enum { STEPS = 150 };
  const double years = 1e8, rest = 1e-9;
  double moved = INFINITY, h = 1e-4, dx[OD_MOST_ELEMENT_STATES], before = rates(x, m, dx);
  for (int i = 0; i < STEPS && !isnan(moved) && !(h > years && moved < rest); i++) {
    od_lone_element kept = *x;
    moved = relax(x, m, h, dx);
    double after = rates(x, m, dx);
    bool taken = !careful || after <= before || moved < rest;
    if (taken)
      before = after;
    else
      *x = kept;
    h *= taken ? 4 : 0.125;
  }
  od_lone_element_evaluate(x);
  return moved < rest;
}

// Tries long steps first, for states far from equilibrium, then careful steps, for states with limits.
bool od_lone_element_settle(od_lone_element *x) {
  follow_signal(x);
  od_lone_element begun = *x;
  moving m = list_moving(x);
  if (m.count == 0) od_lone_element_evaluate(x);
  if (m.count == 0 || settle(x, &m, false)) return true;
  *x = begun;
  return settle(x, &m, true);
}
