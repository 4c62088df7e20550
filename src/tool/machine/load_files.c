// Loads signals from files: one column of a text, MATLAB, MDF or HDF5 file over another column.
//
// The unit of a column comes from the machine file, else from the header of the column. Without these units, the column is in the
// SI unit.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document/document.h"
#include "document/suggest.h"
#include "formats/read_table.h"
#include "io/table.h"
#include "io/time_unit.h"
#include "io/wording.h"
#include "machine/machine_loader.h"
#include "machine/sections.h"

static const od_key keys[] = {
    {"path", OD_TEXT, NULL,
     "path of a text, MATLAB, MDF or HDF5 file in the format of [logs](logs.md), relative to the machine file",
     .fallback = OD_REQUIRED},
    {"time", OD_TEXT, NULL, "name of the time column",
     .otherwise = "the first column; in MATLAB files the variable `time` or `t`"},
    {"column", OD_TEXT, NULL, "name of the column of values; `'U(2,:)'` is a row of a matrix", .fallback = OD_REQUIRED},
    {"unit", OD_TEXT, NULL, "unit of the column",
     .otherwise = "the unit in the header of the file, else the unit of the input"},
    {"skip",
     OD_WHOLE,
     NULL,
     "number of lines before the header of a CSV file",
     OD_ANY,
     0,
     {0, 999999},
     "found automatically"},
};
const od_section_class od_file_signal_section = {"file signal", "samples of a file, connected by straight lines",
                                                 OD_KEYS(keys)};

// Returns the column whose name is given at a node, or -1 after reporting an error.
static int find_column(od_loader *ld, const od_table *table, int node, const char *name) {
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < table->columns; i++) {
    if (table->name[i] == NULL) continue;
    if (strcmp(table->name[i], name) == 0) return i;
    od_nearest_try(&nearest, table->name[i]);
  }
  od_complain(ld, node, "the file has no column '%s'%s", od_excerpt(ld, name),
              od_nearest_suggestion(&nearest, NULL).text);
  return -1;
}

// Returns whether the unit of a column can be converted to the SI unit `wanted`. If not, reports an error at the node.
static bool check_unit(od_loader *ld, int node, const char *column, const char *unit, const char *wanted) {
  double value;
  od_unit_verdict verdict = od_units_convert(ld->units, unit, wanted, 1, &value);
  if (verdict == OD_UNIT_UNKNOWN)
    od_complain(ld, node, "unknown unit '%s' of column '%s'; give a known unit with the key 'unit'",
                od_excerpt(ld, unit), od_excerpt(ld, column));
  else if (verdict == OD_UNIT_MISFITS)
    od_complain(ld, node, "column '%s' is in '%s'; expected %s", od_excerpt(ld, column), od_excerpt(ld, unit), wanted);
  return verdict == OD_UNIT_FITS;
}

typedef struct column {
  int index;
  const char *unit;    // unit in the file
  const char *wanted;  // SI unit
} column;

// Adds the samples as a signal in SI units and returns the index of the signal. If there are no samples or more than 100 million, a
// sample is not finite, or the times decrease, reports an error and returns -1. Also returns -1 if an allocation fails. If several
// samples have the same time, uses the first of these samples.
static int add_samples(od_loader *ld, const od_table *table, column time, column value, int node) {
  if (table->rows == 0 || table->rows > 100000000) {
    od_complain(ld, node,
                table->rows == 0 ? "the file has no samples; expected at least one row of numbers"
                                 : "the file has more than 100 million samples, the largest allowed number");
    return -1;
  }
  OD_SCRATCH(scratch);
  double *pairs = OD_TAKE(&scratch, double, 2 * table->rows);
  long count = 0;
  if (pairs == NULL) ld->no_memory = true;
  if (pairs == NULL) return -1;
  for (long row = 0; row < table->rows; row++) {
    const double *cells = table->data + row * table->columns;
    double *pair = pairs + 2 * count;
    od_units_convert(ld->units, time.unit, time.wanted, cells[time.index], &pair[0]);
    od_units_convert(ld->units, value.unit, value.wanted, cells[value.index], &pair[1]);
    bool finite = isfinite(pair[0]) && isfinite(pair[1]);
    if (finite && (count == 0 || pair[0] > pair[-2])) {
      count++;
      continue;
    }
    if (finite && pair[0] == pair[-2]) continue;
    if (!finite)
      od_complain(ld, node, "sample %ld of the file is not a finite number; expected a time and a value in each row",
                  row + 1);
    else
      od_complain(ld, node, "the times in the file must increase; in sample %ld, %g s comes after %g s", row + 1,
                  pair[0], pair[-2]);
    return -1;
  }
  if (table->places.cut && table->places.line)
    od_messages_say(ld->messages, true, od_place_of(ld, node),
                    "the file of the signal ends within line %d; check whether that file is complete",
                    table->places.line[table->rows - 1]);
  if (table->places.cut && !table->places.line)
    od_messages_say(ld->messages, true, od_place_of(ld, node),
                    "the file of the signal ends before its last row; check whether that file is complete");
  if (count < table->rows)
    od_messages_say(
        ld->messages, true, od_place_of(ld, node),
        "%ld of %ld samples %s the same time as the previous sample; only the first sample of each time is used",
        table->rows - count, table->rows, od_form(table->rows - count, "has", "have"));
  int signal = od_signals_add(ld->draft->machine->signals, OD_SIGNAL_TABLE, 0, pairs, (int)(2 * count));
  if (signal < 0) ld->no_memory = true;
  return signal;
}

