// Loads a machine file: reads, parses and checks the file, adds each section to the builder, then compiles the model.
//
// Sections are read in the order of their dependences, not in the order of the file. Messages are sorted at the end. The model is
// built only if there are no errors.
#include <string.h>

#include "document/constants.h"
#include "document/document.h"
#include "document/file_kind.h"
#include "document/ranges.h"
#include "machine/machine_image.h"
#include "machine/machine_loader.h"
#include "machine/sections.h"
#include "elements/elements.h"
#include "machine/steady.h"
#include "model/builder.h"
#include "memory/owned.h"

// --- The sections -------------------------------------------------------------------------------------------------

static const od_key own_keys[] = {
    {"machine", OD_TEXT, NULL, "title of the machine", .otherwise = "the name of the file"},
    {"include", OD_TEXTS, NULL, "files over which this file is merged; paths are relative to this file"},
    {"gravity", OD_NUMBERS, "m/s2", "acceleration of gravity", .limits = OD_RANGE_ACCELERATION, .otherwise = "none"},
    {"ground", OD_SECTION, NULL, "points of the ground", .inside = &od_ground_section},
    {"oil", OD_SECTION, NULL, "density, compressibility and viscosity of the oil; required with hydraulic elements",
     .inside = &od_oil_section},
    {"run", OD_SECTION, NULL, "default settings of `oleodyn simulate`", .inside = &od_run_section},
    {"look", OD_SECTION, NULL, "shapes and colors for pictures; without effect on the model",
     .inside = &od_look_section},
    {"set", OD_NUMBER_MAP, NULL, "new values of numbers of the machine, by path, as with --set"},
    {"requirements", OD_SECTION_MAP, NULL, "requirements that `oleodyn simulate` checks",
     .inside = &od_requirement_section},
    {"templates", OD_SECTION_MAP, NULL, "parts of a machine that are written once and used several times",
     .inside = &od_template_section},
    {"variants", OD_SECTION_MAP, NULL, "partial files that are merged over this file", .inside = &od_machine_section},
};

// Sections that a template may also have.
static const od_key part_keys[] = {
    {"constants", OD_NUMBER_MAP, NULL, "named numbers for expressions"},
    {"instances", OD_SECTION_MAP, "instance", "uses of templates"},
    {"bodies", OD_SECTION_MAP, NULL, "bodies of the mechanism", .inside = &od_body_section},
    {"joints", OD_SECTION_MAP, NULL, "joints between points of bodies", .inside = &od_joint_section},
    {"rods", OD_SECTION_MAP, NULL, "massless rods of fixed length, which close loops", .inside = &od_rod_section},
    {"gears", OD_SECTION_MAP, NULL, "gears, racks and pinions: fixed ratios between the coordinates of two joints",
     .inside = &od_gear_section},
    {"contacts", OD_SECTION_MAP, NULL, "contacts of points with planes of the ground", .inside = &od_contact_section},
    {"inputs", OD_SECTION_MAP, NULL, "signals over time", .inside = &od_signal_section},
    {"blocks", OD_SECTION_MAP, "block", "blocks that compute signals from signals"},
    {"forces", OD_SECTION_MAP, NULL, "forces at points", .inside = &od_force_section},
    {"torques", OD_SECTION_MAP, NULL, "torques in joints or on bodies", .inside = &od_torque_section},
    {"volumes", OD_SECTION_MAP, NULL, "oil volumes; chambers of cylinders add their own volumes",
     .inside = &od_volume_section},
    {"junctions", OD_SECTION, NULL, "names of nodes without a volume: a list, or a map without values"},
    {"tanks", OD_SECTION_MAP, NULL, "nodes with a constant pressure", .inside = &od_tank_section},
    {"sources", OD_SECTION_MAP, NULL, "nodes with a given pressure: a number, an input, or a factor and an input",
     .inside = &od_source_section},
    {"pressure_differences", OD_SECTION_MAP, NULL, "gauges of the pressure difference between two nodes",
     .inside = &od_difference_section},
    {"initial", OD_NUMBERS_OR_WORD, "steady",
     "initial state: 'P.pressure: 2 MPa', 'A.angle: about 30 deg', 'balance', 'others: steady'"},
};
enum { PART_KEYS = sizeof part_keys / sizeof *part_keys };

