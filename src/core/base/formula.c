#include "base/formula.h"

#include <math.h>
#include <stdlib.h>

// Returns whether an operation is a constant integer of magnitude at most 16. Powers with such an exponent are computed
// as products.
static inline bool od_is_whole_exponent(const od_operation *o) {
  return o->kind == OD_OPERATION_NUMBER && fabs(o->value) <= 16 && o->value == (int)o->value;
}

// Returns whether the value of an operation jumps where its first operand passes zero.
static inline bool od_operation_jumps(od_operation_kind kind) {
  return kind == OD_OPERATION_SIGN || kind == OD_OPERATION_IF_NEGATIVE;
}

#include "base/scalar_x.h"
#include "base/formula_x.h"
#if OD_WITH_COMPLEX
#define OD_COMPLEX
#include "base/scalar_x.h"
#include "base/formula_x.h"
#undef OD_COMPLEX
#endif

int od_operation_operands(od_operation_kind kind) {
  switch (kind) {
    case OD_OPERATION_NUMBER:
    case OD_OPERATION_VARIABLE: return 0;
    case OD_OPERATION_ADD:
    case OD_OPERATION_SUBTRACT:
    case OD_OPERATION_MULTIPLY:
    case OD_OPERATION_DIVIDE:
    case OD_OPERATION_POWER:
    case OD_OPERATION_MIN:
    case OD_OPERATION_MAX:
    case OD_OPERATION_SMOOTH_ROOT: return 2;
    case OD_OPERATION_IF_NEGATIVE: return 3;
    default: return kind > OD_OPERATION_VARIABLE && kind < OD_OPERATION_KINDS ? 1 : -1;
  }
}

const char *od_formula_problem(const od_formula *f, int variables) {
  if (f->count < 1 || !f->operation) return "has no formula";
  if (f->count > OD_MOST_OPERATIONS) return "has a formula with more than 400 operations";
  for (int i = 0; i < f->count; i++) {
    const od_operation *o = &f->operation[i];
    int operands = od_operation_operands(o->kind), operand[] = {o->a, o->b, o->c};
    if (operands < 0) return "has a formula with an unknown operation";
    for (int k = 0; k < operands; k++)
      if (operand[k] < 0 || operand[k] >= i) return "has a formula with an operation before its operands";
    if (o->kind == OD_OPERATION_VARIABLE && (o->a < 0 || o->a >= variables))
      return "has a formula with an unknown variable";
    if (o->kind == OD_OPERATION_NUMBER && !isfinite(o->value)) return "has a formula with a number that is not finite";
  }
  return NULL;
}

double od_operation_value(const od_operation *list, int place, const double *v) {
  return list[place].kind == OD_OPERATION_NUMBER ? list[place].value : operate_r(&list[place], list, v);
}

int od_formula_jumps(const od_formula *f) {
  int count = 0;
  for (int i = 0; f->operation && i < f->count; i++) count += od_operation_jumps(f->operation[i].kind);
  return count;
}

int od_formula_branches(const od_formula *f, const double *in, int ins, const double *q, const double *held,
                        double *value, bool *jumps) {
  double v[OD_MOST_OPERATIONS];
  int count = 0;
  if (value) run_r(f, in, ins, q, held, v);
  for (int i = 0; i < f->count; i++) {
    const od_operation *o = &f->operation[i];
    bool of_one = o->kind == OD_OPERATION_ABS || o->kind == OD_OPERATION_SIGN || o->kind == OD_OPERATION_IF_NEGATIVE;
    bool of_two = o->kind == OD_OPERATION_MIN || o->kind == OD_OPERATION_MAX;
    if (!of_one && !of_two) continue;
    if (value) value[count] = of_one ? v[o->a] : v[o->a] - v[o->b];
    if (jumps) jumps[count] = od_operation_jumps(o->kind);
    count++;
  }
  return count;
}

double od_formula_value(const od_formula *f, const double *in, int ins, const double *q, const double *held) {
  double v[OD_MOST_OPERATIONS];
  return run_r(f, in, ins, q, held, v);
}

void od_formula_results_r(const od_formula *f, const double *in, int ins, const double *q, int count, double *result) {
  double v[OD_MOST_OPERATIONS];
  run_r(f, in, ins, q, NULL, v);
  for (int i = 0; i < count; i++) result[i] = v[f->count - count + i];
}

// ---- complex numbers

#if OD_WITH_COMPLEX
od_complex od_formula_value_complex(const od_formula *f, const od_complex *in, int ins, const od_complex *q,
                                    const od_complex *held) {
  od_complex v[OD_MOST_OPERATIONS];
  return run_c(f, in, ins, q, held, v);
}

void od_formula_results_c(const od_formula *f, const od_complex *in, int ins, const od_complex *q, int count,
                          od_complex *result) {
  od_complex v[OD_MOST_OPERATIONS];
  run_c(f, in, ins, q, NULL, v);
  for (int i = 0; i < count; i++) result[i] = v[f->count - count + i];
}

