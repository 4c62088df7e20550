// Model descriptions of FMUs (modelDescription.xml): descriptions that are accepted have valid indices.
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "fmu_host/model_description.h"
#include "memory/scoped.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  OD_SCRATCH(scratch);
  od_fmu_description d;
  od_error err = {0};
  od_status status = od_fmu_read_description((const char *)data, size, &scratch, &d, &err);
  if ((status == OD_OK) != (err.text[0] == '\0')) abort();
  if (status != OD_OK) return 0;
  if ((d.version != 2 && d.version != 3) || !d.model || !d.token) abort();
  if (!d.ability[0].identifier && !d.ability[1].identifier) abort();
  for (int i = 0; i < d.variables; i++) {
    const od_fmu_variable *v = &d.variable[i];
    if (!v->name || !v->description || v->unit < -1 || v->unit >= d.units) abort();
    if (v->type < 0 || v->type >= OD_FMU_TYPES || v->causality < 0 || v->causality >= OD_FMU_CAUSALITIES) abort();
  }
  for (int i = 0; i < d.units; i++)
    if (!d.unit[i].name || d.unit[i].factor == 0) abort();
  for (int i = 0; i < d.states; i++)
    if (d.state[i] < 0 || d.state[i] >= d.variables || d.derivative[i] < 0 || d.derivative[i] >= d.variables) abort();
  return 0;
}
