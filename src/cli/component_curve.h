// What a class of elements does, as a table: its flows and forces over a pressure, a speed or a length.
#ifndef OD_CLI_COMPONENT_CURVE_H
#define OD_CLI_COMPONENT_CURVE_H

#include "elements/element.h"
#include "io/table.h"

enum { OD_CURVE_COLUMNS = 40 };

// Evaluates the class's own equation with its defaults, and in the middle of what is usual where there is none. Pressures at other ends are 100 bar, its
// signal or its first state takes four values. *panel: which columns share a chart (see od_plot_write). note: what holds, for the subtitle. NULL where a class has
// nothing to show of its own: ports and frictions belong to others.
od_table *od_component_curve(const od_element_class *c, int panel[OD_CURVE_COLUMNS], char *note, size_t size);

#endif
