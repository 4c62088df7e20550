#include "fmu_host/model_description.h"

#include <errno.h>
#include <expat.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 64, MOST_NAME = 900, MOST_TYPES = 100000 };

// The unit of a declared type of variables.
typedef struct declared {
  const char *name;
  int unit;
} declared;

// The section of the file that contains the current element.
typedef enum section { ELSEWHERE, UNITS, TYPES, VARIABLES, STRUCTURE } section;

// The lists of ModelStructure that the program reads.
typedef enum unknowns { NO_LIST, OUTPUTS, DERIVATIVES } unknowns;

// A variable with its value reference.
typedef struct reference {
  uint32_t value;
  int variable;
} reference;

typedef struct reader {
  XML_Parser parser;
  od_arena *arena;
  od_fmu_description *d;
  od_error *err;
  bool failed;
  int depth;
  section in;
  declared *type;
  int types;
  long *derivative_of;      // for each variable: value of the attribute "derivative"; -1: none
  reference *by_reference;  // all variables in the order of their value references (FMI 3)
  unknowns list;            // the current list of ModelStructure (FMI 2)
} reader;

static void fail(reader *r, const char *format, const char *a, const char *b) {
  if (r->failed) return;
  r->failed = true;
  char text[OD_HELPER_TEXT / 2];
  snprintf(text, sizeof text, format, a, b);
  od_fail(r->err, OD_BAD_INPUT, "modelDescription.xml, line %lu: %s", XML_GetCurrentLineNumber(r->parser), text);
  XML_StopParser(r->parser, XML_FALSE);
}

// --- Attributes ---------------------------------------------------------------------------------------------------

static const char *get(const char **attributes, const char *name) {
  for (; *attributes; attributes += 2)
    if (strcmp(attributes[0], name) == 0) return attributes[1];
  return NULL;
}

