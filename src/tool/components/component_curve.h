// The behavior of a class of elements as a table: flows and forces over a pressure, a speed, a length, a signal or a state.
#ifndef OD_COMPONENTS_COMPONENT_CURVE_H
#define OD_COMPONENTS_COMPONENT_CURVE_H

#include "elements/element_description.h"
#include "io/table.h"

enum { OD_CURVE_COLUMNS = 40 };

typedef struct od_component_curve {
  od_table *table;                // the abscissa, then one column for each member of each flow and force
  int panel[OD_CURVE_COLUMNS];    // columns with the same number share a chart (see od_plot_write)
  int members;                    // number of curves per flow or force, each for one value of the signal, a state or
                                  // the speed
  bool lively[OD_CURVE_COLUMNS];  // whether the column changes visibly and is finite in enough rows
  char note[160];                 // conditions, for a subtitle
} od_component_curve;

// Evaluates the equations of the class with its defaults, or with the middle of the usual range for numbers without a default.
// Uses the first suitable abscissa that changes a flow or force: a pressure with settled states; else a pressure with held
// states, a length, a speed, the signal or a state. curve->table is NULL if the class has no curve: it cannot be evaluated alone
// (od_lone_element_make()), or no abscissa changes a flow or force. The caller frees the table. Fails with OD_NO_MEMORY.
od_status od_component_curve_make(const od_element_description *c, od_component_curve *curve, od_error *err);

#endif
