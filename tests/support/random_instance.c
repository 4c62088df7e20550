#include "support/random_instance.h"
#include <math.h>
#include <string.h>

#include "base/formula.h"

// A number in the lower half of the usual range, which most machines use, multiplied or divided by up to 3.
static double random_number(od_dice *dice, const od_element_field *f) {
  double low = f->limits.usual_low, high = f->limits.usual_high, factor = pow(3, od_dice_uniform(dice, -1, 1));
  bool known = low != 0 || high != 0;
  // Within the possible range, as for shares and exponents.
  if (!isnan(f->fallback) && f->fallback != 0) {
    double value = f->fallback * factor;
    return f->limits.high > 0 ? fmax(fmin(value, f->limits.high), f->limits.low) : value;
  }
  if (!known) return 0.3 * factor;
  // Pressures differ by some bar, so that valves do not all open at the same time.
  double weight = strcmp(f->unit, "Pa") == 0 ? 2.0 / 3 : 1.0 / 3;
  if (low > 0) return pow(low, 1 - weight) * pow(high, weight) * factor;
  double size = fmin(3e-3 * high, 1) * factor;
  return low < 0 && f->sign == OD_ANY && od_dice_pick(dice, 2) ? -size : size;
}

static bool rules_hold(const od_element_description *c, const double *q) {
  for (int i = 0; i < c->rule_count; i++)
    if (!od_element_rule_holds(&c->rules[i], q[c->rules[i].greater], q[c->rules[i].smaller])) return false;
  return true;
}

// After the fields: abscissae from 0 on, then ordinates.
static int random_curve(od_dice *dice, double *q, int choice[OD_MOST_ELEMENT_CHOICES]) {
  int degree = 1 + od_dice_pick(dice, 3), count = degree + 1 + od_dice_pick(dice, 4);
  for (int i = 0; i < count; i++)
    q[i] = 1.5 * (i + (i && i + 1 < count ? od_dice_uniform(dice, -0.3, 0.3) : 0)) / (count - 1);
  for (int i = 0; i < count; i++) q[count + i] = od_dice_uniform(dice, 0.3, 2);
  choice[OD_PORT_SIDE] = od_dice_pick(dice, 2) ? 1 : -1;
  choice[OD_PORT_DEGREE] = degree;
  choice[OD_PORT_COUNT] = count;
  return 2 * count;
}

// A law for each class with formulas: after its variables, a size, a smoothing or damping, and the weight of its signal.
static const od_operation flow_law[] = {
    {OD_OPERATION_VARIABLE, 0},    {OD_OPERATION_VARIABLE, 1},       {OD_OPERATION_SUBTRACT, 0, 1},
    {OD_OPERATION_VARIABLE, 7},    {OD_OPERATION_SMOOTH_ROOT, 2, 3}, {OD_OPERATION_VARIABLE, 6},
    {OD_OPERATION_MULTIPLY, 4, 5}, {OD_OPERATION_VARIABLE, 2},       {OD_OPERATION_VARIABLE, 8},
    {OD_OPERATION_MULTIPLY, 7, 8}, {OD_OPERATION_TANH, 9},           {OD_OPERATION_NUMBER, .value = 1.5},
    {OD_OPERATION_ADD, 10, 11},    {OD_OPERATION_MULTIPLY, 6, 12}};
static const od_operation force_law[] = {
    {OD_OPERATION_VARIABLE, 0},    {OD_OPERATION_VARIABLE, 6}, {OD_OPERATION_MULTIPLY, 0, 1},
    {OD_OPERATION_VARIABLE, 1},    {OD_OPERATION_VARIABLE, 7}, {OD_OPERATION_MULTIPLY, 3, 4},
    {OD_OPERATION_ADD, 2, 5},      {OD_OPERATION_VARIABLE, 2}, {OD_OPERATION_VARIABLE, 8},
    {OD_OPERATION_MULTIPLY, 7, 8}, {OD_OPERATION_COS, 9},      {OD_OPERATION_MULTIPLY, 6, 10},
    {OD_OPERATION_NEGATE, 11}};
static const od_formula flow_formula = {sizeof flow_law / sizeof *flow_law, flow_law},
                        force_formula = {sizeof force_law / sizeof *force_law, force_law};

const od_formula *od_random_formula_of(const od_element_description *c) {
  return !c->formula_key ? NULL : c->equations->acts == OD_ACTS_NOWHERE ? &flow_formula : &force_formula;
}

