// Frictions without states at zero speed. Their laws are functions of the speed and give almost zero force there. The actual
// force can be anything between minus and plus the breakaway force.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inverse/inverse_run.h"
#include "io/display.h"
#include "machine/machine.h"

// A number of an instance by its key; NAN: its class has none. Numbers for negative speeds only if the instance has them.
static double number_of(const od_model *m, const od_instance *e, const char *key) {
  const od_element_class *c = od_instance_class(e);
  int fields = c->field_count - (e->choice[0] ? 0 : c->optional_fields);
  for (int f = 0; f < fields; f++)
    if (strcmp(c->fields[f].key, key) == 0) return m->theta[e->number + f];
  return NAN;
}

// The breakaway force with a factor of 1: the larger one of both directions.
static double size_of(const od_model *m, const od_instance *e, const char **power) {
  double fs = fmax(number_of(m, e, "Fs"), number_of(m, e, "Fs_negative"));
  *power = isnan(fs) ? "factor_Fc" : "factor_Fs";
  return isnan(fs) ? fmax(number_of(m, e, "Fc"), number_of(m, e, "Fc_negative")) : fs;
}

bool od_standstills_find(const od_model *m, od_inverse_result *r) {
  r->still = calloc((size_t)m->instances + 1, sizeof *r->still);
  for (int i = 0; r->still && i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const char *inside = od_instance_class(e)->inside, *power;
    if (!inside || strcmp(inside, "friction") != 0 || e->state[0] >= 0 || e->actuator < 0) continue;
    double size = size_of(m, e, &power), v0 = number_of(m, e, "v0"), vs = number_of(m, e, "vs");
    if (!(size > 0)) continue;
    r->still[r->stills++] =
        (od_standstill){.instance = i, .reach = isnan(v0) ? vs : v0, .friction = size, .power = number_of(m, e, power)};
  }
  return r->still != NULL;
}

static double speed_of(const od_model *m, od_inverse *inverse, const od_instance *e) {
  int coordinate = m->actuator[e->actuator].coordinate;
  od_output o = {.kind = OD_OUT_SPEED, .index = e->actuator, .second = -1};
  if (coordinate >= 0) o.kind = OD_OUT_COORDINATE_RATE, o.index = coordinate;
  return od_inverse_output(inverse, &o);
}

void od_standstills_watch(const od_model *m, od_inverse *inverse, double t, od_inverse_result *r) {
  for (int i = 0; i < r->stills; i++) {
    od_standstill *s = &r->still[i];
    const od_instance *e = &m->instance[s->instance];
    if (!(fabs(speed_of(m, inverse, e)) < s->reach)) {
      s->together = 0;
      continue;
    }
    double factor = number_of(m, e, "factor") * od_inverse_signal(inverse, s->instance);
    double size = s->friction * (factor > 0 ? pow(factor, s->power) : 0);
    // A zero speed in a single row is only a reversal.
    if (s->together++ == 0) {
      s->began = t;
      continue;
    }
    if (s->rows == 0) s->first = s->began;
    s->rows += s->together == 2 ? 2 : 1;
    s->band = fmax(s->band, size);
  }
}

bool od_standstills_judge(const od_model *m, double step, od_inverse_result *r) {
  bool ok = true;
  for (int i = 0; i < r->stills && ok; i++) {
    const od_standstill *s = &r->still[i];
    const od_instance *e = &m->instance[s->instance];
    int coordinate = m->actuator[e->actuator].coordinate;
    bool turning = coordinate >= 0 && m->link[m->coordinate_link[coordinate]].kind != OD_LINK_PRISMATIC;
    if (s->rows == 0) continue;
    char band[80], reach[80], name[200];
    snprintf(band, sizeof band, "%.79s", od_display_quantity(s->band, turning ? "N m" : "N").text);
    snprintf(reach, sizeof reach, "%.79s", od_display_quantity(s->reach, turning ? "rad/s" : "m/s").text);
    snprintf(name, sizeof name, "%.199s",
             *e->name       ? e->name
             : e->host >= 0 ? m->instance[e->host].name
                            : m->joint[e->joint].name);
    ok = od_verdict_add(
        &r->verdict, OD_DOUBTFUL, "friction.standstill", "Friction at standstill:",
        "%s moves slower than %s, which its friction needs to build up, from t = %.6g s on, in all for %s. There the "
        "friction counts as little as nothing, and may be anything up to +-%s: so much more or less may be needed.",
        name, reach, s->first, od_duration_text((double)s->rows * step, 3).text, band);
  }
  return ok;
}
