// Map over two pressures, such as those of a cylinder's chambers: bilinear between the points of a grid, constant beyond it.
#ifdef OD_BLOCK_TEXT
#include "blocks/interval_x.h"

typedef struct X(numbers) {
  od_x at[1];  // choice 0 of pressure a, choice 1 of pressure b, then the values, row by row of a
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  int rows = b.s->choice[0], columns = b.s->choice[1];
  X(interval) i = X(interval_of)(q->at, rows, b.u[0]), j = X(interval_of)(q->at + rows, columns, b.u[1]);
  const od_x *low = q->at + rows + columns + i.first * columns + j.first, *high = low + columns;
  od_x below = low[0] + j.part * (low[1] - low[0]), above = high[0] + j.part * (high[1] - high[0]);
  b.y[0] = below + i.part * (above - below);
}

#else
#define OD_BLOCK_FILE "blocks/pressure_map.c"
#include "blocks/block_both_x.h"

const od_block_class od_pressure_map_block = {
    .type = "pressure-map",
    .summary = "bilinear between the points of a grid over two pressures, constant beyond it",
    .inputs = {{"a", "Pa"}, {"b", "Pa"}},
    .fields = {{"at_a", "Pa", OD_ANY, NAN, "pressures a of the grid, increasing", .shape = OD_ABSCISSAE},
               {"at_b", "Pa", OD_ANY, NAN, "pressures b of the grid, increasing", .shape = OD_ABSCISSAE},
               {"values", OD_UNIT_OUT, OD_ANY, NAN, "outputs: all of the first pressure a, then of the next",
                .shape = OD_ORDINATES}},
    .choices = {{OD_CHOICE_ENTRIES, "at_a", 8}, {OD_CHOICE_ENTRIES, "at_b", 8}},
    .outputs = {""},
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
};
#endif
