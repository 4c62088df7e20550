// The job schema: prints the JSON schema of a kind of file, for editors that complete and check texts during typing.
//
// The schema is generated from the tables of the readers: sections (document/section.h), elements, blocks. The schema accepts more
// than the readers: it does not check references, units and numbers that depend on each other. 'oleodyn check' also checks
// references, units and such numbers.
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "jobs/job.h"
#include "blocks/block_classes.h"
#include "document/document.h"
#include "document/suggest.h"
#include "elements/elements.h"
#include "experiment/experiment_sections.h"
#include "friction_fit/friction_sections.h"
#include "io/json.h"
#include "machine/sections.h"
#include "jobs/section_reference.h"
#include "study/study.h"
#include "twin/twin.h"

// --- Parts of schemas -------------------------------------------------------------------------------------------------------

static void definition_name(const char *name, char *text, size_t size) {
  snprintf(text, size, "%s", name);
  for (char *c = text; *c; c++)
    if (*c == ' ') *c = '-';
}

static json_t *reference(const char *definition) {
  char name[80], text[120];
  definition_name(definition, name, sizeof name);
  snprintf(text, sizeof text, "#/definitions/%s", name);
  return json_pack("{s:s}", "$ref", text);
}

static json_t *number(void) {
  return json_pack("{s:[s, s]}", "type", "number", "string");
}

static json_t *list_of(json_t *item) {
  return json_pack("{s:[{s:s, s:o}, {s:s, s:s}]}", "anyOf", "type", "array", "items", item, "type", "string", "pattern",
                   "^\\$");
}

// Returns a schema for one of the words, or a reference to a template parameter.
static json_t *choice_of(json_t *words) {
  return json_pack("{s:[{s:o}, {s:s, s:s}]}", "anyOf", "enum", words, "type", "string", "pattern", "^\\$");
}

static json_t *words_of(const od_key *key) {
  json_t *list = json_array();
  const char *word;
  int length = 0;
  for (int i = 0; (word = od_key_word(key, i, &length)) != NULL; i++)
    json_array_append_new(list, json_stringn(word, (size_t)length));
  // Some YAML readers convert the words yes and no to true and false.
  if (key->of && strstr(key->of, "yes")) {
    json_array_append_new(list, json_true());
    json_array_append_new(list, json_false());
  }
  return list;
}

static json_t *map_of(json_t *value) {
  return json_pack("{s:[s, s], s:{s:[o, {s:s}]}}", "type", "object", "null", "additionalProperties", "anyOf", value,
                   "type", "null");
}

// Returns the reference to a section: by its class, by the name of a definition, or, if neither is known, a schema that allows any value.
static json_t *section_of(const od_key *key) {
  return reference(key->inside ? key->inside->name : key->of ? key->of : "anything");
}

static json_t *value_of(const od_key *key) {
  switch (key->shape) {
    case OD_NUMBER: return number();
    case OD_NUMBERS: return list_of(number());
    case OD_ROWS: return list_of(list_of(number()));
    case OD_TEXTS:
      return json_pack("{s:[{s:s}, {s:s, s:{s:s}}]}", "anyOf", "type", "string", "type", "array", "items", "type",
                       "string");
    case OD_WHOLE: return json_pack("{s:[s, s]}", "type", "integer", "string");
    case OD_FLAG: return json_pack("{s:[s, s]}", "type", "boolean", "string");
    case OD_CHOICE: return choice_of(words_of(key));
    case OD_SECTION: return section_of(key);
    case OD_SECTIONS: return list_of(section_of(key));
    case OD_SECTION_MAP: return map_of(section_of(key));
    case OD_NUMBER_MAP: return map_of(number());
    case OD_NUMBERS_OR_WORD: return json_pack("{s:[o, {s:[s]}]}", "anyOf", map_of(number()), "enum", key->of);
    default: return json_pack("{s:[s, s]}", "type", "string", "number");
  }
}

// Adds a property and its meaning. Null is also allowed: a key without a value removes the key in variants and including files.
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

// Returns a schema for an object, or for a single word or number instead of the object.
static json_t *or_text(json_t *object) {
  return json_pack("{s:[o, {s:[s, s, s, s]}]}", "anyOf", object, "type", "string", "number", "boolean", "null");
}

