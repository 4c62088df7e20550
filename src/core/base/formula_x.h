// The value of a formula in the scalar of the build. Comparisons use real parts. NaN is preserved: if an operand of a comparison in
// min(), max() or if() is NaN, the result is NaN.

// Returns x to the power of a constant integer, computed as a product. The product is also defined for negative bases.
static inline od_x X(whole_power)(od_x x, int exponent) {
  od_x result = 1;
  for (int i = 0; i < abs(exponent); i++) result *= x;
  return exponent < 0 ? 1 / result : result;
}

static inline od_x X(power)(od_x x, od_x exponent) {
  if (RE(exponent) == 0.25 && exponent == 0.25)
    return od_x_sqrt(od_x_sqrt(x));  // two square roots are faster than pow()
  if (RE(x) != 0) return od_x_pow(x, exponent);
  // The complex logarithm of zero, which od_x_pow() uses, is not finite.
  return RE(exponent) == 1 ? x : pow(0, RE(exponent));
}

static inline od_x X(smooth_root)(od_x x, od_x e) {
  od_x s = x * x + e * e;
  return RE(s) == 0 ? 0 : x / od_x_sqrt(od_x_sqrt(s));
}

// Returns the result of one operation from the results v of earlier operations. The operation must not be a variable or a held
// jump.
static inline od_x X(operate)(const od_operation *o, const od_operation *all, const od_x *v) {
  od_x a = v[o->a];
  switch (o->kind) {
    case OD_OPERATION_ADD: return a + v[o->b];
    case OD_OPERATION_SUBTRACT: return a - v[o->b];
    case OD_OPERATION_MULTIPLY: return a * v[o->b];
    case OD_OPERATION_DIVIDE: return a / v[o->b];
    case OD_OPERATION_NEGATE: return -a;
    case OD_OPERATION_POWER:
      return od_is_whole_exponent(&all[o->b]) ? X(whole_power)(a, (int)all[o->b].value) : X(power)(a, v[o->b]);
    case OD_OPERATION_SQRT: return od_x_sqrt(a);
    case OD_OPERATION_EXP: return od_x_exp(a);
    case OD_OPERATION_LOG: return od_x_log(a);
    case OD_OPERATION_SIN: return od_x_sin(a);
    case OD_OPERATION_COS: return od_x_cos(a);
    case OD_OPERATION_TAN: return od_x_tan(a);
    case OD_OPERATION_ASIN: return od_x_asin(a);
    case OD_OPERATION_ACOS: return od_x_acos(a);
    case OD_OPERATION_ATAN: return od_x_atan(a);
    case OD_OPERATION_SINH: return od_x_sinh(a);
    case OD_OPERATION_COSH: return od_x_cosh(a);
    case OD_OPERATION_TANH: return od_x_tanh(a);
    case OD_OPERATION_ABS: return RE(a) < 0 ? -a : RE(a) > 0 ? a : fabs(RE(a));
    case OD_OPERATION_SIGN: return RE(a) < 0 ? -1 : RE(a) > 0 ? 1 : RE(a);
    case OD_OPERATION_MIN: return RE(a) <= RE(v[o->b]) || isnan(RE(a)) ? a : v[o->b];
    case OD_OPERATION_MAX: return RE(a) >= RE(v[o->b]) || isnan(RE(a)) ? a : v[o->b];
    case OD_OPERATION_SMOOTH_ROOT: return X(smooth_root)(a, v[o->b]);
    case OD_OPERATION_IF_NEGATIVE: return RE(a) < 0 ? v[o->b] : isnan(RE(a)) ? a : v[o->c];
    default: return NAN;
  }
}

// Returns the result of a jump that is held at a value from -1 to 1: for sign() this value, for if() the mean of both branches
// weighted by this value.
static inline od_x X(operate_held)(const od_operation *o, const od_x *v, od_x held) {
  od_x at = held - OD_HELD_AT_ZERO;
  if (o->kind == OD_OPERATION_SIGN) return at;
  if (RE(at) <= -1 || RE(at) >= 1)
    return RE(at) < 0 ? v[o->b] : v[o->c];  // no weighted mean here, because the other branch may be NaN
  return (1 - at) / 2 * v[o->b] + (1 + at) / 2 * v[o->c];
}

// Computes the results v of all operations. Returns the last result, which is the result of the formula.
static inline od_x X(run)(const od_formula *f, const od_x *in, int ins, const od_x *q, const od_x *held, od_x *v) {
  od_x result = 0;
  for (int i = 0; i < f->count; i++) {
    const od_operation *o = &f->operation[i];
    if (o->kind == OD_OPERATION_NUMBER)
      result = o->value;
    else if (o->kind == OD_OPERATION_VARIABLE)
      result = o->a < ins ? in[o->a] : q[o->a - ins];
    else
      result = X(operate)(o, f->operation, v);
    if (held && od_operation_jumps(o->kind)) {
      if (RE(*held) != 0) result = X(operate_held)(o, v, *held);
      held++;
    }
    v[i] = result;
  }
  return result;
}
