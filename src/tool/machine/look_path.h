// Outlines in a plane: paths in the notation of SVG, and polygons with round corners.
#ifndef OD_MACHINE_LOOK_PATH_H
#define OD_MACHINE_LOOK_PATH_H

#include <stdbool.h>

#include "base/arena.h"

enum { OD_MOST_PATH_POINTS = 4000 };

// The points of a line or polygon; the arena owns the points.
typedef struct od_path_points {
  double (*point)[2];
  int points;
} od_path_points;

// Reads the path of one line: the commands M, L, H, V, C, S, Q, T, A and Z of SVG, also in lower case. Curves become
// lines with deviations below 0.2 % of the extent of their control points. Returns false if the text is not such a
// path; *problem then describes the error, and *at is the place of the error in the text, from 1. If an allocation
// fails, the path is shorter (od_arena_status()).
bool od_path_read(od_arena *arena, const char *text, od_path_points *path, const char **problem, int *at);

// Returns the polygon with arcs of this radius in place of its corners. Next to short edges the radius is smaller.
od_path_points od_path_round(od_arena *arena, const od_path_points *path, double radius);

#endif
