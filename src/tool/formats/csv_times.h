// Columns of CSV files that contain times: dates and times as texts (io/date_time.h), and Unix times. The cells below the header determine
// the kind of a column. The values of such a column are relative to its first row. A column of dates and a column of times of the day
// together are a time.
#ifndef OD_FORMATS_CSV_TIMES_H
#define OD_FORMATS_CSV_TIMES_H

#include "formats/csv_cells.h"
#include "io/date_time.h"

typedef enum od_csv_kind {
  OD_CSV_VALUES,       // numbers, or texts that are not times
  OD_CSV_DATES,        // dates, with or without times of the day
  OD_CSV_TIME_OF_DAY,  // times of the day: a time before the previous one by more than 12 h belongs to the next day
  OD_CSV_UNIX          // seconds, ms, us or ns since 1970
} od_csv_kind;

typedef struct od_csv_time {
  od_csv_kind kind;
  bool only_dates;      // of OD_CSV_DATES
  bool has_zone;        // whether the times are UTC
  od_date_order order;  // of OD_CSV_DATES
  bool is_open;         // whether day and month of all dates so far can be exchanged
  bool fails[3];        // per order: whether the dates of some row cannot be read
  bool varies;          // whether the dates of some rows differ
  int date;             // for OD_CSV_TIME_OF_DAY: index of the column with the dates, or -1
  char first[64];       // the first cell: the time zero
  char unit[4];         // for OD_CSV_UNIX: s, ms, us or ns
  // The time zero, and the last row. The times are in ns. Unix times are in 1e-9 of their unit.
  bool is_given;  // whether the last row has a value
  od_nanoseconds zero, now, previous;
  long midnights;  // number of midnights since the first row
} od_csv_time;

typedef struct od_csv_times {
  int columns;
  char start[OD_DATE_TIME_SIZE];  // for od_csv_times_start()
  bool is_survey;                 // whether the rows are only read to find the order of day and month
  od_csv_time column[];
} od_csv_times;

// Finds the columns with times from the rows at r, and writes their units into the table. wish may be NULL. *out NULL: there are no such
// columns. Fails with OD_NO_MEMORY.
od_status od_csv_times_find(const od_csv_reader *r, od_table *table, const od_table_wish *wish, od_csv_times **out);
void od_csv_times_free(od_csv_times *times);
OD_OWNED_POINTER(od_csv_times, od_csv_times_free);
// Returns a copy that has not read any row yet, or NULL if an allocation fails.
od_csv_times *od_csv_times_copy(const od_csv_times *times);
// Returns to the state before the first row.
void od_csv_times_rewind(od_csv_times *times);

// Changes the values to seconds since 1970. Unix times become plain numbers in the unit of their column, and times of the day without
// dates become texts. Returns whether there are columns with dates.
bool od_csv_times_since_1970(od_csv_times *times);

// Returns whether a cell is empty, a text for a missing value, a number, or a date or time.
bool od_csv_cell_is_value(const od_csv_reader *r, const od_csv_cell *c);
// Reads the cell of a column with times. Returns false if the cell is not a time, or if the order of day and month is not known.
bool od_csv_time_read(const od_csv_reader *r, const od_csv_cell *c, int column);
// Computes the values of the columns with times after all cells of a row were read.
void od_csv_times_finish(const od_csv_reader *r, double *values);

// ---- The order of day and month

// Returns whether all rows must be read to find the order of a column in use.
bool od_csv_times_are_open(const od_csv_times *times, const bool *wanted);
// Adds the results of a survey of all rows and determines the orders. A column whose order remains unknown, although its rows have
// different dates, gets a flaw. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_csv_times_decide(const od_csv_reader *r, const od_table *table, const od_csv_times *survey);

// Returns the date and time of the first row of a column as in ISO 8601, valid until the next call; NULL: unknown. column -1: the first
// column in use with such a time.
const char *od_csv_times_start(od_csv_times *times, int column, const bool *wanted);

#endif
