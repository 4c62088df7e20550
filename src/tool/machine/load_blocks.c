// Loads blocks: the connections of their inputs, and their numbers. The unit of each number follows from the units of
// the inputs and of the output.
#include <math.h>
#include <string.h>

#include "document/ranges.h"
#include "io/wording.h"
#include "machine/load_blocks.h"
#include "machine/load_fmu.h"
#include "machine/load_formula.h"
#include "machine/load_program_law.h"
#include "document/suggest.h"

enum { MOST_KEYS = 4 + OD_MOST_INPUT_KEYS + 2 * OD_MOST_BLOCK_FIELDS };

// --- Numbers ------------------------------------------------------------------------------------------------------

// State of the reader of a block's numbers.
typedef struct block_reader {
  od_loader *ld;
  od_section section;
  od_loading_block *b;
  const od_block_description *c;
  bool sampled;
  const char *unit, *source;  // units of the output and of the input; source NULL: unknown because of an error
  int source_node;
  int inputs;                                      // number of inputs in the list of inputs; 0: no such list
  const char *source_units[OD_MOST_BLOCK_INPUTS];  // units of the inputs
} block_reader;

// Returns the unit of a gain that converts the input to the unit of the output.
static const char *ratio(const block_reader *r) {
  return r->source != NULL ? od_factor_unit(r->ld, r->unit, r->source) : "1";
}

// Returns the unit of a rule. Replaces the words "in" and "out" and the keys of inputs in the rule with the units of
// these signals.
static const char *unit_with_words(const block_reader *r, const char *rule) {
  const char *text = "";
  for (const char *at = rule; *at != '\0';) {
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const char *word = od_copy(r->ld, at, length > 0 ? length : 1);
    const char *unit = strcmp(word, "out") == 0 ? r->unit : NULL;
    if (strcmp(word, "in") == 0) unit = r->source != NULL ? r->source : "1";
    for (int i = 0; unit == NULL && i < OD_MOST_INPUT_KEYS && r->c->inputs[i].key; i++)
      if (strcmp(r->c->inputs[i].key, word) == 0) unit = r->source_units[i] != NULL ? r->source_units[i] : "1";
    if (unit != NULL) word = strpbrk(unit, " /") != NULL ? od_format(r->ld, "(%s)", unit) : unit;
    text = od_format(r->ld, "%s%s", text, word);
    at += length > 0 ? length : 1;
  }
  return text;
}

// Returns the unit of a number, from the rule of its field. Common rules give the usual spelling.
static const char *unit_by_rule(const block_reader *r, const char *rule) {
  if (strcmp(rule, OD_UNIT_OUT) == 0) return r->unit;
  if (strcmp(rule, OD_UNIT_IN) == 0) return r->source != NULL ? r->source : "1";
  if (strcmp(rule, OD_UNIT_RATIO) == 0) return ratio(r);
  if (strcmp(rule, OD_UNIT_RATIO_RATE) == 0) return od_unit_product(r->ld, ratio(r), "1/s");
  if (strcmp(rule, OD_UNIT_RATIO_TIME) == 0) return od_unit_product(r->ld, ratio(r), "s");
  if (strcmp(rule, OD_UNIT_PER_INTEGRAL) != 0) return unit_with_words(r, rule);
  if (r->source == NULL) return "1";
  bool same = strcmp(ratio(r), "1") == 0;
  return same ? "1/s" : od_factor_unit(r->ld, r->unit, od_unit_product(r->ld, r->source, "s"));
}

// Reports an input whose unit differs from the unit of the output. If `unit` is NULL (unknown), adds no message.
static void check_same_unit(const block_reader *r, int node, const char *unit) {
  if (unit == NULL || strcmp(od_factor_unit(r->ld, r->unit, unit), "1") == 0) return;
  od_complain(r->ld, node, "%s is in %s, but '%s' is in %s; use a gain to convert the unit", r->section.what, r->unit,
              od_text_of(r->ld, node), unit);
}

