// A small picture of a class of elements for its entry in the reference.
#ifndef OD_COMPONENTS_COMPONENT_PICTURE_H
#define OD_COMPONENTS_COMPONENT_PICTURE_H

#include "elements/element_description.h"
#include "oleodyn/status.h"

// Writes the file name of the picture: the name of the class, with '-' for characters other than letters and digits, and ".svg"; "" if the
// class has no curve. Fails with OD_NO_MEMORY.
od_status od_component_picture_name(const od_element_description *c, char *name, size_t size, od_error *err);
// Writes the picture into the folder. Fails with OD_BAD_ARGUMENT if the class has no curve or the path is too long, and
// with OD_IO or OD_NO_MEMORY.
od_status od_component_picture_write(const od_element_description *c, const char *folder, od_error *err);

#endif
