#ifndef OD_FORMATS_DBC_CHECK_H
#define OD_FORMATS_DBC_CHECK_H

#include "formats/dbc.h"

// Finds the flaws of the signals of a message, and the switches of multiplexed signals that SG_MUL_VAL_ does not list.
// signal: array of the m->signals signals of the message. If an allocation fails, the arena of the database is
// exhausted.
void od_dbc_check(od_dbc *dbc, const od_dbc_message *m, od_dbc_signal *signal);
// Sorts ranges, joins overlapping ranges, and removes empty ranges. Returns the number of remaining ranges.
int od_dbc_join_ranges(od_dbc_range *list, int count);

#endif
