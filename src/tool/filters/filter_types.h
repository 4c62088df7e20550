// The filters that experiment files and commands accept: the filters of the core (oleodyn/filter.h), then the filters of this
// module. The filters of this module reproduce published filters and are references for tests and comparisons. To add a filter to
// this module, add a file that defines its od_filter, and a line in OD_TOOL_FILTERS.
#ifndef OD_FILTER_TYPES_H
#define OD_FILTER_TYPES_H

#include "oleodyn/filter.h"

#define OD_TOOL_FILTERS(X) \
  X(continuous_ekf)        \
  X(complex_step_ekf)

#define OD_DECLARE_FILTER(name) extern const od_filter od_filter_##name;
OD_TOOL_FILTERS(OD_DECLARE_FILTER)
#undef OD_DECLARE_FILTER

// Returns filter i of both lists together, or NULL after the last filter. Filter 0 is the default.
const od_filter *od_filter_type_at(int i);
// Returns the filter with this name, or NULL if no filter has this name.
const od_filter *od_filter_type_find(const char *name);

#endif
