// How an observer works: the section 'filter' and the key 'integrator' of an experiment file.
#include <math.h>
#include <string.h>

#include "document/suggest.h"
#include "experiment/experiment_loader.h"
#include "filters/filter_types.h"
#include "machine/method_names.h"

static int read_name(od_loader *ld, int node, const char *label, const od_method_names *names) {
  return node >= 0 ? od_read_choice(ld, node, label, names->name) : -1;
}

static const char *const common_keys[] = {"type", "form", "gate", "gate_patience", "frozen"};
enum { COMMON_KEYS = sizeof common_keys / sizeof *common_keys };

// Reads one of the words of an option: its index, or -1 after a complaint. The words that the options of continuous-ekf had
// in earlier versions, numbers of equations, are still accepted.
static int read_word(od_loader *ld, int node, const od_filter_option *option) {
  static const struct {
    const char *key, *old_word, *word;
  } renamed[] = {{"state_matrix", "eq10", "approximate"}, {"tangent", "eq14", "approximate"}};
  const od_tree_node *n = &ld->tree.node[node];
  for (size_t i = 0; n->kind == OD_TREE_TEXT && i < sizeof renamed / sizeof *renamed; i++) {
    if (strcmp(option->key, renamed[i].key) != 0 || strcmp(n->text, renamed[i].old_word) != 0) continue;
    for (int k = 0; option->words[k]; k++)
      if (strcmp(option->words[k], renamed[i].word) == 0) return k;
  }
  return od_read_choice(ld, node, option->key, option->words);
}

// Reads the options of the chosen filter: numbers, or one of a few words.
static void read_options(od_experiment_loader *xl, const od_section *section) {
  od_loader *ld = &xl->ld;
  const od_filter *filter = xl->e->filter;
  for (int i = 0; i < filter->options; i++) {
    const od_filter_option *option = &filter->option[i];
    double *value = &xl->e->filter_choice[i];
    *value = option->fallback;
    int node = od_section_get(ld, section, option->key);
    if (node < 0) continue;
    if (option->words) {
      int chosen = read_word(ld, node, option);
      if (chosen >= 0) *value = chosen;
      continue;
    }
    const od_field field = {option->key, "1", OD_ANY, 0};
    int number = od_read_fields(ld, section, &field, 1, OD_IN_LOADER);
    *value = od_number_value(ld, number);
    if (!(*value >= option->low && *value <= option->high))
      od_complain_number(ld, number, "%s is %g; it must be from %g to %g", option->key, *value, option->low,
                         option->high);
  }
}

void od_check_filter(od_experiment_loader *xl, int node) {
  const od_experiment *e = xl->e;
  const od_observer_options options = {
      .filter = e->filter, .integrator = e->integrator, .form = e->form, .choice = e->filter_choice};
  const char *wrong = od_has_errors(&xl->ld) ? NULL : od_observer_check(&options);
  if (wrong) od_complain(&xl->ld, node >= 0 ? node : xl->ld.tree.root, "filter: %s", wrong);
}

// The filter that was asked for instead of the file's: keys for another one are read over.
static void choose_instead(od_experiment_loader *xl, const od_method_names *types) {
  int chosen = 0;
  od_nearest nearest = od_nearest_to(xl->options->filter);
  while (types->name[chosen] && strcmp(types->name[chosen], xl->options->filter) != 0)
    od_nearest_try(&nearest, types->name[chosen++]);
  if (types->name[chosen]) {
    xl->e->filter = od_filter_type_at(chosen);
    return;
  }
  od_messages_add(xl->ld.messages, (od_place){.file = "--filter"}, "there is no filter '%s'%s", xl->options->filter,
                  od_nearest_suggestion(&nearest).text);
}

// 'filter: NAME', or a section with more.
void od_load_filter(od_experiment_loader *xl, int node) {
  static const char *const forms[] = {"square-root", "joseph", NULL};
  static const od_field fields[] = {
      {"gate", "1", OD_POSITIVE, 0}, {"gate_patience", "1", OD_POSITIVE, 50}, {"frozen", "1", OD_NOT_NEGATIVE, 0}};
  od_loader *ld = &xl->ld;
  const od_method_names types = od_method_names_filters();
  od_section section = {.map = -1, .node = ld->tree.root, .path = "filter", .what = "filter"};
  bool is_name = node >= 0 && ld->tree.node[node].kind == OD_TREE_TEXT;
  bool is_map = node >= 0 && ld->tree.node[node].kind == OD_TREE_MAP;
  // The type says which keys there are.
  int type = is_name ? read_name(ld, node, "filter", &types)
                     : read_name(ld, is_map ? od_map_find(ld, node, "type") : -1, "type", &types);
  xl->e->filter = od_filter_type_at(type >= 0 ? type : 0);
  const char *keys[COMMON_KEYS + OD_MOST_FILTER_OPTIONS + 1] = {0};
  for (int i = 0; i < COMMON_KEYS; i++) keys[i] = common_keys[i];
  for (int i = 0; i < xl->e->filter->options; i++) keys[COMMON_KEYS + i] = xl->e->filter->option[i].key;
  if (node >= 0 && !is_name) section = od_section_open(ld, node, node, "filter", "filter", keys);
  if (xl->options->filter) choose_instead(xl, &types);
  read_options(xl, &section);
  int form = od_section_get(ld, &section, "form");
  xl->e->form = form >= 0 && od_read_choice(ld, form, "form", forms) == 1 ? OD_FORM_JOSEPH : OD_FORM_SQUARE_ROOT;
  int first = od_read_fields(ld, &section, fields, 3, OD_IN_LOADER);
  int frozen = (int)od_read_whole(ld, first + 2, "frozen", 0, 1e9);
  xl->e->gate = od_number_value(ld, first);
  xl->e->patience = (int)od_read_whole(ld, first + 1, "gate_patience", 2, 1e9);
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
  if (!(xl->e->gate > 0) || s->encoder.pitch > 0) return 0;
  // Two values with independent noise in the same step of the resolution.
  double chance = s->resolution / (2 * 1.772453850905516 * s->sigma);
  bool coloured = s->time_constant > 0 || s->frequency > 0;
  if (chance > 0.5 || (chance > 0 && coloured)) return 0;
  return chance > 0 ? (int)fmax(5, ceil(1 + log(seldom) / log(chance))) : 5;
}
