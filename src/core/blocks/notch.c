// Notch filter: y/u = gain (T^2 s^2 + 2 d0 T s + 1)/(T^2 s^2 + 2 d1 T s + 1), T = 1/frequency or the time constant itself.
#ifdef OD_BLOCK_TEXT
typedef struct X(numbers) {
  // `frequency` holds the time constant if the file gives 'time_constant'; above: damping ratio d0 of the numerator;
  // below: damping ratio d1 of the denominator
  od_x gain, frequency, above, below;
} X(numbers);
#include "blocks/rational_x.h"

static inline void X(coefficients)(const X(numbers) * q, X(block) b, X(rational) * r) {
  od_x T = b.s->choice[BY_TIME] ? q->frequency : 1 / q->frequency;
  r->n = 2;
  r->b[0] = q->gain;
  r->b[1] = 2 * q->gain * q->above * T;
  r->b[2] = q->gain * T * T;
  r->a[0] = 1;
  r->a[1] = 2 * q->below * T;
  r->a[2] = T * T;
}

#else
enum { BY_TIME };
#define OD_BLOCK_FILE "blocks/notch.c"
#include "blocks/block_template_x.h"

const od_block_class od_notch_block = {
    .type = "notch",
    .states = 2,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_notch_block_description = {
    .equations = &od_notch_block,
    .summary = "gain (T^2 s^2 + 2 d0 T s + 1)/(T^2 s^2 + 2 d1 T s + 1)",
    .inputs = {{"input"}},
    .fields = {{"gain", OD_UNIT_RATIO, OD_ANY, 1, "static gain", .makes_unit = true},
               {"frequency", "rad/s", OD_POSITIVE, NAN, "center frequency 1/T", .or_key = "time_constant",
                .or_unit = "s", .limits = {1e-9, 1e10, 1e-4, 1e6}, .or_limits = OD_TIME_CONSTANT_LIMITS},
               {"damping", "1", OD_NOT_NEGATIVE, NAN, "damping ratios [d0, d1]", .shape = OD_TWO_NUMBERS,
                .second_sign = OD_POSITIVE, .pair = "[d0, d1], the damping ratios of numerator and denominator",
                .limits = {0, 1e6, 0, 100}}},
    .choices = {[BY_TIME] = {OD_CHOICE_GIVEN, "time_constant"}},
    .outputs = {""},
};
#endif
