#include "simulate/run_bounds.h"

#include <math.h>
#include <stdio.h>

#include "integrate/sim_block.h"
#include "io/display.h"
#include "io/wording.h"
#include "machine/below_zero.h"
#include "machine/machine.h"
#include "memory/scoped.h"
#include "simulate/run_laws.h"

enum { MOST_SHOWN = 6 };              // pumps that get a remark each
static const double overshoot = 1.2;  // times the pressure at which a pump delivers no flow: an overshoot is below it

typedef struct pump {
  int instance;
  int output;          // output of the machine: the pressure
  double bound;        // bound of the pressure, Pa
  bool beyond;         // the pressure was above the bound
  double worst, when;  // the highest pressure, Pa, and its time, s
} pump;

struct od_run_bounds {
  const od_machine *machine;
  od_plant *plant;  // the same machine with the watched outputs: signals, pumps, laws; NULL: none are watched
  od_run_laws *laws;
  od_below_zero *signal;
  pump *pump;
  int signals, pumps;
  double *y;
};

static int find_output(const od_model *m, od_output_kind what, int index) {
  for (int i = 0; i < m->outputs; i++)
    if (m->output[i].kind == what && m->output[i].index == index) return i;
  return -1;
}

static void add_pump(od_run_bounds *b, const od_model *m, int i) {
  const od_instance *e = &m->instance[i];
  const od_element_class *c = od_instance_class(e);
  if (c->shut_off.field <= 0) return;
  int output = find_output(m, OD_OUT_NODE_PRESSURE, e->end[c->shut_off.end]);
  double shut_off = m->theta[e->number + c->shut_off.field] + m->theta[e->number + c->shut_off.range];
  double bound = overshoot * shut_off;
  if (output >= 0) b->pump[b->pumps++] = (pump){.instance = i, .output = output, .bound = bound, .worst = bound};
}

od_status od_run_bounds_new(const od_machine *machine, od_arena *arena, od_run_bounds **out, od_error *err) {
  OD_SCRATCH(scratch);
  const od_model *m = od_machine_model(machine);
  od_run_bounds *b = *out = OD_TAKE(arena, od_run_bounds, 1);
  if (!b) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  b->machine = machine;
  b->signals = od_below_zero_list(m, NULL);
  b->signal = OD_TAKE(arena, od_below_zero, b->signals);
  b->pump = OD_TAKE(arena, pump, m->instances);
  b->laws = od_run_laws_new(m, arena);
  if (od_arena_status(arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_below_zero_list(m, b->signal);
  for (int i = 0; i < m->instances; i++) add_pump(b, m, i);
  int count = b->signals + b->pumps + od_run_laws_outputs(b->laws, NULL);
  if (count == 0) return OD_OK;
  int *output = OD_TAKE(&scratch, int, count);
  b->y = OD_TAKE(arena, double, count);
  if (!output || !b->y) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < b->signals; i++) output[i] = find_output(m, OD_OUT_INPUT, b->signal[i].signal);
  for (int i = 0; i < b->pumps; i++) output[b->signals + i] = b->pump[i].output;
  od_run_laws_outputs(b->laws, output + b->signals + b->pumps);
  return od_machine_plant(machine, output, count, NULL, 0, &b->plant, err);
}

void od_run_bounds_end(od_run_bounds *b) {
  od_plant_free(b->plant);
}

// All plants of a machine have the same layout of the work memory, for any outputs.
void od_run_bounds_watch(od_run_bounds *b, double t, od_sim *sim) {
  if (!b->plant || b->plant->ops->outputs(b->plant, od_sim_work(sim), od_sim_energy(sim), b->y) != OD_OK) return;
  for (int i = 0; i < b->signals; i++) od_below_zero_watch(&b->signal[i], t, b->y[i]);
  for (int i = 0; i < b->pumps; i++) {
    pump *p = &b->pump[i];
    double pressure = b->y[b->signals + i];
    if (pressure > p->worst) p->beyond = true, p->worst = pressure, p->when = t;
  }
  od_run_laws_watch(b->laws, t, b->y + b->signals + b->pumps, od_sim_state(sim) + 2 * b->plant->nz);
}

static void add_pump_remark(const od_run_bounds *b, const pump *p, od_verdict *verdict) {
  const od_model *m = od_machine_model(b->machine);
  const od_instance *e = &m->instance[p->instance];
  const od_output *pressure = &m->output[p->output];
  char worst[80], most[80];
  snprintf(worst, sizeof worst, "%.79s", od_display_quantity(p->worst, pressure->unit).text);
  snprintf(most, sizeof most, "%.79s", od_display_quantity(p->bound / overshoot, pressure->unit).text);
  od_verdict_add(verdict, OD_DOUBTFUL, "pump.beyond", "Beyond a pump's control:",
                 "%s reaches %s at %.4g s. The %s %s delivers no flow from %s on, and the oil has no outlet: a relief "
                 "valve is missing, or another element pushes the oil back.",
                 pressure->name, worst, p->when, od_instance_class(e)->noun, e->name, most);
}

void od_run_bounds_add_remarks(const od_run_bounds *b, od_verdict *verdict) {
  int shown = 0;
  od_below_zero_add_remarks(od_machine_model(b->machine), b->signal, b->signals, verdict);
  od_run_laws_add_remarks(b->laws, verdict);
  for (int i = 0; i < b->pumps; i++)
    if (b->pump[i].beyond && shown++ < MOST_SHOWN) add_pump_remark(b, &b->pump[i], verdict);
  if (shown > MOST_SHOWN)
    od_verdict_add(verdict, OD_DOUBTFUL, "pump.beyond", "Beyond a pump's control:", "the same holds for %s.",
                   od_count(shown - MOST_SHOWN, "more pump").text);
}
