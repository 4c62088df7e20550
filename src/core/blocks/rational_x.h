// Common part of blocks with a transfer function b(s)/a(s). The states are v, v', ... of v = u/a(s):
//   a_n v^(n) = u - sum a_i v^(i),   y = sum b_i v^(i)   (i = 0 .. n, coefficients in ascending powers)
// Included after X(numbers); the block defines X(coefficients), which computes the coefficients from its numbers.
#define OD_BLOCK_SLOPES
typedef struct X(rational) {
  int n;  // degree of the denominator
  od_x b[OD_MOST_BLOCK_ORDER + 1], a[OD_MOST_BLOCK_ORDER + 1];
} X(rational);

static inline void X(coefficients)(const X(numbers) * q, X(block) b, X(rational) * r);

static inline void X(rational_evaluate)(const X(rational) * r, X(block) b) {
  int n = r->n;
  od_x top = b.u[0];  // the highest derivative of v
  for (int i = 0; i < n; i++) top -= r->a[i] * b.x[i];
  top /= r->a[n];
  b.y[0] = r->b[n] * top;
  for (int i = 0; i < n; i++) b.y[0] += r->b[i] * b.x[i];
  for (int i = 0; i < n; i++) b.rate[i] = i + 1 < n ? b.x[i + 1] : top;
}

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  X(rational) r;
  X(coefficients)(q, b, &r);
  X(rational_evaluate)(&r, b);
}

#ifndef OD_COMPLEX
// Computes the derivatives of the output and of the rates with respect to states and input.
static inline void rational_slopes(const rational_r *r, double *by) {
  int n = r->n, columns = n + 1;
  double *top = by + n * columns;  // the row of the rate of the highest state
  by[n] = r->b[n] / r->a[n];
  for (int i = 0; i < n; i++) {
    by[i] = r->b[i] - r->b[n] * r->a[i] / r->a[n];
    if (i + 1 < n) by[(1 + i) * columns + i + 1] = 1;
    top[i] = -r->a[i] / r->a[n];
  }
  if (n > 0) top[n] = 1 / r->a[n];
}

static inline void slopes(const numbers_r *q, block_r b, double *by) {
  rational_r r;
  coefficients_r(q, b, &r);
  rational_slopes(&r, by);
}
#endif
