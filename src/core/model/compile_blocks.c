// Compiles blocks: their indices among signals and first-order states, their measured quantities, the order of evaluation, and the
// signals that act on the rest of the machine.
//
// A block has direct feedthrough if its output depends on an input without a state in between. Outputs are evaluated in an order in
// which every block comes after all blocks on which it depends by feedthrough. If there is no such order, the blocks form an
// algebraic loop.
#include <string.h>

#include "base/text.h"
#include "model/builder.h"
#include "model/outputs.h"

// ---- names

void od_rate_unit(const char *unit, int order, char *text, size_t size) {
  size_t length = strlen(unit);
  bool per_second = length > 2 && strcmp(unit + length - 2, "/s") == 0, bare = !strpbrk(unit, " /");
  if (per_second) order++, length -= 2;
  char power[16] = "";
  if (order > 1) od_text_format(power, sizeof power, "%d", order);
  od_text_format(text, size, per_second || bare ? "%.*s/s%s" : "(%.*s)/s%s", (int)length, unit, power);
}

// ---- signals and states

// Sets names and units of the signals of all blocks. The second output of a block is the rate of its first output. Returns false
// if an allocation fails.
static bool name_signals(od_model *m, od_arena *arena) {
  od_input *table = od_arena_take(arena, (size_t)(m->signals + 1) * sizeof *table);
  if (!table) return false;
  if (m->inputs) memcpy(table, m->input, (size_t)m->inputs * sizeof *table);
  m->input = table;
  for (int i = 0; i < m->blocks; i++)
    for (int k = 0; k < m->block[i].outputs; k++) {
      const od_block *block = &m->block[i];
      const char *label = od_block_output_name(&m->spec[i], k), *own = od_block_foreign_unit(&m->spec[i], k);
      const char *name = od_arena_format(arena, "%s%s%s", od_model_text(m, block->name), *label ? "." : "", label);
      char rate[80];
      od_rate_unit(od_model_text(m, block->unit), k, rate, sizeof rate);
      if (!name) return false;
      bool is_rate = k > 0 && !od_block_class_of(&m->spec[i])->is_foreign;
      int unit = own ? od_model_add_text(m, arena, own) : is_rate ? od_model_add_text(m, arena, rate) : block->unit;
      table[block->signal + k] = (od_input){od_model_add_text(m, arena, name), unit, 0};
    }
  return !arena->exhausted;
}

bool od_compile_block_signals(od_model *m, od_arena *arena) {
  m->states = m->circuit_states;
  for (int i = 0; i < m->blocks; i++) {
    m->block[i].state = m->states;
    m->states += m->block[i].states;
  }
  m->c0 = od_arena_take(arena, (size_t)(m->states + 1) * sizeof *m->c0);
  return m->c0 && (m->blocks == 0 || name_signals(m, arena));
}

// ---- measured quantities

static bool follows_signal(const od_model *m, int node) {
  return m->node[node].kind == OD_NODE_SOURCE && m->node[node].input >= 0;
}

// Returns the reason why the outputs of an instance do not depend on states alone, or NULL if they do. The reason is a signal that
// acts on the instance or on a pressure at one of its ends.
static const char *instance_refusal(const od_model *m, const od_instance *e) {
  if (e->signal >= 0) return "the element follows a signal";
  for (int k = 0; k < OD_MORE_SIGNALS; k++)
    if (e->more_signals[k] >= 0) return "the element follows a signal";
  for (int k = 0; k < OD_MOST_ENDS; k++)
    if (e->end[k] >= 0 && follows_signal(m, e->end[k])) return "a chamber's pressure follows a signal";
  return NULL;
}

static const char *force_refusal(const od_model *m, int actuator) {
  for (int i = 0; i < m->instances; i++) {
    const char *why = m->instance[i].actuator == actuator ? instance_refusal(m, &m->instance[i]) : NULL;
    if (why) return why;
  }
  return NULL;
}

const char *od_model_measure_refusal(const od_model *m, const od_output *o) {
  static const char only[] =
      "only functions of the states can be measured: positions, rates, lengths, pressures, spools, forces of springs "
      "and cylinders";
  static const char at_junction[] =
      "the pressure of a junction depends directly on the valves; measure the pressure of a volume";
  switch (o->kind) {
    case OD_OUT_NODE_PRESSURE:
      if (m->node[o->index].junction >= 0) return at_junction;
      return follows_signal(m, o->index) ? "the pressure follows a signal; use this signal instead" : NULL;
    case OD_OUT_PRESSURE_DIFFERENCE:
      if (m->node[o->index].junction >= 0 || m->node[o->second].junction >= 0) return at_junction;
      return follows_signal(m, o->index) || follows_signal(m, o->second) ? "one of the two pressures follows a signal"
                                                                         : NULL;
    case OD_OUT_ELEMENT_STATE:
      return m->instance[o->index].state[o->component] < 0
                 ? "the spool equals the command; use the signal of the command instead"
                 : NULL;
    case OD_OUT_FORCE: return force_refusal(m, o->index);
    case OD_OUT_ELEMENT: {  // output of an element that acts on the mechanism
      if (o->index < 0) return NULL;
      const od_instance *e = &m->instance[o->index];
      return e->actuator >= 0 ? instance_refusal(m, e) : only;
    }
    case OD_OUT_COORDINATE_ACCELERATION:
    case OD_OUT_POINT_ACCELERATION:
    case OD_OUT_POINT_BODY_ACCELERATION:
    case OD_OUT_POINT_SPECIFIC_FORCE:
    case OD_OUT_BODY_TURN_ACCELERATION:
    case OD_OUT_BODY_GYRO_RATE: return "accelerations depend directly on the forces; measure a position or a rate";
    default: return od_output_is_measurable(o->kind) ? NULL : only;
  }
}

