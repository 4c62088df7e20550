// Finds the possible drives of a machine: actuators, forces, torques and joints.
#include <math.h>
#include <string.h>

#include "inverse/inverse_run.h"
#include "machine/machine.h"

bool od_drive_can_be(const od_model *m, int instance) {
  return od_instance_description(m, &m->instance[instance])->drives != OD_DRIVES_NOTHING;
}

bool od_drive_is_chosen(const od_inverse_options *o, od_drive_kind kind, int index) {
  for (int d = 0; d < o->drives; d++)
    if (o->drive[d].kind == kind && o->drive[d].index == index) return true;
  return false;
}

static od_drive element_drive(const od_model *m, int instance) {
  double size = fabs(od_actuator_size(m, instance, 0));
  return (od_drive){OD_DRIVE_ELEMENT, instance, size > 0 ? size : 1};
}

bool od_inverse_find_drive(const od_machine *machine, const char *name, od_drive *out) {
  const od_model *m = od_machine_model(machine);
  for (int i = 0; i < m->instances; i++)
    if (od_drive_can_be(m, i) && strcmp(od_model_text(m, m->instance[i].name), name) == 0) {
      *out = element_drive(m, i);
      return true;
    }
  for (int i = 0; i < m->loads; i++)
    if (m->load[i].kind != OD_LOAD_CONTACT && strcmp(od_model_text(m, m->load[i].name), name) == 0) {
      *out = (od_drive){OD_DRIVE_LOAD, i, 1};
      return true;
    }
  for (int i = 0; i < m->joints; i++)
    if (m->joint[i].coordinates == 1 && strcmp(od_model_text(m, m->joint[i].name), name) == 0) {
      *out = (od_drive){OD_DRIVE_COORDINATE, m->joint[i].coordinate, 1};
      return true;
    }
  return false;
}

int od_inverse_usual_drives(const od_machine *machine, od_drive *out, int room) {
  const od_model *m = od_machine_model(machine);
  int count = 0;
  for (int i = 0; i < m->instances && count < room; i++)
    if (od_drive_can_be(m, i)) out[count++] = element_drive(m, i);
  if (count) return count;
  for (int i = 0; i < m->loads && count < room; i++)
    if (m->load[i].input >= 0) out[count++] = (od_drive){OD_DRIVE_LOAD, i, 1};
  return count;
}

const char *od_inverse_drive_name(const od_machine *machine, const od_drive *drive) {
  const od_model *m = od_machine_model(machine);
  if (drive->kind == OD_DRIVE_ELEMENT) return od_model_text(m, m->instance[drive->index].name);
  if (drive->kind == OD_DRIVE_LOAD) return od_model_text(m, m->load[drive->index].name);
  return od_model_text(m, m->joint[m->link[m->coordinate_link[drive->index]].joint].name);
}

const char *od_inverse_drive_noun(const od_machine *machine, const od_drive *drive) {
  const od_model *m = od_machine_model(machine);
  if (drive->kind == OD_DRIVE_ELEMENT) return od_instance_description(m, &m->instance[drive->index])->noun;
  if (drive->kind == OD_DRIVE_COORDINATE) return "joint";
  return m->load[drive->index].kind == OD_LOAD_FORCE ? "force" : "torque";
}

double od_inverse_pump_flow(const od_machine *machine) {
  const od_model *m = od_machine_model(machine);
  double sum = 0;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_description *c = od_instance_description(m, e);
    if (c->rated_flow.count == 0) continue;
    // A signal with the unit 1 is a fraction of the rated flow. Any other signal replaces the rated flow, so the largest flow is
    // unknown.
    if (e->signal >= 0 && (e->signal >= m->inputs || strcmp(od_model_text(m, m->input[e->signal].unit), "1") != 0))
      return 0;
    double flow = 1;
    for (int k = 0; k < c->rated_flow.count; k++) flow *= m->theta[e->number + c->rated_flow.field[k]];
    sum += fabs(flow);
  }
  return sum;
}

bool od_drive_turns(const od_model *m, const od_drive *drive) {
  int coordinate = -1;
  if (drive->kind == OD_DRIVE_ELEMENT) {
    coordinate = m->actuator[m->instance[drive->index].actuator].coordinate;
    if (coordinate < 0) return false;
  } else if (drive->kind == OD_DRIVE_LOAD) {
    if (m->load[drive->index].kind != OD_LOAD_JOINT) return m->load[drive->index].kind == OD_LOAD_TORQUE;
    coordinate = m->load[drive->index].coordinate;
  } else {
    coordinate = drive->index;
  }
  return m->link[m->coordinate_link[coordinate]].kind != OD_LINK_PRISMATIC;
}

int od_inverse_joint_drives(const od_machine *machine, const int *moved, int count, od_drive *out) {
  const od_model *m = od_machine_model(machine);
  for (int i = 0; i < count; i++) {
    const od_output *o = &m->output[moved[i]];
    if (o->kind != OD_OUT_COORDINATE) return 0;
    out[i] = (od_drive){OD_DRIVE_COORDINATE, o->index, 1};
  }
  return count;
}
