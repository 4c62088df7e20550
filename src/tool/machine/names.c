// The namespace of a machine file, and references to its names.
#include "machine/names.h"

#include <string.h>

#include "document/suggest.h"
#include "machine/machine_loader.h"

enum { MOST_SHOWN = 12 };

static const char *const kind_names[] = {
    [OD_ELEMENT_BODY] = "body",         [OD_ELEMENT_JOINT] = "joint",
    [OD_ELEMENT_ROD] = "rod",           [OD_ELEMENT_FORCE] = "force",
    [OD_ELEMENT_TORQUE] = "torque",     [OD_ELEMENT_INPUT] = "input",
    [OD_ELEMENT_VOLUME] = "volume",     [OD_ELEMENT_TANK] = "tank",
    [OD_ELEMENT_SOURCE] = "source",     [OD_ELEMENT_GROUND] = "ground",
    [OD_ELEMENT_BLOCK] = "block",       [OD_ELEMENT_NODE] = "volume, junction, tank or source",
    [OD_ELEMENT_SIGNAL] = "input",      [OD_ELEMENT_DIFFERENCE] = "pressure difference",
    [OD_ELEMENT_JUNCTION] = "junction", [OD_ELEMENT_GEAR] = "gear",
    [OD_ELEMENT_CONTACT] = "contact",
};

const char *od_element_noun(od_element_kind kind) {
  return kind >= OD_ELEMENT_COMPONENT ? od_element_description_at(kind - OD_ELEMENT_COMPONENT)->noun : kind_names[kind];
}

const od_element_description *od_component_class(const od_element *element) {
  return element->kind >= OD_ELEMENT_COMPONENT ? od_element_description_at(element->kind - OD_ELEMENT_COMPONENT) : NULL;
}

const char *od_signal_noun(const od_loader *ld) {
  return ld->draft->names.has_blocks ? "input or block" : "input";
}

od_section od_open_element(od_loader *ld, int key, int element, const od_section_class *c) {
  const char *name = od_text_of(ld, key);
  const char *what = od_format(ld, "the %s '%s'", od_element_noun(od_element_at(ld, element)->kind), name);
  return od_section_open(ld, od_value(ld, key), key, name, what, c);
}

// Returns the noun for a kind of element in messages about a search.
static const char *noun_of(const od_loader *ld, od_element_kind kind) {
  return kind == OD_ELEMENT_SIGNAL ? od_signal_noun(ld) : od_element_noun(kind);
}

bool od_element_is(const od_element *element, od_element_kind kind) {
  od_element_kind its = element->kind;
  if (kind == OD_ELEMENT_NODE)
    return its == OD_ELEMENT_VOLUME || its == OD_ELEMENT_TANK || its == OD_ELEMENT_SOURCE || its == OD_ELEMENT_JUNCTION;
  if (kind == OD_ELEMENT_SIGNAL) return its == OD_ELEMENT_INPUT || its == OD_ELEMENT_BLOCK;
  return its == kind || (kind == OD_ELEMENT_BODY && its == OD_ELEMENT_GROUND);
}

static const char *article(od_element_kind kind) {
  return strchr("aeiou", od_element_noun(kind)[0]) != NULL ? "an" : "a";
}

// --- Declaring ----------------------------------------------------------------------------------------------------

// Adds an element and returns its index, or -1 if an allocation fails.
static int add_element(od_loader *ld, od_element element) {
  od_names *names = &ld->draft->names;
  od_element *list = od_arena_extend(&ld->scratch, names->element, names->elements, sizeof *list);
  if (list == NULL || !od_index_add(&names->element_index, &ld->scratch, element.name, names->elements)) return -1;
  names->element = list;
  names->element[names->elements] = element;
  return names->elements++;
}

void od_names_start(od_loader *ld) {
  add_element(ld, (od_element){.kind = OD_ELEMENT_GROUND, .name = "ground", .node = -1, .index = OD_GROUND});
}

bool od_names_is_reserved(const char *name) {
  static const char *const reserved[] = {"ground", "energy", "gravity", "inputs", "initial", "run", "time", "oil"};
  for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
    if (strcmp(name, reserved[i]) == 0) return true;
  return false;
}

// Returns whether the name is free for a new element. If not, reports an error.
static bool is_free(od_loader *ld, int key, od_element_kind kind) {
  const char *name = od_text_of(ld, key);
  if (!od_templates_made(ld, name) && !od_templates_check_name(ld, key)) return false;
  if (od_names_is_reserved(name)) {
    od_complain(ld, key, "the name '%s' is reserved; choose another name for this %s", name, od_element_noun(kind));
    return false;
  }
  if (od_templates_is_instance(ld, name, strlen(name))) {
    od_complain(ld, key, "the name '%s' is taken by an instance; choose another name", name);
    return false;
  }
  int other = od_index_find(&ld->draft->names.element_index, name);
  if (other >= 0) {
    const od_element *taken = od_element_at(ld, other);
    od_complain(ld, key, "the name '%s' is taken by the %s in line %d; choose another name", name,
                od_element_noun(taken->kind), od_place_of(ld, taken->node).line);
    return false;
  }
  return true;
}

