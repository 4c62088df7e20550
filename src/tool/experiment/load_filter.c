// Loads the section 'filter' and the key 'integrator' of an experiment file.
#include <math.h>
#include <string.h>

#include "document/suggest.h"
#include "experiment/experiment_loader.h"
#include "experiment/experiment_sections.h"
#include "experiment/sensor.h"
#include "filters/filter_types.h"
#include "machine/method_names.h"

// Sets *key to key i of the keys of all filters without repetitions. Returns false if there is no key i.
static bool option_key(int i, od_key *key) {
  const od_filter *filter;
  for (int f = 0; (filter = od_filter_type_at(f)) != NULL; f++)
    for (int k = 0; k < filter->options; k++) {
      bool is_new = true;
      for (int before = 0; before < f; before++)
        for (int other = 0; other < od_filter_type_at(before)->options; other++)
          is_new = is_new && strcmp(od_filter_type_at(before)->option[other].key, filter->option[k].key) != 0;
      if (!is_new || i-- > 0) continue;
      *key = (od_key){filter->option[k].key, OD_NUMBER, "1", filter->option[k].meaning};
      key->otherwise = "depends on the filter";
      return true;
    }
  return false;
}

static const od_key keys[] = {
    {"type", OD_CHOICE, NULL, "type of the [filter](experiment-files.md#the-filter); `filter: ukf` is a short form",
     .choice = od_filter_name},
    {"form", OD_CHOICE, "square-root|joseph",
     "form in which the covariance is stored. `square-root`: a factor of the covariance. `joseph`: the covariance "
     "itself, updated with Joseph's formula, which is slightly slower and accurate to half as many digits"},
    {"gate", OD_NUMBER, "1",
     "limit of innovations, in standard deviations, for example 5; larger innovations are not "
     "used",
     OD_POSITIVE, 0, .otherwise = "all innovations are used"},
    {"gate_patience",
     OD_WHOLE,
     "1",
     "number of consecutive values beyond the gate after which a sensor is used again, because the filter is probably "
     "wrong",
     OD_POSITIVE,
     50,
     {2, 1e9}},
    {"frozen",
     OD_WHOLE,
     "1",
     "number of consecutive equal values after which further equal values are not used; 0: no check",
     OD_NOT_NEGATIVE,
     0,
     {0, 1e9},
     "without a gate: no check. With a gate: 5, or more for sensors with a `resolution`; no check if the resolution is larger than about 1.8 sigma"},
};
enum { KEYS = sizeof keys / sizeof *keys };
const od_section_class od_filter_section = {"filter", "the filter and its options", OD_KEYS(keys), option_key, true};

// Reads one of the words of an option. Returns the index of the word, or -1 after a message. The former words "eq10"
// and "eq14" for options of continuous-ekf are still accepted.
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
      od_complain_number(ld, number, "'%s' is %g; expected a number from %g to %g", option->key, *value, option->low,
                         option->high);
  }
}

void od_check_filter(od_experiment_loader *xl, int node) {
  const od_experiment *e = xl->e;
  const od_observer_options options = {
      .filter = e->filter, .integrator = e->integrator, .form = e->form, .choice = e->filter_choice};
  od_error err = {0};
  if (!od_has_errors(&xl->ld) && od_observer_check(&options, &err) != OD_OK)
    od_complain(&xl->ld, node >= 0 ? node : xl->ld.tree.root, "filter: %s", err.text);
}

// Reads 'filter: NAME', or a section with the type and the options of the filter.
void od_load_filter(od_experiment_loader *xl, int node) {
  od_loader *ld = &xl->ld;
  const od_method_names types = od_method_names_filters();
  od_section section = od_section_empty(&od_filter_section, ld->tree.root, "filter", "filter");
  bool is_name = node >= 0 && ld->tree.node[node].kind == OD_TREE_TEXT;
  bool is_map = node >= 0 && ld->tree.node[node].kind == OD_TREE_MAP;
  // The type determines the allowed keys.
  int type_node = is_map ? od_map_find(ld, node, "type") : is_name ? node : -1;
  int type = type_node >= 0 ? od_read_choice(ld, type_node, is_name ? "filter" : "type", types.name) : -1;
  xl->e->filter = od_filter_type_at(type >= 0 ? type : 0);
  const char *names[KEYS + OD_MOST_FILTER_OPTIONS + 1] = {0};
  for (int i = 0; i < KEYS; i++) names[i] = keys[i].name;
  for (int i = 0; i < xl->e->filter->options; i++) names[KEYS + i] = xl->e->filter->option[i].key;
  if (node >= 0 && !is_name) section = od_section_open_names(ld, node, node, "filter", "filter", names);
  section.of = &od_filter_section;
  // If the command line selects another filter, keys for the filter of the file are ignored.
  const char *instead = xl->options->filter;
  if (instead) {
    od_nearest nearest = od_nearest_to(instead);
    int chosen = 0;
    while (types.name[chosen] && strcmp(types.name[chosen], instead) != 0)
      od_nearest_try(&nearest, types.name[chosen++]);
    if (types.name[chosen])
      xl->e->filter = od_filter_type_at(chosen);
    else
      od_messages_add(ld->messages, (od_place){.file = "--filter"}, "there is no filter '%s'%s", instead,
                      od_nearest_suggestion(&nearest, NULL).text);
  }
  read_options(xl, &section);
  xl->e->form = od_key_choice(ld, &section, "form") == 1 ? OD_FORM_JOSEPH : OD_FORM_SQUARE_ROOT;
  xl->e->gate = od_key_value(ld, &section, "gate");
  xl->e->patience = (int)od_key_whole(ld, &section, "gate_patience");
  int number = od_read_keys(ld, &section, OD_IN_LOADER, "frozen", NULL);
  int frozen = (int)od_read_whole(ld, number, "frozen", 0, 1e9);
  xl->frozen = od_number_is_given(ld, number) ? frozen : -1;
}

void od_load_integrator(od_experiment_loader *xl, const od_section *file) {
  bool given = od_section_get(&xl->ld, file, "integrator") >= 0;
  int chosen = given ? od_key_choice(&xl->ld, file, "integrator") : -1;
  xl->e->integrator_is_given = chosen >= 0;
  xl->e->integrator = od_integrator_at(chosen >= 0 ? chosen : 0);
}

// Returns the number of consecutive equal values that is a fault; 0: never a fault. Default without a gate, and for types of sensors
// with their own noise: 0. Default with a gate: the number that occurs by chance less than once in 1e8 samples, at least 5; 0 if two
// values are equal with a probability of more than 0.5, because the resolution is larger than about 1.8 sigma, or if the noise of a
// sensor with a resolution is colored.
int od_equal_values(const od_experiment_loader *xl, const od_sensor *s) {
  static const double largest_chance = 1e-8;
  if (xl->frozen >= 0) return xl->frozen;
  if (!(xl->e->gate > 0) || (s->of && s->of->has_noise)) return 0;
  // Probability that two values with independent noise are in the same quantization step.
  double chance = s->resolution / (2 * 1.772453850905516 * s->sigma);
  bool colored = s->time_constant > 0 || s->frequency > 0;
  if (chance > 0.5 || (chance > 0 && colored)) return 0;
  return chance > 0 ? (int)fmax(5, ceil(1 + log(largest_chance) / log(chance))) : 5;
}
