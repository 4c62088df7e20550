// Numbers that are drawn at random, and what comes of them: mean, standard deviation and quantiles of results over many draws.
#ifndef OD_CLI_DRAWS_H
#define OD_CLI_DRAWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "io/table.h"

typedef enum od_draw_kind { OD_DRAW_NORMAL, OD_DRAW_UNIFORM } od_draw_kind;

// "normal:50 mm:0.1 mm" (mean and standard deviation) or "uniform:49 mm:51 mm" (from and to).
typedef struct od_draw {
  od_draw_kind kind;
  double a, b;
} od_draw;

// The word before the first colon; false: it is none, and nothing is said.
bool od_draw_kind_find(const char *word, size_t length, od_draw_kind *kind);
// The number of a draw, which depends on the seed, the path and the draw alone: not on the others, nor on threads.
double od_draw_value(const od_draw *draw, uint64_t seed, const char *path, int which);

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
