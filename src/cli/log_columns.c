#include "cli/log_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "document/suggest.h"

bool od_signal_label_set(od_signal_label *label, const char *name, const char *unit) {
  label->name = strdup(name);
  label->unit = strdup(unit && *unit ? unit : "1");
  return label->name && label->unit;
}

static int find_column(const od_log_columns *c, const char *option, const char *name) {
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < c->table->columns; i++) {
    if (!strcmp(c->table->name[i], name)) return i;
    od_nearest_try(&nearest, c->table->name[i]);
  }
  if (nearest.best)
    od_cli_error("--%s: %s has no column '%s'; did you mean '%s'?", option, c->path, name, nearest.best);
  else
    od_cli_error("--%s: %s has no column '%s'", option, c->path, name);
  return -1;
}

// Names with commas between them; false after a message.
static bool add_outputs(od_log_columns *c, const char *list) {
  for (const char *at = list; *at;) {
    size_t length = strcspn(at, ",");
    char *name = strndup(at, length);
    int found = name ? find_column(c, "output", name) : -1;
    free(name);
    if (found < 0) return false;
    if (c->count < c->table->columns) c->at[c->count++] = found;
    at += length + (at[length] == ',');
  }
  return true;
}

static bool find_columns(od_log_columns *c, const char *name, const od_words *outputs) {
  if (!name) {
    od_cli_error("%s: which column is the input? Say so with --input", c->path);
    return false;
  }
  int input = find_column(c, "input", name);
  bool ok = input >= 0;
  c->at[c->count++] = input;
  for (int i = 0; i < outputs->count; i++) ok = add_outputs(c, outputs->text[i]) && ok;
  for (int i = 0; outputs->count == 0 && i < c->table->columns; i++)
    if (i != input && i != c->time) c->at[c->count++] = i;
  if (ok && c->count < 2) {
    od_cli_error("%s has no column besides time and input, expected an output", c->path);
    return false;
  }
  for (int i = 0; ok && i < c->count; i++) {
    const char *flaw = od_table_flaw(c->table, c->at[i]);
    if (flaw) od_cli_error("%s", flaw);
    ok = !flaw;
  }
  return ok;
}

// A unit that is not known stays what it is.
static bool find_units(od_log_columns *c) {
  od_error err = {0};
  od_units *units = od_units_new(&err);
  bool ok = units && (c->label = calloc((size_t)c->count, sizeof *c->label)) != NULL;
  for (int i = 0; ok && i < c->count; i++) {
    const char *unit = c->table->unit[c->at[i]], *si = *unit ? od_units_si(units, unit) : NULL;
    if (!si || od_units_conversion(units, unit, si, &c->conversion[i]) != OD_UNIT_FITS)
      c->conversion[i] = (od_conversion){1, 1, 0}, si = unit;
    ok = od_signal_label_set(&c->label[i], c->table->name[c->at[i]], si);
  }
  if (!ok) od_cli_error("%s", units ? "memory ran out" : err.text);
  od_units_free(units);
  return ok;
}

// Times must be uniform, to a hundredth of a step, as those printed with few digits are.
static bool find_step(od_log_columns *c) {
  const od_table *t = c->table;
  if (t->rows < 8) {
    od_cli_error("%s has %ld rows, expected at least 8", c->path, t->rows);
    return false;
  }
  double begin = t->data[c->time], end = t->data[(t->rows - 1) * t->columns + c->time];
  c->step = (end - begin) / (double)(t->rows - 1);
  for (long k = 0; k < t->rows; k++) {
    double time = t->data[k * t->columns + c->time];
    if (fabs(time - begin - (double)k * c->step) <= 0.01 * c->step) continue;
    od_cli_error("%s: row %ld has the time %.9g s, expected %.9g s: samples must be equally far apart", c->path, k + 1,
                 time, begin + (double)k * c->step);
    return false;
  }
  return c->step > 0;
}

int od_log_columns_open(const char *path, const char *input, const od_words *outputs, od_log_columns *c) {
  od_error err = {0};
  *c = (od_log_columns){.path = path};
  od_status status = od_table_read(path, NULL, &c->table, &err);
  if (status == OD_OK) {
    size_t most = (size_t)c->table->columns + 2;
    c->at = calloc(most, sizeof *c->at);
    c->conversion = calloc(most, sizeof *c->conversion);
    c->time = od_table_find_time(c->table);
    if (!c->at || !c->conversion) status = od_fail(&err, OD_NO_MEMORY, "memory ran out");
    if (c->time < 0) status = od_fail(&err, OD_BAD_INPUT, "%s has no column of times", path);
  }
  if (status != OD_OK) od_cli_error("%s", err.text);
  if (status == OD_OK && (!find_columns(c, input, outputs) || !find_step(c) || !find_units(c))) status = OD_BAD_INPUT;
  return status == OD_OK ? -1 : od_exit_code(status == OD_IO ? OD_BAD_INPUT : status);
}

void od_log_columns_free(od_log_columns *c) {
  for (int i = 0; c->label && i < c->count; i++) free(c->label[i].name), free(c->label[i].unit);
  free(c->label);
  free(c->at);
  free(c->conversion);
  od_table_free(c->table);
}
