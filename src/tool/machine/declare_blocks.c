// Declaring blocks: which there are, of which type, in which units. That comes right after the inputs, so that forces
// and valves can refer to them; load_blocks.c reads the rest when everything is known that blocks may measure.
//
// Units: 'unit' of a block, or what follows from its first input and its gain.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/block_forms.h"
#include "model/model.h"

const od_block_form od_block_forms[] = {
    {"gain", OD_BLOCK_GAIN, NULL, {"type", "unit", "input", "gain", "sample"}},
    {"sum", OD_BLOCK_SUM, NULL, {"type", "unit", "inputs", "weights"}},
    {"product", OD_BLOCK_PRODUCT, NULL, {"type", "unit", "inputs", "gain"}},
    {"first-order", OD_BLOCK_FIRST_ORDER, NULL, {"type", "unit", "input", "gain", "time_constant"}},
    {"lead-lag", OD_BLOCK_LEAD_LAG, NULL, {"type", "unit", "input", "gain", "lead", "lag"}},
    {"second-order",
     OD_BLOCK_SECOND_ORDER,
     NULL,
     {"type", "unit", "input", "gain", "frequency", "time_constant", "damping"}},
    {"notch", OD_BLOCK_NOTCH, NULL, {"type", "unit", "input", "gain", "frequency", "time_constant", "damping"}},
    {"transfer-function", OD_BLOCK_TRANSFER, NULL, {"type", "unit", "input", "numerator", "denominator", "sample"}},
    {"delay", OD_BLOCK_DELAY, NULL, {"type", "unit", "input", "time", "pade", "sample"}},
    {"integrator", OD_BLOCK_INTEGRATOR, NULL, {"type", "unit", "input", "gain", "limits", "tracking", "sample"}},
    {"saturation", OD_BLOCK_SATURATION, NULL, {"type", "unit", "input", "limits"}},
    {"dead-zone", OD_BLOCK_DEAD_ZONE, NULL, {"type", "unit", "input", "band"}},
    {"pid", OD_BLOCK_PID, NULL, {"type", "unit", "input", "kp", "ki", "kd", "filter", "limits", "tracking", "sample"}},
    {"linear-valve",
     OD_BLOCK_LINEAR_VALVE,
     "m3/s",
     {"type", "command", "load_pressure", "flow_gain", "pressure_coefficient"}},
    {"load-chamber", OD_BLOCK_LOAD_CHAMBER, "Pa", {"type", "flow", "velocity", "modulus", "volume", "area", "leakage"}},
    {"mass", OD_BLOCK_MASS, "m", {"type", "pressure", "force", "mass", "area", "damping", "stiffness"}},
};
enum { FORMS = sizeof od_block_forms / sizeof od_block_forms[0] };

// --- Declaring ----------------------------------------------------------------------------------------------------

static int read_type(od_loader *ld, const od_loading_block *b, const char *what) {
  const char *types[FORMS + 1] = {NULL};
  for (int i = 0; i < FORMS; i++) types[i] = od_block_forms[i].type;
  int node = od_map_find(ld, b->map, "type");
  if (node < 0) {
    // The section's own reader would not know which keys there are.
    od_complain(ld, b->key, "%s needs 'type'", what);
    return -1;
  }
  return od_read_choice(ld, node, "type", types);
}

int od_list_count(const od_loader *ld, int node) {
  return node >= 0 && ld->tree.node[node].kind == OD_TREE_LIST ? ld->tree.node[node].count : 0;
}

bool od_block_has(od_loader *ld, const od_loading_block *b, const char *key) {
  const char *path = od_format(ld, "%s.%s", od_text_of(ld, b->key), key);
  return od_map_find(ld, b->map, key) >= 0 || od_numbers_is_overridden(&ld->document->numbers, path);
}