static bool is_true(const char **attributes, const char *name) {
  const char *text = get(attributes, name);
  return text && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

// Returns a copy of an attribute; NULL: the attribute is absent, or too long, which is reported.
static const char *text_of(reader *r, const char **attributes, const char *name) {
  const char *text = get(attributes, name);
  if (!text) return NULL;
  if (strlen(text) > MOST_NAME) {
    fail(r, "the attribute '%s' is longer than 900 bytes%s", name, "");
    return NULL;
  }
  return od_arena_text(r->arena, text);
}

static const char *need(reader *r, const char **attributes, const char *element, const char *name) {
  const char *text = text_of(r, attributes, name);
  if (!text) fail(r, "the element %s has no attribute '%s'", element, name);
  return text;
}

// Reads a whole number from 0 to `most`. Returns -1 if the text is no such number.
static long whole(const char *text, long most) {
  char *end;
  errno = 0;
  if (!text || text[0] < '0' || text[0] > '9') return -1;
  long long value = strtoll(text, &end, 10);
  return *end || errno || value > most ? -1 : (long)value;
}

static double number(const char **attributes, const char *name, double fallback) {
  const char *text = get(attributes, name);
  char *end;
  if (!text) return fallback;
  double value = strtod(text, &end);
  return end > text && isfinite(value) ? value : fallback;
}

// Returns whether a text begins with a number; arrays have several numbers.
static bool is_number(const char *text) {
  char *end;
  strtod(text, &end);
  return end > text;
}

static int word(const char *text, const char *const *words, int count) {
  for (int i = 0; text && i < count; i++)
    if (words[i] && strcmp(words[i], text) == 0) return i;
  return -1;
}

// --- Units and types ----------------------------------------------------------------------------------------------

static void add_unit(reader *r, const char *name) {
  od_fmu_description *d = r->d;
  if (d->units == OD_FMU_MOST_VARIABLES) {
    fail(r, "the description has more than %s units, the largest allowed number%s", "1000000", "");
    return;
  }
  od_fmu_unit *list = name ? od_arena_extend(r->arena, d->unit, d->units, sizeof *list) : NULL;
  if (!list) return;
  d->unit = list;
  d->unit[d->units++] = (od_fmu_unit){.name = name, .factor = 1};
}

// Returns the index of the unit in the attributes; -1: none. A unit that the description does not define is added without base units.
static int unit_of(reader *r, const char **attributes) {
  const char *name = text_of(r, attributes, "unit");
  if (!name || !name[0]) return -1;
  for (int i = 0; i < r->d->units; i++)
    if (strcmp(r->d->unit[i].name, name) == 0) return i;
  int before = r->d->units;
  add_unit(r, name);
  return r->d->units > before ? before : -1;
}

static void read_base_unit(reader *r, const char **attributes) {
  static const char *const bases[OD_FMU_BASES] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
  if (r->d->units == 0) return;
  od_fmu_unit *u = &r->d->unit[r->d->units - 1];
  u->has_base = true;
  for (int i = 0; i < OD_FMU_BASES; i++) u->exponent[i] = (int)fmax(-99, fmin(99, number(attributes, bases[i], 0)));
  u->factor = number(attributes, "factor", 1);
  u->offset = number(attributes, "offset", 0);
  if (u->factor == 0) fail(r, "the factor of the unit '%s' is 0; expected another number%s", u->name, "");
}

static void add_type(reader *r, const char *name, int unit) {
  if (r->types == MOST_TYPES) {
    fail(r, "the description has more than %s types, the largest allowed number%s", "100000", "");
    return;
  }
  declared *list = name ? od_arena_extend(r->arena, r->type, r->types, sizeof *list) : NULL;
  if (!list) return;
  r->type = list;
  r->type[r->types++] = (declared){name, unit};
}

static int type_unit(const reader *r, const char *name) {
  for (int i = 0; name && i < r->types; i++)
    if (strcmp(r->type[i].name, name) == 0) return r->type[i].unit;
  return -1;
}

static void read_type(reader *r, const char *name, const char **attributes) {
  if (strcmp(name, "SimpleType") == 0) {
    add_type(r, need(r, attributes, name, "name"), -1);
  } else if (r->d->version == 2) {  // the element Real within a SimpleType
    int unit = unit_of(r, attributes);
    if (r->types > 0 && unit >= 0) r->type[r->types - 1].unit = unit;
  } else if (get(attributes, "name")) {
    const char *own = text_of(r, attributes, "name");
    add_type(r, own, unit_of(r, attributes));
  }
}

// --- Variables ----------------------------------------------------------------------------------------------------

static od_fmu_type type_of_element(const char *name) {
  static const char *const real
      [] = {"Real", "Float64"},
  *const others[OD_FMU_OTHER] = {
      [OD_FMU_FLOAT32] = "Float32", [OD_FMU_INT8] = "Int8",      [OD_FMU_UINT8] = "UInt8",   [OD_FMU_INT16] = "Int16",
      [OD_FMU_UINT16] = "UInt16",   [OD_FMU_INT32] = "Int32",    [OD_FMU_UINT32] = "UInt32", [OD_FMU_INT64] = "Int64",
      [OD_FMU_UINT64] = "UInt64",   [OD_FMU_BOOLEAN] = "Boolean"};
  if (word(name, real, 2) >= 0) return OD_FMU_REAL;
  int found = word(name, others, OD_FMU_OTHER);
  return found > 0 ? (od_fmu_type)found : OD_FMU_OTHER;
}

// Reads the attributes that FMI 2 has in the element of the type, and FMI 3 in the element of the variable.
static void read_typed(reader *r, const char *element, const char **attributes, od_fmu_variable *v) {
  bool is_enumeration = strcmp(element, "Enumeration") == 0;
  v->type = type_of_element(element);
  if (strcmp(element, "Integer") == 0) v->type = OD_FMU_INT32;
  if (is_enumeration) v->type = r->d->version == 2 ? OD_FMU_INT32 : OD_FMU_INT64;
  int unit = unit_of(r, attributes);
  v->unit = unit >= 0 ? unit : type_unit(r, get(attributes, "declaredType"));
  const char *start = get(attributes, "start");
  v->has_start = start != NULL && v->type != OD_FMU_OTHER;
  if (v->has_start && v->type != OD_FMU_BOOLEAN && !is_number(start))
    fail(r, "the start value of '%s' is not a number: '%s'", v->name, start);
  v->start = v->type == OD_FMU_BOOLEAN ? is_true(attributes, "start") : number(attributes, "start", 0);
  if (get(attributes, "derivative")) {
    long of = whole(get(attributes, "derivative"), 0xffffffffL);
    if (of < 0)
      fail(r, "the attribute 'derivative' of '%s' is not a whole number: '%s'", v->name, get(attributes, "derivative"));
    r->derivative_of[r->d->variables - 1] = of;
  }
}

static void add_variable(reader *r, const char *element, const char **attributes) {
  static const char *const causalities[OD_FMU_CAUSALITIES] = {
      "local", "parameter", "calculatedParameter", "structuralParameter", "input", "output", "independent"};
  static const char *const variabilities[OD_FMU_VARIABILITIES] = {"continuous", "discrete", "tunable", "fixed",
                                                                  "constant"};
  od_fmu_description *d = r->d;
  const char *name = need(r, attributes, element, "name"), *value_text = get(attributes, "valueReference");
  const char *causality = get(attributes, "causality"), *variability = get(attributes, "variability");
  const char *description = get(attributes, "description");
  if (r->failed || !name) return;
  if (d->variables == OD_FMU_MOST_VARIABLES) {
    fail(r, "the description has more than %s variables, the largest allowed number%s", "1000000", "");
    return;
  }
  od_fmu_variable *list = od_arena_extend(r->arena, d->variable, d->variables, sizeof *list);
  long *of = od_arena_extend(r->arena, r->derivative_of, d->variables, sizeof *of);
  if (!list || !of) return;
  d->variable = list, r->derivative_of = of;
  od_fmu_variable *v = &d->variable[d->variables++];
  r->derivative_of[d->variables - 1] = -1;
  *v = (od_fmu_variable){.name = name, .unit = -1, .type = OD_FMU_OTHER};
  v->description = description && strlen(description) <= MOST_NAME ? od_arena_text(r->arena, description) : "";
  int found = causality ? word(causality, causalities, OD_FMU_CAUSALITIES) : OD_FMU_LOCAL;
  if (found < 0) fail(r, "the causality of '%s' is '%s', which FMI does not have", name, causality);
  v->causality = found >= 0 ? (od_fmu_causality)found : OD_FMU_LOCAL;
  found = variability ? word(variability, variabilities, OD_FMU_VARIABILITIES) : OD_FMU_CONTINUOUS;
  if (found < 0) fail(r, "the variability of '%s' is '%s', which FMI does not have", name, variability);
  v->variability = found >= 0 ? (od_fmu_variability)found : OD_FMU_CONTINUOUS;
  long value = whole(value_text, 0xffffffffL);
  if (value < 0) fail(r, "the value reference of '%s' is not a whole number: '%s'", name, value_text ? value_text : "");
  v->reference = value >= 0 ? (uint32_t)value : 0;
  if (d->version == 3) read_typed(r, element, attributes, v);
}

// --- The structure ------------------------------------------------------------------------------------------------

static int by_value(const void *a, const void *b) {
  uint32_t x = ((const reference *)a)->value, y = ((const reference *)b)->value;
  return (x > y) - (x < y);
}

static bool sort_variables(reader *r) {
  r->by_reference = OD_TAKE(r->arena, reference, r->d->variables);
  if (!r->by_reference) return false;
  for (int i = 0; i < r->d->variables; i++) r->by_reference[i] = (reference){r->d->variable[i].reference, i};
  qsort(r->by_reference, (size_t)r->d->variables, sizeof *r->by_reference, by_value);
  return true;
}

// Returns the variable that a number denotes: an index from 1 in FMI 2, a value reference in FMI 3. -1: there is none.
static int variable_of(reader *r, long value) {
  int count = r->d->variables;
  if (value < 0 || r->failed) return -1;
  if (r->d->version == 2) return value >= 1 && value <= count ? (int)value - 1 : -1;
  if (!r->by_reference && !sort_variables(r)) return -1;
  int low = 0, high = count - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if ((long)r->by_reference[middle].value < value)
      low = middle + 1;
    else
      high = middle;
  }
  return count > 0 && (long)r->by_reference[low].value == value ? r->by_reference[low].variable : -1;
}

