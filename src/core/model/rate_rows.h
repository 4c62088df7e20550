// Derivatives of the rates of the circuit in the work memory, whether rows have all columns or are sparse (model/join_rows.c).
#ifndef OD_RATE_ROWS_H
#define OD_RATE_ROWS_H

#include "model/model.h"

// Where in w the slope of a rate by a column stands; what is not there in sparse rows is where slopes by nothing are added.
static inline int od_rate_place(const od_model *m, int state, int column) {
  const od_layout *l = &m->layout;
  if (!m->join.row_start) return l->rate_row + state * l->rate_width + column;
  int low = m->join.row_start[state], end = m->join.row_start[state + 1], high = end;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (m->join.row_column[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && m->join.row_column[low] == column ? l->rate_row + low : l->scalars_real - 1;
}
static inline double od_rate_slope(const od_model *m, const double *w, int state, int column) {
  int place = od_rate_place(m, state, column);
  return m->join.row_start && place == m->layout.scalars_real - 1 ? 0 : w[place];
}

#endif
