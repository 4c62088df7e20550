// Loads the sections of simulations in a study file. 'values': statistics of outputs in windows of time. 'draw': numbers of the
// machine that each run draws at random.
#include <math.h>
#include <string.h>

#include "document/quantities.h"
#include "document/suggest.h"
#include "study/cases.h"

// --- Values -------------------------------------------------------------------------------------------------------

static const char *take_name(int i) {
  return i == OD_TAKE_LOOP ? "loop" : i < OD_TAKE_LOOP ? od_take_names[i] : NULL;
}

static const od_key value_keys[] = {
    {"output", OD_TEXT, NULL, "name of the output", .fallback = OD_REQUIRED},
    {"take", OD_CHOICE, NULL,
     "statistic of the output. `loop`: mean where `over` falls through the middle of its range, minus mean where `over` rises through the "
     "middle",
     .fallback = OD_REQUIRED, .choice = take_name},
    {"over", OD_TEXT, NULL, "other output of a `loop`", .otherwise = "required with `loop`"},
    {"from", OD_NUMBER, "s", "beginning of the window", OD_NOT_NEGATIVE, 0},
    {"to", OD_NUMBER, "s", "end of the window", OD_POSITIVE, 1e300, .otherwise = "end of the run"},
    {"unit", OD_TEXT, NULL, "unit of the value", .otherwise = "SI"},
};
const od_section_class od_value_section = {"value", "statistic of an output of a run", OD_KEYS(value_keys)};

// Reads one entry of 'values'.
static void read_wish(od_loader *ld, int key, od_value_wish *w) {
  const char *name = od_text_of(ld, key);
  od_section section = od_section_open(ld, od_value(ld, key), key, od_format(ld, "values.%s", name),
                                       od_format(ld, "the value '%s'", od_excerpt(ld, name)), &od_value_section);
  *w = (od_value_wish){.name = name, .key = key};
  if (section.map < 0) return;
  w->output = od_key_text(ld, &section, "output", "the name of an output");
  w->take = od_key_choice(ld, &section, "take");
  w->over = od_key_text(ld, &section, "over", "the name of an output");
  w->unit = od_key_text(ld, &section, "unit", "a unit");
  if (w->take == OD_TAKE_LOOP && !w->over)
    od_complain(ld, key, "the value '%s' is a loop and needs 'over', the output over which the loop is drawn", name);
  if (w->take >= 0 && w->take != OD_TAKE_LOOP && w->over)
    od_complain(ld, key, "the value '%s' has 'over', which only 'take: loop' uses; found 'take: %s'", name,
                take_name(w->take));
  int first = od_read_keys(ld, &section, OD_IN_LOADER, "from", "to", NULL);
  w->from = od_number_value(ld, first), w->to = od_number_value(ld, first + 1);
  if (!(w->from < w->to))
    od_complain(ld, key, "the window of the value '%s' is from %g s to %g s; expected 'to' later than 'from'", name,
                w->from, w->to);
}

od_value_wish *od_value_wishes_read(od_loader *ld, int node, od_arena *memory, int *count) {
  int entries = node >= 0 ? ld->tree.node[node].count : 0;
  od_value_wish *list = OD_TAKE(memory, od_value_wish, entries);
  *count = 0;
  if (!list) ld->no_memory = true;
  for (int key = list ? od_first(ld, node, "values") : -1; key >= 0; key = od_next(ld, key))
    read_wish(ld, key, &list[(*count)++]);
  return list;
}

// Returns the index of an output of the machine; -1: an error was reported.
static int find_output(od_loader *ld, const od_machine *m, int key, const char *name) {
  int output = od_machine_output_find(m, name);
  if (output >= 0) return output;
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < od_machine_output_count(m); i++) od_nearest_try(&nearest, od_machine_output_name(m, i));
  od_complain(ld, key, "%s has no output '%s'%s", od_machine_file(m), od_excerpt(ld, name),
              od_nearest_suggestion(&nearest, "'oleodyn info FILE' lists all outputs").text);
  return -1;
}

