// The history of a search: the cost and the numbers after each iteration, as a table and as a picture.
#ifndef OD_IO_SEARCH_HISTORY_H
#define OD_IO_SEARCH_HISTORY_H

#include "io/picture.h"

// Creates a table with the columns iteration, cost, and a column for each of `count` numbers. Returns NULL if out of
// memory.
od_table *od_search_history_new(const char *const *name, int count);
// Adds an iteration, unless its cost is not finite. After OD_NO_MEMORY the history is incomplete.
od_status od_search_history_add(od_table *history, double cost, const double *number);

// Adds a panel with the cost over the iterations, and a panel with the first 12 numbers that do not end at zero, relative to their last
// values. Histories of fewer than two iterations add nothing. The history must outlive the picture.
void od_picture_add_history(od_picture *p, const od_table *history);

#endif
