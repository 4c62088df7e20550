// Computes pressures and flows of actuators for a given force at a given position and speed. The class of an element defines
// which pressures drive the element (od_element_description.drives), and its force at given pressures. This file solves the force law
// for the pressures.
#include <math.h>

#include "inverse/inverse_run.h"
#include "machine/machine.h"

// Newton's method for pressure differences ends when a correction is below this fraction of the difference.
static const double relative_tolerance = 1e-12;
enum { MOST_ROUNDS = 50 };

int od_drive_chambers(const od_model *m, const od_drive *drive) {
  if (drive->kind != OD_DRIVE_ELEMENT) return 0;
  const od_element_description *c = od_instance_description(m, &m->instance[drive->index]);
  return c->drives == OD_DRIVES_BY_CHAMBERS ? od_element_end_count(c) : 0;
}

bool od_drive_end_is_tank(const od_model *m, int instance, int end, double *pressure) {
  int node = m->instance[instance].end[end];
  if (node < 0 || m->node[node].kind != OD_NODE_TANK) return false;
  *pressure = m->theta[m->node[node].number];
  return true;
}

// Computes the pressures of two chambers (Pa) with p_a A_a - p_b A_b = push (N). The second equation is the pressure
// of a tank or, without a tank, the pressure rule of the options. tank[i]: pressure of the tank at end i; NULL: no tank
// is connected to end i.
static void share_push(const od_inverse_options *options, const double area[2], const double *tank[2], double push,
                       double pressure[2]) {
  double rule = options->pressure;
  bool b_is_back = push >= rule * (area[0] - area[1]);
  if (!tank[0] && !tank[1] && options->rule == OD_RULE_SUM) {
    pressure[0] = (push + rule * area[1]) / (area[0] + area[1]);
    pressure[1] = rule - pressure[0];
  } else if (tank[1] || (!tank[0] && b_is_back)) {
    pressure[1] = tank[1] ? *tank[1] : rule;
    pressure[0] = (push + pressure[1] * area[1]) / area[0];
  } else {
    pressure[0] = tank[0] ? *tank[0] : rule;
    pressure[1] = (pressure[0] * area[0] - push) / area[1];
  }
}

// Computes the pressures (Pa) at both ends of a motor from their difference, by the pressure of a tank or, without a
// tank, the pressure rule of the options. tank: see share_push().
static void share_difference(const od_inverse_options *options, const double *tank[2], double difference,
                             double pressure[2]) {
  if (tank[1] || tank[0]) {
    pressure[1] = tank[1] ? *tank[1] : *tank[0] - difference;
    pressure[0] = tank[1] ? *tank[1] + difference : *tank[0];
  } else if (options->rule == OD_RULE_SUM) {
    pressure[0] = (options->pressure + difference) / 2;
    pressure[1] = (options->pressure - difference) / 2;
  } else {
    pressure[0] = options->pressure + fmax(difference, 0);
    pressure[1] = options->pressure - fmin(difference, 0);
  }
}

// Finds the pressure difference at which a motor has this effort. Uses Newton's method, because the friction depends on the
// pressures. need->difference is infinite or NAN if the method does not converge.
static void find_difference(const od_inverse *inverse, const od_inverse_options *options, int instance,
                            const double *tank[2], double effort, od_oil_need *need, od_actuation *now) {
  for (int round = 0; round < MOST_ROUNDS; round++) {
    share_difference(options, tank, need->difference, need->pressure);
    od_inverse_actuate(inverse, instance, need->pressure, now);
    // Derivative of the effort with respect to the pressure difference, by the pressure rule.
    double by = tank[1]                        ? now->force_by[0]
                : tank[0]                      ? -now->force_by[1]
                : options->rule == OD_RULE_SUM ? (now->force_by[0] - now->force_by[1]) / 2
                : need->difference >= 0        ? now->force_by[0]
                                               : -now->force_by[1];
    double correction = (effort - now->force) / by;
    if (fabs(correction) <= relative_tolerance * fabs(need->difference)) return;
    need->difference += correction;
    if (!isfinite(need->difference)) return;
  }
  need->difference = INFINITY;
}

od_oil_need od_drive_oil_need(const od_model *m, const od_inverse *inverse, const od_inverse_options *options,
                              int instance, double effort) {
  const od_element_description *c = od_instance_description(m, &m->instance[instance]);
  od_oil_need need = {0};
  od_actuation now;
  double tank_pressure[2] = {0};
  const double *tank[2] = {0};
  int ends = od_element_end_count(c);
  for (int i = 0; i < ends; i++)
    if (od_drive_end_is_tank(m, instance, i, &tank_pressure[i])) tank[i] = &tank_pressure[i];
  if (c->drives == OD_DRIVES_BY_DIFFERENCE) {
    find_difference(inverse, options, instance, tank, effort, &need, &now);
  } else {
    od_inverse_actuate(inverse, instance, need.pressure, &now);
    const double area[2] = {now.force_by[0], -now.force_by[1]};
    if (ends == 2)
      share_push(options, area, tank, effort - now.force, need.pressure);
    else
      need.pressure[0] = (effort - now.force) / area[0];
    od_inverse_actuate(inverse, instance, need.pressure, &now);
    need.difference = need.pressure[0] - need.pressure[1];
  }
  for (int i = 0; i < 2; i++) need.flow[i] = now.flow[i], need.volume[i] = now.volume[i];
  if (c->drives == OD_DRIVES_BY_DIFFERENCE)
    need.supply = fabs(need.flow[0]);
  else
    for (int i = 0; i < ends; i++) need.supply += tank[i] ? 0 : fmax(0, need.flow[i]);
  return need;
}

double od_drive_oil_modulus(const od_model *m, double pressure) {
  if (m->oil < 0) return 0;
  const double *law = m->theta + m->oil + OD_OIL_LAW;
  return m->oil_law == OD_OIL_LINEAR ? law[0] + law[1] * fmax(pressure, 0) : law[0];
}