// Reads one number and returns its index. A gain that converts the unit is required.
static int read_one(const block_reader *r, const od_block_field *f) {
  od_loader *ld = r->ld;
  bool other = f->or_key != NULL && od_is_given(ld, &r->section, f->or_key);
  bool required = f->required_with != NULL && od_is_given(ld, &r->section, f->required_with);
  bool in_loader = f->instead_of_sample || (f->counts_samples && r->sampled);
  const char *key = other ? f->or_key : f->key, *unit = unit_by_rule(r, other ? f->or_unit : f->unit);
  od_field field = {key, unit, f->sign, required ? NAN : f->fallback, other ? &f->or_limits : &f->limits};
  if (other && od_is_given(ld, &r->section, f->key))
    od_complain(ld, r->section.node, "%s has both '%s' and '%s'; expected one of these keys", r->section.what, f->key,
                f->or_key);
  int number = od_read_fields(ld, &r->section, &field, 1, in_loader ? OD_IN_LOADER : OD_IN_MODEL);
  bool needed = f->makes_unit && r->source != NULL && strcmp(field.unit, "1") != 0;
  if (needed && !od_number_is_given(ld, number) && !od_section_means(&r->section, f->key))
    od_complain(ld, r->source_node, "%s is in %s, but '%s' is in %s; give a '%s' in %s", r->section.what, r->unit,
                od_text_of(ld, r->source_node), r->source, f->key, field.unit);
  return number;
}

// Reads two numbers in a list. Lower bounds must be below upper bounds.
static void read_two(const block_reader *r, const od_block_field *f) {
  od_loader *ld = r->ld;
  int before = od_messages_errors(ld->messages);
  bool bounds = f->shape == OD_BOUNDS;
  const char *unit = unit_by_rule(r, f->unit);
  const od_field field[2] = {
      {od_format(ld, "%s[0]", f->key), unit, f->sign, f->fallback, &f->limits},
      {od_format(ld, "%s[1]", f->key), unit, bounds ? f->sign : f->second_sign, f->fallback, &f->limits}};
  int first = od_read_two_numbers(ld, &r->section, f->key, bounds ? "[lower, upper]" : f->pair, field);
  if (bounds && od_messages_errors(ld->messages) == before && !r->section.has_unknown &&
      !(od_number_value(ld, first) < od_number_value(ld, first + 1)))
    od_complain_relation(ld, first + 1, "more than", first, NULL);
}

// Reads an entry of a list, which is a number of the model, and returns the index of the number. entry -1: the number is not in the
// file.
static int read_entry(const block_reader *r, const od_block_field *f, int entry, const char *label, const char *unit) {
  const od_field field = {label, unit, f->sign, f->fallback};
  od_place place = od_place_of(r->ld, entry >= 0 ? entry : r->section.node);
  return od_read_number(r->ld, entry, od_path(r->ld, r->section.path, label), &field, place, OD_IN_MODEL);
}

// Reads coefficients in order of decreasing powers of s (of z if the block is sampled). Returns the index of the first
// coefficient.
static int read_polynomial(const block_reader *r, const od_block_field *f) {
  od_loader *ld = r->ld;
  int node = od_section_need(ld, &r->section, f->key), count = od_list_count(ld, node), i = 0;
  int first = ld->document->numbers.count;
  const char *unit = unit_by_rule(r, f->unit);
  if (node >= 0 && count == 0)
    od_complain(ld, node, "found %s; '%s' must be a list of coefficients, the highest power first",
                od_describe(ld, node), f->key);
  for (int at = od_list_first(ld, node); at >= 0; at = ld->tree.node[at].next, i++) {
    int power = count - 1 - i;
    const char *seconds = power == 0 || r->sampled ? "1" : power == 1 ? "s" : od_format(ld, "s%d", power);
    read_entry(r, f, od_entry(ld, at), od_format(ld, "%s[%d]", f->key, i), od_unit_product(ld, unit, seconds));
  }
  return first;
}