static int random_formula_numbers(od_dice *dice, const od_element_description *c, double *q) {
  bool flow = c->equations->acts == OD_ACTS_NOWHERE;
  q[0] = flow ? od_dice_uniform(dice, 1e-8, 3e-7) : od_dice_uniform(dice, 10, 100);
  q[1] = flow ? od_dice_uniform(dice, 1e5, 1e6) : od_dice_uniform(dice, 1, 10);
  q[2] = od_dice_uniform(dice, 0.1, 0.5);
  return 3;
}

int od_random_numbers(od_dice *dice, const od_element_description *c, double *q, int choice[OD_MOST_ELEMENT_CHOICES]) {
  do {
    for (int i = 0; i < c->field_count; i++) q[i] = random_number(dice, &c->fields[i]);
  } while (!rules_hold(c, q));
  for (int i = 0; i < OD_MOST_ELEMENT_CHOICES; i++) choice[i] = 0;
  if (c->formula_key) return random_formula_numbers(dice, c, q);
  if (c->equations->optional_numbers > 0 || c->equations->end_choice || c->shared_end)
    choice[0] = od_dice_pick(dice, 2);
  return c->field_count - (choice[0] ? 0 : c->equations->optional_numbers) +
         (c->equations->has_curve ? random_curve(dice, q + c->field_count, choice) : 0);
}

static int take(int *end, int count) {
  int begin = *end;
  *end += count;
  return begin;
}

int od_pool_formula(int *pool, int at, const od_formula *f) {
  memcpy(pool + at, f->operation, (size_t)f->count * sizeof *f->operation);
  return at + f->count * OD_OPERATION_INTS;
}

od_lone_instance od_instance_with(const od_element_description *c, const double *q, int numbers, const double *host,
                                  const int *choice) {
  od_lone_instance x = {.c = c, .numbers = numbers, .formula = od_random_formula_of(c)};
  int end = 0, oil = take(&end, OD_OIL_STATES), at_host = take(&end, OD_MOST_ELEMENT_FIELDS);
  x.w[oil + OD_OIL_STATE_ROOT] = sqrt(2 / 870.0);
  x.w[oil + OD_OIL_STATE_SMOOTHING] = 1e4;
  x.w[oil + OD_OIL_STATE_VISCOSITY] = 0.04;
  x.w[oil + OD_OIL_STATE_THICKENING] = 2e-8;
  x.w[oil + OD_OIL_STATE_THINNESS] = 1.3;
  if (host) memcpy(x.w + at_host, host, OD_MOST_ELEMENT_FIELDS * sizeof *host);
  x.pool[0] = take(&end, numbers);
  x.pool[1] = at_host;
  memcpy(x.w + x.pool[0], q, (size_t)numbers * sizeof *q);
  memcpy(x.pool + 2, choice, OD_MOST_ELEMENT_CHOICES * sizeof *choice);
  x.batch = (od_batch){.count = 1,
                       .kept_scalars = c->equations->kept,
                       .choices = c->equations->choices,
                       .number = 0,
                       .host = 1,
                       .choice = 2,
                       .oil = oil};
  if (x.formula) {
    x.batch.formula = 2 + OD_MOST_ELEMENT_CHOICES, x.batch.operations = x.batch.formula + 1;
    x.batch.held = x.batch.formula + 2;
    int at = (x.batch.held + 2) / 2 * 2;
    x.pool[x.batch.formula] = at, x.pool[x.batch.operations] = x.formula->count;
    x.pool[x.batch.held] = take(&end, od_formula_jumps(x.formula));
    od_pool_formula(x.pool, at, x.formula);
  }
  x.batch.in = take(&end, c->equations->ins);
  x.batch.out = take(&end, c->equations->outs);
  x.batch.report = take(&end, c->equations->reports);
  x.batch.slope = take(&end, c->equations->ins * c->equations->outs);
  x.batch.kept = take(&end, c->equations->kept);
  return x;
}

od_lone_instance od_random_instance(od_dice *dice, const od_element_description *c) {
  double host[OD_MOST_ELEMENT_FIELDS] = {0}, q[OD_INSTANCE_SCALARS];
  int choice[OD_MOST_ELEMENT_CHOICES];
  if (c->host) od_random_numbers(dice, c->host, host, choice);
  int numbers = od_random_numbers(dice, c, q, choice);
  return od_instance_with(c, q, numbers, host, choice);
}