static int add_measure(od_model *m, const od_output *o) {
  for (int i = 0; i < m->measures; i++)
    if (m->measure[i].kind == o->kind && m->measure[i].index == o->index && m->measure[i].component == o->component &&
        m->measure[i].second == o->second)
      return m->signals + i;
  m->measure[m->measures] = *o;
  return m->signals + m->measures++;
}

// Finds the measured quantities of all blocks. Reports quantities that do not exist or cannot be measured.
static void find_measures(od_build *b, od_model *m) {
  for (int i = 0; i < m->blocks; i++)
    for (int k = 0; k < m->block[i].inputs; k++) {
      od_block_line *line = &m->block_line[m->block[i].line + k];
      if (!line->quantity) continue;
      const char *block = od_model_text(m, m->block[i].name), *quantity = od_model_text(m, line->quantity);
      int output = od_model_output_find(m, quantity);
      const char *why = output >= 0 ? od_model_measure_refusal(m, &m->output[output]) : NULL;
      if (output < 0)
        od_build_report(b, OD_ABOUT_BLOCK, i,
                        "block '%s' measures '%s', but there is no such quantity; "
                        "expected the name of an output of the model",
                        block, quantity);
      else if (why)
        od_build_report(b, OD_ABOUT_BLOCK, i, "block '%s' cannot measure '%s': %s", block, quantity, why);
      else
        line->source = add_measure(m, &m->output[output]);
      line->quantity = 0;
    }
}

// ---- the order of evaluation

