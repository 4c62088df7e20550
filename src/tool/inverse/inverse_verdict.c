// Remarks against the results for a prescribed motion.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "inverse/inverse_run.h"
#include "io/display.h"
#include "io/wording.h"
#include "machine/machine.h"

// Flow by compression of the oil is reported if it exceeds this fraction of the largest flow.
static const double much_compression = 0.05;

// Upper limits of plausible values of hydraulic machines. Larger values indicate a wrong unit, mass or motion.
static const struct {
  const char *unit;
  double most;
} plausible[] = {{"Pa", 1e8}, {"N", 1e8}, {"N m", 1e8}, {"m/s", 100}, {"rad/s", 2e3}, {"W", 1e8}};
// The same for second derivatives of prescribed quantities.
static const double plausible_acceleration = 1e4, plausible_turning = 1e6;

static double cell(const od_table *t, long row, int column) {
  return t->data[row * t->columns + column];
}
// The row with the largest value of a column, times a sign.
static long extreme(const od_table *t, int column, double sign) {
  long at = 0;
  for (long k = 1; k < t->rows; k++)
    if (sign * cell(t, k, column) > sign * cell(t, at, column)) at = k;
  return at;
}

static bool judge_stroke(const od_machine *machine, const od_inverse_options *o, int d, double length, double t,
                         bool retracted, od_verdict *v) {
  od_drive_oil oil = od_drive_oil_of(od_machine_model(machine), &o->drive[d]);
  char range[OD_RANGE_SIZE];
  od_display_range(range, oil.closed, oil.closed + oil.stroke, "m");
  return od_verdict_add(v, OD_UNSOUND, "stroke.beyond",
                        "Beyond the stroke:", "at t = %.6g s %s would be %s long, %s than it can be (%s).", t,
                        od_inverse_drive_name(machine, &o->drive[d]), od_display_quantity(length, "m").text,
                        retracted ? "shorter" : "longer", range);
}

// The largest flow by compression of oil, from differences of pressures between rows.
static double compression(const od_model *m, const od_inverse_options *o, const od_inverse_result *r, int d) {
  od_drive_oil oil = od_drive_oil_of(m, &o->drive[d]);
  const od_drive_columns *c = &r->columns[d];
  double largest = 0;
  for (long k = 1; oil.cylinder && k + 1 < r->table->rows; k++)
    for (int side = 0; side < 2; side++) {
      int column = side ? c->pressure_b : c->pressure_a;
      double x = cell(r->table, k, c->length) - oil.closed;
      double volume = side ? oil.dead_b + oil.area_b * (oil.stroke - x) : oil.dead_a + oil.area_a * x;
      double modulus = od_drive_oil_modulus(m, cell(r->table, k, column));
      double rate = (cell(r->table, k + 1, column) - cell(r->table, k - 1, column)) / (2 * o->step);
      if (modulus > 0) largest = fmax(largest, fabs(fmax(volume, 0) / modulus * rate));
    }
  return largest;
}

static bool judge_cylinder(const od_machine *machine, const od_inverse_options *o, od_inverse_result *r, int d) {
  const od_model *m = od_machine_model(machine);
  const od_table *t = r->table;
  const od_drive_columns *c = &r->columns[d];
  od_drive_oil oil = od_drive_oil_of(m, &o->drive[d]);
  long shortest = extreme(t, c->length, -1), longest = extreme(t, c->length, 1);
  bool ok = true;
  if (cell(t, shortest, c->length) < oil.closed - 1e-9 * oil.stroke)
    ok = judge_stroke(machine, o, d, cell(t, shortest, c->length), cell(t, shortest, 0), true, &r->verdict) && ok;
  if (cell(t, longest, c->length) > oil.closed + oil.stroke * (1 + 1e-9))
    ok = judge_stroke(machine, o, d, cell(t, longest, c->length), cell(t, longest, 0), false, &r->verdict) && ok;
  for (int side = 0; side < 2; side++) {
    int column = side ? c->pressure_b : c->pressure_a;
    long least = extreme(t, column, -1);
    if (cell(t, least, column) < 0)
      ok = od_verdict_add(&r->verdict, OD_UNSOUND, "pressure.negative",
                          "Not enough pressure:", "%s chamber %c of %s would have %s at t = %.6g s; it would cavitate.",
                          isnan(side ? oil.tank_a : oil.tank_b) ? "with this rule" : "with a tank on the other side",
                          side ? 'b' : 'a', od_inverse_drive_name(machine, &o->drive[d]),
                          od_display_quantity(cell(t, least, column), "Pa").text, cell(t, least, 0)) &&
           ok;
  }
  double most =
      fmax(fabs(cell(t, extreme(t, c->flow_a, 1), c->flow_a)), fabs(cell(t, extreme(t, c->flow_a, -1), c->flow_a)));
  double squeezed = compression(m, o, r, d);
  if (squeezed > much_compression * most)
    ok =
        od_verdict_add(
            &r->verdict, OD_DOUBTFUL, "flow.compression", "Flow without compression:",
            "flows of %s are those of its piston; where its pressures change, compressing the oil takes up to %s more, by "
            "differences from row to row.",
            od_inverse_drive_name(machine, &o->drive[d]), od_display_quantity(squeezed, "m3/s").text) &&
        ok;
  return ok;
}