bool od_value_wish_find(od_loader *ld, const od_machine *m, const od_value_wish *w, int output[2], double *factor) {
  double si = 1;
  *factor = 1, output[0] = output[1] = -1;
  if (!w->output) return false;
  output[0] = output[1] = find_output(ld, m, w->key, w->output);
  if (output[0] >= 0 && w->over) output[1] = find_output(ld, m, w->key, w->over);
  if (output[0] < 0 || output[1] < 0) return false;
  if (w->unit && od_units_convert(ld->units, w->unit, od_machine_output_unit(m, output[0]), 1, &si) != OD_UNIT_FITS) {
    od_complain(ld, w->key, "'%s' is in %s, which cannot be converted to '%s'; expected a unit of the same quantity",
                w->output, od_machine_output_unit(m, output[0]), w->unit);
    return false;
  }
  *factor = 1 / si;
  return true;
}

// --- Draws --------------------------------------------------------------------------------------------------------

enum { NORMAL, UNIFORM, RELATIVE, WITHIN };
static const od_key draw_keys[] = {
    {"normal", OD_NUMBERS, NULL, "mean and standard deviation of a normal distribution"},
    {"uniform", OD_NUMBERS, NULL, "lower and upper limit of a uniform distribution"},
    {"relative", OD_NUMBER, "1",
     "standard deviation of a normal distribution around the machine's own value, as a "
     "fraction of this value",
     OD_NOT_NEGATIVE, .otherwise = "none"},
    {"within", OD_NUMBER, "1",
     "largest difference of a uniform distribution from the machine's own value, as a "
     "fraction of this value",
     OD_NOT_NEGATIVE, .otherwise = "none"},
};
enum { DRAW_KEYS = sizeof draw_keys / sizeof *draw_keys };
const od_section_class od_draw_section = {"draw", "distribution of a number", OD_KEYS(draw_keys)};

// Reads one number of a distribution and its unit. False: an error was reported.
static bool read_end(od_loader *ld, int node, const char *label, double *value, const char **unit) {
  const char *text = od_read_text(ld, node, label, "a number or a quantity");
  if (text == NULL) return false;
  if (od_split_quantity(text, value, unit) && isfinite(*value)) return true;
  od_complain(ld, node, "found '%s', expected a number or a quantity, for example '5 bar'", od_excerpt(ld, text));
  return false;
}

// Reads the two numbers of a distribution, which have the same unit.
static void read_two(od_loader *ld, int node, int kind, od_drawn *d) {
  int entry[2];
  const char *unit[2] = {"", ""};
  double value[2];
  const char *wanted = kind == NORMAL ? "[mean, standard deviation]" : "[from, to]";
  if (!od_read_list(ld, node, draw_keys[kind].name, wanted, 2, entry)) return;
  for (int i = 0; i < 2; i++)
    if (!read_end(ld, entry[i], draw_keys[kind].name, &value[i], &unit[i])) return;
  d->draw = (od_draw){kind == NORMAL ? OD_DRAW_NORMAL : OD_DRAW_UNIFORM, value[0], value[1]};
  d->unit = unit[0][0] != '\0' ? unit[0] : unit[1];
  if (unit[0][0] != '\0' && unit[1][0] != '\0' && strcmp(unit[0], unit[1]) != 0)
    od_complain(ld, node, "'%s' has one number in %s and one in %s; give both numbers in one unit",
                draw_keys[kind].name, unit[0], unit[1]);
  else if (kind == NORMAL && value[1] < 0)
    od_complain(ld, node, "found a standard deviation of %g%s%s, expected zero or more", value[1], *d->unit ? " " : "",
                d->unit);
  else if (kind == UNIFORM && value[0] > value[1])
    od_complain(ld, node, "the upper limit of 'uniform' is below the lower limit; expected [%g%s%s, %g%s%s]", value[1],
                *d->unit ? " " : "", d->unit, value[0], *d->unit ? " " : "", d->unit);
}

