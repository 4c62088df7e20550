#include "machine/output_pattern.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

bool od_output_matches(const od_model *model, int output, const char *pattern) {
  const char *name = od_model_output_name(model, output), *dot = strrchr(name, '.');
  if (fnmatch(pattern, name, 0) == 0) return true;
  if (model->output[output].kind != OD_OUT_BODY_POSE) return false;
  char group[1200];
  snprintf(group, sizeof group, "%.*s", (int)(dot - name), name);
  return fnmatch(pattern, group, 0) == 0;
}
