#include "machine/templates.h"

#include <string.h>

#include "document/constants.h"
#include "document/document.h"
#include "document/merge.h"
#include "document/suggest.h"
#include "machine/machine_loader.h"
#include "machine/sections.h"

enum {
  DEEPEST = 16,       // largest depth of templates that use each other
  DEEPEST_NODE = 64,  // largest depth of nodes in a template
  MOST_NODES = 500000,
  MOST_SECTIONS = 128,
  MOST_WEIGHED = 1 << 20,
  LONGEST_TEXT = 16384,
  LONGEST_CONTEXT = 160,
};

// Limits shared by all instances of a file.
typedef struct node_budget {
  int nodes;    // number of nodes that may still be added
  bool failed;  // whether an error was reported or an allocation failed
} node_budget;

// One instance of a template during its expansion.
typedef struct instance instance;
struct instance {
  od_loader *ld;
  node_budget *budget;
  const instance *outer;  // instance whose template contains this instance; NULL: the file contains this instance
  const char *template_name;
  const char *prefix;   // name of the instance: "boom", "boom.valve"
  int body;             // node of the template's map
  int key;              // node of the instance's key
  const char *context;  // place of the instance, for messages
  od_index arguments;   // nodes of the arguments by parameter
  int from[8], to[8];   // origins of the template's nodes, and of their copies
  int origins;
};

// A mark "$name" or "${name}" in a text.
typedef struct mark {
  const char *begin, *end;  // start and end of the whole mark
  const char *name;
  size_t length;  // length of the name; 0: "$$", which represents one '$'
} mark;

// Finds the next mark at or after a place. Returns false if there is no further mark.
static bool next_mark(const char *text, mark *m) {
  for (const char *c = strchr(text, '$'); c; c = strchr(c + 1, '$')) {
    bool braces = c[1] == '{';
    *m = (mark){.begin = c, .name = c + (braces ? 2 : 1)};
    m->length = od_word_length(m->name);
    m->end = m->name + m->length + (braces ? 1 : 0);
    if (m->length > 0 && (!braces || m->end[-1] == '}')) return true;
    if (c[1] == '$') {
      *m = (mark){.begin = c, .end = c + 2};
      return true;
    }
  }
  return false;
}

// --- Nodes --------------------------------------------------------------------------------------------------------

static int fail(instance *f) {
  f->budget->failed = true;
  return -1;
}

static int fail_too_large(instance *f) {
  if (!f->budget->failed)
    od_complain(f->ld, f->key,
                "the templates expand to more than %d keys and values; check templates that use each other",
                MOST_NODES);
  return fail(f);
}

static int add_origin(instance *f, od_tree_origin origin) {
  int added = od_tree_add_origin(&f->ld->tree, origin);
  if (added >= 0) return added;
  f->ld->no_memory = true;
  fail(f);
  return 0;
}

// Returns the origin of a copy: the file of the template's node, with the scope of the instance.
static int origin_for(instance *f, int source) {
  for (int i = 0; i < f->origins; i++)
    if (f->from[i] == source) return f->to[i];
  od_tree_origin origin = f->ld->tree.origin[source];
  origin.scope = f->prefix;
  origin.context = f->context;
  int added = add_origin(f, origin);
  if (f->origins < (int)(sizeof f->from / sizeof *f->from)) {
    f->from[f->origins] = source;
    f->to[f->origins++] = added;
  }
  return added;
}

static int add_node(instance *f, od_tree_node node) {
  if (f->budget->failed) return -1;
  if (f->budget->nodes-- <= 0) return fail_too_large(f);
  int added = od_tree_add(&f->ld->tree, node);
  if (added >= 0) return added;
  f->ld->no_memory = true;
  return fail(f);
}

static od_tree_node like(instance *f, int node) {
  od_tree_node copy = f->ld->tree.node[node];
  copy.first = copy.next = copy.target = -1;
  copy.origin = origin_for(f, copy.origin);
  return copy;
}