// Returns whether a list of dependencies contains an input. Without a list, the output may depend on all inputs.
static bool depends_on_input(reader *r, const char *list) {
  if (!list) return true;
  while (*list) {
    char *end;
    long long value = strtoll(list, &end, 10);
    if (end == list) break;
    int v = value >= 0 && value <= 0xffffffffLL ? variable_of(r, (long)value) : -1;
    if (v >= 0 && r->d->variable[v].causality == OD_FMU_INPUT) return true;
    list = end;
  }
  return false;
}

static void add_state(reader *r, int derivative) {
  od_fmu_description *d = r->d;
  long of = derivative >= 0 ? r->derivative_of[derivative] : -1;
  int state = variable_of(r, of);
  if (derivative < 0 || state < 0) {
    fail(r, "the derivative '%s' in ModelStructure belongs to no state%s",
         derivative >= 0 ? d->variable[derivative].name : "?", "");
    return;
  }
  if (d->states == OD_FMU_MOST_STATES) {
    fail(r, "the description has more than %s states, the largest allowed number%s", "100000", "");
    return;
  }
  int *states = od_arena_extend(r->arena, d->state, d->states, sizeof *states);
  int *derivatives = od_arena_extend(r->arena, d->derivative, d->states, sizeof *derivatives);
  if (!states || !derivatives) return;
  d->state = states, d->derivative = derivatives;
  d->state[d->states] = state;
  d->derivative[d->states++] = derivative;
}

