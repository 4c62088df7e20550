#include "io/frames.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"

struct od_frames {
  int columns;
  double interval, next, begin;  // time between frames, time of the next frame, time of the first frame, s
  long most, count, capacity;
  double *x, *value, *low, *high;
  unsigned char *low_first, *has_gap;
  double last_t, *last;  // the last row
};

od_frames *od_frames_new(int columns, double interval, long most) {
  OD_OWNED(od_frames_free) od_frames *f = od_calloc(1, sizeof *f);
  if (!f) return NULL;
  f->columns = columns;
  f->interval = interval;
  f->most = most < 4 ? 4 : most;
  f->last = od_calloc((size_t)columns + 1, sizeof *f->last);
  return f->last ? OD_GIVE(f) : NULL;
}

void od_frames_free(od_frames *f) {
  if (!f) return;
  od_free(f->x);
  od_free(f->value);
  od_free(f->low);
  od_free(f->high);
  od_free(f->low_first);
  od_free(f->has_gap);
  od_free(f->last);
  od_free(f);
}

static bool grow(void **block, size_t count, size_t size) {
  void *larger = od_realloc(*block, count * size);
  if (larger) *block = larger;
  return larger != NULL;
}

static bool make_room(od_frames *f) {
  if (f->count < f->capacity) return true;
  size_t more = (size_t)(f->capacity ? 2 * f->capacity : 256), cells = more * (size_t)(f->columns + 1);
  bool ok = grow((void **)&f->x, more, sizeof *f->x) && grow((void **)&f->value, cells, sizeof *f->value) &&
            grow((void **)&f->low, cells, sizeof *f->low) && grow((void **)&f->high, cells, sizeof *f->high) &&
            grow((void **)&f->low_first, cells, 1) && grow((void **)&f->has_gap, cells, 1);
  if (ok) f->capacity = (long)more;
  return ok;
}

// The extremes of one column in one interval.
typedef struct extremes {
  double *low, *high;
  unsigned char *low_first, *has_gap;
} extremes;

static void begin_extremes(extremes e, double value) {
  *e.low = *e.high = isfinite(value) ? value : (double)NAN;
  *e.low_first = 1;
  *e.has_gap = (unsigned char)(isfinite(value) ? 0 : 1);
}

// Adds a later value of the interval to the extremes.
static void take(extremes e, double value) {
  if (!isfinite(value)) {
    *e.has_gap = 1;
  } else if (isnan(*e.low)) {
    *e.low = *e.high = value;
  } else if (value < *e.low) {
    *e.low = value;
    *e.low_first = 0;
  } else if (value > *e.high) {
    *e.high = value;
    *e.low_first = 1;
  }
}

static extremes extremes_at(const od_frames *f, long interval, int column) {
  size_t i = (size_t)interval * (size_t)f->columns + (size_t)column;
  return (extremes){&f->low[i], &f->high[i], &f->low_first[i], &f->has_gap[i]};
}

// Adds the extremes `later` of the next interval.
static void join(extremes e, extremes later) {
  bool lower = isnan(*e.low) || *later.low < *e.low, higher = isnan(*e.high) || *later.high > *e.high;
  if (lower && higher)
    *e.low_first = *later.low_first;
  else if (lower || higher)
    *e.low_first = higher;
  if (lower) *e.low = *later.low;
  if (higher) *e.high = *later.high;
  if (*later.has_gap) *e.has_gap = 1;
}

// Removes every second frame and doubles the interval.
static void halve(od_frames *f) {
  size_t width = (size_t)f->columns;
  for (long i = 0; 2 * i < f->count; i++) {
    f->x[i] = f->x[2 * i];
    memmove(f->value + (size_t)i * width, f->value + (size_t)(2 * i) * width, width * sizeof *f->value);
    for (int c = 0; c < f->columns; c++) {
      extremes to = extremes_at(f, i, c), from = extremes_at(f, 2 * i, c);
      *to.low = *from.low;
      *to.high = *from.high;
      *to.low_first = *from.low_first;
      *to.has_gap = *from.has_gap;
      if (2 * i + 1 < f->count) join(to, extremes_at(f, 2 * i + 1, c));
    }
  }
  f->count = (f->count + 1) / 2;
  f->interval *= 2;
}

static od_status add_frame(od_frames *f, double t, const double *row) {
  if (!make_room(f)) return OD_NO_MEMORY;
  f->x[f->count] = t;
  if (f->columns > 0) memcpy(f->value + (size_t)f->count * (size_t)f->columns, row, (size_t)f->columns * sizeof *row);
  for (int c = 0; c < f->columns; c++) begin_extremes(extremes_at(f, f->count, c), row[c]);
  f->count++;
  return OD_OK;
}

