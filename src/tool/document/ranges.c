// Messages about values outside the allowed and usual ranges of numbers.
//
// Allowed ranges are wide: they include all machines from a micro-valve to a ship lift. Usual ranges contain the common values of
// fluid power. Zero is usual wherever zero is allowed, because zero means "none".
#include "document/ranges.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "document/constants.h"
#include "io/display.h"

od_limits od_field_limits(const od_field *field) {
  od_limits limits = {-INFINITY, INFINITY, -INFINITY, INFINITY};
  if (field->limits != NULL && od_limits_are_known(field->limits)) limits = *field->limits;
  // The lower limit of a positive number is at least the smallest positive normal floating-point number.
  if (field->range == OD_POSITIVE) limits.low = fmax(limits.low, DBL_MIN);
  if (field->range == OD_NOT_NEGATIVE) limits.low = fmax(limits.low, 0);
  return limits;
}

// --- Messages -----------------------------------------------------------------------------------------------------

// Returns whether a text is a number with an optional unit, not an expression.
static bool is_quantity(const od_loader *ld, const char *text, double *number, const char **unit) {
  return !od_is_arithmetic(text) && od_split_quantity(text, number, unit) &&
         ((*unit)[0] == '\0' || od_units_knows(ld->units, *unit));
}

// Returns the text of a value for messages. The text "63" becomes "'63 m'", a text with a unit becomes "'1.2 MPa'", an expression
// becomes "'a + b' = 3 m".
static const char *shown(od_loader *ld, const char *text, const char *unit, double value) {
  double number;
  const char *its_unit;
  if (!is_quantity(ld, text, &number, &its_unit))
    return od_format(ld, "'%s' = %s", od_excerpt(ld, text), od_display_quantity(value, unit).text);
  bool bare = its_unit[0] == '\0' && strcmp(unit, "1") != 0;
  return od_format(ld, "'%s%s%s'", od_excerpt(ld, text), bare ? " " : "", bare ? unit : "");
}

// Units that are often omitted or confused, the most likely unit first. Files may use all of these units.
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

// Returns the first unit of the table with which a number is in the allowed and in the usual range, or NULL.
static const char *meant_unit(const od_loader *ld, double number, const char *si, const od_limits *limits) {
  double value;
  for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++)
    for (int j = 0; strcmp(meant[i].si, si) == 0 && j < 6 && meant[i].units[j] != NULL; j++)
      if (od_units_convert(ld->units, meant[i].units[j], si, number, &value) == OD_UNIT_FITS &&
          value >= fmax(limits->low, limits->usual_low) && value <= fmin(limits->high, limits->usual_high))
        return meant[i].units[j];
  return NULL;
}

// Returns "; did you mean '63 mm'?" if the number is usual with another unit; else "".
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

bool od_check_limits(od_loader *ld, const od_given *given, const od_field *field, double value) {
  od_limits l = od_field_limits(field);
  bool possible = value >= l.low && value <= l.high, usual = value >= l.usual_low && value <= l.usual_high;
  if (possible && (usual || value == 0)) return true;
  const char *what = shown(ld, given->text, field->unit, value), *help = suggestion(ld, given->text, field->unit, &l);
  if (!possible)
    od_complain_given(ld, given, "%s is %s, which is impossible; possible: %s%s", given->label, what,
                      between(ld, l.low, l.high, field->unit), help);
  else
    od_warn_given(ld, given, "%s is %s, which is unusual; usual: %s%s", given->label, what,
                  between(ld, l.usual_low, l.usual_high, field->unit), help);
  return possible;
}

bool od_check_number_limits(od_loader *ld, int given, const char *label, const od_number *number) {
  double value = od_number_value(ld, given);
  const od_limits l = {number->low, number->high, number->usual_low, number->usual_high};
  bool possible = value >= l.low && value <= l.high;
  // A bound of zero is accepted for a number that must be positive.
  if (possible || !od_number_is_given(ld, given) || (value == 0 && l.low > 0)) return true;
  const char *text = ld->document->numbers.item[given].number.given;
  od_complain_number(ld, given, "%s is %s, which is impossible for '%s'; possible: %s%s", label,
                     shown(ld, text, number->unit, value), number->path, between(ld, l.low, l.high, number->unit),
                     suggestion(ld, text, number->unit, &l));
  return false;
}

void od_check_balanced(od_loader *ld, int number) {
  const od_number *x = &ld->document->numbers.item[number].number;
  if (x->value == 0 || (x->value >= x->usual_low && x->value <= x->usual_high)) return;
  od_warn_number(
      ld, number,
      "static balance gives %s = %s, which is unusual; usual: %s; check the masses and areas that determine this value",
      x->path + strlen("initial."), od_display_quantity(x->value, x->unit).text,
      between(ld, x->usual_low, x->usual_high, x->unit));
}

void od_check_measured(od_loader *ld, od_place place, const char *name, const char *unit, const od_limits *usual,
                       double largest) {
  if (usual == NULL || largest == 0 || (largest >= usual->usual_low && largest <= usual->usual_high)) return;
  const char *other = meant_unit(ld, largest, unit, usual);
  od_messages_say(ld->messages, true, place,
                  "the largest magnitude of '%s' in the log is %.4g %s, which is unusual; usual: %s%s%s%s", name,
                  largest, unit, between(ld, usual->usual_low, usual->usual_high, unit),
                  other != NULL ? "; is 'unit: " : "", other != NULL ? other : "", other != NULL ? "' missing?" : "");
}

// Returns the value of a number for messages; a value that is not given is a default.
static const char *value_text(od_loader *ld, const od_number *x) {
  return x->given ? shown(ld, x->given, x->unit, x->value)
                  : od_format(ld, "%s by default", od_display_quantity(x->value, x->unit).text);
}

void od_complain_relation(od_loader *ld, int number, const char *relation, int other, const char *because) {
  const od_number *x = &ld->document->numbers.item[number].number, *y = &ld->document->numbers.item[other].number;
  const char *key = strrchr(x->path, '.'), *other_key = strrchr(y->path, '.');
  od_complain_number(ld, number, "'%s' is %s; expected %s '%s' (%s)%s%s", key ? key + 1 : x->path, value_text(ld, x),
                     relation, other_key ? other_key + 1 : y->path, value_text(ld, y), because ? ", " : "",
                     because ? because : "");
}
