// Reads the alarms of a machine of a twin file.
#ifndef OD_TWIN_LOAD_ALARMS_H
#define OD_TWIN_LOAD_ALARMS_H

#include "twin/twin.h"

extern const od_section_class od_twin_alarm_section;

// Reads the alarms at this node (-1: there are none) into m->alarm. The experiment of the machine is loaded, or NULL. The arena owns the list.
void od_twin_read_alarms(od_loader *ld, od_twin_machine *m, int node, od_arena *memory);

#endif
