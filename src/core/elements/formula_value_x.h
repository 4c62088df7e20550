// Common part of elements with a formula: the value of the formula at the inputs and numbers of an instance, and its derivatives
// with respect to the numbers.
#undef OD_FORMULA_VALUE
#ifdef OD_COMPLEX
#define OD_FORMULA_VALUE od_formula_value_complex
#else
#define OD_FORMULA_VALUE od_formula_value

// Computes the derivatives of the value with respect to some numbers of an instance. Returns false if no number in the list belongs
// to the instance; then all derivatives are zero.
static bool formula_number_slopes(const od_batch *b, const int *pool, double *w, int instance, const int *number,
                                  int count, double *dout) {
  enum { INS = 3 + OD_MORE_SIGNALS };
  const double *in = w + b->in + instance * INS, *q = w + pool[b->number + instance];
  double by[INS + OD_MOST_FORMULA_NUMBERS];
  bool any = false;
  const double *held = b->formula > 0 ? w + pool[b->held + instance] : NULL;
  od_formula f = od_batch_formula(b, pool, instance);
  od_formula_slopes(&f, in, INS, q, OD_MOST_FORMULA_NUMBERS, held, by);
  for (int i = 0; i < count; i++) {
    bool own = number[i] < OD_MOST_FORMULA_NUMBERS;
    dout[i] = own ? by[INS + number[i]] : 0;
    any = any || own;
  }
  return any;
}
#endif
