// The first cell of a column that is not missing determines the kind of the column. Further rows determine the order of day and month.
#include "formats/csv_times.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/allocate.h"
#include "io/number.h"

enum { MOST_LINES = 256, MOST_CELLS = 1 << 16 };  // limits of the rows that determine the kinds of the columns
static const od_nanoseconds day = (od_nanoseconds)86400 * 1000000000;

// ---- Cells

bool od_csv_cell_is_value(const od_csv_reader *r, const od_csv_cell *c) {
  double ignored;
  return od_csv_cell_number(r, c, &ignored) || od_date_time_is(c->text, c->length);
}

static bool is_missing(const od_csv_reader *r, const od_csv_cell *c) {
  double value;
  return c->length == 0 || (od_csv_cell_number(r, c, &value) && isnan(value));
}

// Reads a Unix time. The result is in 1e-9 of the unit of the column. Returns false if the cell is not a number below 1e20.
static bool read_unix(const od_csv_reader *r, const od_csv_cell *c, od_nanoseconds *out) {
  const bool comma = r->separator != ',';
  od_decimal d;
  bool negative;
  double value;
  if (od_number_decimal(c->text, c->length, comma, &d, &negative) && d.exponent <= 9 && d.exponent >= -40) {
    od_nanoseconds size = d.digits;
    for (int e = d.exponent + 9; e > 0; e--) size *= 10;
    for (int e = d.exponent + 9; e < 0; e++) size /= 10;
    *out = negative ? -size : size;
    return true;
  }
  if (!od_number_parse(c->text, c->length, comma, &value) || !(fabs(value) < 1e20)) return false;
  *out = (od_nanoseconds)(value * 1e9);
  return true;
}

// Stores whether the date of a row can be read in both orders, and whether the dates of the rows differ. Returns false
// if the date can be read in neither order.
static bool note_order(od_csv_time *t, const od_csv_cell *c, od_date_time *found) {
  od_date_time now[3], before;
  bool any = false;
  for (int i = OD_DAY_FIRST; i <= OD_MONTH_FIRST; i++) {
    const bool is_read = od_date_time_parse(c->text, c->length, (od_date_order)i, &now[i]) && now[i].has_date;
    if (is_read && !any) *found = now[i];
    any = any || is_read;
    t->fails[i] = t->fails[i] || !is_read;
  }
  if (!any || t->fails[OD_DAY_FIRST]) return any;
  if (od_date_time_parse(t->first, strlen(t->first), OD_DAY_FIRST, &before) && before.at / day != found->at / day)
    t->varies = true;
  return true;
}

bool od_csv_time_read(const od_csv_reader *r, const od_csv_cell *c, int column) {
  od_csv_time *t = &r->times->column[column];
  t->is_given = false;
  if (is_missing(r, c)) return true;
  od_date_time now;
  if (t->kind == OD_CSV_UNIX) {
    t->is_given = read_unix(r, c, &t->now);
    return t->is_given;
  }
  if (t->is_open && !note_order(t, c, &now)) return false;
  if (r->times->is_survey) return true;
  // As long as all dates so far can be read in both orders, all dates must be equal.
  if (t->is_open && (t->varies || t->fails[OD_DAY_FIRST] || t->fails[OD_MONTH_FIRST])) return false;
  if (!od_date_time_parse(c->text, c->length, t->order, &now)) return false;
  if (now.has_date != (t->kind == OD_CSV_DATES)) return false;
  t->now = now.at;
  t->is_given = true;
  return true;
}

// ---- Rows

// Computes the time of a column in the current row, relative to the first row, in ns. Returns false if the row has no time.
static bool time_of_row(const od_csv_times *times, od_csv_time *t, od_nanoseconds *out) {
  if (!t->is_given) return false;
  if (t->kind != OD_CSV_TIME_OF_DAY) {
    *out = t->now - t->zero;
    return true;
  }
  if (t->date >= 0) {
    const od_csv_time *date = &times->column[t->date];
    *out = date->now - date->zero + t->now - t->zero;
    return date->is_given;
  }
  if (t->now < t->previous - day / 2) t->midnights++;
  t->previous = t->now;
  *out = t->now - t->zero + t->midnights * day;
  return true;
}