// Reads two polynomials that must form a proper transfer function: f[0] is the numerator, f[1] the denominator.
static void read_transfer_function(const block_reader *r, const od_block_field *f) {
  od_loader *ld = r->ld;
  int before = od_messages_errors(ld->messages);
  read_polynomial(r, &f[0]);
  int first = read_polynomial(r, &f[1]);
  if (od_messages_errors(ld->messages) != before) return;
  int above = od_section_get(ld, &r->section, f[0].key), below = od_section_get(ld, &r->section, f[1].key);
  int n = od_list_count(ld, above), d = od_list_count(ld, below);
  if (d > OD_MOST_BLOCK_ORDER + 1)
    od_complain(ld, below, "found a denominator of degree %d; expected a degree of at most %d", d - 1,
                OD_MOST_BLOCK_ORDER);
  else if (n > d)
    od_complain(
        ld, above,
        "the transfer function is not proper: its numerator has degree %d, expected at most %d, the degree of its denominator",
        n - 1, d - 1);
  else if (d > 0 && od_number_value(ld, first) == 0)
    od_complain_number(ld, first, "the first coefficient of the denominator is zero; expected a nonzero coefficient");
}

// Reads one number of the block for each of its inputs.
static void read_per_input(const block_reader *r, const od_block_field *f) {
  od_loader *ld = r->ld;
  int node = od_section_get(ld, &r->section, f->key), entries = od_list_count(ld, node);
  int count = r->inputs > 0 ? r->inputs : 1;
  if (node >= 0 && entries != count) {
    if (od_is_list(ld, node))
      od_complain(ld, node, "found a list of length %d; '%s' must have %s, one for each input", entries, f->key,
                  od_count(count, "number").text);
    else
      od_complain(ld, node, "found %s; '%s' must be a list of numbers, one for each input", od_describe(ld, node),
                  f->key);
    node = -1;
  }
  int at = node >= 0 ? ld->tree.node[node].first : -1;
  int list = od_section_get(ld, &r->section, r->c->inputs[0].key);
  int input = od_list_first(ld, list);
  for (int i = 0; i < count; i++) {
    const char *source = r->source_units[i], *unit = source != NULL ? od_factor_unit(ld, r->unit, source) : "1";
    int number = read_entry(r, f, od_entry(ld, at), od_format(ld, "%s[%d]", f->key, i), unit);
    if (strcmp(unit, "1") != 0 && !od_number_is_given(ld, number)) check_same_unit(r, od_entry(ld, input), source);
    if (at >= 0) at = ld->tree.node[at].next;
    if (input >= 0) input = ld->tree.node[input].next;
  }
}

// Reads the values of a grid, one list per row. Returns false, without reading a value, if the values are not lists of
// rows; otherwise returns true, also after an error.
static bool read_rows(const block_reader *r, const od_block_field *f, int node) {
  od_loader *ld = r->ld;
  const od_block_spec *spec = od_build_block_spec(ld->draft->build, r->b->index);
  int first = od_entry(ld, od_list_first(ld, node)), row = 0;
  if (f->shape != OD_ORDINATES || r->c->choices[1].rule != OD_CHOICE_ENTRIES || od_list_count(ld, first) == 0)
    return false;
  if (od_list_count(ld, node) != spec->choice[0]) {
    od_complain(ld, node, "found a list of length %d; '%s' must have %s, one for each number of '%s'",
                od_list_count(ld, node), f->key, od_count(spec->choice[0], "row").text, r->c->choices[0].key);
    return true;
  }
  for (int at = ld->tree.node[node].first; at >= 0; at = ld->tree.node[at].next, row++) {
    int list = od_entry(ld, at), column = 0;
    if (od_list_count(ld, list) != spec->choice[1]) {
      const int length = od_list_count(ld, list);
      od_complain(ld, list, "found %s; a row of '%s' must have %s, one for each number of '%s'",
                  od_is_list(ld, list) ? od_format(ld, "a list of length %d", length) : od_describe(ld, list), f->key,
                  od_count(spec->choice[1], "number").text, r->c->choices[1].key);
      continue;
    }
    for (int entry = ld->tree.node[list].first; entry >= 0; entry = ld->tree.node[entry].next, column++) {
      const char *label = od_format(ld, "%s[%d][%d]", f->key, row, column);
      read_entry(r, f, od_entry(ld, entry), label, unit_by_rule(r, f->unit));
    }
  }
  return true;
}

