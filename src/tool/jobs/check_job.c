// The job check: checks machine, experiment, fit, friction, study and twin files.
#include <limits.h>
#include <stdio.h>

#include "jobs/job.h"
#include "document/messages.h"
#include "memory/scoped.h"
#include "jobs/open_machine.h"
#include "report/check_file.h"

// Checks one file, shows its messages unless they go to a JSON file, and appends its data to `list`. Returns the outcome.
static int check_file(od_job *job, const char *path, const od_load_options *load, json_t *list) {
  od_messages *messages = od_messages_new();
  if (!messages) return od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
  od_result r;
  od_status status = od_check_file(path, load, &messages, &r);
  json_array_append(list, r.data);
  if (!job->files.path[OD_FILE_JSON]) {
    if (job->listener.messages) job->listener.messages(job->listener.user, messages);
    od_job_show(job, &r, false);
  }
  od_messages_append(job->messages, messages);
  od_result_free(&r);
  od_messages_free(messages);
  return od_outcome_of(status);
}

static const char details[] =
    "The sections of a file determine its kind: files with 'sensors' are experiments, or fits if they have 'fit'; files with\n"
    "'laws' are friction files, files with 'cases' are studies, files with 'machines' are twins, and other files are machines.\n"
    "The exit code is 0 if all files are correct, else 2.\n";

int od_kind_check(od_job *job) {
  od_load_arguments load = {0};
  const od_option options[] = {
      OD_LOAD_OPTIONS(&load),
  };
  const od_usage usage = {"FILE...", details, OD_OPTIONS(options),
                          .shared = {.file[OD_FILE_JSON] = "all messages", .is_json_alone = true}};
  od_words files = {0};
  OD_TRY(od_job_begin(job, &usage, 1, INT_MAX, &files));
  OD_TRY(od_job_check_files(job));
  const od_load_options how = od_load_options_of(&load);
  OD_SCOPED(od_result_free) od_result all = od_result_new("Check", "");
  json_t *list = json_array();
  int code = OD_JOB_DONE;
  od_result_set(&all, "machines", list);
  for (int i = 0; i < files.count; i++) {
    int of_file = check_file(job, files.text[i], &how, list);
    if (of_file != OD_JOB_DONE && code != OD_JOB_BAD_INPUT) code = of_file;
  }
  od_result_flag(&all, "ok", code == OD_JOB_DONE);
  OD_TRY(od_job_check_inputs(job));
  const od_file_contents contents = {.result = &all};
  int written = od_job_finish(job, &contents, NULL);
  return written != OD_JOB_DONE ? written : code;
}
