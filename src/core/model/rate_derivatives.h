// Functions that locate the derivatives of the circuit's rates in the work memory, for full rows and sparse rows
// (model/rate_sparsity.c).
#ifndef OD_RATE_DERIVATIVES_H
#define OD_RATE_DERIVATIVES_H

#include "model/model.h"

// Returns the index of a column in an increasing list, or -1.
static inline int od_find_column(const int *list, int count, int column) {
  int low = 0, high = count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (list[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && list[low] == column ? low : -1;
}

// Returns the place in w of the derivative of a rate with respect to a column. For an entry that a sparse row does not contain,
// returns the place of derivatives with respect to constants.
static inline int od_rate_place(const od_model *m, int state, int column) {
  const od_layout *l = &m->layout;
  const od_join *j = &m->join;
  if (!j->row_start) return l->rate_row + state * l->rate_width + column;
  int begin = j->row_start[state], at = od_find_column(j->row_column + begin, j->row_start[state + 1] - begin, column);
  return at < 0 ? l->scalars_real - 1 : l->rate_row + begin + at;
}
static inline double od_rate_slope(const od_model *m, const double *w, int state, int column) {
  if (!m->join.row_start) return w[m->layout.rate_row + state * m->layout.rate_width + column];
  int place = od_rate_place(m, state, column);
  return place == m->layout.scalars_real - 1 ? 0 : w[place];
}

// Return the group of a junction, its row in w, and the place of a column in this row.
static inline const od_junction_group *od_junction_group_of(const od_model *m, int junction) {
  return &m->join.at_junction.group[m->join.at_junction.group_of[junction]];
}
static inline int od_junction_row(const od_model *m, int junction) {
  const od_junction_group *g = od_junction_group_of(m, junction);
  return g->row + (junction - g->first) * g->width;
}
static inline int od_junction_place(const od_model *m, int junction, int column) {
  const od_junction_group *g = od_junction_group_of(m, junction);
  int at = column;
  if (g->column >= 0) at = od_find_column(m->join.at_junction.column + g->column, g->columns, column);
  return at < 0 ? m->layout.scalars_real - 1 : od_junction_row(m, junction) + at;
}

#endif
