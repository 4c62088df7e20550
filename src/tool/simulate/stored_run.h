// A machine and a run of it as bytes: for the engine (src/helpers/engine), which simulates the machine in a page.
#ifndef OD_STORED_RUN_H
#define OD_STORED_RUN_H

#include "machine/machine_records.h"
#include "simulate/run.h"

// Appends the machine and the settings of the run: its method and its outputs by name. The bundle has recorded the files of the
// machine.
void od_stored_run_append(od_records *r, const od_machine *machine, const od_bundle *files,
                          const od_run_options *options);

// A stored machine and its run. The caller keeps the bytes.
typedef struct od_stored_run {
  od_machine_source source;  // its arena owns all texts
  od_run_options options;    // without outputs
  const char **output;       // names of the outputs
  int outputs;
} od_stored_run;
// Reads the bytes. Fails with OD_BAD_INPUT or OD_NO_MEMORY; err has the reason.
od_status od_stored_run_read(od_stored_run *s, const char *bytes, size_t size, od_error *err);
void od_stored_run_free(od_stored_run *s);

#endif
