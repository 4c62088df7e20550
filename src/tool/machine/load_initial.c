// Loads the initial state: exact or approximate positions and rates, pressures, spool positions and states of blocks. The file may
// request a static balance for some of these values.
//
// The elements determine the allowed quantities, so errors are found before the model is built.
#include <math.h>
#include <string.h>

#include "document/document.h"
#include "document/ranges.h"
#include "document/suggest.h"
#include "machine/machine_loader.h"
#include "model/builder.h"
#include "model/joint_types.h"
#include "model/outputs.h"
#include "plant/assembly.h"

enum { MOST_OPTIONS = 64 };

// An initial value that an element may have: the last part of the quantity's name, after the element's name; the SI unit; the
// limits; and the start value for static balance (NAN: the quantity cannot be balanced).
typedef struct option {
  const char *name, *unit;
  const od_limits *limits;  // NULL: none
  od_sign range;
  double start;
  bool
      no_state;  // whether the quantity equals a signal and has no state, such as the spool position of a valve without a lag
} option;

typedef struct options {
  option item[MOST_OPTIONS];
  int count;
} options;

// Limits of quantities: by name for pressures and lengths, by unit for other quantities.
static const struct {
  const char *name, *unit;  // name NULL: any name
  od_limits limits;
} quantities[] = {
    {"pressure", "Pa", OD_RANGE_PRESSURE}, {"length", "m", OD_RANGE_LENGTH},
    {NULL, "m", OD_RANGE_POSITION},        {NULL, "rad", {-1e6, 1e6, -6.3, 6.3}},
    {NULL, "m/s", {-1e6, 1e6, -100, 100}}, {NULL, "rad/s", {-1e8, 1e8, -2000, 2000}},
};

// Returns the limits of an initial value; NULL: none.
static const od_limits *limits_of(const char *name, const char *unit) {
  for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++)
    if (strcmp(quantities[i].unit, unit) == 0 && (!quantities[i].name || strcmp(quantities[i].name, name) == 0))
      return &quantities[i].limits;
  return NULL;
}

const od_limits *od_measured_limits(const char *output, const char *unit) {
  // Angles have no limits, because an angle may be many turns.
  static const char *const measured[][2] = {
      {"length", "m"}, {"position", "m"}, {"pressure", "Pa"}, {"rate", "m/s"}, {"rate", "rad/s"}};
  const char *dot = strrchr(output, '.');
  for (size_t i = 0; dot != NULL && i < sizeof measured / sizeof *measured; i++)
    if (strcmp(dot + 1, measured[i][0]) == 0 && strcmp(unit, measured[i][1]) == 0)
      return limits_of(measured[i][0], unit);
  return NULL;
}

static void add(options *list, const char *name, const char *unit) {
  if (list->count < MOST_OPTIONS)
    list->item[list->count++] = (option){name, unit, limits_of(name, unit), OD_ANY, NAN, false};
}

static void add_balanced(options *list, const char *name, const char *unit, od_sign range, double start) {
  add(list, name, unit);
  list->item[list->count - 1].range = range;
  list->item[list->count - 1].start = start;
}

// --- Initial values of each element -------------------------------------------------------------------------------

static void add_joint_options(options *list, od_joint_type type) {
  const od_joint_class *c = od_joint_class_of(type);
  for (int order = 0; order < 2; order++)
    for (int i = 0; i < c->coordinates; i++) {
      bool slides = c->coordinate[i].kind == OD_LINK_PRISMATIC;
      if (order == 0)
        add_balanced(list, c->coordinate[i].label[0], slides ? "m" : "rad", OD_ANY, 0);
      else
        add(list, c->coordinate[i].label[1], slides ? "m/s" : "rad/s");
    }
}

