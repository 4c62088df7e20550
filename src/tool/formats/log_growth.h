// Growth of a file that is followed.
#ifndef OD_FORMATS_LOG_GROWTH_H
#define OD_FORMATS_LOG_GROWTH_H

#include <sys/types.h>

#include "formats/log_format.h"

// Looks for bytes that were appended to an open file since its length was *limit, and updates *limit. path: the name under which the file
// was opened. Fails with OD_IO if the file has become shorter or its length cannot be read.
od_status od_log_file_growth(const char *path, int file, off_t *limit, od_log_growth *out, od_error *err);

#endif
