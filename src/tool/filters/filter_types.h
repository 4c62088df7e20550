// The filters that experiment files and commands offer: those of the core (oleodyn/filter.h), then those of this module,
// which reproduce published filters and serve as references. A new filter of this module is one file that defines its
// od_filter, and one line in OD_TOOL_FILTERS.
#ifndef OD_FILTER_TYPES_H
#define OD_FILTER_TYPES_H

#include "oleodyn/filter.h"

#define OD_TOOL_FILTERS(X) \
  X(continuous_ekf)        \
  X(complex_step_ekf)

#define OD_DECLARE_FILTER(name) extern const od_filter od_filter_##name;
OD_TOOL_FILTERS(OD_DECLARE_FILTER)
#undef OD_DECLARE_FILTER

// Returns filter i of both lists, or NULL past their end. Filter 0 is the default.
const od_filter *od_filter_type_at(int i);
// Returns the filter with this name, or NULL if there is none.
const od_filter *od_filter_type_find(const char *name);

#endif
