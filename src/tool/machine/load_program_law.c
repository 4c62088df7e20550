#include "machine/load_program_law.h"

#include <math.h>
#include <string.h>

#include "document/ranges.h"
#include "document/suggest.h"
#include "machine/load_formula.h"
#include "machine/program_laws.h"

// Finds the law of a block; else reports an error and returns false.
static bool find_law(od_loader *ld, const od_loading_block *b, od_named_law *out) {
  int node = od_map_find(ld, b->map, "law");
  if (node < 0) {
    od_complain(ld, b->key, "%s needs 'law', the name of a law of the program", b->what);
    return false;
  }
  const char *name = od_read_text(ld, node, "law", "the name of a law of the program");
  if (name == NULL) return false;
  od_nearest nearest = od_nearest_to(name);
  if (od_program_law_find(name, out, &nearest)) return true;
  if (nearest.tried == 0)
    od_complain(
        ld, node,
        "%s has the law '%s' of another program; laws are registered by Python or C programs. Run the machine there, or "
        "write the law as a formula block",
        b->what, od_excerpt(ld, name));
  else
    od_complain(ld, node, "this program has no law '%s'%s", od_excerpt(ld, name),
                od_nearest_suggestion(&nearest, NULL).text);
  return false;
}

void od_declare_program_law(od_loader *ld, od_loading_block *b) {
  od_named_law *named = OD_TAKE(&ld->scratch, od_named_law, 1);
  if (named == NULL || !find_law(ld, b, named)) return;
  bool sampled = od_block_has(ld, b, "sample");
  if (sampled != (named->law->sample != NULL)) {
    od_complain(ld, b->key,
                sampled ? "%s has 'sample', but its law '%s' is continuous; remove 'sample'"
                        : "%s has no 'sample', but its law '%s' is sampled; add 'sample'",
                b->what, named->name);
    return;
  }
  b->named = named;
  b->law = named->law;
  if (sampled) b->sample = fmax(od_block_peek(ld, b, "sample", "s"), 1e-9);  // the reader reports errors
}

// Opens a map of names, of which the law has `count`.
static od_section names_of(od_loader *ld, const od_section *section, const char *label, const char *const *names,
                           int count) {
  const char **keys = OD_TAKE(&ld->scratch, const char *, count + 1);
  if (keys != NULL) memcpy(keys, names, (size_t)count * sizeof *keys);
  static const char *const none[] = {NULL};
  int node = count > 0 ? od_section_need(ld, section, label) : od_section_get(ld, section, label);
  return od_section_open_names(ld, node, section->node, od_path(ld, section->path, label),
                               od_format(ld, "'%s' of %s", label, section->what), keys != NULL ? keys : none);
}

static void connect_inputs(od_loader *ld, od_loading_block *b, const od_section *section, const od_named_law *named) {
  od_section inputs = names_of(ld, section, "inputs", named->input_name, named->law->inputs);
  for (int i = 0; i < named->law->inputs; i++) {
    int node = od_section_need(ld, &inputs, named->input_name[i]);
    if (node >= 0) od_block_connect(ld, node, named->input_name[i], b, i);
  }
}

// Reads the numbers in the order of the law. Returns the index of the first number.
static int read_numbers(od_loader *ld, const od_section *section, const od_named_law *named) {
  int first = ld->document->numbers.count;
  if (named->law->numbers == 0 && od_section_get(ld, section, "parameters") < 0) return first;
  od_section numbers = names_of(ld, section, "parameters", named->number_name, named->law->numbers);
  for (int i = 0; i < named->law->numbers; i++) {
    const char *name = named->number_name[i];
    int node = od_section_need(ld, &numbers, name);
    if (node < 0) continue;
    const char *unit = od_formula_number_unit(ld, node);
    const od_field field = {name, unit != NULL ? unit : "1", OD_ANY, NAN};
    od_read_number(ld, node, od_path(ld, numbers.path, name), &field, od_place_of(ld, node), OD_IN_MODEL);
  }
  return first;
}

void od_load_program_law(od_loader *ld, od_loading_block *b) {
  static const char *const keys[] = {"type", "unit", "law", "inputs", "parameters", "sample", NULL};
  const od_named_law *named = b->named;
  od_section section = od_section_open_names(ld, b->map, b->key, b->path, b->what, keys);
  if (b->index < 0) return;
  connect_inputs(ld, b, &section, named);
  int first = read_numbers(ld, &section, named);
  if (named->law->numbers > 0 && ld->document->numbers.count == first + named->law->numbers)
    od_build_block_numbers(ld->draft->build, b->index, od_number_theta(ld, first));
  static const od_limits sample_limits = {1e-9, 1e6, 1e-6, 100};
  const od_field sample = {"sample", "s", OD_POSITIVE, NAN, &sample_limits};
  if (named->law->sample) od_read_fields(ld, &section, &sample, 1, OD_IN_LOADER);
  for (int i = 0; i < od_build_block_state_count(ld->draft->build, b->index); i++) {
    bool is_held = i >= named->law->states;
    b->state_unit[i] = is_held ? b->unit : named->law->state_unit ? named->law->state_unit[i] : "1";
  }
  if (named->remark) od_messages_say(ld->messages, true, od_place_of(ld, b->key), "%s %s", b->what, named->remark);
}