static const char *header_unit(const od_table *table, int index) {
  return table->unit[index] != NULL ? table->unit[index] : "";
}

// The names and the unit in the section, and the nodes of these texts (-1: not given).
typedef struct names {
  const char *time, *column, *unit;
  int time_node, column_node, unit_node, path_node;
} names;

// Returns the time column: the column named in the section, else the first column of a text file or the time variable of another
// file. On failure reports an error and returns -1.
static int find_time(od_loader *ld, const od_table *table, const names *n) {
  if (n->time != NULL) return find_column(ld, table, n->time_node, n->time);
  int found = table->places.column != NULL ? 0 : od_table_find_time(table);
  if (found >= 0) return found;
  od_nearest nearest = od_nearest_to("time");
  for (int i = 0; i < table->columns; i++)
    if (table->name[i] != NULL) od_nearest_try(&nearest, table->name[i]);
  od_complain(ld, n->path_node, "the file has no variable for the time; set the key 'time' to a variable%s",
              od_nearest_suggestion(&nearest, NULL).text);
  return -1;
}

static bool check_cells(od_loader *ld, const od_table *table, int index, int node) {
  const char *flaw = od_table_flaw(table, index);
  if (flaw != NULL) od_complain(ld, node, "%s", flaw);
  return flaw == NULL;
}

static int read_columns(od_loader *ld, const od_table *table, const names *n, const char *unit) {
  column time = {.index = find_time(ld, table, n), .wanted = "s"};
  column value = {.index = n->column != NULL ? find_column(ld, table, n->column_node, n->column) : -1, .wanted = unit};
  if (time.index < 0 || value.index < 0) return -1;
  time.unit = od_copy(ld, header_unit(table, time.index), strlen(header_unit(table, time.index)));
  value.unit = n->unit != NULL ? n->unit : header_unit(table, value.index);
  bool fits = check_unit(ld, n->path_node, table->name[time.index], time.unit, time.wanted);
  fits = check_unit(ld, n->unit_node >= 0 ? n->unit_node : n->column_node, n->column, value.unit, value.wanted) && fits;
  fits = check_cells(ld, table, time.index, n->path_node) && fits;
  fits = check_cells(ld, table, value.index, n->path_node) && fits;
  if (fits && table->rows > 1) {
    const double *cells = table->data + time.index;
    double apart = (cells[(table->rows - 1) * table->columns] - cells[0]) / (double)(table->rows - 1);
    const char *path = od_read_text(ld, n->path_node, "path", "");
    od_time_ambiguity ambiguity = od_time_ambiguity_of(table->name[time.index], time.unit, path, apart, NULL);
    if (ambiguity.text[0]) od_messages_say(ld->messages, true, od_place_of(ld, n->path_node), "%s", ambiguity.text);
  }
  return fits ? add_samples(ld, table, time, value, n->path_node) : -1;
}

// Returns the number of lines before the header of a CSV file; 0: the reader finds the header, or an error was reported.
static int read_skip(od_loader *ld, int node) {
  static const char wanted[] = "a whole number of lines, less than a million";
  const char *text = od_read_text(ld, node, "skip", wanted);
  if (text == NULL) return 0;
  size_t digits = strspn(text, "0123456789");
  if (digits > 0 && digits <= 6 && text[digits] == '\0') return atoi(text);
  od_complain(ld, node, "found '%s'; 'skip' must be %s", text, wanted);
  return 0;
}

int od_load_file_signal(od_loader *ld, int node, int key, const char *what, const char *unit) {
  const char *file_what = od_format(ld, "the file of %s", what);
  od_section section = od_section_open(ld, node, key, "", file_what, &od_file_signal_section);
  names n = {.time_node = od_section_get(ld, &section, "time"),
             .column_node = od_section_need(ld, &section, "column"),
             .unit_node = od_section_get(ld, &section, "unit"),
             .path_node = od_section_need(ld, &section, "path")};
  n.time = od_read_text(ld, n.time_node, "time", "the name of a column");
  n.column = od_read_text(ld, n.column_node, "column", "the name of a column");
  n.unit = od_read_text(ld, n.unit_node, "unit", "a unit");
  const char *path = od_read_text(ld, n.path_node, "path", "the name of a file");
  int skip = read_skip(ld, od_section_get(ld, &section, "skip"));
  if (path == NULL) return -1;
  const od_table_wish wish = {.time = n.time, .columns = (const char *const[]){n.column, NULL}, .skip = skip};
  OD_OWNED(od_table_free) od_table *table = NULL;
  od_error error = {0};
  if (od_table_read(od_document_beside(ld, n.path_node, path), &wish, &table, &error) != OD_OK) {
    od_complain(ld, n.path_node, "%s", error.text);
    return -1;
  }
  return read_columns(ld, table, &n, unit);
}
