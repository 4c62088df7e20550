#include "options/result_files.h"

#include <string.h>
#include <sys/stat.h>

#include "terminal/exit_codes.h"
#include "terminal/terminal.h"
#include "io/atomic_file.h"
#include "io/inputs_read.h"
#include "io/json.h"

static bool is_standard_output(const char *path) {
  return path && !strcmp(path, "-");
}

// A path where a file appears: no standard output, no device.
static bool is_plain(const char *path) {
  struct stat facts;
  return path && !is_standard_output(path) && (stat(path, &facts) != 0 || S_ISREG(facts.st_mode));
}

// The folder of a path and the name in it.
static const char *split(const char *path, char *folder, size_t size) {
  const char *slash = strrchr(path, '/');
  int length = slash ? (int)(slash - path) + 1 : 0;
  snprintf(folder, size, "%.*s", length ? length : 1, length ? path : ".");
  return path + length;
}

// Whether two paths lead to the same file, or will when it is there.
static bool are_same(const char *a, const char *b) {
  struct stat x, y;
  bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
  if (has_a != has_b) return false;
  if (!has_a) {
    char folder_a[4096], folder_b[4096];
    if (strcmp(split(a, folder_a, sizeof folder_a), split(b, folder_b, sizeof folder_b)) != 0) return false;
    if (stat(folder_a, &x) != 0 || stat(folder_b, &y) != 0) return !strcmp(a, b);
  }
  return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

// All files and the options that ask for them, in one order.
enum { FILES = 9 };
static const char *const option[FILES] = {"csv",   "mat",        "json",         "plot",  "report",
                                          "block", "save-state", "variant-file", "values"};

static void all_paths(const od_files *f, const char *path[FILES]) {
  const char *const all[FILES] = {f->csv,   f->mat,   f->json,    f->plot,  f->report,
                                  f->block, f->state, f->variant, f->values};
  memcpy(path, all, sizeof all);
}

int od_files_check(const od_files *f) {
  if (is_standard_output(f->csv) && is_standard_output(f->json)) {
    od_cli_error("--csv - and --json - cannot both have standard output");
    return OD_EXIT_BAD_INPUT;
  }
  const char *paths[FILES];
  all_paths(f, paths);
  for (int i = 0; i < FILES; i++) {
    if (!is_standard_output(paths[i]) || paths[i] == f->csv || paths[i] == f->json) continue;
    od_cli_error("--%s cannot go to standard output; give a file name", option[i]);
    return OD_EXIT_BAD_INPUT;
  }
  for (int i = 0; i < FILES; i++) {
    for (int j = 0; j < i; j++) {
      if (!is_plain(paths[i]) || !is_plain(paths[j]) || !are_same(paths[i], paths[j])) continue;
      od_cli_error("--%s and --%s would both be written to %s", option[j], option[i], paths[i]);
      return OD_EXIT_BAD_INPUT;
    }
    od_error err = {0};
    if (!paths[i] || is_standard_output(paths[i]) || od_atomic_probe(paths[i], &err) == OD_OK) continue;
    od_cli_error("%s", err.text);
    return OD_EXIT_FAILED;
  }
  return -1;
}

int od_files_spare(const od_files *f) {
  const char *paths[FILES];
  all_paths(f, paths);
  for (int i = 0; i < FILES; i++) {
    const char *input = paths[i] && !is_standard_output(paths[i]) ? od_inputs_find(paths[i]) : NULL;
    if (!input) continue;
    od_cli_error("--%s %s would take the place of %s, which is read", option[i], paths[i], input);
    return OD_EXIT_BAD_INPUT;
  }
  return -1;
}

FILE *od_files_notes(const od_files *f, bool quiet) {
  if (quiet) return NULL;
  return is_standard_output(f->csv) || is_standard_output(f->json) ? stderr : stdout;
}

// A line about a written file, or the complaint that it could not be written.
static bool tell(od_status status, const od_error *err, const char *path, const char *what, FILE *notes) {
  if (status != OD_OK)
    od_cli_error("%s", err->text);
  else if (notes && !is_standard_output(path))
    fprintf(notes, "wrote %s: %s\n", path, what);
  return status == OD_OK;
}

json_t *od_files_read_json(void) {
  json_t *list = json_array();
  for (int i = 0; i < od_inputs_count(); i++) json_array_append_new(list, od_json_text(od_inputs_name(i)));
  return list;
}

bool od_files_write(const od_files *f, const od_file_contents *c, FILE *notes) {
  char size[80] = "";
  od_error err = {0};
  if (c->table)
    snprintf(size, sizeof size, "%ld rows, %d columns", c->rows ? c->rows : c->table->rows, c->table->columns);
  bool ok = true;
  const char *what = c->table ? size : "the matrices";
  if (f->csv) {
    od_status status = c->csv ? c->csv(c->user, f->csv, &err) : od_table_write_csv(c->table, f->csv, &err);
    ok = tell(status, &err, f->csv, what, notes) && ok;
  }
  if (f->mat) {
    od_status status = c->mat ? c->mat(c->user, f->mat, &err) : od_table_write_mat(c->table, f->mat, &err);
    ok = tell(status, &err, f->mat, what, notes) && ok;
  }
  if (json_is_object(c->summary)) json_object_set_new(c->summary, "files_read", od_files_read_json());
  if (f->json) ok = tell(od_json_write(c->summary, f->json, &err), &err, f->json, "a summary", notes) && ok;
  if (f->plot) ok = tell(c->plot(c->user, f->plot, &err), &err, f->plot, "a plot", notes) && ok;
  if (f->report) ok = tell(c->report(c->user, f->report, &err), &err, f->report, "a report", notes) && ok;
  if (f->block) ok = tell(c->block(c->user, f->block, &err), &err, f->block, "a machine file", notes) && ok;
  if (f->state && c->state) ok = tell(c->state(c->user, f->state, &err), &err, f->state, "the state", notes) && ok;
  if (f->variant && c->variant)
    ok = tell(c->variant(c->variant_user, f->variant, &err), &err, f->variant, "the estimates as a variant", notes) &&
         ok;
  json_decref(c->summary);
  return ok;
}
