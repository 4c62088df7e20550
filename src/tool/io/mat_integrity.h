// Whether a MATLAB file has all the bytes that its own headers promise, and whether what is packed in it is what was packed.
// The library that reads such files takes what is missing for zeros and does not look at checksums.
#ifndef OD_IO_MAT_INTEGRITY_H
#define OD_IO_MAT_INTEGRITY_H

#include "oleodyn/status.h"

// OD_OK; OD_BAD_INPUT for a file that ends too early or is damaged; OD_IO if it cannot be read. *bytes: its size. Level 7.3 is HDF5, whose
// library looks itself.
od_status od_mat_check_integrity(const char *path, long long *bytes, od_error *err);

#endif
