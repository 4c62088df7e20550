#include "jobs/job_files.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/atomic_file.h"
#include "io/inputs_read.h"
#include "io/json.h"
#include "io/wording.h"
#include "jobs/job.h"
#include "report/page_result.h"

static bool is_standard_output(const char *path) {
  return path && !strcmp(path, "-");
}

// Returns whether the path is a regular file or a new file; false for standard output and devices.
static bool is_plain(const char *path) {
  struct stat facts;
  return path && !is_standard_output(path) && (stat(path, &facts) != 0 || S_ISREG(facts.st_mode));
}

// Splits a path: writes its folder, and returns the name in this folder.
static const char *split(const char *path, char *folder, size_t size) {
  const char *slash = strrchr(path, '/');
  int length = slash ? (int)(slash - path) + 1 : 0;
  snprintf(folder, size, "%.*s", length ? length : 1, length ? path : ".");
  return path + length;
}

// Returns whether two paths lead to the same file, which need not exist yet.
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
    [OD_FILE_CSV] = {"csv", "FILE", "write %s as CSV; - is standard output", NULL, true, od_table_write_csv},
    [OD_FILE_MAT] = {"mat", "FILE", "write %s as a MATLAB file", .write_table = od_table_write_mat},
    [OD_FILE_JSON] = {"json", "FILE", "write %s as JSON; - is standard output", "a summary", true},
    [OD_FILE_PLOT] = {"plot", "FILE.svg", "draw %s; - draws in the terminal", "a plot", true},
    [OD_FILE_REPORT] = {"report", "FILE.html", "write a report with %s: one self-contained HTML page", "a report"},
    [OD_FILE_STATE] = {"save-state", "FILE", "write %s, for 'initial: {file: FILE}' in a machine file", "the state"},
    [OD_FILE_BLOCK] = {"block", "FILE.yaml", "write a machine file with %s", "a machine file"},
    [OD_FILE_VARIANT] = {"variant-file", "FILE", NULL, "the estimates as a variant"},
    [OD_FILE_VALUES] = {"values", "FILE", NULL, "the values"},
    [OD_FILE_CHECKPOINT] = {"checkpoint", "FILE", "write %s, from which --resume continues", "a checkpoint"},
    [OD_FILE_IMAGE] = {"image", "FILE", NULL, "an image"},
    [OD_FILE_PARTS] = {"parts", "FILE", NULL, "a list of parts"},
    [OD_FILE_MACHINE_PICTURE] = {"machine", "FILE.svg", NULL, "the machine"},
    [OD_FILE_CIRCUIT_PICTURE] = {"circuit", "FILE.svg", NULL, "the circuit"},
};

int od_job_check_files(od_job *job) {
  const od_files *f = &job->files;
  for (int i = 0, first = -1; i < OD_FILE_KINDS; i++) {
    if (!is_standard_output(f->path[i])) continue;
    if (first >= 0) {
      od_job_error(job, "--%s - and --%s - cannot both use standard output; give a file name to one of these options",
                   od_file_formats[first].option, od_file_formats[i].option);
      return OD_JOB_BAD_INPUT;
    }
    first = i;
  }
  for (int i = 0; i < OD_FILE_KINDS; i++) {
    if (!is_standard_output(f->path[i]) || od_file_formats[i].can_be_standard_output) continue;
    od_job_error(job, "--%s cannot be written to standard output; give a file name", od_file_formats[i].option);
    return OD_JOB_BAD_INPUT;
  }
  for (int i = 0; i < OD_FILE_KINDS; i++) {
    const char *path = f->path[i];
    for (int j = 0; j < i; j++) {
      if (!is_plain(path) || !is_plain(f->path[j]) || !are_same(path, f->path[j])) continue;
      od_job_error(job, "--%s and --%s would both be written to %s; give different file names",
                   od_file_formats[j].option, od_file_formats[i].option, path);
      return OD_JOB_BAD_INPUT;
    }
    od_error err = {0};
    if (!path || is_standard_output(path) || od_atomic_probe(path, &err) == OD_OK) continue;
    od_job_error(job, "%s", err.text);
    return OD_JOB_FAILED;
  }
  return OD_GO_ON;
}

int od_job_check_inputs(od_job *job) {
  const od_files *f = &job->files;
  for (int i = 0; i < OD_FILE_KINDS; i++) {
    const char *path = f->path[i],
               *input = path && !is_standard_output(path) ? od_inputs_find(&job->inputs, path) : NULL;
    if (!input) continue;
    od_job_error(job, "--%s %s would replace %s, which is an input; give another file name", od_file_formats[i].option,
                 path, input);
    return OD_JOB_BAD_INPUT;
  }
  return OD_GO_ON;
}

int od_job_prepare_files(od_job *job) {
  OD_TRY(od_job_check_files(job));
  return od_job_check_inputs(job);
}

bool od_job_uses_standard_output(const od_job *job) {
  bool uses = job->answers_live && job->output == STDOUT_FILENO;
  for (int i = 0; i < OD_FILE_KINDS; i++) uses = uses || (i != OD_FILE_PLOT && is_standard_output(job->files.path[i]));
  return uses;
}

