#include "machine/load_formula.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "document/constants.h"
#include "document/suggest.h"

// --- Names --------------------------------------------------------------------------------------------------------

void od_formula_name(od_formula_names *names, const char *name, const char *unit) {
  if (names->count == OD_MOST_FORMULA_NAMES) return;
  names->name[names->count] = name;
  names->unit[names->count++] = unit;
}

static bool is_taken(const od_formula_names *names, const char *name) {
  for (int i = 0; i < names->count; i++)
    if (strcmp(names->name[i], name) == 0) return true;
  return false;
}

static bool is_reserved(const char *name) {
  for (const od_expression_function *f = od_expression_functions; f->name != NULL; f++)
    if (strcmp(f->name, name) == 0) return true;
  return strcmp(name, "pi") == 0;
}

// Adds the name under a key of the file. If the name is not allowed, reports an error and returns false.
static bool add_key(od_formula_names *names, int key, const char *unit) {
  const char *name = od_text_of(names->ld, key);
  bool sound = od_is_letter(name[0]) && name[od_word_length(name)] == '\0';
  if (!sound)
    od_complain(
        names->ld, key,
        "'%s' cannot be a name in a formula; a name consists of letters, digits and '_' and starts with a letter",
        od_excerpt(names->ld, name));
  else if (is_reserved(name))
    od_complain(names->ld, key, "the name '%s' is reserved; choose another name", name);
  else if (is_taken(names, name))
    od_complain(names->ld, key, "the name '%s' is already used; choose another name", name);
  sound = sound && !is_reserved(name) && !is_taken(names, name);
  od_formula_name(names, sound ? name : "", unit);
  return sound;
}

static const char *name_at(const void *user, int i) {
  return ((const od_formula_names *)user)->name[i];
}
// Callback of the parser: returns the SI unit of variable i. Returns "?", which is no unit, for a variable without a unit in the
// file: the parser then accepts the variable in place of any unit.
static const char *unit_at(const void *user, int i) {
  const char *unit = ((const od_formula_names *)user)->unit[i];
  return unit != NULL ? unit : "?";
}

// --- Numbers ------------------------------------------------------------------------------------------------------

const char *od_formula_number_unit(od_loader *ld, int node) {
  if (!od_is_text(ld, node)) return NULL;
  const char *unit = od_text_unit(ld, od_place_of(ld, node), od_text_of(ld, node));
  double power[OD_UNIT_BASES];
  od_conversion conversion;
  if (unit[0] == '\0' || !od_units_base(ld->units, unit, &conversion, power)) return NULL;
  return od_unit_of_powers(ld, power);
}

int od_read_formula_numbers(od_loader *ld, const od_section *section, od_formula_names *names) {
  int first = ld->document->numbers.count, node = od_section_get(ld, section, "parameters"), count = 0;
  const char *path = od_path(ld, section->path, "parameters");
  for (int key = od_first(ld, node, "parameters"); key >= 0; key = od_next(ld, key)) {
    if (count++ == OD_MOST_FORMULA_NUMBERS) {
      od_complain(ld, key, "'%s' is parameter %d; a formula has at most %d parameters", od_text_of(ld, key), count,
                  OD_MOST_FORMULA_NUMBERS);
      break;
    }
    int value = od_value(ld, key);
    const char *unit = od_formula_number_unit(ld, value);
    const od_field field = {od_text_of(ld, key), unit != NULL ? unit : "1", OD_ANY, NAN};
    add_key(names, key, unit);
    od_read_number(ld, value, od_path(ld, path, field.key), &field, od_place_of(ld, value), OD_IN_MODEL);
  }
  return first;
}

// --- Texts --------------------------------------------------------------------------------------------------------

// Compiles a text; 'pi' becomes a number. On failure returns false and fills *problem.
static bool parse(od_loader *ld, const char *text, const od_formula_names *names, od_expression *e,
                  od_expression_problem *problem) {
  od_formula_names all = *names;
  od_formula_name(&all, "pi", NULL);
  const od_expression_names known = {all.count, name_at, unit_at, &all, ld->units};
  if (!od_expression_parse(text, &known, e, problem)) return false;
  for (int i = 0; i < e->count; i++)
    if (e->operation[i].kind == OD_OPERATION_VARIABLE && e->operation[i].a == names->count)
      e->operation[i] = (od_operation){.kind = OD_OPERATION_NUMBER, .value = 3.14159265358979323846};
  return true;
}

