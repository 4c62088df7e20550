// Runs a job as the program does and prints its result as JSON. Usage: run_job [KIND FILE [OPTION VALUE]...], for example
// run_job observe experiment.yaml seed 7
#include <stdio.h>

#include <oleodyn/oleodyn.h>

static void print_message(void *user, od_message_kind kind, const char *text) {
  (void)user;
  if (kind == OD_MESSAGE_ERROR) fprintf(stderr, "error: %s\n", text);
}
static void print_messages(void *user, const od_messages *messages) {
  (void)user;
  od_messages_print(messages, stderr, false);
}

int main(int argc, char **argv) {
  od_job *job = od_job_new(argc > 1 ? argv[1] : "simulate");
  if (!job) return fprintf(stderr, "there is no job '%s'\n", argv[1]), OD_JOB_BAD_INPUT;
  const od_job_listener listener = {.message = print_message, .messages = print_messages};
  od_error err;
  od_job_listen(job, &listener);
  od_job_add_file(job, argc > 2 ? argv[2] : "cases/press/machine.yaml");
  for (int i = 3; i + 1 < argc; i += 2)
    if (od_job_set(job, argv[i], argv[i + 1], &err) != OD_OK) return fprintf(stderr, "%s\n", err.text), 2;
  od_job_outcome outcome = od_job_run(job);
  char *json = od_job_result(job) ? od_result_json(od_job_result(job)) : NULL;
  if (json) fputs(json, stdout);
  od_text_free(json);
  od_job_free(job);
  return outcome;
}
