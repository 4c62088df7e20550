// Reads quantities: converts a text such as "35 mm" to a number.
#include "document/quantities.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "document/constants.h"
#include "document/ranges.h"

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

const char *od_path(od_loader *ld, const char *base, const char *key) {
  return base[0] != '\0' ? od_format(ld, "%s.%s", base, key) : key;
}

// --- Given texts --------------------------------------------------------------------------------------------------

static const char *wanted_text(od_loader *ld, const char *unit) {
  if (strcmp(unit, "1") == 0) return "a number";
  return od_format(ld, "a number or a quantity in %s", unit);
}

od_given od_given_for(od_loader *ld, int node, const char *path, const char *label, const char *unit, od_place place) {
  od_given given = {.path = path, .label = label, .place = place};
  const od_override *set = od_numbers_overriding(&ld->document->numbers, path);
  if (set != NULL) {
    given.text = set->text;
    given.place = set->place;
  } else if (node >= 0) {
    given.place = od_place_of(ld, node);
    given.text = od_read_text(ld, node, label, wanted_text(ld, unit));
  }
  return given;
}

// Adds a message about a given number. A message about --set contains the path.
static void say(od_loader *ld, bool is_warning, const od_given *given, const char *format, va_list args) {
  char message[1200];  // this size exceeds the length of any stored message; od_messages_say() truncates the text
  vsnprintf(message, sizeof message, format, args);
  if (given->place.line > 0 || given->text == NULL)
    od_messages_say(ld->messages, is_warning, given->place, "%s", message);
  else
    od_messages_say(ld->messages, is_warning, given->place, "%s=%s: %s", od_excerpt(ld, given->path),
                    od_excerpt(ld, given->text), message);
}

void od_say_given(od_loader *ld, bool is_warning, const od_given *given, const char *format, ...) {
  va_list args;
  va_start(args, format);
  say(ld, is_warning, given, format, args);
  va_end(args);
}

// --- Quantities ---------------------------------------------------------------------------------------------------

// Returns the length of the decimal number at the start of a text: sign, digits, point, exponent; 0: none. strtod is not used,
// because it also accepts "nan", "inf" and hexadecimal numbers.
static size_t number_length(const char *text) {
  const char *c = text;
  if (*c == '+' || *c == '-') c++;
  const char *digits = c;
  while (od_is_digit(*c)) c++;
  size_t count = (size_t)(c - digits);
  if (*c == '.') {
    const char *fraction = ++c;
    while (od_is_digit(*c)) c++;
    count += (size_t)(c - fraction);
  }
  if (count == 0) return 0;
  if (*c == 'e' || *c == 'E') {
    const char *exponent = c + 1;
    if (*exponent == '+' || *exponent == '-') exponent++;
    if (od_is_digit(*exponent)) {
      while (od_is_digit(*exponent)) exponent++;
      c = exponent;
    }
  }
  return (size_t)(c - text);
}

bool od_split_quantity(const char *text, double *value, const char **unit) {
  while (is_space(*text)) text++;
  size_t length = number_length(text);
  const char *rest = text + length;
  if (length == 0 || od_is_digit(*rest) || *rest == '.' || *rest == ',') return false;
  *value = strtod(text, NULL);
  while (is_space(*rest)) rest++;
  *unit = rest;
  return true;
}

static bool names_infinity(const char *text) {
  static const char *const names[] = {"nan", "inf", "infinity"};
  if (*text == '+' || *text == '-') text++;
  if (*text == '.') text++;
  size_t length = strcspn(text, " \t");
  for (int i = 0; i < 3; i++)
    if (length == strlen(names[i]) && strncasecmp(text, names[i], length) == 0) return true;
  return false;
}

static void complain_no_number(od_loader *ld, const od_given *given, const char *unit) {
  const char *text = od_excerpt(ld, given->text);
  size_t length = number_length(given->text);
  if (names_infinity(given->text))
    od_complain_given(ld, given, "'%s' is not a finite number; %s must be %s", text, given->label,
                      wanted_text(ld, unit));
  else if (length > 0 && given->text[length] == ',')
    od_complain_given(ld, given, "'%s' is not a number; write decimals with a point", text);
  else
    od_complain_given(ld, given, "'%s' is not a number; %s must be %s", text, given->label, wanted_text(ld, unit));
}

// Returns advice that the key 'unit' of an input may be missing; "": no advice. The advice applies if the value of an input or of a
// spool has a unit, but a plain number is expected.
static const char *forgotten_unit(od_loader *ld, const od_given *given, const char *unit, const char *wanted) {
  static const char *const values[] = {"constant", "amplitude", "offset", "initial", "value", "low", "high"};
  static const char *const spools[] = {"stroke", "dead_band", "overlap"};
  const char *si = od_units_si(ld->units, unit);
  bool is_value = false;
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
    is_value = is_value || (strcmp(given->label, values[i]) == 0 && strncmp(given->path, "inputs.", 7) == 0);
  for (size_t i = 0; i < sizeof spools / sizeof spools[0]; i++)
    is_value = is_value || strcmp(given->label, spools[i]) == 0;
  if (!is_value || si == NULL || strcmp(wanted, "1") != 0) return "";
  return od_format(ld, " unless the input has 'unit: %s'", si);
}

