#include "machine/load_fmu.h"

#include <math.h>
#include <string.h>

#include "document/constants.h"
#include "document/document.h"
#include "document/ranges.h"
#include "document/suggest.h"
#include "fmu/fmu_import.h"
#include "machine/load_blocks.h"
#include "machine/sections.h"

static const od_key keys[] = {
    {"type", OD_TEXT, NULL, "`fmu`", .fallback = OD_REQUIRED},
    {"file", OD_TEXT, NULL, "path of the FMU (FMI 2.0 or 3.0), relative to the machine file", .fallback = OD_REQUIRED},
    {"interface", OD_CHOICE, "model-exchange|co-simulation",
     "interface of the FMU: its states become states of the "
     "machine, or the FMU takes its own steps, one for each `sample`",
     .otherwise = "model-exchange if the FMU has this interface and `sample` is not given"},
    {"sample", OD_NUMBER, "s", "co-simulation: step of the FMU", OD_POSITIVE, 0, OD_LIMITS(1e-9, 1e6, 1e-6, 100),
     "the step size in the FMU"},
    {"inputs", OD_SECTION, NULL,
     "inputs of the FMU, each with an input, a block or a quantity; others keep their start "
     "values"},
    {"outputs", OD_TEXTS, NULL, "variables of the FMU that become outputs of the block", .otherwise = "all outputs"},
    {"parameters", OD_NUMBER_MAP, NULL,
     "values of parameters of the FMU; each is a number of the machine, such as "
     "`block.parameters.mass`"},
    {"units", OD_SECTION, NULL, "units of variables that have no unit in the FMU"},
    {"time_limit", OD_NUMBER, "s", "longest time of one call of the FMU; a call that takes longer ends with an error",
     OD_POSITIVE, 5, OD_LIMITS(0.01, 86400, 0.1, 3600)},
};
const od_section_class od_fmu_section = {"fmu block", "a functional mock-up unit as a block", OD_KEYS(keys)};

// The FMU of a block while the block is read.
struct od_loading_fmu {
  od_fmu_import *import;
  od_foreign_law *law;
  od_section section;
  const od_fmu_description *d;
  const char *file;
  int file_node;
  od_fmu_wiring w;
  const char *input_unit[OD_MOST_BLOCK_INPUTS];
  int input_node[OD_MOST_BLOCK_INPUTS];
  int first_number;
};
typedef struct od_loading_fmu fmu_reader;

// --- Variables ----------------------------------------------------------------------------------------------------

// Returns the node of the unit that the key 'units' gives for a variable; -1: not given.
static int unit_node(od_loader *ld, const fmu_reader *r, const char *name) {
  return od_map_find(ld, od_section_get(ld, &r->section, "units"), name);
}

// Finds the conversion of a variable to SI units. Returns the SI unit. If the unit is unknown, reports this and returns "1".
static const char *find_unit(od_loader *ld, const fmu_reader *r, int variable, od_fmu_signal *signal) {
  const od_fmu_variable *v = &r->d->variable[variable];
  const od_fmu_unit *u = v->unit >= 0 ? &r->d->unit[v->unit] : NULL;
  double power[OD_UNIT_BASES] = {0};
  od_conversion c;
  int node = unit_node(ld, r, v->name);
  *signal = (od_fmu_signal){variable, 1, 0};
  if (u && u->has_base) {
    static const char *const bases[OD_FMU_BASES] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
    for (int i = 0; i < OD_UNIT_BASES; i++)
      for (int k = 0; k < OD_FMU_BASES; k++)
        if (strcmp(od_unit_base(i), bases[k]) == 0) power[i] = u->exponent[k];
    signal->factor = u->factor, signal->offset = u->offset;
    return od_unit_of_powers(ld, power);
  }
  const char *name = u ? u->name : node >= 0 && od_is_text(ld, node) ? od_text_of(ld, node) : NULL;
  if (!name || strcmp(name, "1") == 0 || strcmp(name, "-") == 0) return "1";
  if (od_units_base(ld->units, name, &c, power)) {
    signal->factor = c.factor / c.divisor, signal->offset = c.offset;
    return od_unit_of_powers(ld, power);
  }
  if (u)
    od_messages_say(
        ld->messages, true, od_place_of(ld, r->file_node),
        "the FMU does not define the unit '%s' of '%s'; the values of this variable are used as plain numbers", name,
        v->name);
  else
    od_complain(ld, node, "unknown unit '%s'", od_excerpt(ld, name));
  return "1";
}