void od_csv_times_finish(const od_csv_reader *r, double *values) {
  od_csv_times *times = r->times;
  for (int i = 0; i < times->columns; i++) {
    od_csv_time *t = &times->column[i];
    od_nanoseconds relative;
    if (t->kind == OD_CSV_VALUES) continue;
    const bool has_value = !times->is_survey && time_of_row(times, t, &relative) && (!r->wanted || r->wanted[i]);
    values[i] = has_value ? od_seconds_of(relative) : (double)NAN;
  }
  for (int i = 0; i < times->columns; i++) times->column[i].is_given = false;
}

void od_csv_times_free(od_csv_times *times) {
  od_free(times);
}

od_csv_times *od_csv_times_copy(const od_csv_times *times) {
  const size_t size = sizeof *times + (size_t)times->columns * sizeof *times->column;
  od_csv_times *copy = od_malloc(size);
  if (!copy) return NULL;
  memcpy(copy, times, size);
  od_csv_times_rewind(copy);
  return copy;
}

void od_csv_times_rewind(od_csv_times *times) {
  for (int i = 0; i < times->columns; i++) {
    od_csv_time *t = &times->column[i];
    t->is_given = false;
    t->midnights = 0;
    t->previous = t->zero;
  }
}

bool od_csv_times_since_1970(od_csv_times *times) {
  bool any = false;
  for (int i = 0; i < times->columns; i++) {
    od_csv_time *t = &times->column[i];
    const bool is_of_day = t->kind == OD_CSV_TIME_OF_DAY;
    t->zero = 0;
    if (t->kind == OD_CSV_UNIX || (is_of_day && t->date < 0)) t->kind = OD_CSV_VALUES;
    any = any || t->kind != OD_CSV_VALUES;
  }
  return any;
}

// ---- Kinds

// Returns the unit in which a number is a time between 2000 and 2100. NULL: there is no such unit, or the header has another unit. unit: the
// unit in the header; "" if there is none.
static const char *unix_unit(double value, const char *unit) {
  static const struct {
    const char *unit;
    double size;
  } units[] = {{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}};
  for (int i = 0; i < 4; i++) {
    const bool is_in_range = value >= 946684800 * units[i].size && value < 4102444800 * units[i].size;
    if (is_in_range) return !unit[0] || strcmp(unit, units[i].unit) == 0 ? units[i].unit : NULL;
  }
  return NULL;
}

// Determines the kind of a column from its first cell. Returns false if the cell is missing. Only the time column may have Unix times.
static bool find_kind(const od_csv_reader *r, const od_csv_cell *c, const char *unit, bool is_time, od_csv_time *t) {
  double value;
  od_date_time found;
  if (is_missing(r, c)) return false;
  t->date = -1;
  if (c->length >= sizeof t->first) return true;
  memcpy(t->first, c->text, c->length);
  t->first[c->length] = '\0';
  if (od_csv_cell_number(r, c, &value)) {
    const char *named = is_time ? unix_unit(value, unit) : NULL;
    if (named && read_unix(r, c, &t->zero)) {
      t->kind = OD_CSV_UNIX;
      snprintf(t->unit, sizeof t->unit, "%s", named);
    }
    return true;
  }
  for (int order = OD_YEAR_FIRST; order <= OD_MONTH_FIRST; order++) {
    if (!od_date_time_parse(c->text, c->length, (od_date_order)order, &found)) continue;
    if (found.has_date && order == OD_YEAR_FIRST && !found.has_order) continue;  // years have four digits
    t->kind = found.has_date ? OD_CSV_DATES : OD_CSV_TIME_OF_DAY;
    t->only_dates = !found.has_time;
    t->has_zone = found.has_zone;
    t->is_open = found.has_date && !found.has_order;
    t->order = found.has_order ? OD_DAY_FIRST : (od_date_order)order;
    break;
  }
  return true;
}