bool od_parse_formula(od_loader *ld, int node, const char *label, const char *text, int from, const char *shown,
                      const od_formula_names *names, od_expression *e) {
  od_expression_problem problem = {0};
  if (parse(ld, text, names, e, &problem)) return true;
  // A wrapped text continues after the text from the file. If the problem is at the end of the text from the file, the message must
  // not quote the continuation.
  const char *expected = strstr(problem.text, ", expected");
  if (from > 0 && problem.at - from >= (int)strlen(shown) && expected != NULL)
    snprintf(problem.text, sizeof problem.text, "found the end%s", od_format(ld, "%s", expected));
  od_complain(ld, node, "in the %s '%s', character %d: %s", label, od_excerpt(ld, shown), problem.at + 1 - from,
              problem.text);
  return false;
}

bool od_read_formula(od_loader *ld, int node, const char *label, const od_formula_names *names, bool silent,
                     od_expression *e) {
  od_expression_problem problem = {0};
  if (silent && !od_is_text(ld, node)) return false;
  const char *text = od_read_text(ld, node, label, "a formula like \"k * x\"");
  if (text == NULL) return false;
  return silent ? parse(ld, text, names, e, &problem) : od_parse_formula(ld, node, "formula", text, 0, text, names, e);
}

void od_check_formula_unit(od_loader *ld, int node, const od_expression *e, const char *wanted) {
  double power[OD_UNIT_BASES];
  od_conversion conversion;
  if (e->any_unit || !od_units_base(ld->units, wanted, &conversion, power)) return;
  bool same = true;
  for (int i = 0; i < OD_UNIT_BASES; i++)
    same = same && (strcmp(od_unit_base(i), "rad") == 0 || fabs(power[i] - e->power[i]) < 1e-9);
  if (same) return;
  const char *unit = od_unit_of_powers(ld, e->power);
  od_complain(ld, node, "the formula '%s' is %s%s; expected %s", od_excerpt(ld, od_text_of(ld, node)),
              strcmp(unit, "1") == 0 ? "" : "in ", strcmp(unit, "1") == 0 ? "a plain number" : unit,
              strcmp(wanted, "1") == 0 ? "a plain number" : wanted);
}

// --- Elements -----------------------------------------------------------------------------------------------------

// Reads 'inputs' of an element: names of signals. On failure reports an error and returns false.
static bool read_signals(od_loader *ld, const od_section *section, od_formula_names *names, od_element_spec *spec) {
  int node = od_section_get(ld, section, "inputs"), count = 0;
  bool sound = true;
  for (int key = od_first(ld, node, "inputs"); key >= 0; key = od_next(ld, key), count++) {
    if (count > OD_MORE_SIGNALS) {
      od_complain(ld, key, "'%s' is input %d; %s has at most %d inputs", od_text_of(ld, key), count + 1, section->what,
                  1 + OD_MORE_SIGNALS);
      return false;
    }
    int value = od_value(ld, key);
    const char *text = od_read_text(ld, value, od_text_of(ld, key), "the name of an input or a block");
    int found = text != NULL ? od_names_find(ld, value, text, OD_ELEMENT_SIGNAL) : -1;
    const od_element *signal = found >= 0 ? od_element_at(ld, found) : NULL;
    sound = add_key(names, key, signal != NULL ? signal->unit : NULL) && signal != NULL && sound;
    *(count == 0 ? &spec->signal : &spec->more_signals[count - 1]) = signal != NULL ? signal->index : OD_UNUSED;
    if (signal != NULL && signal->index == OD_NOT_BUILT) sound = false;
  }
  while (count++ <= OD_MORE_SIGNALS) od_formula_name(names, "", NULL);
  return sound;
}

bool od_load_element_formula(od_loader *ld, const od_section *section, const od_element_description *c, bool turning,
                             od_element_spec *spec, od_operation operations[OD_MOST_OPERATIONS]) {
  od_formula_names names = {.ld = ld};
  od_expression e;
  bool flow = c->equations->acts == OD_ACTS_NOWHERE;
  od_formula_name(&names, flow ? "p_a" : "x", flow ? "Pa" : turning ? "rad" : "m");
  od_formula_name(&names, flow ? "p_b" : "v", flow ? "Pa" : turning ? "rad/s" : "m/s");
  bool sound = read_signals(ld, section, &names, spec);
  int before = od_messages_errors(ld->messages), first = od_read_formula_numbers(ld, section, &names);
  int node = od_section_need(ld, section, c->formula_key);
  if (!sound || node < 0 || od_messages_errors(ld->messages) != before) return false;
  if (!od_read_formula(ld, node, c->formula_key, &names, false, &e)) return false;
  od_check_formula_unit(ld, node, &e, flow ? "m3/s" : turning ? "N m" : "N");
  spec->numbers = ld->document->numbers.count - first;
  spec->first_number = spec->numbers > 0 ? od_number_theta(ld, first) : 0;
  memcpy(operations, e.operation, (size_t)e.count * sizeof *operations);
  spec->formula = (od_formula){e.count, operations};
  return true;
}

