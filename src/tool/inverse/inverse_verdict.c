// Remarks about the results for a prescribed motion.
#include <math.h>
#include <string.h>

#include "inverse/inverse_run.h"
#include "io/display.h"
#include "io/wording.h"
#include "machine/machine.h"

// Fraction of the largest flow. A flow that compresses the oil is reported if it exceeds this fraction.
static const double compression_limit = 0.05;

// Upper limits of plausible magnitudes in hydraulic machines. Larger values indicate a wrong unit, mass or motion.
static const struct {
  const char *unit;
  double most;
} plausible[] = {{"Pa", 1e8}, {"N", 1e8}, {"N m", 1e8}, {"m/s", 100}, {"rad/s", 2e3}, {"W", 1e8}};
// Upper limits of plausible second derivatives of prescribed quantities, m/s2 and rad/s2.
static const double plausible_acceleration = 1e4, plausible_angular_acceleration = 1e6;

static double cell(const od_table *t, long row, int column) {
  return t->data[row * t->columns + column];
}
// Returns the row with the largest value of sign * column.
static long extreme(const od_table *t, int column, double sign) {
  long at = 0;
  for (long k = 1; k < t->rows; k++)
    if (sign * cell(t, k, column) > sign * cell(t, at, column)) at = k;
  return at;
}
// Returns the row with the largest magnitude of a column.
static long extreme_size(const od_table *t, int column) {
  long high = extreme(t, column, 1), low = extreme(t, column, -1);
  return -cell(t, low, column) > cell(t, high, column) ? low : high;
}

// Checks an actuator with chambers: its stroke, cavitation, and the flow that compresses the oil.
static void judge_chambers(const od_machine *machine, const od_inverse_options *o, od_inverse_result *r, int d) {
  const od_model *m = od_machine_model(machine);
  const od_table *t = r->table;
  const od_drive_columns *c = &r->columns[d];
  const od_instance *e = &m->instance[o->drive[d].index];
  const od_element_description *class = od_instance_description(m, e);
  const double *number = m->theta + e->number;
  double stroke = od_element_stroke(class, number), shortest = number[class->reach.closed], longest = shortest + stroke;
  char range[OD_RANGE_SIZE];
  od_display_range(range, shortest, longest, "m");
  for (int sign = -1; stroke > 0 && sign <= 1; sign += 2) {
    long at = extreme(t, c->length, sign);
    double length = cell(t, at, c->length);
    bool beyond = sign < 0 ? length < shortest - 1e-9 * stroke : length > shortest + stroke * (1 + 1e-9);
    if (beyond)
      od_verdict_add(&r->verdict, OD_UNSOUND, "stroke.beyond", "Beyond the stroke:",
                     "at t = %.6g s the length of %s would be %s, %s its range (%s). Change the motion or the stroke.",
                     cell(t, at, 0), od_model_text(m, e->name), od_display_quantity(length, "m").text,
                     sign < 0 ? "below" : "above", range);
  }
  for (int i = 0; i < 2 && c->pressure[i] >= 0; i++) {
    double pressure, lowest = cell(t, extreme(t, c->pressure[i], -1), c->pressure[i]);
    bool alone = c->pressure[1] < 0;
    if (!(lowest < 0)) continue;
    od_verdict_add(&r->verdict, OD_UNSOUND, "pressure.negative",
                   "Not enough pressure:", "%s%s of %s would have %s at t = %.6g s; the oil would cavitate.",
                   alone                                                       ? ""
                   : od_drive_end_is_tank(m, o->drive[d].index, !i, &pressure) ? "with a tank on the other side "
                                                                               : "with this rule ",
                   alone ? "the chamber"
                   : i   ? "chamber b"
                         : "chamber a",
                   od_model_text(m, e->name), od_display_quantity(lowest, "Pa").text,
                   cell(t, extreme(t, c->pressure[i], -1), 0));
  }
  if (r->compression[d] > compression_limit * fabs(cell(t, extreme_size(t, c->flow[0]), c->flow[0])))
    od_verdict_add(
        &r->verdict, OD_DOUBTFUL, "flow.compression", "Flow without compression:",
        "the flows of %s do not include compression of the oil. Compression takes up to %s more where pressures change (estimated from differences between rows).",
        od_model_text(m, e->name), od_display_quantity(r->compression[d], "m3/s").text);
}