// --- Arguments ----------------------------------------------------------------------------------------------------

static const char *as_parameter(instance *f, const char *parameter, const char *context) {
  return od_format(f->ld, "given for '%s' of template '%s'%s%s", parameter, f->template_name, context ? ", " : "",
                   context ? context : "");
}

static void bind(instance *f, const char *parameter, int node) {
  if (node >= 0) od_index_add(&f->arguments, &f->ld->scratch, parameter, node);
}

// Binds a parameter to the node of an argument. The argument keeps its scope.
static void bind_node(instance *f, const char *parameter, int node) {
  const od_tree_node *given = &f->ld->tree.node[node];
  if (given->kind != OD_TREE_TEXT) {
    bind(f, parameter, node);
    return;
  }
  od_tree_origin origin = f->ld->tree.origin[given->origin];
  od_tree_node copy = *given;
  origin.context = as_parameter(f, parameter, origin.context);
  copy.origin = add_origin(f, origin);
  copy.next = -1;
  bind(f, parameter, add_node(f, copy));
}

// Binds a parameter to a text given with --set.
static void bind_text(instance *f, const char *parameter, const char *text) {
  od_tree_origin origin = {.file = "--set", .scope = "", .context = as_parameter(f, parameter, NULL)};
  int index = add_origin(f, origin);
  od_tree_node node = {.kind = OD_TREE_TEXT, .text = text, .first = -1, .next = -1, .target = -1, .origin = index};
  bind(f, parameter, add_node(f, node));
}

static int argument(instance *f, const mark *m) {
  return m->length > 0 ? od_index_find(&f->arguments, od_copy(f->ld, m->name, m->length)) : -1;
}

// Replaces parameters in a text with the texts of their arguments. Names in arguments belong to the scope of the
// argument: *names is the node of an argument that is a name, or -1.
static const char *replace(instance *f, int node, int *names) {
  od_loader *ld = f->ld;
  const char *text = od_text_of(ld, node), *result = "";
  mark m;
  *names = -1;
  while (!f->budget->failed && next_mark(text, &m)) {
    int given = argument(f, &m);
    const char *value = m.length > 0 ? "" : "$";
    if (od_is_text(ld, given)) {
      value = od_text_of(ld, given);
      if (od_is_letter(value[0])) *names = given;
      if (m.end[0] == '^')
        od_complain(ld, node, "'%.*s^' would be '%s^', a power of the unit alone; write '%s^' without the '$'",
                    (int)(m.end - m.begin), m.begin, od_excerpt(ld, value), od_copy(ld, m.name, m.length));
      if (od_is_arithmetic(value)) value = od_format(ld, "(%s)", value);
    } else if (given >= 0) {
      od_complain(ld, node, "the parameter '%s' is %s, which cannot be part of a text; expected a number or a text",
                  od_copy(ld, m.name, m.length), od_describe(ld, given));
    }
    result = od_format(ld, "%s%.*s%s", result, (int)(m.begin - text), text, value);
    text = m.end;
    if (strlen(result) > LONGEST_TEXT) {
      od_complain(ld, node, "'%s' becomes longer than %d bytes with the parameters of template '%s'; use shorter texts",
                  od_excerpt(ld, od_text_of(ld, node)), LONGEST_TEXT, f->template_name);
      fail(f);
    }
    f->budget->nodes -= (int)(strlen(result) / 16);
    if (f->budget->nodes < 0) fail_too_large(f);
  }
  return od_format(ld, "%s%s", result, text);
}

static const char *text_with_arguments(instance *f, int node) {
  int names;
  return replace(f, node, &names);
}

