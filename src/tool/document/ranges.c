// The table of ranges, and the messages about values outside of them.
//
// "Possible" is generous: it is wrong only for what no machine has, from a micro-valve to a ship lift. "Usual" is what
// a fluid-power engineer would not look at twice; zero counts as usual wherever it is possible, because it means
// "none".
#include "document/constants.h"
#include "document/ranges.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "io/display.h"

#define NO_END INFINITY

// Keys without indices: "areas" stands for "areas[0]" and "areas[1]". In alphabetical order.
static const od_range_row rows[] = {
    {"air", "1", {0, 1, 0, 0.2}, "air in the oil, fraction of its volume"},
    {"angle", "rad", {-1e6, 1e6, -6.3, 6.3}, "initial angle"},
    {"area", "m2", {1e-14, 10, 1e-9, 1}, "opening of an orifice, check valve or valve; piston area of a block"},
    {"areas", "m2", {0, 10, 1e-6, 1}, "piston areas of a cylinder"},
    {"at", "Pa", {1, 1e10, 1e4, 1e7}, "pressure at which the air content holds"},
    {"bit", "s", {1e-9, 1e9, 1e-6, 1e4}, "bit of a pseudo-random signal"},
    {"bore", "m", {1e-5, 5, 2e-3, 1.5}, "bore of a cylinder"},
    {"bristle", "N", {-1e9, 1e9, -1e6, 1e6}, "force of friction's bristles at the start"},
    {"bristle", "N m", {-1e9, 1e9, -1e6, 1e6}, "torque of friction's bristles at the start"},
    {"damping", "N s/m", {0, 1e13, 0, 1e8}, "damping of a spring, a prismatic joint or a mass"},
    {"density", "kg/m3", {10, 3e4, 700, 1300}, "density of the oil"},
    {"diameter", "m", {1e-6, 10, 1e-3, 0.5}, "inner diameter of a hose"},
    {"duration", "s", {1e-9, 1e9, 1e-5, 1e5}, "duration of a signal"},
    {"expansion", "1/K", {0, 0.01, 5e-4, 1e-3}, "growth of the oil's volume with temperature"},
    {"exponent", "1", {0.1, 10, 1, 1.7}, "polytropic exponent of air"},
    {"film", "1", {0, 1, 0, 1}, "lubricant film at the start, part of a complete one"},
    {"frequency", "Hz", {1e-9, 1e9, 1e-5, 1e5}, "frequency of a sine"},
    {"from", "Hz", {0, 1e9, 0, 1e5}, "first frequency of a sweep"},
    {"gravity", "m/s2", {-1e4, 1e4, -30, 30}, "gravity"},
    {"hot", "K", {150, 1000, 293, 423}, "second temperature at which the viscosity is given"},
    {"hot_viscosity", "m2/s", {0, 1, 1e-6, 5e-4}, "kinematic viscosity there"},
    {"inertia", "kg m2", {-1e14, 1e14, -1e9, 1e9}, "inertia of a body"},
    {"interval", "s", {1e-9, 1e9, 1e-6, 1e4}, "interval of a log"},
    {"k0", "1", {0, 1e4, 0, 50}, "growth of the bulk modulus with pressure"},
    {"kp", "Pa", {1e6, 1e15, 3e8, 3e9}, "bulk modulus of the oil at no pressure"},
    {"lead", "m", {-10, 10, -0.2, 0.2}, "way of a screw per turn"},
    {"leakage", "m3/s/Pa", {0, 1e-3, 1e-17, 1e-7}, "leakage"},
    {"length", "m", {0, 1e5, 1e-3, 200}, "length of a body, rod, spring or cylinder"},
    {"low_pass", "Hz", {1e-9, 1e9, 1e-4, 1e5}, "corner of a filter before a fit"},
    {"mass", "kg", {1e-12, 1e9, 1e-4, 1e6}, "mass"},
    {"modulus", "Pa", {1e6, 1e15, 3e8, 3e9}, "bulk modulus of the oil; very large: it does not give way"},
    {"overlap", "m", {-10, 10, -0.1, 0.1}, "overlap of a port"},
    {"position", "m", {-1e6, 1e6, -200, 200}, "a place on a body or on the ground, or a position"},
    {"pressure", "Pa", {0, 1e10, 5e3, 1e8}, "pressure of a tank, a source or a volume at the start, absolute"},
    {"radius", "m", {0, 1e4, 0, 20}, "radius of a cylindrical body"},
    {"rate", "m/s", {-1e6, 1e6, -100, 100}, "initial velocity"},
    {"rate", "rad/s", {-1e8, 1e8, -2000, 2000}, "initial turn rate"},
    {"reference", "K", {150, 700, 253, 373}, "temperature at which viscosity and density hold"},
    {"resample", "s", {1e-9, 1e9, 1e-6, 1e4}, "interval of resampling before a fit"},
    {"rod", "m", {1e-5, 5, 1e-3, 1.5}, "rod of a cylinder"},
    {"rows", "s", {1e-12, 1e9, 1e-8, 100}, "time from row to row"},
    {"sample", "s", {1e-9, 1e6, 1e-6, 100}, "sample time of a block"},
    {"sigma", "N", {1e-12, 1e12, 1e-6, 1e8}, "standard deviation of a force"},
    {"sigma", "Pa", {1e-6, 1e12, 1, 1e10}, "standard deviation of a pressure or a modulus"},
    {"sigma", "m", {1e-15, 1e6, 1e-10, 10}, "standard deviation of a length"},
    {"sigma", "rad", {1e-15, 1e6, 1e-10, 6.3}, "standard deviation of an angle"},
    {"size", "m", {1e-9, 1e5, 1e-3, 200}, "edges of a box"},
    {"smoothing", "Pa", {1e-9, 1e9, 1, 1e6}, "pressure difference below which orifices are smooth"},
    {"step", "Hz", {1e-9, 1e9, 1e-6, 1e5}, "step of a stepped sine"},
    {"step", "s", {1e-12, 1e9, 1e-8, 100}, "time step"},
    {"stiffness", "N/m", {-1e15, 1e15, -1e11, 1e11}, "stiffness of a spring or of end stops"},
    {"stroke", "m", {1e-7, 1e3, 1e-5, 50}, "stroke of a cylinder, or of a valve whose command is a length"},
    {"temperature", "K", {150, 700, 253, 373}, "temperature of the oil"},
    {"thickening", "1/Pa", {0, 1e-6, 1e-8, 3e-8}, "growth of the viscosity with pressure"},
    {"thinning", "1/K", {0, 1, 0.01, 0.06}, "decrease of the viscosity with temperature"},
    {"time", "s", {1e-12, 1e10, 1e-6, 1e6}, "time of a run, or of a delay"},
    {"time_constant", "s", {0, 1e9, 1e-6, 1e4}, "time constant"},
    {"to", "Hz", {0, 1e9, 0, 1e5}, "last frequency of a sweep"},
    {"tolerance", "1", {1e-18, 1, 1e-14, 1e-2}, "relative tolerance"},
    {"value", "N", {-1e12, 1e12, -1e8, 1e8}, "force"},
    {"value", "N m", {-1e12, 1e12, -1e8, 1e8}, "torque"},
    {"viscosity", "Pa s", {1e-6, 1e4, 1e-3, 2}, "dynamic viscosity of the oil in a hose"},
    {"viscosity", "m2/s", {1e-8, 1, 1e-6, 2e-3}, "kinematic viscosity of the oil"},
    {"volume", "m3", {1e-13, 1e6, 1e-8, 1}, "volume of lines and hoses, or of both chambers of a block"},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

int od_range_row_count(void) {
  return ROWS;
}
const od_range_row *od_range_row_at(int i) {
  return &rows[i];
}

od_limits od_field_limits(const od_field *field, const char *row) {
  const char *key = row != NULL ? row : field->key;
  size_t length = strcspn(key, "[");
  od_limits limits = {-NO_END, NO_END, -NO_END, NO_END};
  if (field->limits != NULL && key == field->key) limits = *field->limits;
  for (int i = 0; i < ROWS && length > 0 && field->limits == NULL; i++)
    if (rows[i].key[0] == key[0] && strncmp(rows[i].key, key, length) == 0 && rows[i].key[length] == '\0' &&
        strcmp(rows[i].unit, field->unit) == 0)
      limits = rows[i].limits;
  // Of a number that must be positive, whatever it is, no more can be said.
  if (field->range == OD_POSITIVE) limits.low = fmax(limits.low, DBL_MIN);
  if (field->range == OD_NOT_NEGATIVE) limits.low = fmax(limits.low, 0);
  return limits;
}

// --- Messages -----------------------------------------------------------------------------------------------------

// A number and perhaps a unit, no expression.
static bool is_quantity(const od_loader *ld, const char *text, double *number, const char **unit) {
  return !od_is_arithmetic(text) && od_split_quantity(text, number, unit) &&
         ((*unit)[0] == '\0' || od_units_knows(ld->units, *unit));
}

// "63 m" for what is given as '63', '1.2 MPa' for what has a unit, the value of what is an expression.
static const char *shown(od_loader *ld, const char *text, const char *unit, double value) {
  double number;
  const char *its_unit;
  if (!is_quantity(ld, text, &number, &its_unit))
    return od_format(ld, "'%s' = %s", od_excerpt(ld, text), od_display_quantity(value, unit).text);
  bool bare = its_unit[0] == '\0' && strcmp(unit, "1") != 0;
  return od_format(ld, "'%s%s%s'", od_excerpt(ld, text), bare ? " " : "", bare ? unit : "");
}

// Units that people forget or confuse, the likeliest first; all are units that files may use.
static const struct {
  const char *si, *units[6];
} meant[] = {
    {"1", {"%"}},
    {"Hz", {"kHz", "mHz"}},
    {"N", {"kN", "MN"}},
    {"N m", {"kN m"}},
    {"N/m", {"N/mm", "kN/mm"}},
    {"Pa", {"bar", "MPa", "GPa", "kPa"}},
    {"Pa s", {"mPa s"}},
    {"kg", {"g", "t", "kg"}},
    {"kg m2", {"kg cm2", "kg mm2"}},
    {"kg/m3", {"g/cm3", "kg/m3"}},
    {"m", {"mm", "cm", "m"}},
    {"m/s", {"mm/s", "m/s"}},
    {"m2", {"mm2", "cm2", "m2"}},
    {"m3", {"L", "mL", "cm3"}},
    {"m3/s", {"L/min", "mL/min"}},
    {"m3/s/Pa", {"(L/min)/bar", "(mL/min)/bar"}},
    {"rad", {"deg"}},
    {"rad/s", {"deg/s", "rpm"}},
    {"s", {"ms", "us", "s", "min"}},
};

// The unit that makes a number a possible and usual value, or NULL.
static const char *meant_unit(const od_loader *ld, double number, const char *si, const od_limits *limits) {
  double value;
  for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++)
    for (int j = 0; strcmp(meant[i].si, si) == 0 && j < 6 && meant[i].units[j] != NULL; j++)
      if (od_units_convert(ld->units, meant[i].units[j], si, number, &value) == OD_UNIT_FITS &&
          value >= fmax(limits->low, limits->usual_low) && value <= fmin(limits->high, limits->usual_high))
        return meant[i].units[j];
  return NULL;
}

