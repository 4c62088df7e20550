// Every element class, generically, at random and special states:
// - its derivatives against complex steps and against differences of sixth order;
// - its derivatives with respect to numbers, if it has them by hand, against complex steps;
// - rows of instances against each of them alone;
// - the power at its terminals against the rate of its stored energy plus its losses.
// The oracles: complex steps share only the equation; differences share only real evaluations; the power balance follows
// from pressures, flows, forces and speeds. The test also checks the table, which readers, outputs and the documentation
// use.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "support/random_instance.h"

enum { INSTANCES = 40, STATES = 40 };
static const double tiny = 1e-30;

static bool shuts_below_zero(const od_element_description *c) {
  for (int i = 0; i < c->field_count; i++)
    if (c->fields[i].follows_signal && c->fields[i].sign == OD_NOT_NEGATIVE) return true;
  return false;
}

// A scalar on which an instance depends: random, or a value at which laws change.
static double random_in(od_dice *d, const od_lone_instance *x, int slot) {
  const od_element_description *c = x->c;
  const double *q = x->w + x->pool[0];
  bool special = od_dice_pick(d, 4) == 0;
  switch (c->equations->in[slot].kind) {
    case OD_IN_PRESSURE:
      // Zero, a common value, or almost the pressure of the first slot: corners of 1 Pa.
      if (special && slot > 0 && c->equations->in[0].kind == OD_IN_PRESSURE && od_dice_pick(d, 3) == 0)
        return x->w[x->batch.in] + od_dice_uniform(d, 0, 2);
      return special ? (od_dice_pick(d, 2) ? 0 : 5e6) : od_dice_uniform(d, 0, 2e7);
    case OD_IN_LENGTH:
      if (c->reach.stroke[0] > 0)  // also beyond both ends
        return q[c->reach.closed] +
               od_element_stroke(c, q) * (special ? od_dice_uniform(d, -0.1, 0) : od_dice_uniform(d, -0.2, 1.2));
      return special ? q[od_dice_pick(d, c->field_count)] + od_dice_uniform(d, -0.1, 0.1) : od_dice_uniform(d, 0.1, 2);
    case OD_IN_SPEED: return special ? 0 : od_dice_uniform(d, -1, 1);
    case OD_IN_SIGNAL:  // a number that must not be negative may follow a negative signal: openings are then closed
      return special ? (shuts_below_zero(c) ? -0.4 : 0) : od_dice_uniform(d, 0, 1.5);
    case OD_IN_STATE: {  // around its typical size
      const od_element_state *state = &c->states[c->equations->in[slot].index];
      double size = state->scale > 0 ? state->scale : q[state->scale_field];
      return special ? size * (od_dice_pick(d, 2) ? 0 : od_dice_uniform(d, 0, 2e-3))
                     : size * od_dice_uniform(d, -1.2, 1.2);
    }
    default: return special ? 0 : od_dice_uniform(d, -1.5, 1.5);
  }
}

// A random instance. Some of the numbers that may be zero are zero, because laws then have other branches. Friction without any
// force is not tested.
static od_lone_instance random_instance(od_dice *d, const od_element_description *c) {
  od_lone_instance x = od_random_instance(d, c);
  double *q = x.w + x.pool[0];
  for (int i = 0; c->section && i < c->field_count && i < x.numbers; i++)
    if (c->fields[i].sign == OD_NOT_NEGATIVE && od_dice_pick(d, 4) == 0) q[i] = 0;
  for (int i = 0; i < c->rule_count; i++)
    if (c->rules[i].greater < x.numbers && c->rules[i].smaller < x.numbers &&
        !od_element_rule_holds(&c->rules[i], q[c->rules[i].greater], q[c->rules[i].smaller]))
      return od_random_instance(d, c);
  return x;
}

static void evaluate(const od_lone_instance *x, const double complex *in, int number, double complex *out) {
  double complex w[OD_INSTANCE_SCALARS];
  for (int i = 0; i < OD_INSTANCE_SCALARS; i++) w[i] = x->w[i];
  for (int i = 0; i < x->c->equations->kept; i++) w[x->batch.kept + i] = 0;
  for (int i = 0; i < x->c->equations->ins; i++) w[x->batch.in + i] = in[i];
  if (number >= OD_NUMBER_OF_OIL)
    w[number - OD_NUMBER_OF_OIL] += tiny * I;
  else if (number >= OD_NUMBER_OF_HOST)
    w[x->pool[1] + number - OD_NUMBER_OF_HOST] += tiny * I;
  else if (number >= 0)
    w[x->pool[0] + number] += tiny * I;
  x->c->equations->evaluate_complex(&x->batch, x->pool, w);
  x->c->equations->report_complex(&x->batch, x->pool, w);
  for (int i = 0; i < x->c->equations->outs; i++) out[i] = w[x->batch.out + i];
  for (int i = 0; i < x->c->equations->reports; i++) out[x->c->equations->outs + i] = w[x->batch.report + i];
}

