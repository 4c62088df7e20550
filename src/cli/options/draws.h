// What comes of numbers that are drawn at random: mean, standard deviation and quantiles of results over many draws.
#ifndef OD_OPTIONS_DRAWS_H
#define OD_OPTIONS_DRAWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "io/table.h"
#include "random/draw.h"

// The columns of a table from `first` on, over its rows; those without a value do not count.
typedef struct od_spread {
  long count;
  double mean, deviation;
  double quantile[5];  // at od_spread_levels
} od_spread;
extern const double od_spread_levels[5];
bool od_spread_of(const od_table *table, int column, od_spread *out);  // false: memory ran out

bool od_spread_print(const od_table *table, int first, FILE *to);
json_t *od_spread_json(const od_table *table, int first);

#endif
