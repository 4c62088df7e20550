#include "io/thin_table.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"

// Extremes of one column in a group of rows.
typedef struct extremes {
  double low, high;
  long low_at, high_at;  // rows of the group; -1: no value yet
} extremes;

struct od_thin_table {
  od_table *table;
  long length;  // rows of a group; 1: each row is in the table
  long count;   // rows in the current group
  double first, last;
  extremes *column;
  double *row;
  od_arena arena;
};

od_thin_table *od_thin_table_new(od_table *table) {
  OD_OWNED(od_thin_table_free) od_thin_table *t = od_calloc(1, sizeof *t);
  if (!t) return NULL;
  t->table = table;
  t->length = 1;
  t->column = OD_TAKE(&t->arena, extremes, table->columns);
  t->row = OD_TAKE(&t->arena, double, table->columns);
  return od_arena_status(&t->arena) == OD_OK ? OD_GIVE(t) : NULL;
}

void od_thin_table_free(od_thin_table *t) {
  if (!t) return;
  od_arena_free(&t->arena);
  od_free(t);
}

static void take(od_thin_table *t, const double *row) {
  if (t->count == 0) t->first = row[0];
  t->last = row[0];
  for (int c = 1; c < t->table->columns; c++) {
    extremes *e = &t->column[c];
    if (t->count == 0) *e = (extremes){NAN, NAN, -1, -1};
    if (isnan(row[c])) continue;
    if (e->low_at < 0 || row[c] < e->low) e->low = row[c], e->low_at = t->count;
    if (e->high_at < 0 || row[c] > e->high) e->high = row[c], e->high_at = t->count;
  }
  t->count++;
}

// Returns row 0 or 1 of the current group.
static const double *group_row(od_thin_table *t, int which) {
  t->row[0] = which ? t->last : t->first;
  for (int c = 1; c < t->table->columns; c++) {
    const extremes *e = &t->column[c];
    bool low = (e->low_at <= e->high_at) == (which == 0);
    t->row[c] = low ? e->low : e->high;
  }
  return t->row;
}

od_status od_thin_table_finish(od_thin_table *t) {
  od_status status = OD_OK;
  for (int k = 0; k < 2 && k < t->count && status == OD_OK; k++) status = od_table_append(t->table, group_row(t, k));
  t->count = 0;
  return status;
}

// Joins neighboring groups in pairs: every four rows of the table become two rows.
static void halve(od_thin_table *t) {
  od_table *table = t->table;
  size_t width = (size_t)table->columns;
  for (long k = 0; k < table->rows / 4; k++) {
    for (long i = 0; i < 4; i++) take(t, table->data + (size_t)(4 * k + i) * width);
    for (int i = 0; i < 2; i++)
      memcpy(table->data + (size_t)(2 * k + i) * width, group_row(t, i), width * sizeof *table->data);
    t->count = 0;
  }
  table->rows = table->rows / 4 * 2;
  t->length = t->length == 1 ? 4 : 2 * t->length;
}

od_status od_thin_table_append(od_thin_table *t, const double *row) {
  if (t->count == 0 && t->table->rows == OD_THIN_ROWS) halve(t);
  if (t->length == 1) return od_table_append(t->table, row);
  take(t, row);
  return t->count == t->length ? od_thin_table_finish(t) : OD_OK;
}
