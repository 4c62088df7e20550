// Loads the oil: its density, the law of its bulk modulus, its viscosity and its temperature.
#include <math.h>
#include <string.h>

#include "document/ranges.h"
#include "machine/machine_loader.h"
#include "machine/sections.h"

static const od_key keys[] = {
    {"density", OD_NUMBER, "kg/m3", "density at the reference temperature", OD_POSITIVE, OD_REQUIRED, OD_RANGE_DENSITY},
    {"law", OD_CHOICE, "constant|linear|air", "dependence of the bulk modulus on the pressure",
     .fallback = OD_REQUIRED},
    {"modulus", OD_NUMBER, "Pa",
     "bulk modulus of the oil (laws `constant` and `air`); a very large value makes the oil incompressible",
     OD_POSITIVE, OD_REQUIRED, OD_RANGE_MODULUS},
    {"kp", OD_NUMBER, "Pa", "bulk modulus at zero pressure (law `linear`)", OD_POSITIVE, OD_REQUIRED, OD_RANGE_MODULUS},
    {"k0", OD_NUMBER, "1", "increase of the bulk modulus per increase of the pressure (law `linear`)", OD_NOT_NEGATIVE,
     OD_REQUIRED, OD_LIMITS(0, 1e4, 0, 50)},
    {"air", OD_NUMBER, "1", "volume fraction of entrained air (law `air`)", OD_NOT_NEGATIVE, OD_REQUIRED,
     OD_LIMITS(0, 1, 0, 0.2)},
    {"at", OD_NUMBER, "Pa", "pressure at which the fraction of air is given (law `air`)", OD_POSITIVE, OD_REQUIRED,
     OD_LIMITS(1, 1e10, 1e4, 1e7)},
    {"exponent", OD_NUMBER, "1", "polytropic exponent of the air (law `air`)", OD_POSITIVE, OD_REQUIRED,
     OD_RANGE_EXPONENT},
    {"smoothing", OD_NUMBER, "Pa", "pressure difference below which the flow through orifices is smoothed", OD_POSITIVE,
     1e4, OD_LIMITS(1e-9, 1e9, 1, 1e6)},
    {"viscosity", OD_NUMBER, "m2/s", "kinematic viscosity at the reference temperature", OD_POSITIVE, 46e-6,
     OD_LIMITS(1e-8, 1, 1e-6, 2e-3)},
    {"reference", OD_NUMBER, "K", "temperature at which density and viscosity are given", OD_POSITIVE, 313.15,
     OD_RANGE_TEMPERATURE},
    {"temperature", OD_NUMBER, "K", "temperature of the oil; with a reservoir, the initial temperature", OD_POSITIVE,
     313.15, OD_RANGE_TEMPERATURE},
    {"thinning", OD_NUMBER, "1/K", "relative decrease of the viscosity with temperature", OD_NOT_NEGATIVE, 0,
     OD_LIMITS(0, 1, 0.01, 0.06)},
    {"thickening", OD_NUMBER, "1/Pa", "relative growth of the viscosity with pressure", OD_NOT_NEGATIVE, 0,
     OD_LIMITS(0, 1e-6, 1e-8, 3e-8)},
    {"expansion", OD_NUMBER, "1/K", "relative growth of the oil's volume with temperature", OD_NOT_NEGATIVE, 0,
     OD_LIMITS(0, 0.01, 5e-4, 1e-3)},
    {"hot", OD_NUMBER, "K", "second temperature at which the viscosity is given", OD_POSITIVE, 373.15,
     OD_LIMITS(150, 1000, 293, 423)},
    {"hot_viscosity", OD_NUMBER, "m2/s",
     "kinematic viscosity at the temperature `hot`; the viscosity then follows Walther's law", OD_NOT_NEGATIVE, 0,
     OD_LIMITS(0, 1, 1e-6, 5e-4), .otherwise = "none"},
    {"cavitation", OD_CHOICE, "void|tension",
     "state of the oil below zero pressure: a void, or tension (a negative pressure)"},
};
const od_section_class od_oil_section = {"oil", "density, compressibility and viscosity of the oil", OD_KEYS(keys)};

// The numbers of each law, in the builder's order.
static const char *const laws[][5] = {[OD_OIL_CONSTANT] = {"modulus"},
                                      [OD_OIL_LINEAR] = {"kp", "k0"},
                                      [OD_OIL_AIR] = {"modulus", "air", "at", "exponent"}};
enum { LAWS = sizeof laws / sizeof *laws };

static bool law_has(int law, const char *key) {
  for (int i = 0; laws[law][i] != NULL; i++)
    if (strcmp(laws[law][i], key) == 0) return true;
  return false;
}

