// Friction elements without states at zero speed. Their laws are functions of the speed and give almost zero force at zero
// speed. The actual force can have any value between minus and plus the breakaway force.
#include <math.h>
#include <string.h>

#include "inverse/inverse_run.h"
#include "io/display.h"
#include "machine/machine.h"

// Returns the value of an instance's number by its key; NAN: no such number. Numbers for negative speeds are optional.
static double number_of(const od_model *m, const od_instance *e, const char *key) {
  const od_element_description *c = od_instance_description(m, e);
  int fields = c->field_count - (e->choice[0] ? 0 : c->equations->optional_numbers);
  for (int f = 0; f < fields; f++)
    if (strcmp(c->fields[f].key, key) == 0) return m->theta[e->number + f];
  return NAN;
}

bool od_standstills_find(const od_model *m, od_inverse_result *r) {
  r->still = OD_TAKE(&r->arena, od_standstill, m->instances);
  if (!r->still) return false;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const char *inside = od_instance_description(m, e)->inside;
    if (!inside || strcmp(inside, "friction") != 0 || e->state[0] >= 0 || e->actuator < 0) continue;
    // The larger breakaway force of the two directions is used.
    double fs = fmax(number_of(m, e, "Fs"), number_of(m, e, "Fs_negative"));
    double fc = fmax(number_of(m, e, "Fc"), number_of(m, e, "Fc_negative"));
    double v0 = number_of(m, e, "v0"), breakaway = isnan(fs) ? fc : fs;
    if (!(breakaway > 0)) continue;
    r->still[r->stills++] = (od_standstill){.instance = i,
                                            .build_up_speed = isnan(v0) ? number_of(m, e, "vs") : v0,
                                            .breakaway = breakaway,
                                            .exponent = number_of(m, e, isnan(fs) ? "factor_Fc" : "factor_Fs")};
  }
  return true;
}

void od_standstills_watch(const od_model *m, od_inverse *inverse, double t, od_inverse_result *r) {
  for (int i = 0; i < r->stills; i++) {
    od_standstill *s = &r->still[i];
    const od_instance *e = &m->instance[s->instance];
    int coordinate = m->actuator[e->actuator].coordinate;
    od_output speed = {.kind = OD_OUT_SPEED, .index = e->actuator, .second = -1};
    if (coordinate >= 0) speed.kind = OD_OUT_COORDINATE_RATE, speed.index = coordinate;
    if (!(fabs(od_inverse_output(inverse, &speed)) < s->build_up_speed)) {
      s->rows_of_interval = 0;
      continue;
    }
    // A speed below build_up_speed in a single row is only a reversal.
    if (s->rows_of_interval++ == 0) {
      s->interval_begin = t;
      continue;
    }
    double factor = number_of(m, e, "factor") * od_inverse_signal(inverse, s->instance);
    if (s->rows == 0) s->first = s->interval_begin;
    s->rows += s->rows_of_interval == 2 ? 2 : 1;
    s->largest = fmax(s->largest, s->breakaway * (factor > 0 ? pow(factor, s->exponent) : 0));
  }
}

void od_standstills_judge(const od_model *m, double step, od_inverse_result *r) {
  for (int i = 0; i < r->stills; i++) {
    const od_standstill *s = &r->still[i];
    const od_instance *e = &m->instance[s->instance];
    int coordinate = m->actuator[e->actuator].coordinate;
    bool turning = coordinate >= 0 && m->link[m->coordinate_link[coordinate]].kind != OD_LINK_PRISMATIC;
    if (s->rows == 0) continue;
    const char *name = *od_model_text(m, e->name) ? od_model_text(m, e->name)
                       : e->host >= 0             ? od_model_text(m, m->instance[e->host].name)
                                                  : od_model_text(m, m->joint[e->joint].name);
    od_verdict_add(
        &r->verdict, OD_DOUBTFUL, "friction.standstill", "Friction at standstill:",
        "%s is slower than %s, the speed of fully built-up friction, from t = %.6g s on, for %s in total. The "
        "friction law gives almost zero force at standstill, but static friction can be up to +-%s. The required "
        "effort is uncertain by this amount.",
        name, od_display_quantity(s->build_up_speed, turning ? "rad/s" : "m/s").text, s->first,
        od_duration_text((double)s->rows * step, 3).text, od_display_quantity(s->largest, turning ? "N m" : "N").text);
  }
}
