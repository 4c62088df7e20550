#include "prepare/log_columns.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "document/suggest.h"
#include "formats/read_table.h"
#include "io/wording.h"

bool od_signal_label_set(od_signal_label *label, const char *name, const char *unit) {
  label->name = od_strdup(name);
  label->unit = od_strdup(unit && *unit ? unit : "1");
  return label->name && label->unit;
}

static od_status find_column(const od_log_columns *c, const char *option, const char *name, int *out, od_error *err) {
  od_nearest nearest = od_nearest_to(name);
  for (*out = 0; *out < c->head->columns; ++*out) {
    if (!strcmp(c->head->name[*out], name)) return OD_OK;
    od_nearest_try(&nearest, c->head->name[*out]);
  }
  return od_fail(err, OD_BAD_INPUT, "--%s: %s has no column '%s'%s", option, c->path, name,
                 od_nearest_suggestion(&nearest).text);
}

// Adds the columns of a list of names, separated by commas.
static od_status add_columns(od_log_columns *c, const char *option, const char *list, od_error *err) {
  for (const char *at = list; *at;) {
    size_t length = strcspn(at, ",");
    char *name = od_strndup(at, length);
    int found = 0;
    od_status status = name ? find_column(c, option, name, &found, err) : od_fail(err, OD_NO_MEMORY, "out of memory");
    od_free(name);
    if (status != OD_OK) return status;
    if (c->count < 2 * c->head->columns) c->at[c->count++] = found;
    at += length + (at[length] == ',');
  }
  return OD_OK;
}

static od_status find_inputs(od_log_columns *c, const od_log_wish *wish, od_error *err) {
  int most = wish->most_inputs > 0 ? wish->most_inputs : 1;
  if (!wish->input || !*wish->input)
    return od_fail(err, OD_BAD_INPUT, "%s: no input is selected; select a column with --input", c->path);
  od_status status = add_columns(c, "input", wish->input, err);
  if (status != OD_OK) return status;
  c->inputs = c->count;
  for (int i = 0; i < c->count; i++)
    for (int j = 0; j < i; j++)
      if (c->at[i] == c->at[j])
        return od_fail(err, OD_BAD_INPUT, "--input: found the column '%s' twice, expected each column once",
                       c->head->name[c->at[i]]);
  if (c->inputs <= most) return OD_OK;
  if (most > 1) return od_fail(err, OD_BAD_INPUT, "--input: found %d inputs, expected 1 to %d", c->inputs, most);
  return od_fail(
      err, OD_BAD_INPUT,
      "--input: found %d inputs, expected 1; for several inputs, use oleodyn tf with --method arx, armax, oe, bj, moesp, "
      "n4sid or cva",
      c->inputs);
}

static od_status find_columns(od_log_columns *c, const od_log_wish *wish, od_error *err) {
  od_status status = find_inputs(c, wish, err);
  for (int i = 0; status == OD_OK && i < wish->output_count; i++)
    status = add_columns(c, "output", wish->outputs[i], err);
  for (int i = 0; status == OD_OK && wish->output_count == 0 && i < c->head->columns; i++) {
    bool is_output = i != c->time;
    for (int k = 0; k < c->inputs; k++) is_output = is_output && c->at[k] != i;
    if (is_output) c->at[c->count++] = i;
  }
  if (status == OD_OK && c->count <= c->inputs)
    return od_fail(err, OD_BAD_INPUT, "%s has only columns of time and inputs; expected a column of an output",
                   c->path);
  for (int i = 0; status == OD_OK && i < c->count; i++) c->used[c->at[i]] = true;
  return status;
}

// Sets labels and conversions to SI units. A column with an unknown unit is not converted.
static od_status find_units(od_log_columns *c, od_error *err) {
  od_units *units = od_units_new(err);
  if (!units) return OD_BAD_INPUT;
  const char *clock = c->time >= 0 ? c->head->unit[c->time] : "";
  od_status status = OD_OK;
  // The labels are not in the arena, because a response may take ownership of the labels.
  c->label = od_calloc((size_t)c->count, sizeof *c->label);
  bool ok = c->label != NULL;
  if (*clock && od_units_conversion(units, clock, "s", &c->clock) != OD_UNIT_FITS)
    status = od_fail(err, OD_BAD_INPUT, "%s: the column '%s' has the unit '%s'; expected a unit of time", c->path,
                     c->head->name[c->time], clock);
  for (int i = 0; ok && i < c->count; i++) {
    const char *unit = c->head->unit[c->at[i]], *si = *unit ? od_units_si(units, unit) : NULL;
    if (!si || od_units_conversion(units, unit, si, &c->conversion[i]) != OD_UNIT_FITS)
      c->conversion[i] = (od_conversion){1, 1, 0}, si = unit;
    ok = od_signal_label_set(&c->label[i], c->head->name[c->at[i]], si);
  }
  od_units_free(units);
  return ok ? status : od_fail(err, OD_NO_MEMORY, "out of memory");
}

// --- Rows ---------------------------------------------------------------------------------------------------------

static void rewind_rows(od_log_columns *c) {
  c->next = 0;
  od_row_reader_rewind(c->file);
}

