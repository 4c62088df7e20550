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
// A machine that is small, so that an execution is short: loaded on first use, never freed. The last machines are the smallest.
enum { FUZZ_MACHINES = 24 };
const od_machine *fuzz_machine(int index);
// libFuzzer's change of an input, for LLVMFuzzerCustomMutator() of targets whose inputs have a head of `head` bytes and then groups
// of `group` bytes, each of which changes a base. The result has whole groups, mostly one to three: more changes are mostly refused.
// If data[0] % bases < slow, the base is slow; 31 of 32 of these inputs get another base.
size_t fuzz_mutate(uint8_t *data, size_t size, size_t most, unsigned seed, size_t head, size_t group, int bases,
                   int slow);
// For any input: messages can be printed, and every failure has a message.
void fuzz_judge(od_status status, const void *made, od_messages *messages);

#endif
