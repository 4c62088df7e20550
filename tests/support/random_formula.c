#include "support/random_formula.h"

enum { KEPT = 512, LENGTH = 120 };

typedef struct draft {
  od_operation *operation;
  int count;
} draft;

static int add(draft *f, od_operation_kind kind, int a, int b, int c, double value) {
  f->operation[f->count] = (od_operation){kind, a, b, c, value};
  return f->count++;
}
static int number(draft *f, double value) {
  return add(f, OD_OPERATION_NUMBER, 0, 0, 0, value);
}
static int apply(draft *f, od_operation_kind kind, int a, int b) {
  return add(f, kind, a, b, 0, 0);
}

// A function of a and b that is about one if a and b are about one.
static int random_term(od_dice *d, draft *f, int a, int b) {
  static const od_operation_kind bounded[] = {OD_OPERATION_SIN, OD_OPERATION_COS, OD_OPERATION_TANH, OD_OPERATION_ATAN};
  int bound = apply(f, bounded[od_dice_pick(d, 4)], a, 0);
  int half = apply(f, OD_OPERATION_MULTIPLY, bound, number(f, 0.5));
  int positive = apply(f, OD_OPERATION_ADD, half, number(f, 1.3));
  switch (od_dice_pick(d, 18)) {
    case 0: return apply(f, OD_OPERATION_SUBTRACT, a, b);
    case 1: return apply(f, OD_OPERATION_MULTIPLY, bound, b);
    case 2: return apply(f, OD_OPERATION_DIVIDE, b, positive);
    case 3: return apply(f, OD_OPERATION_POWER, a, number(f, od_dice_pick(d, 3) + 1));
    case 4: return apply(f, OD_OPERATION_POWER, positive, number(f, od_dice_uniform(d, -1.5, 1.5)));
    case 5: return apply(f, OD_OPERATION_POWER, positive, b);
    case 6: return apply(f, OD_OPERATION_NEGATE, a, 0);
    case 7: return apply(f, OD_OPERATION_SQRT, positive, 0);
    case 8: return apply(f, OD_OPERATION_EXP, half, 0);
    case 9: return apply(f, OD_OPERATION_LOG, positive, 0);
    case 10: return apply(f, OD_OPERATION_TAN, half, 0);
    case 11: return apply(f, od_dice_pick(d, 2) ? OD_OPERATION_ASIN : OD_OPERATION_ACOS, half, 0);
    case 12: return apply(f, od_dice_pick(d, 2) ? OD_OPERATION_SINH : OD_OPERATION_COSH, half, 0);
    case 13: return apply(f, OD_OPERATION_ABS, a, 0);
    case 14: return apply(f, OD_OPERATION_MULTIPLY, apply(f, OD_OPERATION_SIGN, a, 0), b);
    case 15: return apply(f, od_dice_pick(d, 2) ? OD_OPERATION_MIN : OD_OPERATION_MAX, a, b);
    case 16: return apply(f, OD_OPERATION_SMOOTH_ROOT, a, positive);
    default: return add(f, OD_OPERATION_IF_NEGATIVE, a, half, b, 0);
  }
}

od_formula od_random_formula(od_dice *d, int inputs, int numbers) {
  static od_operation kept[KEPT][LENGTH];
  static int next = 0;
  draft f = {kept[next++ % KEPT], 0};
  int variable[40], variables = inputs + numbers;
  for (int i = 0; i < variables; i++) variable[i] = add(&f, OD_OPERATION_VARIABLE, i, 0, 0, 0);
  int result = variable[0];
  for (int i = 0; i < variables; i++) {
    int term = random_term(d, &f, variable[i], variable[od_dice_pick(d, variables)]);
    int part = apply(&f, OD_OPERATION_MULTIPLY, term, number(&f, od_dice_uniform(d, 0.1, 0.4)));
    result = apply(&f, OD_OPERATION_ADD, result, part);
  }
  return (od_formula){f.count, f.operation};
}

od_formula od_random_two_states(int inputs) {
  static od_operation kept[KEPT][LENGTH];
  static int next = 0;
  draft f = {kept[next++ % KEPT], 0};
  int u = add(&f, OD_OPERATION_VARIABLE, 0, 0, 0, 0), mode = add(&f, OD_OPERATION_VARIABLE, inputs, 0, 0, 0);
  int time = add(&f, OD_OPERATION_VARIABLE, inputs + 1, 0, 0, 0), level = number(&f, 0.7), none = number(&f, 0);
  int first = apply(&f, OD_OPERATION_SUBTRACT, mode, number(&f, 0.5));
  int rises = apply(&f, OD_OPERATION_SUBTRACT, level, u), falls = apply(&f, OD_OPERATION_ADD, u, level);
  int waits = apply(&f, OD_OPERATION_SUBTRACT, number(&f, 0.01), time);
  int back = apply(&f, OD_OPERATION_MAX, falls, waits), one = number(&f, 1);
  int margin = add(&f, OD_OPERATION_IF_NEGATIVE, first, rises, back, 0);
  int to = add(&f, OD_OPERATION_IF_NEGATIVE, first, one, none, 0);
  apply(&f, OD_OPERATION_ADD, margin, none);
  apply(&f, OD_OPERATION_ADD, to, none);
  return (od_formula){f.count, f.operation};
}