// Reports values that are not finite, for example of a motor with zero displacement, which has no pressure for a torque.
static bool judge_numbers(od_inverse_result *r) {
  const od_table *t = r->table;
  for (int c = 0; c < t->columns; c++)
    for (long k = 0; k < t->rows; k++)
      if (!isfinite(cell(t, k, c)))
        return od_verdict_add(&r->verdict, OD_UNSOUND, "need.infinite",
                              "Infinite need:", "%s would be infinite at t = %.6g s.", t->name[c], cell(t, k, 0));
  return true;
}

static bool add_implausible(od_verdict *v, const char *name, const char *what, double value, const char *unit, double t,
                            double most) {
  char limit[80];
  snprintf(limit, sizeof limit, "%.79s", od_display_quantity(most, unit).text);
  return od_verdict_add(v, OD_DOUBTFUL, "need.implausible", "Implausible:",
                        "%s%s would be %s at t = %.6g s; machines of this kind stay below %s. Check the motion, its "
                        "units, masses and areas.",
                        name, what, od_display_quantity(value, unit).text, t, limit);
}

// Reports implausible efforts, speeds, pressures and powers of drives, and second derivatives of motions. For each drive only
// the first kind is reported, because the others follow from it.
static bool judge_plausible(const od_model *m, const od_inverse_options *o, od_inverse_result *r) {
  const od_table *t = r->table;
  bool ok = true;
  for (int i = 0; i < o->moves - o->loose; i++) {
    const od_output *moved = &m->output[o->moved[i]];
    double most = strcmp(moved->unit, "rad") == 0 ? plausible_turning : plausible_acceleration, at[3] = {0};
    char second[80];
    od_rate_unit(moved->unit, 2, second, sizeof second);
    for (int k = 4; k < OD_TRAJECTORY_PEAKS; k++) {
      od_trajectory_at(&o->motion[i], o->motion[i].peak[k], at);
      if (fabs(at[2]) > most) {
        ok =
            add_implausible(&r->verdict, "the second rate of ", moved->name, at[2], second, o->motion[i].peak[k], most);
        break;
      }
    }
  }
  for (int d = 0; d < o->drives; d++) {
    const od_drive_columns *c = &r->columns[d];
    const int of[] = {c->pressure_a, c->pressure_b, c->effort, c->speed, c->power};
    bool said = false;
    for (size_t k = 0; k < sizeof of / sizeof *of && !said; k++) {
      if (of[k] < 0 || (k < 2 && o->pressure_limit > 0)) continue;
      long high = extreme(t, of[k], 1), low = extreme(t, of[k], -1);
      long at = -cell(t, low, of[k]) > cell(t, high, of[k]) ? low : high;
      for (size_t u = 0; u < sizeof plausible / sizeof *plausible && !said; u++)
        if (strcmp(t->unit[of[k]], plausible[u].unit) == 0 && fabs(cell(t, at, of[k])) > plausible[u].most) {
          said = true;
          ok = add_implausible(&r->verdict, t->name[of[k]], "", cell(t, at, of[k]), plausible[u].unit, cell(t, at, 0),
                               plausible[u].most) &&
               ok;
        }
    }
  }
  return ok;
}

