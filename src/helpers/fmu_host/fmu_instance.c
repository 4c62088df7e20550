#include "fmu_host/fmu_instance.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fmu_host/fmu_archive.h"

const char *volatile od_fmu_running = "";

bool od_fmu_load(od_fmu *f, const od_fmu_description *d, od_fmu_interface interface, const char *folder) {
  char path[4096];
  f->d = d;
  f->interface = interface;
  f->folder = folder;
  f->fmi = d->version == 2 ? &od_fmi2 : &od_fmi3;
  f->next_event = INFINITY;
  snprintf(path, sizeof path, "%.2000s/binaries/%s/%.900s.so", folder, od_fmu_platform(d->version),
           d->ability[interface].identifier);
  od_fmu_running = "loading the binary";
  f->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  od_fmu_running = "";
  if (!f->library) {
    const char *reason = dlerror(), *colon = reason ? strstr(reason, ": ") : NULL;
    snprintf(f->error, sizeof f->error, "has a binary that cannot be loaded: %.700s",
             colon    ? colon + 2
             : reason ? reason
                      : "unknown reason");
    return false;
  }
  return f->fmi->load(f);
}

// ---- messages

void od_fmu_log(od_fmu *f, int status, const char *message) {
  enum { WARNING = 1 };
  if (status > WARNING && message) snprintf(f->logged, sizeof f->logged, "%s", message);
  for (char *at = f->logged; *at; at++)
    if ((unsigned char)*at < ' ') *at = ' ';
}

bool od_fmu_lacks(od_fmu *f, const char *function) {
  snprintf(f->error, sizeof f->error, "has a binary without the function %s", function);
  return false;
}

bool od_fmu_is_good(od_fmu *f, const char *function, int status) {
  static const char *const words[] = {"OK", "Warning", "Discard", "Error", "Fatal", "Pending"};
  od_fmu_running = "";
  if (status == 0 || status == 1) return true;
  const char *word = status > 0 && status < 6 ? words[status] : "an unknown status";
  snprintf(f->error, sizeof f->error, "returned %s from %s%s%s", word, function, f->logged[0] ? ": " : "", f->logged);
  f->logged[0] = '\0';
  return false;
}

// ---- lists of variables

static od_fmu_type type_of(const od_fmu *f, const od_fmu_list *list, int i) {
  return f->d->variable[list->variable[i]].type;
}

// Returns the end of the group of variables of one type that begins at `from`.
static int group_end(const od_fmu *f, const od_fmu_list *list, int from) {
  int to = from + 1;
  while (to < list->count && type_of(f, list, to) == type_of(f, list, from)) to++;
  return to;
}

bool od_fmu_set_list(od_fmu *f, const od_fmu_list *list, const double *value) {
  bool good = true;
  for (int from = 0, to; from < list->count && good; from = to) {
    to = group_end(f, list, from);
    good = f->fmi->set(f, type_of(f, list, from), list->reference + from, to - from, value + from);
  }
  return good;
}

bool od_fmu_get_list(od_fmu *f, const od_fmu_list *list, double *value) {
  bool good = true;
  for (int from = 0, to; from < list->count && good; from = to) {
    to = group_end(f, list, from);
    good = f->fmi->get(f, type_of(f, list, from), list->reference + from, to - from, value + from);
  }
  return good;
}

bool od_fmu_tune(od_fmu *f, const double *q) {
  bool good = true;
  for (int i = 0; i < f->parameter.count && good; i++)
    if (f->d->variable[f->parameter.variable[i]].variability == OD_FMU_TUNABLE)
      good = f->fmi->set(f, type_of(f, &f->parameter, i), f->parameter.reference + i, 1, q + i);
  return good;
}
