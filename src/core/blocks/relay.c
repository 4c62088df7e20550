// Relay: a switch with hysteresis. The relay switches on when u rises to the upper threshold and off when u falls to the lower
// threshold; between the thresholds the relay keeps its mode.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES
#define OD_BLOCK_MODES

typedef struct X(numbers) {
  od_x lower, upper, off, on;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = RE(b.x[0]) > 0.5 ? q->on : q->off;
  b.rate[0] = 0;
}

static inline od_x X(margin)(const X(numbers) * q, X(block) b) {
  return RE(b.x[0]) > 0.5 ? b.u[0] - q->lower : q->upper - b.u[0];
}

static inline void X(switch_states)(const X(numbers) * q, X(block) b, od_x *next) {
  (void)q;
  next[0] = RE(b.x[0]) > 0.5 ? 0 : 1;
}

#ifndef OD_COMPLEX
// All derivatives are zero.
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  (void)q, (void)b, (void)by;
}
#endif

#else
#define OD_BLOCK_FILE "blocks/relay.c"
#include "blocks/block_template_x.h"

const od_block_class od_relay_block = {
    .type = "relay",
    .states = 1,
    .holds = true,
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
    OD_BLOCK_SWITCHES,
};
const od_block_description od_relay_block_description = {
    .equations = &od_relay_block,
    .summary = "one of two values: on when u rises to an upper threshold, off when u falls to a lower threshold",
    .inputs = {{"input"}},
    .fields = {{"thresholds", OD_UNIT_IN, OD_ANY, NAN,
                "[off, on]: the relay switches off when the input falls to 'off', and on when the input rises to 'on'",
                .shape = OD_BOUNDS},
               {"values", OD_UNIT_OUT, OD_ANY, NAN, "[off, on]: outputs of the relay", .shape = OD_TWO_NUMBERS,
                .pair = "[off, on]"}},
    .outputs = {""},
    .state = {{"mode", "1"}},
};
#endif