// Reads a fraction of the number in the machine file.
static void read_part(od_loader *ld, const od_section *section, int node, int kind, od_drawn *d) {
  const od_field field = od_key_field(section, draw_keys[kind].name);
  const char *path = od_format(ld, "draw.%s.%s", d->path, draw_keys[kind].name);
  int number = od_read_number(ld, node, path, &field, od_place_of(ld, node), OD_IN_LOADER);
  d->part = od_number_value(ld, number);
  // A fraction above 1 is most likely a percentage.
  if (d->part > 1)
    od_complain(ld, node, "'%s' is a fraction: found %g (%g %%), expected at most 1, for example %g (%g %%)",
                draw_keys[kind].name, d->part, 100 * d->part, d->part > 100 ? 0.1 : d->part / 100,
                d->part > 100 ? 10 : d->part);
  d->draw.kind = kind == RELATIVE ? OD_DRAW_NORMAL : OD_DRAW_UNIFORM;
}

// Reads the distribution of one number.
static void read_draw(od_loader *ld, int key, od_drawn *d) {
  const char *what = od_format(ld, "the draw of '%s'", od_excerpt(ld, od_text_of(ld, key)));
  od_section section = od_section_open(ld, od_value(ld, key), key, "", what, &od_draw_section);
  int found = 0;
  *d = (od_drawn){.path = od_text_of(ld, key), .key = key, .unit = "", .part = NAN};
  for (int i = 0; i < DRAW_KEYS; i++) {
    int node = od_section_get(ld, &section, draw_keys[i].name);
    if (node < 0) continue;
    if (found++ > 0) od_complain(ld, node, "%s has two distributions; expected one distribution", what);
    if (i == NORMAL || i == UNIFORM)
      read_two(ld, node, i, d);
    else
      read_part(ld, &section, node, i, d);
  }
  if (section.map >= 0 && found == 0 && !section.has_unknown)
    od_complain(ld, key, "%s has no distribution; expected one of 'normal', 'uniform', 'relative' and 'within'", what);
}

od_drawn *od_draws_read(od_loader *ld, int node, od_arena *memory, int *count) {
  int entries = node >= 0 ? ld->tree.node[node].count : 0;
  od_drawn *list = OD_TAKE(memory, od_drawn, entries);
  *count = 0;
  if (!list) ld->no_memory = true;
  for (int key = list ? od_first(ld, node, "random numbers") : -1; key >= 0; key = od_next(ld, key))
    read_draw(ld, key, &list[(*count)++]);
  if (list && node >= 0 && *count == 0) od_complain(ld, node, "'draw' is empty; expected at least one number");
  return list;
}

bool od_draw_settle(od_loader *ld, const od_machine *m, od_drawn *d) {
  int number = od_machine_number_find(m, d->path);
  if (number < 0) {
    od_nearest nearest = od_nearest_to(d->path);
    for (int i = 0; i < od_machine_number_count(m); i++) od_nearest_try(&nearest, od_machine_number(m, i).path);
    od_complain(ld, d->key, "%s has no number '%s'%s", od_machine_file(m), od_excerpt(ld, d->path),
                od_nearest_suggestion(&nearest, "'oleodyn info FILE' lists all numbers").text);
    return false;
  }
  if (isnan(d->part)) return true;
  double value = od_machine_number(m, number).value, aside = fabs(value) * d->part;
  if (value == 0) {
    od_complain(ld, d->key, "'%s' is zero, so each fraction of this number is zero; expected 'normal' or 'uniform'",
                d->path);
    return false;
  }
  d->draw.a = d->draw.kind == OD_DRAW_NORMAL ? value : value - aside;
  d->draw.b = d->draw.kind == OD_DRAW_NORMAL ? aside : value + aside;
  return true;
}
