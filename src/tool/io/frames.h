// Rows over time, thinned for pages in bounded memory. Frames are rows at equal intervals, unchanged. For each interval between two
// frames, the least and the greatest value of each column in all rows of the interval are also stored, with their order. Both ends of
// an interval belong to the interval. If there are too many frames, their interval is doubled.
#ifndef OD_IO_FRAMES_H
#define OD_IO_FRAMES_H

#include <stdbool.h>

#include "io/chart.h"
#include "memory/scoped.h"
#include "oleodyn/status.h"

typedef struct od_frames od_frames;

// Creates frames for rows with this number of columns, in addition to the time. The interval is the time between frames, s. With more
// than `most` frames the interval is doubled. Returns NULL if an allocation fails.
od_frames *od_frames_new(int columns, double interval, long most);
void od_frames_free(od_frames *f);
OD_OWNED_POINTER(od_frames, od_frames_free);
// Adds a row at time t, s: one value per column. Times must increase. Fails with OD_NO_MEMORY.
od_status od_frames_append(od_frames *f, double t, const double *row);
// Makes the last row a frame. Call after the last row. Fails with OD_NO_MEMORY.
od_status od_frames_finish(od_frames *f);
// Returns the shortest interval that divides a series of `rows` rows at equal distances `step` into at most `most` intervals: 1, 2
// or 5 times a power of ten times the step.
double od_frames_interval(double rows, double step, long most);

// One column. Element i of an array has the index i * stride.
typedef struct od_frame_column {
  long count;                      // number of frames
  const double *x;                 // times of the frames, without a stride
  const double *value;             // values of the frames
  const double *low, *high;        // extremes in interval i, from frame i to frame i + 1; NAN: all values are missing
  const unsigned char *low_first;  // whether the least value occurs before the greatest one
  const unsigned char *has_gap;    // whether a value of the interval is missing
  long stride;
} od_frame_column;
od_frame_column od_frames_column(const od_frames *f, int column);

// Thins a series over x by combining rows to at most `most` intervals of equal numbers of rows. The arena owns the
// result. The result has a negative `count` if out of memory.
od_frame_column od_frames_of(const od_series *x, const od_series *y, long most, od_arena *arena);

// Returns whether no value is missing and the frames alone show the extremes of all intervals, within 0.2 % of the range of the column.
bool od_frames_are_enough(const od_frame_column *c);
// The points of a curve: the frames if od_frames_are_enough(), otherwise the envelope with two points per interval.
// od_frame_points() returns the number of points. od_frame_point() computes point i. is_envelope: whether the points are the envelope.
long od_frame_points(const od_frame_column *c);
void od_frame_point(const od_frame_column *c, bool is_envelope, long i, double *x, double *y);

#endif
