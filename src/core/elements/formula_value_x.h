// Common part of elements with a formula: its value at the inputs of an instance and its numbers, and the derivatives by its
// numbers.
#undef OD_FORMULA_VALUE
#ifdef OD_COMPLEX
#define OD_FORMULA_VALUE od_formula_value_complex
#else
#define OD_FORMULA_VALUE od_formula_value

// Derivatives of the value by some numbers of an instance; false: all are zero.
static bool formula_number_slopes(const od_batch *b, const int *pool, double *w, int instance, const int *number,
                                  int count, double *dout) {
  enum { INS = 3 + OD_MORE_SIGNALS };
  const double *in = w + b->in + instance * INS, *q = w + pool[b->number + instance];
  double by[INS + OD_MOST_FORMULA_NUMBERS];
  bool any = false;
  const double *held = b->held ? w + b->held[instance] : NULL;
  od_formula_slopes(b->formula[instance], in, INS, q, OD_MOST_FORMULA_NUMBERS, held, by);
  for (int i = 0; i < count; i++) {
    bool own = number[i] < OD_MOST_FORMULA_NUMBERS;
    dout[i] = own ? by[INS + number[i]] : 0;
    any = any || own;
  }
  return any;
}
#endif