static int copy_text(instance *f, int node) {
  const char *text = od_text_of(f->ld, node);
  mark m;
  od_tree_node copy = like(f, node);
  if (!next_mark(text, &m)) return add_node(f, copy);
  int given = argument(f, &m), names;
  if (given >= 0 && m.begin == text && m.end[0] == '\0') {
    copy = f->ld->tree.node[given];
    copy.kind = OD_TREE_ALIAS;
    copy.target = given;
    copy.first = copy.next = -1;
    f->budget->nodes -= od_tree_weigh(&f->ld->tree, given, MOST_WEIGHED) - 1;
    return add_node(f, copy);
  }
  copy.text = replace(f, node, &names);
  if (names >= 0) {
    od_tree_origin origin = f->ld->tree.origin[copy.origin], its = f->ld->tree.origin[f->ld->tree.node[names].origin];
    origin.scope = its.scope;
    copy.origin = add_origin(f, origin);
  }
  return add_node(f, copy);
}

// Copies a key with the given text, without its value. Returns the copy, or a negative number after an error.
static int copy_key(instance *f, int key, const char *text) {
  od_tree_node copy = like(f, key);
  copy.text = text;
  return add_node(f, copy);
}

// Copies a node of the template and its descendants, with parameters replaced: "$area" by its argument, "${area}" within a longer
// text. Returns -1 after reporting an error, or if an allocation fails.
static int copy_node(instance *f, int node, int depth) {
  od_loader *ld = f->ld;
  node = od_entry(ld, node);
  od_tree_kind kind = ld->tree.node[node].kind;
  if (depth > DEEPEST_NODE) {
    od_complain(ld, node, "the value is nested deeper than %d levels; use fewer levels", DEEPEST_NODE);
    return fail(f);
  }
  if (kind == OD_TREE_TEXT) return copy_text(f, node);
  int copy = add_node(f, like(f, node)), last = -1;
  if (kind == OD_TREE_NULL) return copy;
  bool is_key = kind == OD_TREE_MAP;
  for (int child = ld->tree.node[node].first; child >= 0 && copy >= 0; child = ld->tree.node[child].next) {
    int made = is_key ? copy_key(f, child, text_with_arguments(f, child)) : copy_node(f, child, depth + 1);
    if (made < 0) return -1;
    if (last < 0)
      ld->tree.node[copy].first = made;
    else
      ld->tree.node[last].next = made;
    last = made;
    is_key = kind == OD_TREE_MAP && !is_key;
  }
  return copy;
}

// --- Names of parameters ------------------------------------------------------------------------------------------

static void check_text(od_loader *ld, int node, int parameters, const char *template_name) {
  mark m;
  for (const char *text = od_text_of(ld, node); next_mark(text, &m); text = m.end) {
    if (m.length == 0) continue;
    const char *name = od_copy(ld, m.name, m.length);
    if (od_map_find(ld, parameters, name) >= 0) continue;
    od_nearest nearest = od_nearest_to(name);
    for (int key = od_map_first(ld, parameters); key >= 0; key = od_next(ld, key))
      od_nearest_try(&nearest, od_text_of(ld, key));
    od_complain(ld, node, "the template '%s' has no parameter '%s'%s", template_name, od_excerpt(ld, name),
                od_nearest_suggestion(&nearest, "the key 'parameters' lists its parameters").text);
  }
}

// Reports every "$name" below a node whose name is not a parameter. Parameters are the keys of a map (-1: none).
static void check_names(od_loader *ld, int node, int parameters, const char *name, int depth, int *budget) {
  node = od_entry(ld, node);
  if (depth > DEEPEST_NODE || --*budget < 0) return;
  const od_tree_kind kind = ld->tree.node[node].kind;
  if (kind == OD_TREE_TEXT) check_text(ld, node, parameters, name);
  for (int child = ld->tree.node[node].first; kind != OD_TREE_TEXT && child >= 0; child = ld->tree.node[child].next)
    check_names(ld, child, parameters, name, depth + 1, budget);
}

// --- The expansion ------------------------------------------------------------------------------------------------

