// Every class of block, generically, with random choices at random and special points, continuous and sampled:
// - derivatives with respect to states and inputs against complex steps and differences of sixth order;
// - derivatives with respect to numbers, and the map of a sample along random directions, against differences of sixth order;
// - real and complex evaluations agree;
// - entries of the table: linear blocks, blocks with direct feedthrough, number of numbers.
// The oracles: differences share only real evaluations with the tested derivatives; complex steps share only the equation.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "base/formula.h"
#include "blocks/block_classes.h"
#include "support/random_block.h"

enum { BLOCKS = 60, POINTS = 20, MOST_ROWS = OD_MOST_BLOCK_OUTPUTS + OD_MOST_BLOCK_STATES, MOST_IN = 96 };
static const double tiny = 1e-30;

// A block alone: in is states, inputs, numbers; out is outputs and rates, or the states after a sample.
typedef struct lone_block {
  od_block_spec spec;
  od_block_counts n;
  double in[MOST_IN];
  double held[OD_MOST_OPERATIONS];  // values of held jumps (base/formula.h)
  bool stepping;
} lone_block;

static int count_ins(const lone_block *b) {
  return b->n.states + b->n.inputs + b->n.numbers;
}
static int count_outs(const lone_block *b) {
  return b->stepping ? b->n.states : b->n.outputs + b->n.states;
}

static void evaluate(const lone_block *b, const double *in, double *out) {
  const od_block_class *c = od_block_class_of(&b->spec);
  const double *u = in + b->n.states, *q = u + b->n.inputs;
  if (b->stepping)
    c->step(&b->spec, q, in, u, out);
  else
    c->evaluate(&b->spec, q, in, u, b->held, out, out + b->n.outputs);
}

static void evaluate_complex(const lone_block *b, const double complex *in, double complex *out) {
  const od_block_class *c = od_block_class_of(&b->spec);
  const double complex *u = in + b->n.states, *q = u + b->n.inputs;
  double complex held[OD_MOST_OPERATIONS] = {0};
  for (int i = 0; i < b->n.jumps; i++) held[i] = b->held[i];
  if (b->stepping)
    c->step_complex(&b->spec, q, in, u, out);
  else
    c->evaluate_complex(&b->spec, q, in, u, held, out, out + b->n.outputs);
}

// d out / d in_j by a complex step; and the same by differences, which are not valid across a corner.
static void complex_column(const lone_block *b, int j, double *column) {
  double complex in[MOST_IN], out[MOST_ROWS];
  for (int i = 0; i < count_ins(b); i++) in[i] = b->in[i] + (i == j ? tiny * I : 0);
  evaluate_complex(b, in, out);
  double real[MOST_ROWS];
  evaluate(b, b->in, real);
  for (int i = 0; i < count_outs(b); i++) {
    column[i] = cimag(out[i]) / tiny;
    if (!(fabs(creal(out[i]) - real[i]) <= 1e-12 * (1 + fabs(real[i]))))
      fail_msg("%s: out %d is %.15g, in complex numbers %.15g", od_block_class_of(&b->spec)->type, i, real[i],
               creal(out[i]));
  }
}

