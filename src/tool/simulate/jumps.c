#include "simulate/jumps.h"

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

bool od_model_has_jumps(const od_model *m) {
  for (int i = 0; i < m->blocks; i++)
    if (block_jumps(m, &m->block[i])) return true;
  for (int i = 0; i < m->instances; i++)
    if (od_instance_class(&m->instance[i])->formula_key && formula_jumps(&m->instance[i].formula)) return true;
  return false;
}

bool od_output_is_continuous(const od_model *m, const od_output *o) {
  od_output_reads reads = od_output_reads_of(o->kind);
  if (reads == OD_READS_MOTION || reads == OD_READS_NODES || o->kind == OD_OUT_BLOCK_STATE) return true;
  for (int i = 0; o->kind == OD_OUT_INPUT && i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    if (o->index < b->signal || o->index >= b->signal + b->outputs) continue;
    return b->states > 0 && b->spec.sample == 0 && !od_block_class_of(&b->spec)->margin &&
           !od_block_passes_on(&b->spec, false);
  }
  return false;
}
