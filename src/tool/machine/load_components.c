// Loads components: instances of the element classes of src/core/elements, from the tables of these classes. Loaders of components
// with additional parts (valves with ports and curves, cylinders with areas) also use the functions below.
#include "document/constants.h"
#include "document/ranges.h"
#include "model/joint_types.h"
#include "machine/load_circuit.h"
#include "machine/load_formula.h"
#include "machine/sections.h"

#include <math.h>
#include <string.h>

// --- Numbers ------------------------------------------------------------------------------------------------------

od_field od_component_field(const od_element_field *field, const char *signal_unit, bool turning) {
  bool follows = strcmp(field->unit, "*") == 0, turns = turning && field->turning_unit != NULL;
  bool in_m = follows && strcmp(signal_unit, "m") == 0;
  return (od_field){.key = field->key,
                    .unit = follows ? signal_unit
                            : turns ? field->turning_unit
                                    : field->unit,
                    .range = field->sign,
                    .fallback = field->fallback,
                    .limits = in_m    ? &field->limits_in_m
                              : turns ? &field->turning_limits
                                      : &field->limits};
}

bool od_key_of_field(const od_element_field *f, od_key *key) {
  *key = (od_key){f->key,      OD_NUMBER, strcmp(f->unit, "*") == 0 ? NULL : f->unit, f->meaning, f->sign,
                  f->fallback, f->limits};
  key->otherwise = f->same_as;
  return true;
}

bool od_element_key(const od_element_description *c, int i, od_key *key) {
  for (int k = 0; k < c->field_count; k++)
    if (strchr(c->fields[k].key, '[') == NULL && c->fields[k].section == NULL && i-- == 0)
      return od_key_of_field(&c->fields[k], key);
  return false;
}

// Reports numbers that violate a rule of the class. If the class requires at least one of several numbers, reports a component
// without any of these numbers. `before`: number of errors before the numbers were read.
static void check_rules(od_loader *ld, const od_section *section, const od_element_description *c, int first,
                        int before) {
  if (od_messages_errors(ld->messages) != before || section->has_unknown) return;
  for (int i = 0; i < c->rule_count; i++) {
    const od_element_rule *r = &c->rules[i];
    if (first + r->greater >= ld->document->numbers.count) continue;  // the field is absent
    double greater = od_number_value(ld, first + r->greater), smaller = od_number_value(ld, first + r->smaller);
    if (od_element_rule_holds(r, greater, smaller)) continue;
    int other = r->about == r->greater ? r->smaller : r->greater;
    if (r->kind == OD_RULE_NEEDED)
      od_complain_number(ld, first + r->about, "%s", r->text);
    else
      od_complain_relation(ld, first + r->about, od_element_rule_relation(r), first + other, r->text);
  }
  bool given = c->one_of_count == 0;
  for (int i = 0; i < c->one_of_count; i++) given = given || od_number_is_given(ld, first + c->one_of[i]);
  if (given || section->map < 0) return;
  const char *list = "";
  for (int i = 0; i < c->one_of_count; i++)
    list = od_format(ld, "%s%s'%s'", list,
                     i == 0                    ? ""
                     : i + 1 < c->one_of_count ? ", "
                                               : " or ",
                     c->fields[c->one_of[i]].key);
  od_complain(ld, section->node, "%s needs %s", section->what, list);
}

int od_element_field_place(const od_element_description *c, const char *key) {
  for (int i = 0; i < c->field_count; i++)
    if (strcmp(c->fields[i].key, key) == 0) return i;
  return -1;
}

int od_read_component_fields(od_loader *ld, const od_section *section, const od_element_description *c,
                             const char *signal_unit, bool turning, int *signal) {
  int first = ld->document->numbers.count, before = od_messages_errors(ld->messages);
  // The optional fields at the end are absent unless one of these fields is given.
  int count = c->field_count - c->equations->optional_numbers;
  for (int i = count; i < c->field_count; i++)
    if (od_is_given(ld, section, c->fields[i].key)) count = c->field_count;
  for (int i = 0; i < count; i++) {
    od_field field = od_component_field(&c->fields[i], signal_unit, turning);
    int like = c->fields[i].same_as ? od_element_field_place(c, c->fields[i].same_as) : -1;
    if (like >= 0) field.fallback = od_number_value(ld, first + like);
    if (c->fields[i].follows_signal)
      od_read_value(ld, section, &field, signal);
    else
      od_read_fields(ld, section, &field, 1, OD_IN_MODEL);
  }
  check_rules(ld, section, c, first, before);
  return first;
}

// --- Ends ---------------------------------------------------------------------------------------------------------