// Reports values that are not finite. An example is the pressure of a motor with zero displacement, which cannot exert a torque.
static void judge_numbers(od_inverse_result *r) {
  const od_table *t = r->table;
  for (int c = 0; c < t->columns; c++)
    for (long k = 0; k < t->rows; k++)
      if (!isfinite(cell(t, k, c))) {
        od_verdict_add(&r->verdict, OD_UNSOUND, "need.infinite", "Infinite need:",
                       "no finite value of %s gives the required effort at t = %.6g s. Check "
                       "displacements and areas.",
                       t->name[c], cell(t, k, 0));
        return;
      }
}

static void add_implausible(od_verdict *v, const char *what, const char *name, double value, const char *unit, double t,
                            double most) {
  od_verdict_add(
      v, OD_DOUBTFUL, "need.implausible", "Implausible:",
      "%s%s would be %s at t = %.6g s; plausible magnitudes are below %s. Check the motion, units, masses and areas.",
      what, name, od_display_quantity(value, unit).text, t, od_display_quantity(most, unit).text);
}

// Reports implausible efforts, speeds, pressures and powers of drives, and implausible second derivatives of motions. For each
// drive, only the first implausible quantity is reported. The other quantities of the drive follow from this quantity.
static void judge_plausible(const od_model *m, const od_inverse_options *o, od_inverse_result *r) {
  const od_table *t = r->table;
  for (int i = 0; i < o->moves - o->loose; i++) {
    const od_output *moved = &m->output[o->moved[i]];
    double most = strcmp(od_model_text(m, moved->unit), "rad") == 0 ? plausible_angular_acceleration
                                                                    : plausible_acceleration,
           at[3];
    char second[80];
    od_rate_unit(od_model_text(m, moved->unit), 2, second, sizeof second);
    for (int k = 4; k < OD_TRAJECTORY_PEAKS; k++) {
      od_trajectory_at(&o->motion[i], o->motion[i].peak[k], at);
      if (!(fabs(at[2]) > most)) continue;
      add_implausible(&r->verdict, "the second derivative of ", od_model_text(m, moved->name), at[2], second,
                      o->motion[i].peak[k], most);
      break;
    }
  }
  for (int d = 0; d < o->drives; d++) {
    const od_drive_columns *c = &r->columns[d];
    const int of[] = {c->pressure[0], c->pressure[1], c->effort, c->speed, c->power};
    bool reported = false;
    for (size_t k = 0; k < sizeof of / sizeof *of && !reported; k++) {
      if (of[k] < 0 || (k < 2 && o->pressure_limit > 0)) continue;
      long at = extreme_size(t, of[k]);
      for (size_t u = 0; u < sizeof plausible / sizeof *plausible && !reported; u++) {
        if (strcmp(t->unit[of[k]], plausible[u].unit) != 0 || !(fabs(cell(t, at, of[k])) > plausible[u].most)) continue;
        reported = true;
        add_implausible(&r->verdict, "", t->name[of[k]], cell(t, at, of[k]), plausible[u].unit, cell(t, at, 0),
                        plausible[u].most);
      }
    }
  }
}

static void judge_supply(const od_inverse_options *o, od_inverse_result *r) {
  const od_table *t = r->table;
  if (r->supply_flow >= 0 && o->pump_flow > 0) {
    long at = extreme(t, r->supply_flow, 1);
    double most = cell(t, at, r->supply_flow);
    if (most > o->pump_flow)
      od_verdict_add(
          &r->verdict, OD_UNSOUND, "flow.short", "Not enough flow:",
          "the motion needs %s at t = %.6g s; the available flow is %s. Use a larger flow, or a slower motion.",
          od_display_quantity(most, "m3/s").text, cell(t, at, 0), od_display_quantity(o->pump_flow, "m3/s").text);
  }
  for (int d = 0; d < o->drives && o->pressure_limit > 0; d++)
    for (int i = 0; i < 2; i++) {
      int column = r->columns[d].pressure[i];
      if (column < 0) continue;
      // A pressure difference can have either sign.
      long at = r->columns[d].length < 0 ? extreme_size(t, column) : extreme(t, column, 1);
      if (fabs(cell(t, at, column)) > o->pressure_limit)
        od_verdict_add(
            &r->verdict, OD_UNSOUND, "pressure.high", "Pressure above the limit:",
            "%s is %s at t = %.6g s; the limit of the magnitude is %s. Use larger areas or displacements, or a slower motion.",
            t->name[column], od_display_quantity(cell(t, at, column), "Pa").text, cell(t, at, 0),
            od_display_quantity(o->pressure_limit, "Pa").text);
    }
}

