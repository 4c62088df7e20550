// Maximum of several signals with the same unit, times a gain.
#ifdef OD_BLOCK_TEXT
#define OD_BEATS(a, b) ((a) > (b))
#include "blocks/extreme_x.h"
#undef OD_BEATS

#else
#define OD_BLOCK_FILE "blocks/maximum.c"
#include "blocks/block_template_x.h"

static bool is_linear(const od_block_spec *s) {
  return s->inputs == 1;
}

const od_block_class od_maximum_block = {
    .type = "maximum",
    .is_linear = is_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_maximum_block_description = {
    .equations = &od_maximum_block,
    .summary = "gain times the largest input",
    .inputs = {{"inputs", .list = true}},
    .keeps_unit = true,
    .fields = {{"gain", "1", OD_ANY, 1, "factor that multiplies the output"}},
    .outputs = {""},
};
#endif
