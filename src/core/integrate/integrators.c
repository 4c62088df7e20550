#include "integrate/integrators.h"

#include <string.h>

#define ENTRY(name) &od_integrator_##name,
static const od_integrator *const table[] = {OD_INTEGRATORS(ENTRY) NULL};
#undef ENTRY
enum { count = sizeof table / sizeof *table - 1 };

const od_integrator *od_integrator_at(int i) {
  return i >= 0 && i < count ? table[i] : NULL;
}

const od_integrator *od_integrator_find(const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(table[i]->name, name) == 0) return table[i];
  return NULL;
}

size_t od_integrators_scratch(const od_plant *plant, size_t columns) {
  size_t most = 0;
  for (int i = 0; i < count; i++) {
    size_t own = table[i]->scratch(plant, columns);
    if (own > most) most = own;
  }
  return most;
}

int od_integrators_inside(void) {
  int most = 0;
  for (int i = 0; i < count; i++)
    if (table[i]->inside_count > most) most = table[i]->inside_count;
  return most;
}
