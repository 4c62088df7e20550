// MATLAB objects in MATLAB files: timeseries, timetable, Dataset and others. Their contents are not documented, so only their names
// and classes are read. Each object is a column without numbers. The flaw of the column contains the line of MATLAB
// that writes the numbers of the object.
#ifndef OD_MAT_OBJECTS_H
#define OD_MAT_OBJECTS_H

#include "mat/mat_arrays.h"

// Adds the objects of a file of level 5 or 7.3 as arrays without rows. Objects in structures are included. Damaged parts are
// ignored. If memory runs out, the arena of the list records the failure.
void od_mat_find_objects(const char *path, od_arrays *to);

// Adds one object with its class. The name of the object is the name of its variable or field ("log.ts").
void od_mat_add_object(od_arrays *to, const char *name, const char *class_name);

#endif
