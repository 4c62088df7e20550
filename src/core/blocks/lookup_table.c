// Table: linear interpolation between points, constant beyond the first and the last point. Use a table for measured
// characteristics, such as friction as a function of position.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES
#include "blocks/interval_x.h"

typedef struct X(numbers) {
  od_x at[1];  // abscissae (count: choice 0), then the values
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  int count = b.s->choice[0];
  b.y[0] = X(on_lines)(q->at, q->at + count, count, b.u[0]);
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  int count = b.s->choice[0];
  by[0] = lines_slope(q->at, q->at + count, count, b.u[0]);
}
#endif

#else
#define OD_BLOCK_FILE "blocks/lookup_table.c"
#include "blocks/block_template_x.h"

const od_block_class od_table_block = {
    .type = "table",
    .is_linear = od_block_never_linear,
    .table_axes = 1,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_table_block_description = {
    .equations = &od_table_block,
    .summary = "linear interpolation between points, constant beyond them",
    .inputs = {{"input"}},
    .fields = {{"at", OD_UNIT_IN, OD_ANY, NAN, "inputs at the points, increasing", .shape = OD_ABSCISSAE},
               {"values", OD_UNIT_OUT, OD_ANY, NAN, "outputs at the points", .shape = OD_ORDINATES}},
    .choices = {{OD_CHOICE_ENTRIES, "at", 40}},
    .outputs = {""},
};
#endif
