// oleodyn schema: a JSON schema of files, for editors that complete and check while one types.
//
// Sections of elements, blocks, signals, filters, friction laws and integrators come from the tables that the readers loop over,
// the rest from schema_table.c. It is looser than the readers: it knows no references, units and numbers that depend on
// each other, which 'oleodyn check' does.
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blocks/block_classes.h"
#include "commands/command.h"
#include "options/options.h"
#include "output/schema_table.h"
#include "terminal/terminal.h"
#include "document/suggest.h"
#include "elements/elements.h"
#include "experiment/error_metrics.h"
#include "filters/filter_types.h"
#include "io/json.h"
#include "machine/method_names.h"
#include "machine/signal_forms.h"

// --- Pieces -------------------------------------------------------------------------------------------------------

static json_t *reference(const char *definition) {
  char text[120];
  snprintf(text, sizeof text, "#/definitions/%s", definition);
  for (char *c = text; *c; c++)
    if (*c == ' ') *c = '-';
  return json_pack("{s:s}", "$ref", text);
}

static json_t *number(void) {
  return json_pack("{s:[s, s]}", "type", "number", "string");
}

static json_t *list_of(json_t *item) {
  return json_pack("{s:[{s:s, s:o}, {s:s, s:s}]}", "anyOf", "type", "array", "items", item, "type", "string", "pattern",
                   "^\\$");
}

// Words, or what a parameter of a template stands for.
static json_t *choice_of(json_t *words) {
  return json_pack("{s:[{s:o}, {s:s, s:s}]}", "anyOf", "enum", words, "type", "string", "pattern", "^\\$");
}

static json_t *words_of(const char *text) {
  json_t *list = json_array();
  for (size_t length; *text; text += length + (text[length] == '|')) {
    length = strcspn(text, "|");
    json_array_append_new(list, json_stringn(text, length));
  }
  return list;
}

static json_t *names_json(const od_method_names *names) {
  json_t *list = json_array();
  for (int i = 0; names->name[i]; i++) json_array_append_new(list, json_string(names->name[i]));
  return list;
}

static json_t *map_of(json_t *value) {
  return json_pack("{s:[s, s], s:{s:[o, {s:s}]}}", "type", "object", "null", "additionalProperties", "anyOf", value,
                   "type", "null");
}

static json_t *value_of(const od_schema_row *row) {
  switch (row->kind) {
    case OD_SCHEMA_NUMBER: return number();
    case OD_SCHEMA_NUMBERS: return list_of(number());
    case OD_SCHEMA_TABLE: return list_of(list_of(number()));
    case OD_SCHEMA_TEXTS:
      return json_pack("{s:[{s:s}, {s:s, s:{s:s}}]}", "anyOf", "type", "string", "type", "array", "items", "type",
                       "string");
    case OD_SCHEMA_WHOLE: return json_pack("{s:[s, s]}", "type", "integer", "string");
    case OD_SCHEMA_FLAG: return json_pack("{s:[s, s]}", "type", "boolean", "string");
    case OD_SCHEMA_CHOICE: return choice_of(words_of(row->of));
    case OD_SCHEMA_PART: return reference(row->of);
    case OD_SCHEMA_PARTS: return list_of(reference(row->of));
    case OD_SCHEMA_MAP: return map_of(reference(row->of));
    case OD_SCHEMA_NUMBER_MAP: return map_of(number());
    case OD_SCHEMA_NUMBER_MAP_OR_WORD: return json_pack("{s:[o, {s:[s]}]}", "anyOf", map_of(number()), "enum", row->of);
    default: return json_pack("{s:[s, s]}", "type", "string", "number");
  }
}

// A property with what it means; a key with nothing takes away what is there, in variants and files that include others.
static void add(json_t *properties, const char *key, json_t *value, const char *meaning, const char *unit) {
  char text[400];
  bool has_unit = unit && *unit && strcmp(unit, "1") != 0 && strcmp(unit, "*") != 0;
  snprintf(text, sizeof text, "%s%s%s", meaning ? meaning : "", meaning && has_unit ? ", " : "", has_unit ? unit : "");
  json_t *property = json_pack("{s:[o, {s:s}]}", "anyOf", value, "type", "null");
  if (text[0]) json_object_set_new(property, "description", json_string(text));
  json_object_set_new(properties, key, property);
}

