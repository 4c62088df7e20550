// Forces and torques: where they act, and how large they are - a quantity, an input, or a factor and an input.
#include <math.h>
#include <string.h>

#include "machine/quantities.h"

// --- Values -------------------------------------------------------------------------------------------------------

// The unit that a factor needs to make `wanted` of an input.
static const char *factor_unit(od_loader *ld, const char *wanted, const char *input_unit) {
  double one;
  if (od_units_convert(ld->units, input_unit, wanted, 1, &one) == OD_UNIT_FITS) return "1";
  if (strcmp(input_unit, "1") == 0) return wanted;
  return od_format(ld, "%s/(%s)", wanted, input_unit);
}

static int find_input(const od_loader *ld, const char *name) {
  int element = od_index_find(&ld->names.element_index, name);
  return element >= 0 && ld->names.element[element].kind == OD_ELEMENT_INPUT ? element : -1;
}

// The last word of a text.
static const char *last_word(const char *text) {
  const char *space = strrchr(text, ' ');
  return space != NULL ? space + 1 : text;
}

// What a value says: a quantity (input -1), or an input and the text of its factor (NULL: one).
typedef struct value_text {
  int input;  // its element
  const char *factor;
  bool bad;  // it names an input that does not exist
} value_text;

static void complain_input(od_loader *ld, int node, const char *word) {
  const char *nearest = od_names_nearest(ld, word, OD_ELEMENT_INPUT);
  if (word[0] == '-' && find_input(ld, word + 1) >= 0)
    od_complain(ld, node, "found '%s'; write '-1 %s'", word, word + 1);
  else if (nearest != NULL)
    od_complain(ld, node, "there is no input '%s'; did you mean '%s'?", od_excerpt(ld, word), nearest);
  else
    od_complain(ld, node, "'%s' is neither a quantity nor an input", od_excerpt(ld, od_text_of(ld, node)));
}

// "100 N" is a force even if there is an input N: units come first.
static value_text read_value_text(od_loader *ld, int node, const char *text) {
  const char *unit, *word = last_word(text);
  double number;
  if (find_input(ld, text) >= 0) return (value_text){.input = find_input(ld, text)};
  if (!od_split_quantity(text, &number, &unit)) {
    bool is_word = text[0] == '\0' || strchr("+-.0123456789", text[0]) == NULL || find_input(ld, text + 1) >= 0;
    if (is_word) complain_input(ld, node, text);
    return (value_text){.input = -1, .bad = is_word};
  }
  if (unit[0] == '\0' || od_units_knows(ld->units, unit)) return (value_text){.input = -1};
  int input = find_input(ld, word);
  if (input >= 0) return (value_text){.input = input, .factor = od_copy(ld, text, (size_t)(word - text - 1))};
  bool misspelt = od_units_suggest(unit) == NULL && od_names_nearest(ld, word, OD_ELEMENT_INPUT) != NULL;
  if (misspelt) complain_input(ld, node, word);
  return (value_text){.input = -1, .bad = misspelt};
}

// Reads 'value'. Returns its number; *input is the input that it is multiplied with in the builder, or -1.
static int read_value(od_loader *ld, const od_section *section, const char *wanted, int *input) {
  *input = -1;
  const char *path = od_path(ld, section->path, "value");
  int node = od_section_need(ld, section, "value");
  const char *text = od_read_text(ld, node, "value", "a quantity, an input, or a factor and an input");
  value_text value = {.input = -1, .bad = true};
  if (text != NULL) value = read_value_text(ld, node, text);
  const char *unit = wanted;
  if (value.input >= 0) {
    unit = factor_unit(ld, wanted, ld->names.element[value.input].unit);
    *input = ld->names.element[value.input].index;
  }
  // --set replaces the quantity or the factor.
  od_place place = od_place_of(ld, node >= 0 ? node : section->node);
  od_given given = od_given_for(ld, -1, path, "value", unit, place);
  if (given.text == NULL && !value.bad) given.text = value.input >= 0 ? value.factor : text;
  double number = 1;
  if (given.text != NULL) od_read_quantity(ld, &given, unit, &number);
  return od_add_number(ld, &given, number, unit, OD_IN_MODEL);
}

static bool follows_body(od_loader *ld, const od_section *section) {
  static const char *const frames[] = {"ground", "body", NULL};
  int node = od_section_get(ld, section, "frame");
  return node >= 0 && od_read_choice(ld, node, "frame", frames) == 1;
}

// --- Forces -------------------------------------------------------------------------------------------------------