bool od_job_draws_in_terminal(const od_job *job) {
  return is_standard_output(job->files.path[OD_FILE_PLOT]);
}

bool od_job_wants_rows(const od_job *job) {
  bool wants = job->keeps_table;
  for (int i = 0; i < OD_FILE_KINDS; i++)
    wants = wants || (i != OD_FILE_CSV && od_file_formats[i].write_table && job->files.path[i]);
  return wants;
}
bool od_job_wants_table(const od_job *job) {
  return job->files.path[OD_FILE_CSV] || od_job_wants_rows(job);
}

json_t *od_job_files_read(od_job *job) {
  json_t *list = json_array();
  for (int i = 0; i < job->inputs.count; i++) json_array_append_new(list, od_json_text(job->inputs.input[i].name));
  return list;
}

// Writes one file. Returns OD_NOT_AVAILABLE if there is nothing to write.
static od_status write_file(const od_file_contents *c, od_result_file kind, const char *path, od_error *err) {
  if (c->write[kind]) return c->write[kind](kind == OD_FILE_VARIANT ? c->variant_user : c->user, path, err);
  if (od_file_formats[kind].write_table)
    return c->table ? od_file_formats[kind].write_table(*c->table, path, err) : OD_NOT_AVAILABLE;
  switch (kind) {
    case OD_FILE_JSON: return od_json_write(c->result ? c->result->data : NULL, path, err);
    case OD_FILE_PLOT: return c->picture ? od_picture_show(c->picture, path, err) : OD_NOT_AVAILABLE;
    case OD_FILE_REPORT: return c->result ? od_page_write_result(c->result, path, err) : OD_NOT_AVAILABLE;
    default: return OD_NOT_AVAILABLE;
  }
}

// Describes the contents of a file, for the line that reports the file.
static void describe(const od_file_contents *c, od_result_file kind, char *text, size_t size) {
  if (od_file_formats[kind].name)
    snprintf(text, size, "%s", od_file_formats[kind].name);
  else if (c->table)
    snprintf(text, size, "%s, %s", od_count(c->rows ? c->rows : (*c->table)->rows, "row").text,
             od_count((*c->table)->columns, "column").text);
  else
    snprintf(text, size, "the matrices");
}

// Writes all requested files, with a note about each. Returns false if a file cannot be written.
static bool write_files(od_job *job, const od_file_contents *c) {
  json_t *data = c->result ? c->result->data : NULL;
  if (json_is_object(data) && job->inputs.count > 0) json_object_set_new(data, "files_read", od_job_files_read(job));
  bool ok = true;
  for (int i = 0; i < OD_FILE_KINDS; i++) {
    const char *path = job->files.path[i];
    char text[256];
    od_error err = {0};
    od_status status = path ? write_file(c, (od_result_file)i, path, &err) : OD_NOT_AVAILABLE;
    if (status == OD_NOT_AVAILABLE) continue;
    describe(c, (od_result_file)i, text, sizeof text);
    if (status != OD_OK)
      od_job_error(job, "%s", err.text);
    else if (!job->quiet && !is_standard_output(path))
      od_job_say(job, OD_MESSAGE_NOTE, "wrote %s: %s", path, text);
    ok = ok && status == OD_OK;
  }
  return ok;
}

void od_job_show(od_job *job, const od_result *result, bool summary_always) {
  bool is_whole = !job->quiet && (summary_always || !od_job_uses_standard_output(job));
  if (job->listener.result) job->listener.result(job->listener.user, result, is_whole);
}

// Transfers the result from the kind to the job. Also transfers the table if the job keeps the table.
static void take_over(od_job *job, const od_file_contents *c) {
  if (c->table && job->keeps_table) {
    od_table_free(job->table);
    job->table = OD_GIVE(*c->table);
  }
  if (!c->result || job->has_result) return;
  job->result = od_result_give(c->result);
  job->has_result = true;
}

int od_job_finish(od_job *job, const od_file_contents *c, const od_verdict *verdict) {
  if (c->result && !od_result_is_complete(c->result)) return od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
  if (c->result) od_job_show(job, c->result, c->summary_always);
  bool ok = write_files(job, c), any = false;
  int outcome = od_job_end_early(job, c->status, c->err ? c->err : &(od_error){0});
  for (int i = OD_FILE_CSV; i <= OD_FILE_REPORT; i++) any = any || job->files.path[i];
  if (c->status != OD_OK && c->is_over_time && ok && any && !job->quiet) {
    const od_table *t = *c->table;
    od_job_say(job, OD_MESSAGE_STOP, "the files are complete up to t = %.9g s: %s", t->data[(t->rows - 1) * t->columns],
               od_count(t->rows, "row").text);
  }
  take_over(job, c);
  if (c->status != OD_OK) return outcome;
  return !ok ? OD_JOB_FAILED : verdict && verdict->trust == OD_UNSOUND ? OD_JOB_UNSOUND : OD_JOB_DONE;
}