// Reads the points of a table: increasing abscissae, or values, one for each combination of abscissae.
static void read_points(const block_reader *r, const od_block_field *f) {
  od_loader *ld = r->ld;
  const od_block_spec *spec = od_build_block_spec(ld->draft->build, r->b->index);
  int node = od_section_need(ld, &r->section, f->key), found = od_list_count(ld, node), i = 0;
  int wanted = od_block_count_field(spec, f), before = od_messages_errors(ld->messages);
  if (node < 0 || read_rows(r, f, node)) return;
  if (found != wanted) {
    int most = 0;
    for (int k = 0; k < OD_MOST_BLOCK_CHOICES; k++) {
      const od_block_choice *choice = &r->c->choices[k];
      if (choice->rule == OD_CHOICE_ENTRIES && strcmp(choice->key, f->key) == 0) most = choice->most;
    }
    if (!od_is_list(ld, node))
      od_complain(ld, node, "found %s; '%s' must be a list of numbers", od_describe(ld, node), f->key);
    else if (f->shape == OD_ABSCISSAE)
      od_complain(ld, node, "found a list of length %d; '%s' must have 2 to %d numbers", found, f->key, most);
    else
      od_complain(ld, node, "found a list of length %d; '%s' must have %s, one for each point", found, f->key,
                  od_count(wanted, "number").text);
    return;
  }
  double last = -INFINITY;
  for (int at = ld->tree.node[node].first; at >= 0; at = ld->tree.node[at].next, i++) {
    int number = read_entry(r, f, od_entry(ld, at), od_format(ld, "%s[%d]", f->key, i), unit_by_rule(r, f->unit));
    if (f->shape == OD_ABSCISSAE && od_messages_errors(ld->messages) == before && !(od_number_value(ld, number) > last))
      od_complain_relation(ld, number, "more than", number - 1, NULL);
    last = od_number_value(ld, number);
  }
}

// --- Samples ------------------------------------------------------------------------------------------------------

// Reads an integer that a block has only if the block is not sampled.
static void read_instead_of_sample(const block_reader *r, const od_block_field *f) {
  od_loader *ld = r->ld;
  if (r->sampled) return;
  int before = od_messages_errors(ld->messages);
  if (!od_is_given(ld, &r->section, f->key)) {
    if (!r->section.has_unknown)
      od_complain(ld, r->section.node, "%s needs '%s', %s, or 'sample'", r->section.what, f->key, f->meaning);
    return;
  }
  int number = read_one(r, f);
  if (od_messages_errors(ld->messages) == before) od_read_whole(ld, number, f->key, 1, f->most);
}

// Checks that the duration of a sampled block is a whole number of samples, from 1 to OD_MOST_DELAY_SAMPLES. Reports
// keys that a sampled block must not have.
static void check_samples(const block_reader *r, int number) {
  od_loader *ld = r->ld;
  double samples = od_number_value(ld, number) / od_block_peek(ld, r->b, "sample", "s");
  for (int i = 0; i < OD_MOST_BLOCK_FIELDS && r->c->fields[i].key; i++) {
    const od_block_field *f = &r->c->fields[i];
    if (!f->instead_of_sample || !od_is_given(ld, &r->section, f->key)) continue;
    od_complain(ld, r->section.node, "%s has both 'sample' and '%s'; expected one of these keys", r->section.what,
                f->key);
    return;
  }
  if (!(fabs(samples - round(samples)) < 1e-6 * samples) || samples < 0.5)
    od_complain_number(ld, number, "a sampled %s must be a whole number of samples; found %.6g samples",
                       r->c->equations->type, samples);
  else if (samples > OD_MOST_DELAY_SAMPLES)
    od_complain_number(ld, number, "a %s has at most %d samples; found %.6g samples", r->c->equations->type,
                       OD_MOST_DELAY_SAMPLES, samples);
}

// --- All inputs and numbers of a block ----------------------------------------------------------------------------

