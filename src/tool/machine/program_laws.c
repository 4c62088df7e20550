#include "machine/program_laws.h"

#include <pthread.h>
#include <string.h>

#include "base/allocate.h"
#include "blocks/block_classes.h"

// Laws are registered before machines are loaded, and read by loads in any thread. Steps do not use this list.
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
static struct {
  od_named_law *law;
  int count;
} registered;

static int find(const char *name) {
  for (int i = 0; i < registered.count; i++)
    if (strcmp(registered.law[i].name, name) == 0) return i;
  return -1;
}

od_status od_law_register(const od_named_law *law) {
  if (!law || !law->name || !law->law || (law->law->inputs > 0 && !law->input_name) ||
      (law->law->numbers > 0 && !law->number_name))
    return OD_BAD_ARGUMENT;
  od_block_spec spec = od_block_spec_of_law(law->law);
  if (law->law->sample) spec.sample = 1;
  if (od_block_spec_problem(&spec)) return OD_BAD_ARGUMENT;
  pthread_mutex_lock(&reading);
  int at = find(law->name);
  if (at < 0) {
    od_named_law *more = od_realloc(registered.law, ((size_t)registered.count + 1) * sizeof *more);
    if (more) registered.law = more, at = registered.count++;
  }
  if (at >= 0) registered.law[at] = *law;
  pthread_mutex_unlock(&reading);
  return at >= 0 ? OD_OK : OD_NO_MEMORY;
}

bool od_program_law_find(const char *name, od_named_law *out, od_nearest *nearest) {
  pthread_mutex_lock(&reading);
  int at = find(name);
  if (at >= 0) *out = registered.law[at];
  for (int i = 0; at < 0 && i < registered.count; i++) od_nearest_try(nearest, registered.law[i].name);
  pthread_mutex_unlock(&reading);
  return at >= 0;
}
