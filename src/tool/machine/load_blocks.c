// Reading blocks: what their inputs are connected to, and their numbers, in units that make the output's of the
// inputs'.
#include <math.h>
#include <string.h>

#include "machine/block_forms.h"
#include "document/suggest.h"

// --- What inputs are connected to ---------------------------------------------------------------------------------

// The unit of something that can be measured without having an initial value, or NULL.
static const char *measured_unit(const od_element *element, const char *name) {
  static const struct {
    od_element_kind kind;
    const char *name, *unit;
  } list[] = {{OD_ELEMENT_TANK, "pressure", "Pa"},
              {OD_ELEMENT_SOURCE, "pressure", "Pa"},
              {OD_ELEMENT_BODY, "wx", "rad/s"},
              {OD_ELEMENT_BODY, "wy", "rad/s"},
              {OD_ELEMENT_BODY, "wz", "rad/s"}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
    if (list[i].kind == element->kind && strcmp(list[i].name, name) == 0) return list[i].unit;
  // Forces of what acts on the mechanism.
  const od_element_class *c = od_component_class(element);
  for (int i = 0; c && c->acts != OD_ACTS_NOWHERE && i < OD_MOST_ELEMENT_OUTPUTS; i++) {
    const od_element_output *o = &c->outputs[i];
    bool force = o->shows == OD_SHOWS_FORCE || o->shows == OD_SHOWS_OUT || o->shows == OD_SHOWS_OF_FRICTION;
    if (force && o->name && strcmp(o->name, name) == 0) return o->unit;
  }
  return NULL;
}

// The forces of springs and frictions in joints have the unit of the joint.
static const char *joint_force_unit(const od_element *joint, const char *name) {
  if (joint->kind != OD_ELEMENT_JOINT || (strcmp(name, "spring_force") != 0 && strcmp(name, "friction") != 0))
    return NULL;
  return joint->type == OD_PRISMATIC ? "N" : "N m";
}

static void complain_source(od_loader *ld, int node, const char *text) {
  const char *dot = strchr(text, '.');
  const char *owner = dot != NULL ? od_copy(ld, text, (size_t)(dot - text)) : text;
  int element = dot != NULL ? od_index_find(&ld->draft->names.element_index, owner) : -1;
  if (od_index_find(&ld->draft->names.failed, owner) >= 0) return;  // its own mistake has been reported
  od_nearest nearest = od_nearest_to(text);
  for (int i = 0; i < ld->draft->names.elements; i++)
    if (od_element_is(&ld->draft->names.element[i], OD_ELEMENT_SIGNAL))
      od_nearest_try(&nearest, ld->draft->names.element[i].name);
  const char *other = element > 0 ? od_nearest_state_quantity(ld, element, dot + 1) : NULL;
  if (other != NULL) nearest.best = od_format(ld, "%s.%s", owner, other);
  if (element > 0 && ld->draft->names.element[element].kind == OD_ELEMENT_BLOCK && nearest.best == NULL)
    od_complain(ld, node, "the block '%s' has no output '%s'", ld->draft->names.element[element].name, dot + 1);
  else if (element > 0 && nearest.best == NULL)
    od_complain(ld, node,
                "'%s' is nothing that a block can measure; positions, rates, lengths, pressures, spools and forces of "
                "springs and cylinders are",
                od_excerpt(ld, text));
  else if (nearest.best != NULL)
    od_complain(ld, node, "there is no input, block or quantity '%s'; did you mean '%s'?", od_excerpt(ld, text),
                nearest.best);
  else
    od_complain(ld, node, "there is no input, block or quantity '%s'", od_excerpt(ld, text));
}

// Connects an input of a block to what the text at a node names. Returns its unit, or NULL with a message now or later.
static const char *connect(od_loader *ld, int node, const char *label, const od_loading_block *b, int place) {
  const char *text = od_read_text(ld, node, label, "the name of an input, a block or a quantity like 'boom.angle'");
  if (text == NULL) return NULL;
  int found = od_index_find(&ld->draft->names.element_index, text);
  if (found >= 0 && od_element_is(&ld->draft->names.element[found], OD_ELEMENT_SIGNAL)) {
    const od_element *signal = &ld->draft->names.element[found];
    if (signal->index == OD_NOT_BUILT) return NULL;  // and that has been said
    od_build_block_input(ld->draft->build, b->index, place, signal->index);
    return signal->unit;
  }
  const char *dot = strchr(text, '.');
  int owner =
      dot != NULL ? od_index_find(&ld->draft->names.element_index, od_copy(ld, text, (size_t)(dot - text))) : -1;
  const od_element *element = owner > 0 ? &ld->draft->names.element[owner] : NULL;
  if (element != NULL && element->broken) return NULL;
  const char *unit = NULL;
  if (element != NULL && element->kind != OD_ELEMENT_BLOCK) unit = od_state_quantity_unit(ld, owner, dot + 1);
  if (unit == NULL && element != NULL) unit = measured_unit(element, dot + 1);
  if (unit == NULL && element != NULL) unit = joint_force_unit(element, dot + 1);
  // Accelerations are known by name; why they cannot be measured is said when the model is built.
  bool later = element != NULL && element->kind != OD_ELEMENT_BLOCK &&
               (strncmp(dot + 1, "acceleration", 12) == 0 || strcmp(dot + 1, "inflow") == 0);
  const char *last = strrchr(text, '.');
  later = later || (element != NULL && element->kind == OD_ELEMENT_BODY && strlen(last) == 3 && last[1] == 'a');
  if (unit == NULL && !later) {
    complain_source(ld, node, text);
    return NULL;
  }
  od_build_block_measures(ld->draft->build, b->index, place, text);
  return unit;
}

// --- Numbers ------------------------------------------------------------------------------------------------------

// What the reading of a block's numbers works with.
typedef struct block_reader {
  od_loader *ld;
  od_section section;
  od_loading_block *b;
  const char *unit, *source;  // of the output and of the (first) input; NULL: unknown because of an error
  int source_node;
} block_reader;

// The unit that makes the output of the first input.
static const char *ratio(const block_reader *r) {
  return r->source != NULL ? od_factor_unit(r->ld, r->unit, r->source) : "1";
}

// A block that changes no unit.
static void check_same_unit(const block_reader *r, int node, const char *unit) {
  if (unit == NULL || strcmp(od_factor_unit(r->ld, r->unit, unit), "1") == 0) return;
  od_complain(r->ld, node, "%s is in %s, but '%s' is in %s; a gain makes one of the other", r->section.what, r->unit,
              od_text_of(r->ld, node), unit);
}

// The gain, 1 unless given; where it changes the unit it has to be given.
static int read_gain(const block_reader *r, const char *unit) {
  od_loader *ld = r->ld;
  bool changes = strcmp(unit, "1") != 0;
  od_field field = {"gain", unit, OD_ANY, 1};
  int first = od_read_fields(ld, &r->section, &field, 1, OD_IN_MODEL);
  if (changes && r->source != NULL && !od_number_is_given(ld, first) && !od_section_means(&r->section, "gain"))
    od_complain(ld, r->source_node, "%s is in %s, but '%s' is in %s; give a 'gain' in %s", r->section.what, r->unit,
                od_text_of(ld, r->source_node), r->source, unit);
  return first;
}

static void read_fields(const block_reader *r, const od_field *fields, int count) {
  od_read_fields(r->ld, &r->section, fields, count, OD_IN_MODEL);
}

// 'frequency' (rad/s) or 'time_constant', its inverse: one of them.
static void read_frequency(const block_reader *r) {
  static const od_field frequency = {"frequency", "rad/s", OD_POSITIVE, NAN},
                        time_constant = {"time_constant", "s", OD_POSITIVE, NAN};
  bool by_time = od_block_has(r->ld, r->b, "time_constant"), both = by_time && od_block_has(r->ld, r->b, "frequency");
  if (both)
    od_complain(r->ld, r->section.node, "%s has both 'frequency' and 'time_constant'; expected one", r->section.what);
  read_fields(r, by_time ? &time_constant : &frequency, 1);
}

// Two numbers in a list, the first below the second.
static void read_bounds(const block_reader *r, const char *key, const char *unit) {
  od_loader *ld = r->ld;
  int before = od_messages_errors(ld->messages);
  const od_field field[2] = {{od_format(ld, "%s[0]", key), unit, OD_ANY, NAN},
                             {od_format(ld, "%s[1]", key), unit, OD_ANY, NAN}};
  int first = od_read_two_numbers(ld, &r->section, key, "[lower, upper]", field);
  if (od_messages_errors(ld->messages) == before && !r->section.has_unknown &&
      !(od_number_value(ld, first) < od_number_value(ld, first + 1)))
    od_complain_number(ld, first + 1, "the upper end of '%s' must be greater than the lower one", key);
}

// With 'tracking', which a PID may leave to its gains.
static void read_limits(const block_reader *r, bool from_gains) {
  static const od_field tracking = {"tracking", "s", OD_POSITIVE, 0.01};
  if (od_section_get(r->ld, &r->section, "limits") >= 0) {
    read_bounds(r, "limits", r->unit);
    if (!from_gains || od_block_has(r->ld, r->b, "tracking")) read_fields(r, &tracking, 1);
  } else if (od_block_has(r->ld, r->b, "tracking")) {
    od_complain(r->ld, r->section.node, "%s has 'tracking' but no 'limits' to track", r->section.what);
  }
}

// Coefficients from the highest power of s (sampled: of z) down.
static void read_polynomial(const block_reader *r, const char *key, const char *unit, bool sampled) {
  od_loader *ld = r->ld;
  int node = od_section_need(ld, &r->section, key), count = od_list_count(ld, node), i = 0;
  if (node >= 0 && count == 0)
    od_complain(ld, node, "found %s; '%s' wants a list of coefficients, the highest power first", od_describe(ld, node),
                key);
  for (int at = count > 0 ? ld->tree.node[node].first : -1; at >= 0; at = ld->tree.node[at].next, i++) {
    int power = count - 1 - i;
    const char *seconds = power == 0 || sampled ? "1" : power == 1 ? "s" : od_format(ld, "s%d", power);
    od_field field = {od_format(ld, "%s[%d]", key, i), od_unit_product(ld, unit, seconds), OD_ANY, NAN};
    int entry = od_tree_value(&ld->tree, at);
    od_read_number(ld, entry, od_path(ld, r->section.path, field.key), &field, od_place_of(ld, entry), OD_IN_MODEL);
  }
}

// 'sample', which makes a block run once in that time and hold its output in between.
static bool read_sample(const block_reader *r) {
  static const od_field sample = {"sample", "s", OD_POSITIVE, NAN};
  bool sampled = od_block_has(r->ld, r->b, "sample");
  if (sampled) od_read_fields(r->ld, &r->section, &sample, 1, OD_IN_LOADER);
  return sampled;
}

static void read_transfer(const block_reader *r) {
  od_loader *ld = r->ld;
  int above = od_section_get(ld, &r->section, "numerator"), below = od_section_get(ld, &r->section, "denominator");
  int n = od_list_count(ld, above), d = od_list_count(ld, below), before = od_messages_errors(ld->messages);
  bool sampled = od_block_has(ld, r->b, "sample");
  read_polynomial(r, "numerator", ratio(r), sampled);
  int first = ld->document->numbers.count;
  read_polynomial(r, "denominator", "1", sampled);
  if (od_messages_errors(ld->messages) != before) return;
  if (d > OD_MOST_BLOCK_ORDER + 1)
    od_complain(ld, below, "found a denominator of degree %d; at most %d is possible", d - 1, OD_MOST_BLOCK_ORDER);
  else if (n > d)
    od_complain(ld, above, "the transfer function is not proper: its numerator has the degree %d, its denominator %d",
                n - 1, d - 1);
  else if (d > 0 && od_number_value(ld, first) == 0)
    od_complain_number(ld, first, "the first coefficient of a denominator must not be zero");
}

// A sampled delay is by whole samples, and its time is no parameter.
static void read_sampled_delay(const block_reader *r) {
  static const od_field time = {"time", "s", OD_POSITIVE, NAN};
  od_loader *ld = r->ld;
  int before = od_messages_errors(ld->messages);
  int number = od_read_fields(ld, &r->section, &time, 1, OD_IN_LOADER);
  read_sample(r);
  if (od_messages_errors(ld->messages) != before) return;
  double samples = od_number_value(ld, number) / od_block_peek(ld, r->b, "sample", "s");
  if (od_block_has(ld, r->b, "pade"))
    od_complain(ld, r->section.node, "%s has both 'sample' and 'pade'; expected one", r->section.what);
  else if (!(fabs(samples - round(samples)) < 1e-6 * samples) || samples < 0.5)
    od_complain_number(ld, number, "a sampled delay is a whole number of samples; this is %.6g", samples);
  else if (samples > OD_MOST_SAMPLES)
    od_complain_number(ld, number, "a delay has at most %d samples; this is %.6g", OD_MOST_SAMPLES, samples);
}

static void read_delay(const block_reader *r) {
  static const od_field time = {"time", "s", OD_POSITIVE, NAN}, pade = {"pade", "1", OD_POSITIVE, 0};
  od_loader *ld = r->ld;
  check_same_unit(r, r->source_node, r->source);
  if (od_block_has(ld, r->b, "sample")) {
    read_sampled_delay(r);
    return;
  }
  read_fields(r, &time, 1);
  int before = od_messages_errors(ld->messages);
  if (!od_block_has(ld, r->b, "pade")) {
    if (!r->section.has_unknown)
      od_complain(ld, r->section.node, "%s needs 'pade', the order of its approximation, or 'sample'", r->section.what);
    return;
  }
  int order = od_read_fields(ld, &r->section, &pade, 1, OD_IN_LOADER);
  if (od_messages_errors(ld->messages) == before) od_read_whole(ld, order, "pade", 1, OD_MOST_PADE);
}

static void read_pid(const block_reader *r) {
  od_loader *ld = r->ld;
  const char *unit = ratio(r), *rate = od_unit_product(ld, unit, "1/s"), *slope = od_unit_product(ld, unit, "s");
  bool derivative = od_block_has(ld, r->b, "kd");
  const od_field fields[] = {{"kp", unit, OD_ANY, NAN},
                             {"ki", rate, OD_ANY, 0},
                             {"kd", slope, OD_ANY, 0},
                             {"filter", "s", OD_POSITIVE, derivative ? NAN : 0.01}};
  read_fields(r, fields, 4);
  read_limits(r, true);
}

// One weight for each input, 1 unless given.
static void read_weights(const block_reader *r, const char *const *units, int count) {
  od_loader *ld = r->ld;
  int node = od_section_get(ld, &r->section, "weights"), entries = od_list_count(ld, node);
  if (node >= 0 && entries != count) {
    if (ld->tree.node[node].kind == OD_TREE_LIST)
      od_complain(ld, node, "found a list of %d; 'weights' wants %d numbers, one for each input", entries, count);
    else
      od_complain(ld, node, "found %s; 'weights' wants a list of numbers, one for each input", od_describe(ld, node));
    node = -1;
  }
  int at = node >= 0 ? ld->tree.node[node].first : -1;
  int list = od_section_get(ld, &r->section, "inputs");
  int input = od_list_count(ld, list) > 0 ? ld->tree.node[list].first : -1;
  for (int i = 0; i < count; i++) {
    const char *unit = units[i] != NULL ? od_factor_unit(ld, r->unit, units[i]) : "1";
    od_field field = {od_format(ld, "weights[%d]", i), unit, OD_ANY, 1};
    int entry = at >= 0 ? od_tree_value(&ld->tree, at) : -1;
    od_place place = od_place_of(ld, entry >= 0 ? entry : r->section.node);
    int number = od_read_number(ld, entry, od_path(ld, r->section.path, field.key), &field, place, OD_IN_MODEL);
    if (strcmp(unit, "1") != 0 && !od_number_is_given(ld, number))
      check_same_unit(r, od_tree_value(&ld->tree, input), units[i]);
    if (at >= 0) at = ld->tree.node[at].next;
    if (input >= 0) input = ld->tree.node[input].next;
  }
}

// --- Inputs of each kind ------------------------------------------------------------------------------------------

// 'inputs': a list; fills in their units and returns how many there are.
static int read_sources(block_reader *r, const char *units[OD_MOST_BLOCK_INPUTS]) {
  od_loader *ld = r->ld;
  int node = od_section_need(ld, &r->section, "inputs"), count = od_list_count(ld, node), i = 0;
  if (node < 0) return 0;
  if (count < 1 || count > OD_MOST_BLOCK_INPUTS) {
    if (count > 0)
      od_complain(ld, node, "found a list of %d; 'inputs' wants at most %d names", count, OD_MOST_BLOCK_INPUTS);
    else
      od_complain(ld, node, "found %s; 'inputs' wants a list of names", od_describe(ld, node));
    return 0;
  }
  for (int at = ld->tree.node[node].first; at >= 0; at = ld->tree.node[at].next, i++)
    units[i] = connect(ld, od_tree_value(&ld->tree, at), "inputs", r->b, i);
  r->source = units[0];
  r->source_node = od_tree_value(&ld->tree, ld->tree.node[node].first);
  return count;
}

static void read_source(block_reader *r) {
  r->source_node = od_section_need(r->ld, &r->section, "input");
  if (r->source_node >= 0) r->source = connect(r->ld, r->source_node, "input", r->b, 0);
}

// An input with a key and a unit of its own.
static const char *read_own_source(const block_reader *r, const char *key, int place, const char *unit, bool required) {
  int node = required ? od_section_need(r->ld, &r->section, key) : od_section_get(r->ld, &r->section, key);
  const char *found = node >= 0 ? connect(r->ld, node, key, r->b, place) : NULL;
  if (found != NULL && unit != NULL && strcmp(od_factor_unit(r->ld, unit, found), "1") != 0)
    od_complain(r->ld, node, "'%s' is in %s, but '%s' wants %s", od_text_of(r->ld, node), found, key, unit);
  return found;
}

static void read_product(block_reader *r) {
  const char *units[OD_MOST_BLOCK_INPUTS] = {NULL};
  int count = read_sources(r, units);
  for (int i = 1; i < count && r->source != NULL; i++)
    r->source = units[i] != NULL ? od_unit_product(r->ld, r->source, units[i]) : NULL;
  read_gain(r, ratio(r));
}

static void read_sum(block_reader *r) {
  const char *units[OD_MOST_BLOCK_INPUTS] = {NULL};
  int count = read_sources(r, units);
  read_weights(r, units, count > 0 ? count : 1);
}

static void read_integrator(block_reader *r) {
  read_source(r);
  // Per second where input and output measure the same.
  const char *unit = "1";
  if (r->source != NULL) {
    bool same = strcmp(od_factor_unit(r->ld, r->unit, r->source), "1") == 0;
    unit = same ? "1/s" : od_factor_unit(r->ld, r->unit, od_unit_product(r->ld, r->source, "s"));
  }
  read_gain(r, unit);
  read_limits(r, false);
}

static void read_linear_valve(block_reader *r) {
  r->source = read_own_source(r, "command", 0, NULL, true);
  read_own_source(r, "load_pressure", 1, "Pa", true);
  const od_field fields[] = {{"flow_gain", ratio(r), OD_ANY, NAN},
                             {"pressure_coefficient", "m3/s/Pa", OD_NOT_NEGATIVE, 0}};
  read_fields(r, fields, 2);
}

static void read_load_chamber(block_reader *r) {
  static const od_field fields[] = {{"modulus", "Pa", OD_POSITIVE, NAN},
                                    {"volume", "m3", OD_POSITIVE, NAN},
                                    {"area", "m2", OD_POSITIVE, NAN},
                                    {"leakage", "m3/s/Pa", OD_NOT_NEGATIVE, 0}};
  read_own_source(r, "flow", 0, "m3/s", true);
  read_own_source(r, "velocity", 1, "m/s", true);
  read_fields(r, fields, 4);
}

static void read_mass(block_reader *r) {
  static const od_field fields[] = {{"mass", "kg", OD_POSITIVE, NAN},
                                    {"area", "m2", OD_POSITIVE, NAN},
                                    {"damping", "N s/m", OD_NOT_NEGATIVE, 0},
                                    {"stiffness", "N/m", OD_NOT_NEGATIVE, 0}};
  read_own_source(r, "pressure", 0, "Pa", true);
  read_own_source(r, "force", 1, "N", false);
  read_fields(r, fields, 4);
}

static void read_notch(block_reader *r) {
  static const od_field damping[2] = {{"damping[0]", "1", OD_NOT_NEGATIVE, NAN}, {"damping[1]", "1", OD_POSITIVE, NAN}};
  read_frequency(r);
  od_read_two_numbers(r->ld, &r->section, "damping", "[of the numerator, of the denominator]", damping);
}

static void read_numbers(block_reader *r, od_block_kind kind) {
  static const od_field lag = {"time_constant", "s", OD_POSITIVE, NAN},
                        damping = {"damping", "1", OD_NOT_NEGATIVE, NAN};
  static const od_field lead_lag[] = {{"lead", "s", OD_ANY, NAN}, {"lag", "s", OD_POSITIVE, NAN}};
  switch (kind) {
    case OD_BLOCK_SUM: read_sum(r); return;
    case OD_BLOCK_PRODUCT: read_product(r); return;
    case OD_BLOCK_INTEGRATOR: read_integrator(r); return;
    case OD_BLOCK_LINEAR_VALVE: read_linear_valve(r); return;
    case OD_BLOCK_LOAD_CHAMBER: read_load_chamber(r); return;
    case OD_BLOCK_MASS: read_mass(r); return;
    default: read_source(r);
  }
  switch (kind) {
    case OD_BLOCK_TRANSFER: read_transfer(r); return;
    case OD_BLOCK_DELAY: read_delay(r); return;
    case OD_BLOCK_PID: read_pid(r); return;
    case OD_BLOCK_SATURATION:
    case OD_BLOCK_DEAD_ZONE:
      check_same_unit(r, r->source_node, r->source);
      read_bounds(r, kind == OD_BLOCK_SATURATION ? "limits" : "band", r->unit);
      return;
    default: read_gain(r, ratio(r));
  }
  if (kind == OD_BLOCK_FIRST_ORDER) read_fields(r, &lag, 1);
  if (kind == OD_BLOCK_LEAD_LAG) read_fields(r, lead_lag, 2);
  if (kind == OD_BLOCK_NOTCH) read_notch(r);
  if (kind != OD_BLOCK_SECOND_ORDER) return;
  read_frequency(r);
  read_fields(r, &damping, 1);
}

// --- States -------------------------------------------------------------------------------------------------------

static void name_state_units(const block_reader *r, od_block_kind kind) {
  od_loader *ld = r->ld;
  const char *input = r->source != NULL ? r->source : "1";
  bool sampled = od_block_has(ld, r->b, "sample");
  int count = od_build_block_state_count(ld->draft->build, r->b->index);
  for (int i = 0; i < count; i++) {
    const char *unit = i == 0 || sampled ? input : od_unit_rate(ld, input, i);
    if (sampled && i == count - 1) unit = r->unit;
    if (kind == OD_BLOCK_INTEGRATOR || (kind == OD_BLOCK_PID && i == 0)) unit = r->unit;
    if (kind == OD_BLOCK_PID && i == 1) unit = input;
    if (kind == OD_BLOCK_LOAD_CHAMBER) unit = "Pa";
    if (kind == OD_BLOCK_MASS) unit = i == 0 ? "m" : "m/s";
    r->b->state_unit[i] = unit;
  }
}

static bool can_be_sampled(od_block_kind kind) {
  return kind == OD_BLOCK_GAIN || kind == OD_BLOCK_TRANSFER || kind == OD_BLOCK_INTEGRATOR || kind == OD_BLOCK_PID;
}

static void load_block(od_loader *ld, od_loading_block *b) {
  const od_block_form *form = &od_block_forms[b->form];
  const char *name = od_text_of(ld, b->key);
  block_reader r = {.ld = ld, .b = b, .unit = b->unit != NULL ? b->unit : "1", .source_node = -1};
  r.section = od_section_open(ld, b->map, b->key, name, od_format(ld, "the block '%s'", name), form->keys);
  if (b->index < 0) return;
  int first = ld->document->numbers.count;
  read_numbers(&r, form->kind);
  if (can_be_sampled(form->kind)) read_sample(&r);
  name_state_units(&r, form->kind);
  if (b->unit == NULL && r.source != NULL && strcmp(r.source, "1") != 0)
    od_complain(ld, b->key, "the unit of %s cannot be told from what it is made of; give its 'unit'", r.section.what);
  if (ld->document->numbers.count > first)
    od_build_block_numbers(ld->draft->build, b->index, od_number_theta(ld, first));
}

void od_load_blocks(od_loader *ld) {
  for (int i = 0; i < ld->draft->blocks; i++)
    if (ld->draft->block[i].form >= 0) load_block(ld, &ld->draft->block[i]);
}