double od_block_peek(od_loader *ld, const od_loading_block *b, const char *key, const char *si) {
  double value;
  const char *unit, *path = od_format(ld, "%s.%s", od_text_of(ld, b->key), key);
  const char *text = od_numbers_overriding(&ld->document->numbers, path);
  int node = od_map_find(ld, b->map, key);
  if (text == NULL && node >= 0 && ld->tree.node[node].kind == OD_TREE_TEXT) text = od_text_of(ld, node);
  if (text == NULL || !od_split_quantity(text, &value, &unit)) return 0;
  return od_units_convert(ld->units, unit, si, value, &value) == OD_UNIT_FITS ? value : 0;
}

// What of a block's shape follows from the keys it has. Counts are kept within what the builder takes; whoever reads
// the lists complains.
static od_block_spec spec_of(od_loader *ld, const od_loading_block *b) {
  od_block_spec s = {.kind = od_block_forms[b->form].kind};
  s.inputs = od_list_count(ld, od_map_find(ld, b->map, "inputs"));
  if (s.inputs < 1 || s.inputs > OD_MOST_BLOCK_INPUTS) s.inputs = 1;
  s.by_time = od_block_has(ld, b, "time_constant");
  s.limited = od_map_find(ld, b->map, "limits") >= 0;
  s.derivative = od_block_has(ld, b, "kd");
  s.tracks_by_gains = s.kind == OD_BLOCK_PID && !od_block_has(ld, b, "tracking");
  if (s.kind == OD_BLOCK_TRANSFER) {
    int above = od_list_count(ld, od_map_find(ld, b->map, "numerator")),
        below = od_list_count(ld, od_map_find(ld, b->map, "denominator"));
    bool proper = above >= 1 && above <= below && below <= OD_MOST_BLOCK_ORDER + 1;
    s.numerator = proper ? above - 1 : 0;
    s.order = proper ? below - 1 : 0;
  }
  s.sample = fmax(od_block_peek(ld, b, "sample", "s"), 0);
  if (s.kind == OD_BLOCK_DELAY) {
    double order = od_block_peek(ld, b, "pade", "1"),
           samples = s.sample > 0 ? round(od_block_peek(ld, b, "time", "s") / s.sample) : 0;
    s.order = order >= 1 && order <= OD_MOST_PADE ? (int)order : 1;
    s.samples = samples >= 1 && samples <= OD_MOST_SAMPLES ? (int)samples : 1;
  }
  return s;
}

const char *od_unit_rate(od_loader *ld, const char *unit, int order) {
  char text[80];
  od_rate_unit(unit, order, text, sizeof text);
  return od_format(ld, "%s", text);
}

static void build_block(od_loader *ld, od_loading_block *b) {
  od_block_spec spec = spec_of(ld, b);
  const char *name = od_text_of(ld, b->key), *unit = b->unit != NULL ? b->unit : "1";
  b->index = od_build_block(ld->draft->build, name, &spec, unit);
  if (b->index < 0) return;
  od_remember(ld, OD_ABOUT_BLOCK, b->index, b->key);
  ld->draft->names.element[b->element].index = od_build_block_signal(ld->draft->build, b->index, 0);
  ld->draft->names.element[b->element].unit = unit;
  for (int i = 0; i < od_build_block_output_count(ld->draft->build, b->index); i++) {
    const char *label = od_build_block_output_name(ld->draft->build, b->index, i);
    if (label[0] == '\0') continue;
    const char *own = i == 0 ? unit : od_unit_rate(ld, unit, i);
    od_names_add_output(ld, b->element, od_format(ld, "%s.%s", name, label),
                        od_build_block_signal(ld->draft->build, b->index, i), own);
  }
}

// --- Units --------------------------------------------------------------------------------------------------------

// A unit in the usual spelling, if it is a coherent one; else NULL.
static const char *usual_unit(od_loader *ld, const char *unit) {
  const char *si = od_units_si(ld->units, unit);
  if (si != NULL) return si;
  double one;
  if (od_units_convert(ld->units, unit, "1", 1, &one) == OD_UNIT_FITS) return "1";
  return od_units_is_si(ld->units, unit) ? unit : NULL;
}

