// Functional mock-up units (FMI 2.0 and 3.0): machines and observers for other simulation programs.
#ifndef OD_EXPORT_FMU_H
#define OD_EXPORT_FMU_H

#include <stdbool.h>

#include "export/files/fmi/fmu_variables.h"
#include "export/program.h"

// A variable of an FMU, in the order of the value references.
typedef struct od_fmu_variable {
  fmu_kind kind;
  int index;         // within the kind
  const char *name;  // unique
  const char *unit;  // SI unit
  const char *meaning;
  double start, low, high;  // low -INFINITY, high INFINITY: no limit
} od_fmu_variable;

typedef struct od_fmu {
  const od_export_program *program;
  int version;  // 2 or 3
  fmu_variables counts;
  od_fmu_variable *variable;
  int variables;
  char token[40];        // identifies the contents
  const char **sources;  // paths below the folder of sources, ended by NULL
} od_fmu;

typedef struct od_fmu_options {
  int version;                                // 2 or 3
  const char *path;                           // the file
  bool names;                                 // whether comments in the sources name the numbers of the machine
  bool (*progress)(void *user, double done);  // NULL: none; returns false to stop
  void *user;
} od_fmu_options;

// Counts of the contents of an FMU, for the report.
typedef struct od_fmu_result {
  char token[40];
  int sources;
  long long bytes;
  bool has_windows;  // whether the file has a binary for Windows
} od_fmu_result;

// Writes the FMU of a program that was made with od_export_options.is_fmu. Fails with OD_NOT_AVAILABLE if this build or this computer
// lacks a part (libzip, a compiler), and with OD_IO, OD_NO_MEMORY or OD_INTERRUPTED.
od_status od_fmu_write(const od_export_program *program, const od_fmu_options *options, od_fmu_result *out,
                       od_error *err);

// fmu_variables.c: fills the list of variables. Fails with OD_NO_MEMORY.
od_status od_fmu_list_variables(od_fmu *f, od_arena *arena, od_error *err);
// fmu_xml.c: print modelDescription.xml and buildDescription.xml (FMI 3).
void od_fmu_print_description(const od_fmu *f, FILE *to);
void od_fmu_print_build(const od_fmu *f, FILE *to);

#endif
