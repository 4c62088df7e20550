#include "jobs/open_machine.h"

#include "jobs/job.h"
#include "machine/machine.h"

od_load_options od_load_options_of(const od_load_arguments *a) {
  return (od_load_options){.set = a->set.text, .set_count = a->set.count, .spatial = a->spatial, .variant = a->variant};
}

static int load(od_job *job, const char *path, const od_load_options *options, od_machine **machine) {
  od_messages *messages = od_messages_new();
  od_status status = messages ? od_machine_load(path, options, machine, messages) : OD_NO_MEMORY;
  return od_job_loaded(job, messages, status);
}

int od_job_load_machine(od_job *job, const char *path, const od_load_arguments *arguments, od_machine **machine) {
  const od_load_options options = od_load_options_of(arguments);
  return load(job, path, &options, machine);
}

int od_job_load_without_state(od_job *job, const char *path, const od_load_arguments *arguments, od_machine **machine) {
  od_load_options options = od_load_options_of(arguments);
  options.may_lack_initial_state = true;
  return load(job, path, &options, machine);
}
