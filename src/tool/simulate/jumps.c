#include "simulate/jumps.h"

#include "base/scalar_x.h"
#include "elements/elements.h"
#include "math/spline_x.h"
#include "model/outputs.h"

static bool formula_jumps(const od_formula *f) {
  for (int i = 0; i < f->count; i++)
    if (f->operation[i].kind == OD_OPERATION_SIGN || f->operation[i].kind == OD_OPERATION_IF_NEGATIVE) return true;
  return false;
}

// Blocks with modes are located; sampled ones jump between steps anyway.
static bool block_jumps(const od_model *m, const od_block *b) {
  const od_block_class *c = od_block_class_of(&b->spec);
  if (c->margin || b->spec.sample > 0) return false;
  return c->jumps || (c->jumps_at_zero && m->theta[b->number] == 0) ||
         (c->formula_key && formula_jumps(&b->spec.formula));
}

// A port is shut up to a travel of zero and follows its curve beyond. A curve that is a flow coefficient is multiplied by the travel, so that it may
// begin with any value.
static bool port_jumps(const od_model *m, const od_instance *port) {
  static const double rounding = 1e-9;  // of the value that is fully open
  if (!od_instance_class(port)->has_curve || port->choice[OD_PORT_LAW] == OD_VALVE_COEFFICIENT) return false;
  int count = port->choice[OD_PORT_COUNT];
  const double *at = m->theta + port->number + od_port_class.field_count;
  curve_point_r begin = {0};
  curve_evaluate_r(port->choice[OD_PORT_DEGREE], count, at, at + count, 0, &begin);
  return begin.y > rounding * m->theta[m->instance[port->host].number + OD_VALVE_FULL];
}

const od_instance *od_model_port_that_jumps(const od_model *m) {
  for (int i = 0; i < m->instances; i++)
    if (port_jumps(m, &m->instance[i])) return &m->instance[i];
  return NULL;
}

bool od_model_laws_jump(const od_model *m) {
  for (int i = 0; i < m->blocks; i++)
    if (block_jumps(m, &m->block[i])) return true;
  for (int i = 0; i < m->instances; i++)
    if (od_instance_class(&m->instance[i])->formula_key && formula_jumps(&m->instance[i].formula)) return true;
  return false;
}

bool od_model_has_jumps(const od_model *m) {
  return od_model_laws_jump(m) || od_model_port_that_jumps(m);
}

// The pressure of a junction follows at once from what is around it, and jumps with that.
static bool is_junction(const od_model *m, int node) {
  return node >= 0 && m->node[node].junction >= 0;
}

bool od_output_is_continuous(const od_model *m, const od_output *o) {
  od_output_reads reads = od_output_reads_of(o->kind);
  if (reads == OD_READS_MOTION || o->kind == OD_OUT_BLOCK_STATE) return true;
  if (reads == OD_READS_NODES)
    return !is_junction(m, o->index) && !(o->kind == OD_OUT_PRESSURE_DIFFERENCE && is_junction(m, o->second));
  for (int i = 0; o->kind == OD_OUT_INPUT && i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    if (o->index < b->signal || o->index >= b->signal + b->outputs) continue;
    return b->states > 0 && b->spec.sample == 0 && !od_block_class_of(&b->spec)->margin &&
           !od_block_passes_on(&b->spec, false);
  }
  return false;
}