typedef struct expander {
  od_loader *ld;
  const char *section[MOST_SECTIONS];  // sections with elements, ending with NULL
  int section_key[MOST_SECTIONS];      // key of the section in a template; -1: no instance has this section
  od_map_builder made[MOST_SECTIONS], parameters;
  int sections;
  int templates;  // map of all templates, or -1
  node_budget budget;
  int unchecked;  // nodes that may still be searched for names of parameters
  bool broken;
} expander;

// --- Names --------------------------------------------------------------------------------------------------------

bool od_templates_made(const od_loader *ld, const char *name) {
  return od_index_find(&ld->draft->templates.made, name) >= 0;
}

bool od_templates_is_instance(const od_loader *ld, const char *text, size_t length) {
  char name[1024];
  if (ld->draft->templates.instance.count == 0 || length >= sizeof name) return false;
  memcpy(name, text, length);
  name[length] = '\0';
  return od_index_find(&ld->draft->templates.instance, name) >= 0;
}

bool od_templates_check_name(od_loader *ld, int key) {
  const od_templates *t = &ld->draft->templates;
  const char *name = od_text_of(ld, key);
  size_t first = strcspn(name, ".");
  if (name[first] != '.' || !od_templates_is_instance(ld, name, first)) return od_names_check(ld, key);
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < t->names; i++) od_nearest_try(&nearest, t->name[i]);
  od_complain(ld, key, "no instance has an element '%s'%s", od_excerpt(ld, name),
              od_nearest_suggestion(&nearest, NULL).text);
  return false;
}

// Records the full name of an element of an instance.
static void keep_made(expander *e, const char *name, int key) {
  od_templates *t = &e->ld->draft->templates;
  const char **list = od_arena_extend(&e->ld->scratch, t->name, t->names, sizeof *list);
  if (!list || !od_index_add(&t->made, &e->ld->scratch, name, key)) return;
  t->name = list;
  t->name[t->names++] = name;
}

// --- Definitions --------------------------------------------------------------------------------------------------

// Returns the map of a template's parameters, or -1.
static int parameters_of(const expander *e, int body) {
  int node = od_map_find(e->ld, body, "parameters");
  return od_is_map(e->ld, node) ? node : -1;
}

static void check_parameters(expander *e, int body, const char *name) {
  od_loader *ld = e->ld;
  int node = od_map_find(ld, body, "parameters");
  od_index seen = {0};
  for (int key = od_first(ld, node, "parameters"); key >= 0; key = od_next(ld, key)) {
    const char *parameter = od_text_of(ld, key);
    if (!od_names_check(ld, key)) continue;
    if (strcmp(parameter, "template") == 0 || strchr(parameter, '-'))
      od_complain(ld, key, "'%s' cannot be the name of a parameter; %s", parameter,
                  strchr(parameter, '-') ? "a name consists of letters, digits and '_'"
                                         : "'template' is a key of every instance");
    if (od_seen_before(ld, &seen, key))
      od_complain(ld, key, "the parameter '%s' of template '%s' is given twice; remove one entry", parameter, name);
  }
}

static void check_template(expander *e, int key) {
  od_loader *ld = e->ld;
  const char *name = od_excerpt(ld, od_text_of(ld, key));
  od_names_check(ld, key);
  int body = od_value(ld, key);
  if (od_section_open(ld, body, key, "", od_format(ld, "the template '%s'", name), &od_template_section).map < 0) {
    e->broken = true;
    return;
  }
  check_parameters(e, body, name);
  check_names(ld, body, parameters_of(e, body), name, 1, &e->unchecked);
}

static void check_templates(expander *e, int node) {
  od_loader *ld = e->ld;
  int first = od_messages_errors(ld->messages);
  od_index seen = {0};
  for (int key = od_first(ld, node, "templates"); key >= 0; key = od_next(ld, key)) {
    if (od_seen_before(ld, &seen, key))
      od_complain(ld, key, "the template '%s' is given twice; remove one entry", od_excerpt(ld, od_text_of(ld, key)));
    check_template(e, key);
  }
  e->templates = od_is_map(ld, node) ? node : -1;
  if (od_messages_errors(ld->messages) > first) e->broken = true;
}

