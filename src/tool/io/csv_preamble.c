// Lines of other text before the header of a CSV file.
#include "io/csv_cells.h"

enum { LONGEST_PREAMBLE = 200 };

// The number of cells of the line at r, with the given separator or, if zero, its own, and how many are numbers; 0: none. r
// goes to the next line.
static int count_cells(od_csv_reader *r, char separator, int *numbers) {
  OD_SCRATCH(scratch);
  od_csv_reader line = *r;
  od_csv_cells found = {0};
  od_error ignored = {0};
  line.separator = separator ? separator : od_csv_find_separator(&line);
  line.err = &ignored;
  int count = od_csv_read_line(&line, &scratch, &found) == OD_OK ? found.count : 0;
  *numbers = 0;
  for (int i = 0; i < count; i++) {
    double value;
    *numbers += found.cell[i].length > 0 && od_csv_cell_number(&line, &found.cell[i], &value);
  }
  while (!od_csv_at_line_end(r)) r->at++;
  if (r->at < r->end) od_csv_next_line(r);
  return count;
}

// The number of cells of a row of data: at least two cells, most of them numbers; else 0.
static int cells_of_row(od_csv_reader *r) {
  int numbers, count = count_cells(r, '\0', &numbers);
  return count >= 2 && 2 * numbers > count ? count : 0;
}

static int cells_of_text(od_csv_reader r, char separator) {
  int numbers, count = count_cells(&r, separator, &numbers);
  return numbers == 0 ? count : 0;
}

// Two consecutive rows with the same number of cells, or one at the end of the file, give the minimum width of the table. The
// header is the line before them, or the line before the units. If the first line already has this width, nothing is skipped.
void od_csv_skip_preamble(od_csv_reader *r) {
  od_csv_reader now = *r, before = *r, before_that = *r;
  for (int line = 0; line < LONGEST_PREAMBLE && od_csv_find_line(&now); line++) {
    od_csv_reader start = now, next = now;
    int count = cells_of_row(&next), following = count;
    od_csv_reader after = next;
    if (count > 0 && od_csv_find_line(&after)) following = cells_of_row(&after);
    if (count > 0 && following == count) {
      char separator = od_csv_find_separator(&start);
      int ignored;
      od_csv_reader first = *r;
      if (line < 1 || count_cells(&first, separator, &ignored) >= count) return;
      if (cells_of_text(before, separator) < count) return;
      *r = line > 1 && cells_of_text(before_that, separator) >= count ? before_that : before;
      return;
    }
    before_that = before;
    before = start;
    now = next;
  }
}
