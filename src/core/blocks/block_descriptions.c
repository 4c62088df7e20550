// The table of descriptions, and properties that follow from a description and the spec of a block. This file is separate from the
// table of classes, so that a program that does not use descriptions is linked without them.
#include <stddef.h>
#include <string.h>

#include "base/formula.h"
#include "blocks/block_classes.h"
#include "blocks/block_list.h"

#define OD_DECLARE_DESCRIPTION(name) extern const od_block_description od_##name##_block_description;
OD_BLOCK_CLASSES(OD_DECLARE_DESCRIPTION)
#if OD_WITH_FOREIGN
extern const od_block_description od_foreign_block_description;
#define OD_FOREIGN_DESCRIPTION &od_foreign_block_description
#else
#define OD_FOREIGN_DESCRIPTION NULL
#endif
const od_block_description *const od_block_descriptions[] = {
#define OD_LIST_DESCRIPTION(name) &od_##name##_block_description,
    OD_BLOCK_CLASSES(OD_LIST_DESCRIPTION) OD_FOREIGN_DESCRIPTION};

// ---- specs

// Returns the choice that a key sets, or NULL.
static const od_block_choice *choice_of(const od_block_description *c, const char *key) {
  for (int i = 0; i < OD_MOST_BLOCK_CHOICES && c->choices[i].rule != OD_CHOICE_NONE; i++)
    if (strcmp(c->choices[i].key, key) == 0) return &c->choices[i];
  return NULL;
}

static bool is_known(const od_block_spec *s) {
  return s->block_class >= 0 && s->block_class < od_block_class_all();
}

bool od_block_choose(od_block_spec *spec, const char *key, int value) {
  const od_block_description *c = is_known(spec) ? od_block_description_of(spec) : NULL;
  const od_block_choice *choice = c ? choice_of(c, key) : NULL;
  if (choice) spec->choice[choice - c->choices] = value;
  return choice != NULL;
}

// Returns the first error of a law, or NULL.
static const char *law_problem(const od_block_spec *s) {
  const od_foreign_law *l = s->foreign;
  if (!l) return "has no law; foreign blocks are made by programs, with od_block_spec_of_law()";
  if (l->inputs < 0 || l->inputs > OD_MOST_BLOCK_INPUTS || s->inputs != l->inputs)
    return "has a law with a wrong number of inputs; expected 0 to 32, and the same number in the spec";
  if (l->outputs < 1 || l->outputs > OD_MOST_FOREIGN_OUTPUTS)
    return "has a law with a wrong number of outputs; expected 1 to 16";
  if (l->tokens < 0 || l->tokens > l->states || l->states + (s->sample > 0 ? l->outputs : 0) > OD_MOST_FOREIGN_STATES)
    return "has a law with a wrong number of states or tokens; expected at most 32 states with the held outputs of a sampled block, and at most as many tokens as states";
  if (l->numbers < 0 || l->numbers > OD_MOST_BLOCK_NUMBERS)
    return "has a law with a wrong number of numbers; expected 0 to 300";
  if (s->sample > 0 ? !l->sample : !l->values)
    return "has a law without the function that it needs; expected 'sample' for a sampled block, else 'values'";
  if (l->memory_size > 0 && (!l->save_memory || !l->restore_memory))
    return "has a law with 'memory_size' but without 'save_memory' or 'restore_memory'";
  if (l->margin && !l->switch_states) return "has a law with 'margin' but without 'switch_states'";
  return NULL;
}

const char *od_block_spec_problem(const od_block_spec *s) {
  if (!is_known(s)) return "has an unknown type";
  const od_block_description *c = od_block_description_of(s);
  int degree = -1;
  if (!(s->sample >= 0) || (s->sample > 0 && !od_block_can_be_sampled(c->equations)))
    return "cannot have this sampling period; expected a positive time in s for a class that can be sampled, else 0";
  if (c->equations->is_foreign) return law_problem(s);
  if (c->inputs[0].list && s->inputs < 1) return "has no inputs";
  for (int i = OD_MOST_BLOCK_CHOICES - 1; i >= 0; i--) {
    od_choice_rule rule = c->choices[i].rule;
    bool needed = (rule == OD_CHOICE_WHOLE && s->sample == 0) || (rule == OD_CHOICE_OF_SAMPLES && s->sample > 0);
    int least = rule == OD_CHOICE_ENTRIES ? 2 : needed ? 1 : 0;
    if (s->choice[i] < least)
      return least == 2   ? "has a table with fewer than 2 entries"
             : least == 1 ? "has an order, or a delay in samples, below 1"
                          : "has a choice below 0";
    if (c->choices[i].most > 0 && s->choice[i] > c->choices[i].most) return "has a choice above the limit of its key";
    if (rule != OD_CHOICE_DEGREE) continue;
    if (s->choice[i] > OD_MOST_BLOCK_ORDER) return "has a polynomial of a degree above 16";
    if (degree >= 0 && s->choice[i] > degree)
      return "is not proper: its numerator has a higher degree than its denominator";
    degree = s->choice[i];
  }
  return NULL;
}

// ---- counts

static int count_inputs(const od_block_spec *s) {
  const od_block_description *c = od_block_description_of(s);
  int count = 0;
  while (count < OD_MOST_INPUT_KEYS && c->inputs[count].key) count++;
  return c->inputs[0].list ? s->inputs : count;
}

