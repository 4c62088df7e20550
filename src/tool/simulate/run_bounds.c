#include "simulate/run_bounds.h"

#include <math.h>
#include <stdlib.h>

#include "integrate/sim_block.h"
#include "io/display.h"
#include "machine/machine.h"
#include "model/model.h"

enum { MOST_SHOWN = 6 };          // elements with a remark of their own
static const double far = 1.2;    // times the pressure at which a pump delivers nothing: no overshoot any more
static const double none = 1e-9;  // of 1: a signal so little below zero is rounding

typedef enum kind { BELOW_ZERO, ABOVE_SHUT_OFF } kind;

typedef struct watched {
  kind kind;
  int instance, field;
  int output;          // of the machine
  double bound;        // of the output
  double first;        // when it was beyond at first, s; NAN: never
  double worst, when;  // the value farthest beyond, and when
} watched;

struct od_run_bounds {
  const od_machine *machine;
  od_plant *plant;  // the same machine with the outputs that are watched; NULL: none are
  watched *item;
  int count;
  double *y;
};

static int find_output(const od_model *m, od_output_kind what, int index) {
  for (int i = 0; i < m->outputs; i++)
    if (m->output[i].kind == what && m->output[i].index == index) return i;
  return -1;
}

static void add(od_run_bounds *b, watched w) {
  if (w.output < 0) return;
  w.first = NAN;
  w.worst = w.bound;
  b->item[b->count++] = w;
}

static void add_instance(od_run_bounds *b, const od_model *m, int i) {
  const od_instance *e = &m->instance[i];
  const od_element_class *c = od_instance_class(e);
  for (int f = 0; f < c->field_count && e->signal >= 0; f++)
    if (c->fields[f].below_zero)
      add(b, (watched){BELOW_ZERO, i, f, find_output(m, OD_OUT_INPUT, e->signal), .bound = -none});
  if (c->shut_off.field > 0)
    add(b,
        (watched){ABOVE_SHUT_OFF, i, c->shut_off.field, find_output(m, OD_OUT_NODE_PRESSURE, e->end[c->shut_off.end]),
                  .bound = far * (m->theta[e->number + c->shut_off.field] + m->theta[e->number + c->shut_off.range])});
}

od_status od_run_bounds_new(const od_machine *machine, od_run_bounds **out, od_error *err) {
  const od_model *m = od_machine_model(machine);
  size_t most = 2 * (size_t)m->instances + 1;
  od_run_bounds *b = *out = calloc(1, sizeof *b);
  int *output = calloc(most, sizeof *output);
  od_status status = b && output ? OD_OK : OD_NO_MEMORY;
  if (status == OD_OK) {
    b->machine = machine;
    b->item = calloc(most, sizeof *b->item);
    b->y = calloc(most, sizeof *b->y);
    if (!b->item || !b->y) status = OD_NO_MEMORY;
  }
  for (int i = 0; status == OD_OK && i < m->instances; i++) add_instance(b, m, i);
  if (status == OD_NO_MEMORY) od_fail(err, status, "memory ran out");
  for (int i = 0; status == OD_OK && i < b->count; i++) output[i] = b->item[i].output;
  if (status == OD_OK && b->count > 0) status = od_machine_plant(machine, output, b->count, NULL, 0, &b->plant, err);
  free(output);
  return status;
}

void od_run_bounds_free(od_run_bounds *b) {
  if (!b) return;
  od_plant_free(b->plant);
  free(b->item);
  free(b->y);
  free(b);
}

// Plants of one machine have the same work memory, whatever their outputs.
void od_run_bounds_watch(od_run_bounds *b, double t, od_sim *sim) {
  if (!b->plant || b->plant->ops->outputs(b->plant, od_sim_work(sim), od_sim_energy(sim), b->y) != OD_OK) return;
  for (int i = 0; i < b->count; i++) {
    watched *w = &b->item[i];
    bool beyond = w->kind == BELOW_ZERO ? b->y[i] < w->worst : b->y[i] > w->worst;
    if (!beyond) continue;
    if (isnan(w->first)) w->first = t;
    w->worst = b->y[i];
    w->when = t;
  }
}

// Frictions have the name of what they belong to.
static const char *name_of(const od_model *m, const od_instance *e) {
  if (e->name[0]) return e->name;
  return e->host >= 0 ? m->instance[e->host].name : e->joint >= 0 ? m->joint[e->joint].name : "";
}

static bool add_remark(const od_run_bounds *b, const watched *w, od_verdict *verdict) {
  const od_model *m = od_machine_model(b->machine);
  const od_instance *e = &m->instance[w->instance];
  const od_element_class *c = od_instance_class(e);
  char worst[80];
  const char *unit = m->output[w->output].unit, *signal = m->output[w->output].name;
  snprintf(worst, sizeof worst, "%.79s", od_display_quantity(w->worst, unit).text);
  if (w->kind == BELOW_ZERO)
    return od_verdict_add(verdict, OD_DOUBTFUL, "signal.below_zero", "Signal below zero:",
                          "'%s', which is the %s of the %s of %s, is negative from %.4g s on, at %.4g s %s: %s.",
                          signal, c->fields[w->field].key, c->noun, name_of(m, e), w->first, w->when, worst,
                          c->fields[w->field].below_zero);
  char most[80];
  snprintf(most, sizeof most, "%.79s", od_display_quantity(w->bound / far, unit).text);
  return od_verdict_add(
      verdict, OD_DOUBTFUL, "pump.beyond", "Beyond a pump's control:",
      "%s reaches %s at %.4g s. The %s %s delivers nothing from %s on, and nothing lets the oil go: a relief valve "
      "is missing, or something else pushes the oil back.",
      signal, worst, w->when, c->noun, name_of(m, e), most);
}

bool od_run_bounds_add_remarks(const od_run_bounds *b, od_verdict *verdict) {
  int shown = 0;
  bool ok = true;
  for (int i = 0; i < b->count && ok; i++)
    if (!isnan(b->item[i].first) && shown++ < MOST_SHOWN) ok = add_remark(b, &b->item[i], verdict);
  if (!ok || shown <= MOST_SHOWN) return ok;
  return od_verdict_add(verdict, OD_DOUBTFUL, "signal.below_zero", "Beyond bounds:", "%d more elements are so.",
                        shown - MOST_SHOWN);
}