static bool fits(const od_fmu_variable *v, unsigned causalities) {
  return v->type != OD_FMU_OTHER && (causalities >> v->causality & 1);
}

// Returns the variable with this name and one of these causalities (bits). Otherwise reports an error and returns -1. what: a
// noun for messages, such as "input".
static int find_variable(od_loader *ld, const fmu_reader *r, int node, const char *name, unsigned causalities,
                         const char *what) {
  int found = od_fmu_find_variable(r->d, name);
  if (found >= 0 && fits(&r->d->variable[found], causalities)) return found;
  if (found >= 0) {
    const od_fmu_variable *v = &r->d->variable[found];
    if (v->type == OD_FMU_OTHER)
      od_complain(ld, node,
                  "the variable '%s' of the FMU is a text, binary data, an array or a clock; expected a scalar number",
                  name);
    else
      od_complain(ld, node, "the variable '%s' of the FMU has the causality '%s'; expected %s", name,
                  od_fmu_causality_word(v->causality), what);
    return -1;
  }
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < r->d->variables; i++)
    if (fits(&r->d->variable[i], causalities)) od_nearest_try(&nearest, r->d->variable[i].name);
  od_complain(ld, node, "the FMU has no %s '%s'%s", what, od_excerpt(ld, name),
              od_nearest_suggestion(&nearest, nearest.tried > 0 ? NULL : "the FMU has no variable of this kind").text);
  return -1;
}

#define BIT(causality) (1u << (causality))

static void read_inputs(od_loader *ld, fmu_reader *r, od_fmu_signal *input) {
  int node = od_section_get(ld, &r->section, "inputs"), *count = &r->w.inputs;
  for (int key = od_first(ld, node, "inputs"); key >= 0; key = od_next(ld, key)) {
    const char *name = od_text_of(ld, key);
    int found = find_variable(ld, r, key, name, BIT(OD_FMU_INPUT), "input");
    if (found < 0) continue;
    const od_fmu_variable *v = &r->d->variable[found];
    if (r->w.interface == OD_FMU_MODEL_EXCHANGE && (v->type != OD_FMU_REAL || v->variability != OD_FMU_CONTINUOUS)) {
      od_complain(
          ld, key,
          "the input '%s' is not a continuous variable of the type Float64 (FMI 2: Real), which model exchange needs; use co-simulation",
          name);
    } else if (*count == OD_MOST_BLOCK_INPUTS) {
      od_complain(ld, key, "'%s' is input %d; a block has at most %d inputs", name, *count + 1, OD_MOST_BLOCK_INPUTS);
      return;
    } else {
      r->input_unit[*count] = find_unit(ld, r, found, &input[*count]);
      r->input_node[(*count)++] = od_value(ld, key);
    }
  }
}

// Adds an output of the block, with its name and unit in the lists of the law.
static void add_output(od_loader *ld, fmu_reader *r, int node, int variable, od_fmu_signal *output, const char **name,
                       const char **unit) {
  int *count = &r->w.outputs;
  if (*count == OD_MOST_FOREIGN_OUTPUTS) {
    od_complain(ld, node, "the block has more than %d outputs; list the necessary outputs under 'outputs'",
                OD_MOST_FOREIGN_OUTPUTS);
    r->w.outputs++;
  }
  if (*count > OD_MOST_FOREIGN_OUTPUTS) return;
  unit[*count] = find_unit(ld, r, variable, &output[*count]);
  name[(*count)++] = od_format(ld, "%s", r->d->variable[variable].name);
}

