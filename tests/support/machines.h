// Loading the machines of cases/ in tests.
#ifndef OD_TEST_MACHINES_H
#define OD_TEST_MACHINES_H

#include "oleodyn/oleodyn.h"
#include "simulate/run.h"

// Loads OD_SOURCE_DIR/path with "path=value" settings up to a NULL. On error the test fails with all messages.
od_machine *od_test_machine(const char *path, ...);

// The same from a text, which is written to a temporary file for loading.
od_machine *od_test_machine_text(const char *text);

// Runs a machine and returns the last values of the outputs with these names (at most 8).
void od_test_run_to(const od_machine *machine, const char *integrator, double time, double step,
                    const char *const *names, int count, double *last);

// The index of an output that must exist.
int od_test_output(const od_machine *machine, const char *name);

// A machine with chosen outputs (names up to a NULL), ready to step.
typedef struct od_test_run {
  od_machine *machine;
  od_plant *plant;
  od_sim *sim;
  int outputs;
} od_test_run;
od_test_run od_test_begin(od_machine *machine, const char *first, ...);
void od_test_end(od_test_run *run);  // frees the machine as well

#endif
