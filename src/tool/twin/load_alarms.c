// Reads the alarms of a machine: bounds of estimated outputs and parameters, in the units of these.
#include "twin/load_alarms.h"

#include <string.h>

#include "document/document.h"
#include "document/quantities.h"
#include "document/suggest.h"

static const od_key keys[] = {
    {"output", OD_TEXT, NULL, "estimated output or parameter of the experiment", .fallback = OD_REQUIRED},
    {"above", OD_NUMBER, NULL, "an estimate above this value is an alarm, in the unit of the output",
     .otherwise = "none"},
    {"below", OD_NUMBER, NULL, "an estimate below this value is an alarm, in the unit of the output",
     .otherwise = "none"},
    {"for", OD_NUMBER, "s", "time for which the estimate must be beyond the value without interruption",
     OD_NOT_NEGATIVE, 0, OD_LIMITS(0, 1e7, 0, 86400)},
};
const od_section_class od_twin_alarm_section = {"twin alarm", "alarm of a machine", OD_KEYS(keys)};

// Returns the unit of an estimated output or parameter; NULL: there is none with this name.
static const char *unit_of(const od_experiment *e, const char *name, od_nearest *nearest) {
  for (int i = 0; i < e->watches; i++) {
    if (strcmp(e->watched[i].name, name) == 0) return e->watched[i].unit;
    od_nearest_try(nearest, e->watched[i].name);
  }
  for (int i = 0; i < e->parameters; i++) {
    if (strcmp(e->parameter[i].path, name) == 0) return e->parameter[i].unit;
    od_nearest_try(nearest, e->parameter[i].path);
  }
  return NULL;
}

static double read_bound(od_loader *ld, const od_section *section, const char *key, const char *unit) {
  if (!od_is_given(ld, section, key)) return NAN;
  return od_number_value(ld, od_read_key_in(ld, section, key, unit, OD_IN_LOADER));
}

static void read_alarm(od_loader *ld, od_twin_machine *m, int key) {
  od_twin_alarm *a = &m->alarm[m->alarms++];
  a->name = od_text_of(ld, key);
  od_section section =
      od_section_open(ld, od_value(ld, key), key, od_format(ld, "machines.%s.alarms.%s", m->name, a->name),
                      od_format(ld, "the alarm '%s'", od_excerpt(ld, a->name)), &od_twin_alarm_section);
  a->above = a->below = NAN;
  a->output = "";
  if (section.map < 0) return;
  const int node = od_section_need(ld, &section, "output");
  const char *name = od_read_text(ld, node, "output", "the name of an output or a parameter");
  a->duration = od_key_value(ld, &section, "for");
  if (!name || !m->e) return;
  a->output = name;
  od_nearest nearest = od_nearest_to(name);
  const char *unit = unit_of(m->e, name, &nearest);
  if (!unit) {
    od_complain(
        ld, node,
        "the experiment estimates no '%s'; expected an output of a sensor, of 'initial' or of 'metrics', or a parameter%s",
        od_excerpt(ld, name), od_nearest_suggestion(&nearest, NULL).text);
    return;
  }
  a->unit = unit;
  a->above = read_bound(ld, &section, "above", unit);
  a->below = read_bound(ld, &section, "below", unit);
  if (isnan(a->above) && isnan(a->below))
    od_complain(ld, key, "the alarm '%s' needs 'above' or 'below'", od_excerpt(ld, a->name));
  else if (a->below >= a->above)
    od_complain(ld, key, "'below' is not less than 'above', so every estimate would be an alarm");
}

void od_twin_read_alarms(od_loader *ld, od_twin_machine *m, int node, od_arena *memory) {
  od_index seen = {0};  // in the memory of the loader
  if (node < 0) return;
  if (od_is_map(ld, node)) m->alarm = OD_TAKE(memory, od_twin_alarm, ld->tree.node[node].count);
  for (int key = od_first(ld, node, "alarms"); m->alarm && key >= 0; key = od_next(ld, key))
    if (!od_seen_before(ld, &seen, key)) read_alarm(ld, m, key);
}