// "; did you mean '63 mm'?" if another unit makes the number a usual one; else nothing.
static const char *suggestion(od_loader *ld, const char *text, const char *si, const od_limits *limits) {
  double number;
  const char *its_unit;
  if (!is_quantity(ld, text, &number, &its_unit)) return "";
  int length = (int)(its_unit - text);
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
  const char *unit = meant_unit(ld, number, si, limits);
  return unit != NULL ? od_format(ld, "; did you mean '%.*s %s'?", length, text, unit) : "";
}

static const char *between(od_loader *ld, double low, double high, const char *si) {
  char text[OD_RANGE_SIZE];
  od_display_range(text, low, high, si);
  return od_format(ld, "%s", text);
}

bool od_check_limits(od_loader *ld, const od_given *given, const od_field *field, const char *row, double value) {
  od_limits l = od_field_limits(field, row);
  bool possible = value >= l.low && value <= l.high, usual = value >= l.usual_low && value <= l.usual_high;
  if (possible && (usual || value == 0)) return true;
  const char *what = shown(ld, given->text, field->unit, value), *help = suggestion(ld, given->text, field->unit, &l);
  if (!possible)
    od_complain_given(ld, given, "%s is %s, which is impossible; possible is %s%s", given->label, what,
                      between(ld, l.low, l.high, field->unit), help);
  else
    od_warn_given(ld, given, "%s is %s, which is unusual; usual is %s%s", given->label, what,
                  between(ld, l.usual_low, l.usual_high, field->unit), help);
  return possible;
}