static void add_key(json_t *properties, const od_key *key) {
  char meaning[600];
  od_plain_meaning(key->meaning, meaning, sizeof meaning);
  bool has_unit = key->shape == OD_NUMBER || key->shape == OD_NUMBERS || key->shape == OD_ROWS;
  add(properties, key->name, value_of(key), meaning, has_unit ? key->of : NULL);
}

// Adds the definition of a section and of all sections inside it.
static void define_section(json_t *definitions, const od_section_class *c) {
  char name[80];
  definition_name(c->name, name, sizeof name);
  if (json_object_get(definitions, name)) return;
  json_t *properties = json_object();
  json_t *object = closed(properties);
  json_object_set_new(definitions, name, c->or_word ? or_text(object) : object);
  od_key key;
  bool is_file = false;  // a file has variants, which are sections of the same class
  for (int i = 0; od_key_at(c, i, &key); i++) {
    is_file = is_file || (key.inside == c && strcmp(key.name, "variants") == 0);
    add_key(properties, &key);
    if (key.inside) define_section(definitions, key.inside);
  }
  if (is_file) add_key(properties, &od_variant_key);
}

// --- Elements and blocks ------------------------------------------------------------------------------------------

// Adds the schemas of a formula, its inputs and its numbers to `properties`.
static void add_formula(json_t *properties, const char *key) {
  json_t *text = json_pack("{s:[s, s]}", "type", "string", "number");
  add(properties, key, json_incref(text), "formula of the law", NULL);
  add(properties, "inputs", map_of(text), "names of the formula and their signals", NULL);
  add(properties, "parameters", map_of(number()), "names of the formula and their numbers", NULL);
}

static json_t *component(const od_element_description *c) {
  json_t *properties = json_object(), *texts = json_pack("{s:[s, s]}", "type", "string", "array");
  bool somewhere = c->equations->acts == OD_ACTS_SOMEWHERE;
  if (c->equations->acts == OD_ACTS_BETWEEN_POINTS || somewhere)
    add(properties, "between", json_incref(texts), "two points", NULL);
  if (c->equations->acts == OD_ACTS_IN_JOINT || somewhere)
    add(properties, "joint", json_incref(texts), "a joint", NULL);
  for (int i = 0; i < OD_MOST_END_KEYS && c->ends[i].key; i++)
    add(properties, c->ends[i].key, json_incref(texts), c->ends[i].count == 2 ? "two nodes" : "a node", NULL);
  if (c->signal_key) add(properties, c->signal_key, json_incref(texts), "an input or a block", NULL);
  for (int i = 0; i < c->field_count; i++)
    add(properties, c->fields[i].key, number(), c->fields[i].meaning, c->fields[i].unit);
  if (c->formula_key) add_formula(properties, c->formula_key);
  json_decref(texts);
  return closed(properties);
}

// Adds a property of a block to the properties of all types and to the keys of its type.
static void add_block_key(json_t *properties, json_t *keys, const char *key, json_t *value, const char *meaning,
                          const char *unit) {
  add(properties, key, value, meaning, unit);
  json_object_set_new(keys, key, json_object());
}

static void add_block_keys(const od_block_description *c, json_t *properties, json_t *keys) {
  json_t *any = json_pack("{s:[s, s, s, s]}", "type", "string", "number", "array", "object");
  if (c->formula_key)
    add_block_key(properties, keys, c->formula_key,
                  c->equations->margin ? list_of(reference("transition")) : json_incref(any), c->formula_meaning, NULL);
  add(properties, "unit", json_incref(any), "unit of the output", NULL);
  for (int i = 0; i < OD_MOST_INPUT_KEYS && c->inputs[i].key; i++)
    add_block_key(properties, keys, c->inputs[i].key, json_incref(any), "an input, a block or a quantity", NULL);
  for (int i = 0; i < OD_MOST_BLOCK_FIELDS && c->fields[i].key; i++) {
    const od_block_field *f = &c->fields[i];
    add_block_key(properties, keys, f->key, json_incref(any), f->meaning, f->unit);
    if (f->or_key) add_block_key(properties, keys, f->or_key, json_incref(any), f->meaning, f->or_unit);
  }
  if (od_block_can_be_sampled(c->equations))
    add_block_key(properties, keys, "sample", json_incref(any), "sampling period of the block", "s");
  json_decref(any);
}

