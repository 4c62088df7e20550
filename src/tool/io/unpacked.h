// The largest size of the contents of compressed files.
#ifndef OD_IO_UNPACKED_H
#define OD_IO_UNPACKED_H

#include "oleodyn/status.h"

// Returns the largest number of bytes that a file of this size may have after decompression. Logs of machines have far
// fewer bytes. A small file with more bytes would need much time and memory.
double od_most_unpacked(double bytes);

// Fails with OD_BAD_INPUT if the contents of a file (`unpacked` bytes) are larger than od_most_unpacked(bytes) allows
// for the size of the file. path: for the message; may be NULL.
od_status od_check_unpacked(const char *path, double bytes, double unpacked, od_error *err);

#endif