// --- Blocks -------------------------------------------------------------------------------------------------------

const char *od_formula_block_unit(od_loader *ld, const od_loading_block *b) {
  const od_block_description *c = od_block_descriptions[b->block_class];
  int inputs = od_map_find(ld, b->map, c->inputs[0].key), parameters = od_map_find(ld, b->map, "parameters");
  const int map[] = {inputs, parameters};
  od_formula_names names = {.ld = ld};
  od_expression e;
  if (c->equations->margin != NULL) {  // a state machine has the unit of its first output
    int first = od_map_first(ld, od_map_find(ld, b->map, "states"));
    const char *unit = first >= 0 ? od_formula_number_unit(ld, od_value(ld, first)) : NULL;
    return unit != NULL ? unit : "1";
  }
  for (int k = 0; k < 2; k++) {
    for (int key = od_map_first(ld, map[k]); key >= 0; key = od_next(ld, key)) {
      int value = od_value(ld, key);
      const char *unit = k == 0 ? od_block_source_unit(ld, value) : od_formula_number_unit(ld, value);
      if (k == 0 && unit == NULL) return NULL;
      od_formula_name(&names, od_text_of(ld, key), unit);
    }
  }
  if (!od_read_formula(ld, od_map_find(ld, b->map, c->formula_key), c->formula_key, &names, true, &e)) return NULL;
  return e.any_unit ? "1" : od_unit_of_powers(ld, e.power);
}

bool od_read_formula_inputs(od_loader *ld, od_loading_block *b, const od_section *section, const char *label,
                            od_formula_names *names) {
  int node = od_section_need(ld, section, label), count = 0;
  bool sound = node >= 0;
  if (node >= 0 && !od_is_map(ld, node)) {
    od_complain(ld, node, "found %s; '%s' of a formula must be a map of names and their sources, like {x: boom.angle}",
                od_describe(ld, node), label);
    return false;
  }
  for (int key = od_first(ld, node, label); key >= 0; key = od_next(ld, key), count++) {
    if (count == OD_MOST_BLOCK_INPUTS) {
      od_complain(ld, key, "'%s' is input %d; a formula has at most %d inputs", od_text_of(ld, key), count + 1,
                  OD_MOST_BLOCK_INPUTS);
      return false;
    }
    const char *unit = od_block_connect(ld, od_value(ld, key), od_text_of(ld, key), b, count);
    sound = add_key(names, key, unit) && unit != NULL && sound;
  }
  if (node >= 0 && count == 0) od_complain(ld, node, "%s needs at least one input", section->what);
  return sound && count > 0;
}

void od_load_formula_block(od_loader *ld, od_loading_block *b) {
  const od_block_description *c = od_block_descriptions[b->block_class];
  if (c->equations->margin != NULL) {
    b->state_unit[0] = "1";  // units of the mode and of the time in this mode
    b->state_unit[1] = "s";
    od_load_state_machine(ld, b);
    return;
  }
  const char *const keys[] = {"type", "unit", c->inputs[0].key, c->formula_key, "parameters", NULL};
  od_section section = od_section_open_names(ld, b->map, b->key, b->path, b->what, keys);
  if (b->index < 0) return;
  od_formula_names names = {.ld = ld};
  od_expression e;
  bool sound = od_read_formula_inputs(ld, b, &section, c->inputs[0].key, &names);
  int before = od_messages_errors(ld->messages), first = od_read_formula_numbers(ld, &section, &names);
  int node = od_section_need(ld, &section, c->formula_key);
  if (!sound || node < 0 || od_messages_errors(ld->messages) != before) return;
  if (!od_read_formula(ld, node, c->formula_key, &names, false, &e)) return;
  od_check_formula_unit(ld, node, &e, b->unit != NULL ? b->unit : "1");
  od_build_block_formula(ld->draft->build, b->index, (od_formula){e.count, e.operation});
  if (ld->document->numbers.count > first)
    od_build_block_numbers(ld->draft->build, b->index, od_number_theta(ld, first));
}