static void read_outputs(od_loader *ld, fmu_reader *r, od_fmu_signal *output, const char **name, const char **unit) {
  unsigned readable = BIT(OD_FMU_OUTPUT) | BIT(OD_FMU_LOCAL) | BIT(OD_FMU_CALCULATED);
  int node = od_section_get(ld, &r->section, "outputs");
  for (int i = 0; i < r->d->variables && node < 0; i++)
    if (fits(&r->d->variable[i], BIT(OD_FMU_OUTPUT))) add_output(ld, r, r->file_node, i, output, name, unit);
  if (node >= 0 && od_is_text(ld, node)) {
    int found = find_variable(ld, r, node, od_text_of(ld, node), readable, "output");
    if (found >= 0) add_output(ld, r, node, found, output, name, unit);
  } else if (node >= 0) {
    for (int at = od_list_first(ld, node); at >= 0; at = ld->tree.node[at].next) {
      const char *text = od_read_text(ld, od_entry(ld, at), "outputs", "a list of variables of the FMU");
      int found = text ? find_variable(ld, r, od_entry(ld, at), text, readable, "output") : -1;
      if (found >= 0) add_output(ld, r, od_entry(ld, at), found, output, name, unit);
    }
    if (!od_is_list(ld, node))
      od_complain(ld, node, "found %s; 'outputs' must be a list of variables of the FMU", od_describe(ld, node));
  }
  if (r->w.outputs == 0 && !od_has_errors(ld))
    od_complain(ld, r->file_node, "the FMU has no outputs; list variables under 'outputs'");
}

static void read_parameters(od_loader *ld, fmu_reader *r, od_fmu_signal *parameter, double *value) {
  int node = od_section_get(ld, &r->section, "parameters"), *count = &r->w.parameters;
  const char *path = od_path(ld, r->section.path, "parameters");
  r->first_number = ld->document->numbers.count;
  for (int key = od_first(ld, node, "parameters"); key >= 0; key = od_next(ld, key)) {
    const char *name = od_text_of(ld, key);
    int found = find_variable(ld, r, key, name, BIT(OD_FMU_PARAMETER), "parameter"), at = od_value(ld, key);
    if (*count == OD_FMU_MOST_PARAMETERS)
      od_complain(ld, key,
                  "the block has more than %d parameters of the FMU, the largest allowed number; give fewer parameters",
                  OD_FMU_MOST_PARAMETERS);
    if (found < 0 || *count == OD_FMU_MOST_PARAMETERS) continue;
    const od_field field = {name, find_unit(ld, r, found, &parameter[*count]), OD_ANY, NAN};
    int number = od_read_number(ld, at, od_path(ld, path, name), &field, od_place_of(ld, at), OD_IN_MODEL);
    value[(*count)++] = number >= 0 ? od_number_value(ld, number) : 0;
  }
}

// --- The interface ------------------------------------------------------------------------------------------------

// Chooses the interface and the step. Returns false after reporting an error.
static bool choose_interface(od_loader *ld, fmu_reader *r) {
  static const char *const words[] = {"model-exchange", "co-simulation", NULL};
  int node = od_section_get(ld, &r->section, "interface");
  bool sampled = od_is_given(ld, &r->section, "sample");
  const od_fmu_ability *a = r->d->ability;
  int chosen = node >= 0 ? od_read_choice(ld, node, "interface", words) : -1;
  if (node >= 0 && chosen < 0) return false;
  if (node < 0) chosen = a[OD_FMU_MODEL_EXCHANGE].identifier && !sampled ? OD_FMU_MODEL_EXCHANGE : OD_FMU_CO_SIMULATION;
  r->w.interface = (od_fmu_interface)chosen;
  if (!a[chosen].identifier) {
    od_complain(ld, node >= 0 ? node : r->file_node, "the FMU has no %s, only %s; choose the other 'interface'",
                words[chosen], words[!chosen]);
    return false;
  }
  if (a[chosen].needs_tool)
    od_messages_say(
        ld->messages, true, od_place_of(ld, r->file_node),
        "the FMU needs the program that made it (needsExecutionTool); export an FMU that runs without this program");
  if (chosen == OD_FMU_MODEL_EXCHANGE) {
    if (sampled)
      od_complain(ld, od_section_get(ld, &r->section, "sample"), "model exchange has no 'sample'; use co-simulation");
    return !sampled;
  }
  r->w.sample = sampled ? od_key_value(ld, &r->section, "sample") : r->d->step;
  if (!sampled && !(r->d->step > 0))
    od_complain(ld, r->section.node, "%s needs 'sample', the step of the co-simulation; the FMU has no step size",
                r->section.what);
  return r->w.sample > 0;
}

