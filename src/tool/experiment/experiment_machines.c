// Loads the two machines of an experiment from the same file, each with its own variant and its own numbers.
//
// If the machine's loader reports a variant or a number, the message has the place of this variant or number in the
// experiment file.
#include <string.h>

#include "document/document.h"
#include "experiment/experiment_loader.h"
#include "experiment/experiment_sections.h"
#include "memory/owned.h"

#define VARIANT \
  { "variant", OD_TEXT, NULL, "variant of the machine file" }
#define SET \
  { "set", OD_NUMBER_MAP, NULL, "new values of numbers, by path" }
static const od_key truth_keys[] = {
    VARIANT,
    SET,
    {"noise", OD_SECTION, NULL, "process noise of the true machine; `same`: the observer's process noise",
     .inside = &od_truth_noise_section},
    {"change", OD_SECTION_MAP, NULL, "numbers of the true machine that change during the run, by path",
     .inside = &od_truth_change_section}};
static const od_key model_keys[] = {VARIANT, SET};
const od_section_class od_truth_section = {"true machine", "the machine that is simulated in place of the real machine",
                                           OD_KEYS(truth_keys)};
const od_section_class od_model_section = {"machine choice", "a variant of the machine, with changed numbers",
                                           OD_KEYS(model_keys)};

// The variant and the replaced numbers of one machine, and their places in the file.
typedef struct settings {
  const char *who;  // "truth" or "model"
  const char *variant;
  od_place variant_place;
  const char **set;  // "path=value"
  od_place *set_place;
  int sets;
} settings;

// "truth.noise" is a section of the experiment, not of the true machine.
const char *od_set_for(const char *text, const char *who) {
  static const char *const noise[] = {"truth.noise.pressures", "truth.noise.acceleration", "truth.noise.process."};
  size_t length = strlen(who);
  if (strncmp(text, who, length) != 0 || text[length] != '.') return NULL;
  for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
    if (strncmp(text, noise[i], strlen(noise[i])) == 0) return NULL;
  return text + length + 1;
}

static bool same_path(const char *a, const char *b) {
  size_t length = strcspn(a, "=");
  return length == strcspn(b, "=") && strncmp(a, b, length) == 0;
}

static void add_set(settings *w, const char *text, od_place place) {
  w->set[w->sets] = text;
  w->set_place[w->sets++] = place;
}

// Reads the new numbers of the command line, and the new numbers of the file that the command line does not replace.
static void read_sets(od_experiment_loader *xl, const od_section *section, settings *w) {
  od_loader *ld = &xl->ld;
  int given = xl->options->set_count, node = od_section_get(ld, section, "set");
  int most = given + (node >= 0 ? ld->tree.node[node].count : 0);
  w->set = OD_TAKE(&xl->memory, const char *, most);
  w->set_place = OD_TAKE(&xl->memory, od_place, most);
  if (!w->set || !w->set_place) return;
  for (int i = 0; i < given; i++) {
    const char *text = od_set_for(xl->options->set[i], w->who);
    if (text) add_set(w, text, (od_place){.file = "--set"});
  }
  int from_command = w->sets;
  for (int key = od_first(ld, node, "numbers"); key >= 0; key = od_next(ld, key)) {
    const char *value = od_read_text(ld, od_value(ld, key), od_text_of(ld, key), "a number or a quantity");
    if (!value) continue;
    const char *text = od_format(ld, "%s=%s", od_text_of(ld, key), value);
    bool replaced = false;
    for (int i = 0; i < from_command; i++) replaced = replaced || same_path(w->set[i], text);
    if (!replaced) add_set(w, text, od_place_of(ld, key));
  }
}

// Reads the section of one machine. `noise`: the section may have the key 'noise', which another function reads.
static settings read_settings(od_experiment_loader *xl, const od_section *file, const char *who, const char *what,
                              bool noise) {
  od_loader *ld = &xl->ld;
  int node = od_section_get(ld, file, who);
  od_section section = {.map = -1};
  if (node >= 0) section = od_section_open(ld, node, node, who, what, noise ? &od_truth_section : &od_model_section);
  settings w = {.who = who};
  int variant = od_section_get(ld, &section, "variant");
  w.variant = od_read_text(ld, variant, "variant", "the name of a variant");
  w.variant_place = od_place_of(ld, variant);
  read_sets(xl, &section, &w);
  return w;
}

