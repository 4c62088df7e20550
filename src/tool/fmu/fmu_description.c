#include "fmu/fmu_description.h"

#include <string.h>

const char *od_fmu_causality_word(od_fmu_causality causality) {
  static const char *const words[OD_FMU_CAUSALITIES] = {
      "local", "parameter", "calculatedParameter", "structuralParameter", "input", "output", "independent"};
  return words[causality];
}

int od_fmu_find_variable(const od_fmu_description *d, const char *name) {
  for (int i = 0; i < d->variables; i++)
    if (strcmp(d->variable[i].name, name) == 0) return i;
  return -1;
}

// --- Messages -----------------------------------------------------------------------------------------------------

static void put_double(od_channel *c, double value) {
  od_channel_put(c, &value, sizeof value);
}

static double take_double(od_channel *c) {
  double value = 0;
  od_channel_take(c, &value, sizeof value);
  return value;
}

static const char *take_text(od_channel *c, od_arena *arena) {
  char text[OD_HELPER_TEXT];
  od_channel_take_text(c, text, sizeof text);
  return od_arena_text(arena, text);
}

static void put_variable(od_channel *c, const od_fmu_variable *v) {
  od_channel_put_text(c, v->name);
  od_channel_put_text(c, v->description ? v->description : "");
  od_channel_put_number(c, v->reference);
  od_channel_put_number(c, v->causality);
  od_channel_put_number(c, v->variability);
  od_channel_put_number(c, v->type);
  od_channel_put_number(c, (uint64_t)(v->unit + 1));
  od_channel_put_number(c, v->has_start);
  put_double(c, v->start);
  od_channel_put_number(c, v->depends_directly);
}

static void take_variable(od_channel *c, od_arena *arena, int units, od_fmu_variable *v) {
  v->name = take_text(c, arena);
  v->description = take_text(c, arena);
  v->reference = (uint32_t)od_channel_take_number(c, UINT32_MAX);
  v->causality = (od_fmu_causality)od_channel_take_number(c, OD_FMU_CAUSALITIES - 1);
  v->variability = (od_fmu_variability)od_channel_take_number(c, OD_FMU_VARIABILITIES - 1);
  v->type = (od_fmu_type)od_channel_take_number(c, OD_FMU_TYPES - 1);
  v->unit = (int)od_channel_take_number(c, (uint64_t)units) - 1;
  v->has_start = od_channel_take_number(c, 1);
  v->start = take_double(c);
  v->depends_directly = od_channel_take_number(c, 1);
}

void od_fmu_put_description(od_channel *c, const od_fmu_description *d) {
  od_channel_put_number(c, (uint64_t)d->version);
  od_channel_put_text(c, d->model);
  od_channel_put_text(c, d->token);
  for (int i = 0; i < OD_FMU_INTERFACES; i++) {
    const od_fmu_ability *a = &d->ability[i];
    od_channel_put_text(c, a->identifier ? a->identifier : "");
    od_channel_put_number(c, (unsigned)a->saves_state | (unsigned)a->serializes << 1 |
                                 (unsigned)a->has_derivatives << 2 | (unsigned)a->needs_tool << 3);
  }
  od_channel_put_number(c, (uint64_t)d->units);
  for (int i = 0; i < d->units; i++) {
    od_channel_put_text(c, d->unit[i].name);
    od_channel_put_number(c, d->unit[i].has_base);
    od_channel_put(c, d->unit[i].exponent, sizeof d->unit[i].exponent);
    put_double(c, d->unit[i].factor);
    put_double(c, d->unit[i].offset);
  }
  od_channel_put_number(c, (uint64_t)d->variables);
  for (int i = 0; i < d->variables; i++) put_variable(c, &d->variable[i]);
  od_channel_put_number(c, (uint64_t)d->states);
  for (int i = 0; i < d->states; i++) {
    od_channel_put_number(c, (uint64_t)d->state[i]);
    od_channel_put_number(c, (uint64_t)d->derivative[i]);
  }
  od_channel_put_number(c, (uint64_t)d->indicators);
  put_double(c, d->step);
}

bool od_fmu_take_description(od_channel *c, od_arena *arena, od_fmu_description *d) {
  *d = (od_fmu_description){.version = (int)od_channel_take_number(c, 3)};
  d->model = take_text(c, arena);
  d->token = take_text(c, arena);
  for (int i = 0; i < OD_FMU_INTERFACES; i++) {
    od_fmu_ability *a = &d->ability[i];
    a->identifier = take_text(c, arena);
    if (a->identifier && !a->identifier[0]) a->identifier = NULL;
    uint64_t bits = od_channel_take_number(c, 15);
    a->saves_state = bits & 1, a->serializes = bits & 2, a->has_derivatives = bits & 4, a->needs_tool = bits & 8;
  }
  d->units = (int)od_channel_take_number(c, OD_FMU_MOST_VARIABLES);
  d->unit = OD_TAKE(arena, od_fmu_unit, d->units);
  for (int i = 0; i < d->units && d->unit && !c->broken; i++) {
    d->unit[i].name = take_text(c, arena);
    d->unit[i].has_base = od_channel_take_number(c, 1);
    od_channel_take(c, d->unit[i].exponent, sizeof d->unit[i].exponent);
    d->unit[i].factor = take_double(c);
    d->unit[i].offset = take_double(c);
  }
  d->variables = (int)od_channel_take_number(c, OD_FMU_MOST_VARIABLES);
  d->variable = OD_TAKE(arena, od_fmu_variable, d->variables);
  for (int i = 0; i < d->variables && d->variable && !c->broken; i++)
    take_variable(c, arena, d->units, &d->variable[i]);
  d->states = (int)od_channel_take_number(c, OD_FMU_MOST_STATES);
  d->state = OD_TAKE(arena, int, d->states);
  d->derivative = OD_TAKE(arena, int, d->states);
  for (int i = 0; i < d->states && d->state && d->derivative && d->variables > 0 && !c->broken; i++) {
    d->state[i] = (int)od_channel_take_number(c, (uint64_t)d->variables - 1);
    d->derivative[i] = (int)od_channel_take_number(c, (uint64_t)d->variables - 1);
  }
  d->indicators = (int)od_channel_take_number(c, OD_FMU_MOST_STATES);
  d->step = take_double(c);
  return !c->broken && od_arena_status(arena) == OD_OK && (d->states == 0 || d->variables > 0);
}
