// The behavior of a class of elements as a table: its flows and forces over a pressure, a speed, a length, a signal or a state.
#ifndef OD_COMPONENTS_COMPONENT_CURVE_H
#define OD_COMPONENTS_COMPONENT_CURVE_H

#include "elements/element.h"
#include "io/table.h"

enum { OD_CURVE_COLUMNS = 40 };

typedef struct od_component_curve {
  od_table *table;                // the abscissa, then the flows and forces, one column per member each
  int panel[OD_CURVE_COLUMNS];    // columns with the same number share a chart (see od_plot_write)
  int members;                    // number of values of the signal, a state or the speed
  bool lively[OD_CURVE_COLUMNS];  // whether the column changes over a good part of the range
  char note[160];                 // conditions, for a subtitle
} od_component_curve;

// Evaluates the class's own equation with its defaults, or the middle of the usual range if there is no default, over the most
// suitable abscissa: the first pressure, with its states settled, that changes a flow or force; else with its states held, or a
// speed, a length, the signal or a state. False if the class alone has nothing to show: ports and frictions belong to other
// elements. The caller frees the table.
bool od_component_curve_make(const od_element_class *c, od_component_curve *curve);

#endif