static json_t *closed(json_t *properties) {
  return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties, "additionalProperties", 0);
}

// The same where a word alone will do, or a number.
static json_t *or_text(json_t *object) {
  return json_pack("{s:[o, {s:[s, s, s, s]}]}", "anyOf", object, "type", "string", "number", "boolean", "null");
}

static const od_schema_row *const tables[] = {od_schema_rows, od_schema_friction_rows};
enum { TABLES = sizeof tables / sizeof *tables };

static void add_rows(json_t *properties, const char *definition) {
  for (int i = 0; i < TABLES; i++)
    for (const od_schema_row *row = tables[i]; row->key; row++)
      if (strcmp(row->in, definition) == 0) {
        bool has_unit = row->kind == OD_SCHEMA_NUMBER || row->kind == OD_SCHEMA_NUMBERS;
        add(properties, row->key, value_of(row), row->meaning, has_unit ? row->of : NULL);
      }
}

// --- What comes from tables ---------------------------------------------------------------------------------------

static void add_fields(json_t *properties, const od_element_class *c) {
  for (int i = 0; i < c->field_count; i++)
    add(properties, c->fields[i].key, number(), c->fields[i].meaning, c->fields[i].unit);
}

// Valves and cylinders have readers of their own.
static bool has_own_reader(const od_element_class *c) {
  return strcmp(c->section, "valves") == 0 || strcmp(c->section, "cylinders") == 0;
}

// A formula, its inputs and its numbers.
static void add_formula(json_t *properties, const char *key) {
  json_t *text = json_pack("{s:[s, s]}", "type", "string", "number");
  add(properties, key, json_incref(text), "a formula", NULL);
  add(properties, "inputs", map_of(text), "names and the signals that they are", NULL);
  add(properties, "parameters", map_of(number()), "names and numbers", NULL);
}

static json_t *component(const od_element_class *c) {
  json_t *properties = json_object(), *texts = json_pack("{s:[s, s]}", "type", "string", "array");
  bool somewhere = c->acts == OD_ACTS_SOMEWHERE;
  if (c->acts == OD_ACTS_BETWEEN_POINTS || somewhere)
    add(properties, "between", json_incref(texts), "two points", NULL);
  if (c->acts == OD_ACTS_IN_JOINT || somewhere) add(properties, "joint", json_incref(texts), "a joint", NULL);
  for (int i = 0; i < OD_MOST_END_KEYS && c->ends[i].key; i++)
    add(properties, c->ends[i].key, json_incref(texts), c->ends[i].count == 2 ? "two nodes" : "a node", NULL);
  if (c->signal_key) add(properties, c->signal_key, json_incref(texts), "an input or a block", NULL);
  add_fields(properties, c);
  if (c->formula_key) add_formula(properties, c->formula_key);
  json_decref(texts);
  return closed(properties);
}

// The numbers of the blocks that make a factor of pressures.
static json_t *friction_pressure(void) {
  static const char *const types[] = {"pressure-factor", "pressure-table", "pressure-map"};
  json_t *properties = json_object();
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    const od_block_class *c = od_block_classes[od_block_class_find(types[i])];
    for (int k = 0; k < OD_MOST_BLOCK_FIELDS && c->fields[k].key; k++) {
      bool list = c->fields[k].shape != OD_ONE_NUMBER;
      add(properties, c->fields[k].key, list ? list_of(number()) : number(), c->fields[k].meaning, c->fields[k].unit);
    }
  }
  return closed(properties);
}

static json_t *friction(void) {
  json_t *properties = json_object(), *laws = json_array();
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_class *c = od_element_class_at(i);
    if (!c->inside || strcmp(c->inside, "friction") != 0) continue;
    json_array_append_new(laws, json_string(c->choice));
    add_fields(properties, c);
  }
  add(properties, "law", choice_of(laws), "the friction law", NULL);
  add(properties, "pressure", friction_pressure(), "how it follows the pressures in the cylinder's chambers", NULL);
  return or_text(closed(properties));
}

