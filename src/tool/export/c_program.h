// The files of an export. For controllers: C sources, a test with expected numbers, a Makefile and a description. For FMUs: C sources.
#ifndef OD_EXPORT_C_PROGRAM_H
#define OD_EXPORT_C_PROGRAM_H

#include <stdbool.h>

#include "base/arena.h"
#include "export/program.h"
#include "export/template.h"

// A use of exported sources, such as programs for controllers and FMUs.
typedef struct od_c_use {
  const char *templates;     // the folder of templates and other files
  const char *const *roots;  // functions of the core that these files call, ended by NULL
  const char *const
      *headers;           // headers of the core that these files include, ended by NULL; NULL: those of the functions
  bool saves;             // whether states are saved
  bool messages;          // whether errors have texts
  bool is_flat;           // whether one include folder contains all files; else src and include are two folders
  od_print_field *field;  // additional fields of templates; NULL: none
  od_condition *leaves_out;  // whether a file of the folder is left out; NULL: none
  const void *user;          // passed to both functions
} od_c_use;

typedef struct od_c_export {
  const od_export_program *program;
  const char *folder;
  bool names;             // whether comments name the numbers of the machine
  const od_c_use *use;    // NULL: a program for controllers
  od_arena *arena;        // owns the list of sources; NULL: no list
  const char ***sources;  // receives the paths of the C sources, relative to the folder, ended by NULL
} od_c_export;

// Writes the folder with the program and the sources of the core. Fails with OD_IO or OD_NO_MEMORY.
od_status od_c_export_write(const od_c_export *x, od_error *err);

#endif
