// The table of descriptions. This file is separate from the table of classes, so that a program that does not use descriptions is
// linked without them.
#include "elements/element_list.h"
#include "elements/elements.h"

#define OD_DECLARE_DESCRIPTION(name) extern const od_element_description od_##name##_description;
OD_ELEMENT_CLASSES(OD_DECLARE_DESCRIPTION)

const od_element_description *const od_element_descriptions[] = {
#define OD_LIST_DESCRIPTION(name) &od_##name##_description,
    OD_ELEMENT_CLASSES(OD_LIST_DESCRIPTION) NULL};

const od_element_description *od_element_description_of(const od_element_class *c) {
  int i = 0;
  while (od_element_descriptions[i]->equations != c) i++;
  return od_element_descriptions[i];
}