static void read_unknown(reader *r, unknowns kind, const char *element, const char **attributes) {
  const char *name = r->d->version == 2 ? "index" : "valueReference", *text = get(attributes, name);
  int v = variable_of(r, whole(text, 0xffffffffL));
  if (v < 0) {
    fail(r, "the element %s of ModelStructure refers to the variable '%s', which does not exist", element,
         text ? text : "");
  } else if (kind == DERIVATIVES) {
    add_state(r, v);
  } else if (kind == OUTPUTS) {
    r->d->variable[v].depends_directly = depends_on_input(r, get(attributes, "dependencies"));
  }
}

// --- Elements -----------------------------------------------------------------------------------------------------

static void read_root(reader *r, const char *name, const char **attributes) {
  od_fmu_description *d = r->d;
  if (strcmp(name, "fmiModelDescription") != 0) {
    fail(r, "found the element %s, expected fmiModelDescription%s", name, "");
    return;
  }
  const char *version = need(r, attributes, name, "fmiVersion");
  if (!version) return;
  d->version = strncmp(version, "2.", 2) == 0 ? 2 : strncmp(version, "3.", 2) == 0 ? 3 : 0;
  if (!d->version) fail(r, "the FMU has FMI version '%s'; expected 2.0 or 3.0%s", version, "");
  d->model = need(r, attributes, name, "modelName");
  d->token = d->version ? need(r, attributes, name, d->version == 2 ? "guid" : "instantiationToken") : NULL;
  long indicators = whole(get(attributes, "numberOfEventIndicators"), OD_FMU_MOST_STATES);
  if (d->version == 2 && get(attributes, "numberOfEventIndicators") && indicators < 0)
    fail(r, "the number of event indicators is '%s'; expected a whole number up to 100000%s",
         get(attributes, "numberOfEventIndicators"), "");
  d->indicators = indicators > 0 ? (int)indicators : 0;
}

static void read_interface(reader *r, od_fmu_interface which, const char *element, const char **attributes) {
  bool two = r->d->version == 2;
  od_fmu_ability *a = &r->d->ability[which];
  a->identifier = need(r, attributes, element, "modelIdentifier");
  for (const char *at = a->identifier; at && *at; at++)
    if (*at == '/' || *at == '\\' || (unsigned char)*at < ' ')
      fail(r, "the model identifier '%s' is not the name of a file%s", a->identifier, "");
  if (a->identifier && (!a->identifier[0] || a->identifier[0] == '.'))
    fail(r, "the model identifier '%s' is not the name of a file%s", a->identifier, "");
  a->saves_state = is_true(attributes, two ? "canGetAndSetFMUstate" : "canGetAndSetFMUState");
  a->serializes = is_true(attributes, two ? "canSerializeFMUstate" : "canSerializeFMUState");
  a->has_derivatives = is_true(attributes, two ? "providesDirectionalDerivative" : "providesDirectionalDerivatives");
  a->needs_tool = is_true(attributes, "needsExecutionTool");
}

static void read_structure(reader *r, const char *name, const char **attributes) {
  if (r->d->version == 2 && r->depth == 2)
    r->list = strcmp(name, "Outputs") == 0 ? OUTPUTS : strcmp(name, "Derivatives") == 0 ? DERIVATIVES : NO_LIST;
  else if (r->d->version == 2)
    read_unknown(r, r->list, name, attributes);
  else if (r->depth == 2 && strcmp(name, "Output") == 0)
    read_unknown(r, OUTPUTS, name, attributes);
  else if (r->depth == 2 && strcmp(name, "ContinuousStateDerivative") == 0)
    read_unknown(r, DERIVATIVES, name, attributes);
  else if (r->depth == 2 && strcmp(name, "EventIndicator") == 0 && r->d->indicators < OD_FMU_MOST_STATES)
    r->d->indicators++;
}