const char *od_unit_product(od_loader *ld, const char *a, const char *b) {
  if (strcmp(a, "1") == 0) return b;
  if (strcmp(b, "1") == 0) return a;
  bool under_a = strncmp(a, "1/", 2) == 0, under_b = strncmp(b, "1/", 2) == 0;
  if (under_a && under_b) return od_format(ld, "1/((%s) (%s))", a + 2, b + 2);
  if (under_b) return od_format(ld, "(%s)/(%s)", a, b + 2);
  return under_a ? od_format(ld, "(%s)/(%s)", b, a + 2) : od_format(ld, "(%s) (%s)", a, b);
}

static const char *times(od_loader *ld, const char *a, const char *b) {
  const char *text = od_unit_product(ld, a, b);
  return text == a || text == b ? text : usual_unit(ld, text);
}

// What the end of a quantity's name says about its unit while its element is not read yet.
static const char *unit_by_ending(od_loader *ld, const char *text) {
  static const char *const endings[][2] = {{"pressure", "Pa"}, {"length", "m"},   {"rate", "m/s"}, {"force", "N"},
                                           {"friction", "N"},  {"position", "m"}, {"x", "m"},      {"y", "m"},
                                           {"z", "m"},         {"vx", "m/s"},     {"vy", "m/s"},   {"vz", "m/s"},
                                           {"wx", "rad/s"},    {"wy", "rad/s"},   {"wz", "rad/s"}, {"angle", "rad"}};
  const char *dot = strchr(text, '.'), *last = strrchr(text, '.');
  if (dot == NULL) return NULL;
  int element = od_index_find(&ld->draft->names.element_index, od_copy(ld, text, (size_t)(dot - text)));
  const char *unit = element > 0 ? od_state_quantity_unit(ld, element, dot + 1) : NULL;
  for (size_t i = 0; unit == NULL && i < sizeof endings / sizeof endings[0]; i++)
    if (strcmp(last + 1, endings[i][0]) == 0) unit = endings[i][1];
  return unit;
}

static const char *unit_of_source(od_loader *ld, int node) {
  if (node < 0 || ld->tree.node[node].kind != OD_TREE_TEXT) return NULL;
  const char *text = od_text_of(ld, node);
  int element = od_index_find(&ld->draft->names.element_index, text);
  if (element >= 0 && od_element_is(&ld->draft->names.element[element], OD_ELEMENT_SIGNAL))
    return ld->draft->names.element[element].unit;
  const char *dot = strchr(text, '.');
  element = dot != NULL ? od_index_find(&ld->draft->names.element_index, od_copy(ld, text, (size_t)(dot - text))) : -1;
  // The second output of a block, its rate.
  if (element >= 0 && ld->draft->names.element[element].kind == OD_ELEMENT_BLOCK) {
    const char *unit = ld->draft->names.element[element].unit;
    return unit == NULL                                                 ? NULL
           : strcmp(dot, ".rate") == 0 || strcmp(dot, ".velocity") == 0 ? times(ld, unit, "1/s")
                                                                        : unit;
  }
  return unit_by_ending(ld, text);
}

// The unit that a number is written with; "1" without one.
static const char *unit_of_number(od_loader *ld, const od_loading_block *b, const char *key) {
  double value;
  const char *unit, *path = od_format(ld, "%s.%s", od_text_of(ld, b->key), key);
  const char *text = od_numbers_overriding(&ld->document->numbers, path);
  int node = od_map_find(ld, b->map, key);
  if (text == NULL && node >= 0 && ld->tree.node[node].kind == OD_TREE_TEXT) text = od_text_of(ld, node);
  return text != NULL && od_split_quantity(text, &value, &unit) && unit[0] != '\0' ? unit : "1";
}

