// A machine and a run of it as bytes: for the engine (src/helpers/engine), which simulates the machine in a page.
#ifndef OD_STORED_RUN_H
#define OD_STORED_RUN_H

#include "machine/machine_records.h"
#include "simulate/run.h"

// Returns whether new values of a number can be simulated: settings of the run are stored once, and requirements are not judged.
bool od_stored_run_offers(const od_number *number);

// Appends the machine and the settings of the run: its method, its outputs by name, and outputs that are only watched. The bundle has
// recorded the files of the machine.
void od_stored_run_append(od_records *r, const od_machine *machine, const od_bundle *files,
                          const od_run_options *options, const int *watched, int watched_count);
// Returns OD_OK, or OD_NOT_AVAILABLE if the engine cannot make this run; err has the reason.
od_status od_stored_run_check(const od_bundle *files, const od_run_options *options, od_error *err);

// A stored machine and its run. The caller keeps the bytes.
typedef struct od_stored_run {
  od_machine_source source;  // its arena owns all texts
  od_run_options options;    // without outputs
  const char **output;       // names of the outputs, then of the watched outputs
  int outputs, watched;
} od_stored_run;
// Reads the bytes. Fails with OD_BAD_INPUT or OD_NO_MEMORY; err has the reason.
od_status od_stored_run_read(od_stored_run *s, const char *bytes, size_t size, od_error *err);
void od_stored_run_free(od_stored_run *s);

#endif
