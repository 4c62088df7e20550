#include "linear/pole_order.h"

#include <math.h>

// Distance relative to the larger of both. A pole of a pair does not become the other one.
static double distance(od_pole a, od_pole b) {
  double size = fmax(hypot(a.real, a.imaginary), hypot(b.real, b.imaginary));
  double apart = hypot(a.real - b.real, a.imaginary - b.imaginary);
  return (size > 0 ? apart / size : 0) + (a.imaginary * b.imaginary < 0 ? 2 : 0);
}

// Linear extrapolation from two points, limited to half of the pole's size, because long steps extrapolate badly.
static od_pole expect(od_pole earlier, od_pole before) {
  double real = before.real - earlier.real, imaginary = before.imaginary - earlier.imaginary;
  double length = hypot(real, imaginary), most = hypot(before.real, before.imaginary) / 2;
  double part = length > most ? most / length : 1;
  return (od_pole){before.real + part * real, before.imaginary + part * imaginary};
}

// The assignment problem by shortest augmenting paths (the Hungarian method). Rows and columns are counted from 1; column 0
// stands for the row to be assigned.
typedef struct assignment {
  int n;
  double *cost, *row_price, *column_price, *least;
  int *row_of, *previous;
  bool *used;
} assignment;

static void assign_row(assignment *a, int row) {
  int column = 0;
  a->row_of[0] = row;
  for (int j = 0; j <= a->n; j++) a->least[j] = INFINITY, a->used[j] = false;
  do {
    int from = a->row_of[column], next = 0;
    double delta = INFINITY;
    a->used[column] = true;
    for (int j = 1; j <= a->n; j++) {
      if (a->used[j]) continue;
      double reduced = a->cost[(from - 1) * a->n + j - 1] - a->row_price[from] - a->column_price[j];
      if (reduced < a->least[j]) a->least[j] = reduced, a->previous[j] = column;
      if (a->least[j] < delta) delta = a->least[j], next = j;
    }
    for (int j = 0; j <= a->n; j++)
      if (a->used[j])
        a->row_price[a->row_of[j]] += delta, a->column_price[j] -= delta;
      else
        a->least[j] -= delta;
    column = next;
  } while (a->row_of[column] != 0);
  while (column != 0) {
    int before = a->previous[column];
    a->row_of[column] = a->row_of[before];
    column = before;
  }
}

bool od_poles_follow(int count, const od_pole *earlier, const od_pole *before, const od_pole *now, int *order) {
  OD_SCRATCH(scratch);
  int line = count + 1;
  assignment a = {.n = count,
                  .cost = OD_TAKE(&scratch, double, (long)count *count),
                  .row_price = OD_TAKE(&scratch, double, line),
                  .column_price = OD_TAKE(&scratch, double, line),
                  .least = OD_TAKE(&scratch, double, line),
                  .row_of = OD_TAKE(&scratch, int, line),
                  .previous = OD_TAKE(&scratch, int, line),
                  .used = OD_TAKE(&scratch, bool, line)};
  if (od_arena_status(&scratch) != OD_OK) return false;
  for (int i = 0; i < count; i++) {
    od_pole expected = earlier ? expect(earlier[i], before[i]) : before[i];
    for (int j = 0; j < count; j++) {
      double d = distance(expected, now[j]);
      a.cost[i * count + j] = isfinite(d) ? d : 2;
    }
  }
  for (int row = 1; row <= count; row++) assign_row(&a, row);
  for (int j = 1; j <= count; j++) order[a.row_of[j] - 1] = j - 1;
  return true;
}