// Finds section i of `part_keys` and of the element classes. Returns false if there are no more sections.
static bool part_key(int i, od_key *key) {
  if (i < PART_KEYS) *key = part_keys[i];
  if (i < PART_KEYS) return true;
  i -= PART_KEYS;
  for (int k = 0; k < od_element_class_count(); k++) {
    const od_element_description *c = od_element_description_at(k);
    if (!c->section || i-- > 0) continue;
    *key = (od_key){c->section, OD_SECTION_MAP, c->section, c->summary};
    key->inside = od_component_section(c);
    return true;
  }
  return false;
}
const od_section_class od_machine_section = {"machine", "a machine", OD_KEYS(own_keys), part_key};

static const od_key template_keys[] = {
    {"parameters", OD_SECTION, NULL,
     "names of parameters with their defaults; a parameter without a default is required in every instance"}};
const od_section_class od_template_section = {"template", "a part of a machine, with parameters",
                                              OD_KEYS(template_keys), part_key};

void od_remember(od_loader *ld, od_culprit_kind kind, int index, int node) {
  od_culprit *list = od_arena_extend(&ld->scratch, ld->draft->culprit, ld->draft->culprits, sizeof *list);
  if (list == NULL) return;
  ld->draft->culprit = list;
  ld->draft->culprit[ld->draft->culprits++] = (od_culprit){.kind = kind, .index = index, .node = node};
}

// Loads the title. Without a title the machine has the name of its file: "cranes/big.yaml" is "big".
static void load_title(od_loader *ld, int node) {
  const char *title = od_read_text(ld, node, "machine", "a title");
  const char *slash = strrchr(ld->document->file, '/'), *name = slash != NULL ? slash + 1 : ld->document->file;
  const char *dot = strrchr(name, '.');
  if (title == NULL) title = od_copy(ld, name, dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name));
  ld->draft->machine->title = title;
  od_build_title(ld->draft->build, title);
}

// Returns whether a class is loaded late. Components with oil are loaded after the volumes. Components that may follow
// a signal are loaded after inputs and blocks.
static bool comes_late(const od_element_description *c) {
  bool listens = c->signal_key != NULL || c->formula_key != NULL;
  for (int i = 0; i < c->field_count; i++) listens = listens || c->fields[i].follows_signal;
  return c->equations->needs_oil || listens;
}

// late true: loads the components of the classes that are loaded late; false: loads the components of all other classes.
static void load_components(od_loader *ld, const od_section *file, bool late) {
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_description *c = od_element_description_at(i);
    if (c->section && comes_late(c) == late) od_load_components(ld, i, od_section_get(ld, file, c->section));
  }
}

// Declares and loads the elements of a section. Returns the number of elements, including elements with errors.
static int load_elements(od_loader *ld, const od_section *file, const char *name, od_element_kind kind,
                         od_element_loader *load) {
  int count = 0;
  for (int key = od_first(ld, od_section_get(ld, file, name), name); key >= 0; key = od_next(ld, key), count++) {
    int element = od_names_declare(ld, key, kind);
    if (element >= 0) load(ld, key, element);
  }
  return count;
}

static void load_bodies(od_loader *ld, const od_section *file) {
  // A machine may consist of a circuit or of blocks only, without bodies.
  bool alone = od_section_get(ld, file, "volumes") >= 0 || od_section_get(ld, file, "blocks") >= 0;
  int node = alone ? od_section_get(ld, file, "bodies") : od_section_need(ld, file, "bodies");
  int count = load_elements(ld, file, "bodies", OD_ELEMENT_BODY, od_load_body);
  const bool is_empty = count == 0 && (od_is_map(ld, node) || od_is_null(ld, node));
  ld->draft->names.lacks_bodies = count == 0 && !(alone && is_empty);
  if (!alone && is_empty && node >= 0) od_complain(ld, node, "there are no bodies; add at least one body");
}

