// Declares blocks with their types and units right after the inputs, so that forces and valves can refer to blocks. load_blocks.c
// reads the other keys when all quantities that blocks may measure are known.
//
// The unit of a block comes from its key 'unit', or follows from its first input and its gain.
#include <math.h>
#include <string.h>

#include "blocks/block_list.h"
#include "document/constants.h"
#include "machine/load_blocks.h"
#include "machine/load_fmu.h"
#include "machine/load_formula.h"
#include "machine/load_program_law.h"
#include "model/model.h"

// --- Declaring ----------------------------------------------------------------------------------------------------

#define COUNT_CLASS(name) +1
enum { MOST_CLASSES = 0 OD_BLOCK_CLASSES(COUNT_CLASS) };

// Reads the type: a class of blocks, or an FMU or a law of the program, which are foreign blocks.
static int read_type(od_loader *ld, const od_loading_block *b, const char *what) {
  const char *types[MOST_CLASSES + 3] = {NULL};
  for (int i = 0; i < od_block_class_count() && i < MOST_CLASSES; i++) types[i] = od_block_classes[i]->type;
  types[od_block_class_count()] = "fmu";
  types[od_block_class_count() + 1] = "foreign";
  int node = od_map_find(ld, b->map, "type");
  if (node < 0) {
    // Without a type the allowed keys are unknown.
    od_complain(ld, b->key, "%s needs 'type'", what);
    return -1;
  }
  return od_read_choice(ld, node, "type", types);
}

static int map_count(const od_loader *ld, int node) {
  return od_is_map(ld, node) ? ld->tree.node[node].count : 0;
}

bool od_block_has(od_loader *ld, const od_loading_block *b, const char *key) {
  return od_is_given(ld, &(od_section){.map = b->map, .path = b->path}, key);
}

// Returns the text of a number of a block before the number is read, from --set or the file; NULL: none.
static const char *peek_text(od_loader *ld, const od_loading_block *b, const char *key) {
  const od_override *set = od_numbers_overriding(&ld->document->numbers, od_format(ld, "%s.%s", b->path, key));
  int node = od_map_find(ld, b->map, key);
  return set != NULL ? set->text : od_is_text(ld, node) ? od_text_of(ld, node) : NULL;
}

double od_block_peek(od_loader *ld, const od_loading_block *b, const char *key, const char *si) {
  double value;
  const char *text = peek_text(ld, b, key);
  od_place place = od_place_of(ld, od_map_find(ld, b->map, key));
  return text != NULL && od_text_value(ld, place, text, si, &value) ? value : 0;
}

// Returns one choice of a block (see od_block_choice) from the block's keys, within the limits of the builder. The reader of the
// numbers reports errors.
static int choose(od_loader *ld, const od_loading_block *b, const od_block_choice *choice, double sample) {
  double value = 0;
  switch (choice->rule) {
    case OD_CHOICE_GIVEN: return od_block_has(ld, b, choice->key);
    case OD_CHOICE_DEGREE: {
      int degree = od_list_count(ld, od_map_find(ld, b->map, choice->key)) - 1;
      return degree < 0 ? 0 : degree > OD_MOST_BLOCK_ORDER ? OD_MOST_BLOCK_ORDER : degree;
    }
    case OD_CHOICE_ENTRIES: {
      int count = od_list_count(ld, od_map_find(ld, b->map, choice->key));
      return count < 2 ? 2 : count > choice->most ? choice->most : count;
    }
    case OD_CHOICE_NAMES: {
      int count = map_count(ld, od_map_find(ld, b->map, choice->key));
      return count > choice->most ? choice->most : count;
    }
    case OD_CHOICE_TIMED: return od_state_machine_timed(ld, b->map);
    case OD_CHOICE_WHOLE: value = od_block_peek(ld, b, choice->key, "1"); break;
    case OD_CHOICE_OF_SAMPLES: value = sample > 0 ? round(od_block_peek(ld, b, choice->key, "s") / sample) : 0; break;
    default: return 0;
  }
  return value >= 1 && value <= choice->most ? (int)value : 1;
}

