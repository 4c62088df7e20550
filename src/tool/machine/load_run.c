// Loads the section 'run': the default settings of 'oleodyn simulate'.
#include <math.h>
#include <string.h>

#include "document/ranges.h"
#include "document/suggest.h"
#include "machine/machine_loader.h"
#include "machine/output_pattern.h"
#include "machine/method_names.h"
#include "machine/sections.h"
#include "model/model.h"

static const od_key keys[] = {
    {"time", OD_NUMBER, "s", "duration of a run", OD_POSITIVE, 0, OD_RANGE_TIME, "none"},
    {"step", OD_NUMBER, "s", "step length, or `auto`: an error estimate controls the step length", OD_POSITIVE, 0,
     OD_RANGE_STEP, "see [the run](machine-files.md#the-run)"},
    {"rows", OD_NUMBER, "s", "time between rows of the result with `step: auto`", OD_POSITIVE, 0, OD_RANGE_STEP,
     "1 ms"},
    {"integrator", OD_CHOICE, NULL, "integration method", .otherwise = "`tr-bdf2`; with a fixed `step` `trapezoid`",
     .choice = od_run_integrator},
    {"tolerance", OD_NUMBER, "1", "relative tolerance of `step: auto` and of the integrator `cvodes`", OD_POSITIVE, 0,
     OD_RANGE_TOLERANCE, "depends on the integrator"},
    {"outputs", OD_TEXTS, NULL, "outputs to show; names joined with `+` share a panel of the plot", .otherwise = "all"},
    {"phases", OD_NUMBER_MAP, "s", "names of phases, each with its start time, for reports", OD_NOT_NEGATIVE,
     .otherwise = "none"},
};
const od_section_class od_run_section = {"run", "default settings of `oleodyn simulate`", OD_KEYS(keys)};

// Returns the number under a key without a default; 0: not given.
static double read_optional(od_loader *ld, const od_section *section, const char *key) {
  return od_is_given(ld, section, key) ? od_key_value(ld, section, key) : 0;
}

// Returns the next name in a text of names joined with "+", or NULL after the last name.
static const char *next_name(od_loader *ld, const char **rest) {
  if (*rest == NULL) return NULL;
  const size_t length = strcspn(*rest, "+");
  const char *name = od_copy(ld, *rest, length);
  *rest = (*rest)[length] == '+' ? *rest + length + 1 : NULL;
  return name;
}

// Returns whether a text is a pattern such as "boom.*", as in --output.
static bool is_pattern(const char *text) {
  return strpbrk(text, "*?") != NULL;
}

// Reports an output whose element does not exist. The name of the output is checked after the model is built.
static void check_output_element(od_loader *ld, int node, const char *text) {
  if (is_pattern(text)) return;
  const char *rest, *name = od_copy(ld, text, od_names_element_length(ld, text));
  if (strcmp(name, "energy") == 0 || od_names_owner(ld, node, text, &rest) >= 0) return;
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < ld->draft->names.elements; i++) od_nearest_try(&nearest, od_element_at(ld, i)->name);
  od_complain(ld, node, "there is no output '%s', because there is no element '%s'%s", od_excerpt(ld, text),
              od_excerpt(ld, name), od_nearest_suggestion(&nearest, "'oleodyn info FILE' lists all outputs").text);
}

// Reads 'phases': names and increasing start times.
static void read_phases(od_loader *ld, int node) {
  od_machine *machine = ld->draft->machine;
  for (int key = od_first(ld, node, "phases"); key >= 0; key = od_next(ld, key)) {
    const od_field field = {od_text_of(ld, key), "s", OD_NOT_NEGATIVE, NAN};
    int value = od_value(ld, key), number = ld->document->numbers.count;
    od_read_number(ld, value, od_path(ld, "run.phases", field.key), &field, od_place_of(ld, value), OD_IN_LOADER);
    if (ld->document->numbers.count == number) continue;  // an error was reported
    double from = od_number_value(ld, number);
    if (machine->phases > 0 && !(from > machine->phase[machine->phases - 1].from)) {
      od_complain(ld, value,
                  "phase '%s' starts at %g s, and the previous phase starts at %g s; expected increasing times",
                  od_excerpt(ld, field.key), from, machine->phase[machine->phases - 1].from);
      continue;
    }
    od_machine_phase *list = od_arena_extend(&ld->document->arena, machine->phase, machine->phases, sizeof *list);
    if (!list) return;
    machine->phase = list;
    machine->phase[machine->phases++] = (od_machine_phase){field.key, from};
  }
}

void od_load_run(od_loader *ld, int node) {
  od_section section = od_section_empty(&od_run_section, -1, "run", "run");
  if (!od_is_null(ld, node)) section = od_section_open(ld, node, node, "run", "run", &od_run_section);
  od_run_defaults *run = &ld->draft->machine->run;
  run->time = read_optional(ld, &section, "time");
  // Steps are adaptive if the file has 'step: auto' and --set gives no step.
  run->adaptive = strcmp(od_text_of(ld, od_section_get(ld, &section, "step")), OD_STEP_AUTO) == 0 &&
                  !od_numbers_is_overridden(&ld->document->numbers, "run.step");
  if (!run->adaptive) run->step = read_optional(ld, &section, "step");
  run->rows = read_optional(ld, &section, "rows");
  run->tolerance = read_optional(ld, &section, "tolerance");
  if (od_section_get(ld, &section, "integrator") >= 0)
    run->integrator = od_run_integrator(od_key_choice(ld, &section, "integrator"));
  int phases = od_section_get(ld, &section, "phases");
  if (phases >= 0) read_phases(ld, phases);
  int outputs = od_section_get(ld, &section, "outputs");
  if (outputs >= 0 && !od_is_list(ld, outputs))
    od_complain(ld, outputs, "found %s; 'outputs' must be a list of names", od_describe(ld, outputs));
  for (int at = od_list_first(ld, outputs); at >= 0; at = ld->tree.node[at].next) {
    const char *rest = od_read_text(ld, od_entry(ld, at), "outputs", "names of outputs"), *name;
    while ((name = next_name(ld, &rest)) != NULL) check_output_element(ld, od_entry(ld, at), name);
  }
}

