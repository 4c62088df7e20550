// The picture of a sweep: curves of results over the swept number, or histograms over random draws.
#ifndef OD_SWEEP_SWEEP_PICTURE_H
#define OD_SWEEP_SWEEP_PICTURE_H

#include "io/picture.h"
#include "sweep/sweep.h"

// Adds the first `columns` results of the table (0: all, up to a limit that keeps the picture readable). One or two swept numbers:
// curves over the number that changes fastest, one for each value of the other number. More numbers: points. Draws: histograms. The
// table must outlive the picture.
void od_picture_add_sweep(od_picture *p, const od_sweep_plan *plan, const od_table *table, int columns);

#endif