int od_formula_jump_guards(const od_formula *f, const od_complex *in, int ins, const od_complex *q,
                           const od_complex *held, od_complex *guard) {
  od_complex v[OD_MOST_OPERATIONS];
  int count = 0;
  run_c(f, in, ins, q, held, v);
  for (int i = 0; i < f->count; i++)
    if (od_operation_jumps(f->operation[i].kind)) guard[count++] = v[f->operation[i].a];
  return count;
}
#endif

// ---- derivatives

// Adds the derivatives of a power y = a^b to `part`. The derivative with respect to a constant exponent is not
// computed, because this derivative does not exist for negative bases.
static void spread_power(const od_operation *o, const od_operation *all, const double *v, double y, double by,
                         double *part) {
  double a = v[o->a], b = v[o->b];
  bool whole = od_is_whole_exponent(&all[o->b]);
  if (b != 0) part[o->a] += by * b * (whole ? whole_power_r(a, (int)b - 1) : a != 0 ? y / a : pow(a, b - 1));
  if (all[o->b].kind != OD_OPERATION_NUMBER) part[o->b] += a == 0 ? 0 : by * y * log(a);
}

static void spread_root(const od_operation *o, const double *v, double by, double *part) {
  double x = v[o->a], e = v[o->b], s = x * x + e * e, fourth = sqrt(sqrt(s));
  if (s == 0) return;
  part[o->a] += by * (x * x / 2 + e * e) / (s * fourth);
  part[o->b] -= by * x * e / 2 / (s * fourth);
}

// Returns the derivative of a function of one argument x, whose value is y.
static double function_slope(od_operation_kind kind, double x, double y) {
  switch (kind) {
    case OD_OPERATION_SQRT: return 0.5 / y;
    case OD_OPERATION_EXP: return y;
    case OD_OPERATION_LOG: return 1 / x;
    case OD_OPERATION_SIN: return cos(x);
    case OD_OPERATION_COS: return -sin(x);
    case OD_OPERATION_TAN: return 1 + y * y;
    case OD_OPERATION_ASIN: return 1 / sqrt(1 - x * x);
    case OD_OPERATION_ACOS: return -1 / sqrt(1 - x * x);
    case OD_OPERATION_ATAN: return 1 / (1 + x * x);
    case OD_OPERATION_SINH: return cosh(x);
    case OD_OPERATION_COSH: return sinh(x);
    case OD_OPERATION_TANH: return 1 - y * y;
    case OD_OPERATION_ABS: return x < 0 ? -1 : x > 0 ? 1 : 0;
    default: return 0;  // derivative of sign()
  }
}

// Adds the contribution of operation i to the derivatives of its operands. part: the derivative of the formula with
// respect to the result of each operation, complete for operation i.
static void spread(const od_formula *f, int i, const double *v, double held, double *part) {
  const od_operation *o = &f->operation[i];
  double by = part[i];
  switch (o->kind) {
    case OD_OPERATION_ADD: part[o->a] += by, part[o->b] += by; return;
    case OD_OPERATION_SUBTRACT: part[o->a] += by, part[o->b] -= by; return;
    case OD_OPERATION_MULTIPLY: part[o->a] += by * v[o->b], part[o->b] += by * v[o->a]; return;
    case OD_OPERATION_DIVIDE:
      part[o->a] += by / v[o->b];
      part[o->b] -= by * v[i] / v[o->b];
      return;
    case OD_OPERATION_NEGATE: part[o->a] -= by; return;
    case OD_OPERATION_POWER: spread_power(o, f->operation, v, v[i], by, part); return;
    case OD_OPERATION_SMOOTH_ROOT: spread_root(o, v, by, part); return;
    case OD_OPERATION_MIN: part[v[o->b] < v[o->a] ? o->b : o->a] += by; return;
    case OD_OPERATION_MAX: part[v[o->b] > v[o->a] ? o->b : o->a] += by; return;
    case OD_OPERATION_IF_NEGATIVE: {
      double at = held != 0 ? held - OD_HELD_AT_ZERO : v[o->a] < 0 ? -1 : 1;
      if (at < 1) part[o->b] += by * (1 - at) / 2;
      if (at > -1) part[o->c] += by * (1 + at) / 2;
      return;
    }
    default: part[o->a] += by * function_slope(o->kind, v[o->a], v[i]); return;
  }
}

double od_formula_slopes(const od_formula *f, const double *in, int ins, const double *q, int numbers,
                         const double *held, double *by) {
  double v[OD_MOST_OPERATIONS], part[OD_MOST_OPERATIONS];
  double value = run_r(f, in, ins, q, held, v);
  int jump = held ? od_formula_jumps(f) : 0;
  for (int i = 0; i < f->count - 1; i++) part[i] = 0;
  part[f->count - 1] = 1;
  for (int i = 0; i < ins + numbers; i++) by[i] = 0;
  for (int i = f->count - 1; i >= 0; i--) {
    const od_operation *o = &f->operation[i];
    double held_at = held && od_operation_jumps(o->kind) ? held[--jump] : 0;
    if (part[i] == 0 || o->kind == OD_OPERATION_NUMBER) continue;
    if (o->kind != OD_OPERATION_VARIABLE)
      spread(f, i, v, held_at, part);
    else if (o->a < ins + numbers)
      by[o->a] += part[i];
  }
  return value;
}