bool od_check_number_limits(od_loader *ld, int given, const char *label, const od_number *number) {
  double value = od_number_value(ld, given);
  const od_limits l = {number->low, number->high, number->usual_low, number->usual_high};
  bool possible = value >= l.low && value <= l.high;
  // A bound at zero is a way to say "positive".
  if (possible || !od_number_is_given(ld, given) || (value == 0 && l.low > 0)) return true;
  const char *text = ld->document->numbers.item[given].number.given;
  od_complain_number(ld, given, "%s is %s, which is impossible for '%s'; possible is %s%s", label,
                     shown(ld, text, number->unit, value), number->path, between(ld, l.low, l.high, number->unit),
                     suggestion(ld, text, number->unit, &l));
  return false;
}

void od_check_balanced(od_loader *ld, int number) {
  const od_number *x = &ld->document->numbers.item[number].number;
  if (x->value == 0 || (x->value >= x->usual_low && x->value <= x->usual_high)) return;
  od_warn_number(
      ld, number,
      "the balance needs %s = %s, which is unusual; usual is %s: look at the masses and areas that it comes from",
      x->path + strlen("initial."), od_display_quantity(x->value, x->unit).text,
      between(ld, x->usual_low, x->usual_high, x->unit));
}

void od_check_measured(od_loader *ld, od_place place, const char *name, const char *unit, double largest) {
  static const char *const keys[] = {"length", "position", "pressure", "rate"};  // angles may be many turns
  const char *dot = strrchr(name, '.');
  for (size_t i = 0; dot != NULL && i < sizeof keys / sizeof keys[0]; i++) {
    if (strcmp(dot + 1, keys[i]) != 0) continue;
    const od_limits l = od_field_limits(&(od_field){keys[i], unit, OD_ANY, 0}, NULL);
    if (largest == 0 || (largest >= l.usual_low && largest <= l.usual_high)) return;
    const char *other = meant_unit(ld, largest, unit, &l);
    od_messages_say(ld->messages, true, place,
                    "the largest value of '%s' in the log is %.4g %s, which is unusual; usual is %s%s%s%s", name,
                    largest, unit, between(ld, l.usual_low, l.usual_high, unit), other != NULL ? "; was 'unit: " : "",
                    other != NULL ? other : "", other != NULL ? "' forgotten?" : "");
  }
}
