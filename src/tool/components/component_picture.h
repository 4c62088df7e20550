// A small picture of a class of elements for its entry in the reference.
#ifndef OD_COMPONENTS_COMPONENT_PICTURE_H
#define OD_COMPONENTS_COMPONENT_PICTURE_H

#include "elements/element.h"
#include "oleodyn/status.h"

// The name of its file: that of the class, with '-' for what is no letter or digit. False where there is nothing to draw.
bool od_component_picture_name(const od_element_class *c, char *name, size_t size);
// Writes it into the folder.
od_status od_component_picture_write(const od_element_class *c, const char *folder, od_error *err);

#endif