// --- One instance -------------------------------------------------------------------------------------------------

static void make_instances(expander *e, int node, const instance *outer, int depth);

// Returns the node of the template of an instance, or -1 after reporting an error.
static int find_template(expander *e, int key, int value, const char **name) {
  od_loader *ld = e->ld;
  const od_section section = {
      .map = value, .node = key, .what = od_format(ld, "the instance '%s'", od_text_of(ld, key))};
  int node = od_section_need(ld, &section, "template");
  *name = od_read_text(ld, node, "template", "the name of a template");
  if (!*name) return -1;
  int body = od_map_find(ld, e->templates, *name);
  if (od_is_map(ld, body)) return body;
  if (body >= 0) return -1;  // the error has already been reported
  od_nearest nearest = od_nearest_to(*name);
  for (int k = od_map_first(ld, e->templates); k >= 0; k = od_next(ld, k)) od_nearest_try(&nearest, od_text_of(ld, k));
  od_complain(ld, node, "there is no template '%s'%s", od_excerpt(ld, *name),
              od_nearest_suggestion(&nearest, "define this template under 'templates'").text);
  return -1;
}

// Returns whether the template contains itself, so that the expansion would never end. If so, reports an error.
static bool is_recursive(const instance *f) {
  const char *chain = f->template_name;
  for (const instance *outer = f->outer; outer; outer = outer->outer) {
    chain = od_format(f->ld, "%s uses %s", outer->template_name, chain);
    if (outer->body != f->body) continue;
    od_complain(f->ld, f->key, "the template '%s' uses itself: %s; remove one of these instances", f->template_name,
                chain);
    return true;
  }
  return false;
}

// Reports arguments of an instance that are repeated or are not parameters of its template.
static void refuse_arguments(expander *e, const instance *f, int value, int parameters) {
  od_loader *ld = e->ld;
  od_index seen = {0};
  for (int key = ld->tree.node[value].first; key >= 0; key = od_next(ld, key)) {
    const char *name = od_text_of(ld, key);
    if (od_seen_before(ld, &seen, key))
      od_complain(ld, key, "'%s' is given twice in the instance '%s'; remove one entry", od_excerpt(ld, name),
                  f->prefix);
    if (strcmp(name, "template") == 0 || od_map_find(ld, parameters, name) >= 0) continue;
    od_nearest nearest = od_nearest_to(name);
    for (int k = od_map_first(ld, parameters); k >= 0; k = od_next(ld, k)) od_nearest_try(&nearest, od_text_of(ld, k));
    od_complain(ld, key, "the template '%s' has no parameter '%s'%s", f->template_name, od_excerpt(ld, name),
                od_nearest_suggestion(&nearest, nearest.tried > 0 ? NULL : "the template has no parameters").text);
  }
}

// Appends an entry to a map that is being built.
static void append(expander *e, od_map_builder *b, int key, int value) {
  od_tree *tree = &e->ld->tree;
  tree->node[key].next = value;
  if (b->last < 0)
    tree->node[b->map].first = key;
  else
    tree->node[b->last].next = key;
  b->last = value;
  tree->node[b->map].count++;
}

// Records a parameter. In expressions the name of a parameter has no '$'.
static void keep_parameter(expander *e, instance *f, int key, const char *name) {
  int given = od_index_find(&f->arguments, name);
  if (!od_is_text(e->ld, given)) return;
  int copy = copy_key(f, key, od_format(e->ld, "%s.%s", f->prefix, name));
  if (copy >= 0) append(e, &e->parameters, copy, given);
}