static bool check_states(od_loader *ld, const fmu_reader *r) {
  if (r->w.interface == OD_FMU_CO_SIMULATION) return true;
  int most = OD_MOST_FOREIGN_STATES - 1;
  if (r->d->states > most)
    od_complain(ld, r->file_node, "the FMU has %d states; a block has at most %d", r->d->states, most);
  for (int i = 0; i < r->d->states && r->d->states <= most; i++)
    if (r->d->variable[r->d->state[i]].type != OD_FMU_REAL) {
      od_complain(
          ld, r->file_node,
          "the state '%s' of the FMU is not a scalar of the type Float64 (FMI 2: Real); states of other types are not supported",
          r->d->variable[r->d->state[i]].name);
      return false;
    }
  return r->d->states <= most;
}

// Returns whether an output may depend directly on a connected input.
static bool depends_directly(const fmu_reader *r) {
  for (int i = 0; i < r->w.outputs && r->w.inputs > 0; i++) {
    const od_fmu_variable *v = &r->d->variable[r->w.output[i].variable];
    if (v->depends_directly || v->causality != OD_FMU_OUTPUT) return true;
  }
  return false;
}

// Sets names and units of the law. States have the names of the FMU after "state.". Tokens are no outputs: they differ from run to
// run.
static void name_law(od_loader *ld, od_loading_block *b, fmu_reader *r, const char **state_unit) {
  od_foreign_law *law = r->law;
  const char **state = OD_TAKE(&ld->document->arena, const char *, law->states + 1);
  const char **unit = OD_TAKE(&ld->document->arena, const char *, law->states + 1);
  for (int i = 0; state && unit && i < law->states; i++) {
    bool is_token = i >= law->states - law->tokens;
    state[i] = is_token ? NULL : od_format(ld, "state.%s", r->d->variable[r->d->state[i]].name);
    unit[i] = is_token ? "1" : state_unit[i];
  }
  law->state_name = state;
  law->state_unit = unit;
  for (int i = 0; i < law->states && unit; i++) b->state_unit[i] = unit[i];
  for (int i = 0; i < law->outputs && r->w.sample > 0; i++) b->state_unit[law->states + i] = law->output_unit[i];
}

static void start(od_loader *ld, od_loading_block *b, fmu_reader *r, const char **name, const char **unit) {
  od_fmu_signal *state = OD_TAKE(&ld->document->arena, od_fmu_signal, OD_MOST_FOREIGN_STATES);
  const char *state_unit[OD_MOST_FOREIGN_STATES];
  od_error err = {0};
  bool exchange = r->w.interface == OD_FMU_MODEL_EXCHANGE;
  if (!state) return;
  for (int i = 0; exchange && i < r->d->states; i++) state_unit[i] = find_unit(ld, r, r->d->state[i], &state[i]);
  r->w.state = state;
  if (r->w.sample > 0 && r->w.outputs + 1 > OD_MOST_FOREIGN_STATES) return;
  r->law = od_fmu_import_law(r->import, &r->w, &err);
  if (!r->law) {
    od_complain(ld, r->file_node, "the FMU '%s' %s", r->file, err.text);
    return;
  }
  if (r->w.outputs == 1) name[0] = "";
  r->law->output_name = name;
  r->law->output_unit = unit;
  r->law->holds = !depends_directly(r);
  name_law(ld, b, r, state_unit);
  if (exchange && r->d->states > 0 && !od_fmu_import_has_derivatives(r->import))
    od_messages_say(
        ld->messages, true, od_place_of(ld, r->file_node),
        "the FMU provides no directional derivatives; differences replace them, with a relative accuracy of "
        "about 1e-9");
  b->law = r->law;
  b->unit = unit[0];
  b->sample = r->w.sample;
}