// Reads one line and updates the columns. *left: number of columns without a kind, plus number of columns whose order
// of day and month is not known. Returns false if the line cannot be split into cells.
static bool read_line(od_csv_reader *r, od_csv_times *times, const od_table *table, int time, bool *is_known,
                      int *left) {
  OD_SCRATCH(scratch);
  od_csv_cells line = {0};
  if (od_csv_read_line(r, &scratch, &line) != OD_OK) return false;
  if (r->at < r->end) od_csv_next_line(r);
  *left = times->columns;
  for (int i = 0; i < times->columns; i++) {
    od_csv_time *t = &times->column[i];
    od_date_time ignored;
    if (i < line.count && !is_known[i]) is_known[i] = find_kind(r, &line.cell[i], table->unit[i], i == time, t);
    if (i < line.count && is_known[i] && t->is_open && !is_missing(r, &line.cell[i])) {
      // A later cell that is not a date is reported when the rows are read.
      od_csv_time before = *t;
      if (!note_order(t, &line.cell[i], &ignored)) *t = before;
    }
    *left -= is_known[i] && (!t->is_open || t->fails[OD_DAY_FIRST] || t->fails[OD_MONTH_FIRST]);
  }
  return true;
}

// Uses the first cell as the time zero. As long as the order of day and month is not known, the time zero is preliminary.
static void set_zero(od_csv_time *t) {
  od_date_time first;
  if (t->kind == OD_CSV_VALUES || t->kind == OD_CSV_UNIX) return;
  if (od_date_time_parse(t->first, strlen(t->first), t->order, &first)) t->zero = first.at;
  t->previous = t->zero;
}

// Chooses the order in which all dates can be read, if there is only one such order, and sets the time zero.
static void choose_order(od_csv_time *t) {
  if (t->is_open && t->fails[OD_DAY_FIRST] != t->fails[OD_MONTH_FIRST]) {
    t->order = t->fails[OD_DAY_FIRST] ? OD_MONTH_FIRST : OD_DAY_FIRST;
    t->is_open = false;
  }
  set_zero(t);
}

// Returns whether a name contains a word for times.
static bool names_time(const char *name) {
  static const char *const words[] = {"time", "stamp", "epoch", "unix", "utc", "date", "clock"};
  for (const char *c = name; *c; c++)
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
      if (strncasecmp(c, words[i], strlen(words[i])) == 0) return true;
  return od_name_is_time(name) > 0;
}

// Returns the column that may contain Unix times: the column that the wish names, or the column that od_table_find_time() finds if its name
// is a name of times. -1: there is no such column.
static int find_time_column(const od_table *table, const od_table_wish *wish) {
  if (wish && wish->time) {
    char name[128], number[16];
    snprintf(name, sizeof name, "%s", wish->time);
    od_label_split(name);  // removes the unit from a requested name such as "Time [s]"
    for (int i = 0; i < table->columns; i++) {
      snprintf(number, sizeof number, "%d", i + 1);
      if (strcmp(table->name[i], wish->time) == 0 || strcmp(table->name[i], name) == 0 || strcmp(number, name) == 0)
        return i;
    }
    return -1;
  }
  const int found = od_table_find_time(table);
  return found >= 0 && names_time(table->name[found]) ? found : -1;
}

// If only one column has dates without times, the times of the day in other columns belong to these dates.
static void join_dates(od_csv_times *times) {
  int date = -1, dates = 0;
  for (int i = 0; i < times->columns; i++)
    if (times->column[i].kind == OD_CSV_DATES && times->column[i].only_dates) date = i, dates++;
  for (int i = 0; dates == 1 && i < times->columns; i++)
    if (times->column[i].kind == OD_CSV_TIME_OF_DAY) times->column[i].date = date;
}

// Marks the time column of a table whose first column is not the time: the only other column with times of the day, with or without
// dates. Without such a column, or with several, marks no column.
static void mark_time(const od_csv_times *times, od_table *table) {
  int at = -1, count = 0;
  const od_csv_time *first = &times->column[0];
  if (od_table_find_time(table) != 0 || od_name_is_time(table->name[0]) > 1) return;
  if (first->kind == OD_CSV_VALUES ? names_time(table->name[0]) : !first->only_dates) return;
  for (int i = 1; i < times->columns; i++) {
    const od_csv_time *t = &times->column[i];
    if (t->kind == OD_CSV_TIME_OF_DAY || (t->kind == OD_CSV_DATES && !t->only_dates)) at = i, count++;
  }
  if (count == 1) table->time = at + 1;
}