static void complain_unit(od_loader *ld, const od_given *given, const char *unit, const char *wanted) {
  const char *text = od_excerpt(ld, given->text);
  bool is_frequency = strcmp(wanted, "rad/s") == 0 && od_given_is_frequency(given);
  const char *allowed = od_given_wanted(ld, given, wanted);
  const char *measures = od_units_measures(ld->units, unit);
  if (!od_units_knows(ld->units, unit)) {
    const char *suggestion = od_units_suggest(unit);
    od_complain_given(ld, given, "unknown unit '%s' in '%s'; %s%s%s%s must be %s", od_excerpt(ld, unit), text,
                      suggestion != NULL ? "did you mean '" : "", suggestion != NULL ? suggestion : "",
                      suggestion != NULL ? "'? " : "", given->label, allowed);
  } else if (is_frequency && measures != NULL && strcmp(measures, "a frequency") == 0) {
    od_complain_given(ld, given, "'%s' may be in Hz or in rad/s; write 'Hz' or 'rad/s' as the unit", text);
  } else if (measures != NULL) {
    od_complain_given(ld, given, "'%s' is %s; %s must be %s%s", text, measures, given->label, allowed,
                      forgotten_unit(ld, given, unit, wanted));
  } else {
    od_complain_given(ld, given, "'%s' has the wrong dimension; %s must be %s", text, given->label, allowed);
  }
}

// Returns true for "frequency", "blocks.y.frequency", and "parameters.y.frequency.low" for an estimated number.
bool od_given_is_frequency(const od_given *given) {
  static const char name[] = "frequency";
  const char *const texts[] = {given->label, given->path};
  for (int i = 0; i < 2; i++) {
    size_t length = texts[i] != NULL ? strlen(texts[i]) : 0, all = sizeof name - 1;
    if (i == 1 && strncmp(texts[i], "parameters.", 11) == 0 && length > 11) {
      const char *dot = strrchr(texts[i], '.');
      if (strcmp(dot + 1, name) != 0) length = (size_t)(dot - texts[i]);
    }
    if (length < all || strncmp(texts[i] + length - all, name, all) != 0) continue;
    if (length == all || texts[i][length - all - 1] == '.') return true;
  }
  return false;
}

const char *od_given_wanted(od_loader *ld, const od_given *given, const char *unit) {
  if (strcmp(unit, "1") == 0) return "a plain number";
  bool is_frequency = strcmp(unit, "Hz") == 0 || (strcmp(unit, "rad/s") == 0 && od_given_is_frequency(given));
  return is_frequency ? "in Hz or rad/s" : od_format(ld, "in %s", unit);
}

// Converts a value. The file may give a frequency in Hz although it is stored in rad/s.
static od_unit_verdict convert(od_loader *ld, const od_given *given, const char *unit, const char *wanted,
                               double number, double *value) {
  od_unit_verdict verdict = od_units_convert(ld->units, unit, wanted, number, value);
  if (verdict != OD_UNIT_MISFITS || strcmp(wanted, "rad/s") != 0) return verdict;
  if (!od_units_names_hertz(unit) || !od_given_is_frequency(given)) return verdict;
  verdict = od_units_convert(ld->units, unit, "Hz", number, value);
  *value *= OD_TURN;
  return verdict;
}

// Removes spaces at the end of a --set value or of a quoted text.
static const char *trimmed_unit(od_loader *ld, const char *unit) {
  size_t length = strlen(unit);
  while (length > 0 && is_space(unit[length - 1])) length--;
  return unit[length] == '\0' ? unit : od_copy(ld, unit, length);
}

bool od_read_quantity(od_loader *ld, const od_given *given, const char *unit, double *value) {
  double number;
  const char *its_unit = "";
  bool quantity = od_split_quantity(given->text, &number, &its_unit) && !od_is_arithmetic(given->text);
  its_unit = trimmed_unit(ld, its_unit);
  if (!quantity || convert(ld, given, its_unit, unit, number, value) != OD_UNIT_FITS) {
    od_expression_verdict verdict = OD_NO_EXPRESSION;
    if (!quantity || !od_units_knows(ld->units, its_unit)) verdict = od_read_expression(ld, given, unit, value);
    if (verdict == OD_NO_EXPRESSION && quantity)
      complain_unit(ld, given, its_unit, unit);
    else if (verdict == OD_NO_EXPRESSION)
      complain_no_number(ld, given, unit);
    if (verdict != OD_EXPRESSION_READ) return false;
  }
  if (!isfinite(*value)) {
    od_complain_given(ld, given, "'%s' is not a finite number; expected a value between -1.79e308 and 1.79e308",
                      od_excerpt(ld, given->text));
    return false;
  }
  return true;
}