static void difference_column(const lone_block *b, int j, double *column, bool *smooth) {
  double in[MOST_IN], side[7][MOST_ROWS], h = 1e-3 * (fabs(b->in[j]) + 1e-2);
  memcpy(in, b->in, sizeof in);
  for (int k = 0; k < 7; k++) {
    in[j] = b->in[j] + (k - 3) * h;
    evaluate(b, in, side[k]);
  }
  for (int i = 0; i < count_outs(b); i++) {
    column[i] = (side[6][i] - side[0][i] - 9 * (side[5][i] - side[1][i]) + 45 * (side[4][i] - side[2][i])) / (60 * h);
    // Across a corner, and where a power has no derivative, the curvatures over three distances disagree by more than
    // round-off.
    double curvature[3], rounding = 4e-15 * (fabs(side[0][i]) + fabs(side[3][i]) + fabs(side[6][i])) / (h * h);
    for (int k = 0; k < 3; k++)
      curvature[k] = (side[4 + k][i] - 2 * side[3][i] + side[2 - k][i]) / ((k + 1) * (k + 1) * h * h);
    // So do the slopes, which have only even terms.
    double slope[3];
    for (int k = 0; k < 3; k++) slope[k] = (side[4 + k][i] - side[2 - k][i]) / (2 * (k + 1) * h);
    double near_bend = (slope[1] - slope[0]) / 3, far_bend = (slope[2] - slope[0]) / 8;
    smooth[i] = fabs(near_bend - far_bend) <= 0.001 * (fabs(near_bend) + fabs(far_bend)) + rounding * h;
    for (int k = 1; k < 3; k++)
      smooth[i] = smooth[i] &&
                  fabs(curvature[k] - curvature[0]) <= 0.002 * (fabs(curvature[k]) + fabs(curvature[0])) + rounding;
  }
}

static bool is_near(double a, double b, double size, double tolerance) {
  return fabs(a - b) <= tolerance * (fabs(a) + fabs(b) + size);
}

// The core's derivatives of a block: rows of out, columns of in.
static void core_slopes(const lone_block *b, double (*slope)[MOST_IN]) {
  const double *x = b->in, *u = x + b->n.states, *q = u + b->n.inputs;
  int columns = b->n.states + b->n.inputs, rows = count_outs(b);
  double by[MOST_ROWS * MOST_IN], one[MOST_ROWS];
  if (!b->stepping) od_block_slopes(&b->spec, b->n, q, x, u, b->held, by);
  for (int j = 0; j < count_ins(b); j++) {
    double dx[OD_MOST_BLOCK_STATES] = {0};
    double du[OD_MOST_BLOCK_INPUTS] = {0};
    if (j < b->n.states) dx[j] = 1;
    if (j >= b->n.states && j < columns) du[j - b->n.states] = 1;
    int number = j < columns ? -1 : j - columns;
    if (b->stepping)
      od_block_step_tangent(&b->spec, b->n, q, x, u, (od_block_direction){dx, du, number}, one);
    else if (number >= 0)
      od_block_number_slopes(&b->spec, b->n, q, x, u, b->held, number, one);
    for (int i = 0; i < rows; i++) slope[i][j] = b->stepping || number >= 0 ? one[i] : by[i * columns + j];
  }
}

static int compared;

static void check_slopes(const lone_block *b) {
  const char *type = od_block_class_of(&b->spec)->type;
  double slope[MOST_ROWS][MOST_IN], step[MOST_ROWS], far[MOST_ROWS];
  bool smooth[MOST_ROWS];
  core_slopes(b, slope);
  for (int j = 0; j < count_ins(b); j++) {
    complex_column(b, j, step);
    difference_column(b, j, far, smooth);
    for (int i = 0; i < count_outs(b); i++) {
      if (!is_near(slope[i][j], step[i], 1, 1e-12))
        fail_msg("%s: out %d by in %d is %.15g, by a complex step %.15g", type, i, j, slope[i][j], step[i]);
      if (smooth[i] && !is_near(slope[i][j], far[i], 1, 1e-6))
        fail_msg("%s: out %d by in %d is %.12g, by differences %.12g", type, i, j, slope[i][j], far[i]);
      compared += smooth[i];
    }
  }
}

// Whether an output depends on an input at the same time: by a derivative or, where it jumps, by its value.
static bool reaches(const lone_block *b) {
  double column[MOST_ROWS], here[MOST_ROWS], there[MOST_ROWS], in[MOST_IN];
  bool any = false;
  evaluate(b, b->in, here);
  for (int j = b->n.states; j < b->n.states + b->n.inputs; j++) {
    complex_column(b, j, column);
    memcpy(in, b->in, sizeof in);
    in[j] += 1;
    evaluate(b, in, there);
    int first = b->stepping ? b->n.states - 1 : 0, end = b->stepping ? b->n.states : b->n.outputs;
    for (int i = first; i < end; i++) any = any || column[i] != 0 || there[i] != here[i];
  }
  return any;
}

