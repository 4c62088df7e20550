// How an observer works: the section 'filter' and the key 'integrator' of an experiment file.
#include <math.h>

#include "experiment/experiment_loader.h"
#include "machine/method_names.h"

static int read_name(od_loader *ld, int node, const char *label, const od_method_names *names) {
  return node >= 0 ? od_read_choice(ld, node, label, names->name) : -1;
}

// 'filter: NAME', or a section with more.
void od_load_filter(od_experiment_loader *xl, int node) {
  static const char *const keys[] = {"type", "form", "gate", "gate_patience", "frozen", "window", "spread", NULL};
  static const char *const flags[] = {"false", "true", NULL};
  static const char *const forms[] = {"square-root", "joseph", NULL};
  static const od_field fields[] = {{"gate", "1", OD_POSITIVE, 0},
                                    {"gate_patience", "1", OD_POSITIVE, 50},
                                    {"frozen", "1", OD_NOT_NEGATIVE, 0},
                                    {"window", "1", OD_POSITIVE, 1024}};
  od_loader *ld = &xl->ld;
  const od_method_names types = od_method_names_filters();
  od_section section = {.map = -1, .node = ld->tree.root, .path = "filter", .what = "filter"};
  bool is_name = node >= 0 && ld->tree.node[node].kind == OD_TREE_TEXT;
  if (node >= 0 && !is_name) section = od_section_open(ld, node, node, "filter", "filter", keys);
  int type = is_name ? read_name(ld, node, "filter", &types)
                     : read_name(ld, od_section_get(ld, &section, "type"), "type", &types);
  xl->e->filter = od_filter_at(type >= 0 ? type : 0);
  int form = od_section_get(ld, &section, "form");
  xl->e->form = form >= 0 && od_read_choice(ld, form, "form", forms) == 1 ? OD_FORM_JOSEPH : OD_FORM_SQUARE_ROOT;
  int first = od_read_fields(ld, &section, fields, 4, OD_IN_LOADER);
  int frozen = (int)od_read_whole(ld, first + 2, "frozen", 0, 1e9);
  xl->e->gate = od_number_value(ld, first);
  xl->e->patience = (int)od_read_whole(ld, first + 1, "gate_patience", 2, 1e9);
  xl->e->window = (int)od_read_whole(ld, first + 3, "window", 16, 1e6);
  int spread = od_section_get(ld, &section, "spread");
  xl->e->at_once = spread >= 0 && od_read_choice(ld, spread, "spread", flags) == 0;
  xl->frozen = od_number_is_given(ld, first + 2) ? frozen : -1;
}

void od_load_integrator(od_experiment_loader *xl, int node) {
  const od_method_names names = od_method_names_integrators(NULL);
  int chosen = read_name(&xl->ld, node, "integrator", &names);
  xl->e->integrator_is_given = chosen >= 0;
  xl->e->integrator = od_integrator_at(chosen >= 0 ? chosen : 0);
}

// So many equal values in a row are a fault. Said by nobody: with a gate, as many as chance makes less often than once in a
// hundred million; a sensor that counts in steps much larger than its noise may well repeat itself.
int od_equal_values(const od_experiment_loader *xl, const od_sensor *s) {
  static const double seldom = 1e-8;
  if (xl->frozen >= 0) return xl->frozen;
  if (!(xl->e->gate > 0)) return 0;
  // Two values with independent noise in the same step of the resolution.
  double chance = s->resolution / (2 * 1.772453850905516 * s->sigma);
  if (chance > 0.5) return 0;
  return chance > 0 ? (int)fmax(5, ceil(1 + log(seldom) / log(chance))) : 5;
}
