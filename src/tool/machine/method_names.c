#include "machine/method_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "document/suggest.h"
#include "filters/filter_types.h"
#include "oleodyn/integrator.h"

od_method_names od_method_names_integrators(const char *more) {
  od_method_names names = {0};
  int count = 0;
  for (const od_integrator *i; count < OD_MOST_METHODS && (i = od_integrator_at(count));) names.name[count++] = i->name;
  names.name[count] = more;
  return names;
}

od_method_names od_method_names_filters(void) {
  od_method_names names = {0};
  const od_filter *filter;
  for (int i = 0; i < OD_MOST_METHODS && (filter = od_filter_type_at(i)); i++) names.name[i] = filter->name;
  return names;
}

const char *od_integrator_name(int i) {
  return i >= 0 && od_integrator_at(i) ? od_integrator_at(i)->name : NULL;
}

static const char *or_more(int i, const char *more) {
  bool behind = i > 0 && od_integrator_at(i - 1) && !od_integrator_at(i);
  return behind ? more : od_integrator_name(i);
}

const char *od_run_integrator(int i) {
  return or_more(i, OD_CVODES);
}

const char *od_fit_integrator(int i) {
  return or_more(i, OD_EXACT);
}

const char *od_filter_name(int i) {
  return i >= 0 && od_filter_type_at(i) ? od_filter_type_at(i)->name : NULL;
}

void od_method_names_text(const od_method_names *names, const char *word, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; names->name[i] && used < size; i++) {
    bool last = i > 0 && !names->name[i + 1];
    int more = snprintf(text + used, size - used, "%s%s%s%s",
                        last ? " "
                        : i  ? ", "
                             : "",
                        last ? word : "", last ? " " : "", names->name[i]);
    used += more > 0 ? (size_t)more : 0;
  }
}

int od_method_names_find(const od_method_names *names, const char *name, const char **nearest) {
  od_nearest near = od_nearest_to(name);
  for (int i = 0; names->name[i]; i++) {
    if (strcmp(names->name[i], name) == 0) return i;
    od_nearest_try(&near, names->name[i]);
  }
  *nearest = near.best;
  return -1;
}

void od_method_names_words(const od_method_names *names, char *text, size_t size) {
  text[0] = '\0';
  for (int i = 0; names->name[i]; i++)
    snprintf(text + strlen(text), size - strlen(text), "%s%s", i ? " " : "", names->name[i]);
}