// A due switch happens once: with the states after it, no switch is due. Margin and states after the switch agree in real and in
// complex numbers, and their derivatives agree with differences.
static int switched;
static void check_switch(const lone_block *b, od_dice *d) {
  const od_block_class *c = od_block_class_of(&b->spec);
  if (!c->margin) return;
  lone_block at = *b;
  for (int i = 0; i < b->n.states; i++)
    if (strcmp(od_block_state_name(&b->spec, i), "mode") == 0) at.in[i] = od_dice_pick(d, 2);
  int ins = count_ins(b), n = b->n.states;
  double complex in[MOST_IN], next_complex[OD_MOST_BLOCK_STATES];
  double next[OD_MOST_BLOCK_STATES], side[2][OD_MOST_BLOCK_STATES], h = 1e-5;
  const double *u = at.in + n, *q = u + b->n.inputs;
  double margin = c->margin(&b->spec, q, at.in, u);
  c->switch_states(&b->spec, q, at.in, u, next);
  for (int j = 0; j < ins; j++) {
    for (int i = 0; i < ins; i++) in[i] = at.in[i] + (i == j ? tiny * I : 0);
    c->switch_states_complex(&b->spec, in + n + b->n.inputs, in, in + n, next_complex);
    if (j < n) continue;  // no derivatives between two modes
    lone_block moved = at;
    for (int s = 0; s < 2; s++) {
      moved.in[j] = at.in[j] + (s ? h : -h);
      c->switch_states(&b->spec, moved.in + n + b->n.inputs, moved.in, moved.in + n, side[s]);
    }
    for (int i = 0; i < n; i++)
      assert_true(is_near(cimag(next_complex[i]) / tiny, (side[1][i] - side[0][i]) / (2 * h), 1, 1e-6));
  }
  if (margin > 0) return;
  memcpy(at.in, next, (size_t)n * sizeof *next);
  double after = c->margin(&b->spec, q, at.in, u);
  if (!(after > 0)) fail_msg("%s: after a switch the next one is due, by %.9g", c->type, after);
  switched++;
}

// Sums of points give sums of results, and zero gives zero.
static bool adds_up(const lone_block *b, od_dice *d) {
  double in[3][MOST_IN], out[3][MOST_ROWS];
  for (int k = 0; k < 3; k++) memcpy(in[k], b->in, sizeof in[k]);
  for (int i = 0; i < b->n.states + b->n.inputs; i++) {
    in[0][i] = od_dice_uniform(d, -2, 2), in[1][i] = od_dice_uniform(d, -2, 2);
    in[2][i] = 2 * in[0][i] - 3 * in[1][i];
  }
  for (int k = 0; k < 3; k++) evaluate(b, in[k], out[k]);
  for (int i = 0; i < count_outs(b); i++)
    if (!is_near(2 * out[0][i] - 3 * out[1][i], out[2][i], fabs(out[0][i]) + fabs(out[1][i]), 1e-10)) return false;
  return true;
}

// Random, sometimes at points where laws change: at zero or at a number of the block. Factors are positive. Some jumps are held.
static void move(lone_block *b, od_dice *d) {
  int first_number = b->n.states + b->n.inputs;
  const od_block_description *c = od_block_description_of(&b->spec);
  for (int i = 0; i < first_number; i++) {
    int special = od_dice_pick(d, 8);
    b->in[i] = od_dice_uniform(d, -1, 1);
    if (special == 0) b->in[i] = 0;
    if (special == 1) b->in[i] = b->in[first_number + od_dice_pick(d, b->n.numbers)];
    if (i >= b->n.states && !c->inputs[0].list && c->inputs[i - b->n.states].factor) b->in[i] = 0.3 + fabs(b->in[i]);
  }
  for (int i = 0; i < b->n.jumps; i++)
    b->held[i] = od_dice_pick(d, 4) == 0 ? OD_HELD_AT_ZERO + od_dice_uniform(d, -1, 1) : 0;
}