// A real evaluation with one `in` changed.
static void moved(const od_lone_instance *x, int slot, double by, double *out) {
  od_lone_instance y = *x;
  for (int i = 0; i < x->c->equations->kept; i++) y.w[y.batch.kept + i] = 0;
  y.w[y.batch.in + slot] += by;
  y.c->equations->evaluate(&y.batch, y.pool, y.w);
  memcpy(out, y.w + y.batch.out, (size_t)x->c->equations->outs * sizeof *out);
}

// Below 1e-250 the imaginary part of a complex step underflows.
static bool is_near(double a, double b, double scale, double tolerance) {
  return fabs(a - b) <= tolerance * (fabs(a) + fabs(b)) + 1e-13 * scale + 1e-250;
}

static void check_slopes(const od_lone_instance *x) {
  const od_element_description *c = x->c;
  od_lone_instance y = *x;
  c->equations->slopes(&y.batch, y.pool, y.w);
  for (int j = 0; j < c->equations->ins; j++) {
    double complex in[OD_MOST_IN], out[OD_MOST_OUT + OD_MOST_REPORTS];
    double value = x->w[x->batch.in + j],
           h = 2e-3 * (fabs(value) + (c->equations->in[j].kind == OD_IN_PRESSURE ? 1e4 : 1e-2));
    double side[6][OD_MOST_OUT];
    for (int i = 0; i < c->equations->ins; i++) in[i] = x->w[x->batch.in + i] + (i == j ? tiny * I : 0);
    evaluate(x, in, -1, out);
    for (int k = 0; k < 6; k++) moved(x, j, h * (k < 3 ? k - 3 : k - 2), side[k]);
    for (int k = 0; k < c->equations->outs; k++) {
      double step = cimag(out[k]) / tiny, size = fabs(x->w[x->batch.out + k]) / (fabs(value) + 1e-3);
      // Flows cancel in sums and differences: round-off is relative to the largest slope of the same kind.
      for (int n = 0; n < c->equations->outs; n++)
        if (c->equations->out[n].kind == c->equations->out[k].kind) size = fmax(size, fabs(cimag(out[n])) / tiny);
      for (int n = 0; n < c->equations->ins; n++)
        if (c->equations->in[n].kind == c->equations->in[j].kind)
          size = fmax(size, fabs(y.w[y.batch.slope + k * c->equations->ins + n]));
      double far =
          (side[5][k] - side[0][k] - 9 * (side[4][k] - side[1][k]) + 45 * (side[3][k] - side[2][k])) / (60 * h);
      // Differences across a corner mix both sides: if smaller differences disagree, they are not used.
      double near_by = (side[3][k] - side[2][k]) / (2 * h), centre = x->w[x->batch.out + k];
      double after = (side[3][k] - centre) / h, before = (centre - side[2][k]) / h;
      // Differences that are not due to a jump of the slope grow with the distance.
      double jump = after - before, wide = (side[4][k] - centre) / (2 * h) - (centre - side[1][k]) / (2 * h);
      bool corner = fabs(jump) > 1e-6 * (fabs(after) + fabs(before)) && fabs(wide - 2 * jump) > fabs(jump) / 50;
      // Where a power of |value| has no derivative, errors of central differences do not fall with the square of the
      // distance.
      double wider = (side[4][k] - side[1][k]) / (4 * h), widest = (side[5][k] - side[0][k]) / (6 * h);
      double bend = (wider - near_by) / 3, far_bend = (widest - near_by) / 8;
      bool even = fabs(bend - far_bend) <= 0.05 * (fabs(bend) + fabs(far_bend)) + 1e-7 * fabs(near_by);
      bool smooth = !corner && even && fabs(far - near_by) <= 1e-4 * (fabs(far) + fabs(near_by)) &&
                    fabs(after - before) <= 0.1 * (fabs(after) + fabs(before));
      if (smooth && !is_near(far, step, 1e3 * size, 1e-4))
        fail_msg("%s: out %d by in %d: complex step %.12g, differences %.12g", c->equations->name, k, j, step, far);
      if (!is_near(y.w[y.batch.slope + k * c->equations->ins + j], step, size, 1e-10))
        fail_msg("%s: out %d by in %d: by hand %.15g, complex step %.15g", c->equations->name, k, j,
                 y.w[y.batch.slope + k * c->equations->ins + j], step);
    }
  }
}

