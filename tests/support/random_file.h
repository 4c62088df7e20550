// Random machine files of typical kinds: oscillators, linkages, cranes, circuits, servo axes, chains of blocks. Their
// sizes are drawn over decades, so that their time constants are far below to far above a step of 1 ms.
#ifndef OD_RANDOM_FILE_H
#define OD_RANDOM_FILE_H

#include <stddef.h>
#include <stdint.h>

// The text of a machine file with its 'run' section (time and outputs); the same for the same seed.
void od_random_file(uint64_t seed, char *text, size_t size);

#endif