static void load_circuit(od_loader *ld, const od_section *file) {
  static const struct {
    const char *name;
    od_element_kind kind;
    od_element_loader *load;
  } nodes[] = {{"volumes", OD_ELEMENT_VOLUME, od_load_volume},
               {"tanks", OD_ELEMENT_TANK, od_load_tank},
               {"sources", OD_ELEMENT_SOURCE, od_load_source}};
  ld->draft->loose_ends = file->has_unknown;  // an unknown section may be a misspelled section that connects a volume
  od_load_oil(ld, od_section_get(ld, file, "oil"));
  for (int i = 0; i < 3; i++) {
    int node = od_section_get(ld, file, nodes[i].name);
    if (!od_is_map(ld, node) && !od_is_null(ld, node)) ld->draft->names.lacks_nodes = true;
    load_elements(ld, file, nodes[i].name, nodes[i].kind, nodes[i].load);
  }
  od_load_junctions(ld, od_section_get(ld, file, "junctions"));
  load_components(ld, file, true);
  load_elements(ld, file, "pressure_differences", OD_ELEMENT_DIFFERENCE, od_load_difference);
  od_check_volumes(ld);
  if (od_section_get(ld, file, "oil") < 0 && !od_section_means(file, "oil")) od_check_oil(ld);
}

static void load_sections(od_loader *ld, const od_section *file) {
  od_load_constants(ld, od_section_get(ld, file, "constants"), ld->draft->templates.parameters);
  load_title(ld, od_section_get(ld, file, "machine"));
  od_load_gravity(ld, od_section_get(ld, file, "gravity"));
  od_load_ground(ld, od_section_get(ld, file, "ground"));
  load_bodies(ld, file);
  od_load_joints(ld, od_section_get(ld, file, "joints"));
  od_load_saved_state(ld, od_section_get(ld, file, "initial"));
  load_elements(ld, file, "rods", OD_ELEMENT_ROD, od_load_rod);
  load_elements(ld, file, "gears", OD_ELEMENT_GEAR, od_load_gear);
  load_components(ld, file, false);
  od_load_inputs(ld, od_section_get(ld, file, "inputs"));
  od_declare_blocks(ld, od_section_get(ld, file, "blocks"));
  od_load_joint_frictions(ld);
  load_elements(ld, file, "forces", OD_ELEMENT_FORCE, od_load_force);
  load_elements(ld, file, "torques", OD_ELEMENT_TORQUE, od_load_torque);
  load_elements(ld, file, "contacts", OD_ELEMENT_CONTACT, od_load_contact);
  load_circuit(ld, file);
  od_load_blocks(ld);
  od_load_initial(ld, od_section_get(ld, file, "initial"));
  od_load_look(ld, od_section_get(ld, file, "look"));
  od_load_run(ld, od_section_get(ld, file, "run"));
  od_number_constants(ld);
}

// Reports the errors of the builder at the places of their elements.
static void report_problems(od_loader *ld, const od_error *error) {
  int count = od_build_problem_count(ld->draft->build);
  for (int i = 0; i < count; i++) {
    od_problem problem = od_build_problem(ld->draft->build, i);
    const od_culprit *c = ld->draft->culprit, *end = c + ld->draft->culprits;
    while (c < end && (c->kind != problem.kind || c->index != problem.index)) c++;
    od_complain(ld, c < end ? c->node : ld->tree.root, "%s", problem.text);
  }
  if (count == 0) od_complain(ld, ld->tree.root, "%s", error->text);
}

// Changes the messages from `first` on, which are problems of the initial state, to warnings. Returns OD_OK, or the status if the
// machine needs an initial state.
static od_status do_without_initial_state(od_loader *ld, int first, od_status status) {
  od_machine *machine = ld->draft->machine;
  if (status == OD_NO_MEMORY || !ld->draft->may_lack_initial_state || machine->model == NULL) return status;
  if (od_messages_count(ld->messages) <= first) return status;
  machine->problem = od_arena_text(&ld->document->arena, od_messages_get(ld->messages, first)->text);
  od_messages_soften(ld->messages, first);
  return machine->problem ? OD_OK : OD_NO_MEMORY;
}