// Reports keys that belong to other laws.
static void refuse_others(od_loader *ld, const od_section *section, int law) {
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    bool of_a_law = false;
    for (int k = 0; k < LAWS; k++) of_a_law = of_a_law || law_has(k, keys[i].name);
    int node = od_section_get(ld, section, keys[i].name), length = 0;
    if (!of_a_law || node < 0 || law_has(law, keys[i].name)) continue;
    const char *word = od_key_word(od_key_of(&od_oil_section, "law"), law, &length);
    od_complain(ld, node, "'%s' is not allowed with the oil law '%.*s'; remove this key", keys[i].name, length, word);
  }
}

// Checks the second point of the viscosity, which replaces 'thinning'. Hotter oil must have a lower viscosity.
static void check_walther(od_loader *ld, const od_section *section, int first) {
  enum { VISCOSITY, REFERENCE, THINNING = 3, HOT = 6, HOT_VISCOSITY };
  double nu = od_number_value(ld, first + VISCOSITY), at = od_number_value(ld, first + REFERENCE);
  double hot = od_number_value(ld, first + HOT), hot_nu = od_number_value(ld, first + HOT_VISCOSITY);
  if (hot_nu == 0) {
    if (od_section_get(ld, section, "hot") >= 0)
      od_complain_number(
          ld, first + HOT,
          "'hot' is the temperature of 'hot_viscosity', but 'hot_viscosity' is not given; give both or none");
    return;
  }
  const double least = 0.4e-6;  // m2/s, with a margin: below 0.3 mm2/s Walther's law is not valid
  if (od_section_get(ld, section, "thinning") >= 0)
    od_complain_number(ld, first + THINNING,
                       "the oil has both 'thinning' and 'hot_viscosity'; expected one of these keys");
  if (!(hot > at)) od_complain_relation(ld, first + HOT, "more than", first + REFERENCE, NULL);
  if (!(hot_nu < nu))
    od_complain_relation(ld, first + HOT_VISCOSITY, "less than", first + VISCOSITY, NULL);
  else if (hot_nu < least)
    od_complain_number(ld, first + HOT_VISCOSITY, "'hot_viscosity' is %g mm2/s; expected at least 0.4 mm2/s",
                       hot_nu * 1e6);
}

// Loads viscosity and temperature. The model has a viscosity and a temperature only if the file gives at least one of their keys.
static void load_viscosity(od_loader *ld, const od_section *section) {
  static const char *const viscosity_keys[] = {"viscosity",  "reference", "temperature", "thinning",
                                               "thickening", "expansion", "hot",         "hot_viscosity"};
  bool given = false;
  for (int i = 0; i < 8; i++) given = given || od_section_get(ld, section, viscosity_keys[i]) >= 0;
  if (!given) return;
  int before = od_messages_errors(ld->messages);
  int first = ld->document->numbers.count;
  for (int i = 0; i < 8; i++) od_read_keys(ld, section, OD_IN_MODEL, viscosity_keys[i], NULL);
  if (od_messages_errors(ld->messages) == before) check_walther(ld, section, first);
  od_build_oil_viscosity(ld->draft->build, od_number_theta(ld, first));
}

void od_load_oil(od_loader *ld, int node) {
  if (node < 0) return;
  od_section section = od_section_open(ld, node, node, "oil", "the oil", &od_oil_section);
  int before = od_messages_errors(ld->messages), law = od_key_choice(ld, &section, "law");
  int first = od_read_keys(ld, &section, OD_IN_MODEL, "density", "smoothing", NULL);
  if (law < 0) return;
  refuse_others(ld, &section, law);
  int numbers = ld->document->numbers.count;
  for (int i = 0; laws[law][i] != NULL; i++) od_read_keys(ld, &section, OD_IN_MODEL, laws[law][i], NULL);
  if (law == OD_OIL_AIR && od_messages_errors(ld->messages) == before && !(od_number_value(ld, numbers + 1) < 1))
    od_complain_number(ld, numbers + 1, "'air' is %g; expected less than 1, because it is a fraction of the volume",
                       od_number_value(ld, numbers + 1));
  od_build_oil(ld->draft->build, (od_oil_law)law, od_number_theta(ld, first));
  if (od_key_choice(ld, &section, "cavitation") == 1) od_build_oil_tension(ld->draft->build);
  load_viscosity(ld, &section);
}

// Reports the first element that needs oil. Call this function if the file has no section 'oil'.
void od_check_oil(od_loader *ld) {
  for (int i = 0; i < ld->draft->names.elements; i++) {
    const od_element *element = od_element_at(ld, i);
    const od_element_description *c = od_component_class(element);
    if (element->kind != OD_ELEMENT_VOLUME && !(c && c->equations->needs_oil)) continue;
    od_complain(
        ld, element->node,
        "the %s '%s' needs oil, but the machine has no section 'oil'; add this section with 'density' and 'law'",
        od_element_noun(element->kind), element->name);
    return;
  }
}