static void check_number_slopes(const od_lone_instance *x) {
  const od_element_description *c = x->c;
  od_lone_instance y = *x;
  double complex in[OD_MOST_IN], out[OD_MOST_OUT + OD_MOST_REPORTS];
  if (!c->equations->number_slopes) return;
  int hosts = c->host ? c->host->field_count : 0;
  for (int i = 0; i < c->equations->ins; i++) in[i] = x->w[x->batch.in + i];
  for (int n = 0; n < x->numbers + hosts + OD_OIL_STATES; n++) {
    int number = n < x->numbers           ? n
                 : n < x->numbers + hosts ? OD_NUMBER_OF_HOST + n - x->numbers
                                          : OD_NUMBER_OF_OIL + n - x->numbers - hosts;
    double dout[OD_MOST_OUT] = {0};
    evaluate(x, in, number, out);
    bool any = c->equations->number_slopes(&y.batch, y.pool, y.w, 0, &number, 1, dout);
    for (int k = 0; k < c->equations->outs; k++) {
      double step = cimag(out[k]) / tiny;
      if (c->equations->out[k].kind != OD_TO_NOTHING &&
          !is_near(any ? dout[k] : 0, step, 1e-3 * fabs(x->w[x->batch.out + k]), 1e-9))
        fail_msg("%s: out %d by number %d: by hand %.15g, complex step %.15g", c->equations->name, k, n,
                 any ? dout[k] : 0, step);
    }
  }
}

// Power into the element at its terminals, and external power, = d stored / dt + loss.
static void check_power(const od_lone_instance *x) {
  const od_element_description *c = x->c;
  const double *in = x->w + x->batch.in, *out = x->w + x->batch.out;
  double pressure[OD_MOST_ENDS] = {0}, speed = 0, power = 0, size = 0;
  double complex moving[OD_MOST_IN], reported[OD_MOST_OUT + OD_MOST_REPORTS];
  for (int j = 0; j < c->equations->ins; j++) {
    if (c->equations->in[j].kind == OD_IN_PRESSURE) pressure[c->equations->in[j].index] = in[j];
    if (c->equations->in[j].kind == OD_IN_SPEED) speed = in[j];
  }
  for (int k = 0; k < c->equations->outs; k++) {
    od_out_slot slot = c->equations->out[k];
    double part = slot.kind == OD_TO_THROUGH ? out[k] * (pressure[0] - pressure[1])
                  : slot.kind == OD_TO_END   ? -out[k] * pressure[slot.index]
                  : slot.kind == OD_TO_FORCE ? -out[k] * speed
                                             : 0;
    power += part, size += fabs(part);
  }
  // The stored energy depends on length and states; pressures and signals store nothing.
  for (int j = 0; j < c->equations->ins; j++) {
    double rate = c->equations->in[j].kind == OD_IN_LENGTH ? speed : 0;
    for (int k = 0; c->equations->in[j].kind == OD_IN_STATE && k < c->equations->outs; k++)
      if (c->equations->out[k].kind == OD_TO_RATE && c->equations->out[k].index == c->equations->in[j].index)
        rate = out[k];
    moving[j] = in[j] + rate * tiny * I;
  }
  evaluate(x, moving, -1, reported);
  double stored = cimag(reported[c->equations->outs + OD_REPORT_STORED]) / tiny,
         loss = creal(reported[c->equations->outs + OD_REPORT_LOSS]);
  if (c->equations->supply)
    power += creal(reported[c->equations->outs + c->equations->supply]),
        size += fabs(creal(reported[c->equations->outs + c->equations->supply]));
  size += fabs(stored) + fabs(loss) + 1e-30;  // at rest: squares of the imaginary step
  if (!(fabs(power - stored - loss) <= 1e-10 * size))
    fail_msg("%s: power %.12g at the terminals, but %.12g stored and %.12g lost", c->equations->name, power, stored,
             loss);
  if (!((c->equations->supplies && !c->equations->supply) || c->may_supply || loss >= -1e-10 * size))
    fail_msg("%s: loses %.12g", c->equations->name, loss);
}