// Builds the model with its initial state. Fails with OD_BAD_INPUT after reporting errors, and with OD_NO_MEMORY.
static od_status assemble_model(od_loader *ld) {
  od_error error = {0};
  od_machine *machine = ld->draft->machine;
  od_build *build = ld->draft->build;
  int first = od_messages_count(ld->messages);
  build->keeps_unassembled = ld->draft->may_lack_initial_state;
  od_status status = od_build_finish(build, &machine->model, &error);
  if (status == OD_OK && ld->draft->steady >= 0)
    status = od_load_steady(ld, ld->draft->steady);
  else if (status != OD_OK && status != OD_NO_MEMORY)
    report_problems(ld, &error);
  if (status == OD_OK) return OD_OK;
  if (machine->model == NULL) {
    machine->model = build->unassembled;
    build->unassembled = NULL;
  }
  return do_without_initial_state(ld, first, status == OD_NO_MEMORY ? status : OD_BAD_INPUT);
}

static od_status build_model(od_loader *ld, const od_section *file) {
  od_status status = assemble_model(ld);
  if (status != OD_OK) return status;
  if (ld->draft->machine->problem == NULL) od_load_balanced(ld);
  od_load_run_outputs(ld, od_section_get(ld, file, "run"));
  od_load_requirements(ld, od_section_get(ld, file, "requirements"));
  od_number_constants(ld);
  return od_has_errors(ld) ? OD_BAD_INPUT : OD_OK;
}

// Returns whether the file has errors. If so, a number that --set refers to may be missing.
static bool has_file_errors(const od_loader *ld) {
  for (int i = ld->first_message; i < od_messages_count(ld->messages); i++) {
    const od_message *m = od_messages_get(ld->messages, i);
    if (!m->is_warning && !od_message_is_about_set(m)) return true;
  }
  return false;
}

// Stores the values in a section 'set' as replacements of numbers, like --set.
static void load_set(od_loader *ld, int node) {
  for (int key = od_first(ld, node, "new values of numbers, by path"); key >= 0; key = od_next(ld, key)) {
    int value = od_value(ld, key);
    const char *text = od_read_text(ld, value, od_text_of(ld, key), "a number or a quantity");
    if (text != NULL)
      od_numbers_override_one(&ld->document->numbers, &ld->document->arena, od_text_of(ld, key), text,
                              od_place_of(ld, value));
  }
}

// Loads the tree of a machine file: variant and replaced numbers, templates, sections, the model, and then the requirements.
// Fails with OD_BAD_INPUT after reporting errors, and with OD_NO_MEMORY.
static od_status load_tree(void *loader) {
  od_loader *ld = loader;
  od_names_start(ld);
  if (od_lacks_memory(ld)) return OD_NO_MEMORY;
  if (od_is_null(ld, ld->tree.root)) {
    od_complain(ld, -1, "the file is empty; a machine needs 'bodies' and 'joints', or 'volumes', or 'blocks'");
    return OD_BAD_INPUT;
  }
  if (!od_is_map(ld, ld->tree.root)) {
    od_complain(ld, ld->tree.root, "found %s, expected a map with sections like 'bodies' and 'joints'",
                od_describe(ld, ld->tree.root));
    return OD_BAD_INPUT;
  }
  if (od_is_other_kind(ld, OD_FILE_MACHINE)) return OD_BAD_INPUT;
  int over = od_variant_find(ld, &od_machine_section, ld->tree.root, ld->draft->variant);
  // Numbers set by a variant override numbers set by the file.
  if (over >= 0) load_set(ld, od_map_find(ld, over, "set"));
  load_set(ld, od_map_find(ld, ld->tree.root, "set"));
  int initial = over >= 0 ? od_map_find(ld, over, "initial") : -1;
  if (initial < 0) initial = od_map_find(ld, ld->tree.root, "initial");
  if (od_is_text(ld, initial)) od_load_steady_word(ld, initial, true);
  int map = od_templates_expand(ld, ld->tree.root, over);
  if (map < 0) return od_lacks_memory(ld) ? OD_NO_MEMORY : OD_BAD_INPUT;
  od_section file = od_section_open(ld, map, ld->tree.root, "", "a machine file", &od_machine_section);
  file.what = "a machine";
  load_sections(ld, &file);
  // Numbers of requirements are read after the model is built.
  bool later = od_section_get(ld, &file, "requirements") >= 0 && !od_has_errors(ld);
  if (!later && !has_file_errors(ld)) od_numbers_report_unused(&ld->document->numbers, ld->messages);
  if (od_lacks_memory(ld)) return OD_NO_MEMORY;
  od_status status = od_has_errors(ld) ? OD_BAD_INPUT : build_model(ld, &file);
  if (od_lacks_memory(ld)) return OD_NO_MEMORY;
  if (!later) return status;
  if (!has_file_errors(ld)) od_numbers_report_unused(&ld->document->numbers, ld->messages);
  return status == OD_OK && od_has_errors(ld) ? OD_BAD_INPUT : status;
}

