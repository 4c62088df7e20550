// What the fuzz targets share. A target is a function from bytes to nothing, LLVMFuzzerTestOneInput(): libFuzzer calls it in
// the build for Clang (`make fuzz`), replay.c in every other build.
#ifndef OD_FUZZ_H
#define OD_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "oleodyn/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Writes the bytes to a file of that name, in a folder of this process that also holds the files of a case, so that an input
// can name its machine. The path; the folder goes away when the process ends. Units are those of a small database, since
// reading the whole one takes longer than reading the input.
const char *fuzz_file(const uint8_t *data, size_t size, const char *name, const char *example);
// The bytes as a text with its end; free it.
char *fuzz_text(const uint8_t *data, size_t size);
// Whatever was read: messages can be printed and come with every failure.
void fuzz_judge(od_status status, const void *made, od_messages *messages);

#endif
