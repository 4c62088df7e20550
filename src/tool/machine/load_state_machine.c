// Loads state machines. The transitions of a state machine are compiled to one formula. The last two results of the formula are
// the margin of the nearest transition and the mode after this transition (blocks/state_machine.c).
#include <math.h>
#include <string.h>

#include "base/formula.h"
#include "document/suggest.h"
#include "machine/load_formula.h"
#include "machine/sections.h"

enum { MOST_TRANSITIONS = 64 };

static const od_key keys[] = {
    {"from", OD_TEXT, NULL, "state before the transition", .fallback = OD_REQUIRED},
    {"to", OD_TEXT, NULL, "state after the transition", .fallback = OD_REQUIRED},
    {"when", OD_TEXTS, NULL, "comparisons, all of which must hold", .otherwise = "required without `after`"},
    {"after", OD_NUMBER, "s", "shortest time in the state `from` before the transition",
     .otherwise = "required without `when`"},
};
const od_section_class od_transition_section = {"transition", "a transition between two states of a state machine",
                                                OD_KEYS(keys)};

// A growing list of operations. Operations beyond the limit are discarded, and an error is reported at the end.
typedef struct program {
  od_operation operation[OD_MOST_OPERATIONS];
  int count;
  bool full;
} program;

static int add(program *p, od_operation o) {
  if (p->count == OD_MOST_OPERATIONS) p->full = true;
  if (p->full) return 0;
  p->operation[p->count] = o;
  return p->count++;
}
static int add_two(program *p, od_operation_kind kind, int a, int b) {
  return add(p, (od_operation){.kind = kind, .a = a, .b = b});
}
static int add_number(program *p, double value) {
  return add(p, (od_operation){.kind = OD_OPERATION_NUMBER, .value = value});
}

// Appends the operations of an expression. Returns the index of the result.
static int add_expression(program *p, const od_expression *e) {
  int begin = p->count, last = 0;
  for (int i = 0; i < e->count; i++) {
    od_operation o = e->operation[i];
    int operands = od_operation_operands(o.kind);
    if (operands > 0) o.a += begin;
    if (operands > 1) o.b += begin;
    if (operands > 2) o.c += begin;
    last = add(p, o);
  }
  return last;
}

// State of the reader of one state machine. A margin is positive until its condition holds.
typedef struct machine_reader {
  od_loader *ld;
  od_loading_block *b;
  od_section section;
  od_formula_names names;
  const char *state[OD_MOST_MACHINE_STATES];
  int states, first_number;
  program p;
  struct {
    int from, to, margin;
  } transition[MOST_TRANSITIONS];
  int transitions;
  bool sound;
} machine_reader;

// Returns the index of the state whose name is given under a key, or -1 after reporting an error.
static int find_state(machine_reader *r, const od_section *section, const char *key) {
  int node = od_section_need(r->ld, section, key);
  const char *text = od_read_text(r->ld, node, key, "the name of a state");
  if (text == NULL) return -1;
  od_nearest nearest = od_nearest_to(text);
  for (int i = 0; i < r->states; i++) {
    if (strcmp(r->state[i], text) == 0) return i;
    od_nearest_try(&nearest, r->state[i]);
  }
  od_complain(r->ld, node, "%s has no state '%s'%s", r->b->what, od_excerpt(r->ld, text),
              od_nearest_suggestion(&nearest, NULL).text);
  return -1;
}

// Adds the margin of a comparison such as "x > 0.8 m". Returns the index of its operation, or -1 after reporting an error.
static int read_condition(machine_reader *r, int node) {
  od_expression e;
  const char *text = od_read_text(r->ld, node, "when", "a condition like \"x > 0.8 m\"");
  if (text == NULL) return -1;
  // The condition is parsed as if(a < b, ...). The first argument of this operation is negative where the condition holds or, for
  // <= and >=, where the condition does not hold.
  const char *call = od_format(r->ld, "if(%s, 1, 0)", text);
  if (!od_parse_formula(r->ld, node, "condition", call, (int)strlen("if("), text, &r->names, &e)) return -1;
  od_operation last = e.operation[e.count - 1];
  bool holds_below = e.operation[last.b].value == 1;
  e.count = last.a + 1;
  int difference = add_expression(&r->p, &e);
  return holds_below ? difference : add_two(&r->p, OD_OPERATION_NEGATE, difference, 0);
}