// Reads a list of inputs and their units.
static void read_sources(block_reader *r, const char *key) {
  od_loader *ld = r->ld;
  int node = od_section_need(ld, &r->section, key), count = od_list_count(ld, node), i = 0;
  if (node < 0) return;
  if (count < 1 || count > OD_MOST_BLOCK_INPUTS) {
    if (count > 0)
      od_complain(ld, node, "found a list of length %d; '%s' must have at most %d names", count, key,
                  OD_MOST_BLOCK_INPUTS);
    else
      od_complain(ld, node, "found %s; '%s' must be a list of names", od_describe(ld, node), key);
    return;
  }
  for (int at = ld->tree.node[node].first; at >= 0; at = ld->tree.node[at].next, i++)
    r->source_units[i] = od_block_connect(ld, od_entry(ld, at), key, r->b, i);
  r->inputs = count;
  r->source = r->source_units[0];
  r->source_node = od_entry(ld, od_list_first(ld, node));
  for (i = 1; r->c->inputs_multiply && i < count && r->source != NULL; i++)
    r->source = r->source_units[i] != NULL ? od_unit_product(ld, r->source, r->source_units[i]) : NULL;
  int at = ld->tree.node[node].first;
  for (i = 1; r->c->keeps_unit && i < count; i++)
    check_same_unit(r, od_entry(ld, at = ld->tree.node[at].next), r->source_units[i]);
}

// Connects the input with index `place`, which has its own key, and stores the unit of its source.
static void read_source(block_reader *r, int place) {
  const od_block_input *in = &r->c->inputs[place];
  int node = in->optional || in->factor ? od_section_get(r->ld, &r->section, in->key)
                                        : od_section_need(r->ld, &r->section, in->key);
  const char *found = node >= 0 ? od_block_connect(r->ld, node, in->key, r->b, place) : NULL;
  const char *wanted = in->unit != NULL && strcmp(in->unit, OD_UNIT_OUT) == 0 ? r->unit : in->unit;
  if (found != NULL && wanted != NULL && strcmp(od_factor_unit(r->ld, wanted, found), "1") != 0)
    od_complain(r->ld, node, "'%s' is in %s, but '%s' must be in %s", od_text_of(r->ld, node), found, in->key, wanted);
  r->source_units[place] = found;
  if (place == 0) r->source = found, r->source_node = node;
}

// Connects the inputs of a block. If the block is part of an element, the element defines the inputs.
static void read_inputs(block_reader *r) {
  if (r->b->measures[0] != NULL) {
    for (int i = 0; i < 2 && r->c->inputs[i].key; i++) {
      od_build_block_measures(r->ld->draft->build, r->b->index, i, r->b->measures[i]);
      r->source_units[i] = r->c->inputs[i].unit;
    }
    r->source = r->source_units[0];
  } else if (r->c->inputs[0].list) {
    read_sources(r, r->c->inputs[0].key);
  } else {
    for (int i = 0; i < OD_MOST_INPUT_KEYS && r->c->inputs[i].key; i++) read_source(r, i);
  }
  if (r->c->inputs_divide && r->source != NULL)
    r->source = r->source_units[1] != NULL ? od_unit_quotient(r->ld, r->source, r->source_units[1]) : NULL;
  if (r->c->keeps_unit) check_same_unit(r, r->source_node, r->source);
}

// Returns whether a field must be read: the field is given or not optional. Reports a field that is given without another key that
// it requires.
static bool is_wanted(const block_reader *r, const od_block_field *f) {
  bool list = f->shape != OD_ONE_NUMBER;
  bool given = list ? od_section_get(r->ld, &r->section, f->key) >= 0 : od_is_given(r->ld, &r->section, f->key);
  if (f->only_with != NULL && od_section_get(r->ld, &r->section, f->only_with) < 0) {
    if (given)
      od_complain(r->ld, r->section.node, "%s has '%s' but no '%s' %s", r->section.what, f->key, f->only_with,
                  f->only_with_purpose);
    return false;
  }
  return given || !f->optional;
}