// Adds the keys of an FMU, which is not a class of blocks.
static void add_fmu_keys(json_t *properties, json_t *types, json_t *rules) {
  json_t *any = json_pack("{s:[s, s, s, s]}", "type", "string", "number", "array", "object"), *keys = json_object();
  od_key key;
  for (int i = 0; od_key_at(&od_fmu_section, i, &key); i++) {
    if (!json_object_get(properties, key.name))
      add(properties, key.name, json_incref(any), key.meaning, key.shape == OD_NUMBER ? key.of : NULL);
    json_object_set_new(keys, key.name, json_object());
  }
  json_array_append_new(types, json_string("fmu"));
  json_array_append_new(
      rules, json_pack("{s:{s:{s:{s:s}}, s:[s]}, s:{s:o, s:{s:s}}}", "if", "properties", "type", "const", "fmu",
                       "required", "type", "then", "properties", keys, "additionalProperties", "type", "null"));
  json_decref(any);
}

// Adds the keys of a block with a law of the program.
static void add_law_keys(json_t *properties, json_t *types, json_t *rules) {
  static const char *const own[] = {"type", "unit", "inputs", "parameters", "sample", "law"};
  json_t *any = json_pack("{s:[s, s, s, s]}", "type", "string", "number", "array", "object"), *keys = json_object();
  add(properties, "law", json_incref(any), "name of a law that the program has registered", NULL);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) json_object_set_new(keys, own[i], json_object());
  json_array_append_new(types, json_string("foreign"));
  json_array_append_new(
      rules, json_pack("{s:{s:{s:{s:s}}, s:[s]}, s:{s:o, s:{s:s}}}", "if", "properties", "type", "const", "foreign",
                       "required", "type", "then", "properties", keys, "additionalProperties", "type", "null"));
  json_decref(any);
}

// Returns the schema of a block: all keys of all types, and for each type its own keys. The caller owns the object.
static json_t *block(void) {
  json_t *properties = json_object(), *types = json_array(), *rules = json_array();
  for (int i = 0; i < od_block_class_count(); i++) {
    const od_block_description *c = od_block_descriptions[i];
    json_t *keys = json_pack("{s:{}, s:{}}", "type", "unit");
    add_block_keys(c, properties, keys);
    json_array_append_new(types, json_string(c->equations->type));
    // In a variant that changes the type, a key of another type may be present without a value.
    json_array_append_new(rules, json_pack("{s:{s:{s:{s:s}}, s:[s]}, s:{s:o, s:{s:s}}}", "if", "properties", "type",
                                           "const", c->equations->type, "required", "type", "then", "properties", keys,
                                           "additionalProperties", "type", "null"));
  }
  add_fmu_keys(properties, types, rules);
  add_law_keys(properties, types, rules);
  add(properties, "type", choice_of(types), "type of the block", NULL);
  json_t *object = closed(properties);
  json_object_set_new(object, "allOf", rules);
  return object;
}

// --- Schemas ------------------------------------------------------------------------------------------------------

static json_t *all_definitions(void) {
  static const od_section_class *const files[] = {&od_machine_section,       &od_transition_section,
                                                  &od_experiment_section,    &od_study_section,
                                                  &od_friction_file_section, &od_twin_section};
  json_t *definitions = json_object();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) define_section(definitions, files[i]);
  json_object_set_new(definitions, "vector", list_of(number()));
  json_object_set_new(definitions, "inertia", json_pack("{s:[s, s, s]}", "type", "number", "string", "array"));
  json_object_set_new(definitions, "instance",
                      json_pack("{s:s, s:{s:{s:s}}}", "type", "object", "properties", "template", "type", "string"));
  json_object_set_new(definitions, "anything", json_object());
  json_object_set_new(definitions, "block", block());
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_description *c = od_element_description_at(i);
    // Valves and cylinders have their own readers, and thus their own section classes.
    if (c->section && strcmp(c->section, "valves") != 0 && strcmp(c->section, "cylinders") != 0)
      json_object_set_new(definitions, c->section, component(c));
  }
  return definitions;
}

