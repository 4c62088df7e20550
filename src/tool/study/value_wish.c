// Values of runs in a study file: statistics (extremes, means, ...) of outputs in windows of time.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document/quantities.h"
#include "document/suggest.h"
#include "study/cases.h"
#include "study/study_sections.h"

static const char *take_name(int i) {
  return od_take_names[i];
}

static const od_key keys[] = {
    {"output", OD_TEXT, NULL, "the output", .fallback = OD_REQUIRED},
    {"take", OD_CHOICE, NULL, "what is taken of it", .fallback = OD_REQUIRED, .choice = take_name},
    {"from", OD_NUMBER, "s", "beginning of the window", OD_NOT_NEGATIVE, 0},
    {"to", OD_NUMBER, "s", "its end", OD_POSITIVE, 1e300, .otherwise = "the end"},
    {"unit", OD_TEXT, NULL, "in which it is shown", .otherwise = "SI"},
};
const od_section_class od_value_section = {"value", "a figure of a run", OD_KEYS(keys)};

static void read_wish(od_loader *ld, int key, od_value_wish *w) {
  const char *name = od_text_of(ld, key);
  od_section section = od_section_open(ld, od_value(ld, key), key, od_format(ld, "values.%s", name),
                                       od_format(ld, "the value '%s'", od_excerpt(ld, name)), &od_value_section);
  *w = (od_value_wish){.name = name, .key = key};
  if (section.map < 0) return;
  w->output = od_key_text(ld, &section, "output", "the name of an output");
  w->take = od_key_choice(ld, &section, "take");
  w->unit = od_key_text(ld, &section, "unit", "a unit");
  int first = od_read_keys(ld, &section, OD_IN_LOADER, "from", "to", NULL);
  w->from = od_number_value(ld, first), w->to = od_number_value(ld, first + 1);
  if (!(w->from < w->to)) od_complain(ld, key, "the value '%s' is taken from %g s to %g s", name, w->from, w->to);
}

od_value_wish *od_value_wishes_read(od_loader *ld, int node, int *count) {
  int entries = node >= 0 ? ld->tree.node[node].count : 0;
  od_value_wish *list = calloc((size_t)entries + 1, sizeof *list);
  *count = 0;
  if (!list) ld->no_memory = true;
  for (int key = list ? od_first(ld, node, "values") : -1; key >= 0; key = od_next(ld, key))
    read_wish(ld, key, &list[(*count)++]);
  return list;
}

bool od_value_wish_find(od_loader *ld, const od_machine *m, const od_value_wish *w, int *output, double *factor) {
  *factor = 1, *output = w->output ? od_machine_output_find(m, w->output) : -1;
  if (!w->output) return false;
  if (*output < 0) {
    od_nearest nearest = od_nearest_to(w->output);
    for (int i = 0; i < od_machine_output_count(m); i++) od_nearest_try(&nearest, od_machine_output_name(m, i));
    od_complain(ld, w->key, "%s has no output '%s'%s", od_machine_file(m), od_excerpt(ld, w->output),
                od_nearest_suggestion(&nearest).text);
    return false;
  }
  double si = 1;
  if (w->unit && od_units_convert(ld->units, w->unit, od_machine_output_unit(m, *output), 1, &si) != OD_UNIT_FITS) {
    od_complain(ld, w->key, "'%s' is in %s, not in '%s'", w->output, od_machine_output_unit(m, *output), w->unit);
    return false;
  }
  *factor = 1 / si;
  return true;
}
