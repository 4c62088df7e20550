// Checks that a MATLAB file has as many bytes as its headers state, and that the checksums of its compressed data are
// correct. matio, which reads MATLAB files, replaces missing bytes with zeros and ignores checksums.
#ifndef OD_IO_MAT_INTEGRITY_H
#define OD_IO_MAT_INTEGRITY_H

#include "oleodyn/status.h"

// Fails with OD_BAD_INPUT if the file is truncated or damaged, or if it has more than `most` bytes after
// decompression. most = 0: the limit is od_most_unpacked(). Fails with OD_IO if the file cannot be read. *bytes: the
// size of the file. Level 7.3 is HDF5, whose library has its own checks.
od_status od_mat_check_integrity(const char *path, double most, long long *bytes, od_error *err);

#endif
