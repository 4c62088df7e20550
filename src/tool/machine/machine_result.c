#include "machine/machine_result.h"

const char *od_machine_caption(const od_machine *machine) {
  const char *title = od_machine_title(machine);
  return title && title[0] ? title : od_machine_file(machine);
}

od_result od_machine_result(const char *kind, const od_machine *machine) {
  od_result r = od_result_new(kind, od_machine_caption(machine));
  od_result_text(&r, "machine", od_machine_title(machine));
  od_result_text(&r, "file", od_machine_file(machine));
  return r;
}
