// 'draw' of a case: numbers of its machine that are drawn at random in each run.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document/quantities.h"
#include "document/suggest.h"
#include "study/cases.h"
#include "study/study_sections.h"

enum { NORMAL, UNIFORM, RELATIVE, WITHIN };
static const od_key keys[] = {
    {"normal", OD_NUMBERS, NULL, "mean and standard deviation"},
    {"uniform", OD_NUMBERS, NULL, "from and to"},
    {"relative", OD_NUMBER, "1", "standard deviation as a part of the machine's own value", OD_NOT_NEGATIVE,
     .otherwise = "none"},
    {"within", OD_NUMBER, "1", "uniform, at most this part of the machine's own value away from it", OD_NOT_NEGATIVE,
     .otherwise = "none"},
};
enum { KEYS = sizeof keys / sizeof *keys };
const od_section_class od_draw_section = {"draw", "one distribution of a number", OD_KEYS(keys)};

// Reads one number of a distribution and its unit. False after a message.
static bool read_end(od_loader *ld, int node, const char *label, double *value, const char **unit) {
  const char *text = od_read_text(ld, node, label, "a number or a quantity");
  if (text == NULL) return false;
  if (od_split_quantity(text, value, unit) && isfinite(*value)) return true;
  od_complain(ld, node, "'%s' is not a number or a quantity", od_excerpt(ld, text));
  return false;
}

// Reads [a, b] in one unit.
static void read_two(od_loader *ld, int node, int kind, od_drawn *d) {
  int entry[2];
  const char *unit[2] = {"", ""};
  double value[2];
  const char *wanted = kind == NORMAL ? "[mean, standard deviation]" : "[from, to]";
  if (!od_read_list(ld, node, keys[kind].name, wanted, 2, entry)) return;
  for (int i = 0; i < 2; i++)
    if (!read_end(ld, entry[i], keys[kind].name, &value[i], &unit[i])) return;
  d->draw = (od_draw){kind == NORMAL ? OD_DRAW_NORMAL : OD_DRAW_UNIFORM, value[0], value[1]};
  d->unit = unit[0][0] != '\0' ? unit[0] : unit[1];
  if (unit[0][0] != '\0' && unit[1][0] != '\0' && strcmp(unit[0], unit[1]) != 0)
    od_complain(ld, node, "'%s' has one number in %s and one in %s; give both in one unit", keys[kind].name, unit[0],
                unit[1]);
  else if (kind == NORMAL && value[1] < 0)
    od_complain(ld, node, "a standard deviation must not be negative");
  else if (kind == UNIFORM && value[0] > value[1])
    od_complain(ld, node, "'uniform' ends below where it begins; expected [%g %s, %g %s]", value[1], d->unit, value[0],
                d->unit);
}

// Reads a fraction of the machine's own number.
static void read_part(od_loader *ld, const od_section *section, int node, int kind, od_drawn *d) {
  const od_field field = od_key_field(section, keys[kind].name);
  const char *path = od_format(ld, "draw.%s.%s", d->path, keys[kind].name);
  int number = od_read_number(ld, node, path, &field, od_place_of(ld, node), OD_IN_LOADER);
  d->part = od_number_value(ld, number);
  // A fraction above 1 is most likely meant as percent.
  if (d->part > 1)
    od_complain(
        ld, node, "'%s' is a part of the number itself, and %g is %g %% of it; expected at most 1, such as %g (%g %%)",
        keys[kind].name, d->part, 100 * d->part, d->part > 100 ? 0.1 : d->part / 100, d->part > 100 ? 10 : d->part);
  d->draw.kind = kind == RELATIVE ? OD_DRAW_NORMAL : OD_DRAW_UNIFORM;
}

static void read_draw(od_loader *ld, int key, od_drawn *d) {
  const char *what = od_format(ld, "the draw of '%s'", od_excerpt(ld, od_text_of(ld, key)));
  od_section section = od_section_open(ld, od_value(ld, key), key, "", what, &od_draw_section);
  int found = 0;
  *d = (od_drawn){.path = od_text_of(ld, key), .key = key, .unit = "", .part = NAN};
  for (int i = 0; i < KEYS; i++) {
    int node = od_section_get(ld, &section, keys[i].name);
    if (node < 0) continue;
    if (found++ > 0) od_complain(ld, node, "%s has two distributions; expected one", what);
    if (i == NORMAL || i == UNIFORM)
      read_two(ld, node, i, d);
    else
      read_part(ld, &section, node, i, d);
  }
  if (section.map >= 0 && found == 0 && !section.has_unknown)
    od_complain(ld, key, "%s needs one of 'normal', 'uniform', 'relative' and 'within'", what);
}

od_drawn *od_draws_read(od_loader *ld, int node, int *count) {
  int entries = node >= 0 ? ld->tree.node[node].count : 0;
  od_drawn *list = calloc((size_t)entries + 1, sizeof *list);
  *count = 0;
  if (!list) ld->no_memory = true;
  for (int key = list ? od_first(ld, node, "numbers that are drawn") : -1; key >= 0; key = od_next(ld, key))
    read_draw(ld, key, &list[(*count)++]);
  if (list && node >= 0 && *count == 0) od_complain(ld, node, "nothing is drawn; give at least one number");
  return list;
}

bool od_draw_settle(od_loader *ld, const od_machine *m, od_drawn *d) {
  int number = od_machine_number_find(m, d->path);
  if (number < 0) {
    od_nearest nearest = od_nearest_to(d->path);
    for (int i = 0; i < od_machine_number_count(m); i++) od_nearest_try(&nearest, od_machine_number(m, i).path);
    od_complain(ld, d->key, "%s has no number '%s'%s", od_machine_file(m), od_excerpt(ld, d->path),
                od_nearest_suggestion(&nearest).text);
    return false;
  }
  if (isnan(d->part)) return true;
  double value = od_machine_number(m, number).value, aside = fabs(value) * d->part;
  if (value == 0) {
    od_complain(ld, d->key, "'%s' is zero, and so is any part of it; give 'normal' or 'uniform'", d->path);
    return false;
  }
  d->draw.a = d->draw.kind == OD_DRAW_NORMAL ? value : value - aside;
  d->draw.b = d->draw.kind == OD_DRAW_NORMAL ? aside : value + aside;
  return true;
}