static int count_outputs(const od_block_spec *s) {
  const od_block_description *c = od_block_description_of(s);
  int count = 0;
  if (c->equations->is_foreign) return s->foreign->outputs;
  while (count < OD_MOST_NAMED_OUTPUTS && c->outputs[count]) count++;
  return count;
}

static int own_states(const od_block_spec *s) {
  const od_block_class *c = od_block_class_of(s);
  return c->count_states ? c->count_states(s) : c->states;
}

bool od_block_gives(const od_block_spec *s, const char *key) {
  const od_block_description *c = od_block_description_of(s);
  const od_block_choice *choice = choice_of(c, key);
  return choice && s->choice[choice - c->choices];
}

// Returns the number of combinations of abscissae: each abscissa of the first input with each abscissa of the second input.
static int count_combinations(const od_block_spec *s) {
  const od_block_description *c = od_block_description_of(s);
  int count = 1;
  for (int i = 0; i < OD_MOST_BLOCK_CHOICES; i++)
    if (c->choices[i].rule == OD_CHOICE_ENTRIES) count *= s->choice[i];
  return count;
}

int od_block_count_field(const od_block_spec *s, const od_block_field *f) {
  const od_block_description *c = od_block_description_of(s);
  if (f->optional && !od_block_gives(s, f->key)) return 0;
  if (f->only_with && !od_block_gives(s, f->only_with)) return 0;
  if (f->instead_of_sample || (f->counts_samples && s->sample > 0)) return 0;
  switch (f->shape) {
    case OD_TWO_NUMBERS:
    case OD_BOUNDS: return 2;
    case OD_PER_INPUT: return s->inputs;
    case OD_NAMED:
    case OD_ABSCISSAE: return s->choice[choice_of(c, f->key) - c->choices];
    case OD_ORDINATES: return count_combinations(s);
    case OD_POLYNOMIAL: return s->choice[choice_of(c, f->key) - c->choices] + 1;
    default: return 1;
  }
}

// Returns the number of jumps within steps. Blocks with samples or modes jump only between steps: the result is 0.
static int count_jumps(const od_block_spec *s) {
  const od_block_description *c = od_block_description_of(s);
  if (c->equations->margin || s->sample > 0) return 0;
  return c->formula_key ? od_formula_jumps(&s->formula) : c->equations->jumps_at_zero;
}

od_block_counts od_block_count(const od_block_spec *s) {
  const od_block_description *c = od_block_description_of(s);
  int numbers = c->equations->is_foreign ? s->foreign->numbers : 0, outputs = count_outputs(s);
  for (int i = 0; i < OD_MOST_BLOCK_FIELDS && c->fields[i].key; i++) numbers += od_block_count_field(s, &c->fields[i]);
  return (od_block_counts){
      .numbers = numbers,
      .inputs = count_inputs(s),
      .states = own_states(s) + (s->sample > 0 ? outputs : 0),
      .outputs = outputs,
      .jumps = count_jumps(s),
  };
}

// ---- outputs and states

const char *od_block_output_name(const od_block_spec *s, int output) {
  const od_block_description *c = od_block_description_of(s);
  if (!c->equations->is_foreign) return c->outputs[output];
  return s->foreign->output_name ? s->foreign->output_name[output] : "";
}

const char *od_block_foreign_unit(const od_block_spec *s, int output) {
  return s->foreign && s->foreign->output_unit ? s->foreign->output_unit[output] : NULL;
}

const char *od_block_state_name(const od_block_spec *s, int state) {
  static const char *const holds[OD_MOST_FOREIGN_OUTPUTS] = {"held",   "held2",  "held3",  "held4",  "held5",  "held6",
                                                             "held7",  "held8",  "held9",  "held10", "held11", "held12",
                                                             "held13", "held14", "held15", "held16"};
  static const char *const several[OD_MOST_FOREIGN_STATES] = {
      "state1",  "state2",  "state3",  "state4",  "state5",  "state6",  "state7",  "state8",
      "state9",  "state10", "state11", "state12", "state13", "state14", "state15", "state16",
      "state17", "state18", "state19", "state20", "state21", "state22", "state23", "state24",
      "state25", "state26", "state27", "state28", "state29", "state30", "state31", "state32"};
  const od_block_description *c = od_block_description_of(s);
  int own = own_states(s);
  if (state >= own) return holds[state - own];
  if (s->foreign && s->foreign->state_name) return s->foreign->state_name[state];
  if (c->states_are_outputs) return NULL;
  if (state < OD_MOST_NAMED_STATES && c->state[state].name) return c->state[state].name;
  return own == 1 ? "state" : several[state];
}

const char *od_block_state_unit(const od_block_spec *s, int state, int *order) {
  const od_block_description *c = od_block_description_of(s);
  *order = 0;
  int own = own_states(s);
  const char *held = state >= own ? od_block_foreign_unit(s, state - own) : NULL;
  if (state >= own) return held ? held : OD_UNIT_OUT;
  if (s->foreign) return s->foreign->state_unit ? s->foreign->state_unit[state] : "1";
  if (state < OD_MOST_NAMED_STATES && c->state[state].name) return c->state[state].unit;
  *order = s->sample > 0 ? 0 : state;
  return c->states_are_outputs ? OD_UNIT_OUT : OD_UNIT_IN;
}
