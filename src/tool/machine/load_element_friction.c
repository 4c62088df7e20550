// Loads the friction of cylinders and joints: the law, its numbers, and 'pressure'.
//
// With 'pressure' in the friction of a cylinder, parameters of the friction follow the pressures in the cylinder's chambers. An
// inner block computes a factor from the pressures. The keys under 'pressure' are the numbers of that block and determine its
// type.
#include <string.h>

#include "machine/load_blocks.h"
#include "machine/load_circuit.h"
#include "machine/sections.h"

// --- Pressure -----------------------------------------------------------------------------------------------------

// Finds the i-th key among the numbers of the blocks that compute a factor from pressures. Returns false if there are
// no more keys.
static bool block_key(int i, od_key *key) {
  static const char *const types[] = {"pressure-factor", "pressure-map", "pressure-table"};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    const od_block_description *c = od_block_descriptions[od_block_class_find(types[t])];
    for (int k = 0; k < OD_MOST_BLOCK_FIELDS && c->fields[k].key; k++) {
      const od_block_field *f = &c->fields[k];
      if (t == 2 && strcmp(f->key, "values") == 0)
        continue;  // the pressure map also has this key, but the key is listed only once
      if (i-- > 0) continue;
      *key = (od_key){
          f->key,   f->shape == OD_ONE_NUMBER ? OD_NUMBER : OD_NUMBERS, f->unit, f->meaning, f->sign, f->fallback,
          f->limits};
      return true;
    }
  }
  return false;
}

const od_section_class od_friction_pressure_section = {
    "friction pressure",
    "dependence of the friction on the pressures in the chambers: numbers of the block that computes the factor",
    .more = block_key};

// Returns the type of the block, which follows from the keys under 'pressure'.
static const char *type_by_keys(const od_loader *ld, int map) {
  if (od_map_find(ld, map, "at_a") >= 0 || od_map_find(ld, map, "at_b") >= 0) return "pressure-map";
  if (od_map_find(ld, map, "at_sum") >= 0 || od_map_find(ld, map, "values") >= 0) return "pressure-table";
  return "pressure-factor";
}

// Reads 'pressure' of a friction element, whose factor then follows the pressures in the chambers. Returns the signal of the
// factor. After an error returns `signal`, the signal that the friction element already follows (-1: none).
static int load_pressure(od_loader *ld, const od_element_description *c, const od_section *friction,
                         const od_section *owner, const int *chambers, int signal) {
  int node = od_section_get(ld, friction, "pressure"), follows = 0;
  if (chambers == NULL) {
    od_complain(ld, node,
                "'pressure' applies only to the friction of a cylinder; use 'factor' for the friction of a joint");
    return signal;
  }
  if (signal >= 0) {
    while (!c->fields[follows].follows_signal) follows++;  // every law has such a number
    od_complain(
        ld, node,
        "'%s' already follows a signal, so the factor cannot also follow the pressures; remove 'pressure' or the signal",
        c->fields[follows].key);
    return signal;
  }
  const char *path = od_path(ld, friction->path, "pressure"), *what = od_format(ld, "'pressure' of %s", friction->what);
  if (!od_is_map(ld, node)) {
    od_section_open(ld, node, friction->node, path, what, &od_friction_pressure_section);  // reports the error
    return signal;
  }
  if (chambers[0] < 0 || chambers[1] < 0) return signal;  // the error has already been reported
  od_loading_block block = {.key = node,
                            .block_class = od_block_class_find(type_by_keys(ld, node)),
                            .name = od_format(ld, "%s.friction_factor", owner->path),
                            .path = path,
                            .what = what,
                            .map = node,
                            .unit = "1",
                            .index = OD_NOT_BUILT};
  for (int i = 0; i < 2; i++) block.measures[i] = od_format(ld, "%s.pressure", od_element_at(ld, chambers[i])->name);
  return od_declare_inner_block(ld, block);
}

// --- Laws ---------------------------------------------------------------------------------------------------------

// Returns friction law number `place`, in the order of the element classes, or NULL if there are no more laws.
static const od_element_description *friction_law(int place) {
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_description *c = od_element_description_at(i);
    if (c->inside && strcmp(c->inside, "friction") == 0 && c->choice && place-- == 0) return c;
  }
  return NULL;
}

static const char *law_name(int i) {
  return friction_law(i) != NULL ? friction_law(i)->choice : NULL;
}

// Finds the i-th key among the numbers of all laws, counting each key once. Returns false if there are no more keys.
static bool law_key(int i, od_key *key) {
  const od_element_description *c;
  for (int law = 0; (c = friction_law(law)) != NULL; law++)
    for (int k = 0; k < c->field_count; k++) {
      bool is_new = true;
      for (int before = 0; before < law; before++)
        is_new = is_new && od_element_field_place(friction_law(before), c->fields[k].key) < 0;
      if (is_new && i-- == 0) return od_key_of_field(&c->fields[k], key);
    }
  return false;
}

static const od_key friction_keys[] = {
    {"law", OD_CHOICE, NULL, "friction law; [components](components.md) lists the numbers of each law",
     .fallback = OD_REQUIRED, .choice = law_name},
    {"pressure", OD_SECTION, NULL, "dependence of the friction on the pressures in the cylinder's chambers",
     .inside = &od_friction_pressure_section},
};
const od_section_class od_friction_section = {"friction", "friction of a joint or a cylinder", OD_KEYS(friction_keys),
                                              law_key, true};

const od_element_description *od_load_friction(od_loader *ld, const od_section *owner, int host, int joint,
                                               bool turning, const int *chambers) {
  static const char *const law_alone[] = {"law", NULL};
  int node = od_section_get(ld, owner, "friction");
  if (node < 0) return NULL;
  const char *what = od_format(ld, "the friction of %s", owner->what), *path = od_path(ld, owner->path, "friction");
  bool is_map = od_is_map(ld, node);
  if (!is_map) od_section_open_names(ld, node, owner->node, path, what, law_alone);  // reports the error
  od_section section = od_section_open(ld, is_map ? node : -1, owner->node, path, what, &od_friction_section);
  int law = od_key_choice(ld, &section, "law");
  if (law < 0) {
    // After an error, the fields of one law are also read, to report errors in these fields.
    od_read_component_fields(ld, &section, friction_law(0), "1", turning, &(int){0});
    return NULL;
  }
  const od_element_description *c = friction_law(law);
  od_key key;
  for (int i = 0; law_key(i, &key); i++) {
    int extra = od_section_get(ld, &section, key.name);
    if (extra >= 0 && od_element_field_place(c, key.name) < 0)
      od_complain(ld, extra, "'%s' is not a number of the friction law '%s'; remove this key, or choose another 'law'",
                  key.name, c->choice);
  }
  od_element_spec spec = od_element_spec_of(c->equations->name);
  int first = od_read_component_fields(ld, &section, c, "1", turning, &spec.signal);
  spec.first_number = od_number_theta(ld, first);
  spec.choice[0] = ld->document->numbers.count > first + c->equations->numbers;
  if (od_section_get(ld, &section, "pressure") >= 0)
    spec.signal = load_pressure(ld, c, &section, owner, chambers, spec.signal);
  if (section.map < 0 || host == OD_NOT_BUILT || joint == OD_NOT_BUILT) return c;
  spec.host = host, spec.joint = joint;
  od_build_element(ld->draft->build, "", &spec);
  return c;
}
