// Facts about machines, shared by several results.
#ifndef OD_REPORT_MACHINE_FACTS_H
#define OD_REPORT_MACHINE_FACTS_H

#include "machine/machine.h"
#include "result/result.h"

// Adds the file and the title of a machine.
void od_add_machine_fact(od_result *r, const od_machine *machine);
// Adds the numbers of a file that --set or another file replaced (NULL: there is no file). Adds nothing if no number was
// replaced.
void od_add_replaced_fact(od_result *r, const char *name, const od_numbers *numbers);

#endif