// Binds each parameter to the value of --set, to the value of the instance, or to its default. A default may refer to previous
// parameters.
static void bind_parameters(expander *e, instance *f, int value, int parameters) {
  od_loader *ld = e->ld;
  for (int key = od_map_first(ld, parameters); key >= 0; key = od_next(ld, key)) {
    const char *name = od_text_of(ld, key);
    const od_override *set = od_numbers_overriding(&ld->document->numbers, od_format(ld, "%s.%s", f->prefix, name));
    int given = od_map_find(ld, value, name), usual = od_value(ld, key);
    if (set) {
      bind_text(f, name, set->text);
    } else if (given >= 0) {
      bind_node(f, name, given);
    } else if (!od_is_null(ld, usual)) {
      int copy = copy_node(f, usual, 1);
      if (copy >= 0) bind_node(f, name, od_entry(ld, copy));
    } else {
      od_complain(ld, f->key, "the instance '%s' of template '%s' needs '%s'", f->prefix, f->template_name, name);
      e->broken = true;
    }
    if (e->budget.failed) return;
    keep_parameter(e, f, key, name);
  }
}

// Returns whether the template of an instance declares an element or an instance with this name.
static bool declares(const expander *e, const instance *f, const char *name, size_t length) {
  od_loader *ld = e->ld;
  for (int key = ld->tree.node[f->body].first; key >= 0; key = od_next(ld, key)) {
    const char *section = od_text_of(ld, key);
    int value = od_value(ld, key);
    if (strcmp(section, "parameters") == 0 || strcmp(section, "initial") == 0) continue;
    for (int at = od_map_first(ld, value); at >= 0; at = od_next(ld, at)) {
      const char *own = od_text_of(ld, at);
      if (strlen(own) == length && strncmp(own, name, length) == 0) return true;
    }
  }
  return false;
}

// Returns the full name of a quantity with an initial value. Its element may belong to the instance or to an enclosing instance.
static const char *full_quantity(const expander *e, const instance *f, const char *text) {
  for (; f; f = f->outer)
    if (declares(e, f, text, strcspn(text, "."))) return od_format(e->ld, "%s.%s", f->prefix, text);
  return text;
}

// Copies a section of a template into the file, with the names of the instance.
static void make_section(expander *e, instance *f, int section, int section_key) {
  od_loader *ld = e->ld;
  int value = od_value(ld, section_key);
  bool initial = strcmp(e->section[section], "initial") == 0;
  if (e->section_key[section] < 0) {
    od_merger m = od_merger_start(ld, "");
    e->section_key[section] = section_key;
    e->made[section] = od_map_start(&m, value);
    if (m.failed) {
      e->budget.failed = true;
      return;
    }
    ld->tree.node[e->made[section].map].kind = OD_TREE_MAP;
  }
  for (int key = od_first(ld, value, e->section[section]); key >= 0 && !e->budget.failed; key = od_next(ld, key)) {
    const char *text = text_with_arguments(f, key);
    if (!initial && strcmp(text, od_text_of(ld, key)) == 0 && !od_names_check(ld, key)) {
      e->broken = true;
      continue;
    }
    const char *name = initial ? full_quantity(e, f, text) : od_format(ld, "%s.%s", f->prefix, text);
    int key_copy = copy_key(f, key, name), copy = copy_node(f, od_value(ld, key), 2);
    if (key_copy < 0 || copy < 0) return;
    append(e, &e->made[section], key_copy, copy);
    if (!initial) keep_made(e, name, key_copy);
  }
}

// Copies all sections of a template, and expands the instances within the template.
static void make_body(expander *e, instance *f, int depth) {
  od_loader *ld = e->ld;
  for (int key = ld->tree.node[f->body].first; key >= 0 && !e->budget.failed; key = od_next(ld, key)) {
    for (int i = 0; i < e->sections; i++)
      if (strcmp(od_text_of(ld, key), e->section[i]) == 0) make_section(e, f, i, key);
    if (strcmp(od_text_of(ld, key), "instances") != 0) continue;
    int inner = copy_node(f, od_value(ld, key), 1);
    if (inner >= 0) make_instances(e, inner, f, depth + 1);
  }
}