// --- Outputs of the run, read after the model is built ------------------------------------------------------------

// Returns the outputs of the element in `name`, which is not the name of an output: "length, rate, tension". Returns ""
// if there is no such element.
static const char *outputs_of_element(od_loader *ld, const char *name) {
  const od_model *model = ld->draft->machine->model;
  const size_t front = od_names_element_length(ld, name);
  const char *list = "";
  for (int i = 0, shown = 0; name[front] == '.' && i < od_model_output_count(model); i++) {
    const char *other = od_model_output_name(model, i);
    if (strncmp(other, name, front + 1) != 0) continue;
    if (++shown > 12) return od_format(ld, "%s, ...", list);
    list = od_format(ld, "%s%s%s", list, *list ? ", " : "", other + front + 1);
  }
  return list;
}

// Returns the index of the output with a name, or -1 after reporting an error.
static int find_output(od_loader *ld, int node, const char *name) {
  const od_model *model = ld->draft->machine->model;
  int output = od_model_output_find(model, name);
  if (output >= 0) return output;
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < od_model_output_count(model); i++) od_nearest_try(&nearest, od_model_output_name(model, i));
  const char *others = outputs_of_element(ld, name);
  const char *help =
      *others ? od_format(ld, "this element has the outputs %s", others) : "'oleodyn info FILE' lists all outputs";
  od_complain(ld, node, "there is no output '%s'%s", od_excerpt(ld, name), od_nearest_suggestion(&nearest, help).text);
  return -1;
}

int od_find_model_output(od_loader *ld, int node) {
  return find_output(ld, node, od_text_of(ld, node));
}

// The outputs of the run that have been read so far, and their panels in plots.
typedef struct run_outputs {
  int *output, *panel, count;
} run_outputs;

static void add_output(run_outputs *r, int output, int panel) {
  r->output[r->count] = output;
  r->panel[r->count++] = panel;
}

// Adds the output with a name, or all outputs that match a pattern and have not been added yet.
static void add_named(od_loader *ld, int node, const char *name, int panel, run_outputs *r) {
  const od_model *model = ld->draft->machine->model;
  bool any = false;
  int exact = od_model_output_find(model, name);
  if (exact >= 0) {
    add_output(r, exact, panel);
    return;
  }
  for (int i = 0; i < od_model_output_count(model); i++) {
    if (!od_output_matches(model, i, name)) continue;
    any = true;
    bool is_listed = false;
    for (int k = 0; k < r->count; k++) is_listed = is_listed || r->output[k] == i;
    if (!is_listed) add_output(r, i, panel);
  }
  if (!any && !is_pattern(name)) find_output(ld, node, name);  // reports the unknown name
  if (!any && is_pattern(name))
    od_complain(ld, node, "no output matches '%s'; 'oleodyn info FILE' lists all outputs", od_excerpt(ld, name));
}

// Reports outputs in one panel that have different units: the outputs of a panel share a scale.
static void check_units(od_loader *ld, int node, const run_outputs *r, int first) {
  const od_model *model = ld->draft->machine->model;
  for (int i = first + 1; i < r->count; i++) {
    const int a = r->output[first], b = r->output[i];
    if (a < 0 || b < 0 || strcmp(od_model_output_unit(model, a), od_model_output_unit(model, b)) == 0) continue;
    od_complain(
        ld, node,
        "'%s' (%s) and '%s' (%s) have different units and cannot share a panel; write these outputs as separate entries",
        od_model_output_name(model, a), od_model_output_unit(model, a), od_model_output_name(model, b),
        od_model_output_unit(model, b));
    return;
  }
}

void od_load_run_outputs(od_loader *ld, int node) {
  int list = od_map_find(ld, node, "outputs"), panel = 0;
  if (od_list_count(ld, list) == 0) return;
  int most = od_model_output_count(ld->draft->machine->model);
  for (int at = od_list_first(ld, list); at >= 0; at = ld->tree.node[at].next) {
    most++;
    for (const char *c = od_text_of(ld, od_entry(ld, at)); *c; c++) most += *c == '+';
  }
  run_outputs r = {.output = OD_TAKE(&ld->document->arena, int, most),
                   .panel = OD_TAKE(&ld->document->arena, int, most)};
  if (r.output == NULL || r.panel == NULL) return;
  for (int at = od_list_first(ld, list); at >= 0; at = ld->tree.node[at].next) {
    const int entry = od_entry(ld, at), first = r.count;
    const char *rest = od_text_of(ld, entry), *name;
    const bool several = strchr(rest, '+') != NULL;
    panel++;
    while ((name = next_name(ld, &rest)) != NULL) add_named(ld, entry, name, several ? panel : 0, &r);
    if (several) check_units(ld, entry, &r, first);
  }
  ld->draft->machine->run.outputs = r.output;
  ld->draft->machine->run.panels = r.panel;
  ld->draft->machine->run.output_count = r.count;
}
