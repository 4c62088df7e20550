// Loads the section 'compare' of an experiment: comparisons of outputs with columns of the log.
//
//  compare:
//    p2: B.pressure
//    p3: {output: A.pressure, sigma: 0.2 bar}
#include <math.h>
#include <string.h>

#include "document/document.h"
#include "experiment/experiment_loader.h"
#include "experiment/experiment_sections.h"

static const od_key keys[] = {
    {"output", OD_TEXT, NULL, "output that the column measures", .fallback = OD_REQUIRED},
    {"sigma", OD_NUMBER, NULL, "standard deviation of the noise of the column", OD_POSITIVE, 0,
     .otherwise = "estimated from neighboring values", .by_unit = od_sigma_limits},
    {"unit", OD_TEXT, NULL, "unit of the column", .otherwise = "the unit in the header, else SI"},
    {"scale", OD_NUMBER, "1", "factor of the column's values", OD_ANY, 1},
    {"offset", OD_NUMBER, "1", "offset that is added to the values, in the unit of the column"},
    {"file", OD_TEXT, NULL, "file with the column, if the log has several files", .otherwise = "any file of the log"},
};
const od_section_class od_reference_section = {
    "reference", "a column of the log without a sensor: the name of its output, or a map with these keys",
    OD_KEYS(keys), .or_word = true};

int od_reference_outputs(const od_loader *ld, int node) {
  return node >= 0 && ld->tree.node[node].kind == OD_TREE_MAP ? ld->tree.node[node].count : 0;
}

// Reads a column that is compared with an output: the name of the output, or a map with the output, unit, factor, offset, file and sigma.
static void read_reference(od_experiment_loader *xl, int key) {
  od_loader *ld = &xl->ld;
  const char *column = od_text_of(ld, key);
  int output = od_value(ld, key);
  od_channel channel = {.column = column, .scale = 1, .otherwise = NAN, .at = -1, .place = od_place_of(ld, key)};
  od_section section = {.map = -1};
  if (ld->tree.node[output].kind != OD_TREE_TEXT) {
    section =
        od_section_open(ld, output, key, od_format(ld, "compare.%s", column),
                        od_format(ld, "the reference column '%s'", od_excerpt(ld, column)), &od_reference_section);
    if (section.map < 0) return;
    output = od_section_need(ld, &section, "output");
    int unit = od_section_get(ld, &section, "unit");
    channel.file_unit = od_read_text(ld, unit, "unit", "a unit");
    channel.unit_place = od_place_of(ld, unit);
    int file = od_section_get(ld, &section, "file");
    const char *name = od_read_text(ld, file, "file", "the name of a file of the log");
    channel.from = name ? od_document_beside(ld, file, name) : NULL;
    int first = od_read_keys(ld, &section, OD_IN_LOADER, "scale", "offset", NULL);
    channel.scale = od_number_value(ld, first);
    channel.offset = od_number_value(ld, first + 1);
    if (channel.scale == 0) od_complain_number(ld, first, "'scale' is 0; expected a factor other than 0");
  }
  if (output < 0 || !od_read_text(ld, output, "output", "the name of an output")) return;
  const od_model *model = od_machine_model(xl->e->model);
  const char *name = od_text_of(ld, output);
  if (od_model_output_find(model, name) < 0 && od_model_output_find(model, column) >= 0) {
    od_complain(ld, key, "found the output '%s' before the column '%s'; expected COLUMN: OUTPUT",
                od_excerpt(ld, column), od_excerpt(ld, name));
    return;
  }
  int watched = od_watch(xl, output);
  if (watched < 0) return;
  const od_watched *w = &xl->e->watched[watched];
  od_reference *c = &xl->e->reference[xl->e->references++];
  channel.name = w->name, channel.unit = w->unit;
  *c = (od_reference){.name = column, .watched = watched, .channel = channel};
  if (section.map >= 0) c->sigma = od_number_value(ld, od_read_key_in(ld, &section, "sigma", w->unit, OD_IN_LOADER));
}

void od_load_references(od_experiment_loader *xl, int node) {
  od_loader *ld = &xl->ld;
  xl->e->reference = OD_TAKE(&xl->e->memory, od_reference, od_reference_outputs(ld, node));
  if (!xl->e->reference) return;
  for (int key = od_first(ld, node, "columns of the log and their outputs"); key >= 0; key = od_next(ld, key))
    if (!od_is_repeated(ld, node, key)) read_reference(xl, key);
}

bool od_load_reference_channels(const od_experiment *e, od_log_plan *plan, int *channel) {
  for (int i = 0; i < e->references; i++)
    if ((channel[i] = od_log_add(plan, &e->reference[i].channel)) < 0) return false;
  return true;
}
