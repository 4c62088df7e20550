// The table of element classes.
#include "elements/elements.h"

#include <string.h>

#include "elements/element_list.h"

#define OD_DECLARE_CLASS(name) extern const od_element_class od_##name##_class;
OD_ELEMENT_CLASSES(OD_DECLARE_CLASS)

const od_element_class *const od_element_classes[] = {
#define OD_LIST_CLASS(name) &od_##name##_class,
    OD_ELEMENT_CLASSES(OD_LIST_CLASS)
        NULL};  // NULL, because an array must not be empty and a build may contain no class

int od_element_class_count(void) {
  return (int)(sizeof od_element_classes / sizeof *od_element_classes) - 1;
}
int od_element_class_find(const char *name) {
  for (int i = 0; i < od_element_class_count(); i++)
    if (strcmp(od_element_classes[i]->name, name) == 0) return i;
  return -1;
}