// Without a smoothing or a width, laws have other branches. A power without smoothing may have an infinite slope (powers_at_zero).
static void remove_smoothing(lone_block *b) {
  const od_block_description *c = od_block_description_of(&b->spec);
  if (strcmp(c->equations->type, "power") == 0) return;
  double *q = b->in + b->n.states + b->n.inputs;
  for (int i = 0; i < OD_MOST_BLOCK_FIELDS && c->fields[i].key; q += od_block_count_field(&b->spec, &c->fields[i++]))
    if (strcmp(c->fields[i].key, "smoothing") == 0 || strcmp(c->fields[i].key, "width") == 0) *q = 0;
}

// One block of a class with random choices and numbers.
static void check_block(int which, bool sampled, od_dice *d, bool *nonlinear, bool *passed) {
  lone_block b = {.spec = od_random_block_spec(d, which, sampled ? 2e-3 : 0), .stepping = sampled};
  const od_block_class *c = od_block_class_of(&b.spec);
  b.n = od_block_count(&b.spec);
  assert_true(count_ins(&b) <= MOST_IN);
  assert_true(b.n.inputs >= 1 && b.n.inputs <= OD_MOST_BLOCK_INPUTS);
  assert_true(b.n.states <= OD_MOST_BLOCK_STATES && b.n.numbers <= OD_MOST_BLOCK_NUMBERS);
  int numbers = od_random_block_numbers(d, &b.spec, 1, b.in + b.n.states + b.n.inputs);
  assert_int_equal(numbers, b.n.numbers);
  if (od_dice_pick(d, 4) == 0) remove_smoothing(&b);
  bool passes_on = od_block_passes_on(&b.spec, sampled), reached = false, linear = true;
  for (int k = 0; k < POINTS; k++) {
    move(&b, d);
    check_slopes(&b);
    check_switch(&b, d);
    reached = reached || reaches(&b);
    linear = linear && adds_up(&b, d);
  }
  if (reached && !passes_on) fail_msg("%s passes its input on at once, and the table does not say so", c->type);
  if (!sampled && od_block_is_linear(&b.spec) && !linear)
    fail_msg("%s is not linear, and the table does not say so", c->type);
  assert_false(sampled && od_block_is_linear(&b.spec));
  *nonlinear = *nonlinear || (!sampled && !od_block_is_linear(&b.spec) && !linear);
  *passed = *passed || reached;
}

static void derivatives(void **state) {
  (void)state;
  for (int i = 0; i < od_block_class_count(); i++) {
    const od_block_class *c = od_block_classes[i];
    for (int sampled = 0; sampled <= (c->step != NULL); sampled++) {
      od_dice dice = {(unsigned)(911 * i + 7 + sampled)};
      bool nonlinear = false, passed = false;
      compared = switched = 0;
      for (int k = 0; k < BLOCKS; k++) check_block(i, sampled, &dice, &nonlinear, &passed);
      print_message("%s%s: %d slopes against differences\n", c->type, sampled ? ", sampled" : "", compared);
      assert_true(compared > BLOCKS * POINTS);
      assert_true(!c->margin || switched > BLOCKS);
      // A class that is declared nonlinear, or with feedthrough, must show this at some point.
      if (!sampled && c->is_linear && !nonlinear && !c->margin) fail_msg("%s is linear after all", c->type);
      bool may_pass = c->passes_on || sampled || !c->holds;
      if (may_pass && !passed) fail_msg("%s%s never passes an input on", c->type, sampled ? ", sampled" : "");
    }
  }
}