// Adds a message of the machine's loader to the messages of the experiment. A message about --set contains the path of
// a number, at the start or in quotes. The place of this number becomes the place of the message.
static void pass_on(od_experiment_loader *xl, const settings *w, const od_message *m) {
  od_messages *own = xl->ld.messages;
  const char *file = m->file ? m->file : "";
  if (strcmp(file, "--variant") == 0) {
    od_messages_say(own, m->is_warning, w->variant_place, "%s", m->text);
    return;
  }
  if (m->line == 0 && xl->machine && strcmp(file, xl->machine) == 0) {  // the file cannot be read
    od_complain(&xl->ld, xl->machine_node, "%s: %s", od_excerpt(&xl->ld, od_text_of(&xl->ld, xl->machine_node)),
                m->text);
    return;
  }
  if (strcmp(file, "--set") != 0) {
    od_messages_say(xl->foreign, m->is_warning, (od_place){m->file, m->line, m->column}, "%s", m->text);
    return;
  }
  for (int i = 0; i < w->sets; i++) {
    size_t length = strcspn(w->set[i], "=");
    const char *quote = strchr(m->text, '\'');
    bool is_about = (strncmp(m->text, w->set[i], length) == 0 && m->text[length] == '=') ||
                    (quote && strncmp(quote + 1, w->set[i], length) == 0 && quote[1 + length] == '\'');
    if (!is_about) continue;
    od_messages_say(own, m->is_warning, w->set_place[i], "%s: %s", w->who, m->text);
    return;
  }
  od_messages_say(own, m->is_warning, (od_place){.file = "--set"}, "%s: %s", w->who, m->text);
}

// Returns a text with all data that define a machine. Equal texts belong to equal machines.
static const char *text_of(od_experiment_loader *xl, const char *path, const settings *w) {
  const char *text = od_format(&xl->ld, "%s\n%s", path, w->variant ? w->variant : "");
  for (int i = 0; i < w->sets && text; i++) text = od_format(&xl->ld, "%s\n%s", text, w->set[i]);
  return text;
}

// Loads a machine. Returns NULL after an error message, or if out of memory.
static od_machine *load(od_experiment_loader *xl, const char *path, const settings *w) {
  OD_OWNED(od_messages_free) od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  const od_load_options options = {.set = w->set, .set_count = w->sets, .variant = w->variant};
  if (!messages || od_machine_load(path, &options, &machine, messages) == OD_NO_MEMORY) xl->ld.no_memory = true;
  for (int i = 0; messages && i < od_messages_count(messages); i++) pass_on(xl, w, od_messages_get(messages, i));
  return machine;
}

// Checks that both machines have the same inputs, because the observer receives the inputs of the true machine.
static void check_inputs(od_experiment_loader *xl, const od_machine *a, int node) {
  const od_machine *b = xl->e->model;
  bool same = od_machine_input_count(a) == od_machine_input_count(b);
  for (int i = 0; same && i < od_machine_input_count(a); i++)
    same = strcmp(od_machine_input_name(a, i), od_machine_input_name(b, i)) == 0;
  if (!same)
    od_complain(
        &xl->ld, node,
        "'truth' and 'model' have different inputs; expected the same inputs, because the observer receives the "
        "inputs of the true machine");
}

void od_load_machines(od_experiment_loader *xl, const od_section *file) {
  od_loader *ld = &xl->ld;
  int node = od_section_need(ld, file, "machine");
  const char *path = od_read_text(ld, node, "machine", "the name of a machine file");
  settings truth = read_settings(xl, file, "truth", "the true machine", true);
  settings model = read_settings(xl, file, "model", "the model", false);
  if (xl->options->truth) {
    truth.variant = xl->options->truth;
    truth.variant_place = (od_place){.file = "--truth"};
  }
  static const char no_truth[] = "the data are not simulated, so there is no true machine; remove this option";
  if (!xl->simulated && xl->options->truth)
    od_messages_add(ld->messages, (od_place){.file = "--truth"}, "%s", no_truth);
  for (int i = 0; !xl->simulated && i < truth.sets; i++)
    if (truth.set_place[i].line == 0) od_messages_add(ld->messages, truth.set_place[i], "truth: %s", no_truth);
  xl->machine_node = node;
  xl->machine = path ? od_document_beside(ld, node, path) : NULL;
  if (!xl->machine || od_is_out_of_memory(xl)) return;
  if (xl->simulated) xl->e->truth = load(xl, xl->machine, &truth);
  xl->e->truth_text = text_of(xl, xl->machine, &truth);
  xl->e->model = load(xl, xl->machine, &model);
  if (xl->e->truth && xl->e->model) check_inputs(xl, xl->e->truth, node);
}

od_machine *od_load_machine_of(od_experiment_loader *xl, const od_section *section, const char *key) {
  settings w = read_settings(xl, section, key, "the true machine", false);
  od_machine *machine = !od_is_out_of_memory(xl) ? load(xl, xl->machine, &w) : NULL;
  if (machine) check_inputs(xl, machine, od_section_get(&xl->ld, section, key));
  return machine;
}