// Adds the coordinates and speeds of the point whose name is the first part of `name`. If there is no such point, adds nothing.
static void add_point_options(od_loader *ld, options *list, int element, const char *name) {
  static const char *const coordinates[] = {"x", "y", "z"}, *const speeds[] = {"vx", "vy", "vz"};
  static const char *const own_speeds[] = {"body_vx", "body_vy", "body_vz"};
  size_t length = strcspn(name, ".");
  for (int i = 0; i < ld->draft->names.points; i++) {
    const od_named_point *point = &ld->draft->names.point[i];
    if (point->element != element || strncmp(point->name, name, length) != 0 || point->name[length] != '\0') continue;
    for (int j = 0; j < 3; j++) {
      add(list, od_format(ld, "%s.%s", point->name, coordinates[j]), "m");
      add(list, od_format(ld, "%s.%s", point->name, speeds[j]), "m/s");
      add(list, od_format(ld, "%s.%s", point->name, own_speeds[j]), "m/s");
    }
  }
}

// Adds the states of a block. States that do not fit into the list are omitted.
static void add_block_options(od_loader *ld, options *list, const od_element *element) {
  const od_loading_block *b = &ld->draft->block[element->block];
  for (int i = 0; b->state_unit[0] != NULL && i < od_build_block_state_count(ld->draft->build, b->index); i++) {
    const char *name = od_build_block_state_name(ld->draft->build, b->index, i);
    if (name[0] == '\0') continue;  // not an output
    add_balanced(list, name, b->state_unit[i], OD_ANY, 0);
    list->item[list->count - 1].limits = NULL;  // signals have no limits
  }
}

// Adds lengths and rates of components on the mechanism, and their states.
static void add_component_options(options *list, const od_element *element) {
  const od_element_description *c = od_component_class(element);
  for (int i = 0; c && i < OD_MOST_ELEMENT_OUTPUTS && c->outputs[i].shows != OD_SHOWS_NOTHING; i++) {
    const od_element_output *o = &c->outputs[i];
    if (o->shows != OD_SHOWS_LENGTH && o->shows != OD_SHOWS_SPEED && o->shows != OD_SHOWS_STATE) continue;
    const char *unit = strcmp(o->unit, "*") == 0 ? element->unit : o->unit;
    if (o->shows == OD_SHOWS_STATE)
      add_balanced(list, o->name, unit, OD_ANY, c->states[o->index].initial);
    else
      add(list, o->name, unit);
    list->item[list->count - 1].no_state =
        o->shows == OD_SHOWS_STATE && c->states[o->index].present_if >= 0 && element->follows;
  }
}

// Adds the states of the friction in a joint or a cylinder. Bristles at rest can hold any force, so their states cannot be
// balanced.
static void add_friction_options(od_loader *ld, options *list, const od_element *element) {
  const od_element_description *c = element->friction;
  bool turning = element->kind == OD_ELEMENT_JOINT && od_joint_turns(element->type);
  for (int i = 0; c && i < OD_MOST_ELEMENT_OUTPUTS && c->outputs[i].shows != OD_SHOWS_NOTHING; i++) {
    const od_element_output *o = &c->outputs[i];
    if (o->shows != OD_SHOWS_STATE) continue;
    const char *unit = turning && o->turning_unit ? o->turning_unit : o->unit;
    add(list, od_format(ld, "%s_%s", c->inside, o->inside_name), unit);
    if (od_limits_are_known(&c->states[o->index].limits))
      list->item[list->count - 1].limits = &c->states[o->index].limits;
  }
}

static options options_of(od_loader *ld, int element, const char *name) {
  options list = {.count = 0};
  switch (od_element_at(ld, element)->kind) {
    case OD_ELEMENT_JOINT: add_joint_options(&list, od_element_at(ld, element)->type); break;
    case OD_ELEMENT_BODY:
      add(&list, "angle", "rad");
      add(&list, "turn_rate", "rad/s");
      add_point_options(ld, &list, element, name);
      break;
    case OD_ELEMENT_VOLUME: add_balanced(&list, "pressure", "Pa", OD_NOT_NEGATIVE, 1e6); break;
    case OD_ELEMENT_BLOCK: add_block_options(ld, &list, od_element_at(ld, element)); break;
    default: add_component_options(&list, od_element_at(ld, element)); break;
  }
  add_friction_options(ld, &list, od_element_at(ld, element));
  return list;
}