int od_names_declare(od_loader *ld, int key, od_element_kind kind) {
  const char *name = od_text_of(ld, key);
  if (!is_free(ld, key, kind)) {
    od_index_add(&ld->draft->names.failed, &ld->scratch, name, (int)kind);
    return -1;
  }
  return add_element(ld, (od_element){.kind = kind, .name = name, .node = key, .index = OD_NOT_BUILT});
}

void od_names_add_output(od_loader *ld, int block, const char *name, int signal, const char *unit) {
  add_element(ld, (od_element){.kind = OD_ELEMENT_BLOCK,
                               .name = name,
                               .node = od_element_at(ld, block)->node,
                               .index = signal,
                               .unit = unit,
                               .block = -1});
}

void od_names_add_point(od_loader *ld, int element, const char *name, int index) {
  od_names *names = &ld->draft->names;
  od_named_point *list = od_arena_extend(&ld->scratch, names->point, names->points, sizeof *list);
  if (list == NULL) return;
  names->point = list;
  od_index_add(&names->point_index, &ld->scratch, od_format(ld, "%s.%s", names->element[element].name, name),
               names->points);
  names->point[names->points++] = (od_named_point){.name = name, .element = element, .index = index};
}

bool od_names_has_point(od_loader *ld, int element, const char *name) {
  const char *full = od_format(ld, "%s.%s", od_element_at(ld, element)->name, name);
  return od_index_find(&ld->draft->names.point_index, full) >= 0;
}

// --- Scopes -------------------------------------------------------------------------------------------------------

// Returns the innermost scope of a node. Names are searched in the scope of the instance ("boom.seal"), then in the enclosing
// scopes ("boom"), then in the scope of the file ("").
static const char *scope_of(const od_loader *ld, int node) {
  return node >= 0 ? ld->tree.origin[ld->tree.node[node].origin].scope : "";
}

// Replaces the scope with the enclosing scope. Returns false if there is no enclosing scope.
static bool widen(od_loader *ld, const char **scope) {
  if ((*scope)[0] == '\0') return false;
  const char *dot = strrchr(*scope, '.');
  *scope = od_copy(ld, *scope, dot != NULL ? (size_t)(dot - *scope) : 0);
  return true;
}

static const char *in_scope(od_loader *ld, const char *scope, const char *name) {
  return scope[0] != '\0' ? od_format(ld, "%s.%s", scope, name) : name;
}

static int find_in_scopes(od_loader *ld, int node, const char *name, const od_index *index) {
  const char *scope = scope_of(ld, node);
  int found;
  do found = od_index_find(index, in_scope(ld, scope, name));
  while (found < 0 && widen(ld, &scope));
  return found;
}

int od_names_look_up(od_loader *ld, int node, const char *name) {
  return find_in_scopes(ld, node, name, &ld->draft->names.element_index);
}

int od_names_owner(od_loader *ld, int node, const char *text, const char **rest) {
  const char *scope = scope_of(ld, node);
  do {
    const char *full = in_scope(ld, scope, text);
    size_t length = scope[0] != '\0' ? strlen(scope) + 1 : 0;
    for (length += strcspn(full + length, ".");; length += 1 + strcspn(full + length + 1, ".")) {
      int element = od_index_find(&ld->draft->names.element_index, od_copy(ld, full, length));
      *rest = full[length] == '.' ? full + length + 1 : "";
      if (element >= 0) return element;
      if (full[length] == '\0') break;
    }
  } while (widen(ld, &scope));
  return -1;
}

// --- Finding ------------------------------------------------------------------------------------------------------

// Inside an instance, the instance's names are compared in their short form, without the prefix of the instance.
const char *od_names_nearest(const od_loader *ld, int node, const char *text, od_element_kind kind) {
  const char *scope = scope_of(ld, node);
  size_t length = strlen(scope);
  od_nearest nearest = od_nearest_to(text);
  for (int i = 0; i < ld->draft->names.elements; i++) {
    const od_element *element = od_element_at(ld, i);
    if (!od_element_is(element, kind)) continue;
    bool inside = length > 0 && strncmp(element->name, scope, length) == 0 && element->name[length] == '.';
    od_nearest_try(&nearest, inside ? element->name + length + 1 : element->name);
  }
  return nearest.best;
}

