// Names of nets, frames and enclosures of a routed sheet.
#ifndef OD_CIRCUIT_PLACE_NAMES_H
#define OD_CIRCUIT_PLACE_NAMES_H

#include "circuit/sheet.h"

// Collects the marks of all symbols, and places names, frames and enclosures. *outputs: the outputs of moving parts,
// with repetitions; the arena of the sheet owns the list.
void od_sheet_finish(od_sheet *s, int **outputs, int *count);

#endif
