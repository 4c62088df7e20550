// The files of an export for controllers: C sources, a test with expected numbers, a Makefile and a description.
#ifndef OD_EXPORT_C_PROGRAM_H
#define OD_EXPORT_C_PROGRAM_H

#include <stdbool.h>

#include "export/program.h"

typedef struct od_c_export {
  const od_export_program *program;
  const char *folder;
  bool names;  // whether comments name the numbers of the machine
} od_c_export;

// Writes the folder with the program and the sources of the core. Fails with OD_IO or OD_NO_MEMORY.
od_status od_c_export_write(const od_c_export *x, od_error *err);

#endif
