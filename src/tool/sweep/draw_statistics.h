// Statistics of a result over random draws: mean, standard deviation and quantiles.
#ifndef OD_SWEEP_DRAW_STATISTICS_H
#define OD_SWEEP_DRAW_STATISTICS_H

#include <stdbool.h>

#include "io/table.h"

enum { OD_DRAW_LEVELS = 5 };
extern const double od_draw_levels[OD_DRAW_LEVELS];

typedef struct od_draw_statistics {
  long count;  // number of finite values
  double mean, deviation;
  double quantile[OD_DRAW_LEVELS];  // quantiles at od_draw_levels, by linear interpolation between the sorted values
} od_draw_statistics;

// Computes the statistics of a column over the rows in which the column is finite. False: out of memory.
bool od_draw_statistics_of(const od_table *table, int column, od_draw_statistics *out);

#endif
