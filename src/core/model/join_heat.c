// Heat sources of the oil, in a machine with a reservoir.
#include "model/builder.h"

static int heat_slot(const od_element_class *c) {
  for (int k = 0; k < c->ins; k++)
    if (c->in[k].kind == OD_IN_HEAT) return k;
  return -1;
}

// Returns the index of the report that is the heat of an instance, or OD_NO_HEAT. An instance heats the oil if the instance or its
// host contains oil; an example is the friction of a cylinder. An element that supplies energy by a negative loss, such
// as a pump, does not heat the oil.
static int heat_of(const od_model *m, const od_instance *e) {
  const od_element_class *c = od_instance_class(m, e);
  bool in_oil = c->needs_oil || (e->host >= 0 && od_instance_class(m, &m->instance[e->host])->needs_oil);
  if (!in_oil || c->heat == OD_NO_HEAT || (c->supplies && c->supply == 0 && c->heat == OD_REPORT_LOSS))
    return OD_NO_HEAT;
  return c->heat;
}

void od_find_reservoir(od_build *b, od_model *m) {
  m->join.reservoir = m->join.warms = -1;
  for (int i = 0; i < m->instances; i++) {
    if (heat_slot(od_instance_class(m, &m->instance[i])) < 0) continue;
    if (m->join.reservoir >= 0)
      od_build_report(
          b, OD_ABOUT_ELEMENT, i,
          "'%s' is a second reservoir in addition to '%s'; a machine has at most one reservoir, because all oil has one temperature",
          od_model_text(m, m->instance[i].name), od_model_text(m, m->instance[m->join.reservoir].name));
    m->join.reservoir = i;
    m->join.warms = m->instance[i].state[0];
  }
}

bool od_join_heat(od_model *m, od_arena *arena) {
  od_join *j = &m->join;
  j->indirect = m->junctions > 0 || j->reservoir >= 0;
  if (j->reservoir < 0) return true;
  const od_instance *r = &m->instance[j->reservoir];
  j->heat_in = r->in + heat_slot(od_instance_class(m, r));
  j->heater = od_arena_take(arena, (size_t)m->instances * sizeof *j->heater);
  if (!j->heater) return false;
  for (int i = 0; i < m->instances; i++) {
    int heat = heat_of(m, &m->instance[i]);
    if (heat != OD_NO_HEAT) j->heater[j->heaters++] = (od_heater){i, heat};
  }
  return true;
}