// Reads the numbers of a block. Returns the index of the duration that must be a whole number of samples; -1: none, or
// the block is not sampled.
static int read_numbers(const block_reader *r) {
  int counted = -1;
  for (int i = 0; i < OD_MOST_BLOCK_FIELDS && r->c->fields[i].key; i++) {
    const od_block_field *f = &r->c->fields[i];
    if (!is_wanted(r, f)) continue;
    if (f->shape == OD_PER_INPUT)
      read_per_input(r, f);
    else if (f->shape == OD_ABSCISSAE || f->shape == OD_ORDINATES)
      read_points(r, f);
    else if (f->shape == OD_POLYNOMIAL)
      read_transfer_function(r, f), i++;
    else if (f->shape != OD_ONE_NUMBER)
      read_two(r, f);
    else if (f->instead_of_sample)
      read_instead_of_sample(r, f);
    else if (f->counts_samples)
      counted = read_one(r, f);
    else
      read_one(r, f);
  }
  return r->sampled ? counted : -1;
}

// Lists all keys of a block, or only the keys of its numbers.
static void list_keys(const od_block_description *c, bool all, const char *keys[MOST_KEYS]) {
  int count = 0;
  if (all) keys[count++] = "type";
  if (all && c->unit == NULL) keys[count++] = "unit";
  for (int i = 0; all && i < OD_MOST_INPUT_KEYS && c->inputs[i].key; i++) keys[count++] = c->inputs[i].key;
  for (int i = 0; i < OD_MOST_BLOCK_FIELDS && c->fields[i].key; i++) {
    keys[count++] = c->fields[i].key;
    if (c->fields[i].or_key) keys[count++] = c->fields[i].or_key;
  }
  if (all && od_block_can_be_sampled(c->equations)) keys[count++] = "sample";
  keys[count] = NULL;
}

// Connects a block and reads its numbers.
static void load_block(od_loader *ld, od_loading_block *b) {
  const char *keys[MOST_KEYS];
  if (b->named != NULL) {
    od_load_program_law(ld, b);
    return;
  }
  if (b->fmu != NULL) {
    od_load_fmu(ld, b);
    return;
  }
  if (od_block_descriptions[b->block_class]->formula_key != NULL) {
    od_load_formula_block(ld, b);
    return;
  }
  block_reader r = {.ld = ld,
                    .b = b,
                    .c = od_block_descriptions[b->block_class],
                    .unit = b->unit != NULL ? b->unit : "1",
                    .source_node = -1};
  r.sampled = od_block_can_be_sampled(r.c->equations) && od_block_has(ld, b, "sample");
  list_keys(r.c, b->measures[0] == NULL, keys);
  r.section = od_section_open_names(ld, b->map, b->key, b->path, b->what, keys);
  if (b->index < 0) return;
  int first = ld->document->numbers.count;
  read_inputs(&r);
  int before = od_messages_errors(ld->messages), counted = read_numbers(&r);
  static const od_limits sample_limits = {1e-9, 1e6, 1e-6, 100};
  const od_field sample = {"sample", "s", OD_POSITIVE, NAN, &sample_limits};
  if (r.sampled) od_read_fields(ld, &r.section, &sample, 1, OD_IN_LOADER);
  if (counted >= 0 && od_messages_errors(ld->messages) == before) check_samples(&r, counted);
  const od_block_spec *spec = od_build_block_spec(ld->draft->build, b->index);
  for (int i = 0; i < od_build_block_state_count(ld->draft->build, b->index); i++) {
    int order;
    const char *unit = unit_by_rule(&r, od_block_state_unit(spec, i, &order));
    b->state_unit[i] = order > 0 ? od_unit_rate(ld, unit, order) : unit;
  }
  if (b->unit == NULL && r.source != NULL && strcmp(r.source, "1") != 0)
    od_complain(ld, b->key, "the unit of %s cannot be derived from the units of its inputs; give the key 'unit'",
                r.section.what);
  if (ld->document->numbers.count > first)
    od_build_block_numbers(ld->draft->build, b->index, od_number_theta(ld, first));
}

void od_load_blocks(od_loader *ld) {
  for (int i = 0; i < ld->draft->blocks; i++)
    if (ld->draft->block[i].block_class >= 0) load_block(ld, &ld->draft->block[i]);
}
