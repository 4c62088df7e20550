// The ZIP archive of an FMU, read with libzip.
#ifndef OD_FMU_ARCHIVE_H
#define OD_FMU_ARCHIVE_H

#include "base/arena.h"

// Reads modelDescription.xml into memory of the arena. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_fmu_archive_description(const char *path, od_arena *arena, char **xml, size_t *size, od_error *err);

// Writes the binaries of this platform and the resources to a new, empty folder. Fails with OD_BAD_INPUT if the archive has no
// binary `identifier` for this platform; the message lists the platforms. Fails with OD_IO if a file cannot be written. version:
// 2 or 3.
od_status od_fmu_archive_unpack(const char *path, const char *folder, int version, const char *identifier,
                                od_error *err);

// The folder of the binaries of this platform in archives of this version of FMI, such as "linux64".
const char *od_fmu_platform(int version);

#endif
