#include "report/machine_facts.h"

#include <stdio.h>
#include <string.h>

enum { MOST_REPLACED = 8 };

void od_add_machine_fact(od_result *r, const od_machine *machine) {
  const char *title = od_machine_title(machine);
  bool titled = title && title[0];
  od_result_fact(r, "Machine", "%s%s%s%s", od_machine_file(machine), titled ? " (" : "", titled ? title : "",
                 titled ? ")" : "");
}

void od_add_replaced_fact(od_result *r, const char *name, const od_numbers *numbers) {
  char text[1000] = "";
  int count = numbers ? numbers->overrides : 0;
  for (int i = 0; i < count && i < MOST_REPLACED; i++) {
    const od_override *o = &numbers->override[i];
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%.60s = %.40s", used ? ", " : "", o->path, o->text);
  }
  size_t used = strlen(text);
  if (count > MOST_REPLACED) snprintf(text + used, sizeof text - used, " and %d more", count - MOST_REPLACED);
  if (count > 0) od_result_fact(r, name, "%s", text);
}