// Describes the place of the instance, and of the enclosing instances, for messages.
static const char *context_of(expander *e, const instance *f) {
  od_place place = od_place_of(e->ld, f->key);
  const char *around = !place.context ? "" : strlen(place.context) < LONGEST_CONTEXT ? place.context : "and so on";
  return od_format(e->ld, "in template '%s' used at %s:%d:%d%s%s", f->template_name, place.file, place.line,
                   place.column, around[0] ? ", " : "", around);
}

// Returns whether an instance may have this name. If not, reports an error.
static bool is_sound_name(expander *e, int key, const char *prefix) {
  od_loader *ld = e->ld;
  bool taken = od_index_find(&ld->draft->templates.instance, prefix) >= 0;
  if (!od_names_check(ld, key)) return false;
  if (od_names_is_reserved(prefix))
    od_complain(ld, key, "the name '%s' is reserved; choose another name for this instance", prefix);
  else if (taken)
    od_complain(ld, key, "the instance '%s' is given twice; remove one entry", prefix);
  return !taken && !od_names_is_reserved(prefix);
}

// Adds an instance to the list of the machine. If an allocation fails, the list does not change.
static void keep_instance(od_loader *ld, const instance *f) {
  od_machine *m = ld->draft->machine;
  od_template_instance *list = od_arena_extend(&ld->document->arena, m->instance, m->instances, sizeof *list);
  if (list == NULL) return;
  m->instance = list;
  m->instance[m->instances++] = (od_template_instance){.name = od_arena_text(&ld->document->arena, f->prefix),
                                                       .of = od_arena_text(&ld->document->arena, f->template_name)};
}

// Checks an instance, binds its parameters and copies its template. `outer`: the enclosing instance, or NULL.
static void make_instance(expander *e, int key, const instance *outer, int depth) {
  od_loader *ld = e->ld;
  int value = od_value(ld, key);
  instance f = {.ld = ld, .budget = &e->budget, .outer = outer, .key = key};
  f.prefix = outer ? od_format(ld, "%s.%s", outer->prefix, od_text_of(ld, key)) : od_text_of(ld, key);
  bool sound = is_sound_name(e, key, f.prefix);
  if (sound && !od_is_map(ld, value)) {
    od_complain(ld, value, "found %s, expected a map for the instance '%s' with 'template' and its parameters",
                od_describe(ld, value), f.prefix);
    sound = false;
  }
  f.body = sound ? find_template(e, key, value, &f.template_name) : -1;
  if (f.body < 0 || is_recursive(&f)) {
    e->broken = true;
    return;
  }
  if (depth > DEEPEST) {
    od_complain(ld, key, "templates are nested deeper than %d levels; use fewer levels", DEEPEST);
    e->broken = true;
    return;
  }
  od_index_add(&ld->draft->templates.instance, &ld->scratch, f.prefix, key);
  keep_instance(ld, &f);
  f.context = context_of(e, &f);
  int parameters = parameters_of(e, f.body);
  refuse_arguments(e, &f, value, parameters);
  bind_parameters(e, &f, value, parameters);
  if (!e->budget.failed && !e->broken) make_body(e, &f, depth);
}

static void make_instances(expander *e, int node, const instance *outer, int depth) {
  for (int key = od_first(e->ld, node, "instances"); key >= 0 && !e->budget.failed; key = od_next(e->ld, key))
    make_instance(e, key, outer, depth);
}

// --- The expanded file --------------------------------------------------------------------------------------------

static int section_of(const expander *e, const char *name) {
  for (int i = 0; i < e->sections; i++)
    if (e->section_key[i] >= 0 && strcmp(e->section[i], name) == 0) return i;
  return -1;
}

