// Loads the section 'metrics': metrics of the errors of outputs and parameters.
//
//  metrics:
//    e: {norm: P1.x, points: 101}
//    states: {nees: [A.angle, A.rate], from: 1 s}
#include <math.h>
#include <string.h>

#include "experiment/error_metrics.h"
#include "experiment/experiment_loader.h"
#include "experiment/experiment_sections.h"

static bool kind_key(int i, od_key *key) {
  const od_error_metric_class *c = od_error_metric_classes;
  for (int k = 0; k <= i; k++)
    if (!c[k].key) return false;
  *key = (od_key){c[i].key, OD_TEXTS, NULL, c[i].meaning};
  return true;
}

static const od_key keys[] = {
    {"points", OD_WHOLE, "1", "number of equally spaced samples in use", OD_POSITIVE, 0, {1, 1e9}, "all samples"},
    {"from", OD_NUMBER, "s", "time of the first sample in use", OD_NOT_NEGATIVE, 0},
    {"to", OD_NUMBER, "s", "time of the last sample in use", OD_POSITIVE, (double)INFINITY,
     .otherwise = "the end of the run"},
};
const od_section_class od_metric_section = {
    "metric", "a metric computed from the errors of some outputs or estimated parameters", OD_KEYS(keys), kind_key};

// Returns an upper bound of the number of outputs of all metrics. Each metric has one name or a list of names.
int od_metric_outputs(const od_loader *ld, int node) {
  int count = 0;
  if (node < 0 || ld->tree.node[node].kind != OD_TREE_MAP) return 0;
  for (int key = ld->tree.node[node].first; key >= 0; key = od_next(ld, key)) {
    int map = od_value(ld, key);
    if (ld->tree.node[map].kind != OD_TREE_MAP) continue;
    for (int item = ld->tree.node[map].first; item >= 0; item = od_next(ld, item)) {
      int value = od_value(ld, item);
      count += ld->tree.node[value].kind == OD_TREE_LIST ? ld->tree.node[value].count : 1;
    }
  }
  return count;
}

// Adds an output or a parameter to a metric. If the metric has a unit, all its outputs and parameters must have the same unit.
static void add_output(od_experiment_loader *xl, int node, od_error_metric *m) {
  od_loader *ld = &xl->ld;
  if (!od_read_text(ld, node, m->name, "the name of an output or a parameter")) return;
  int parameter = 0;
  while (parameter < xl->e->parameters && strcmp(xl->e->parameter[parameter].path, od_text_of(ld, node)) != 0)
    parameter++;
  bool is_parameter = parameter < xl->e->parameters;
  int watched = is_parameter ? -1 - parameter : od_watch(xl, node);
  if (!is_parameter && watched < 0) return;
  const char *unit = is_parameter ? xl->e->parameter[parameter].unit : xl->e->watched[watched].unit;
  bool has_unit = od_error_metric_classes[m->kind].has_unit;
  if (m->count == 0) m->unit = has_unit ? unit : "1";
  if (has_unit && strcmp(m->unit, unit) != 0)
    od_complain(ld, node, "'%s' is in %s, but the metric '%s' has outputs in %s; expected outputs with the same unit",
                od_excerpt(ld, od_text_of(ld, node)), unit, od_excerpt(ld, m->name), m->unit);
  m->output[m->count++] = watched;
}

// Reads a metric: its kind, the outputs that the value of the kind names, and the part of the run.
static void read_metric(od_experiment_loader *xl, int key) {
  od_loader *ld = &xl->ld;
  int value = -1;
  const char *name = od_text_of(ld, key);
  od_section section = od_section_open(ld, od_value(ld, key), key, od_format(ld, "metrics.%s", name),
                                       od_format(ld, "the metric '%s'", od_excerpt(ld, name)), &od_metric_section);
  if (section.map < 0) return;
  int kind = -1;
  for (int k = 0; od_error_metric_classes[k].key; k++) {
    int node = od_section_get(ld, &section, od_error_metric_classes[k].key);
    if (node < 0) continue;
    if (kind >= 0)
      od_complain(ld, node, "%s has two kinds, '%s' and '%s'; expected one kind per metric", section.what,
                  od_error_metric_classes[kind].key, od_error_metric_classes[k].key);
    kind = k;
    value = node;
  }
  int first = od_read_keys(ld, &section, OD_IN_LOADER, "points", "from", "to", NULL);
  bool has_points = od_number_is_given(ld, first);
  od_error_metric *m = &xl->e->metric[xl->e->metrics++];
  *m = (od_error_metric){.name = name, .unit = "1", .kind = kind < 0 ? 0 : kind};
  m->points = has_points ? (long)od_read_whole(ld, first, "points", 1, 1e9) : 0;
  m->from = od_number_value(ld, first + 1);
  m->to = od_number_is_given(ld, first + 2) ? od_number_value(ld, first + 2) : (double)INFINITY;
  if (m->to <= m->from)
    od_complain_number(ld, first + 2, "'to' is %g s; expected a time later than 'from', %g s", m->to, m->from);
  if (kind < 0) {
    od_complain(ld, key,
                "the metric '%s' has no kind; expected 'norm', 'rms', 'mean', 'max', 'final', 'sigma', 'coverage', "
                "'within_3_sigma' or 'nees'",
                od_excerpt(ld, name));
    return;
  }
  // The value of the kind is the name of an output, or a list of names.
  bool is_list = ld->tree.node[value].kind == OD_TREE_LIST;
  int count = is_list ? ld->tree.node[value].count : 1;
  m->output = OD_TAKE(&xl->e->memory, int, count);
  if (!m->output) return;
  if (count == 0) od_complain(ld, value, "the metric has no outputs; expected at least one output");
  if (!is_list) add_output(xl, value, m);
  for (int entry = is_list ? ld->tree.node[value].first : -1; entry >= 0; entry = ld->tree.node[entry].next)
    add_output(xl, entry, m);
}

void od_load_metrics(od_experiment_loader *xl, int node) {
  od_loader *ld = &xl->ld;
  if (node < 0) return;
  int count = ld->tree.node[node].kind == OD_TREE_MAP ? ld->tree.node[node].count : 0;
  xl->e->metric = OD_TAKE(&xl->e->memory, od_error_metric, count);
  if (!xl->e->metric) return;
  for (int key = od_first(ld, node, "metrics"); key >= 0; key = od_next(ld, key))
    if (!od_is_repeated(ld, node, key)) read_metric(xl, key);
}
