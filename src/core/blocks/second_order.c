// Second-order lag with the states v and v'. The outputs are y = gain v and its rate gain v':
//   T^2 v'' = u - v - 2 d T v'     T = 1/frequency, or the time constant itself
#ifdef OD_BLOCK_TEXT

typedef struct X(numbers) {
  od_x gain, frequency, damping;  // `frequency` holds the time constant if the file gives 'time_constant'
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  od_x T = b.s->choice[BY_TIME] ? q->frequency : 1 / q->frequency;
  b.y[0] = q->gain * b.x[0];
  b.y[1] = q->gain * b.x[1];
  b.rate[0] = b.x[1];
  b.rate[1] = (b.u[0] - b.x[0] - 2 * q->damping * T * b.x[1]) / (T * T);
}

#else
enum { BY_TIME };
#define OD_BLOCK_FILE "blocks/second_order.c"
#include "blocks/block_template_x.h"

const od_block_class od_second_order_block = {
    .type = "second-order",
    .states = 2,
    .holds = true,
    OD_BLOCK_EVALUATES,
};
const od_block_description od_second_order_block_description = {
    .equations = &od_second_order_block,
    .summary = "gain w^2/(s^2 + 2 d w s + w^2), and the rate of the output",
    .inputs = {{"input"}},
    .fields = {{"gain", OD_UNIT_RATIO, OD_ANY, 1, "static gain", .makes_unit = true},
               {"frequency", "rad/s", OD_POSITIVE, NAN, "natural frequency w", .or_key = "time_constant",
                .or_unit = "s", .limits = {1e-9, 1e10, 1e-4, 1e6}, .or_limits = OD_TIME_CONSTANT_LIMITS},
               {"damping", "1", OD_NOT_NEGATIVE, NAN, "damping ratio d", .limits = {0, 1e6, 0, 100}}},
    .choices = {[BY_TIME] = {OD_CHOICE_GIVEN, "time_constant"}},
    .outputs = {"", "rate"},
};
#endif