bool od_check_range(od_loader *ld, const od_given *given, const od_field *field, double value) {
  if (field->range == OD_POSITIVE && !(value > 0)) {
    od_complain_given(ld, given, "%s is '%s' but must be greater than zero", given->label, od_excerpt(ld, given->text));
    return false;
  }
  if (field->range == OD_NOT_NEGATIVE && !(value >= 0)) {
    od_complain_given(ld, given, "%s is '%s' but must not be negative", given->label, od_excerpt(ld, given->text));
    return false;
  }
  return od_check_limits(ld, given, field, value);
}

double od_read_whole(od_loader *ld, int number, const char *label, double least, double most) {
  double value = od_number_value(ld, number);
  if (!od_number_is_given(ld, number) || (value == floor(value) && value >= least && value <= most)) return value;
  od_complain_number(ld, number, "%s is %.10g but must be a whole number from %.0f to %.0f", label, value, least, most);
  return least;
}

// --- Numbers ------------------------------------------------------------------------------------------------------

int od_add_number(od_loader *ld, const od_given *given, double value, const od_field *field, od_home home) {
  od_limits l = od_field_limits(field);
  od_number_entry entry = {
      .number = {.path = given->path,
                 .unit = field->unit,
                 .given = given->text,
                 .value = value,
                 .low = l.low,
                 .high = l.high,
                 .usual_low = l.usual_low,
                 .usual_high = l.usual_high},
      .place = given->place,
      .formula = od_index_find(&ld->document->constants.of_path, given->path),
      .theta = home == OD_IN_MODEL ? ld->add_parameter(ld, given->path, value, field->unit) : -1,
  };
  return od_numbers_add(&ld->document->numbers, &ld->document->arena, entry);
}

int od_read_number(od_loader *ld, int node, const char *path, const od_field *field, od_place place, od_home home) {
  od_given given = od_given_for(ld, node, path, field->key, field->unit, place);
  double value = isnan(field->fallback) ? 0 : field->fallback;
  double read;
  if (given.text != NULL && od_read_quantity(ld, &given, field->unit, &read) && od_check_range(ld, &given, field, read))
    value = read;
  return od_add_number(ld, &given, value, field, home);
}

int od_read_fields(od_loader *ld, const od_section *section, const od_field *fields, int count, od_home home) {
  int first = ld->document->numbers.count;
  for (int i = 0; i < count; i++) {
    const od_field *field = &fields[i];
    int node = od_section_get(ld, section, field->key);
    int number =
        od_read_number(ld, node, od_path(ld, section->path, field->key), field, od_place_of(ld, section->node), home);
    bool missing = node < 0 && isnan(field->fallback) && !od_number_is_given(ld, number);
    if (missing) od_section_lacks(ld, section, field->key);
  }
  return first;
}

od_field od_key_field_in(const od_section *section, const char *name, const char *unit) {
  const od_key *key = od_key_of(section->of, name);
  return (od_field){key->name, unit, key->sign, key->fallback, od_key_limits(key, unit)};
}

od_field od_key_field(const od_section *section, const char *name) {
  const char *unit = od_key_of(section->of, name)->of;
  return od_key_field_in(section, name, unit != NULL ? unit : "1");
}

od_field od_key_entry(od_loader *ld, const od_section *section, const char *key, int i) {
  od_field field = od_key_field(section, key);
  field.key = od_format(ld, "%s[%d]", key, i);
  return field;
}

int od_read_key_in(od_loader *ld, const od_section *section, const char *key, const char *unit, od_home home) {
  const od_field field = od_key_field_in(section, key, unit);
  return od_read_fields(ld, section, &field, 1, home);
}

int od_read_keys(od_loader *ld, const od_section *section, od_home home, const char *first, ...) {
  int number = ld->document->numbers.count;
  va_list keys;
  va_start(keys, first);
  for (const char *key = first; key != NULL; key = va_arg(keys, const char *)) {
    const od_field field = od_key_field(section, key);
    od_read_fields(ld, section, &field, 1, home);
  }
  va_end(keys);
  return number;
}

double od_key_value(od_loader *ld, const od_section *section, const char *key) {
  return od_number_value(ld, od_read_keys(ld, section, OD_IN_LOADER, key, NULL));
}

double od_key_whole(od_loader *ld, const od_section *section, const char *key) {
  const od_limits *l = &od_key_of(section->of, key)->limits;
  return od_read_whole(ld, od_read_keys(ld, section, OD_IN_LOADER, key, NULL), key, l->low, l->high);
}

