// Random numbers from a distribution.
#ifndef OD_DRAW_H
#define OD_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum od_draw_kind { OD_DRAW_NORMAL, OD_DRAW_UNIFORM } od_draw_kind;

// A normal distribution with mean a and standard deviation b, or a uniform distribution from a to b.
typedef struct od_draw {
  od_draw_kind kind;
  double a, b;
} od_draw;

// Finds a kind of distribution by its name. Returns false if no kind has this name.
bool od_draw_kind_find(const char *word, size_t length, od_draw_kind *kind);
// Returns the value of draw `which` for the number with this path. The value depends only on the distribution, the seed, the path
// and the index `which`, not on other draws or on threads.
double od_draw_value(const od_draw *draw, uint64_t seed, const char *path, int which);

#endif
