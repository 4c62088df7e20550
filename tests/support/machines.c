#include "support/machines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/test.h"

od_machine *od_test_machine(const char *path, ...) {
  char file[512];
  const char *set[32];
  od_load_options options = {.set = set};
  va_list args;
  va_start(args, path);
  for (const char *s; (s = va_arg(args, const char *)) && options.set_count < 32;) set[options.set_count++] = s;
  va_end(args);
  snprintf(file, sizeof file, "%s%s%s", *path == '/' ? "" : OD_SOURCE_DIR, *path == '/' ? "" : "/", path);
  od_machine *machine = NULL;
  od_messages *messages = od_messages_new();
  if (od_machine_load(file, &options, &machine, messages) != OD_OK) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  assert_non_null(machine);
  return machine;
}

od_machine *od_test_machine_text(const char *text) {
  char path[] = "/tmp/oleodyn-run-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
  od_machine *machine = od_test_machine(path, NULL);
  unlink(path);
  return machine;
}

void od_test_run_to(const od_machine *machine, const char *integrator, double time, double step,
                    const char *const *names, int count, double *last) {
  int outputs[8];
  for (int i = 0; i < count; i++) outputs[i] = od_test_output(machine, names[i]);
  od_run_options options = {.time = time,
                            .step = step,
                            .integrator = integrator,
                            .tolerance = 1e-12,
                            .outputs = outputs,
                            .output_count = count};
  od_table *table = NULL;
  od_error err = {0};
  od_status status = od_run(machine, &options, &table, NULL, &err);
  if (status != OD_OK) print_error("%s\n", err.text);
  assert_int_equal(status, OD_OK);
  memcpy(last, table->data + (table->rows - 1) * table->columns + 1, (size_t)count * sizeof *last);
  od_table_free(table);
}

int od_test_output(const od_machine *machine, const char *name) {
  int i = od_machine_output_find(machine, name);
  if (i < 0) print_error("no output %s\n", name);
  assert_true(i >= 0);
  return i;
}

od_test_run od_test_begin(od_machine *machine, const char *first, ...) {
  od_test_run run = {.machine = machine};
  int outputs[64];
  va_list args;
  va_start(args, first);
  for (const char *name = first; name; name = va_arg(args, const char *))
    outputs[run.outputs++] = od_test_output(machine, name);
  va_end(args);
  assert_int_equal(od_machine_plant(machine, outputs, run.outputs, NULL, 0, &run.plant, NULL), OD_OK);
  run.sim = od_sim_new(run.plant);
  assert_non_null(run.sim);
  double u[16] = {0};
  if (run.plant->nu) od_machine_inputs(machine, 0, u);
  assert_int_equal(od_sim_start(run.sim, 0, u), OD_OK);
  return run;
}

void od_test_end(od_test_run *run) {
  od_sim_free(run->sim);
  od_plant_free(run->plant);
  od_machine_free(run->machine);
}