static void add_block_keys(const od_block_class *c, json_t *properties, json_t *keys) {
  json_t *any = json_pack("{s:[s, s, s, s]}", "type", "string", "number", "array", "object");
  if (c->formula_key) {
    add(properties, c->formula_key, c->margin ? list_of(reference("transition")) : json_incref(any), c->formula_meaning,
        NULL);
    json_object_set_new(keys, c->formula_key, json_object());
  }
  add(properties, "unit", json_incref(any), "of its output", NULL);
  for (int i = 0; i < OD_MOST_INPUT_KEYS && c->inputs[i].key; i++) {
    add(properties, c->inputs[i].key, json_incref(any), "an input, a block or a quantity", NULL);
    json_object_set_new(keys, c->inputs[i].key, json_object());
  }
  for (int i = 0; i < OD_MOST_BLOCK_FIELDS && c->fields[i].key; i++) {
    add(properties, c->fields[i].key, json_incref(any), c->fields[i].meaning, c->fields[i].unit);
    json_object_set_new(keys, c->fields[i].key, json_object());
    if (!c->fields[i].or_key) continue;
    add(properties, c->fields[i].or_key, json_incref(any), c->fields[i].meaning, c->fields[i].or_unit);
    json_object_set_new(keys, c->fields[i].or_key, json_object());
  }
  if (od_block_can_be_sampled(c)) {
    add(properties, "sample", json_incref(any), "it runs once in that time", "s");
    json_object_set_new(keys, "sample", json_object());
  }
  json_decref(any);
}

// All keys of all types, and for each type which of them it has.
static json_t *block(void) {
  json_t *properties = json_object(), *types = json_array(), *rules = json_array();
  for (int i = 0; i < od_block_class_count(); i++) {
    const od_block_class *c = od_block_classes[i];
    json_t *keys = json_pack("{s:{}, s:{}}", "type", "unit");
    add_block_keys(c, properties, keys);
    json_array_append_new(types, json_string(c->type));
    // A key of another type may stand there with nothing, in a variant that changes the type.
    json_array_append_new(
        rules, json_pack("{s:{s:{s:{s:s}}, s:[s]}, s:{s:o, s:{s:s}}}", "if", "properties", "type", "const", c->type,
                         "required", "type", "then", "properties", keys, "additionalProperties", "type", "null"));
  }
  add(properties, "type", choice_of(types), "what it does", NULL);
  json_t *object = closed(properties);
  json_object_set_new(object, "allOf", rules);
  return object;
}

static json_t *signal(void) {
  json_t *properties = json_object();
  add_rows(properties, "signal");
  for (int i = 0; od_signal_form_at(i).name; i++) {
    const od_signal_form f = od_signal_form_at(i);
    json_t *inner = json_object();
    for (int k = 0; k < f.fields; k++) add(inner, f.field[k].key, number(), NULL, f.field[k].unit);
    if (f.pairs) add(inner, "at", list_of(list_of(number())), "pairs of time and value", NULL);
    if (f.has_sweep) add(inner, "sweep", choice_of(words_of("linear|logarithmic")), NULL, NULL);
    add(properties, f.name, closed(inner), NULL, NULL);
  }
  return or_text(closed(properties));
}

static json_t *filter(void) {
  const od_method_names names = od_method_names_filters();
  json_t *properties = json_object();
  add_rows(properties, "filter");
  for (int i = 0; names.name[i]; i++)
    for (int k = 0; k < od_filter_type_at(i)->options; k++)
      add(properties, od_filter_type_at(i)->option[k].key, number(), od_filter_type_at(i)->option[k].meaning, NULL);
  add(properties, "type", choice_of(names_json(&names)), "the filter", NULL);
  return or_text(closed(properties));
}

static json_t *metric(void) {
  json_t *properties = json_object(), *texts = json_pack("{s:[s, s, s]}", "type", "string", "array", "object");
  for (int i = 0; od_error_metric_classes[i].key; i++)
    add(properties, od_error_metric_classes[i].key, json_incref(texts), "outputs", NULL);
  add(properties, "points", number(), NULL, NULL);
  add(properties, "from", number(), NULL, "s");
  add(properties, "to", number(), NULL, "s");
  json_decref(texts);
  return closed(properties);
}

// --- The whole ----------------------------------------------------------------------------------------------------

static void define(json_t *definitions, const char *name, json_t *value) {
  char key[80];
  snprintf(key, sizeof key, "%s", name);
  for (char *c = key; *c; c++)
    if (*c == ' ') *c = '-';
  json_object_set_new(definitions, key, value);
}

