// Shared functions of the fuzz targets. A target is LLVMFuzzerTestOneInput(), which takes bytes and returns no result:
// libFuzzer calls it in the build for Clang (`make fuzz`), replay.c in every other build.
#ifndef OD_FUZZ_H
#define OD_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "oleodyn/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Writes the bytes to a file of that name, in a folder of this process that also contains the files of a case, so that an
// input can name its machine. Returns the path; the folder is removed when the process ends. Units come from a small
// database, because the whole one takes longer to read than the input.
const char *fuzz_file(const uint8_t *data, size_t size, const char *name, const char *example);
// The bytes as a zero-terminated text. The caller frees it.
char *fuzz_text(const uint8_t *data, size_t size);
// For any input: messages can be printed, and every failure has a message.
void fuzz_judge(od_status status, const void *made, od_messages *messages);

#endif