// Finds the nodes at all ends of a component; -1: an optional end that is not given. On failure reports an error and returns false.
static bool find_ends(od_loader *ld, const od_section *section, const od_element_description *c,
                      int ends[OD_MOST_ENDS]) {
  int count = 0;
  bool sound = true;
  for (int i = 0; i < OD_MOST_ENDS; i++) ends[i] = -1;
  for (int i = 0; i < OD_MOST_END_KEYS && c->ends[i].key; i++) {
    const od_element_end *end = &c->ends[i];
    if (end->count == 2) {
      sound = od_find_node_pair(ld, section, end->key, ends + count) && sound;
    } else {
      int at = end->optional ? od_section_get(ld, section, end->key) : od_section_need(ld, section, end->key);
      if (at >= 0) ends[count] = od_find_node(ld, at, end->key);
      if (at < 0 && !end->optional) ld->draft->loose_ends = true;
      sound = sound && (ends[count] >= 0 || (at < 0 && end->optional));
    }
    count += end->count;
  }
  if (!sound || ends[0] < 0 || ends[0] != ends[1]) return sound;
  od_complain(ld, od_section_get(ld, section, c->ends[1].key ? c->ends[1].key : c->ends[0].key),
              "%s connects '%s' with itself; expected two different volumes, junctions, tanks or sources",
              section->what, od_element_at(ld, ends[1])->name);
  ld->draft->loose_ends = true;
  return false;
}

// --- The mechanism ------------------------------------------------------------------------------------------------

// Finds the revolute, prismatic or screw joint that a component drives. Returns the index of the joint in the builder, or -1 after
// reporting an error. *turning: whether the coordinate of the joint is an angle.
static int find_joint(od_loader *ld, const od_section *section, bool *turning) {
  int node = od_section_need(ld, section, "joint");
  const char *text = od_read_text(ld, node, "joint", "the name of a joint");
  int joint = text != NULL ? od_names_find(ld, node, text, OD_ELEMENT_JOINT) : -1;
  if (joint < 0 || od_element_at(ld, joint)->broken) return -1;
  const od_element *found = od_element_at(ld, joint);
  *turning = found->type != OD_PRISMATIC;
  if (od_joint_class_of(found->type)->drives) return found->index == OD_NOT_BUILT ? -1 : found->index;
  od_complain(ld, node, "%s cannot act in '%s', a %s joint; expected a revolute, prismatic or screw joint",
              section->what, text, od_joint_class_of(found->type)->name);
  return -1;
}

// --- Components ---------------------------------------------------------------------------------------------------

// Lists the keys of a class, ending with NULL.
enum { MOST_KEYS = OD_MOST_ELEMENT_FIELDS + 9 };
static void list_keys(const od_element_description *c, const char *keys[MOST_KEYS]) {
  int count = 0;
  if (c->equations->acts == OD_ACTS_BETWEEN_POINTS || c->equations->acts == OD_ACTS_SOMEWHERE)
    keys[count++] = "between";
  if (c->equations->acts == OD_ACTS_IN_JOINT || c->equations->acts == OD_ACTS_SOMEWHERE) keys[count++] = "joint";
  for (int i = 0; i < OD_MOST_END_KEYS && c->ends[i].key; i++) keys[count++] = c->ends[i].key;
  if (c->signal_key) keys[count++] = c->signal_key;
  for (int i = 0; i < c->field_count; i++) keys[count++] = c->fields[i].key;
  if (c->formula_key) keys[count++] = c->formula_key, keys[count++] = "inputs", keys[count++] = "parameters";
  keys[count] = NULL;
}

// Returns where a component acts. If a component may act in several places, its keys determine the place. Reports two such keys. If
// both keys are missing, reports an error and returns OD_ACTS_NOWHERE.
static od_acts acts_where(od_loader *ld, const od_section *section, const od_element_description *c) {
  int between = od_section_get(ld, section, "between"), joint = od_section_get(ld, section, "joint");
  if (c->equations->acts != OD_ACTS_SOMEWHERE) return c->equations->acts;
  if (between >= 0 && joint >= 0)
    od_complain(ld, joint, "%s has both 'between' and 'joint'; expected one of these keys", section->what);
  if (between < 0 && joint < 0 && section->map >= 0 && !od_section_means(section, "between") &&
      !od_section_means(section, "joint"))
    od_complain(ld, section->node, "%s needs 'between' (two points) or 'joint'; give one of these keys", section->what);
  if (between < 0 && joint < 0) return OD_ACTS_NOWHERE;
  return joint >= 0 ? OD_ACTS_IN_JOINT : OD_ACTS_BETWEEN_POINTS;
}

