// The limit of processor time of helper programs, for messages.
#ifndef OD_IO_HELPER_LIMITS_H
#define OD_IO_HELPER_LIMITS_H

// Returns the limit in seconds for a file or data of this size.
long long od_helper_seconds(long long bytes);

#endif
