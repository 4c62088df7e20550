// Dead zone: the part of u outside a band.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES

typedef struct X(numbers) {
  od_x lower, upper;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = b.u[0] - X(clamp)(b.u[0], q->lower, q->upper);
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  by[0] = 1 - clamp_slope(b.u[0], q->lower, q->upper);
}
#endif

#else
#define OD_BLOCK_FILE "blocks/dead_zone.c"
#include "blocks/block_template_x.h"

const od_block_class od_dead_zone_block = {
    .type = "dead-zone",
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_dead_zone_block_description = {
    .equations = &od_dead_zone_block,
    .summary = "the part of u outside a band",
    .inputs = {{"input"}},
    .keeps_unit = true,
    .fields = {{"band", OD_UNIT_OUT, OD_ANY, NAN, "[lower, upper] limits of the band", .shape = OD_BOUNDS}},
    .outputs = {""},
};
#endif
