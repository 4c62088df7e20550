// The oil: its density, the law of its bulk modulus, its viscosity and temperature.
#include <math.h>
#include <string.h>

#include "machine/machine_loader.h"

enum { MOST_FIELDS = 4 };

static const char *const law_names[] = {"constant", "linear", "air", NULL};
static const char *const cavitation_names[] = {"void", "tension", NULL};

// The numbers of each law, in the builder's order.
static const struct {
  int count;
  od_field field[MOST_FIELDS];
} laws[] = {
    [OD_OIL_CONSTANT] = {1, {{"modulus", "Pa", OD_POSITIVE, NAN}}},
    [OD_OIL_LINEAR] = {2, {{"kp", "Pa", OD_POSITIVE, NAN}, {"k0", "1", OD_NOT_NEGATIVE, NAN}}},
    [OD_OIL_AIR] = {4,
                    {{"modulus", "Pa", OD_POSITIVE, NAN},
                     {"air", "1", OD_NOT_NEGATIVE, NAN},
                     {"at", "Pa", OD_POSITIVE, NAN},
                     {"exponent", "1", OD_POSITIVE, NAN}}},
};

static bool law_has(int law, const char *key) {
  for (int i = 0; i < laws[law].count; i++)
    if (strcmp(laws[law].field[i].key, key) == 0) return true;
  return false;
}

// Keys of the other laws.
static void refuse_others(od_loader *ld, const od_section *section, int law) {
  static const char *const keys[] = {"modulus", "kp", "k0", "air", "at", "exponent"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    int node = od_section_get(ld, section, keys[i]);
    if (node >= 0 && !law_has(law, keys[i]))
      od_complain(ld, node, "oil of the law '%s' has no '%s'", law_names[law], keys[i]);
  }
}

// A second point of the viscosity takes the place of the thinning; hotter oil is thinner.
static void check_walther(od_loader *ld, const od_section *section, int first) {
  enum { VISCOSITY, REFERENCE, THINNING = 3, HOT = 6, HOT_VISCOSITY };
  double nu = od_number_value(ld, first + VISCOSITY), at = od_number_value(ld, first + REFERENCE);
  double hot = od_number_value(ld, first + HOT), hot_nu = od_number_value(ld, first + HOT_VISCOSITY);
  if (hot_nu == 0) {
    if (od_section_get(ld, section, "hot") >= 0)
      od_complain_number(ld, first + HOT, "hot is the temperature of 'hot_viscosity', which is missing");
    return;
  }
  const double least = 0.4e-6;  // Walther's law ends at 0.3 mm2/s
  if (od_section_get(ld, section, "thinning") >= 0)
    od_complain_number(ld, first + THINNING, "the oil has a thinning and a hot_viscosity; expected one of the two");
  if (!(hot > at)) od_complain_number(ld, first + HOT, "hot must be more than reference, which is %g K", at);
  if (!(hot_nu < nu) || hot_nu < least)
    od_complain_number(ld, first + HOT_VISCOSITY,
                       "hot_viscosity must be less than viscosity, which is %g mm2/s, and at least 0.4 mm2/s",
                       nu * 1e6);
}

// Viscosity and temperature are there only where the file says something about them.
static void load_viscosity(od_loader *ld, const od_section *section) {
  static const od_field field[] = {
      {"viscosity", "m2/s", OD_POSITIVE, 46e-6},  {"reference", "K", OD_POSITIVE, 313.15},
      {"temperature", "K", OD_POSITIVE, 313.15},  {"thinning", "1/K", OD_NOT_NEGATIVE, 0},
      {"thickening", "1/Pa", OD_NOT_NEGATIVE, 0}, {"expansion", "1/K", OD_NOT_NEGATIVE, 0},
      {"hot", "K", OD_POSITIVE, 373.15},          {"hot_viscosity", "m2/s", OD_NOT_NEGATIVE, 0}};
  enum { COUNT = sizeof field / sizeof *field };
  bool given = false;
  for (int i = 0; i < COUNT; i++) given = given || od_section_get(ld, section, field[i].key) >= 0;
  if (!given) return;
  int before = od_messages_errors(ld->messages), first = od_read_fields(ld, section, field, COUNT, OD_IN_MODEL);
  if (od_messages_errors(ld->messages) == before) check_walther(ld, section, first);
  od_build_oil_viscosity(ld->draft->build, od_number_theta(ld, first));
}

void od_load_oil(od_loader *ld, int node) {
  static const char *const keys[] = {
      "density",   "law",       "modulus",       "kp",         "k0",          "air",      "at",
      "exponent",  "smoothing", "viscosity",     "reference",  "temperature", "thinning", "thickening",
      "expansion", "hot",       "hot_viscosity", "cavitation", NULL};
  static const od_field density = {"density", "kg/m3", OD_POSITIVE, NAN};
  static const od_field smoothing = {"smoothing", "Pa", OD_POSITIVE, 1e4};
  if (node < 0) return;
  od_section section = od_section_open(ld, node, node, "oil", "the oil", keys);
  int before = od_messages_errors(ld->messages);
  int law = od_read_choice(ld, od_section_need(ld, &section, "law"), "law", law_names);
  int first = od_read_fields(ld, &section, &density, 1, OD_IN_MODEL);
  od_read_fields(ld, &section, &smoothing, 1, OD_IN_MODEL);
  if (law < 0) return;
  refuse_others(ld, &section, law);
  int numbers = od_read_fields(ld, &section, laws[law].field, laws[law].count, OD_IN_MODEL);
  if (law == OD_OIL_AIR && od_messages_errors(ld->messages) == before && !(od_number_value(ld, numbers + 1) < 1))
    od_complain_number(ld, numbers + 1, "air is a fraction of the volume, must be less than 1");
  od_build_oil(ld->draft->build, (od_oil_law)law, od_number_theta(ld, first));
  int cavitation = od_section_get(ld, &section, "cavitation");
  if (cavitation >= 0 && od_read_choice(ld, cavitation, "cavitation", cavitation_names) == 1)
    od_build_oil_tension(ld->draft->build);
  load_viscosity(ld, &section);
}

// The first element that cannot do without oil, where the file has none.
void od_check_oil(od_loader *ld) {
  for (int i = 0; i < ld->draft->names.elements; i++) {
    const od_element *element = &ld->draft->names.element[i];
    const od_element_class *c = od_component_class(element);
    if (element->kind != OD_ELEMENT_VOLUME && !(c && c->needs_oil)) continue;
    od_complain(ld, element->node, "the %s '%s' needs oil: the machine has no 'oil' with density and law",
                od_element_noun(element->kind), element->name);
    return;
  }
}
