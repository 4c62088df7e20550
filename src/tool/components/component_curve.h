// What a class of elements does, as a table: its flows and forces over a pressure, a speed, a length, a signal or a state.
#ifndef OD_COMPONENTS_COMPONENT_CURVE_H
#define OD_COMPONENTS_COMPONENT_CURVE_H

#include "elements/element.h"
#include "io/table.h"

enum { OD_CURVE_COLUMNS = 40 };

typedef struct od_component_curve {
  od_table *table;              // what it is drawn over, then the flows and forces, each as often as there are members
  int panel[OD_CURVE_COLUMNS];  // which columns share a chart (see od_plot_write)
  int members;                  // how many values the signal, a state or the speed takes
  bool lively[OD_CURVE_COLUMNS];  // whether the column shows something: it changes over a good part of the way
  char note[160];                 // what holds, for a subtitle
} od_component_curve;

// Evaluates the class's own equation with its defaults, and in the middle of what is usual where there is none, over what shows most: the first pressure, with
// its states at rest, over which some flow or force changes; else with its states held, or a speed, a length, the signal or a state. False where a class has
// nothing to show of its own: ports and frictions belong to others. The caller frees the table.
bool od_component_curve_make(const od_element_class *c, od_component_curve *curve);

#endif