// A due switch happens once: with the states after it, no switch is due. It changes only the element's own states.
static void check_switch(const od_lone_instance *x) {
  const od_element_description *c = x->c;
  od_lone_instance y = *x;
  double next[OD_MOST_ELEMENT_STATES];
  if (!c->equations->margin || c->equations->margin(&y.batch, y.pool, y.w, 0) > 0) return;
  c->equations->switch_mode(&y.batch, y.pool, y.w, 0, next);
  for (int j = 0; j < c->equations->ins; j++)
    if (c->equations->in[j].kind == OD_IN_STATE) y.w[y.batch.in + j] = next[c->equations->in[j].index];
  double margin = c->equations->margin(&y.batch, y.pool, y.w, 0);
  if (!(margin > 0)) fail_msg("%s: after a switch the next one is due, by %.9g", c->equations->name, margin);
}

static void test_equations(void **state) {
  (void)state;
  for (int i = 0; i < od_element_class_count(); i++) {
    od_dice dice = {od_dice_seed(od_element_class_at(i)->name)};  // separate: a new class does not change the others
    for (int k = 0; k < INSTANCES; k++) {
      od_lone_instance x = random_instance(&dice, od_element_description_at(i));
      for (int n = 0; n < STATES; n++) {
        for (int j = 0; j < x.c->equations->ins; j++) x.w[x.batch.in + j] = random_in(&dice, &x, j);
        x.c->equations->evaluate(&x.batch, x.pool, x.w);
        check_slopes(&x);
        check_number_slopes(&x);
        check_power(&x);
        check_switch(&x);
      }
    }
  }
}

// ---- rows of instances

enum { PAIR_SCALARS = 1024 };

// Two instances as one row: common oil, separate numbers and choices, inputs and results one after the other.
typedef struct pair {
  double w[PAIR_SCALARS];
  int pool[2 * OD_INSTANCE_POOL];
  od_batch batch;
} pair;
static pair pair_of(const od_lone_instance *one, const od_lone_instance *other) {
  const od_element_description *c = one->c;
  const od_lone_instance *x[2] = {one, other};
  int end = OD_OIL_STATES;
  pair p = {
      .batch = {
          .count = 2, .kept_scalars = c->equations->kept, .choices = c->equations->choices, .host = 2, .choice = 4}};
  memcpy(p.w, one->w + one->batch.oil, OD_OIL_STATES * sizeof *p.w);
  for (int i = 0; i < 2; i++) {
    p.pool[i] = end, end += x[i]->numbers;
    p.pool[2 + i] = end, end += OD_MOST_ELEMENT_FIELDS;
    memcpy(p.w + p.pool[i], x[i]->w + x[i]->pool[0], (size_t)x[i]->numbers * sizeof *p.w);
    memcpy(p.w + p.pool[2 + i], x[i]->w + x[i]->pool[1], OD_MOST_ELEMENT_FIELDS * sizeof *p.w);
    memcpy(p.pool + 4 + i * c->equations->choices, x[i]->pool + 2, (size_t)c->equations->choices * sizeof *p.pool);
  }
  if (c->formula_key) {
    int at = 4 + 2 * OD_MOST_ELEMENT_CHOICES, next = at + 6;
    p.batch.formula = at, p.batch.operations = at + 2, p.batch.held = at + 4;
    for (int i = 0; i < 2; i++) {
      p.pool[at + i] = next, p.pool[at + 2 + i] = x[i]->formula->count;
      p.pool[at + 4 + i] = end, end += od_formula_jumps(x[i]->formula);
      next = od_pool_formula(p.pool, next, x[i]->formula);
    }
  }
  p.batch.in = end, end += 2 * c->equations->ins;
  p.batch.out = end, end += 2 * c->equations->outs;
  p.batch.report = end, end += 2 * c->equations->reports;
  p.batch.kept = end, end += 2 * c->equations->kept;
  p.batch.slope = end, end += 2 * c->equations->ins * c->equations->outs;
  assert_true(end <= PAIR_SCALARS);
  for (int i = 0; i < 2; i++)
    memcpy(p.w + p.batch.in + i * c->equations->ins, x[i]->w + x[i]->batch.in, (size_t)c->equations->ins * sizeof *p.w);
  return p;
}