static bool judge_supply(const od_inverse_options *o, od_inverse_result *r) {
  const od_table *t = r->table;
  bool ok = true;
  if (r->supply_flow >= 0 && o->pump_flow > 0) {
    long at = extreme(t, r->supply_flow, 1);
    double most = cell(t, at, r->supply_flow);
    if (most > o->pump_flow)
      ok = od_verdict_add(&r->verdict, OD_UNSOUND, "flow.short",
                          "More flow than there is:", "the motion needs %s at t = %.6g s, the pumps give %s.",
                          od_display_quantity(most, "m3/s").text, cell(t, at, 0),
                          od_display_quantity(o->pump_flow, "m3/s").text) &&
           ok;
  }
  for (int d = 0; d < o->drives && o->pressure_limit > 0; d++)
    for (int side = 0; side < 2; side++) {
      int column = side ? r->columns[d].pressure_b : r->columns[d].pressure_a;
      if (column < 0) continue;
      long high = extreme(t, column, 1), low = extreme(t, column, -1);
      bool motor = r->columns[d].pressure_b < 0;
      long at = motor && -cell(t, low, column) > cell(t, high, column) ? low : high;
      if (fabs(cell(t, at, column)) > o->pressure_limit)
        ok = od_verdict_add(&r->verdict, OD_UNSOUND, "pressure.high",
                            "More pressure than allowed:", "%s needs %s at t = %.6g s, the limit is %s.",
                            t->name[column], od_display_quantity(cell(t, at, column), "Pa").text, cell(t, at, 0),
                            od_display_quantity(o->pressure_limit, "Pa").text) &&
             ok;
    }
  return ok;
}

// Whether an element exerts forces by pressures of oil that is not in a tank.
static bool pushes_by_oil(const od_model *m, const od_instance *e, const od_element_class *c) {
  bool force = false;
  for (int k = 0; k < c->outs; k++) force = force || c->out[k].kind == OD_TO_FORCE;
  for (int k = 0; force && k < c->ins; k++)
    if (c->in[k].kind == OD_IN_PRESSURE && e->end[c->in[k].index] >= 0 &&
        m->node[e->end[c->in[k].index]].kind != OD_NODE_TANK)
      return true;
  return false;
}

// Lists elements with states or pressures that exert forces, and cylinders and motors that are not drives.
static bool judge_elements(const od_machine *machine, const od_inverse_options *o, od_verdict *v) {
  const od_model *m = od_machine_model(machine);
  bool ok = true;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_class *c = od_instance_class(e);
    bool driven = false, pushes = c == &od_cylinder_class || c == &od_motor_class;
    for (int d = 0; d < o->drives; d++)
      driven = driven || (o->drive[d].kind == OD_DRIVE_ELEMENT && o->drive[d].index == i);
    if (pushes && !driven)
      ok = od_verdict_add(v, OD_DOUBTFUL, "drive.idle", "Left out:", "the %s '%s' is no drive and pushes with nothing.",
                          c->noun, e->name) &&
           ok;
    bool states = e->state[0] >= 0;
    if (pushes || (!states && !pushes_by_oil(m, e, c)) || e->actuator < 0) continue;
    const char *name = *e->name ? e->name : e->host >= 0 ? m->instance[e->host].name : m->joint[e->joint].name;
    if (c->inside)
      ok = od_verdict_add(
               v, OD_DOUBTFUL, "friction.steady", "Friction of steady motion:",
               "the %s of %s acts as in steady motion at the speed of the moment; where the motion reverses it may "
               "be off by as much as it is.",
               c->inside, name) &&
           ok;
    else
      ok = od_verdict_add(v, OD_DOUBTFUL, "state.kept",
                          "State of the start:", "the %s '%s' acts with the %s that it has at the start.", c->noun,
                          name, states ? "state" : "pressures") &&
           ok;
  }
  if (o->drives > m->freedom)
    ok = od_verdict_add(v, OD_SOUND, "load.shared", "Shared load:",
                        "%d drives move %s; they share it as if all had the same pressure, which is one way of "
                        "many.",
                        o->drives, od_count(m->freedom, "degree of freedom").text) &&
         ok;
  return ok;
}

bool od_inverse_judge(const od_machine *machine, const od_inverse_options *o, od_inverse_result *r) {
  const od_model *m = od_machine_model(machine);
  bool ok = od_motion_judge(machine, o, r);
  if (r->loose_error > 1e-3)
    ok = od_verdict_add(&r->verdict, r->loose_error > 0.1 ? OD_UNSOUND : OD_DOUBTFUL, "step.long", "Step too long:",
                        "what moves on its own is off by up to %.2g %% of its range; take shorter steps.",
                        100 * r->loose_error) &&
         ok;
  for (int d = 0; d < o->drives; d++)
    if (r->columns[d].pressure_b >= 0) ok = judge_cylinder(machine, o, r, d) && ok;
  ok = judge_numbers(r) && ok;
  ok = judge_supply(o, r) && ok;
  ok = judge_plausible(m, o, r) && ok;
  ok = od_standstills_judge(m, o->step, r) && ok;
  ok = od_below_zero_add_remarks(m, r->signal, r->signals, &r->verdict) && ok;
  ok = od_kept_signals_judge(m, o, &r->verdict) && ok;
  return judge_elements(machine, o, &r->verdict) && ok;
}
