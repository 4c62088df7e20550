#include "options/result_files.h"

#include <string.h>
#include <sys/stat.h>

#include "io/atomic_file.h"
#include "io/inputs_read.h"
#include "io/json.h"
#include "report/page_result.h"
#include "terminal/exit_codes.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"

static bool is_standard_output(const char *path) {
  return path && !strcmp(path, "-");
}

// Whether the path is a regular file or a new file; false for standard output and devices.
static bool is_plain(const char *path) {
  struct stat facts;
  return path && !is_standard_output(path) && (stat(path, &facts) != 0 || S_ISREG(facts.st_mode));
}

// Splits a path into its folder and the name in this folder, which is returned.
static const char *split(const char *path, char *folder, size_t size) {
  const char *slash = strrchr(path, '/');
  int length = slash ? (int)(slash - path) + 1 : 0;
  snprintf(folder, size, "%.*s", length ? length : 1, length ? path : ".");
  return path + length;
}

// Whether two paths lead to the same file, which need not exist yet.
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

const od_file_format od_file_formats[OD_FILE_KINDS] = {
    [OD_FILE_CSV] = {"csv", "FILE", "write %s as CSV; - is standard output", NULL, true},
    [OD_FILE_MAT] = {"mat", "FILE", "write %s as a MATLAB file", NULL},
    [OD_FILE_JSON] = {"json", "FILE", "write %s as JSON; - is standard output", "a summary", true},
    [OD_FILE_PLOT] = {"plot", "FILE.svg", "draw %s", "a plot"},
    [OD_FILE_REPORT] = {"report", "FILE.html", "write a report with %s: one self-contained HTML page", "a report"},
    [OD_FILE_STATE] = {"save-state", "FILE", "write %s, for 'initial: {file: FILE}' in a machine file", "the state"},
    [OD_FILE_CHECKPOINT] = {"checkpoint", "FILE", "write %s, from which --resume goes on", "a checkpoint"},
    [OD_FILE_BLOCK] = {"block", "FILE.yaml", "write a machine file with %s", "a machine file"},
    [OD_FILE_VARIANT] = {"variant-file", "FILE", NULL, "the estimates as a variant"},
    [OD_FILE_VALUES] = {"values", "FILE", NULL, "the values"},
};

int od_files_check(const od_files *f) {
  if (is_standard_output(f->path[OD_FILE_CSV]) && is_standard_output(f->path[OD_FILE_JSON])) {
    od_cli_error("--csv - and --json - cannot both use standard output; give one of them a file name");
    return OD_EXIT_BAD_INPUT;
  }
  for (int i = 0; i < OD_FILE_KINDS; i++) {
    if (!is_standard_output(f->path[i]) || od_file_formats[i].can_be_standard_output) continue;
    od_cli_error("--%s cannot be written to standard output; give a file name", od_file_formats[i].option);
    return OD_EXIT_BAD_INPUT;
  }
  for (int i = 0; i < OD_FILE_KINDS; i++) {
    const char *path = f->path[i];
    for (int j = 0; j < i; j++) {
      if (!is_plain(path) || !is_plain(f->path[j]) || !are_same(path, f->path[j])) continue;
      od_cli_error("--%s and --%s would both be written to %s; give different file names", od_file_formats[j].option,
                   od_file_formats[i].option, path);
      return OD_EXIT_BAD_INPUT;
    }
    od_error err = {0};
    if (!path || is_standard_output(path) || od_atomic_probe(path, &err) == OD_OK) continue;
    od_cli_error("%s", err.text);
    return OD_EXIT_FAILED;
  }
  return OD_GO_ON;
}

int od_files_check_inputs(const od_files *f) {
  for (int i = 0; i < OD_FILE_KINDS; i++) {
    const char *path = f->path[i], *input = path && !is_standard_output(path) ? od_inputs_find(path) : NULL;
    if (!input) continue;
    od_cli_error("--%s %s would replace %s, which is an input; give another file name", od_file_formats[i].option, path,
                 input);
    return OD_EXIT_BAD_INPUT;
  }
  return OD_GO_ON;
}

int od_files_prepare(const od_files *f) {
  OD_TRY(od_files_check(f));
  return od_files_check_inputs(f);
}

FILE *od_files_notes(const od_files *f, bool quiet) {
  if (quiet) return NULL;
  return is_standard_output(f->path[OD_FILE_CSV]) || is_standard_output(f->path[OD_FILE_JSON]) ? stderr : stdout;
}

json_t *od_files_read_json(void) {
  json_t *list = json_array();
  for (int i = 0; i < od_inputs_count(); i++) json_array_append_new(list, od_json_text(od_inputs_name(i)));
  return list;
}

// Writes one file. Returns OD_NOT_AVAILABLE if there is nothing to write.
static od_status write_file(const od_file_contents *c, od_result_file kind, const char *path, od_error *err) {
  if (c->write[kind]) return c->write[kind](kind == OD_FILE_VARIANT ? c->variant_user : c->user, path, err);
  switch (kind) {
    case OD_FILE_CSV: return od_table_write_csv(c->table, path, err);
    case OD_FILE_MAT: return od_table_write_mat(c->table, path, err);
    case OD_FILE_JSON: return od_json_write(c->result ? c->result->data : NULL, path, err);
    case OD_FILE_REPORT: return c->result ? od_page_write_result(c->result, path, err) : OD_NOT_AVAILABLE;
    default: return OD_NOT_AVAILABLE;
  }
}

// Describes the contents of a file, for the line that reports the file.
static void describe(const od_file_contents *c, od_result_file kind, char *text, size_t size) {
  if (od_file_formats[kind].name)
    snprintf(text, size, "%s", od_file_formats[kind].name);
  else if (c->table)
    snprintf(text, size, "%ld rows, %d columns", c->rows ? c->rows : c->table->rows, c->table->columns);
  else
    snprintf(text, size, "the matrices");
}

bool od_files_write(const od_files *f, const od_file_contents *c, FILE *notes) {
  json_t *data = c->result ? c->result->data : NULL;
  if (json_is_object(data)) json_object_set_new(data, "files_read", od_files_read_json());
  bool ok = true;
  for (int i = 0; i < OD_FILE_KINDS; i++) {
    const char *path = f->path[i];
    char text[80];
    od_error err = {0};
    od_status status = path ? write_file(c, (od_result_file)i, path, &err) : OD_NOT_AVAILABLE;
    if (status == OD_NOT_AVAILABLE) continue;
    describe(c, (od_result_file)i, text, sizeof text);
    if (status != OD_OK)
      od_cli_error("%s", err.text);
    else if (notes && !is_standard_output(path))
      fprintf(notes, "wrote %s: %s\n", path, text);
    ok = ok && status == OD_OK;
  }
  return ok;
}

int od_files_finish(const od_files *f, bool quiet, const od_file_contents *c, const od_verdict *verdict) {
  FILE *notes = od_files_notes(f, quiet);
  if (c->result) od_show_result(c->result, c->summary_always || notes == stdout ? notes : NULL);
  bool ok = od_files_write(f, c, notes), any = false;
  if (c->status == OD_OK) return !ok ? OD_EXIT_FAILED : verdict ? od_verdict_exit(verdict) : OD_EXIT_OK;
  int code = od_exit_early(c->status, c->err);
  for (int i = OD_FILE_CSV; i <= OD_FILE_REPORT; i++) any = any || f->path[i];
  if (c->is_over_time && ok && any && !quiet)
    fprintf(stderr, "oleodyn: the files are complete up to t = %.9g s: %ld rows\n",
            c->table->data[(c->table->rows - 1) * c->table->columns], c->table->rows);
  return code;
}