// Returns the block of a signal. Blocks and their signals are in the same order.
static int block_of_signal(const od_model *m, int signal) {
  int low = 0, high = m->blocks - 1;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (m->block[middle].signal <= signal)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

// Returns the block that must be evaluated before block `which` because of its k-th input, or -1.
static int waits_for(const od_model *m, int which, int k, bool sampling) {
  const od_block *block = &m->block[which];
  int source = m->block_line[block->line + k].source;
  return od_block_passes_on(&m->spec[which], sampling) && source >= m->inputs && source < m->signals
             ? block_of_signal(m, source)
             : -1;
}

// Returns the first remaining block on which block `at` depends directly, or `at` if there is no such block.
static int next_remaining(const od_model *m, const bool *done, int at) {
  for (int k = 0; k < m->block[at].inputs; k++) {
    int before = waits_for(m, at, k, false);
    if (before >= 0 && !done[before]) return before;
  }
  return at;
}

// Reports a loop among the remaining blocks. Each remaining block depends on another remaining block. Therefore, after
// as many steps along the dependencies from `first` as there are blocks, the block is part of a loop. The message
// begins and ends with the same block.
static void report_loop(od_build *b, const od_model *m, const bool *done, int first) {
  enum { LISTED = 64, MOST_TEXT = 240 };
  int way[LISTED], length = 0, at = first;
  for (int i = 0; i < m->blocks; i++) at = next_remaining(m, done, at);
  first = at;
  for (int i = 0; i < m->blocks; i++) {
    at = next_remaining(m, done, at);
    if (at < first) first = at;
  }
  at = first;
  do {
    way[length++] = at;
    at = next_remaining(m, done, at);
  } while (at != first && length < LISTED);
  // Signals flow in the opposite direction of the dependencies.
  char text[MOST_TEXT + 80];
  size_t used = 0;
  int i = length - 1;
  for (; i >= 0 && used < MOST_TEXT; i--)
    used += od_text_format(text + used, sizeof text - used, "%.60s -> ", od_model_text(m, m->block[way[i]].name));
  od_build_report(
      b, OD_ABOUT_BLOCK, way[length - 1],
      "%s%s%s is an algebraic loop: each output depends directly on the output before it; add a block with a state, "
      "such as a lag, to the loop",
      text, i >= 0 || at != first ? "... -> " : "", od_model_text(m, m->block[way[length - 1]].name));
}

static bool is_ready(const od_model *m, int which, bool sampling, const bool *done) {
  for (int k = 0; k < m->block[which].inputs; k++) {
    int before = waits_for(m, which, k, sampling);
    if (before >= 0 && !done[before]) return false;
  }
  return true;
}

// Finds the order of evaluation. Reports an algebraic loop and returns false if no order exists.
static bool find_order(od_build *b, od_model *m, bool *done) {
  int count = 0;
  for (bool found = true; found && count < m->blocks;) {
    found = false;
    for (int i = 0; i < m->blocks; i++) {
      if (done[i] || !is_ready(m, i, false, done)) continue;
      m->block_order[count++] = i;
      done[i] = found = true;
    }
  }
  for (int i = 0; i < m->blocks && count < m->blocks; i++)
    if (!done[i]) {
      report_loop(b, m, done, i);
      return false;
    }
  return true;
}

// Marks blocks that have an input from a block evaluated later.
static void find_late_blocks(od_model *m, bool *done) {
  for (int i = 0; i < m->blocks; i++) done[i] = false;
  for (int i = 0; i < m->blocks; i++) {
    od_block *block = &m->block[m->block_order[i]];
    for (int k = 0; k < block->inputs; k++) {
      int source = m->block_line[block->line + k].source;
      if (source >= m->inputs && source < m->signals && !done[block_of_signal(m, source)]) block->late = true;
    }
    done[m->block_order[i]] = true;
  }
}

// Finds the order in which sampled blocks run. In a loop of sampled blocks, the first block in the file reads the
// previous output of the last block. Also places the memory of sampled delays.
static void find_sample_order(od_model *m, bool *done) {
  for (int i = 0; i < m->blocks; i++) done[i] = false;
  for (int count = 0; count < m->blocks; count++) {
    int next = -1;
    for (int i = 0; i < m->blocks && next < 0; i++)
      if (!done[i] && is_ready(m, i, true, done)) next = i;
    for (int i = 0; i < m->blocks && next < 0; i++)
      if (!done[i]) next = i;
    done[next] = true;
    if (m->block[next].sample > 0) m->sampler[m->samplers++] = next;
  }
  for (int i = 0; i < m->blocks; i++) {
    od_block *block = &m->block[i];
    const od_block_class *c = od_block_class_of(&m->spec[i]);
    block->ring = m->rings;
    block->samples = c->remembers && block->sample > 0 ? block->choice[c->samples_choice] : 0;
    if (block->samples > 0) m->rings += 1 + block->samples;
  }
}

// ---- signals that act on the machine

static void add_drive(od_model *m, int signal) {
  if (signal < m->inputs) return;
  for (int i = 0; i < m->drives; i++)
    if (m->drive[i] == signal) return;
  m->drive[m->drives++] = signal;
}

static void find_drives(od_model *m) {
  for (int i = 0; i < m->loads; i++) add_drive(m, m->load[i].input);
  for (int i = 0; i < m->nodes; i++) add_drive(m, m->node[i].input);
  for (int i = 0; i < m->instances; i++) {
    add_drive(m, m->instance[i].signal);
    for (int k = 0; k < OD_MORE_SIGNALS; k++) add_drive(m, m->instance[i].more_signals[k]);
  }
}

// Assigns the places of the derivatives of each block in the work memory: outputs and rates with respect to states and
// inputs.
static void place_slopes(od_model *m) {
  for (int i = 0; i < m->blocks; i++) {
    od_block *block = &m->block[i];
    block->slope = m->block_slopes;
    m->block_slopes += (block->outputs + block->states) * (block->states + block->inputs);
  }
}

bool od_compile_blocks(od_build *b, od_model *m, od_arena *arena) {
  if (m->blocks == 0) return true;
  m->measure = od_arena_take(arena, (size_t)(m->block_lines + 1) * sizeof *m->measure);
  m->block_order = od_arena_take(arena, (size_t)m->blocks * sizeof *m->block_order);
  m->drive = od_arena_take(arena, (size_t)(m->signals + 1) * sizeof *m->drive);
  m->sampler = od_arena_take(arena, (size_t)m->blocks * sizeof *m->sampler);
  m->block_switcher = od_arena_take(arena, (size_t)m->blocks * sizeof *m->block_switcher);
  bool *done = od_arena_take(arena, (size_t)m->blocks * sizeof *done);
  if (!m->measure || !m->block_order || !m->drive || !m->sampler || !m->block_switcher || !done) return false;
  for (int i = 0; i < m->blocks; i++)
    if (od_block_has_modes(&m->spec[i])) m->block_switcher[m->block_switchers++] = i;
  find_measures(b, m);
  if (find_order(b, m, done)) find_late_blocks(m, done);
  find_sample_order(m, done);
  find_drives(m);
  place_slopes(m);
  return true;
}

const char *od_model_law_failure(const od_model *m, const char **block) {
  for (int i = 0; i < m->blocks; i++) {
    const od_foreign_law *law = m->spec[i].foreign;
    const char *text = law && law->failure ? law->failure(law->context) : NULL;
    if (text && block) *block = od_model_text(m, m->block[i].name);
    if (text) return text;
  }
  return NULL;
}

bool od_model_is_linear(const od_model *m) {
  if (m->coordinates > 0 || m->nodes > 0 || m->instances > 0 || m->blocks == 0) return false;
  for (int i = 0; i < m->blocks; i++)
    if (!od_block_is_linear(&m->spec[i])) return false;
  return true;
}
