// Tables as MATLAB files: one variable per column, and a cell array "columns" of names and units.
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "io/mat_matrices.h"
#include "io/mat_name.h"
#include "io/table.h"
#include "oleodyn/oleodyn.h"

enum { name_size = OD_MAT_NAME_SIZE };
typedef struct variable_name {
  char text[name_size];
} variable_name;

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void od_mat_name(char to[OD_MAT_NAME_SIZE], const char *from) {
  size_t n = 0;
  if (!is_letter(from[0])) to[n++] = 'x';
  for (; *from && n < name_size - 1; from++) {
    bool fine = is_letter(*from) || (*from >= '0' && *from <= '9');
    to[n++] = fine ? *from : '_';
  }
  to[n] = '\0';
}

static bool is_taken(const char *name, const variable_name *names, int count) {
  if (!strcmp(name, "columns")) return true;
  for (int i = 0; i < count; i++)
    if (!strcmp(names[i].text, name)) return true;
  return false;
}

// Equal names get the suffixes _2, _3, ...
static void make_names(const od_table *table, variable_name *names) {
  for (int c = 0; c < table->columns; c++) {
    char *name = names[c].text;
    od_mat_name(name, table->name[c]);
    size_t stem = strlen(name);
    for (int n = 2; is_taken(name, names, c); n++) {
      char suffix[16];
      int length = snprintf(suffix, sizeof suffix, "_%d", n);
      size_t keep = stem + (size_t)length < name_size ? stem : name_size - 1 - (size_t)length;
      strcpy(name + keep, suffix);
    }
  }
}

od_status od_table_write_mat(const od_table *table, const char *path, od_error *err) {
  OD_SCRATCH(scratch);
  static const double none = 0;
  int n = table->columns;
  variable_name *names = OD_TAKE(&scratch, variable_name, n);
  const char **labels = OD_TAKE(&scratch, const char *, 2L * n);
  od_mat_variable *variable = OD_TAKE(&scratch, od_mat_variable, n + 1);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "memory ran out while writing %s", path);
  make_names(table, names);
  for (int c = 0; c < n; c++) {
    variable[c] = (od_mat_variable){names[c].text, .columns = 1, .rows = table->rows, .stride = n};
    variable[c].data = table->rows > 0 ? table->data + c : &none;
    labels[2 * c] = table->name[c];
    labels[2 * c + 1] = table->unit[c];
  }
  variable[n] = (od_mat_variable){"columns", .columns = 2, .rows = n, .text = labels};
  return od_mat_write(variable, n + 1, "MATLAB 5.0 MAT-file, " OD_MAT_WRITTEN " " OD_VERSION, path, err);
}
