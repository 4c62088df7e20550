// The job new: writes a folder with a machine, an experiment and a fit that can be run immediately, from a template
// (folder templates).
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "document/suggest.h"
#include "io/atomic_file.h"
#include "io/json.h"
#include "io/number.h"
#include "jobs/embedded_templates.h"
#include "jobs/job.h"
#include "memory/owned.h"

typedef struct arguments {
  const char *template_name;
  bool list;
} arguments;

static bool is_first_file(const od_template_file *f) {
  return f == od_template_files || strcmp(f[-1].folder, f->folder) != 0;
}

// --- List -------------------------------------------------------------------------------------------------------------

// Writes the first sentence of the comment at the beginning of a file.
static void describe(const od_template_file *f, char *text, size_t size) {
  const char *c = (const char *)f->bytes;
  size_t used = 0;
  while (*c == '#') {
    c += 1 + strspn(c + 1, " ");
    const char *end = strchr(c, '\n');
    size_t length = end ? (size_t)(end - c) : strlen(c);
    for (size_t i = 0; i < length && used + 2 < size; i++) {
      bool ends = c[i] == '.' && (i + 1 == length || c[i + 1] == ' ');
      if (ends) goto done;
      text[used++] = c[i];
    }
    if (!end) break;
    if (used + 2 < size) text[used++] = ' ';
    c = end + 1;
  }
done:
  text[used] = '\0';
}

// Returns the machine file of a template, whose first comment describes the template; without a machine file, the first
// file.
static const od_template_file *machine_file(const od_template_file *f) {
  for (const od_template_file *g = f; g->folder && !strcmp(g->folder, f->folder); g++)
    if (!strcmp(g->name, "machine.yaml")) return g;
  return f;
}

static int list_templates(od_job *job) {
  static const od_result_column columns[] = {{"name", "template", OD_CELL_CODE}, {"description", "", OD_CELL_TEXT}};
  OD_SCOPED(od_result_free) od_result result = od_result_new("Templates", "oleodyn new");
  od_result_table *t = od_result_add_table(&result, "templates", columns, 2);
  for (const od_template_file *f = od_template_files; f->folder; f++) {
    char text[400];
    if (!is_first_file(f)) continue;
    describe(machine_file(f), text, sizeof text);
    od_result_add_row(t, NULL, NAN);
    od_result_cell_text(t, f->folder);
    od_result_cell_text(t, text);
  }
  od_result_text(&result, "default", od_template_default);
  od_result_line(&result, "oleodyn new NAME --template TEMPLATE writes a folder; without --template: %s",
                 od_template_default);
  const od_file_contents contents = {.result = &result};
  return od_job_finish(job, &contents, NULL);
}

// --- Files ------------------------------------------------------------------------------------------------------------

// Returns the first file of a template, or NULL after reporting an error.
static const od_template_file *find_template(od_job *job, const char *name) {
  od_nearest nearest = od_nearest_to(name);
  for (const od_template_file *f = od_template_files; f->folder; f++) {
    if (!strcmp(f->folder, name)) return f;
    if (is_first_file(f)) od_nearest_try(&nearest, f->folder);
  }
  od_job_error(job, "--template: there is no template '%s'%s", name,
               od_nearest_suggestion(&nearest, "'oleodyn new --list' lists all templates").text);
  return NULL;
}

// Makes the folder, which must not exist. Returns OD_GO_ON, or the outcome after reporting an error.
static int make_folder(od_job *job, const char *path) {
  if (mkdir(path, 0777) == 0) return OD_GO_ON;
  int reason = errno;
  if (reason == EEXIST)
    od_job_error(job, "%s exists already, and 'new' never overwrites files; give another name", path);
  else
    od_job_error(job, "cannot make the folder %s: %s", path, strerror(reason));
  return reason == EEXIST ? OD_JOB_BAD_INPUT : OD_JOB_FAILED;
}

static od_status write_bytes(const char *path, const od_template_file *from, od_error *err) {
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  fwrite(from->bytes, 1, from->size, f.file);
  return od_atomic_commit(&f, err);
}

// --- The log ----------------------------------------------------------------------------------------------------------

static bool is_logged(const char *name) {
  return !strcmp(name, "time") || !strncmp(name, "input.", 6) || !strncmp(name, "measured.", 9);
}

// Returns a value rounded to six digits, as by a data logger.
static double rounded(double value) {
  char text[OD_NUMBER_SIZE];
  od_number_round(text, value, 6);
  return strtod(text, NULL);
}

// Copies the columns of a log: times, inputs and measured values. Returns NULL if out of memory.
static od_table *logged_columns(const od_table *t) {
  OD_SCRATCH(scratch);
  int *column = OD_TAKE(&scratch, int, t->columns), count = 0;
  double *row = OD_TAKE(&scratch, double, t->columns);
  if (!column || !row) return NULL;
  for (int c = 0; c < t->columns; c++)
    if (is_logged(t->name[c])) column[count++] = c;
  OD_OWNED(od_table_free) od_table *log = od_table_new(count);
  bool ok = log != NULL;
  for (int c = 0; ok && c < count; c++) ok = od_table_label(log, c, t->name[column[c]], t->unit[column[c]]) == OD_OK;
  for (long i = 0; ok && i < t->rows; i++) {
    for (int c = 0; c < count; c++) {
      double value = t->data[i * t->columns + column[c]];
      row[c] = c == 0 ? value : rounded(value);
    }
    ok = od_table_append(log, row) == OD_OK;
  }
  return ok ? OD_GIVE(log) : NULL;
}

static bool goes_on(void *user, double done) {
  return od_job_progress(user, done);
}

