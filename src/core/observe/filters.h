// The table of filters. To add a filter, add a file that defines its od_filter, and a line to this table.
#ifndef OD_FILTERS_H
#define OD_FILTERS_H

#include "base/parts.h"
#include "oleodyn/filter.h"

// Lists for users have this order; the first filter is the default.
#ifndef OD_FILTERS
#define OD_FILTERS(X) \
  X(iterated_ekf)     \
  X(ekf)              \
  X(second_order_ekf) \
  X(ukf)              \
  X(error_state_ekf)  \
  X(relinearizing)
#endif

#define OD_DECLARE_FILTER(name) extern const od_filter od_filter_##name;
OD_FILTERS(OD_DECLARE_FILTER)
#undef OD_DECLARE_FILTER

#endif