// Returns the spec of a block from its keys.
static od_block_spec spec_of(od_loader *ld, const od_loading_block *b) {
  if (b->law) {
    od_block_spec of_law = od_block_spec_of_law(b->law);
    of_law.sample = b->sample;
    return of_law;
  }
  const od_block_description *c = od_block_descriptions[b->block_class];
  od_block_spec s = {.block_class = b->block_class,
                     .inputs = od_list_count(ld, od_map_find(ld, b->map, c->inputs[0].key))};
  if (c->formula_key != NULL) s.inputs = map_count(ld, od_map_find(ld, b->map, c->inputs[0].key));
  if (s.inputs < 1 || s.inputs > OD_MOST_BLOCK_INPUTS) s.inputs = 1;
  if (od_block_can_be_sampled(c->equations)) s.sample = fmax(od_block_peek(ld, b, "sample", "s"), 0);
  for (int i = 0; i < OD_MOST_BLOCK_CHOICES; i++) s.choice[i] = choose(ld, b, &c->choices[i], s.sample);
  // Polynomials that do not form a transfer function are replaced by polynomials of degree 0.
  for (int i = 0; od_block_spec_problem(&s) != NULL && i < OD_MOST_BLOCK_CHOICES; i++)
    if (c->choices[i].rule == OD_CHOICE_DEGREE) s.choice[i] = 0;
  return s;
}

const char *od_unit_rate(od_loader *ld, const char *unit, int order) {
  char text[80];
  od_rate_unit(unit, order, text, sizeof text);
  return od_format(ld, "%s", text);
}

// Adds a block to the builder, and its outputs to the names.
static void build_block(od_loader *ld, od_loading_block *b) {
  od_block_spec spec = spec_of(ld, b);
  const char *name = b->name, *unit = b->unit != NULL ? b->unit : "1";
  b->index = od_build_block(ld->draft->build, name, &spec, unit);
  if (b->index < 0) return;
  od_remember(ld, OD_ABOUT_BLOCK, b->index, b->key);
  if (b->element < 0) return;  // the block is part of another element
  od_element_at(ld, b->element)->index = od_build_block_signal(ld->draft->build, b->index, 0);
  od_element_at(ld, b->element)->unit = unit;
  for (int i = 0; i < od_build_block_output_count(ld->draft->build, b->index); i++) {
    const char *label = od_build_block_output_name(ld->draft->build, b->index, i);
    if (label[0] == '\0') continue;
    const char *of_law = b->law && b->law->output_unit ? b->law->output_unit[i] : NULL;
    const char *own = of_law ? of_law : i == 0 ? unit : od_unit_rate(ld, unit, i);
    od_names_add_output(ld, b->element, od_format(ld, "%s.%s", name, label),
                        od_build_block_signal(ld->draft->build, b->index, i), own);
  }
}

// --- Units --------------------------------------------------------------------------------------------------------

// Returns the SI unit of the same dimension in its usual spelling. Returns NULL if the unit is unknown, or if it has no usual
// spelling and is not coherent.
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

const char *od_unit_quotient(od_loader *ld, const char *a, const char *b) {
  if (strcmp(b, "1") == 0) return a;
  if (strcmp(a, b) == 0) return "1";
  return od_format(ld, strpbrk(b, " /") != NULL ? "%s/(%s)" : "%s/%s", a, b);
}

static const char *times(od_loader *ld, const char *a, const char *b) {
  const char *text = od_unit_product(ld, a, b);
  return text == a || text == b ? text : usual_unit(ld, text);
}

// Returns the unit of a quantity before its element is read: from the declared element or, without such a quantity, from the end of
// the quantity's name; NULL: not known.
static const char *unit_by_ending(od_loader *ld, int node, const char *text) {
  static const char *const endings[][2] = {
      {"pressure", "Pa"},  {"length", "m"},    {"rate", "m/s"},    {"force", "N"},     {"friction", "N"},
      {"position", "m"},   {"x", "m"},         {"y", "m"},         {"z", "m"},         {"vx", "m/s"},
      {"vy", "m/s"},       {"vz", "m/s"},      {"wx", "rad/s"},    {"wy", "rad/s"},    {"wz", "rad/s"},
      {"angle", "rad"},    {"body_vx", "m/s"}, {"body_vy", "m/s"}, {"body_vz", "m/s"}, {"gyro_x", "rad/s"},
      {"gyro_y", "rad/s"}, {"gyro_z", "rad/s"}};
  const char *rest, *last = strrchr(text, '.');
  if (last == NULL) return NULL;
  int element = od_names_owner(ld, node, text, &rest);
  const char *unit = element > 0 ? od_state_quantity_unit(ld, element, rest) : NULL;
  for (size_t i = 0; unit == NULL && i < sizeof endings / sizeof endings[0]; i++)
    if (strcmp(last + 1, endings[i][0]) == 0) unit = endings[i][1];
  return unit;
}