static json_t *sections(const char *of_file) {
  json_t *properties = json_object();
  add_rows(properties, of_file);
  add_rows(properties, "sections");
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_class *c = od_element_class_at(i);
    if (!c->section) continue;
    const char *definition = !has_own_reader(c) ? c->section : strcmp(c->section, "valves") == 0 ? "valve" : "cylinder";
    add(properties, c->section, map_of(reference(definition)), c->summary, NULL);
  }
  return closed(properties);
}

// What its rows say; some may be a word alone instead.
static json_t *by_rows(const char *name) {
  static const char *const words[] = {"curve", "sensor colour", "dies", "channel", "log", "set"};
  json_t *properties = json_object();
  bool word = false;
  const od_method_names integrators = od_method_names_integrators(OD_CVODES);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) word = word || strcmp(words[i], name) == 0;
  add_rows(properties, name);
  if (strcmp(name, "run") == 0 || strcmp(name, "experiment") == 0 || strcmp(name, "fit settings") == 0)
    add(properties, "integrator", choice_of(names_json(&integrators)), "the integrator", NULL);
  return word ? or_text(closed(properties)) : closed(properties);
}

static json_t *all_definitions(void) {
  json_t *definitions = json_object();
  for (int i = 0; i < TABLES; i++)
    for (const od_schema_row *row = tables[i]; row->key; row++) {
      bool again = row > tables[i] && strcmp(row->in, row[-1].in) == 0;
      if (!again && strcmp(row->in, "sections") != 0) define(definitions, row->in, by_rows(row->in));
    }
  define(definitions, "machine", sections("machine"));
  define(definitions, "template", sections("template"));
  define(definitions, "vector", list_of(number()));
  define(definitions, "inertia", json_pack("{s:[s, s, s]}", "type", "number", "string", "array"));
  define(definitions, "instance",
         json_pack("{s:s, s:{s:{s:s}}}", "type", "object", "properties", "template", "type", "string"));
  define(definitions, "anything", json_object());
  define(definitions, "friction", friction());
  define(definitions, "block", block());
  define(definitions, "signal", signal());
  define(definitions, "filter", filter());
  define(definitions, "metric", metric());
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_class *c = od_element_class_at(i);
    if (c->section && !has_own_reader(c)) define(definitions, c->section, component(c));
  }
  return definitions;
}

static const char *const kinds[] = {"machine", "experiment", "fit", "study", "friction"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int find_kind(const char *name) {
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < KINDS; i++) {
    if (strcmp(kinds[i], name) == 0) return i;
    od_nearest_try(&nearest, kinds[i]);
  }
  od_cli_error("there is no schema of '%s'%s; there are machine, experiment, fit, study and friction", name,
               od_nearest_suggestion(&nearest).text);
  return -1;
}

int od_command_schema(int argc, char **argv) {
  const od_usage usage = {
      "schema",
      "[machine | experiment | fit | study | friction]",
      "print a JSON schema of files, for editors that complete keys and mark mistakes",
      "Without a word it is that of machine files. A line '# yaml-language-server: $schema=FILE' at the top of a file\n"
      "tells many editors where it is. 'oleodyn check' knows more.\n",
      NULL,
      0};
  od_words arguments = {0};
  int code = od_options_parse_counted(&usage, argc, argv, 0, 1, &arguments);
  int kind = code >= 0 ? -1 : arguments.count ? find_kind(arguments.text[0]) : 0;
  od_words_free(&arguments);
  if (code >= 0) return code;
  if (kind < 0) return OD_EXIT_BAD_INPUT;
  char title[60];
  snprintf(title, sizeof title, "oleodyn %s file", kinds[kind]);
  json_t *schema = json_pack("{s:s, s:s, s:o}", "$schema", "http://json-schema.org/draft-07/schema#", "title", title,
                             "definitions", all_definitions());
  // Fits are experiments with more sections; 'friction' alone is a part of machines.
  json_t *root = reference(strcmp(kinds[kind], "fit") == 0        ? "experiment"
                           : strcmp(kinds[kind], "friction") == 0 ? "friction file"
                                                                  : kinds[kind]);
  json_object_set_new(schema, "allOf", json_pack("[o]", root));
  od_error err = {0};
  od_status status = od_json_write(schema, "-", &err);
  json_decref(schema);
  if (status != OD_OK) od_cli_error("%s", err.text);
  return od_exit_code(status);
}