static void start_section(reader *r, const char *name, const char **attributes) {
  static const char *const sections[] = {"", "UnitDefinitions", "TypeDefinitions", "ModelVariables", "ModelStructure"};
  int found = word(name, sections, 5);
  r->in = found > 0 ? (section)found : ELSEWHERE;
  if (strcmp(name, "ModelExchange") == 0) read_interface(r, OD_FMU_MODEL_EXCHANGE, name, attributes);
  if (strcmp(name, "CoSimulation") == 0) read_interface(r, OD_FMU_CO_SIMULATION, name, attributes);
  if (strcmp(name, "DefaultExperiment") == 0) r->d->step = fmax(0, number(attributes, "stepSize", 0));
}

static void start(void *user, const char *name, const char **attributes) {
  reader *r = user;
  od_fmu_description *d = r->d;
  if (r->depth == MOST_DEPTH) fail(r, "elements are nested more than %s levels deep%s", "64", "");
  if (r->failed) return;
  if (r->depth == 0) read_root(r, name, attributes);
  if (r->depth == 1) start_section(r, name, attributes);
  if (r->depth == 2 && r->in == UNITS) add_unit(r, need(r, attributes, name, "name"));
  if (r->depth == 3 && r->in == UNITS && strcmp(name, "BaseUnit") == 0) read_base_unit(r, attributes);
  if ((r->depth == 2 || (r->depth == 3 && d->version == 2)) && r->in == TYPES) read_type(r, name, attributes);
  if (r->depth == 2 && r->in == VARIABLES) add_variable(r, name, attributes);
  if (r->depth == 3 && r->in == VARIABLES && d->variables > 0) {
    od_fmu_variable *v = &d->variable[d->variables - 1];
    bool is_array = d->version == 3 && strcmp(name, "Dimension") == 0;
    if (is_array) v->type = OD_FMU_OTHER, v->has_start = false;
    if (d->version == 2 && strcmp(name, "Annotations") != 0) read_typed(r, name, attributes, v);
  }
  if (r->depth >= 2 && r->in == STRUCTURE) read_structure(r, name, attributes);
  r->depth++;
}

static void end(void *user, const char *name) {
  (void)name;
  ((reader *)user)->depth--;
}

static void refuse_document_type(void *user, const char *name, const char *system, const char *public, int internal) {
  (void)name, (void)system, (void)public, (void)internal;
  fail(user, "found a document type, which could contain entities; a model description has %s%s", "none", "");
}

// --- The file -----------------------------------------------------------------------------------------------------

static od_status check(const reader *r, od_error *err) {
  const od_fmu_description *d = r->d;
  if (!d->ability[0].identifier && !d->ability[1].identifier)
    return od_fail(err, OD_BAD_INPUT,
                   "the FMU has no interface that can be imported; expected model exchange or co-simulation");
  return od_arena_status(r->arena) == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

od_status od_fmu_read_description(const char *xml, size_t size, od_arena *arena, od_fmu_description *d, od_error *err) {
  *d = (od_fmu_description){0};
  reader r = {.arena = arena, .d = d, .err = err, .parser = XML_ParserCreate(NULL)};
  if (!r.parser) return od_fail(err, OD_NO_MEMORY, "out of memory");
  XML_SetUserData(r.parser, &r);
  XML_SetElementHandler(r.parser, start, end);
  XML_SetStartDoctypeDeclHandler(r.parser, refuse_document_type);
  enum { PIECE = 1 << 20 };
  enum XML_Status status = XML_STATUS_OK;
  for (size_t at = 0; at <= size && status == XML_STATUS_OK && !r.failed; at += PIECE) {
    size_t left = size - at, piece = left < PIECE ? left : PIECE;
    status = XML_Parse(r.parser, xml + at, (int)piece, left <= PIECE);
    if (left <= PIECE) break;
  }
  if (status != XML_STATUS_OK && !r.failed)
    od_fail(err, OD_BAD_INPUT, "modelDescription.xml, line %lu: %s", XML_GetCurrentLineNumber(r.parser),
            XML_ErrorString(XML_GetErrorCode(r.parser)));
  XML_ParserFree(r.parser);
  if (status != XML_STATUS_OK || r.failed) return OD_BAD_INPUT;
  return check(&r, err);
}