// Adds the margin of a time condition: the remaining time in s. Returns the index of its operation, or -1 after reporting an error.
static int read_after(machine_reader *r, int node) {
  od_expression e;
  if (!od_read_formula(r->ld, node, "after", &r->names, false, &e)) return -1;
  od_check_formula_unit(r->ld, node, &e, "s");
  int time = add(&r->p, (od_operation){.kind = OD_OPERATION_VARIABLE, .a = r->first_number - 1});
  return add_two(&r->p, OD_OPERATION_SUBTRACT, add_expression(&r->p, &e), time);
}

// Adds the margin of two conditions that must both hold: the larger of their margins. Returns the index of the operation. margin
// -1: there is no earlier condition. other -1: an error, which clears r->sound.
static int both(machine_reader *r, int margin, int other) {
  if (other < 0) r->sound = false;
  return margin < 0 || other < 0 ? other : add_two(&r->p, OD_OPERATION_MAX, margin, other);
}

static void read_transition(machine_reader *r, int node, int number) {
  od_loader *ld = r->ld;
  const char *what = od_format(ld, "transition %d of %s", number, r->b->what);
  od_section section = od_section_open(ld, node, node, "", what, &od_transition_section);
  int from = find_state(r, &section, "from"), to = find_state(r, &section, "to"), margin = -1;
  int when = od_section_get(ld, &section, "when"), after = od_section_get(ld, &section, "after");
  if (section.map >= 0 && when < 0 && after < 0 && !section.has_unknown)
    od_complain(ld, node, "%s needs 'when' (a condition) or 'after' (a time)", what);
  for (int at = od_list_first(ld, when); at >= 0; at = ld->tree.node[at].next)
    margin = both(r, margin, read_condition(r, od_entry(ld, at)));
  if (when >= 0 && !od_is_list(ld, when)) margin = both(r, margin, read_condition(r, when));
  if (after >= 0) margin = both(r, margin, read_after(r, after));
  r->sound = r->sound && from >= 0 && to >= 0 && margin >= 0;
  if (r->transitions == MOST_TRANSITIONS) return;
  r->transition[r->transitions].from = from;
  r->transition[r->transitions].to = to;
  r->transition[r->transitions++].margin = margin;
}

// Adds the margin of the nearest transition of a state, and returns the index of its operation. Without transitions
// this margin is always positive.
static int margin_in(machine_reader *r, int state) {
  int margin = -1;
  for (int i = 0; i < r->transitions; i++) {
    if (r->transition[i].from != state) continue;
    margin = margin < 0 ? r->transition[i].margin : add_two(&r->p, OD_OPERATION_MIN, margin, r->transition[i].margin);
  }
  return margin >= 0 ? margin : add_number(&r->p, 1);
}

// Adds the mode after the first due transition of a state, and returns the index of its operation. Without a due
// transition, the mode does not change.
static int next_in(machine_reader *r, int state) {
  int next = add_number(&r->p, state);
  for (int i = r->transitions - 1; i >= 0; i--) {
    if (r->transition[i].from != state) continue;
    int due = add_two(&r->p, OD_OPERATION_NEGATE, r->transition[i].margin, 0);
    int target = add_number(&r->p, r->transition[i].to);
    next = add(&r->p, (od_operation){.kind = OD_OPERATION_IF_NEGATIVE, .a = due, .b = next, .c = target});
  }
  return next;
}

// Adds a value that the mode selects from one value per state, and returns the index of its operation.
static int by_mode(machine_reader *r, int (*of_state)(machine_reader *r, int state)) {
  int result = of_state(r, r->states - 1);
  for (int i = r->states - 2; i >= 0; i--) {
    int value = of_state(r, i),
        mode = add(&r->p, (od_operation){.kind = OD_OPERATION_VARIABLE, .a = r->first_number - 2});
    int below = add_two(&r->p, OD_OPERATION_SUBTRACT, mode, add_number(&r->p, i + 0.5));
    result = add(&r->p, (od_operation){.kind = OD_OPERATION_IF_NEGATIVE, .a = below, .b = value, .c = result});
  }
  return result;
}

// Compiles the transitions to the formula of the block.
static void finish(machine_reader *r, int node) {
  int result[] = {by_mode(r, margin_in), by_mode(r, next_in)};
  int zero = add_number(&r->p, 0);
  for (int i = 0; i < 2; i++) add_two(&r->p, OD_OPERATION_ADD, result[i], zero);
  if (r->p.full)
    od_complain(r->ld, node, "the conditions of %s have more than %d operations; simplify the conditions", r->b->what,
                OD_MOST_OPERATIONS);
  else
    od_build_block_formula(r->ld->draft->build, r->b->index, (od_formula){r->p.count, r->p.operation});
}

