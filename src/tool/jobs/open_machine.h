// Loads the machine of a job, with the shared options.
#ifndef OD_JOBS_OPEN_MACHINE_H
#define OD_JOBS_OPEN_MACHINE_H

#include "jobs/job_options.h"
#include "oleodyn/machine.h"

typedef struct od_load_arguments {
  od_words set;
  const char *variant;
  bool spatial;
} od_load_arguments;

// Entries of the option table for the machine file.
#define OD_LOAD_OPTIONS(target)                                                                              \
  {"set", OD_OPTION_LIST, "PATH=VALUE", "replace a number of the file, with or without a unit (repeatable)", \
   &(target)->set},                                                                                          \
      {"variant", OD_OPTION_TEXT, "NAME", "variant of the file; default: the file without a variant",        \
       &(target)->variant},                                                                                  \
  {                                                                                                          \
    "spatial", OD_OPTION_FLAG, NULL, "compute a planar machine in three dimensions", &(target)->spatial      \
  }

// Loads a machine into *machine, which the caller frees. Returns OD_GO_ON, or the outcome.
int od_job_load_machine(od_job *job, const char *path, const od_load_arguments *arguments, od_machine **machine);
// Same as od_job_load_machine(), but the machine may lack a valid initial state.
int od_job_load_without_state(od_job *job, const char *path, const od_load_arguments *arguments, od_machine **machine);
// Returns the options of the loader, which refer to the texts of the arguments.
od_load_options od_load_options_of(const od_load_arguments *arguments);

#endif
