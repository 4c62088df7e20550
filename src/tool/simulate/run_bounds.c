#include "simulate/run_bounds.h"

#include <math.h>
#include <stdlib.h>

#include "integrate/sim_block.h"
#include "io/display.h"
#include "machine/below_zero.h"
#include "machine/machine.h"
#include "simulate/run_laws.h"

enum { MOST_SHOWN = 6 };        // pumps that get a remark each
static const double far = 1.2;  // times the pressure at which a pump delivers no flow: no overshoot

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
  double bound = far * (m->theta[e->number + c->shut_off.field] + m->theta[e->number + c->shut_off.range]);
  if (output >= 0) b->pump[b->pumps++] = (pump){.instance = i, .output = output, .bound = bound, .worst = bound};
}

static bool allocate(od_run_bounds *b, const od_model *m) {
  b->signals = od_below_zero_list(m, NULL);
  b->signal = calloc((size_t)b->signals + 1, sizeof *b->signal);
  b->pump = calloc((size_t)m->instances + 1, sizeof *b->pump);
  b->laws = od_run_laws_new(m);
  if (!b->laws) return false;
  b->y = calloc((size_t)(b->signals + m->instances + od_run_laws_outputs(b->laws, NULL)) + 1, sizeof *b->y);
  return b->signal && b->pump && b->y;
}

static od_status make_plant(od_run_bounds *b, const od_model *m, od_error *err) {
  int count = b->signals + b->pumps + od_run_laws_outputs(b->laws, NULL);
  if (count == 0) return OD_OK;
  int *output = calloc((size_t)count, sizeof *output);
  if (!output) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < b->signals; i++) output[i] = find_output(m, OD_OUT_INPUT, b->signal[i].signal);
  for (int i = 0; i < b->pumps; i++) output[b->signals + i] = b->pump[i].output;
  od_run_laws_outputs(b->laws, output + b->signals + b->pumps);
  od_status status = od_machine_plant(b->machine, output, count, NULL, 0, &b->plant, err);
  free(output);
  return status;
}

od_status od_run_bounds_new(const od_machine *machine, od_run_bounds **out, od_error *err) {
  const od_model *m = od_machine_model(machine);
  od_run_bounds *b = *out = calloc(1, sizeof *b);
  if (!b || !allocate(b, m)) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  b->machine = machine;
  od_below_zero_list(m, b->signal);
  for (int i = 0; i < m->instances; i++) add_pump(b, m, i);
  return make_plant(b, m, err);
}

void od_run_bounds_free(od_run_bounds *b) {
  if (!b) return;
  od_plant_free(b->plant);
  od_run_laws_free(b->laws);
  free(b->signal);
  free(b->pump);
  free(b->y);
  free(b);
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

static bool add_pump_remark(const od_run_bounds *b, const pump *p, od_verdict *verdict) {
  const od_model *m = od_machine_model(b->machine);
  const od_instance *e = &m->instance[p->instance];
  const od_output *pressure = &m->output[p->output];
  char worst[80], most[80];
  snprintf(worst, sizeof worst, "%.79s", od_display_quantity(p->worst, pressure->unit).text);
  snprintf(most, sizeof most, "%.79s", od_display_quantity(p->bound / far, pressure->unit).text);
  return od_verdict_add(
      verdict, OD_DOUBTFUL, "pump.beyond", "Beyond a pump's control:",
      "%s reaches %s at %.4g s. The %s %s delivers nothing from %s on, and nothing lets the oil go: a relief valve "
      "is missing, or something else pushes the oil back.",
      pressure->name, worst, p->when, od_instance_class(e)->noun, e->name, most);
}

bool od_run_bounds_add_remarks(const od_run_bounds *b, od_verdict *verdict) {
  bool ok = od_below_zero_add_remarks(od_machine_model(b->machine), b->signal, b->signals, verdict) &&
            od_run_laws_add_remarks(b->laws, verdict);
  int shown = 0;
  for (int i = 0; i < b->pumps && ok; i++)
    if (b->pump[i].beyond && shown++ < MOST_SHOWN) ok = add_pump_remark(b, &b->pump[i], verdict);
  if (!ok || shown <= MOST_SHOWN) return ok;
  return od_verdict_add(verdict, OD_DOUBTFUL, "pump.beyond", "Beyond a pump's control:", "%d more pumps are so.",
                        shown - MOST_SHOWN);
}