// Returns the unit of a quantity that has an initial value, or NULL.
const char *od_state_quantity_unit(od_loader *ld, int element, const char *name) {
  options list = options_of(ld, element, name);
  for (int i = 0; i < list.count; i++)
    if (strcmp(list.item[i].name, name) == 0) return list.item[i].unit;
  return NULL;
}

const char *od_nearest_state_quantity(od_loader *ld, int element, const char *name) {
  options list = options_of(ld, element, name);
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < list.count; i++) od_nearest_try(&nearest, list.item[i].name);
  return nearest.best;
}

// --- Messages -----------------------------------------------------------------------------------------------------

// Returns whether an element has an output with this name that cannot have an initial value. Only positions, rates,
// pressures, spool positions and other states can have an initial value. `owner` NULL: outputs without an element, such
// as "energy.kinetic".
static bool is_other_output(od_loader *ld, const od_element *owner, const char *name) {
  static const char others[] =
      " acceleration acceleration1 acceleration2 acceleration3 turn_acceleration ax ay az body_ax body_ay body_az "
      "accelerometer_x accelerometer_y accelerometer_z force torque friction spring_force spring_energy spring_loss "
      "spring_dissipated kinetic potential energy loss dissipated power work stored input balance inflow cavitating "
      "compressed flow opening taken ";
  const od_element_description *c = owner != NULL ? od_component_class(owner) : NULL;
  for (int i = 0; c && i < OD_MOST_ELEMENT_OUTPUTS && c->outputs[i].shows != OD_SHOWS_NOTHING; i++)
    if (c->outputs[i].name && strcmp(c->outputs[i].name, name) == 0) return true;
  const char *dot = strrchr(name, '.');
  return strstr(others, od_format(ld, " %s ", dot != NULL ? dot + 1 : name)) != NULL;
}

// Reports a quantity that cannot have an initial value or does not exist.
static void complain_option(od_loader *ld, int key, int element, const char *name, const options *list) {
  const od_element *owner = od_element_at(ld, element);
  const char *noun = od_element_noun(owner->kind);
  od_nearest nearest = od_nearest_to(name);
  const char *names = "";
  for (int i = 0; i < list->count; i++) {
    od_nearest_try(&nearest, list->item[i].name);
    names = od_format(ld, "%s%s%s", names, i == 0 ? "" : i + 1 == list->count ? " and " : ", ", list->item[i].name);
  }
  bool has_points = list->count > 2;  // the list contains more than 'angle' and 'turn_rate'
  const od_element_description *c = od_component_class(owner);
  bool in_circuit =
      od_element_is(owner, OD_ELEMENT_NODE) || (c && c->equations->needs_oil && c->equations->acts == OD_ACTS_NOWHERE);
  if (is_other_output(ld, owner, name))
    od_complain(ld, key, "'%s' cannot have an initial value; only %s can have an initial value", od_text_of(ld, key),
                owner->kind == OD_ELEMENT_BLOCK ? "states"
                : in_circuit                    ? "pressures and spool positions"
                                                : "positions and rates");
  else if ((owner->kind == OD_ELEMENT_TANK || owner->kind == OD_ELEMENT_SOURCE) && strcmp(name, "pressure") == 0)
    od_complain(ld, key, "'%s' cannot have an initial value; use the key 'pressure' of the %s instead",
                od_text_of(ld, key), noun);
  else if (owner->kind == OD_ELEMENT_JUNCTION && strcmp(name, "pressure") == 0)
    od_complain(
        ld, key,
        "'%s' cannot have an initial value; the pressure of a junction follows from the flows through the junction. Remove this key",
        od_text_of(ld, key));
  else if (owner->kind == OD_ELEMENT_BODY && strchr(name, '.') != NULL && !has_points)
    od_names_lack_point(ld, key, od_copy(ld, name, strcspn(name, ".")), element);
  else if (nearest.best != NULL)
    od_complain(ld, key, "the %s '%s' has no '%s'; did you mean '%s.%s'?", noun, owner->name, od_excerpt(ld, name),
                owner->name, nearest.best);
  else if (list->count > 0)
    od_complain(ld, key, "the %s '%s' has no '%s'; its quantities are %s", noun, owner->name, od_excerpt(ld, name),
                names);
  else
    od_complain(ld, key, "the %s '%s' has no initial values; remove this key", noun, owner->name);
}