od_status od_csv_times_find(const od_csv_reader *start, od_table *table, const od_table_wish *wish,
                            od_csv_times **out) {
  OD_SCRATCH(scratch);
  od_csv_reader r = *start;
  od_error ignored = {0};
  *out = NULL;
  bool *is_known = OD_TAKE(&scratch, bool, table->columns);
  od_csv_times *times = od_calloc(1, sizeof *times + (size_t)table->columns * sizeof *times->column);
  if (!times || !is_known) {
    od_csv_times_free(times);
    return od_csv_no_memory(start);
  }
  times->columns = table->columns;
  r.err = &ignored;
  const int time = find_time_column(table, wish);
  // The buffer of a stream contains the first MOST_LINES lines, unless the lines are very long.
  const int first = r.line;
  long cells = 0;
  int left = table->columns;
  for (; left > 0 && r.line - first < MOST_LINES && cells < MOST_CELLS && od_csv_find_line(&r); cells += table->columns)
    if (!read_line(&r, times, table, time, is_known, &left)) break;
  bool any = false;
  for (int i = 0; i < times->columns; i++) {
    od_csv_time *t = &times->column[i];
    const char *form = wish && wish->time_form ? wish->time_form : table->unit[i];
    if (t->kind == OD_CSV_DATES && od_date_order_of(form, &t->order)) t->is_open = false;
    choose_order(t);
    if (t->kind == OD_CSV_VALUES) continue;
    any = true;
    if (od_table_label(table, i, table->name[i], t->kind == OD_CSV_UNIX ? t->unit : "s") == OD_OK) continue;
    od_csv_times_free(times);
    return od_csv_no_memory(start);
  }
  join_dates(times);
  if (any) {
    mark_time(times, table);
    *out = times;
  } else {
    od_free(times);
  }
  return OD_OK;
}

// ---- The order of day and month

bool od_csv_times_are_open(const od_csv_times *times, const bool *wanted) {
  for (int i = 0; i < times->columns; i++) {
    const int date = times->column[i].kind == OD_CSV_TIME_OF_DAY ? times->column[i].date : -1;
    if (wanted && !wanted[i]) continue;
    if (times->column[i].is_open || (date >= 0 && times->column[date].is_open)) return true;
  }
  return false;
}

od_status od_csv_times_decide(const od_csv_reader *r, const od_table *table, const od_csv_times *survey) {
  for (int i = 0; i < r->times->columns; i++) {
    od_csv_time *t = &r->times->column[i];
    if (!t->is_open) continue;
    t->varies = survey->column[i].varies;
    memcpy(t->fails, survey->column[i].fails, sizeof t->fails);
    choose_order(t);
    if (!t->is_open || !t->varies) continue;
    od_error flaw;
    od_fail(&flaw, OD_BAD_INPUT,
            "%s: the dates of the column '%s', such as '%s', can be read as day/month and as month/day; give the order "
            "as the unit of the time: time: {column: %s, unit: dd/mm/yyyy} or mm/dd/yyyy; on the command line: --map "
            "'time=%s:dd/mm/yyyy'",
            r->path, table->name[i], t->first, table->name[i], table->name[i]);
    const od_status status = od_csv_add_flaw(r, i, &flaw);
    if (status != OD_OK) return status;
  }
  return OD_OK;
}

// Writes the time zero of a column into times->start. Returns false if the time is unknown.
static bool write_start(od_csv_times *times, const od_csv_time *t) {
  static const od_nanoseconds divisor[128] = {['s'] = 1, ['m'] = 1000, ['u'] = 1000000, ['n'] = 1000000000};
  const od_csv_time *date = t->kind == OD_CSV_TIME_OF_DAY && t->date >= 0 ? &times->column[t->date] : NULL;
  if (t->is_open || (date && date->is_open)) return false;
  if (t->kind == OD_CSV_DATES)
    od_date_time_text(times->start, t->zero, t->has_zone);
  else if (date)
    od_date_time_text(times->start, date->zero + t->zero, t->has_zone);
  else if (t->kind == OD_CSV_UNIX)
    od_date_time_text(times->start, t->zero / divisor[t->unit[0] & 127], true);
  else
    return false;
  return true;
}

const char *od_csv_times_start(od_csv_times *times, int column, const bool *wanted) {
  for (int i = 0; i < times->columns; i++)
    if ((column < 0 || i == column) && (!wanted || wanted[i]) && write_start(times, &times->column[i]))
      return times->start;
  return NULL;
}
