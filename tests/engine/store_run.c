// For the test of the engine. `store_run MACHINE FILE` stores a machine with the run of `oleodyn simulate`; the exit code is 77 if the
// machine cannot run, because it has no duration or uses CVODES. `store_run --evaluations MACHINE [PATH=VALUE...]` prints the number of
// evaluations of the run.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/method_names.h"
#include "memory/owned.h"
#include "simulate/stored_run.h"

// Loads the machine and chooses its run. Returns NULL after messages.
static od_machine *load(const char *path, const od_load_options *options, od_bundle *files, od_run_options *run) {
  od_machine *machine = NULL;
  od_messages *messages = od_messages_new();
  od_bundle_record(files);
  od_machine_load(path, options, &machine, messages);
  od_bundle_record(NULL);
  if (!machine) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  if (!machine) return NULL;
  *run = od_run_options_of(machine, (od_run_wishes){0});
  int *outputs = calloc((size_t)od_machine_output_count(machine) + 1, sizeof *outputs);
  run->outputs = outputs;
  run->output_count = od_machine_default_outputs(machine, outputs);
  return machine;
}

static int store(const od_machine *machine, const od_bundle *files, const od_run_options *run, const char *path) {
  od_records records = {0};
  if (!(run->time > 0) || strcmp(run->integrator, OD_CVODES) == 0) return 77;
  od_stored_run_append(&records, machine, files, run, run->outputs, run->output_count);
  FILE *file = fopen(path, "wb");
  bool written = file && fwrite(records.bytes, 1, records.size, file) == records.size;
  bool closed = file && fclose(file) == 0 && written && !records.no_memory;
  od_records_free(&records);
  return closed ? 0 : 1;
}

static int count_evaluations(const od_machine *machine, const od_run_options *run) {
  od_table *table = NULL;
  od_run_report report = {0};
  od_error err = {0};
  od_status status = od_run(machine, run, &table, &report, &err);
  if (status == OD_OK) printf("%ld\n", report.residuals);
  if (status != OD_OK) fprintf(stderr, "%s\n", err.text);
  od_table_free(table);
  od_run_report_free(&report);
  return status == OD_OK ? 0 : 1;
}

int main(int argc, char **argv) {
  bool counts = argc > 2 && strcmp(argv[1], "--evaluations") == 0;
  if (argc < 3) return 2;
  od_bundle files = {0};
  od_run_options run;
  const od_load_options options = {.set = (const char *const *)(argv + 3), .set_count = counts ? argc - 3 : 0};
  od_machine *machine = load(argv[counts ? 2 : 1], &options, &files, &run);
  if (!machine) return 1;
  int code = counts ? count_evaluations(machine, &run) : store(machine, &files, &run, argv[2]);
  free((void *)run.outputs);
  od_arena_free(&files.arena);
  od_machine_free(machine);
  return code;
}
