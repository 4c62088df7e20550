// Description of a null space in readable form.
#ifndef OD_IDENTIFY_NULL_SPACE_H
#define OD_IDENTIFY_NULL_SPACE_H

#include "identify/identifiability.h"

// Finds readable null directions. basis: count x n, rows that span the null space in units of scale. Fills null[0 .. count),
// whose coefficient arrays must hold n numbers each. Fails with OD_NO_MEMORY.
od_status od_null_space_find(int n, int count, const double *basis, const double *scale, const double *value,
                             od_null *null);

#endif