// Reads the log once. Counts the rows from the time `start` to the time `last` (s) and computes their mean interval. Checks that the inputs change.
static od_status walk(od_log_columns *c, double interval, double start, double last, od_error *err) {
  bool end = false;
  OD_SCRATCH(scratch);
  double time = 0, latest = 0, *first = OD_TAKE(&scratch, double, c->count);
  od_status status = first ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < c->count; i++) c->label[i].is_constant = true;
  rewind_rows(c);
  while (status == OD_OK) {
    status = od_row_reader_next(c->file, c->cells, &end, err);
    if (status != OD_OK || end) break;
    time = c->time >= 0 ? od_convert(&c->clock, c->cells[c->time]) : (double)(c->skipped + c->next) * interval;
    if (c->next == 0 && time < start - 1e-9 * fabs(start)) {
      c->skipped++;
      continue;
    }
    if (time > last + 1e-9 * fabs(last)) break;
    if (c->next == 0) c->begin = time;
    for (int i = 0; i < c->count; i++) {
      if (c->next == 0) first[i] = c->cells[c->at[i]];
      c->label[i].is_constant = c->label[i].is_constant && c->cells[c->at[i]] == first[i];
    }
    latest = time;
    c->next++;
  }
  c->rows = c->next;
  // The used columns must contain numbers.
  for (int i = 0; i < c->head->columns && status == OD_OK; i++)
    if (c->used[i] && od_table_flaw(c->head, i)) status = od_fail(err, OD_BAD_INPUT, "%s", od_table_flaw(c->head, i));
  if (status == OD_OK && c->rows < 8)
    return od_fail(err, OD_BAD_INPUT, "%s has %s; expected at least 8 rows", c->path, od_count(c->rows, "row").text);
  c->step = c->time >= 0 ? (latest - c->begin) / (double)(c->rows - 1) : interval;
  if (status == OD_OK && !(c->step > 0))
    return od_fail(err, OD_BAD_INPUT, "%s: times go from %.9g s to %.9g s; expected increasing times", c->path,
                   c->begin, latest);
  for (int i = 0; i < c->inputs && status == OD_OK; i++)
    if (c->label[i].is_constant)
      return od_fail(err, OD_BAD_INPUT,
                     "%s: the input '%s' is constant in all %ld rows; expected an input that changes", c->path,
                     c->label[i].name, c->rows);
  rewind_rows(c);
  return status;
}

// Times must be uniform within a hundredth of a step. This tolerance allows times that are printed with few digits.
od_status od_log_columns_next(od_log_columns *c, double *value, bool *end, od_error *err) {
  *end = c->next >= c->rows;
  if (*end) rewind_rows(c);
  if (*end) return OD_OK;
  od_status status = OD_OK;
  for (long i = c->next == 0 ? -c->skipped : 0; i <= 0 && status == OD_OK && !*end; i++)
    status = od_row_reader_next(c->file, c->cells, end, err);
  if (status != OD_OK) return status;
  if (*end)
    return od_fail(err, OD_IO,
                   "%s became shorter while it was being read; run the command again when the file is complete",
                   c->path);
  double time = c->time >= 0 ? od_convert(&c->clock, c->cells[c->time]) : c->begin;
  double expected = c->begin + (double)c->next * c->step;
  c->next++;
  if (c->time >= 0 && !(fabs(time - expected) <= 0.01 * c->step))
    return od_fail(err, OD_BAD_INPUT,
                   "row %ld has the time %.9g s; expected %.9g s for uniform times. Resample the log", c->next, time,
                   expected);
  for (int i = 0; i < c->count; i++) value[i] = od_convert(&c->conversion[i], c->cells[c->at[i]]);
  return OD_OK;
}

// --- Opening ------------------------------------------------------------------------------------------------------

static od_status open_file(od_log_columns *c, const od_log_wish *wish, od_error *err) {
  const od_table_wish no_time = {.no_time = true};
  od_status status = od_row_reader_open(c->path, wish->interval > 0 ? &no_time : NULL, &c->file, err);
  c->head = status == OD_OK ? od_row_reader_head(c->file) : NULL;
  if (status != OD_OK) return status;
  int most = 2 * c->head->columns + 2;
  c->at = OD_TAKE(&c->arena, int, most), c->used = OD_TAKE(&c->arena, bool, most);
  c->cells = OD_TAKE(&c->arena, double, most), c->conversion = OD_TAKE(&c->arena, od_conversion, most);
  if (od_arena_status(&c->arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  c->time = wish->interval > 0 ? -1 : od_table_find_time(c->head);
  if (c->time < 0 && !(wish->interval > 0))
    return od_fail(
        err, OD_BAD_INPUT,
        "%s has no time column; if the rows are uniformly spaced in time, set their interval with --interval", c->path);
  if (c->time >= 0) c->used[c->time] = true;
  od_row_reader_want(c->file, c->used);
  return OD_OK;
}

od_status od_log_columns_open(const char *path, const od_log_wish *wish, od_log_columns *c, od_error *err) {
  *c = (od_log_columns){.path = path, .clock = {1, 1, 0}};
  od_status status = open_file(c, wish, err);
  if (status == OD_OK) status = find_columns(c, wish, err);
  if (status == OD_OK) status = find_units(c, err);
  if (status == OD_OK)
    status =
        walk(c, wish->interval, wish->has_start ? wish->start : -INFINITY, wish->end > 0 ? wish->end : INFINITY, err);
  if (status == OD_OK && c->time >= 0)
    c->ambiguity = od_time_ambiguity_of(c->head->name[c->time], c->head->unit[c->time], path, c->step, NULL);
  return status;
}

void od_log_columns_free(od_log_columns *c) {
  for (int i = 0; c->label && i < c->count; i++) od_free(c->label[i].name), od_free(c->label[i].unit);
  od_free(c->label);
  od_arena_free(&c->arena);
  od_row_reader_close(c->file);
}
