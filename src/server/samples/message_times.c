#include "samples/message_times.h"

#include <string.h>

#include "formats/csv_times.h"
#include "memory/scoped.h"

// Returns the column of the times; -1: no column has a name of the times.
static int time_column(const od_table *table, const od_table_wish *wish) {
  for (int i = 0; wish && wish->time && i < table->columns; i++)
    if (strcmp(table->name[i], wish->time) == 0) return i;
  return wish && wish->time ? -1 : od_table_find_time(table);
}

// Returns whether a row has a cell of a column that is not empty.
static bool has_cell(const od_csv_lines *s, const char *row, size_t length, int column) {
  OD_SCRATCH(scratch);
  od_error ignored = {0};
  od_csv_reader r = {.path = s->name,
                     .at = row,
                     .end = row + length,
                     .line_start = row,
                     .line = s->line,
                     .separator = s->separator,
                     .err = &ignored};
  od_csv_cells cells = {0};
  return od_csv_read_line(&r, &scratch, &cells) == OD_OK && column < cells.count && cells.cell[column].length > 0;
}

od_status od_message_find_times(od_csv_lines *s, const char *row, size_t length, const od_table_wish *wish, bool *found,
                                od_error *err) {
  const int time = time_column(s->table, wish);
  *found = time < 0 || has_cell(s, row, length, time);
  if (!*found) return OD_OK;
  const od_status status = od_csv_find_times(s, row, length, wish, err);
  if (status != OD_OK || !s->times) return status;
  for (int i = 0; i < s->times->columns; i++) {
    const od_csv_time *t = &s->times->column[i];
    if (i != time || !t->is_open) continue;
    *found = false;
    od_fail(
        err, OD_BAD_INPUT,
        "the dates of the column '%.60s', such as '%.60s', can be read as day/month and as month/day; give the order "
        "as the unit of the time: dd/mm/yyyy or mm/dd/yyyy",
        s->table->name[i], t->first);
    od_csv_times_free(s->times);
    s->times = NULL;
    return OD_BAD_INPUT;
  }
  if (od_csv_times_since_1970(s->times)) return OD_OK;
  od_csv_times_free(s->times);
  s->times = NULL;
  return OD_OK;
}