// Observes the simulated true machine of the experiment once, and writes inputs and measured values as a log. Returns
// OD_GO_ON, or the outcome after reporting an error.
static int make_log(od_job *job, const char *experiment, const char *path) {
  od_job *observe = od_job_new("observe");
  od_error err = {0};
  if (!observe || od_job_add_file(observe, experiment) != OD_OK || od_job_set(observe, "quiet", NULL, &err) != OD_OK) {
    od_job_free(observe);
    return od_job_end_early(job, OD_NO_MEMORY, &(od_error){.text = "out of memory"});
  }
  od_job_keep_table(observe);
  od_job_listen(observe, &(od_job_listener){.user = job, .progress = goes_on});
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  int outcome = od_job_run(observe);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  const od_table *table = od_job_table(observe);
  OD_OWNED(od_table_free) od_table *log = table && outcome == OD_JOB_DONE ? logged_columns(table) : NULL;
  od_status status = log ? od_table_write_csv(log, path, &err) : OD_NO_MEMORY;
  od_job_free(observe);
  if (outcome == OD_JOB_INTERRUPTED) {
    od_job_say(job, OD_MESSAGE_STOP, "interrupted; the folder has no log");
    return OD_JOB_INTERRUPTED;
  }
  if (outcome != OD_JOB_DONE) {
    od_job_error(job, "%s cannot be observed, so there is no log", experiment);
    return OD_JOB_FAILED;
  }
  return status == OD_OK ? OD_GO_ON : od_job_end_early(job, status, &err);
}

// --- The command ------------------------------------------------------------------------------------------------------

static int write_folder(od_job *job, const char *folder, const od_template_file *first) {
  OD_SCRATCH(scratch);
  od_error err = {0};
  OD_SCOPED(od_result_free) od_result result = od_result_new("New folder", folder);
  json_t *files = json_array();
  od_result_text(&result, "folder", folder);
  od_result_text(&result, "template", first->folder);
  OD_TRY(make_folder(job, folder));
  for (const od_template_file *f = first; f->folder && !strcmp(f->folder, first->folder); f++) {
    const char *path = od_arena_format(&scratch, "%s/%s", folder, f->name);
    od_status status = path ? write_bytes(path, f, &err) : OD_NO_MEMORY;
    if (status != OD_OK) {
      json_decref(files);
      return od_job_end_early(job, status, &err);
    }
    json_array_append_new(files, od_json_text(f->name));
  }
  json_array_append_new(files, od_json_text("log.csv"));
  od_result_set(&result, "files", files);
  const char *experiment = od_arena_format(&scratch, "%s/observe.yaml", folder);
  const char *log = od_arena_format(&scratch, "%s/log.csv", folder);
  OD_TRY(od_job_has_memory(job, &scratch));
  OD_TRY(make_log(job, experiment, log));
  od_result_line(&result, "wrote %s: machine.yaml, observe.yaml, fit.yaml and log.csv, from the template %s", folder,
                 first->folder);
  od_result_heading(&result, "Next steps");
  static const struct {
    const char *command, *rest, *meaning;
  } steps[] = {
      {"simulate", "machine.yaml --plot -", "run the machine, and draw the results in the terminal"},
      {"simulate", "machine.yaml --report run.html", "write a page with the results"},
      {"observe", "observe.yaml", "estimate states and parameters while the machine runs"},
      {"fit", "fit.yaml", "find numbers of the machine from log.csv"},
  };
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    char command[400];
    snprintf(command, sizeof command, "%s %.300s/%s", steps[i].command, folder, steps[i].rest);
    od_result_line(&result, "  oleodyn %-50s  %s", command, steps[i].meaning);
  }
  const od_file_contents contents = {.result = &result};
  return od_job_finish(job, &contents, NULL);
}

static const char details[] =
    "Writes the folder NAME with a commented machine (machine.yaml), an experiment with an observer (observe.yaml), a fit\n"
    "(fit.yaml) and a log (log.csv). The log is a simulated measurement: the variant 'real' of the machine has other numbers,\n"
    "and the sensors have noise. All files can be run immediately. Existing files are never overwritten.\n\n"
    "Examples\n"
    "  oleodyn new --list\n"
    "  oleodyn new my-machine\n"
    "  oleodyn new my-crane --template crane\n";

// Returns the names of all templates, separated by spaces; "" if out of memory.
static const char *template_names(od_job *job) {
  char text[1000] = "";
  for (const od_template_file *f = od_template_files; f->folder; f++)
    if (is_first_file(f))
      snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", text[0] ? " " : "", f->folder);
  const char *kept = od_arena_text(&job->arena, text);
  return kept ? kept : "";
}

int od_kind_new(od_job *job) {
  arguments a = {0};
  const char *names = template_names(job);
  const od_option options[] = {
      {"template", OD_OPTION_TEXT, "NAME", "the template; --list lists all templates", &a.template_name, names},
      {"list", OD_OPTION_FLAG, NULL, "list the templates", &a.list},
  };
  const od_usage usage = {
      "NAME", details, OD_OPTIONS(options),
      .shared = {.file[OD_FILE_JSON] = "the names of the files", .is_json_alone = true, .quiet = true}};
  od_words files = {0};
  OD_TRY(od_job_begin(job, &usage, 0, 1, &files));
  OD_TRY(od_job_check_files(job));
  if (a.list) return list_templates(job);
  if (files.count == 0) {
    od_job_error(job, "new: the name of the folder is missing; usage: oleodyn new NAME [--template NAME]");
    return OD_JOB_BAD_INPUT;
  }
  const od_template_file *first = find_template(job, a.template_name ? a.template_name : od_template_default);
  return first ? write_folder(job, files.text[0], first) : OD_JOB_BAD_INPUT;
}