const char *od_block_source_unit(od_loader *ld, int node) {
  if (!od_is_text(ld, node)) return NULL;
  const char *text = od_text_of(ld, node);
  int element = od_names_look_up(ld, node, text);
  if (element >= 0 && od_element_is(od_element_at(ld, element), OD_ELEMENT_SIGNAL))
    return od_element_at(ld, element)->unit;
  const char *rest;
  element = od_names_owner(ld, node, text, &rest);
  const od_element *block = element >= 0 ? od_element_at(ld, element) : NULL;
  if (block == NULL || block->kind != OD_ELEMENT_BLOCK) return unit_by_ending(ld, node, text);
  const od_loading_block *declared = block->block >= 0 ? &ld->draft->block[block->block] : NULL;
  if (declared != NULL && declared->fmu != NULL) return od_fmu_output_unit(declared, rest);
  // The second output of a block is the rate of the first output.
  int which = ld->draft->block[block->block].block_class;
  const char *second = which >= 0 ? od_block_descriptions[which]->outputs[1] : NULL;
  bool is_rate = second != NULL && strcmp(second, rest) == 0;
  return block->unit != NULL && is_rate ? times(ld, block->unit, "1/s") : block->unit;
}

// Returns the number that converts the unit of the input to the unit of the output: the block's first number with such a unit.
// NULL: none.
static const od_block_field *gain_of(const od_block_description *c) {
  for (int i = 0; i < OD_MOST_BLOCK_FIELDS && c->fields[i].key; i++) {
    const od_block_field *f = &c->fields[i];
    bool ratio = strcmp(f->unit, OD_UNIT_RATIO) == 0 || strcmp(f->unit, OD_UNIT_PER_INTEGRAL) == 0;
    if (ratio && f->shape == OD_ONE_NUMBER) return f;
  }
  return NULL;
}

// Returns the unit of a block without the key 'unit': the unit of the input times the unit of the gain; NULL: not known, or not
// known yet.
static const char *derived_unit(od_loader *ld, const od_loading_block *b) {
  const od_block_description *c = od_block_descriptions[b->block_class];
  if (c->formula_key != NULL) return od_formula_block_unit(ld, b);
  if (b->law != NULL) return "1";
  const od_block_field *gain = gain_of(c);
  int node = od_map_find(ld, b->map, c->inputs[0].key), entry = c->inputs[0].list ? od_list_first(ld, node) : -1;
  const char *unit = od_block_source_unit(ld, entry >= 0 ? od_entry(ld, entry) : node);
  while (unit != NULL && c->inputs_multiply && entry >= 0 && (entry = ld->tree.node[entry].next) >= 0) {
    const char *other = od_block_source_unit(ld, od_entry(ld, entry));
    unit = other != NULL ? times(ld, unit, other) : NULL;
  }
  if (unit != NULL && c->inputs_divide) {
    const char *under = od_block_source_unit(ld, od_map_find(ld, b->map, c->inputs[1].key));
    unit = under != NULL ? od_unit_quotient(ld, unit, under) : NULL;
    if (unit != NULL) unit = usual_unit(ld, unit);
  }
  if (unit != NULL && gain != NULL) {
    const char *text = peek_text(ld, b, gain->key);
    od_place place = od_place_of(ld, od_map_find(ld, b->map, gain->key));
    const char *own = text != NULL ? od_text_unit(ld, place, text) : "";
    unit = times(ld, unit, own[0] != '\0' ? own : "1");
  }
  bool integral = gain != NULL && strcmp(gain->unit, OD_UNIT_PER_INTEGRAL) == 0;
  return unit != NULL && integral ? times(ld, unit, "s") : unit;
}

