// The list of element classes.
#include "elements/elements.h"

#include <string.h>

static const od_element_class *const classes[] = {
#define OD_LIST_CLASS(name) &od_##name##_class,
    OD_ELEMENT_CLASSES(OD_LIST_CLASS)};

int od_element_class_count(void) {
  return (int)(sizeof classes / sizeof *classes);
}
const od_element_class *od_element_class_at(int i) {
  return classes[i];
}
int od_element_class_find(const char *name) {
  for (int i = 0; i < od_element_class_count(); i++)
    if (strcmp(classes[i]->name, name) == 0) return i;
  return -1;
}