// --- Lists of numbers ---------------------------------------------------------------------------------------------

int od_read_vector(od_loader *ld, int node, const char *path, const char *label, const od_key *key, od_vector_kind kind,
                   const double *fallback, od_place place) {
  int entry[3] = {-1, -1, -1}, errors_before = od_messages_errors(ld->messages), entries = od_list_count(ld, node);
  if (node >= 0 && !od_is_list(ld, node))
    od_complain(ld, node, "found %s; '%s' must be a list of two or three numbers", od_describe(ld, node), label);
  else if (node >= 0 && entries != 2 && entries != 3)
    od_complain(ld, node, "found a list of length %d; '%s' must have two or three numbers", entries, label);
  else
    for (int i = 0, at = od_list_first(ld, node); at >= 0; at = ld->tree.node[at].next) entry[i++] = od_entry(ld, at);
  if (node >= 0) place = od_place_of(ld, node);
  int first = ld->document->numbers.count;
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    od_field field = {
        .key = od_format(ld, "%s[%d]", label, i),
        .unit = key->of != NULL ? key->of : "1",
        .range = kind == OD_SIZE ? OD_POSITIVE : OD_ANY,
        .fallback = node < 0 && fallback != NULL ? fallback[i] : 0,
        .limits = &key->limits,
    };
    const char *entry_path = od_format(ld, "%s[%d]", path, i);
    int number = od_read_number(ld, entry[i], entry_path, &field, place, OD_IN_MODEL);
    sum += fabs(od_number_value(ld, number));
  }
  bool sound = od_messages_errors(ld->messages) == errors_before;
  if (sound && kind == OD_DIRECTION && sum == 0)
    od_messages_add(ld->messages, place, "'%s' has no direction: all its entries are zero; expected a nonzero vector",
                    label);
  if (sound && kind == OD_SIZE && node >= 0 && entry[2] < 0 && !od_number_is_given(ld, first + 2))
    od_messages_add(ld->messages, place, "found a list of length 2; '%s' must have three lengths", label);
  return first;
}

int od_read_vector_key(od_loader *ld, const od_section *section, const char *name, od_vector_kind kind,
                       const double *fallback) {
  int node = fallback == NULL ? od_section_need(ld, section, name) : od_section_get(ld, section, name);
  // This value replaces a missing vector. It is not zero, so that a missing direction has only one message.
  static const double placeholder[3] = {0, 0, 1};
  return od_read_vector(ld, node, od_path(ld, section->path, name), name, od_key_of(section->of, name), kind,
                        fallback != NULL ? fallback : placeholder, od_place_of(ld, section->node));
}

int od_read_two_numbers(od_loader *ld, const od_section *section, const char *key, const char *wanted,
                        const od_field field[2]) {
  int entry[2] = {-1, -1};
  int node = od_section_get(ld, section, key);
  od_read_list(ld, node, key, wanted, 2, entry);
  int first = ld->document->numbers.count;
  for (int i = 0; i < 2; i++)
    od_read_number(ld, entry[i], od_path(ld, section->path, field[i].key), &field[i],
                   od_place_of(ld, node >= 0 ? node : section->node), OD_IN_MODEL);
  bool given = od_number_is_given(ld, first) && od_number_is_given(ld, first + 1);
  if (node < 0 && isnan(field[0].fallback) && !given) od_section_lacks(ld, section, key);
  return first;
}

// --- Access to numbers --------------------------------------------------------------------------------------------

bool od_is_given(od_loader *ld, const od_section *section, const char *key) {
  return od_section_get(ld, section, key) >= 0 ||
         od_numbers_is_overridden(&ld->document->numbers, od_path(ld, section->path, key));
}

// Returns the entry of a number; NULL if an allocation failed when the number was added.
static const od_number_entry *entry_of(const od_loader *ld, int number) {
  return number >= 0 && number < ld->document->numbers.count ? &ld->document->numbers.item[number] : NULL;
}

double od_number_value(const od_loader *ld, int number) {
  const od_number_entry *entry = entry_of(ld, number);
  return entry != NULL ? entry->number.value : 0;
}

int od_number_theta(const od_loader *ld, int number) {
  const od_number_entry *entry = entry_of(ld, number);
  return entry != NULL ? entry->theta : -1;
}

bool od_number_is_given(const od_loader *ld, int number) {
  const od_number_entry *entry = entry_of(ld, number);
  return entry != NULL && entry->number.given != NULL;
}

void od_say_number(od_loader *ld, bool is_warning, int number, const char *format, ...) {
  const od_number_entry *entry = entry_of(ld, number);
  if (entry == NULL) return;
  va_list args;
  va_start(args, format);
  say(ld, is_warning, &(od_given){entry->number.path, NULL, entry->number.given, entry->place}, format, args);
  va_end(args);
}