int od_find_command(od_loader *ld, const od_section *section, const char *key, const char *in_unit_of,
                    const char **unit) {
  int node = od_section_need(ld, section, key);
  const char *name = od_read_text(ld, node, key, "the name of an input or a block");
  int command = name != NULL ? od_names_find(ld, node, name, OD_ELEMENT_SIGNAL) : -1;
  const char *written = "";
  *unit = command >= 0 ? od_element_at(ld, command)->unit : NULL;
  int other = od_section_get(ld, section, in_unit_of);
  if (command < 0 && other >= 0) written = od_text_unit(ld, od_place_of(ld, other), od_text_of(ld, other));
  if (written[0] != '\0') *unit = od_units_si(ld->units, written);
  if (*unit == NULL) *unit = "1";
  return command;
}

// Loads a component that is fully described by the table of its class.
static void load_component(od_loader *ld, int key, int element) {
  od_element *component = od_element_at(ld, element);
  const od_element_description *c = od_component_class(component);
  const char *keys[MOST_KEYS];
  list_keys(c, keys);
  const char *what = od_format(ld, "the %s '%s'", c->noun, component->name);
  od_section section = od_section_open_names(ld, od_value(ld, key), key, component->name, what, keys);
  od_element_spec spec = od_element_spec_of(c->equations->name);
  od_point_ref points[2] = {{-1, -1}, {-1, -1}};
  int ends[OD_MOST_ENDS];
  bool connected = true, turning = false;
  od_acts acts = acts_where(ld, &section, c);
  if (acts == OD_ACTS_NOWHERE && c->equations->acts != OD_ACTS_NOWHERE) connected = false;
  if (acts == OD_ACTS_BETWEEN_POINTS)
    connected = od_names_find_pair(ld, &section, points) && points[0].point >= 0 && points[1].point >= 0;
  if (acts == OD_ACTS_IN_JOINT) connected = (spec.joint = find_joint(ld, &section, &turning)) >= 0;
  bool joined = find_ends(ld, &section, c, ends);
  const char *unit = "1";
  int command = c->signal_key ? od_find_command(ld, &section, c->signal_key, "stroke", &unit) : -1;
  int first = od_read_component_fields(ld, &section, c, unit, turning, &spec.signal);
  if (c->signal_key) {
    // Index of the field that must be positive for the first state to exist; -1: no such field. If its number is zero,
    // the signal replaces the state.
    int lag = c->states[0].name ? c->states[0].present_if : -1;
    connected = connected && command >= 0;
    component->unit = unit;
    component->follows = lag >= 0 && od_number_value(ld, first + lag) == 0;
    component->broken = command < 0;
    spec.signal = command >= 0 ? od_element_at(ld, command)->index : OD_UNUSED;
  }
  od_operation operations[OD_MOST_OPERATIONS];
  if (c->formula_key) connected = od_load_element_formula(ld, &section, c, turning, &spec, operations) && connected;
  if (joined) od_connect_nodes(ld, ends, OD_MOST_ENDS);
  if (!joined || !connected) return;
  for (int i = 0; i < OD_MOST_ENDS; i++) spec.end[i] = ends[i] >= 0 ? od_element_at(ld, ends[i])->index : OD_UNUSED;
  spec.point_a = points[0].point, spec.point_b = points[1].point;
  if (!c->formula_key) spec.first_number = od_number_theta(ld, first);
  component->index = od_build_element(ld->draft->build, component->name, &spec);
  od_remember(ld, OD_ABOUT_ELEMENT, component->index, key);
}

// A reader of the section of a class with parts.
typedef struct part_reader {
  const od_element_description *of;
  const od_section_class *section;
  od_element_loader *load;
} part_reader;

// Returns the reader of a class; NULL: the class has no parts.
static const part_reader *reader_of(const od_element_description *c) {
  static const part_reader readers[] = {{&od_valve_description, &od_valve_section, od_load_valve},
                                        {&od_cylinder_description, &od_cylinder_section, od_load_cylinder}};
  for (size_t i = 0; c->has_parts && i < sizeof readers / sizeof *readers; i++)
    if (readers[i].of == c) return &readers[i];
  return NULL;
}

const od_section_class *od_component_section(const od_element_description *c) {
  const part_reader *reader = reader_of(c);
  return reader != NULL ? reader->section : NULL;
}

void od_load_components(od_loader *ld, int class_index, int node) {
  const od_element_description *c = od_element_description_at(class_index);
  const part_reader *reader = reader_of(c);
  od_element_loader *load = reader != NULL ? reader->load : load_component;
  bool joins = c->ends[0].key != NULL || c->has_parts;
  for (int key = joins ? od_first_end(ld, node, c->section) : od_first(ld, node, c->section); key >= 0;
       key = od_next(ld, key)) {
    int element = od_names_declare(ld, key, OD_ELEMENT_COMPONENT + class_index);
    if (element < 0)
      ld->draft->loose_ends = ld->draft->loose_ends || joins;
    else
      load(ld, key, element);
  }
}