static void same(const od_element_description *c, const char *what, const double *row, const double *alone, int count) {
  for (int k = 0; k < count; k++)
    if (!(row[k] == alone[k]))
      fail_msg("%s: %s %d is %.15g in a row of two, %.15g alone", c->equations->name, what, k, row[k], alone[k]);
}

// Instances in a row give the same bits as each instance alone, in real and complex numbers.
static void check_pair(od_lone_instance *one, od_lone_instance *other) {
  const od_element_description *c = one->c;
  pair p = pair_of(one, other);
  double complex w[PAIR_SCALARS];
  c->equations->evaluate(&p.batch, p.pool, p.w);
  c->equations->report(&p.batch, p.pool, p.w);
  c->equations->slopes(&p.batch, p.pool, p.w);
  for (int i = 0; i < PAIR_SCALARS; i++) w[i] = p.w[i];
  c->equations->evaluate_complex(&p.batch, p.pool, w);
  c->equations->report_complex(&p.batch, p.pool, w);
  for (int i = 0; i < 2; i++) {
    od_lone_instance *x = i ? other : one;
    const double *out = x->w + x->batch.out, *report = x->w + x->batch.report;
    c->equations->evaluate(&x->batch, x->pool, x->w);
    c->equations->report(&x->batch, x->pool, x->w);
    c->equations->slopes(&x->batch, x->pool, x->w);
    same(c, "out", p.w + p.batch.out + i * c->equations->outs, out, c->equations->outs);
    same(c, "report", p.w + p.batch.report + i * c->equations->reports, report, c->equations->reports);
    same(c, "slope", p.w + p.batch.slope + i * c->equations->ins * c->equations->outs, x->w + x->batch.slope,
         c->equations->ins * c->equations->outs);
    for (int k = 0; k < c->equations->outs; k++)
      near_scaled(creal(w[p.batch.out + i * c->equations->outs + k]), out[k], 1e-9, 1e-6 + fabs(out[k]));
    for (int k = 0; k < c->equations->reports; k++)
      near_scaled(creal(w[p.batch.report + i * c->equations->reports + k]), report[k], 1e-9, 1e-6 + fabs(report[k]));
    if (c->equations->margin) {
      double alone[OD_MOST_ELEMENT_STATES] = {0}, got[OD_MOST_ELEMENT_STATES] = {0};
      assert_true(c->equations->margin(&p.batch, p.pool, p.w, i) == c->equations->margin(&x->batch, x->pool, x->w, 0));
      c->equations->switch_mode(&p.batch, p.pool, p.w, i, got);
      c->equations->switch_mode(&x->batch, x->pool, x->w, 0, alone);
      same(c, "state after a switch", got, alone, OD_MOST_ELEMENT_STATES);
    }
    if (c->equations->fill_zeros) {
      double alone[OD_MOST_OUT] = {0}, got[OD_MOST_OUT] = {0};
      assert_true(c->equations->zeros <= OD_MOST_OUT);
      c->equations->fill_zeros(&p.batch, p.pool, p.w, i, got);
      c->equations->fill_zeros(&x->batch, x->pool, x->w, 0, alone);
      same(c, "zero", got, alone, c->equations->zeros);
    }
    for (int n = 0; c->equations->number_slopes && n < x->numbers; n++) {
      double alone[OD_MOST_OUT] = {0}, got[OD_MOST_OUT] = {0};
      bool any = c->equations->number_slopes(&x->batch, x->pool, x->w, 0, &n, 1, alone);
      assert_int_equal(c->equations->number_slopes(&p.batch, p.pool, p.w, i, &n, 1, got), any);
      same(c, "slope by a number", got, alone, c->equations->outs);
    }
  }
}

static void test_rows_of_instances(void **state) {
  (void)state;
  for (int i = 0; i < od_element_class_count(); i++) {
    od_dice dice = {od_dice_seed(od_element_class_at(i)->name)};
    for (int k = 0; k < INSTANCES; k++) {
      od_lone_instance x[2];
      for (int n = 0; n < 2; n++) {
        x[n] = random_instance(&dice, od_element_description_at(i));
        for (int j = 0; j < x[n].c->equations->ins; j++) x[n].w[x[n].batch.in + j] = random_in(&dice, &x[n], j);
      }
      check_pair(&x[0], &x[1]);
    }
  }
}

