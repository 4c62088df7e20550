// The contents of an export: the description of a machine or an observer as constant data (oleodyn/embedded.h), the names of its
// quantities, and a test run with its results.
#ifndef OD_EXPORT_PROGRAM_H
#define OD_EXPORT_PROGRAM_H

#include <stdbool.h>

#include "base/arena.h"
#include "experiment/experiment.h"
#include "memory/scoped.h"
#include "model/model.h"
#include "oleodyn/embedded.h"
#include "oleodyn/machine.h"

// A quantity that crosses the interface, with its SI unit.
typedef struct od_exported_name {
  const char *name, *unit;
} od_exported_name;

// The test run: inputs and sensors of each step, and the results after the last step.
typedef struct od_export_run {
  int steps;
  double *u, *y;               // steps x inputs, steps x sensors
  double *output, *parameter;  // results of this computer
  double *sigma;               // standard deviations of the outputs; NULL without an observer
  long residuals, matrices;    // largest counts of evaluations and of factorizations in one step
  size_t memory;               // bytes that the exported program needs
  size_t own_memory;           // bytes that the run needs in this process, which contains all parts of the core
} od_export_run;

typedef struct od_export_program {
  od_arena arena;     // owns all lists
  const char *name;   // a C identifier
  const char *title;  // title of the file
  const char *file;   // path of the file
  od_model model;     // the compiled machine, with the chosen outputs only
  od_embedded d;
  od_embedded_observer observer;
  od_exported_name *input, *output, *parameter;
  int inputs, sensors, states, parameters;
  const char *filter, *integrator;  // names in oleodyn/filter.h and oleodyn/integrator.h; filter NULL: no observer
  bool needs_complex;               // whether derivatives need complex numbers
  bool single;                      // whether the export computes in single precision
  od_export_run run;
  const od_machine *machine;    // the machine, or the machine of the observer
  const int *parameter_number;  // numbers of the machine that can be set
  const double *start_input;    // inputs at time 0, and the sensors of an observer
  struct {
    double length, row, tolerance, longest;  // the run of `oleodyn simulate`; times in s; length 0: not given
  } plan;
  struct {
    bool is_possible;
    char reason[160];  // reason why model exchange is not possible
    int states, indicators;
    double *nominal;  // typical sizes of the states
    od_exported_name *state;
  } exchange;  // of FMUs of machines: model exchange
} od_export_program;

typedef struct od_export_options {
  const char *name;              // NULL: made from the name of the file
  double period;                 // s; 0: the step of the file
  bool single;                   // single precision, for observers
  const char *const *parameter;  // paths of numbers that can be set while the program runs
  int parameters;
  const int *output;  // indices of outputs; NULL: the outputs that `oleodyn simulate` records
  int outputs;
  bool is_fmu;  // machines may have adaptive steps and all numbers as parameters, and have no test run
} od_export_options;

// Fill *out from a machine or an experiment, which must outlive *out, and compute the test run. Free *out with od_export_program_free(), also after a
// failure. Fail with OD_BAD_INPUT, OD_BAD_ARGUMENT or OD_NOT_AVAILABLE if the file cannot be exported, with OD_NO_MEMORY, or with the status of a
// failed sample or test run; err has the reason.
od_status od_export_machine(const od_machine *machine, const od_export_options *options, od_export_program *out,
                            od_error *err);
od_status od_export_experiment(const od_experiment *e, const od_export_options *options, od_export_program *out,
                               od_error *err);
// Creates a run of the program, in double precision, in memory of the program's arena, which grows until the run fits. Fails with
// OD_NO_MEMORY, OD_BAD_ARGUMENT or OD_NOT_AVAILABLE.
od_status od_export_create_run(od_export_program *p, od_embedded_run **run, od_error *err);
void od_export_program_free(od_export_program *p);

#endif