// Stores the import in the machine, which closes the import. Returns false if an allocation fails.
static bool keep_import(od_loader *ld, od_fmu_import *import) {
  od_machine *m = ld->draft->machine;
  od_fmu_import **list = od_arena_extend(&ld->document->arena, m->fmu, m->fmus, sizeof *list);
  if (!list) {
    od_fmu_import_close(import);
    ld->no_memory = true;
    return false;
  }
  m->fmu = list;
  m->fmu[m->fmus++] = import;
  return true;
}

void od_declare_fmu(od_loader *ld, od_loading_block *b) {
  od_arena *arena = &ld->document->arena;
  fmu_reader *r = OD_TAKE(arena, fmu_reader, 1);
  od_fmu_signal *input = OD_TAKE(arena, od_fmu_signal, OD_MOST_BLOCK_INPUTS);
  od_fmu_signal *output = OD_TAKE(arena, od_fmu_signal, OD_MOST_FOREIGN_OUTPUTS);
  od_fmu_signal *parameter = OD_TAKE(arena, od_fmu_signal, OD_FMU_MOST_PARAMETERS);
  const char **name = OD_TAKE(arena, const char *, OD_MOST_FOREIGN_OUTPUTS + 1);
  const char **unit = OD_TAKE(arena, const char *, OD_MOST_FOREIGN_OUTPUTS + 1);
  double value[OD_FMU_MOST_PARAMETERS];
  od_error err = {0};
  if (od_arena_status(arena) != OD_OK) return;
  r->section = od_section_open(ld, b->map, b->key, b->path, b->what, &od_fmu_section);
  r->file_node = od_section_need(ld, &r->section, "file");
  r->file = od_read_text(ld, r->file_node, "file", "the path of an FMU");
  double limit = od_key_value(ld, &r->section, "time_limit");
  if (!r->file || !(limit > 0)) return;
  if (od_fmu_import_open(od_document_beside(ld, r->file_node, r->file), limit, &r->import, &err) != OD_OK) {
    od_complain(ld, r->file_node, "the FMU '%s': %s", r->file, err.text);
    return;
  }
  if (!keep_import(ld, r->import)) return;
  od_place place = od_place_of(ld, b->key);
  od_fmu_import_name(r->import, od_format(ld, "%s:%d: the FMU '%s'", place.file, place.line, r->file));
  r->d = od_fmu_import_description(r->import);
  int before = od_messages_errors(ld->messages);
  r->w.input = input, r->w.output = output, r->w.parameter = parameter, r->w.value = value;
  bool sound = choose_interface(ld, r) && check_states(ld, r);
  read_inputs(ld, r, input);
  read_outputs(ld, r, output, name, unit);
  read_parameters(ld, r, parameter, value);
  if (sound && r->w.outputs > 0 && od_messages_errors(ld->messages) == before) start(ld, b, r, name, unit);
  b->fmu = r;
}

// --- Connections --------------------------------------------------------------------------------------------------

void od_load_fmu(od_loader *ld, od_loading_block *b) {
  fmu_reader *r = b->fmu;
  for (int i = 0; i < r->w.inputs; i++) {
    const char *name = r->d->variable[r->w.input[i].variable].name;
    const char *found = od_block_connect(ld, r->input_node[i], name, b, i), *wanted = r->input_unit[i];
    if (found && strcmp(od_factor_unit(ld, wanted, found), "1") != 0)
      od_complain(ld, r->input_node[i], "'%s' is in %s, but the input '%s' of the FMU must be in %s",
                  od_text_of(ld, r->input_node[i]), found, name, wanted);
  }
  if (r->w.parameters > 0) od_build_block_numbers(ld->draft->build, b->index, od_number_theta(ld, r->first_number));
}

const char *od_fmu_output_unit(const od_loading_block *b, const char *name) {
  const od_foreign_law *law = b->law;
  for (int i = 0; law && i < law->outputs; i++)
    if (strcmp(law->output_name[i], name) == 0) return law->output_unit[i];
  return law && !name[0] ? law->output_unit[0] : NULL;
}
