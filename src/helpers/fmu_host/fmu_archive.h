// The ZIP archive of an FMU, read with libzip.
#ifndef OD_FMU_ARCHIVE_H
#define OD_FMU_ARCHIVE_H

#include "base/arena.h"

// Reads modelDescription.xml into memory of the arena. Fails with OD_IO if there is no such archive, with OD_BAD_INPUT or with
// OD_NO_MEMORY.
od_status od_fmu_archive_description(const char *path, od_arena *arena, char **xml, size_t *size, od_error *err);

// Writes the binaries of this platform and the resources to a new, empty folder. version: 2 or 3. Fails with OD_BAD_INPUT if the archive
// is damaged, too large or contains unsafe paths, or if it has no binary `identifier` for this platform; then the message lists the
// platforms. Fails with OD_IO if the archive does not exist or a file cannot be written.
od_status od_fmu_archive_unpack(const char *path, const char *folder, int version, const char *identifier,
                                od_error *err);

// Returns the name of the folder of this platform's binaries in archives of this version of FMI, such as "linux64".
const char *od_fmu_platform(int version);

#endif