// Reads 'states': the name and the output of each state. The outputs are numbers of the block.
static void read_states(machine_reader *r) {
  od_loader *ld = r->ld;
  int node = od_section_need(ld, &r->section, "states");
  const char *path = od_path(ld, r->section.path, "states");
  for (int key = od_first(ld, node, "states"); key >= 0; key = od_next(ld, key)) {
    if (r->states == OD_MOST_MACHINE_STATES) {
      od_complain(ld, key, "'%s' is state %d; a state machine has at most %d states", od_text_of(ld, key),
                  r->states + 1, OD_MOST_MACHINE_STATES);
      break;
    }
    const od_field field = {od_text_of(ld, key), r->b->unit != NULL ? r->b->unit : "1", OD_ANY, NAN};
    r->state[r->states++] = field.key;
    od_formula_name(&r->names, "", NULL);
    od_read_number(ld, od_value(ld, key), od_path(ld, path, field.key), &field, od_place_of(ld, od_value(ld, key)),
                   OD_IN_MODEL);
  }
  if (node >= 0 && r->states < 2)
    od_complain(ld, node, "%s has %d %s; expected at least two states", r->b->what, r->states,
                r->states == 1 ? "state" : "states");
}

void od_load_state_machine(od_loader *ld, od_loading_block *b) {
  const od_block_description *c = od_block_descriptions[b->block_class];
  const char *const known[] = {"type", "unit", c->inputs[0].key, "states", "parameters", c->formula_key, NULL};
  machine_reader r = {.ld = ld, .b = b, .names = {.ld = ld}, .sound = true};
  r.section = od_section_open_names(ld, b->map, b->key, b->path, b->what, known);
  if (b->index < 0) return;
  int before = od_messages_errors(ld->messages), first = ld->document->numbers.count, number = 1;
  if (!od_read_formula_inputs(ld, b, &r.section, c->inputs[0].key, &r.names)) r.sound = false;
  od_formula_name(&r.names, "", NULL);
  od_formula_name(&r.names, "time", "s");
  r.first_number = r.names.count;
  read_states(&r);
  od_read_formula_numbers(ld, &r.section, &r.names);
  int node = od_section_need(ld, &r.section, c->formula_key);
  if (node >= 0 && od_list_count(ld, node) == 0)
    od_complain(ld, node, "found %s; '%s' must be a list of {from: STATE, to: STATE, when: CONDITION}",
                od_describe(ld, node), c->formula_key);
  for (int at = od_list_first(ld, node); at >= 0; at = ld->tree.node[at].next)
    read_transition(&r, od_entry(ld, at), number++);
  if (number > MOST_TRANSITIONS + 1)
    od_complain(ld, node, "found %d transitions; a state machine has at most %d transitions", number - 1,
                MOST_TRANSITIONS);
  if (!r.sound || od_messages_errors(ld->messages) != before) return;
  finish(&r, node);
  od_build_block_numbers(ld->draft->build, b->index, od_number_theta(ld, first));
}

// --- States that depend on time, found before the block is read ---------------------------------------------------

// Returns whether a condition contains the word "time".
static bool has_time(const od_loader *ld, int node) {
  for (int at = od_list_first(ld, node); at >= 0; at = ld->tree.node[at].next)
    if (has_time(ld, od_entry(ld, at))) return true;
  for (const char *c = od_text_of(ld, node); *c != '\0';) {  // for a node without a text, od_text_of() returns ""
    size_t length = od_word_length(c);
    if (length == 4 && strncmp(c, "time", 4) == 0) return true;
    c += length > 0 ? length : 1;
  }
  return false;
}

int od_state_machine_timed(const od_loader *ld, int map) {
  int list = od_map_find(ld, map, "transitions"), states = od_map_find(ld, map, "states"), timed = 0, state = 0;
  for (int key = od_map_first(ld, states); key >= 0 && state < OD_MOST_MACHINE_STATES; key = od_next(ld, key), state++)
    for (int at = od_list_first(ld, list); at >= 0; at = ld->tree.node[at].next) {
      int transition = od_entry(ld, at), from = od_map_find(ld, transition, "from");
      bool here = od_is_text(ld, from) && strcmp(od_text_of(ld, from), od_text_of(ld, key)) == 0;
      if (here && (od_map_find(ld, transition, "after") >= 0 || has_time(ld, od_map_find(ld, transition, "when"))))
        timed |= 1 << state;
    }
  return timed;
}
