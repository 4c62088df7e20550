#include "linear/closed_valves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine.h"
#include "model/model.h"
#include "simulate/divergence.h"

// A number of an instance by its key; NAN: its class has none.
static double number_of(const od_model *m, const od_instance *e, const char *key) {
  const od_element_class *c = od_instance_class(e);
  for (int f = 0; f < c->field_count; f++)
    if (strcmp(c->fields[f].key, key) == 0) return m->theta[e->number + f];
  return NAN;
}

// The spool position: its state, or the signal that it follows.
static double spool_of(const od_operating_point *p, const od_instance *e) {
  const od_model *m = od_machine_model(p->machine);
  char name[300];
  snprintf(name, sizeof name, "%.290s.spool", e->name);
  int output = od_machine_output_find(p->machine, name);
  for (int i = 0; output < 0 && i < m->outputs; i++)
    if (m->output[i].kind == OD_OUT_INPUT && m->output[i].index == e->signal) output = i;
  return output < 0 ? NAN : od_output_now(p->machine, p->sim, output);
}

// Whether all edges that one spool opens are closed by their overlap.
static bool edges_are_shut(const od_operating_point *p, const od_instance *e) {
  const od_model *m = od_machine_model(p->machine);
  double overlap = fmin(number_of(m, e, "overlap"), number_of(m, e, "tank_overlap"));  // if one is NAN, the other
  double t = (spool_of(p, e) - number_of(m, e, "offset")) / number_of(m, e, "stroke");
  return fabs(t) < overlap;
}

// Whether a valve has ports, and its spool must move before any of them opens.
static bool ports_are_shut(const od_operating_point *p, int valve) {
  const od_model *m = od_machine_model(p->machine);
  const od_instance *host = &m->instance[valve];
  int ports = 0;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const char *inside = od_instance_class(e)->inside;
    if (e->host != valve || !inside || strcmp(inside, "ports") != 0) continue;
    double before = number_of(m, host, "dead_band") + number_of(m, e, "overlap");
    if (!(e->choice[OD_PORT_SIDE] * spool_of(p, host) < before)) return false;
    ports++;
  }
  return ports > 0;
}

void od_closed_valves(const od_operating_point *p, char *text, size_t size) {
  const od_model *m = od_machine_model(p->machine);
  text[0] = '\0';
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    bool shut = od_instance_class(e)->shuts_about_center ? edges_are_shut(p, e) : ports_are_shut(p, i);
    size_t used = strlen(text);
    if (shut && used < size) snprintf(text + used, size - used, "%s'%s'", used ? ", " : "", e->name);
  }
}
