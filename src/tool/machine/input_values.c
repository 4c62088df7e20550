// Values that may depend on an input: a quantity, an input, or a factor and an input. In this file, "input" includes blocks.
#include <math.h>
#include <string.h>

#include "document/constants.h"
#include "machine/machine_loader.h"

const char *od_factor_unit(od_loader *ld, const char *wanted, const char *input_unit) {
  double one;
  if (od_units_convert(ld->units, input_unit, wanted, 1, &one) == OD_UNIT_FITS) return "1";
  if (strcmp(input_unit, "1") == 0) return wanted;
  return od_format(ld, strpbrk(input_unit, " /") != NULL ? "%s/(%s)" : "%s/%s", wanted, input_unit);
}

static int find_input(od_loader *ld, int node, const char *name) {
  int element = od_names_look_up(ld, node, name);
  return element >= 0 && od_element_is(od_element_at(ld, element), OD_ELEMENT_SIGNAL) ? element : -1;
}

// A parsed value: a quantity (input -1), or an input and the text of its factor (NULL: the factor is 1).
typedef struct value_text {
  int input;  // index of the input among the names; -1: the value is a quantity
  const char *factor;
  bool bad;  // whether no text is given or the input does not exist
} value_text;

// Reports a word that should be the name of an input.
static void complain_input(od_loader *ld, int node, const char *word) {
  const char *nearest = od_names_nearest(ld, node, word, OD_ELEMENT_SIGNAL);
  if (word[0] == '-' && find_input(ld, node, word + 1) >= 0)
    od_complain(ld, node, "found '%s'; write '-1 %s'", word, word + 1);
  else if (nearest != NULL)
    od_complain(ld, node, "there is no %s '%s'; did you mean '%s'?", od_signal_noun(ld), od_excerpt(ld, word), nearest);
  else
    od_complain(ld, node,
                "'%s' is neither a quantity nor an %s; expected a quantity such as '100 N', or the name of an input",
                od_excerpt(ld, od_text_of(ld, node)), od_signal_noun(ld));
}

// Parses a value. If the last word is a suitable unit, the value is a quantity: "100 N" is a force even if there is an
// input N.
static value_text read_value_text(od_loader *ld, int node, const char *text, const char *wanted) {
  const char *unit, *space = strrchr(text, ' '), *word = space != NULL ? space + 1 : text;  // the last word
  double number;
  if (find_input(ld, node, text) >= 0) return (value_text){.input = find_input(ld, node, text)};
  // A factor may be a product: "2 * k * lever".
  size_t before = (size_t)(word - text);
  while (before > 0 && text[before - 1] == ' ') before--;
  if (before > 1 && text[before - 1] == '*' && find_input(ld, node, word) >= 0)
    return (value_text){.input = find_input(ld, node, word), .factor = od_copy(ld, text, before - 1)};
  if (od_is_arithmetic(text)) return (value_text){.input = -1};
  if (!od_split_quantity(text, &number, &unit)) {
    if (od_is_expression(ld, od_place_of(ld, node), text)) return (value_text){.input = -1};
    bool is_word = text[0] == '\0' || strchr("+-.0123456789", text[0]) == NULL || find_input(ld, node, text + 1) >= 0;
    if (is_word) complain_input(ld, node, text);
    return (value_text){.input = -1, .bad = is_word};
  }
  int input = find_input(ld, node, word);
  double converted;
  od_unit_verdict verdict = od_units_convert(ld->units, unit, wanted, number, &converted);
  if (verdict == OD_UNIT_FITS || (verdict == OD_UNIT_MISFITS && input < 0)) return (value_text){.input = -1};
  if (input >= 0) return (value_text){.input = input, .factor = od_copy(ld, text, (size_t)(word - text - 1))};
  bool is_misspelled = od_units_suggest(unit) == NULL && od_names_nearest(ld, node, word, OD_ELEMENT_SIGNAL) != NULL;
  if (is_misspelled) complain_input(ld, node, word);
  return (value_text){.input = -1, .bad = is_misspelled};
}

int od_read_value(od_loader *ld, const od_section *section, const od_field *field, int *input) {
  *input = -1;
  const char *path = od_path(ld, section->path, field->key);
  bool required = isnan(field->fallback);
  int node = required ? od_section_need(ld, section, field->key) : od_section_get(ld, section, field->key);
  const char *text = od_read_text(ld, node, field->key, "a quantity, an input, or a factor and an input");
  value_text value = {.input = -1, .bad = true};
  if (text != NULL) value = read_value_text(ld, node, text, field->unit);
  const char *unit = field->unit;
  const od_element *source = value.input >= 0 ? od_element_at(ld, value.input) : NULL;
  if (source != NULL) {
    unit = od_factor_unit(ld, field->unit, source->unit);
    *input = source->index;
  }
  // An input without a factor must have the wanted unit; a factor may convert the input's unit.
  if (source != NULL && value.factor == NULL && strcmp(unit, "1") != 0)
    od_complain(ld, node, "'%s' is %s in %s, but '%s' must be in %s; give a factor, as in '2 %s %s'", text,
                source->kind == OD_ELEMENT_BLOCK ? "a block" : "an input", source->unit, field->key, field->unit, unit,
                text);
  // --set replaces the quantity or the factor.
  od_place place = od_place_of(ld, node >= 0 ? node : section->node);
  od_given given = od_given_for(ld, -1, path, field->key, unit, place);
  if (given.text == NULL && !value.bad) given.text = value.input >= 0 ? value.factor : text;
  double number = required || value.input >= 0 ? 1 : field->fallback, read;
  const od_field factor = {field->key, unit, OD_ANY, 1}, *of = value.input >= 0 ? &factor : field;
  if (given.text != NULL && od_read_quantity(ld, &given, unit, &read) && od_check_range(ld, &given, of, read))
    number = read;
  return od_add_number(ld, &given, number, of, OD_IN_MODEL);
}
