// The job info: shows the contents of a machine.
#include "jobs/job.h"
#include "machine/machine_info.h"
#include "memory/owned.h"
#include "jobs/open_machine.h"

int od_kind_info(od_job *job) {
  bool ranges = false;
  od_load_arguments load = {0};
  const od_option options[] = {
      OD_LOAD_OPTIONS(&load),
      {"ranges", OD_OPTION_FLAG, NULL, "show only the possible and the usual range of each number", &ranges},
  };
  const od_usage usage = {
      "MACHINE",
      "'simulate --output' selects outputs by name; '--set' replaces numbers by path.\n"
      "JSON also describes geometry, circuit and initial positions. A machine without an initial state is described as well.\n",
      OD_OPTIONS(options), .shared = {.file[OD_FILE_JSON] = "everything", .is_json_alone = true, .si = true}};
  od_words files = {0};
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  // The description does not need an initial state.
  OD_TRY(od_job_load_without_state(job, files.text[0], &load, &machine));
  OD_TRY(od_job_prepare_files(job));
  OD_SCOPED(od_result_free)
  od_result r = ranges && !job->files.path[OD_FILE_JSON] ? od_machine_ranges(machine) : od_machine_info(machine);
  const od_file_contents contents = {.result = &r};
  return od_job_finish(job, &contents, NULL);
}
