// Signals of blocks that act on the mechanism and depend on quantities that an inverse run does not compute: states of blocks,
// pressures, states of elements. These signals keep their initial values.
#include "inverse/inverse_run.h"
#include "memory/scoped.h"
#include "model/outputs.h"

// Returns whether a measured output depends on a state of the circuit. mark: scratch, one entry per state.
static bool measure_is_kept(const od_model *m, int measure, bool *mark) {
  bool any = false;
  for (int i = 0; i < m->circuit_states; i++) mark[i] = false;
  od_output_mark_states(m, &m->measure[measure], mark);
  for (int i = 0; i < m->circuit_states; i++) any = any || mark[i];
  return any;
}

static bool block_is_kept(const od_model *m, const od_block *b, const bool *kept, bool *mark) {
  for (int k = 0; k < b->inputs; k++) {
    int source = m->block_line[b->line + k].source;
    if (source >= m->signals ? measure_is_kept(m, source - m->signals, mark) : source >= 0 && kept[source]) return true;
  }
  return b->states > 0;
}

// Marks the signals that depend on states of the circuit or of blocks, directly or through other blocks. Repeats passes until
// no mark changes.
static void mark_kept(const od_model *m, bool *kept, bool *mark) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < m->blocks; i++) {
      const od_block *b = &m->block[i];
      if (b->outputs == 0 || kept[b->signal] || !block_is_kept(m, b, kept, mark)) continue;
      for (int k = 0; k < b->outputs; k++) kept[b->signal + k] = true;
      changed = true;
    }
  }
}

// Marks the signals that act on the mechanism, except the signals of loads that are drives.
static void mark_acting(const od_model *m, const od_inverse_options *o, bool *acts) {
  for (int i = 0; i < m->loads; i++)
    if (m->load[i].input >= 0 && !od_drive_is_chosen(o, OD_DRIVE_LOAD, i)) acts[m->load[i].input] = true;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_class *c = od_instance_class(m, e);
    for (int k = 0; e->actuator >= 0 && k < c->ins; k++) {
      if (c->in[k].kind != OD_IN_SIGNAL) continue;
      int signal = c->in[k].index > 0 ? e->more_signals[c->in[k].index - 1] : e->signal;
      if (signal >= 0) acts[signal] = true;
    }
  }
}

static const char *signal_name(const od_model *m, int signal) {
  for (int i = 0; i < m->outputs; i++)
    if (m->output[i].kind == OD_OUT_INPUT && m->output[i].index == signal) return od_model_text(m, m->output[i].name);
  return "";
}

void od_kept_signals_judge(const od_model *m, const od_inverse_options *o, od_verdict *v) {
  if (m->blocks == 0) return;
  OD_SCRATCH(scratch);
  bool *kept = OD_TAKE(&scratch, bool, m->signals), *acts = OD_TAKE(&scratch, bool, m->signals),
       *mark = OD_TAKE(&scratch, bool, m->circuit_states);
  if (od_arena_status(&scratch) != OD_OK) {
    od_verdict_set_incomplete(v);
    return;
  }
  mark_kept(m, kept, mark);
  mark_acting(m, o, acts);
  for (int i = 0; i < m->signals; i++)
    if (kept[i] && acts[i])
      od_verdict_add(v, OD_DOUBTFUL, "signal.kept", "Initial signal kept:",
                     "'%s' acts on the mechanism and depends on states of blocks or of the oil, which inverse "
                     "dynamics does not compute. The signal keeps its initial value.",
                     signal_name(m, i));
}