// gain u/reference |u/reference|^(exponent - 1) at u = 0: the slope is infinite (counts as 0), gain/reference, or 0.
static void powers_at_zero(void **state) {
  (void)state;
  od_block_spec s = od_block_spec_of("power");
  static const double exponent[] = {0.5, 1, 2}, slope[] = {0, 1.5, 0};
  for (int i = 0; i < 3; i++) {
    double q[] = {3, exponent[i], 2, 0}, u = 0, by = NAN;
    od_block_slopes(&s, od_block_count(&s), q, NULL, &u, NULL, &by);
    assert_true(by == slope[i]);
  }
}

// Between samples a sampled block holds its last state.
static void held(void **state) {
  (void)state;
  od_dice dice = {5};
  for (int i = 0; i < od_block_class_count(); i++) {
    if (!od_block_can_be_sampled(od_block_classes[i])) continue;
    od_block_spec s = od_random_block_spec(&dice, i, 2e-3);
    od_block_counts n = od_block_count(&s);
    double q[OD_MOST_BLOCK_NUMBERS] = {1}, x[OD_MOST_BLOCK_STATES] = {0}, u[OD_MOST_BLOCK_INPUTS] = {0},
           by[MOST_ROWS * MOST_IN];
    int columns = n.states + n.inputs;
    od_block_slopes(&s, n, q, x, u, NULL, by);
    for (int k = 0; k < (n.outputs + n.states) * columns; k++) assert_true(by[k] == (k == n.states - 1 ? 1 : 0));
    assert_string_equal(od_block_state_name(&s, n.states - 1), "held");
    for (int k = 0; k < n.numbers; k++) {
      od_block_number_slopes(&s, n, q, x, u, NULL, k, by);
      for (int row = 0; row < n.outputs + n.states; row++) assert_true(by[row] == 0);
    }
    assert_false(od_block_passes_on(&s, false));
  }
}

// Required entries of every table.
static void tables(void **state) {
  (void)state;
  for (int i = 0; i < od_block_class_count(); i++) {
    const od_block_description *c = od_block_descriptions[i];
    assert_non_null(c->equations->type);
    assert_non_null(c->summary);
    assert_int_equal(od_block_class_find(c->equations->type), i);
    assert_true(c->inputs[0].key && c->outputs[0] && c->fields[0].key && c->equations->evaluate &&
                c->equations->evaluate_complex);
    assert_true(!c->inputs[0].list || !c->inputs[1].key);
    // Only blocks with one input can be sampled.
    assert_true(!od_block_can_be_sampled(c->equations) || (!c->inputs[0].list && !c->inputs[1].key));
    assert_true(!c->equations->step == !c->equations->step_complex);
    assert_true(!c->equations->margin == !c->equations->switch_states);
    assert_true(c->equations->slopes || !c->equations->is_linear);  // linear blocks need no derivatives of their own
    assert_true(!c->equations->margin || !od_block_can_be_sampled(c->equations));
    int polynomials = 0;
    for (int k = 0; k < OD_MOST_BLOCK_FIELDS && c->fields[k].key; k++) {
      const od_block_field *f = &c->fields[k];
      bool asked = false;
      for (int j = 0; j < OD_MOST_BLOCK_CHOICES && c->choices[j].rule != OD_CHOICE_NONE; j++)
        asked = asked || strcmp(c->choices[j].key, f->or_key ? f->or_key : f->key) == 0;
      if ((f->optional || f->or_key || f->shape == OD_POLYNOMIAL) && !asked)
        fail_msg("%s: '%s' decides what numbers there are, but no choice asks for it", c->equations->type, f->key);
      assert_non_null(f->meaning);
      assert_true(!f->or_key == !f->or_unit && !f->only_with == !f->only_with_purpose);
      assert_true(f->shape != OD_TWO_NUMBERS || f->pair);
      assert_true(f->shape != OD_PER_INPUT || c->inputs[0].list);
      polynomials += f->shape == OD_POLYNOMIAL;
    }
    assert_true(polynomials == 0 || polynomials == 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives), cmocka_unit_test(powers_at_zero),
                                     cmocka_unit_test(held), cmocka_unit_test(tables)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
