#include "observe/filters.h"

#include <string.h>

#define ENTRY(name) &od_filter_##name,
static const od_filter *const table[] = {OD_FILTERS(ENTRY) NULL};
#undef ENTRY
enum { count = sizeof table / sizeof *table - 1 };

const od_filter *od_filter_at(int i) {
  return i >= 0 && i < count ? table[i] : NULL;
}

const od_filter *od_filter_find(const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(table[i]->name, name) == 0) return table[i];
  return NULL;
}
