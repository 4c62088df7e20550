// The common part of all results about a machine.
#ifndef OD_MACHINE_MACHINE_RESULT_H
#define OD_MACHINE_MACHINE_RESULT_H

#include "oleodyn/machine.h"
#include "result/result.h"

// Returns the title of a machine; without a title, the name of its file.
const char *od_machine_caption(const od_machine *machine);
// Returns a result with the caption as its title, and with machine and file in its data. The machine must outlive the result.
od_result od_machine_result(const char *kind, const od_machine *machine);

#endif