// Returns the element of a quantity, or -1 after reporting an error. Quantities such as "energy.kinetic" have no element. *rest:
// the part of the text after the name of the element.
static int find_element(od_loader *ld, int key, const char *text, const char **rest) {
  int element = od_names_owner(ld, key, text, rest);
  if (element >= 0) return element;
  size_t length = od_names_element_length(ld, text);
  const char *name = od_copy(ld, text, length);
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < ld->draft->names.elements; i++) od_nearest_try(&nearest, od_element_at(ld, i)->name);
  if (text[length] == '.' && is_other_output(ld, NULL, text))
    od_complain(ld, key, "'%s' cannot have an initial value; only positions and rates can have an initial value",
                od_excerpt(ld, text));
  else
    od_complain(ld, key, "there is no element '%s'%s", od_excerpt(ld, name),
                od_nearest_suggestion(&nearest, "'oleodyn info FILE' lists the elements").text);
  return -1;
}

// Finds the quantity of a key. Returns false if there is no such quantity. Reports this error, unless `silent` is set or another
// message reports the cause.
static bool find_option(od_loader *ld, int key, bool silent, option *found) {
  const char *name, *text = od_text_of(ld, key);
  int element = silent ? od_names_owner(ld, key, text, &name) : find_element(ld, key, text, &name);
  if (element < 0) return false;
  options list = options_of(ld, element, name);
  for (int i = 0; i < list.count; i++) {
    if (strcmp(list.item[i].name, name) != 0) continue;
    *found = list.item[i];
    return true;
  }
  if (!silent && !od_element_at(ld, element)->broken) complain_option(ld, key, element, name, &list);
  return false;
}

// --- Values -------------------------------------------------------------------------------------------------------

// Removes a word and the following blanks from the beginning of a text. Returns false if the text does not start with the word.
static bool take_word(const char **text, const char *word) {
  size_t length = strlen(word);
  if (strncmp(*text, word, length) != 0 || ((*text)[length] != ' ' && (*text)[length] != '\t')) return false;
  *text += length;
  *text += strspn(*text, " \t");
  return true;
}

// Reads `balance` or `balance from 2 MPa` from --set or the file. number->text becomes the initial guess (NULL: none). If the
// quantity cannot be balanced, reports an error and returns false.
static bool read_balance(od_loader *ld, od_given *number, const char *quantity, const option *o) {
  if (isnan(o->start)) {
    od_complain_given(
        ld, number,
        "'%s' cannot be balanced; joint coordinates, pressures of volumes, and states of components and blocks, "
        "except states of friction, can be balanced",
        quantity);
    return false;
  }
  const char *rest = number->text;
  if (take_word(&rest, "balance") && !take_word(&rest, "from")) {
    od_complain_given(ld, number, "found '%s'; expected 'balance' or 'balance from VALUE'",
                      od_excerpt(ld, number->text));
    return false;
  }
  number->text = rest != number->text ? rest : NULL;
  return true;
}

// Returns whether a key is in the file of a saved state.
static bool is_saved(const od_loader *ld, int key) {
  int saved = ld->draft->saved;
  return saved >= 0 && ld->tree.node[key].origin == ld->tree.node[saved].origin;
}

// Returns whether a value is only an initial guess for the search for a steady state. Such values are saved values, and
// all values merged with 'initial: steady', such as values of templates.
static bool is_start(const od_loader *ld, int key) {
  return ld->draft->steady >= 0 && (ld->draft->only_guesses || is_saved(ld, key));
}