// The unit of a block that says none: that of its input, times that of its gain; NULL when that is not known (yet).
static const char *derived_unit(od_loader *ld, const od_loading_block *b) {
  od_block_kind kind = od_block_forms[b->form].kind;
  int node = od_map_find(ld, b->map, "input"), list = od_map_find(ld, b->map, "inputs");
  if (od_list_count(ld, list) > 0) node = od_tree_value(&ld->tree, ld->tree.node[list].first);
  const char *unit = unit_of_source(ld, node);
  if (unit == NULL) return NULL;
  if (kind == OD_BLOCK_PRODUCT && od_list_count(ld, list) > 0) {
    int entry = ld->tree.node[list].first;
    while (unit != NULL && (entry = ld->tree.node[entry].next) >= 0) {
      const char *other = unit_of_source(ld, od_tree_value(&ld->tree, entry));
      unit = other != NULL ? times(ld, unit, other) : NULL;
    }
  }
  if (unit == NULL) return NULL;
  unit = times(ld, unit, unit_of_number(ld, b, kind == OD_BLOCK_PID ? "kp" : "gain"));
  return kind == OD_BLOCK_INTEGRATOR && unit != NULL ? times(ld, unit, "s") : unit;
}

// Units follow each other through the blocks, in whatever order they stand; what is left over has to say its own.
static void find_units(od_loader *ld) {
  for (bool found = true; found;) {
    found = false;
    for (int i = 0; i < ld->draft->blocks; i++) {
      od_loading_block *b = &ld->draft->block[i];
      if (b->form < 0 || b->unit != NULL) continue;
      b->unit = derived_unit(ld, b);
      ld->draft->names.element[b->element].unit = b->unit;
      found = found || b->unit != NULL;
    }
  }
}

// --- Declaring, all of them ---------------------------------------------------------------------------------------

static void declare_block(od_loader *ld, int key) {
  int element = od_names_declare(ld, key, OD_ELEMENT_BLOCK);
  if (element < 0) return;
  od_loading_block *grown =
      od_grow(ld->draft->block, ld->draft->blocks, &ld->draft->block_capacity, sizeof *ld->draft->block);
  if (grown == NULL) {
    ld->no_memory = true;
    return;
  }
  ld->draft->block = grown;
  od_loading_block b = {.key = key, .element = element, .form = -1, .map = -1, .index = OD_NOT_BUILT};
  const char *name = od_text_of(ld, key), *what = od_format(ld, "the block '%s'", name);
  static const char *const any[] = {"type", NULL};
  int value = od_value(ld, key);
  if (ld->tree.node[value].kind == OD_TREE_MAP)
    b.map = value;
  else
    od_section_open(ld, value, key, name, what, any);  // complains
  if (b.map >= 0) b.form = read_type(ld, &b, what);
  if (b.form >= 0) b.unit = od_block_forms[b.form].unit;
  int unit = b.form >= 0 && b.unit == NULL ? od_map_find(ld, b.map, "unit") : -1;
  if (unit >= 0) b.unit = od_read_unit(ld, unit);
  ld->draft->names.element[element].unit = b.unit;
  ld->draft->names.element[element].block = ld->draft->blocks;
  ld->draft->names.element[element].broken = b.form < 0;
  ld->draft->block[ld->draft->blocks++] = b;
}

void od_declare_blocks(od_loader *ld, int node) {
  ld->draft->names.has_blocks = node >= 0;
  for (int key = od_first(ld, node, "blocks"); key >= 0; key = od_next(ld, key)) {
    if (ld->draft->blocks == OD_MOST_BLOCKS) {
      od_complain(ld, key, "there are more than %d blocks in this machine", OD_MOST_BLOCKS);
      break;
    }
    declare_block(ld, key);
  }
  find_units(ld);
  for (int i = 0; i < ld->draft->blocks; i++)
    if (ld->draft->block[i].form >= 0)
      build_block(ld, &ld->draft->block[i]);
    else
      ld->draft->names.element[ld->draft->block[i].element].unit = "1";
}
