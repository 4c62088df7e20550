#include "jobs/old_options.h"

#include <stddef.h>
#include <string.h>

const char *od_old_option(const char *kind, const char *name) {
  static const struct {
    const char *kind, *old, *present;
  } table[] = {
      {"bode", "from", "input"},         {"bode", "to", "output"},       {"equilibrium", "free", "adjust"},
      {"linearize", "free", "adjust"},   {"bode", "free", "adjust"},     {"rga", "free", "adjust"},
      {"inverse", "free", "passive"},    {"optimize", "free", "search"}, {"friction", "from", "speed-before"},
      {"friction", "to", "speed-after"}, {"tune", "from", "ignore"},     {"tune", "part", "fraction"},
      {"observe", "log", "data"},        {"fit", "log", "data"},         {"tune", "log", "data"},
      {"inverse", "log", "data"},        {"friction", "log", "data"},    {"friction-fit", "log", "run"},
      {"compile", "output", "image"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (!strcmp(table[i].kind, kind) && !strcmp(table[i].old, name)) return table[i].present;
  return NULL;
}
