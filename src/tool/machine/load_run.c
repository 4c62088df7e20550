// The run section: the defaults of simulate.
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document/ranges.h"
#include "document/suggest.h"
#include "machine/machine_loader.h"
#include "machine/method_names.h"
#include "machine/sections.h"
#include "model/model.h"

static const od_key keys[] = {
    {"time", OD_NUMBER, "s", "how long a run is", OD_POSITIVE, 0, OD_RANGE_TIME, "none"},
    {"step", OD_NUMBER, "s", "length of a step, or `auto`: an error estimate controls it", OD_POSITIVE, 0,
     OD_RANGE_STEP, "see [the run](machine-files.md#the-run)"},
    {"rows", OD_NUMBER, "s", "time from row to row with `step: auto`", OD_POSITIVE, 0, OD_RANGE_STEP, "by the run"},
    {"integrator", OD_CHOICE, NULL, "the integrator", .otherwise = "trapezoid", .choice = od_run_integrator},
    {"tolerance", OD_NUMBER, "1", "relative tolerance of `step: auto` and of cvodes", OD_POSITIVE, 0,
     OD_RANGE_TOLERANCE, "by the integrator"},
    {"outputs", OD_TEXTS, NULL, "outputs to show; names joined with + share a plot", .otherwise = "all"},
};
const od_section_class od_run_section = {"run", "defaults of simulate", OD_KEYS(keys)};

// Reads a number without a default. Without the key the machine has no such number.
static double read_optional(od_loader *ld, const od_section *section, const char *key) {
  const od_field field = od_key_field(section, key);
  int node = od_section_get(ld, section, key);
  const char *path = od_path(ld, section->path, key);
  if (node < 0 && !od_numbers_is_overridden(&ld->document->numbers, path)) return 0;
  return od_number_value(ld, od_read_number(ld, node, path, &field, od_place_of(ld, section->node), OD_IN_LOADER));
}

// The next of the names joined with "+"; NULL after the last one.
static const char *next_name(od_loader *ld, const char **rest) {
  if (*rest == NULL) return NULL;
  const size_t length = strcspn(*rest, "+");
  const char *name = od_copy(ld, *rest, length);
  *rest = (*rest)[length] == '+' ? *rest + length + 1 : NULL;
  return name;
}

// Whether a text is a pattern such as "boom.*", as in --output.
static bool is_pattern(const char *text) {
  return strpbrk(text, "*?") != NULL;
}

// Checks the element of an output. The model, and thus the output, does not exist yet.
static void check_output_element(od_loader *ld, int node, const char *text) {
  if (is_pattern(text)) return;
  const char *rest, *name = od_copy(ld, text, od_names_element_length(ld, text));
  if (strcmp(name, "energy") == 0 || od_names_owner(ld, node, text, &rest) >= 0) return;
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < ld->draft->names.elements; i++) od_nearest_try(&nearest, ld->draft->names.element[i].name);
  if (nearest.best != NULL)
    od_complain(ld, node, "there is no output '%s': there is no element '%s'; did you mean '%s'?", od_excerpt(ld, text),
                od_excerpt(ld, name), nearest.best);
  else
    od_complain(ld, node, "there is no output '%s': there is no element '%s'", od_excerpt(ld, text),
                od_excerpt(ld, name));
}

static int outputs_list(const od_loader *ld, const od_section *section) {
  int node = od_section_get(ld, section, "outputs");
  return node >= 0 && ld->tree.node[node].kind == OD_TREE_LIST ? node : -1;
}

static void check_outputs(od_loader *ld, const od_section *section) {
  int node = od_section_get(ld, section, "outputs");
  if (node < 0) return;
  if (ld->tree.node[node].kind != OD_TREE_LIST) {
    od_complain(ld, node, "found %s; 'outputs' wants a list of names", od_describe(ld, node));
    return;
  }
  for (int at = ld->tree.node[node].first; at >= 0; at = ld->tree.node[at].next) {
    const int entry = od_tree_value(&ld->tree, at);
    const char *rest = od_read_text(ld, entry, "outputs", "names of outputs"), *name;
    while ((name = next_name(ld, &rest)) != NULL) check_output_element(ld, entry, name);
  }
}

// Whether steps are adaptive: 'step: auto', and no number in --set.
static bool steps_are_adaptive(od_loader *ld, const od_section *section) {
  int node = od_section_get(ld, section, "step");
  const char *text = node >= 0 && ld->tree.node[node].kind == OD_TREE_TEXT ? od_text_of(ld, node) : "";
  return strcmp(text, OD_STEP_AUTO) == 0 && !od_numbers_is_overridden(&ld->document->numbers, "run.step");
}

void od_load_run(od_loader *ld, int node) {
  bool empty = node < 0 || ld->tree.node[node].kind == OD_TREE_NULL;
  od_section section = od_section_empty(&od_run_section, -1, "run", "run");
  if (!empty) section = od_section_open(ld, node, node, "run", "run", &od_run_section);
  od_run_defaults *run = &ld->draft->machine->run;
  run->time = read_optional(ld, &section, "time");
  run->adaptive = steps_are_adaptive(ld, &section);
  if (!run->adaptive) run->step = read_optional(ld, &section, "step");
  run->rows = read_optional(ld, &section, "rows");
  run->tolerance = read_optional(ld, &section, "tolerance");
  if (od_section_get(ld, &section, "integrator") >= 0)
    run->integrator = od_run_integrator(od_key_choice(ld, &section, "integrator"));
  check_outputs(ld, &section);
}

