// Switch: one of two signals, selected by a third signal with hysteresis. The block switches on when the control signal rises to
// the upper threshold. The block switches off when the control signal falls to the lower threshold.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES
#define OD_BLOCK_MODES

typedef struct X(numbers) {
  od_x lower, upper;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  (void)q;
  b.y[0] = RE(b.x[0]) > 0.5 ? b.u[1] : b.u[0];
  b.rate[0] = 0;
}

static inline od_x X(margin)(const X(numbers) * q, X(block) b) {
  return RE(b.x[0]) > 0.5 ? b.u[2] - q->lower : q->upper - b.u[2];
}

static inline void X(switch_states)(const X(numbers) * q, X(block) b, od_x *next) {
  (void)q;
  next[0] = RE(b.x[0]) > 0.5 ? 0 : 1;
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  (void)q;
  by[b.x[0] > 0.5 ? 2 : 1] = 1;  // the first column is the mode
}
#endif

#else
#define OD_BLOCK_FILE "blocks/selector.c"
#include "blocks/block_template_x.h"

const od_block_class od_selector_block = {
    .type = "switch",
    .states = 1,
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
    OD_BLOCK_SWITCHES,
};
const od_block_description od_selector_block_description = {
    .equations = &od_selector_block,
    .summary = "one of two signals, selected by a third signal with hysteresis",
    .inputs = {{"off"}, {"on", OD_UNIT_OUT}, {"control"}},
    .keeps_unit = true,
    .fields = {{"thresholds", "control", OD_ANY, NAN,
                "[off, on]: the block switches off when 'control' falls to 'off', and on when 'control' rises to 'on'",
                .shape = OD_BOUNDS}},
    .outputs = {""},
    .state = {{"mode", "1"}},
};
#endif
