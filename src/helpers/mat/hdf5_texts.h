// Attributes of HDF5 objects as texts and numbers, and texts in datasets.
#ifndef OD_MAT_HDF5_TEXTS_H
#define OD_MAT_HDF5_TEXTS_H

#define H5_USE_110_API  // selects the functions and types of HDF5 1.10, also in later versions of HDF5
#include <hdf5.h>
#include <stdbool.h>

#include "memory/scoped.h"

// Reads the texts of an attribute, or of a dataset if `name` is NULL, into memory of the arena. Returns their number; 0: there is no
// such attribute, the attribute has another type, there are more than `most` texts, or the texts cannot be read.
int od_hdf5_texts(hid_t object, const char *name, int most, char ***out, od_arena *arena);
// Returns the single text of an attribute; NULL: there is none.
char *od_hdf5_text(hid_t object, const char *name, od_arena *arena);
// Reads the single number of an attribute. Returns false if there is none.
bool od_hdf5_number(hid_t object, const char *name, double *out);
// Reads a pickled list of texts, as pandas writes the names of columns ("(lp0\nVp\np1\naVq\np2\na."). Returns their number, at most
// `most`. Changes the text.
int od_hdf5_pickled(char *text, int most, char **out);

#endif
