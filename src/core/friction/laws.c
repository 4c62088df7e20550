// The list of friction laws.
#include <stddef.h>
#include <string.h>

#include "friction/law.h"

#define OD_LAWS(LAW)       \
  LAW(viscous)             \
  LAW(coulomb)             \
  LAW(brown_mcphee)        \
  LAW(tustin)              \
  LAW(gaussian)            \
  LAW(lorentzian)          \
  LAW(modified_gaussian)   \
  LAW(modified_lorentzian) \
  LAW(lugre)               \
  LAW(modified_lugre)      \
  LAW(new_modified_lugre)  \
  LAW(reduced)
#define OD_DECLARE_LAW(name) extern const od_friction_law od_##name##_law;
OD_LAWS(OD_DECLARE_LAW)
const od_friction_law *const od_friction_laws[] = {
#define OD_LIST_LAW(name) &od_##name##_law,
    OD_LAWS(OD_LIST_LAW)};

int od_friction_law_count(void) {
  return (int)(sizeof od_friction_laws / sizeof *od_friction_laws);
}
int od_friction_law_find(const char *name) {
  for (int i = 0; i < od_friction_law_count(); i++)
    if (strcmp(od_friction_laws[i]->name, name) == 0) return i;
  return -1;
}
int od_friction_law_follows(const od_friction_law *law) {
  int i = 0;
  while (!law->element->fields[i].follows_signal) i++;
  return i;
}