// Collects entries of one section of the file: the entries that override entries of an instance (`over`), or the other entries.
// Returns the new map.
static int part_of(const expander *e, od_merger *m, int section, int map, bool over) {
  od_map_builder b = od_map_start(m, map);
  for (int key = e->ld->tree.node[map].first; key >= 0 && !m->failed; key = od_next(e->ld, key)) {
    const char *name = od_text_of(e->ld, key);
    bool is_of_instance = od_templates_is_instance(e->ld, name, strcspn(name, ".")) ||
                          od_map_find(e->ld, e->made[section].map, name) >= 0;
    if (is_of_instance == over) od_map_add(m, &b, key, od_value(e->ld, key));
  }
  return b.map;
}

static bool is_template_section(const char *name) {
  return strcmp(name, "templates") == 0 || strcmp(name, "instances") == 0;
}

// Collects one half of a file: only the entries that override entries of instances (`over`), or all other entries. Returns the
// new map.
static int half(const expander *e, od_merger *m, int root, bool over) {
  od_loader *ld = e->ld;
  od_map_builder b = od_map_start(m, root);
  for (int key = ld->tree.node[root].first; key >= 0 && !m->failed; key = od_next(ld, key)) {
    int value = od_value(ld, key), section = section_of(e, od_text_of(ld, key));
    if (is_template_section(od_text_of(ld, key))) continue;
    if (section >= 0 && od_is_map(ld, value))
      od_map_add(m, &b, key, part_of(e, m, section, value, over));
    else if (!over && (section < 0 || !od_is_null(ld, value)))
      od_map_add(m, &b, key, value);
  }
  return b.map;
}

// Merges the file's own entries, the entries of instances, overriding entries of the file, and the variant, in this order.
// Returns the node of the resulting map.
static int assemble(expander *e, int root, int over) {
  od_merger m = od_merger_start(e->ld, "the machine with expanded templates");
  m.keeps_empty_keys = true;
  int own = half(e, &m, root, false), above = half(e, &m, root, true);
  od_map_builder made = od_map_start(&m, root);
  for (int i = 0; i < e->sections; i++)
    if (e->section_key[i] >= 0) od_map_add(&m, &made, e->section_key[i], e->made[i].map);
  int map = m.failed ? root : od_merge(&m, own, made.map);
  m.what = "a machine file";
  if (!m.failed) map = od_merge(&m, map, above);
  if (m.failed || over < 0) return map;
  m.what = od_variant_noun(e->ld);
  m.keeps_empty_keys = false;
  od_map_builder variant = od_map_start(&m, over);
  for (int key = e->ld->tree.node[over].first; key >= 0 && !m.failed; key = od_next(e->ld, key))
    if (!is_template_section(od_text_of(e->ld, key))) od_map_add(&m, &variant, key, od_value(e->ld, key));
  return od_merge(&m, map, variant.map);
}

int od_templates_expand(od_loader *ld, int root, int over) {
  od_merger m = od_merger_start(ld, od_variant_noun(ld));
  int merged = over >= 0 ? od_merge(&m, root, over) : root;
  int templates = od_map_find(ld, merged, "templates"), instances = od_map_find(ld, merged, "instances");
  if (templates < 0 && instances < 0) return merged;
  expander e = {.ld = ld, .templates = -1, .budget = {.nodes = MOST_NODES}, .unchecked = MOST_NODES};
  // All sections of a template except its parameters and instances contain elements.
  od_key key;
  for (int i = 0; od_key_at(&od_template_section, i, &key) && e.sections < MOST_SECTIONS - 1; i++) {
    if (strcmp(key.name, "parameters") == 0 || strcmp(key.name, "instances") == 0) continue;
    e.section_key[e.sections] = -1;
    e.section[e.sections++] = key.name;
  }
  check_templates(&e, templates);
  e.parameters = od_map_start(&m, root);
  if (m.failed) return -1;
  make_instances(&e, instances, NULL, 1);
  ld->draft->templates.parameters = e.parameters.map;
  if (e.broken || e.budget.failed || od_lacks_memory(ld)) return -1;
  return assemble(&e, root, over);
}
