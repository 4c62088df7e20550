// All filters and the complex-step reference. Older commits, which scripts/bench-against compiles with these programs,
// declare them in the core's public headers.
#ifndef BENCH_ALL_FILTERS_H
#define BENCH_ALL_FILTERS_H

#if __has_include("filters/filter_types.h")
#include "filters/complex_step.h"
#include "filters/filter_types.h"
#else
#include "oleodyn/filter.h"
#include "oleodyn/sim.h"
#define od_filter_type_at   od_filter_at
#define od_filter_type_find od_filter_find
#endif

#endif
