#include "cli/files.h"

#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "io/atomic_file.h"
#include "io/json.h"

static bool is_standard_output(const char *path) {
  return path && !strcmp(path, "-");
}

// A path where a file appears: no standard output, no device.
static bool is_plain(const char *path) {
  struct stat facts;
  return path && !is_standard_output(path) && (stat(path, &facts) != 0 || S_ISREG(facts.st_mode));
}

static const char *const option[] = {"csv", "mat", "json", "plot", "report"};

int od_files_check(const od_files *f) {
  if (is_standard_output(f->csv) && is_standard_output(f->json)) {
    od_cli_error("--csv - and --json - cannot both have standard output");
    return OD_EXIT_BAD_INPUT;
  }
  const char *const files[] = {f->mat, f->plot, f->report}, *const names[] = {"mat", "plot", "report"};
  for (int i = 0; i < 3; i++) {
    if (!is_standard_output(files[i])) continue;
    od_cli_error("--%s cannot go to standard output; give a file name", names[i]);
    return OD_EXIT_BAD_INPUT;
  }
  const char *const paths[] = {f->csv, f->mat, f->json, f->plot, f->report};
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < i; j++) {
      if (!is_plain(paths[i]) || !paths[j] || strcmp(paths[i], paths[j]) != 0) continue;
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

int od_files_spare(const od_files *f, const char *input) {
  const char *const paths[] = {f->csv, f->mat, f->json, f->plot, f->report};
  struct stat read, written;
  if (!input || is_standard_output(input) || stat(input, &read) != 0 || !S_ISREG(read.st_mode)) return -1;
  for (int i = 0; i < 5; i++) {
    if (!paths[i] || is_standard_output(paths[i]) || stat(paths[i], &written) != 0) continue;
    if (read.st_dev != written.st_dev || read.st_ino != written.st_ino) continue;
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

bool od_files_write(const od_files *f, const od_file_contents *c, FILE *notes) {
  char size[80] = "";
  od_error err = {0};
  if (c->table) snprintf(size, sizeof size, "%ld rows, %d columns", c->table->rows, c->table->columns);
  bool ok = true;
  if (f->csv) ok = tell(od_table_write_csv(c->table, f->csv, &err), &err, f->csv, size, notes) && ok;
  if (f->mat) ok = tell(od_table_write_mat(c->table, f->mat, &err), &err, f->mat, size, notes) && ok;
  if (f->json) ok = tell(od_json_write(c->summary, f->json, &err), &err, f->json, "a summary", notes) && ok;
  if (f->plot) ok = tell(c->plot(c->user, f->plot, &err), &err, f->plot, "a plot", notes) && ok;
  if (f->report) ok = tell(c->report(c->user, f->report, &err), &err, f->report, "a report", notes) && ok;
  json_decref(c->summary);
  return ok;
}