static void load_value(od_loader *ld, int key, const option *o) {
  const char *quantity = od_text_of(ld, key);
  int node = od_value(ld, key);
  const char *path = od_format(ld, "initial.%s", quantity);
  od_given given = od_given_for(ld, node, path, quantity, o->unit, od_place_of(ld, key));
  if (given.text == NULL) return;
  // --set replaces the number; an approximate value remains approximate. --set can make a balanced value exact, or an exact value
  // balanced.
  const char *in_file = od_text_of(ld, node);
  od_given number = given;
  const char *text = given.text;
  bool balance = strcmp(text, "balance") == 0 || take_word(&text, "balance");
  if (balance && !read_balance(ld, &number, quantity, o)) return;
  bool approximate = !balance && take_word(&number.text, "about");
  approximate = approximate || (!balance && take_word(&in_file, "about"));
  double value = o->start;
  const od_field field = {quantity, o->unit, o->range, NAN, o->limits};
  if (number.text != NULL &&
      (!od_read_quantity(ld, &number, o->unit, &value) || !od_check_range(ld, &number, &field, value)))
    return;
  int number_index = od_add_number(ld, &given, value, &field, OD_IN_LOADER);
  if (balance && number_index >= 0) ld->document->numbers.item[number_index].number.balanced = true;
  if (o->no_state) return;
  if (balance)
    od_build_balance(ld->draft->build, quantity, value);
  else
    od_build_initial(ld->draft->build, quantity, value, !approximate && !is_start(ld, key));
  od_remember(ld, OD_ABOUT_INITIAL, ld->draft->initials++, key);
}

// --- Saved states -------------------------------------------------------------------------------------------------

// Keys of a file written by --save-state, in addition to 'initial'.
static const od_key state_keys[] = {{"time", OD_NUMBER, "s", "time at which the state was saved", OD_NOT_NEGATIVE, 0}};
static const od_section_class state_section = {"state", "a saved state", OD_KEYS(state_keys)};

// Returns the time of a saved state, s; 0: not given, or an error was reported.
static double saved_time(od_loader *ld, int root) {
  int node = od_map_find(ld, root, "state");
  od_section section = od_section_open(ld, node, node, "state", "the state", &state_section);
  double value = 0;
  int at = od_section_get(ld, &section, "time");
  const char *text = od_read_text(ld, at, "time", "a number");
  const od_given given = {.path = "state.time", .label = "time", .text = text, .place = od_place_of(ld, at)};
  const od_field time = od_key_field(&section, "time");
  if (text == NULL || !od_read_quantity(ld, &given, "s", &value) || !od_check_range(ld, &given, &time, value)) return 0;
  return value;
}

void od_load_saved_state(od_loader *ld, int node) {
  int file = od_map_find(ld, node, "file");
  const char *name = od_read_text(ld, file, "file", "the name of a file that --save-state wrote");
  int before = od_messages_errors(ld->messages);
  int root = name != NULL ? od_document_read_beside(ld, file, name) : -1;
  if (name == NULL || od_messages_errors(ld->messages) > before) return;
  int map = root >= 0 ? od_map_find(ld, root, "initial") : -1;
  if (!od_is_map(ld, map)) {
    od_complain(ld, file, "'%s' has no section 'initial'; expected a file written by 'oleodyn simulate --save-state'",
                od_excerpt(ld, name));
    return;
  }
  ld->draft->saved = map;
  ld->draft->machine->start = saved_time(ld, root);
}

// Passes states that occur only in saved states to the builder, such as bristle deflections of a friction element. Returns false if
// the key is not such a state.
static bool take_saved(od_loader *ld, int key) {
  double value;
  const char *unit, *text = od_read_text(ld, od_value(ld, key), od_text_of(ld, key), "a number");
  option o;
  if (text == NULL || find_option(ld, key, true, &o)) return false;
  bool approximate = take_word(&text, "about");
  if (!od_split_quantity(text, &value, &unit) || unit[0] != '\0' || !isfinite(value)) return false;
  od_build_initial(ld->draft->build, od_text_of(ld, key), value, !approximate && !is_start(ld, key));
  od_remember(ld, OD_ABOUT_INITIAL, ld->draft->initials++, key);
  return true;
}

