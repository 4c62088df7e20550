#include "machine/template_copy.h"

#include <string.h>

#include "document/constants.h"
#include "document/suggest.h"

enum { DEEPEST = 64, LONGEST_TEXT = 16384, MOST_WEIGHED = 1 << 20 };

static bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A mark "$name" or "${name}" in a text.
typedef struct mark {
  const char *begin, *end;  // begin and end of the whole mark
  const char *name;
  size_t length;  // length of the name; 0: "$$", which stands for one '$'
} mark;

// Finds the next mark at or after a place; false: none.
static bool next_mark(const char *text, mark *m) {
  for (const char *c = strchr(text, '$'); c; c = strchr(c + 1, '$')) {
    bool braces = c[1] == '{';
    *m = (mark){.begin = c, .name = c + (braces ? 2 : 1)};
    while (is_name(m->name[m->length])) m->length++;
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

static int fail(od_template_frame *f) {
  f->budget->failed = true;
  return -1;
}

static int fail_too_large(od_template_frame *f) {
  if (!f->budget->failed)
    od_complain(f->ld, f->key,
                "the templates expand to a machine that is too large; check templates that use each other");
  return fail(f);
}

static int add_origin(od_template_frame *f, od_tree_origin origin) {
  int added = od_tree_add_origin(&f->ld->tree, origin);
  if (added >= 0) return added;
  f->ld->no_memory = true;
  fail(f);
  return 0;
}

// The origin of a copy: the file of the template's node, and the scope of the instance.
static int origin_for(od_template_frame *f, int source) {
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

static int add_node(od_template_frame *f, od_tree_node node) {
  if (f->budget->failed) return -1;
  if (f->budget->nodes-- <= 0) return fail_too_large(f);
  int added = od_tree_add(&f->ld->tree, node);
  if (added >= 0) return added;
  f->ld->no_memory = true;
  return fail(f);
}

static od_tree_node like(od_template_frame *f, int node) {
  od_tree_node copy = f->ld->tree.node[node];
  copy.first = copy.next = copy.target = -1;
  copy.origin = origin_for(f, copy.origin);
  return copy;
}

// --- Arguments ----------------------------------------------------------------------------------------------------

static const char *as_parameter(od_template_frame *f, const char *parameter, const char *context) {
  return od_format(f->ld, "given for '%s' of template '%s'%s%s", parameter, f->template_name, context ? ", " : "",
                   context ? context : "");
}

static void bind(od_template_frame *f, const char *parameter, int node) {
  if (node >= 0) od_index_add(&f->arguments, &f->ld->scratch, parameter, node);
}

void od_template_bind(od_template_frame *f, const char *parameter, int node) {
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

void od_template_bind_text(od_template_frame *f, const char *parameter, const char *text) {
  od_tree_origin origin = {.file = "--set", .scope = "", .context = as_parameter(f, parameter, NULL)};
  int index = add_origin(f, origin);
  od_tree_node node = {.kind = OD_TREE_TEXT, .text = text, .first = -1, .next = -1, .target = -1, .origin = index};
  bind(f, parameter, add_node(f, node));
}

static int argument(od_template_frame *f, const mark *m) {
  return m->length > 0 ? od_index_find(&f->arguments, od_copy(f->ld, m->name, m->length)) : -1;
}

static bool begins_with_letter(const char *text) {
  return (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');
}

// Replaces parameters in a text by the texts of their arguments. Names in arguments belong to the scope of the argument: *names
// is the node of an argument that is a name, or -1.
static const char *replace(od_template_frame *f, int node, int *names) {
  od_loader *ld = f->ld;
  const char *text = od_text_of(ld, node), *result = "";
  mark m;
  *names = -1;
  while (!f->budget->failed && next_mark(text, &m)) {
    int given = argument(f, &m);
    const char *value = m.length > 0 ? "" : "$";
    if (od_is_text(ld, given)) {
      value = od_text_of(ld, given);
      if (begins_with_letter(value)) *names = given;
      if (m.end[0] == '^')
        od_complain(ld, node, "'%.*s^' would be '%s^', a power of the unit alone; write '%s^' without the '$'",
                    (int)(m.end - m.begin), m.begin, od_excerpt(ld, value), od_copy(ld, m.name, m.length));
      if (od_is_arithmetic(value)) value = od_format(ld, "(%s)", value);
    } else if (given >= 0) {
      od_complain(ld, node, "'%s' is %s, which cannot be part of a text", od_copy(ld, m.name, m.length),
                  od_describe(ld, given));
    }
    result = od_format(ld, "%s%.*s%s", result, (int)(m.begin - text), text, value);
    text = m.end;
    if (strlen(result) > LONGEST_TEXT) {
      od_complain(ld, node, "'%s' becomes longer than %d bytes with the parameters of template '%s'",
                  od_excerpt(ld, od_text_of(ld, node)), LONGEST_TEXT, f->template_name);
      fail(f);
    }
    f->budget->nodes -= (int)(strlen(result) / 16);
    if (f->budget->nodes < 0) fail_too_large(f);
  }
  return od_format(ld, "%s%s", result, text);
}

const char *od_template_text(od_template_frame *f, int node) {
  int names;
  return replace(f, node, &names);
}

static int copy_text(od_template_frame *f, int node) {
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

int od_template_copy_key(od_template_frame *f, int key, const char *text) {
  od_tree_node copy = like(f, key);
  copy.text = text;
  return add_node(f, copy);
}

int od_template_copy(od_template_frame *f, int node, int depth) {
  od_loader *ld = f->ld;
  node = od_entry(ld, node);
  od_tree_kind kind = ld->tree.node[node].kind;
  if (depth > DEEPEST) {
    od_complain(ld, node, "the value is nested deeper than %d levels", DEEPEST);
    return fail(f);
  }
  if (kind == OD_TREE_TEXT) return copy_text(f, node);
  int copy = add_node(f, like(f, node)), last = -1;
  if (kind == OD_TREE_NULL) return copy;
  bool is_key = kind == OD_TREE_MAP;
  for (int child = ld->tree.node[node].first; child >= 0 && copy >= 0; child = ld->tree.node[child].next) {
    int made =
        is_key ? od_template_copy_key(f, child, od_template_text(f, child)) : od_template_copy(f, child, depth + 1);
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
                nearest.best ? od_nearest_suggestion(&nearest).text : "; the key 'parameters' lists its parameters");
  }
}

static void check_names(od_loader *ld, int node, int parameters, const char *name, int depth, int *budget) {
  node = od_entry(ld, node);
  if (depth > DEEPEST || --*budget < 0) return;
  const od_tree_kind kind = ld->tree.node[node].kind;
  if (kind == OD_TREE_TEXT) check_text(ld, node, parameters, name);
  for (int child = ld->tree.node[node].first; kind != OD_TREE_TEXT && child >= 0; child = ld->tree.node[child].next)
    check_names(ld, child, parameters, name, depth + 1, budget);
}

void od_template_check_names(od_loader *ld, int node, int parameters, const char *template_name, int *budget) {
  check_names(ld, node, parameters, template_name, 1, budget);
}
