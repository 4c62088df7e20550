// Tables of results in memory.
#include "io/table.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/allocate.h"
#include "io/number.h"
#include "memory/scoped.h"

od_table *od_table_new(int columns) {
  OD_OWNED(od_table_free) od_table *table = od_calloc(1, sizeof *table);
  if (!table) return NULL;
  table->columns = columns;
  table->name = OD_TAKE(&table->arena, char *, columns);
  table->unit = OD_TAKE(&table->arena, char *, columns);
  char *empty = od_arena_text(&table->arena, "");
  if (od_arena_status(&table->arena) != OD_OK) return NULL;
  for (int i = 0; i < columns; i++) table->name[i] = table->unit[i] = empty;
  return OD_GIVE(table);
}

void od_table_free(od_table *table) {
  if (!table) return;
  od_free(table->places.line);
  od_free(table->data);
  od_arena_free(&table->arena);
  od_free(table);
}

// --- Reading, for programs ---------------------------------------------------------------------------------------------

long od_table_rows(const od_table *table) {
  return table->rows;
}

int od_table_columns(const od_table *table) {
  return table->columns;
}

static bool has_column(const od_table *table, int i) {
  return i >= 0 && i < table->columns;
}

const char *od_table_name(const od_table *table, int i) {
  return has_column(table, i) ? table->name[i] : "";
}

const char *od_table_unit(const od_table *table, int i) {
  return has_column(table, i) && table->unit[i] ? table->unit[i] : "";
}

int od_table_find(const od_table *table, const char *name) {
  for (int i = 0; i < table->columns; i++)
    if (!strcmp(table->name[i], name)) return i;
  return -1;
}

double od_table_value(const od_table *table, long row, int column) {
  if (!has_column(table, column) || row < 0 || row >= table->rows) return NAN;
  return table->data[row * table->columns + column];
}

void od_table_copy(const od_table *table, int column, double *values) {
  for (long i = 0; i < table->rows; i++) values[i] = od_table_value(table, i, column);
}

const double *od_table_data(const od_table *table) {
  return table->data;
}

od_status od_table_label(od_table *table, int column, const char *name, const char *unit) {
  if (column < 0 || column >= table->columns) return OD_BAD_ARGUMENT;
  char *new_name = od_arena_text(&table->arena, name ? name : "");
  char *new_unit = od_arena_text(&table->arena, unit ? unit : "");
  if (!new_name || !new_unit) return OD_NO_MEMORY;
  table->name[column] = new_name;
  table->unit[column] = new_unit;
  return OD_OK;
}

bool od_table_is_matlab(const char *path) {
  size_t n = strlen(path);
  return n >= 4 && !strcasecmp(path + n - 4, ".mat");
}

const char *od_table_flaw(const od_table *table, int column) {
  return table->places.flaw ? table->places.flaw[column] : NULL;
}

bool od_name_ends_in(const char *name, const char *ending) {
  size_t n = strlen(name), m = strlen(ending);
  return n > m && name[n - m - 1] == '.' && !strcmp(name + n - m, ending);
}

int od_name_is_time(const char *name) {
  if (!strcmp(name, "time")) return 8;
  if (!strcmp(name, "t")) return 7;
  if (!strcasecmp(name, "time")) return 6;
  if (!strcasecmp(name, "t")) return 5;
  if (!strcasecmp(name, "timestamp")) return 4;
  if (od_name_ends_in(name, "time")) return 3;
  const char *last = strrchr(name, '.');
  return last && last > name && !strcasecmp(last + 1, "timestamp") ? 2 : od_name_ends_in(name, "t");
}

int od_table_find_time(const od_table *table) {
  if (table->time > 0) return table->time - 1;
  bool text = table->places.column != NULL;
  int at = -1, best = text ? 1 : 0;  // in a text file, "oil.t" is probably a temperature, not a time
  bool alone = true;
  for (int i = 0; i < table->columns; i++) {
    int likeness = od_name_is_time(table->name[i]);
    if (at >= 0 && likeness == best) alone = false;
    if (likeness > best) at = i, best = likeness, alone = true;
  }
  if (at >= 0 && alone) return at;
  return table->columns > 0 && text ? 0 : -1;
}

char *od_label_split(char *text) {
  size_t n = strlen(text);
  char *open = NULL;
  if (n > 0 && text[n - 1] == ']') open = strrchr(text, '[');
  if (n > 0 && text[n - 1] == ')') open = strrchr(text, '(');
  if (!open || open == text) return NULL;
  // "points[1]" is the name of an entry of a list, without a unit.
  bool index = *open == '[' && open[-1] != ' ' && strspn(open + 1, "0123456789") == strlen(open) - 2;
  if (index) return NULL;
  text[n - 1] = '\0';
  char *unit = open + 1;
  do *open-- = '\0';
  while (open > text && (*open == ' ' || *open == '\t'));
  return unit;
}