od_status od_frames_append(od_frames *f, double t, const double *row) {
  if (f->count == 0) f->begin = t;
  for (int c = 0; c < f->columns && f->count > 0; c++) take(extremes_at(f, f->count - 1, c), row[c]);
  bool is_frame = f->count == 0 || t >= f->next - 1e-6 * f->interval;
  f->last_t = t;
  if (f->columns > 0) memcpy(f->last, row, (size_t)f->columns * sizeof *row);
  if (!is_frame) return OD_OK;
  od_status status = add_frame(f, t, row);
  if (status != OD_OK) return status;
  if (f->count > f->most) halve(f);
  f->next = f->begin + f->interval * (floor((t - f->begin) / f->interval + 1e-6) + 1);
  return OD_OK;
}

// The last row has already been added to the last interval. Fails with OD_NO_MEMORY.
od_status od_frames_finish(od_frames *f) {
  bool is_frame = f->count == 0 || f->x[f->count - 1] == f->last_t;
  return is_frame ? OD_OK : add_frame(f, f->last_t, f->last);
}

double od_frames_interval(double rows, double step, long most) {
  double every = 1, power = 1;
  while (rows / every > (double)most) {
    static const double factor[] = {2, 5, 10};
    for (int i = 0; i < 3 && rows / every > (double)most; i++) every = power * factor[i];
    if (every == 10 * power) power = every;
  }
  return every * step;
}

od_frame_column od_frames_column(const od_frames *f, int column) {
  return (od_frame_column){.count = f->count,
                           .x = f->x,
                           .value = f->value + column,
                           .low = f->low + column,
                           .high = f->high + column,
                           .low_first = f->low_first + column,
                           .has_gap = f->has_gap + column,
                           .stride = f->columns};
}

od_frame_column od_frames_of(const od_series *x, const od_series *y, long most, od_arena *arena) {
  long rows = y->count, every = rows > 1 ? lround(od_frames_interval((double)(rows - 1), 1, most)) : 1;
  long count = rows > 0 ? (rows - 2 + every) / every + 1 : 0;
  double *at = OD_TAKE(arena, double, count), *value = OD_TAKE(arena, double, count);
  double *low = OD_TAKE(arena, double, count), *high = OD_TAKE(arena, double, count);
  unsigned char *low_first = OD_TAKE(arena, unsigned char, count), *has_gap = OD_TAKE(arena, unsigned char, count);
  if (!at || !value || !low || !high || !low_first || !has_gap) return (od_frame_column){.count = -1};
  for (long i = 0; i < count; i++) {
    long first = i * every < rows - 1 ? i * every : rows - 1,
         last = first + every < rows - 1 ? first + every : rows - 1;
    extremes e = {&low[i], &high[i], &low_first[i], &has_gap[i]};
    at[i] = od_series_at(x, first);
    value[i] = od_series_at(y, first);
    begin_extremes(e, value[i]);
    for (long k = first + 1; k <= last; k++) take(e, od_series_at(y, k));
  }
  return (od_frame_column){count, at, value, low, high, low_first, has_gap, 1};
}

bool od_frames_are_enough(const od_frame_column *c) {
  double low = INFINITY, high = -INFINITY;
  for (long i = 0; i < c->count; i++) {
    low = fmin(low, c->low[i * c->stride]);
    high = fmax(high, c->high[i * c->stride]);
  }
  double tolerance = 2e-3 * (high - low);
  for (long i = 0; i + 1 < c->count; i++) {
    long k = i * c->stride, next = k + c->stride;
    if (c->has_gap[k]) return false;
    if (c->low[k] < fmin(c->value[k], c->value[next]) - tolerance) return false;
    if (c->high[k] > fmax(c->value[k], c->value[next]) + tolerance) return false;
  }
  return true;
}

long od_frame_points(const od_frame_column *c) {
  return c->count < 2 || od_frames_are_enough(c) ? c->count : 2 * (c->count - 1);
}

void od_frame_point(const od_frame_column *c, bool is_envelope, long i, double *x, double *y) {
  long k = is_envelope ? i / 2 : i, at = k * c->stride;
  bool is_low = (i % 2 == 0) == (c->low_first[at] != 0);
  *x = c->x[k];
  *y = c->value[at];
  if (!is_envelope) return;
  // The last point is at the last frame, so that curves have the length of the run.
  if (i % 2 == 1) *x = i == 2 * c->count - 3 ? c->x[k + 1] : (c->x[k] + c->x[k + 1]) / 2;
  *y = is_low ? c->low[at] : c->high[at];
}