// Returns whether an element exerts forces due to pressures of oil that is not in a tank.
static bool pushes_by_oil(const od_model *m, const od_instance *e, const od_element_description *c) {
  bool force = false;
  for (int k = 0; k < c->equations->outs; k++) force = force || c->equations->out[k].kind == OD_TO_FORCE;
  for (int k = 0; force && k < c->equations->ins; k++)
    if (c->equations->in[k].kind == OD_IN_PRESSURE && e->end[c->equations->in[k].index] >= 0 &&
        m->node[e->end[c->equations->in[k].index]].kind != OD_NODE_TANK)
      return true;
  return false;
}

// Reports elements with states or pressures that exert forces, and actuators that are not drives.
static void judge_elements(const od_machine *machine, const od_inverse_options *o, od_verdict *v) {
  const od_model *m = od_machine_model(machine);
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_description *c = od_instance_description(m, e);
    bool has_states = e->state[0] >= 0;
    if (od_drive_can_be(m, i)) {
      if (!od_drive_is_chosen(o, OD_DRIVE_ELEMENT, i))
        od_verdict_add(
            v, OD_DOUBTFUL, "drive.idle", "Left out:",
            "the %s '%s' is not a drive, so its force is zero. To change this, name the element with --drive.", c->noun,
            od_model_text(m, e->name));
      continue;
    }
    if (e->actuator < 0 || (!has_states && !pushes_by_oil(m, e, c))) continue;
    const char *name = *od_model_text(m, e->name) ? od_model_text(m, e->name)
                       : e->host >= 0             ? od_model_text(m, m->instance[e->host].name)
                                                  : od_model_text(m, m->joint[e->joint].name);
    if (c->inside)
      od_verdict_add(
          v, OD_DOUBTFUL, "friction.steady", "Steady-state friction:",
          "the %s of %s has its steady-state value at the current speed. After a reversal of the motion, the error "
          "can be as large as this value.",
          c->inside, name);
    else
      od_verdict_add(v, OD_DOUBTFUL, "state.kept", "Initial state kept:", "the %s '%s' keeps its initial %s.", c->noun,
                     name, has_states ? "state" : "pressures");
  }
  if (o->drives > m->freedom)
    od_verdict_add(
        v, OD_SOUND, "load.shared", "Shared load:",
        "%d drives move %s, so many distributions of the load are possible. The sum of effort^2 / share is minimal; the "
        "share is the piston area of a cylinder, the displacement of a motor, and 1 for other drives. Drives with "
        "the same effect take loads in proportion to their shares.",
        o->drives, od_count(m->freedom, "degree of freedom").text);
}

void od_inverse_judge(const od_machine *machine, const od_inverse_options *o, od_inverse_result *r) {
  const od_model *m = od_machine_model(machine);
  od_motion_judge(machine, o, r);
  if (r->loose_error > 1e-3)
    od_verdict_add(&r->verdict, r->loose_error > 0.1 ? OD_UNSOUND : OD_DOUBTFUL, "step.long", "Step too long:",
                   "the estimated error of freely moving coordinates is up to %.2g %% of their range; give a shorter "
                   "--step.",
                   100 * r->loose_error);
  for (int d = 0; d < o->drives; d++)
    if (r->columns[d].length >= 0) judge_chambers(machine, o, r, d);
  judge_numbers(r);
  judge_supply(o, r);
  judge_plausible(m, o, r);
  od_standstills_judge(m, o->step, r);
  if (!od_below_zero_add_remarks(m, r->signal, r->signals, &r->verdict)) od_verdict_set_incomplete(&r->verdict);
  od_kept_signals_judge(m, o, &r->verdict);
  judge_elements(machine, o, &r->verdict);
}