// --- All blocks ---------------------------------------------------------------------------------------------------

// Adds a block to the draft. If there are already OD_MOST_BLOCKS blocks, reports an error and returns NULL. Also returns NULL if an
// allocation fails.
static od_loading_block *add_block(od_loader *ld, od_loading_block b) {
  od_draft *d = ld->draft;
  if (d->blocks == OD_MOST_BLOCKS) {
    od_complain(ld, b.key, "the machine has more than %d blocks, the largest allowed number; use fewer blocks",
                OD_MOST_BLOCKS);
    return NULL;
  }
  od_loading_block *list = od_arena_extend(&ld->scratch, d->block, d->blocks, sizeof *list);
  if (list == NULL) return NULL;
  d->block = list;
  d->block[d->blocks] = b;
  return &d->block[d->blocks++];
}

int od_declare_inner_block(od_loader *ld, od_loading_block inner) {
  inner.element = -1;
  od_loading_block *b = add_block(ld, inner);
  if (b == NULL) return -1;
  build_block(ld, b);
  return b->index >= 0 ? od_build_block_signal(ld->draft->build, b->index, 0) : -1;
}

// Declares a block with its type and the unit in the file. After an error the block has no class.
static void declare_block(od_loader *ld, int key) {
  static const char *const any[] = {"type", NULL};
  int element = od_names_declare(ld, key, OD_ELEMENT_BLOCK), value = od_value(ld, key);
  if (element < 0) return;
  const char *name = od_text_of(ld, key), *what = od_format(ld, "the block '%s'", name);
  od_loading_block *b = add_block(ld, (od_loading_block){.key = key,
                                                         .element = element,
                                                         .block_class = -1,
                                                         .name = name,
                                                         .path = name,
                                                         .what = what,
                                                         .map = od_is_map(ld, value) ? value : -1,
                                                         .index = OD_NOT_BUILT});
  if (b == NULL) return;
  if (b->map >= 0)
    b->block_class = read_type(ld, b, what);
  else
    od_section_open_names(ld, value, key, name, what, any);  // reports the error
  bool is_fmu = b->block_class == od_block_class_count(), is_program = b->block_class == od_block_class_count() + 1;
  if (is_fmu) od_declare_fmu(ld, b);
  if (is_program) od_declare_program_law(ld, b);
  if (is_fmu || is_program) {
    b->block_class = b->law != NULL ? od_block_class_count() : -1;
  } else if (b->block_class >= 0) {
    b->unit = od_block_descriptions[b->block_class]->unit;
  }
  int unit = (b->block_class >= 0 || is_program) && b->unit == NULL && !is_fmu ? od_map_find(ld, b->map, "unit") : -1;
  if (unit >= 0) b->unit = od_read_unit(ld, unit);
  od_element *declared = od_element_at(ld, element);
  declared->unit = b->unit;
  declared->block = ld->draft->blocks - 1;
  declared->broken = b->block_class < 0;
}

void od_declare_blocks(od_loader *ld, int node) {
  ld->draft->names.has_blocks = node >= 0;
  for (int key = od_first(ld, node, "blocks"); key >= 0; key = od_next(ld, key)) {
    bool full = ld->draft->blocks == OD_MOST_BLOCKS;
    declare_block(ld, key);
    if (full) break;
  }
  // Derives units from block to block, in any order. Blocks whose unit cannot be derived need the key 'unit'.
  for (bool found = true; found;) {
    found = false;
    for (int i = 0; i < ld->draft->blocks; i++) {
      od_loading_block *b = &ld->draft->block[i];
      if (b->block_class < 0 || b->unit != NULL) continue;
      b->unit = derived_unit(ld, b);
      od_element_at(ld, b->element)->unit = b->unit;
      found = found || b->unit != NULL;
    }
  }
  for (int i = 0; i < ld->draft->blocks; i++)
    if (ld->draft->block[i].block_class >= 0)
      build_block(ld, &ld->draft->block[i]);
    else if (ld->draft->block[i].unit == NULL)
      od_element_at(ld, ld->draft->block[i].element)->unit = "1";
}