// Returns the map that contains 'file'. A variant or an including file may add other values to the merged map. With a saved state,
// only values in the same map as 'file' are used.
static int map_of_file(const od_loader *ld, int node) {
  int file = od_map_find(ld, node, "file"), own = node, least = -1;
  for (int i = 0; i < ld->tree.count; i++) {
    const od_tree_node *map = &ld->tree.node[i];
    int entries = 0;
    bool found = false;
    if (map->kind != OD_TREE_MAP) continue;
    for (int key = map->first; key >= 0; key = od_next(ld, key), entries++) {
      const od_tree_node *value = &ld->tree.node[od_value(ld, key)], *same = &ld->tree.node[file];
      found = found || (strcmp(od_text_of(ld, key), "file") == 0 && value->line == same->line &&
                        value->column == same->column && value->origin == same->origin);
    }
    if (found && (least < 0 || entries < least)) own = i, least = entries;
  }
  return own;
}

// Reads 'initial: steady', or 'others: steady' next to other values. All values that are not exact are then computed such that
// all rates are zero.
void od_load_steady_word(od_loader *ld, int node, bool is_all) {
  const char *text = od_read_text(ld, node, "initial", "'steady'");
  if (text == NULL) return;
  if (strcmp(text, "steady") != 0) {
    od_complain(ld, node, "found '%s'; expected 'steady', or a map of initial values", od_excerpt(ld, text));
    return;
  }
  ld->draft->steady = node;
  ld->draft->only_guesses = is_all;
  ld->draft->build->starts_anywhere = true;
}

// Loads the values of a map that have not been loaded yet.
static void load_values(od_loader *ld, int node, bool has_file, od_index *seen) {
  for (int key = od_first(ld, node, "initial values"); key >= 0; key = od_next(ld, key)) {
    const char *quantity = od_text_of(ld, key);
    if (has_file && strcmp(quantity, "file") == 0) continue;
    if (strcmp(quantity, "others") == 0) continue;
    if (od_index_find(seen, quantity) >= 0) {
      if (is_saved(ld, key) && !is_saved(ld, od_index_find(seen, quantity))) continue;  // the file overrides this value
      od_complain(ld, key, "'%s' is given twice; remove one entry", od_excerpt(ld, quantity));
      continue;
    }
    od_index_add(seen, &ld->scratch, quantity, key);
    option o;
    if (is_saved(ld, key) && take_saved(ld, key)) continue;
    if (find_option(ld, key, false, &o)) load_value(ld, key, &o);
  }
}

// Loads the initial state. A saved state is complete; values in the machine file override values of the saved state.
void od_load_initial(od_loader *ld, int node) {
  od_index seen = {0};
  if (od_is_text(ld, node)) {
    if (ld->draft->steady < 0) od_load_steady_word(ld, node, true);
    return;
  }
  bool has_file = od_map_find(ld, node, "file") >= 0;
  if (od_map_find(ld, node, "others") >= 0) od_load_steady_word(ld, od_map_find(ld, node, "others"), false);
  if (has_file && ld->draft->saved >= 0) node = map_of_file(ld, node);
  load_values(ld, node, has_file, &seen);
  if (ld->draft->saved >= 0) load_values(ld, ld->draft->saved, false, &seen);
}

void od_load_balanced(od_loader *ld) {
  const od_model *m = ld->draft->machine->model;
  for (int i = 0; i < ld->document->numbers.count; i++) {
    od_number *x = &ld->document->numbers.item[i].number;
    if (!x->balanced) continue;
    // The result of the balance is a coordinate or a first-order state of the initial state.
    const char *quantity = x->path + strlen("initial.");
    int coordinate = od_model_coordinate_find(m, quantity, false), output = od_model_output_find(m, quantity);
    int state = output >= 0 ? od_assembly_first_order_state(m, &m->output[output]) : -1;
    if (coordinate >= 0)
      x->value = m->z0[coordinate];
    else if (state >= 0)
      x->value = m->c0[state];
    od_check_balanced(ld, i);
  }
}
