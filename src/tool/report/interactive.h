// A page that computes: the page contains the engine (src/helpers/engine) and the machine. Its script simulates the machine with other
// values of numbers.
#ifndef OD_REPORT_INTERACTIVE_H
#define OD_REPORT_INTERACTIVE_H

#include "report/page.h"
#include "report/run_views.h"
#include "simulate/stored_run.h"

typedef struct od_interactive {
  od_records machine;         // the stored machine with its run
  unsigned char *engine;      // the WebAssembly file
  size_t engine_size;         // bytes
  const char *const *slider;  // paths of the numbers that have a slider at first; none: the page chooses
  int sliders;
} od_interactive;
void od_interactive_free(od_interactive *i);

// Finds and reads the engine. Fails with OD_IO if there is no engine (err names the build target) or if its file cannot be read, and
// with OD_NO_MEMORY.
od_status od_interactive_read_engine(od_interactive *i, od_error *err);
// Stores the machine with its run and the outputs of the page. files: the files of the machine. Fails with OD_NOT_AVAILABLE if the engine
// cannot make this run, or with OD_NO_MEMORY.
od_status od_interactive_store(od_interactive *i, const od_machine *machine, const od_bundle *files,
                               const od_run_options *options, const od_run_views *views, od_error *err);
// Adds the engine and the machine to a page.
void od_interactive_draw(const od_interactive *i, const od_machine *machine, od_page *page);

#endif
