// Common part of maximum and minimum: the largest or smallest of several signals with the same unit, times a gain. The
// file of the block defines OD_BEATS(a, b), which is true if a is chosen instead of b.
#define OD_BLOCK_SLOPES

typedef struct X(numbers) {
  od_x gain;
} X(numbers);

static inline int X(chosen)(X(block) b) {
  int best = 0;
  for (int i = 1; i < b.s->inputs; i++)
    if (OD_BEATS(RE(b.u[i]), RE(b.u[best]))) best = i;
  return best;
}

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = q->gain * b.u[X(chosen)(b)];
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  by[chosen_r(b)] = q->gain;
}
#endif
