// Sample and hold: samples u when the trigger rises to the upper threshold, and holds the value until the next sample. Before the
// next sample the trigger must fall to the lower threshold. For samples at equal intervals, use a sampled gain.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES
#define OD_BLOCK_MODES

typedef struct X(numbers) {
  od_x lower, upper;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  (void)q;
  b.y[0] = b.x[0];
  b.rate[0] = b.rate[1] = 0;
}

static inline od_x X(margin)(const X(numbers) * q, X(block) b) {
  return RE(b.x[1]) > 0.5 ? b.u[1] - q->lower : q->upper - b.u[1];
}

static inline void X(switch_states)(const X(numbers) * q, X(block) b, od_x *next) {
  bool ready = RE(b.x[1]) < 0.5;
  (void)q;
  next[0] = ready ? b.u[0] : b.x[0];
  next[1] = ready ? 1 : 0;
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  (void)q, (void)b;
  by[0] = 1;
}
#endif

#else
#define OD_BLOCK_FILE "blocks/sample_hold.c"
#include "blocks/block_template_x.h"

const od_block_class od_sample_hold_block = {
    .type = "sample-hold",
    .states = 2,
    .holds = true,
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
    OD_BLOCK_SWITCHES,
};
const od_block_description od_sample_hold_block_description = {
    .equations = &od_sample_hold_block,
    .summary = "u at the moment when a trigger last rose to a threshold",
    .inputs = {{"input"}, {"trigger"}},
    .keeps_unit = true,
    .fields = {{"thresholds", "trigger", OD_ANY, NAN,
                "[ready, take]: a sample is taken when the trigger rises to 'take' after it has fallen to 'ready'",
                .shape = OD_BOUNDS}},
    .outputs = {""},
    .state = {{"value", OD_UNIT_OUT}, {"mode", "1"}},
};
#endif