int od_is_missing(const char *const *missing, const char *text, size_t length, double value) {
  for (; missing && *missing; missing++) {
    double given;
    if (text && strlen(*missing) == length && !memcmp(*missing, text, length)) return 1;
    if (od_number_parse(*missing, strlen(*missing), false, &given) && given == value) return 1;
  }
  return 0;
}

od_status od_table_append(od_table *table, const double *row) {
  size_t width = (size_t)table->columns;
  if (table->rows == table->capacity) {
    size_t larger = table->capacity ? 2 * (size_t)table->capacity : 64;
    if (width && larger > SIZE_MAX / sizeof(double) / width) return OD_NO_MEMORY;
    double *moved = od_realloc(table->data, (larger * width + 1) * sizeof(double));
    if (!moved) return OD_NO_MEMORY;
    table->data = moved;
    table->capacity = (long)larger;
  }
  if (width) memcpy(table->data + (size_t)table->rows * width, row, width * sizeof(double));
  table->rows++;
  return OD_OK;
}

od_status od_table_resize(od_table *table, long rows) {
  size_t width = (size_t)table->columns;
  if (rows < 0 || table->data) return OD_BAD_ARGUMENT;
  if (width && (size_t)rows > SIZE_MAX / sizeof(double) / width - 1) return OD_NO_MEMORY;
  table->data = od_calloc((size_t)rows * width + 1, sizeof(double));
  if (!table->data) return OD_NO_MEMORY;
  table->rows = table->capacity = rows;
  return OD_OK;
}

// Cells without a value (NaN) are ignored. A column without any value has NaN in all results.
void od_summing_take(od_summing *s, double value) {
  if (isnan(value)) return;
  s->present.min = s->count > 0 ? fmin(s->present.min, value) : value;
  s->present.max = s->count > 0 ? fmax(s->present.max, value) : value;
  s->present.final = value;
  s->squares += value * value;
  s->count++;
}

od_summary od_summing_result(const od_summing *s) {
  if (s->count == 0) return (od_summary){NAN, NAN, NAN, NAN};
  od_summary result = s->present;
  result.rms = sqrt(s->squares / (double)s->count);
  return result;
}

od_summary od_table_summary(const od_table *table, int column) {
  od_summing s = {0};
  for (long row = 0; row < table->rows; row++) od_summing_take(&s, table->data[row * table->columns + column]);
  return od_summing_result(&s);
}

const char *const od_take_names[] = {"min", "max", "peak", "mean", "rms", "final", NULL};

double od_table_take(const od_table *t, int column, od_take take, double from, double to) {
  double low = INFINITY, high = -INFINITY, sum = 0, squares = 0, last = NAN;
  long rows = 0;
  for (long i = 0; i < t->rows; i++) {
    const double *row = t->data + i * t->columns;
    double tolerance = 1e-9 * (1 + fabs(row[0]));
    if (row[0] < from - tolerance || row[0] > to + tolerance) continue;
    last = row[column];
    low = fmin(low, last), high = fmax(high, last);
    sum += last, squares += last * last;
    rows++;
  }
  if (rows == 0 || isnan(sum)) return NAN;
  switch (take) {
    case OD_TAKE_MIN: return low;
    case OD_TAKE_MAX: return high;
    case OD_TAKE_PEAK: return fmax(high, -low);
    case OD_TAKE_MEAN: return sum / (double)rows;
    case OD_TAKE_RMS: return sqrt(squares / (double)rows);
    default: return last;
  }
}

double od_table_loop(const od_table *t, int column, int over, double from, double to) {
  double middle = (od_table_take(t, over, OD_TAKE_MIN, from, to) + od_table_take(t, over, OD_TAKE_MAX, from, to)) / 2;
  double sum[2] = {0, 0};  // where `over` rises, where `over` falls
  long count[2] = {0, 0};
  const double *before = NULL;
  for (long i = 0; i < t->rows; i++) {
    const double *row = t->data + i * t->columns;
    double tolerance = 1e-9 * (1 + fabs(row[0]));
    if (row[0] < from - tolerance || row[0] > to + tolerance) continue;
    if (before && (before[over] < middle) != (row[over] < middle)) {
      int falls = row[over] < middle;
      double part = (middle - before[over]) / (row[over] - before[over]);
      sum[falls] += before[column] + part * (row[column] - before[column]);
      count[falls]++;
    }
    before = row;
  }
  return sum[1] / (double)count[1] - sum[0] / (double)count[0];
}
