// One build of the equations of a block (see block_template_x.h): the scalar, shared functions, the equations, and the functions
// of the table. The equations define X(numbers), a struct of numbers in the order of the fields, and
//   X(evaluate)(const X(numbers) *q, X(block) b)              writes b.y and b.rate
//   X(step)(const X(numbers) *q, X(block) b, od_x *next)      with OD_BLOCK_SAMPLED: the states after a sample
//   X(margin)(const X(numbers) *q, X(block) b)                 with OD_BLOCK_MODES: positive until a switch is due
//   X(switch_states)(const X(numbers) *q, X(block) b, od_x *next)    and the states after the switch
//   slopes(const numbers_r *q, block_r b, double *by)         with OD_BLOCK_SLOPES: with respect to states, then inputs
#include "base/scalar_x.h"

typedef struct X(block) {
  const od_block_spec *s;
  const od_x *x, *u;  // states, inputs
  const od_x *held;   // values at which the jumps of the block are held (base/formula.h), or NULL
  od_x *y, *rate;     // outputs, rates of states
} X(block);

static inline od_x X(clamp)(od_x v, od_x lower, od_x upper) {
  return RE(v) < RE(lower) ? lower : RE(v) > RE(upper) ? upper : v;
}
#ifndef OD_COMPLEX
static inline double clamp_slope(double v, double lower, double upper) {
  return v < lower || v > upper ? 0 : 1;
}
#endif

#include OD_BLOCK_FILE

static void X(evaluate_block)(const od_block_spec *s, const od_x *q, const od_x *x, const od_x *u, const od_x *held,
                              od_x *y, od_x *rate) {
  X(evaluate)((const X(numbers) *)q, (X(block)){s, x, u, held, y, rate});
}

#ifdef OD_BLOCK_SAMPLED
static void X(step_block)(const od_block_spec *s, const od_x *q, const od_x *x, const od_x *u, od_x *next) {
  X(step)((const X(numbers) *)q, (X(block)){s, x, u, NULL, NULL, NULL}, next);
}
#endif

#if defined OD_BLOCK_MODES && !defined OD_COMPLEX
static od_x X(margin_block)(const od_block_spec *s, const od_x *q, const od_x *x, const od_x *u) {
  return X(margin)((const X(numbers) *)q, (X(block)){s, x, u, NULL, NULL, NULL});
}
#endif
#ifdef OD_BLOCK_MODES
static void X(switch_block)(const od_block_spec *s, const od_x *q, const od_x *x, const od_x *u, od_x *next) {
  X(switch_states)((const X(numbers) *)q, (X(block)){s, x, u, NULL, NULL, NULL}, next);
}
#endif

#if defined OD_BLOCK_SLOPES && !defined OD_COMPLEX
static void slopes_block(const od_block_spec *s, const double *q, const double *x, const double *u, const double *held,
                         double *by) {
  slopes((const numbers_r *)q, (block_r){s, x, u, held, NULL, NULL}, by);
}
#endif
