// Pressures and flows of cylinders and motors for a given force at a given speed.
#include <math.h>

#include "inverse/inverse_run.h"
#include "machine/machine.h"

static double number(const od_model *m, const od_instance *e, int place) {
  return m->theta[e->number + place];
}

// The pressure of a chamber that is connected to a tank; NAN: it is not.
static double tank_pressure(const od_model *m, int node) {
  return node >= 0 && m->node[node].kind == OD_NODE_TANK ? m->theta[m->node[node].number] : NAN;
}

// Numbers of a motor, in the order of its class.
enum { MOTOR_DISPLACEMENT, MOTOR_LEAKAGE, MOTOR_VISCOUS, MOTOR_SETTING };

od_drive_oil od_drive_oil_of(const od_model *m, const od_drive *drive) {
  od_drive_oil oil = {0};
  if (drive->kind != OD_DRIVE_ELEMENT) return oil;
  const od_instance *e = &m->instance[drive->index];
  const od_element_class *c = od_instance_class(e);
  if (c == &od_cylinder_class) {
    double a = number(m, e, OD_CYLINDER_A), b = number(m, e, OD_CYLINDER_B), quarter = atan(1);
    bool diameters = e->choice[OD_CYLINDER_DIAMETERS];
    oil.cylinder = true;
    oil.area_a = diameters ? quarter * a * a : a;
    oil.area_b = diameters ? quarter * (a * a - b * b) : b;
    oil.closed = number(m, e, OD_CYLINDER_CLOSED);
    oil.stroke = number(m, e, OD_CYLINDER_STROKE);
    oil.dead_a = number(m, e, OD_CYLINDER_DEAD_A);
    oil.dead_b = number(m, e, OD_CYLINDER_DEAD_B);
    oil.leakage = number(m, e, OD_CYLINDER_LEAKAGE);
    oil.tank_a = tank_pressure(m, e->end[0]);
    oil.tank_b = tank_pressure(m, e->end[1]);
  } else if (c == &od_motor_class) {
    oil.motor = true;
    oil.area_a = number(m, e, MOTOR_DISPLACEMENT) * number(m, e, MOTOR_SETTING);
    oil.leakage = number(m, e, MOTOR_LEAKAGE);
    oil.viscous = number(m, e, MOTOR_VISCOUS);
  }
  return oil;
}

// The force of a cylinder is p_a A_a - p_b A_b.
static od_oil_need cylinder_need(const od_drive_oil *o, const od_inverse_options *options, double push, double speed) {
  double rule = options->pressure;
  od_oil_need need;
  if (!isnan(o->tank_b)) {
    need.pressure_b = o->tank_b;
    need.pressure_a = (push + o->tank_b * o->area_b) / o->area_a;
  } else if (!isnan(o->tank_a)) {
    need.pressure_a = o->tank_a;
    need.pressure_b = (o->tank_a * o->area_a - push) / o->area_b;
  } else if (options->rule == OD_RULE_SUM) {
    need.pressure_a = (push + rule * o->area_b) / (o->area_a + o->area_b);
    need.pressure_b = rule - need.pressure_a;
  } else if (push >= rule * (o->area_a - o->area_b)) {
    need.pressure_b = rule;
    need.pressure_a = (push + rule * o->area_b) / o->area_a;
  } else {
    need.pressure_a = rule;
    need.pressure_b = (rule * o->area_a - push) / o->area_b;
  }
  double leak = o->leakage * (need.pressure_a - need.pressure_b);
  need.flow_a = o->area_a * speed + leak;
  need.flow_b = -o->area_b * speed - leak;
  need.supply = (isnan(o->tank_a) ? fmax(0, need.flow_a) : 0) + (isnan(o->tank_b) ? fmax(0, need.flow_b) : 0);
  return need;
}

// The torque of a motor is D (p_from - p_to) minus its viscous friction; a signal changes its displacement.
static od_oil_need motor_need(const od_drive_oil *o, double signal, double push, double speed) {
  double D = o->area_a * signal, difference = (push + o->viscous * speed) / D;
  double flow = D * speed + o->leakage * difference;
  return (od_oil_need){.pressure_a = difference, .flow_a = flow, .flow_b = -flow, .supply = fabs(flow)};
}

od_oil_need od_drive_oil_need(const od_drive_oil *oil, const od_inverse_options *options, double signal, double effort,
                              double speed) {
  if (oil->cylinder) return cylinder_need(oil, options, effort, speed);
  if (oil->motor) return motor_need(oil, signal, effort, speed);
  return (od_oil_need){0};
}

double od_drive_oil_modulus(const od_model *m, double pressure) {
  if (m->oil < 0) return 0;
  const double *law = m->theta + m->oil + OD_OIL_LAW;
  return m->oil_law == OD_OIL_LINEAR ? law[0] + law[1] * fmax(pressure, 0) : law[0];
}