// The kinds of files and their sections. Fits are experiments with more sections.
static const struct {
  const char *name;
  const od_section_class *file;
} kinds[] = {{"machine", &od_machine_section}, {"experiment", &od_experiment_section},  {"fit", &od_experiment_section},
             {"study", &od_study_section},     {"friction", &od_friction_file_section}, {"twin", &od_twin_section}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int find_kind(od_job *job, const char *name) {
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < KINDS; i++) {
    if (strcmp(kinds[i].name, name) == 0) return i;
    od_nearest_try(&nearest, kinds[i].name);
  }
  od_job_error(job, "there is no schema of '%s'%s", name, od_nearest_suggestion(&nearest, NULL).text);
  return -1;
}

static int print_schema(od_job *job, int kind) {
  char title[60];
  snprintf(title, sizeof title, "oleodyn %s file", kinds[kind].name);
  json_t *schema = json_pack("{s:s, s:s, s:o, s:[o]}", "$schema", "http://json-schema.org/draft-07/schema#", "title",
                             title, "definitions", all_definitions(), "allOf", reference(kinds[kind].file->name));
  OD_SCOPED(od_result_free) od_result result = od_result_new("Schema", kinds[kind].name);
  json_decref(result.data);
  result.data = schema;
  const od_file_contents contents = {.result = &result};
  if (!job->files.path[OD_FILE_JSON]) job->files.path[OD_FILE_JSON] = "-";
  return od_job_finish(job, &contents, NULL);
}

// Prints the table of one section of any kind of file. Without a name, prints all sections of a kind. Returns the outcome.
static int print_reference(od_job *job, int kind, const char *section) {
  const od_section_class *all[OD_MOST_SECTIONS];
  od_nearest nearest = od_nearest_to(section ? section : "");
  for (int k = section ? 0 : kind; k < (section ? KINDS : kind + 1); k++) {
    int count = od_list_sections(kinds[k].file, all);
    // The section of an FMU belongs to a type of blocks, as the keys of classes do.
    if (kinds[k].file == &od_machine_section && count < OD_MOST_SECTIONS) all[count++] = &od_fmu_section;
    for (int i = 0; i < count; i++) {
      if (section && strcmp(all[i]->name, section) == 0) {
        od_print_section_keys(all[i]);
        return OD_JOB_DONE;
      }
      od_nearest_try(&nearest, all[i]->name);
      if (!section) od_print_section(all[i]);
    }
  }
  if (!section) return OD_JOB_DONE;
  od_job_error(job, "there is no section '%s'%s", section,
               od_nearest_suggestion(&nearest, "'oleodyn schema KIND --reference' lists the sections").text);
  return OD_JOB_BAD_INPUT;
}

int od_kind_schema(od_job *job) {
  bool as_reference = false;
  const char *section = NULL;
  const od_option options[] = {{"reference", OD_OPTION_FLAG, NULL,
                                "print tables of the keys of all sections in Markdown, not the schema", &as_reference},
                               {"section", OD_OPTION_TEXT, "NAME",
                                "print a table of the keys of one section in Markdown, not the schema", &section}};
  const od_usage usage = {
      "[machine | experiment | fit | study | friction | twin]",
      "Without an argument, the schema of machine files is printed. Many editors find the schema by a line\n"
      "'# yaml-language-server: $schema=FILE' at the top of a file. 'oleodyn check' checks more than the schema.\n",
      OD_OPTIONS(options), .shared = {.file[OD_FILE_JSON] = "the schema", .is_json_alone = true}};
  od_words arguments = {0};
  OD_TRY(od_job_begin(job, &usage, 0, 1, &arguments));
  int kind = arguments.count ? find_kind(job, arguments.text[0]) : 0;
  if (kind < 0) return OD_JOB_BAD_INPUT;
  return as_reference || section ? print_reference(job, kind, section) : print_schema(job, kind);
}
