#include "filters/filter_types.h"

#include <string.h>

#define ENTRY(name) &od_filter_##name,
static const od_filter *const tool_filters[] = {OD_TOOL_FILTERS(ENTRY)};
#undef ENTRY
enum { TOOL_FILTERS = sizeof tool_filters / sizeof *tool_filters };

const od_filter *od_filter_type_at(int i) {
  int core_filters = 0;
  while (od_filter_at(core_filters)) core_filters++;
  if (i < core_filters) return od_filter_at(i);
  return i - core_filters < TOOL_FILTERS ? tool_filters[i - core_filters] : NULL;
}

const od_filter *od_filter_type_find(const char *name) {
  const od_filter *filter;
  for (int i = 0; (filter = od_filter_type_at(i)); i++)
    if (strcmp(filter->name, name) == 0) return filter;
  return NULL;
}
