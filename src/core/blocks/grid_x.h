// Common part of blocks whose output is bilinear between the points of a grid and constant outside. The inputs are the row value
// and the column value.
#include "blocks/interval_x.h"

typedef struct X(numbers) {
  od_x at[1];  // abscissae of rows (count: choice 0) and of columns (choice 1); then the values, row by row
} X(numbers);

static inline od_x X(on_grid)(const od_x *at, int rows, int columns, const od_x *u) {
  X(interval) i = X(interval_of)(at, rows, u[0]), j = X(interval_of)(at + rows, columns, u[1]);
  const od_x *low = at + rows + columns + i.first * columns + j.first, *high = low + columns;
  od_x below = low[0] + j.part * (low[1] - low[0]), above = high[0] + j.part * (high[1] - high[0]);
  return below + i.part * (above - below);
}

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = X(on_grid)(q->at, b.s->choice[0], b.s->choice[1], b.u);
}

#ifndef OD_COMPLEX
static inline void grid_slopes(const double *at, int rows, int columns, const double *u, double *by) {
  interval_r i = interval_of_r(at, rows, u[0]), j = interval_of_r(at + rows, columns, u[1]);
  const double *low = at + rows + columns + i.first * columns + j.first, *high = low + columns;
  double below = low[0] + j.part * (low[1] - low[0]), above = high[0] + j.part * (high[1] - high[0]);
  by[0] = (above - below) * part_slope(at, i);
  by[1] = ((1 - i.part) * (low[1] - low[0]) + i.part * (high[1] - high[0])) * part_slope(at + rows, j);
}

static inline void slopes(const numbers_r *q, block_r b, double *by) {
  grid_slopes(q->at, b.s->choice[0], b.s->choice[1], b.u, by);
}
#endif
