// The struct of a laid-out circuit, for this module and its tests.
#ifndef OD_CIRCUIT_PRIVATE_H
#define OD_CIRCUIT_PRIVATE_H

#include "circuit/circuit_graph.h"
#include "circuit/diagram.h"
#include "circuit/sheet.h"

struct od_circuit {
  const char *title;
  od_graph graph;
  od_sheet sheet;
  int *output;  // indices of the outputs that a moving diagram needs, each once
  int outputs;
};

#endif