static int add_parameter(od_loader *ld, const char *path, double value, const char *unit) {
  return od_build_number(ld->draft->build, path, value, unit);
}

// Returns a copy of the options whose texts belong to the arena.
static od_load_options copy_options(od_arena *arena, const od_load_options *options) {
  const char **set = OD_TAKE(arena, const char *, options->set_count);
  for (int i = 0; set != NULL && i < options->set_count; i++) set[i] = od_arena_text(arena, options->set[i]);
  return (od_load_options){.set = set,
                           .set_count = set != NULL ? options->set_count : 0,
                           .spatial = options->spatial,
                           .variant = options->variant != NULL ? od_arena_text(arena, options->variant) : NULL};
}

// Loads the file into a new machine, which the caller frees, also after a failure. If an allocation fails before the file is read,
// returns OD_NO_MEMORY and no machine.
static od_status load(const char *path, const od_load_options *options, od_machine **machine, od_messages *messages) {
  od_draft draft = {.variant = options->variant,
                    .may_lack_initial_state = options->may_lack_initial_state,
                    .templates.parameters = -1,
                    .saved = -1,
                    .steady = -1};
  od_loader ld = od_document_start(path, options->content, messages);
  if (ld.document == NULL) return OD_NO_MEMORY;
  od_machine *m = OD_TAKE(&ld.document->arena, od_machine, 1);
  if (m == NULL) {
    od_document_free(ld.document);
    return OD_NO_MEMORY;
  }
  *machine = m;
  m->document = ld.document;
  m->loaded = copy_options(&ld.document->arena, options);
  m->signals = od_signals_new();
  draft.machine = m;
  draft.build = od_build_new();
  ld.draft = &draft;
  ld.add_parameter = add_parameter;
  od_status status = OD_NO_MEMORY;
  if (draft.build != NULL && m->signals != NULL) {
    od_build_spatial(draft.build, options->spatial);
    status = od_document_load(&ld, options->set, options->set_count, load_tree, &ld);
  }
  od_build_free(draft.build);
  return status;
}

od_status od_machine_load(const char *path, const od_load_options *options, od_machine **out, od_messages *messages) {
  static const od_load_options none = {0};
  OD_OWNED(od_messages_free) od_messages *own = messages == NULL ? od_messages_new() : NULL;
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  od_messages *list = messages != NULL ? messages : own;
  *out = NULL;
  if (list == NULL) return OD_NO_MEMORY;
  int first = od_messages_count(list);
  if (options == NULL) options = &none;
  bool is_image = options->content.text == NULL && od_machine_is_image(path);
  od_status status =
      is_image ? od_machine_load_image(path, options, load, &machine, list) : load(path, options, &machine, list);
  if (status == OD_NO_MEMORY) od_messages_add(list, (od_place){.file = path}, "out of memory");
  od_messages_sort(list, first);
  if (status == OD_OK) *out = OD_GIVE(machine);
  return status;
}