// States have the name of their output: without one a linear model uses a number as the name, and `initial` has no key. A class
// with more states than outputs (modes of a line) cannot name them all.
static void check_states_are_shown(const od_element_description *c) {
  int states = 0;
  while (states < OD_MOST_ELEMENT_STATES && c->states[states].name) states++;
  for (int k = 0; k < states && states <= OD_MOST_ELEMENT_OUTPUTS; k++) {
    bool shown = false;
    for (int n = 0; n < OD_MOST_ELEMENT_OUTPUTS; n++)
      shown = shown || (c->outputs[n].shows == OD_SHOWS_STATE && c->outputs[n].index == k);
    assert_true(shown);
  }
}

// The class and its description have the same ends and states, and the same of them are optional.
static void check_class_fits_description(const od_element_description *c) {
  unsigned ends = 0, states = 0;
  int end = 0, count = 0;
  for (int i = 0; i < OD_MOST_END_KEYS && c->ends[i].key; i++)
    for (int n = 0; n < c->ends[i].count; n++, end++) ends |= c->ends[i].optional ? 1U << end : 0;
  for (; count < OD_MOST_ELEMENT_STATES && c->states[count].name; count++)
    states |= c->states[count].present_if >= 0 ? 1U << count : 0;
  assert_int_equal(od_element_class_ends(c->equations), end);
  assert_int_equal(c->equations->optional_ends, ends);
  assert_int_equal(od_element_state_count(c->equations), count);
  assert_int_equal(c->equations->optional_states, states);
  if (c->equations->end_choice) assert_true(ends >> (end - 1) == 1);
}

// Properties of the table that other code assumes.
static void test_tables(void **state) {
  (void)state;
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_description *c = od_element_description_at(i);
    print_message("%s\n", c->equations->name);
    assert_int_equal(od_element_class_find(c->equations->name), i);
    assert_true(c->summary && c->noun && c->heading && (c->section || c->inside));
    assert_true(c->equations->ins <= OD_MOST_IN && c->equations->outs <= OD_MOST_OUT &&
                c->equations->reports <= OD_MOST_REPORTS);
    assert_true(c->equations->reports >= OD_REPORT_OWN && c->equations->choices <= OD_MOST_ELEMENT_CHOICES);
    assert_true(c->equations->has_curve || c->formula_key ||
                c->equations->numbers + c->equations->optional_numbers == c->field_count);
    // An instance without its own derivatives is copied into a small buffer (hydraulics/element_slopes.c).
    assert_true(c->equations->number_slopes || c->field_count <= OD_MOST_ELEMENT_FIELDS);
    for (int k = 0; k < c->equations->ins; k++) assert_true(c->equations->in[k].kind != OD_IN_NONE);
    for (int k = 0; k < c->field_count; k++) {
      const od_element_field *f = &c->fields[k];
      const od_limits *l = &f->limits, *t = &f->turning_limits;
      assert_true(f->key && f->unit && f->meaning);
      assert_true(l->low <= l->usual_low && l->usual_low <= l->usual_high && l->usual_high <= l->high);
      assert_true(t->low <= t->usual_low && t->usual_low <= t->usual_high && t->usual_high <= t->high);
      assert_true((t->high > 0) == (f->turning_unit != NULL));
      if (!isnan(f->fallback) && l->high > 0) assert_true(f->fallback >= l->low && f->fallback <= l->high);
    }
    for (int k = 0; k < OD_MOST_ELEMENT_STATES && c->states[k].name; k++) {
      bool has_rate = false;
      for (int n = 0; n < c->equations->outs; n++)
        has_rate = has_rate || (c->equations->out[n].kind == OD_TO_RATE && c->equations->out[n].index == k);
      // A state without a rate is a mode.
      assert_true((has_rate || c->equations->margin) && c->states[k].unit);
    }
    check_class_fits_description(c);
    check_states_are_shown(c);
    assert_true(!c->equations->margin == !c->equations->switch_mode);
    bool shows_energy = false;
    for (int k = 0; k < OD_MOST_ELEMENT_OUTPUTS && c->outputs[k].shows != OD_SHOWS_NOTHING; k++)
      shows_energy = shows_energy || c->outputs[k].shows == OD_SHOWS_INTEGRAL || c->outputs[k].shows == OD_SHOWS_STATE;
    assert_true(shows_energy);
    for (int n = 0; n < i; n++)
      assert_true(!c->section || !od_element_description_at(n)->section ||
                  strcmp(c->section, od_element_description_at(n)->section) != 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables), cmocka_unit_test(test_equations),
                                     cmocka_unit_test(test_rows_of_instances)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
