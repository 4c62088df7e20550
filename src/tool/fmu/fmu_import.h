// An imported FMU: its file, the processes that run its binary, and the law of a foreign block (oleodyn/foreign.h) that calls the
// FMU. Several threads may use the law at the same time: each call takes a free process, or starts one.
//
// In model exchange, the states of the FMU are states of the block. If the FMU has events, a token names the memory after the last
// event. In co-simulation, the only state is a token, which names the memory after the last step. The memory of a token is the state
// that the FMU saved; if the FMU cannot save its state, the steps since the start are repeated.
#ifndef OD_FMU_IMPORT_H
#define OD_FMU_IMPORT_H

#include "fmu/fmu_description.h"
#include "oleodyn/foreign.h"

typedef struct od_fmu_import od_fmu_import;

// Opens an FMU: starts the helper program, unpacks the file to a temporary folder and reads its description. `limit` is the largest
// time of a call of the FMU, s. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_fmu_import_open(const char *path, double limit, od_fmu_import **out, od_error *err);
// Ends all processes and removes the temporary folder; NULL is allowed.
void od_fmu_import_close(od_fmu_import *import);
// Sets the name of the FMU in the text of a failure: its place in the machine file. The text is copied.
void od_fmu_import_name(od_fmu_import *import, const char *name);
const od_fmu_description *od_fmu_import_description(const od_fmu_import *import);

// A variable of the FMU: value in SI units = factor * value of the FMU + offset.
typedef struct od_fmu_signal {
  int variable;
  double factor, offset;
} od_fmu_signal;

// Limit of the parameters of a block.
enum { OD_FMU_MOST_PARAMETERS = 64 };

// The variables that a block uses. Parameters have values in SI units. States: only factor and offset, in the order of the FMU.
typedef struct od_fmu_wiring {
  od_fmu_interface interface;
  int inputs, parameters, outputs;
  const od_fmu_signal *input, *parameter, *output, *state;
  const double *value;  // values of the parameters
  double sample;        // co-simulation: the step, s
} od_fmu_wiring;

// Starts the FMU with these variables, and returns its law, which belongs to the import. Names and units of the law are NULL; the caller sets them.
// Returns NULL on failure, with a message in err.
od_foreign_law *od_fmu_import_law(od_fmu_import *import, const od_fmu_wiring *wiring, od_error *err);
// Returns the interface in words, "FMI 2.0, model exchange", if the law belongs to this import; otherwise NULL.
const char *od_fmu_import_kind(const od_fmu_import *import, const od_foreign_law *law);
// Returns whether the FMU computes its derivatives. Otherwise the block computes differences.
bool od_fmu_import_has_derivatives(const od_fmu_import *import);

#endif
