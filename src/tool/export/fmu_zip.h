// ZIP files, by libzip.
#ifndef OD_EXPORT_FMU_ZIP_H
#define OD_EXPORT_FMU_ZIP_H

#include "oleodyn/status.h"

// Loads libzip. Fails with OD_NOT_AVAILABLE, and a message that names the package, if this build or this computer lacks the library.
od_status od_zip_load(od_error *err);

// After od_zip_load(): writes all files of a folder to a ZIP file at `path`. The file appears under its name only after all data
// are written. The bytes depend only on names and contents of the files. *bytes receives the size. Fails with OD_IO or
// OD_NO_MEMORY.
od_status od_zip_folder(const char *folder, const char *path, long long *bytes, od_error *err);

#endif