// --- After the model is built -------------------------------------------------------------------------------------

// Lists the outputs of the element in a name that is not an output: "length, rate, tension"; "": no such element.
static const char *shown_beside(od_loader *ld, const char *name) {
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

static int find_output(od_loader *ld, int node, const char *name) {
  const od_model *model = ld->draft->machine->model;
  int output = od_model_output_find(model, name);
  if (output >= 0) return output;
  const char *beside;
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < od_model_output_count(model); i++) od_nearest_try(&nearest, od_model_output_name(model, i));
  if (nearest.best != NULL)
    od_complain(ld, node, "there is no output '%s'; did you mean '%s'?", od_excerpt(ld, name), nearest.best);
  else if (*(beside = shown_beside(ld, name)) != '\0')
    od_complain(ld, node, "there is no output '%s'; there are %s", od_excerpt(ld, name), beside);
  else
    od_complain(ld, node, "there is no output '%s'; 'oleodyn info' lists them", od_excerpt(ld, name));
  return -1;
}

int od_find_model_output(od_loader *ld, int node) {
  return find_output(ld, node, od_text_of(ld, node));
}

// The outputs of the run so far, and their panels in plots.
typedef struct run_outputs {
  int *output, *panel, count;
} run_outputs;

static bool is_listed(const run_outputs *r, int output) {
  for (int i = 0; i < r->count; i++)
    if (r->output[i] == output) return true;
  return false;
}

static void add_output(run_outputs *r, int output, int panel) {
  r->output[r->count] = output;
  r->panel[r->count++] = panel;
}

// Adds the output of a name, or all outputs of a pattern that have not been added yet.
static void add_named(od_loader *ld, int node, const char *name, int panel, run_outputs *r) {
  const od_model *model = ld->draft->machine->model;
  bool any = false;
  if (!is_pattern(name)) {
    add_output(r, find_output(ld, node, name), panel);
    return;
  }
  for (int i = 0; i < od_model_output_count(model); i++) {
    if (fnmatch(name, od_model_output_name(model, i), 0) != 0) continue;
    any = true;
    if (!is_listed(r, i)) add_output(r, i, panel);
  }
  if (!any) od_complain(ld, node, "no output matches '%s'; 'oleodyn info' lists them", od_excerpt(ld, name));
}

// Outputs in one panel share a scale, so they must have the same unit.
static void check_units(od_loader *ld, int node, const run_outputs *r, int first) {
  const od_model *model = ld->draft->machine->model;
  for (int i = first + 1; i < r->count; i++) {
    const int a = r->output[first], b = r->output[i];
    if (a < 0 || b < 0 || strcmp(od_model_output_unit(model, a), od_model_output_unit(model, b)) == 0) continue;
    od_complain(ld, node, "'%s' (%s) and '%s' (%s) have different units and cannot share a panel",
                od_model_output_name(model, a), od_model_output_unit(model, a), od_model_output_name(model, b),
                od_model_output_unit(model, b));
    return;
  }
}

static void add_entry(od_loader *ld, int node, int panel, run_outputs *r) {
  const char *rest = od_text_of(ld, node), *name;
  const bool several = strchr(rest, '+') != NULL;
  const int first = r->count;
  while ((name = next_name(ld, &rest)) != NULL) add_named(ld, node, name, several ? panel : 0, r);
  if (several) check_units(ld, node, r, first);
}

static int count_names(const od_loader *ld, int list) {
  int count = 0;
  for (int at = ld->tree.node[list].first; at >= 0; at = ld->tree.node[at].next) {
    count++;
    for (const char *c = od_text_of(ld, od_tree_value(&ld->tree, at)); *c; c++) count += *c == '+';
  }
  return count;
}

void od_load_run_outputs(od_loader *ld, int node) {
  od_section section = {.map = node >= 0 && ld->tree.node[node].kind == OD_TREE_MAP ? node : -1};
  int list = outputs_list(ld, &section), panel = 0;
  if (list < 0 || ld->tree.node[list].count == 0) return;
  const size_t most = (size_t)(count_names(ld, list) + od_model_output_count(ld->draft->machine->model));
  run_outputs r = {.output = malloc(2 * most * sizeof(int))};
  if (r.output == NULL) {
    ld->no_memory = true;
    return;
  }
  r.panel = r.output + most;
  for (int at = ld->tree.node[list].first; at >= 0; at = ld->tree.node[at].next)
    add_entry(ld, od_tree_value(&ld->tree, at), ++panel, &r);
  ld->draft->machine->run_outputs = r.output;
  ld->draft->machine->run.outputs = r.output;
  ld->draft->machine->run.panels = r.panel;
  ld->draft->machine->run.output_count = r.count;
}