static void load_force(od_loader *ld, int key, int element) {
  static const char *const keys[] = {"at", "value", "direction", "frame", NULL};
  const char *name = od_text_of(ld, key);
  const char *what = od_format(ld, "the force '%s'", name);
  od_section section = od_section_open(ld, od_value(ld, key), key, name, what, keys);
  od_point_ref at = od_names_find_point(ld, od_section_need(ld, &section, "at"), "at");
  int input;
  int first = read_value(ld, &section, "N", &input);
  od_read_vector_field(ld, &section, "direction", "1", OD_DIRECTION, NULL);
  bool follows = follows_body(ld, &section);
  if (at.point < 0) return;
  ld->names.element[element].index =
      od_build_force(ld->build, name, at.point, od_number_theta(ld, first), input, follows);
}

void od_load_forces(od_loader *ld, int node) {
  for (int key = od_first(ld, node, "forces"); key >= 0; key = od_next(ld, key)) {
    int element = od_names_declare(ld, key, OD_ELEMENT_FORCE);
    if (element >= 0) load_force(ld, key, element);
  }
}

// --- Torques ------------------------------------------------------------------------------------------------------

static void load_joint_torque(od_loader *ld, const od_section *section, int node, int element) {
  static const char *const of_bodies[] = {"axis", "frame"};
  for (int i = 0; i < 2; i++) {
    int unwanted = od_section_get(ld, section, of_bodies[i]);
    if (unwanted >= 0)
      od_complain(ld, unwanted, "a torque in a joint has no '%s'; the joint's axis holds", of_bodies[i]);
  }
  const char *text = od_read_text(ld, node, "joint", "the name of a joint");
  int joint = text != NULL ? od_names_find(ld, node, text, OD_ELEMENT_JOINT) : -1;
  // What cannot be checked because of another error is read all the same, for its own errors.
  od_joint_type type = OD_REVOLUTE;
  bool known = joint >= 0 && !ld->names.element[joint].broken;
  if (known) type = ld->names.element[joint].type;
  if (known && type != OD_REVOLUTE && type != OD_PRISMATIC) {
    od_complain(ld, node, "torques act in revolute and prismatic joints; '%s' is neither", text);
    return;
  }
  int input;
  int first = read_value(ld, section, type == OD_PRISMATIC ? "N" : "N m", &input);
  if (!known || ld->names.element[joint].index == OD_NOT_BUILT) return;
  od_element *torque = &ld->names.element[element];
  torque->index =
      od_build_joint_force(ld->build, torque->name, ld->names.element[joint].index, od_number_theta(ld, first), input);
}

static void load_body_torque(od_loader *ld, const od_section *section, int node, int element) {
  static const double z[3] = {0, 0, 1};
  const char *text = od_read_text(ld, node, "body", "the name of a body");
  int body = text != NULL ? od_names_find(ld, node, text, OD_ELEMENT_BODY) : -1;
  if (body == 0) od_complain(ld, node, "a torque acts on a body, not on the ground");
  int input;
  int first = read_value(ld, section, "N m", &input);
  od_read_vector_field(ld, section, "axis", "1", OD_DIRECTION, z);
  bool follows = follows_body(ld, section);
  if (body <= 0 || ld->names.element[body].index == OD_NOT_BUILT) return;
  od_element *torque = &ld->names.element[element];
  torque->index = od_build_torque(ld->build, torque->name, ld->names.element[body].index, od_number_theta(ld, first),
                                  input, follows);
}

static void load_torque(od_loader *ld, int key, int element) {
  static const char *const keys[] = {"joint", "body", "value", "axis", "frame", NULL};
  const char *name = od_text_of(ld, key);
  const char *what = od_format(ld, "the torque '%s'", name);
  od_section section = od_section_open(ld, od_value(ld, key), key, name, what, keys);
  int joint = od_section_get(ld, &section, "joint"), body = od_section_get(ld, &section, "body");
  if (joint >= 0 && body >= 0)
    od_complain(ld, key, "%s has both 'joint' and 'body'; expected one", what);
  else if (joint >= 0)
    load_joint_torque(ld, &section, joint, element);
  else if (body >= 0)
    load_body_torque(ld, &section, body, element);
  else if (section.map >= 0)
    od_complain(ld, key, "%s needs 'joint' or 'body'", what);
}

void od_load_torques(od_loader *ld, int node) {
  for (int key = od_first(ld, node, "torques"); key >= 0; key = od_next(ld, key)) {
    int element = od_names_declare(ld, key, OD_ELEMENT_TORQUE);
    if (element >= 0) load_torque(ld, key, element);
  }
}