// An element that could not be declared is not reported as missing, so that each error causes only one message.
bool od_names_has_failed(od_loader *ld, int node, const char *name) {
  return find_in_scopes(ld, node, name, &ld->draft->names.failed) >= 0;
}

int od_names_find(od_loader *ld, int node, const char *text, od_element_kind kind) {
  int element = od_names_look_up(ld, node, text);
  if (element >= 0 && od_element_is(od_element_at(ld, element), kind)) return element;
  if ((kind == OD_ELEMENT_BODY && ld->draft->names.lacks_bodies) ||
      (kind == OD_ELEMENT_NODE && ld->draft->names.lacks_nodes))
    return -1;
  int failed = find_in_scopes(ld, node, text, &ld->draft->names.failed);
  if (failed >= 0 && od_element_is(&(od_element){.kind = (od_element_kind)failed}, kind)) return -1;
  const char *nearest = od_names_nearest(ld, node, text, kind), *shown = od_excerpt(ld, text), *known = "";
  for (int i = 0, count = 0; kind == OD_ELEMENT_NODE && i < ld->draft->names.elements && count < MOST_SHOWN; i++)
    if (od_element_is(od_element_at(ld, i), kind))
      known = od_format(ld, "%s%s%s", known, count++ > 0 ? ", " : "; existing names: ", od_element_at(ld, i)->name);
  if (nearest != NULL)
    od_complain(ld, node, "there is no %s '%s'; did you mean '%s'?", noun_of(ld, kind), shown, nearest);
  else if (element >= 0)
    od_complain(ld, node, "'%s' is %s %s; expected the name of %s %s", shown, article(od_element_at(ld, element)->kind),
                od_element_noun(od_element_at(ld, element)->kind), article(kind), noun_of(ld, kind));
  else
    od_complain(ld, node, "there is no %s '%s'%s", noun_of(ld, kind), shown, known);
  return -1;
}

void od_names_lack_point(od_loader *ld, int node, const char *point, int element) {
  const od_names *names = &ld->draft->names;
  const char *owner = names->element[element].name, *shown = od_excerpt(ld, point);
  od_nearest nearest = od_nearest_to(point);
  for (int i = 0; i < names->points; i++)
    if (names->point[i].element == element) od_nearest_try(&nearest, names->point[i].name);
  if (nearest.best != NULL)
    od_complain(ld, node, "'%s' has no point '%s'; did you mean '%s.%s'?", owner, shown, owner, nearest.best);
  else
    od_complain(ld, node, "'%s' has no point '%s'%s", owner, shown, od_nearest_suggestion(&nearest, NULL).text);
}

size_t od_names_element_length(const od_loader *ld, const char *text) {
  size_t length = strcspn(text, ".");
  while (text[length] == '.' && od_templates_is_instance(ld, text, length))
    length += 1 + strcspn(text + length + 1, ".");
  return length;
}

od_point_ref od_names_find_point(od_loader *ld, int node, const char *label) {
  od_point_ref none = {.element = -1, .point = -1};
  const char *text = od_read_text(ld, node, label, "a point like 'crank.end' or 'ground.A'");
  if (text == NULL) return none;
  const char *point_name;
  int element = od_names_owner(ld, node, text, &point_name);
  if (element < 0 || !od_element_is(od_element_at(ld, element), OD_ELEMENT_BODY)) {
    od_names_find(ld, node, od_copy(ld, text, od_names_element_length(ld, text)),
                  OD_ELEMENT_BODY);  // reports the error
    return none;
  }
  if (point_name[0] == '\0') point_name = "origin";
  const char *full = od_format(ld, "%s.%s", od_element_at(ld, element)->name, point_name);
  int point = od_index_find(&ld->draft->names.point_index, full);
  if (point < 0 && !od_element_at(ld, element)->broken) od_names_lack_point(ld, node, point_name, element);
  return (od_point_ref){.element = element, .point = point >= 0 ? ld->draft->names.point[point].index : -1};
}

bool od_names_find_pair(od_loader *ld, const od_section *section, od_point_ref ends[2]) {
  ends[0] = ends[1] = (od_point_ref){.element = -1, .point = -1};
  int entry[2];
  int node = od_section_need(ld, section, "between");
  if (!od_read_list(ld, node, "between", "two points", 2, entry)) return false;
  for (int i = 0; i < 2; i++) ends[i] = od_names_find_point(ld, entry[i], "between");
  if (ends[0].element < 0 || ends[1].element < 0) return false;
  if (ends[0].element == ends[1].element) {
    od_complain(ld, entry[1], "%s connects '%s' with itself; expected two bodies", section->what,
                od_element_at(ld, ends[0].element)->name);
    return false;
  }
  return true;
}
