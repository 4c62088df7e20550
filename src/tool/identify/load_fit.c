// From a fit file to a plan: an experiment file whose parameters are to be fitted, with five more sections.
//
//   fit           how: method, integrator, where predictions begin, loss, starts, what is held out
//   sets          the data: logs or simulated runs, fitted or only predicted
//   prepare       what is done to signals before
//   combinations  functions of the parameters that people want to know
//   constraints   relations between parameters (load_constraints.c)
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document/suggest.h"
#include "identify/load_fit.h"
#include "machine/machine.h"
#include "machine/method_names.h"
#include "model/model.h"

typedef struct fit_loader {
  od_fit_plan *plan;
  int set_capacity, combination_capacity;
} fit_loader;

const char *const od_fit_methods[] = {"reflective", "levenberg-marquardt", "gauss-newton",
                                      "truncate",   "active-set",          NULL};

// --- How ----------------------------------------------------------------------------------------------------------

static int choice(od_loader *ld, const od_section *section, const char *key, const char *const *choices,
                  int otherwise) {
  int node = od_section_get(ld, section, key), chosen = node >= 0 ? od_read_choice(ld, node, key, choices) : -1;
  return chosen >= 0 ? chosen : otherwise;
}

// An integrator of the table, that of the experiment if none is named here; what comes after them is exact discretisation.
static od_rule read_rule(od_loader *ld, const od_section *section, const od_experiment *e) {
  const od_method_names names = od_method_names_integrators(OD_EXACT);
  int otherwise = 0;
  while (od_integrator_at(otherwise) != e->integrator) otherwise++;
  const od_integrator *integrator = od_integrator_at(choice(ld, section, "integrator", names.name, otherwise));
  return (od_rule){.integrator = integrator, .exact = !integrator};
}

// What segments cannot be cut from: whatever a machine remembers besides its state.
static void check_shooting(od_experiment_loader *xl, const od_fit_plan *plan, int node) {
  od_loader *ld = &xl->ld;
  const od_model *m = xl->e->model ? od_machine_model(xl->e->model) : NULL;
  if (plan->rule_is_given && plan->rule.exact)
    od_complain(ld, node, "shooting goes in steps; found 'integrator: exact', expected one of the others");
  if (!m) return;
  if (m->samplers > 0)
    od_complain(ld, node, "shooting wants a machine without sampled blocks, which remember more than states");
  if (od_model_switchers(m) > 0)
    od_complain(ld, node, "shooting wants a machine in which nothing switches; '%s' does",
                od_model_switcher_name(m, 0));
  for (int i = 0; i < xl->e->sensors; i++) {
    int output = od_machine_output_find(xl->e->model, xl->e->sensor[i].name);
    if (output >= 0 && m->output[output].kind >= OD_OUT_INTEGRAL)
      od_complain(ld, node, "shooting cannot follow the integral '%s' from segment to segment; fit to its rate instead",
                  xl->e->sensor[i].name);
  }
}

// shooting: auto, {segments: 20} or {length: 0.5 s}
static void read_shooting(od_experiment_loader *xl, od_fit_plan *plan, const od_section *how) {
  static const char *const keys[] = {"segments", "length", NULL};
  static const char *const words[] = {"auto", "no", NULL};
  static const od_field fields[] = {{"segments", "1", OD_POSITIVE, 0}, {"length", "s", OD_POSITIVE, 0}};
  od_loader *ld = &xl->ld;
  int node = od_section_get(ld, how, "shooting");
  if (node < 0 || ld->tree.node[node].kind == OD_TREE_NULL) return;
  if (ld->tree.node[node].kind == OD_TREE_TEXT) {
    plan->shooting.on = od_read_choice(ld, node, "shooting", words) != 1;
    if (plan->shooting.on) check_shooting(xl, plan, node);
    return;
  }
  od_section section = od_section_open(ld, node, node, "fit.shooting", "shooting", keys);
  if (section.map < 0) return;
  plan->shooting.on = true;
  int first = od_read_fields(ld, &section, fields, 2, OD_IN_LOADER);
  bool segments = od_number_is_given(ld, first), length = od_number_is_given(ld, first + 1);
  if (segments) plan->shooting.segments = (int)od_read_whole(ld, first, "segments", 1, 1e6);
  plan->shooting.length = od_number_value(ld, first + 1);
  if (segments && length) od_complain_number(ld, first + 1, "shooting has either 'segments' or 'length'");
  if (!segments && !length && !section.has_unknown)
    od_complain(ld, node, "shooting wants 'segments' or 'length', or the word 'auto'");
  check_shooting(xl, plan, node);
}

static void read_how(od_experiment_loader *xl, od_fit_plan *plan, int node) {
  static const char *const keys[] = {"method",     "integrator", "hold",     "start", "loss",
                                     "loss_scale", "starts",     "hold_out", "noise", "evaluations",
                                     "substeps",   "shooting",   NULL};
  static const char *const holds[] = {"linear", "previous", NULL};
  static const char *const starts[] = {"model", "rest", "unknown", NULL};
  static const char *const losses[] = {"linear", "soft-l1", "huber", "cauchy", "arctan", NULL};
  static const char *const noises[] = {"unknown", "known", NULL};
  static const od_field fields[] = {{"loss_scale", "1", OD_POSITIVE, 1},
                                    {"starts", "1", OD_NOT_NEGATIVE, 0},
                                    {"hold_out", "1", OD_NOT_NEGATIVE, 0},
                                    {"evaluations", "1", OD_POSITIVE, 200},
                                    {"substeps", "1", OD_POSITIVE, 1}};
  od_loader *ld = &xl->ld;
  od_section section = {.map = -1, .node = ld->tree.root, .path = "fit", .what = "fit"};
  if (node >= 0) section = od_section_open(ld, node, node, "fit", "fit", keys);
  plan->method = (od_ls_method)choice(ld, &section, "method", od_fit_methods, OD_LS_REFLECTIVE);
  plan->rule_is_given = xl->e->integrator_is_given || od_section_get(ld, &section, "integrator") >= 0;
  plan->rule = read_rule(ld, &section, xl->e);
  plan->hold = (od_hold)choice(ld, &section, "hold", holds, OD_HOLD_FIRST);
  plan->start = (od_fit_start)choice(ld, &section, "start", starts, OD_FIT_FROM_MODEL);
  plan->loss = (od_ls_loss)choice(ld, &section, "loss", losses, OD_LOSS_LINEAR);
  plan->known_noise = choice(ld, &section, "noise", noises, 0) == 1;
  int first = od_read_fields(ld, &section, fields, 5, OD_IN_LOADER);
  plan->loss_scale = od_number_value(ld, first);
  plan->starts = (int)od_read_whole(ld, first + 1, "starts", 0, 1e6);
  plan->hold_out = od_number_value(ld, first + 2);
  plan->evaluations = (long)od_read_whole(ld, first + 3, "evaluations", 1, 1e9);
  plan->substeps = (int)od_read_whole(ld, first + 4, "substeps", 1, 1e6);
  read_shooting(xl, plan, &section);
  if (plan->hold_out >= 1) od_complain_number(ld, first + 2, "hold_out must be less than 1, or 100 %%");
}

// --- What is done to signals before -------------------------------------------------------------------------------

// Windows have a sample in their middle.
static int read_window(od_loader *ld, int number, const char *name, int least) {
  if (!od_number_is_given(ld, number)) return 0;
  double size = od_read_whole(ld, number, name, least, 1e6);
  if (fmod(od_number_value(ld, number), 2) == 0) od_complain_number(ld, number, "%s must be odd", name);
  return (int)size;
}

static void read_prepare(od_experiment_loader *xl, od_fit_plan *plan, int node) {
  static const char *const keys[] = {"resample",     "detrend",  "low_pass",       "smooth_window",
                                     "smooth_order", "outliers", "outlier_window", NULL};
  static const char *const detrends[] = {"none", "mean", "linear", NULL};
  static const od_field fields[] = {{"resample", "s", OD_POSITIVE, 0},      {"low_pass", "Hz", OD_POSITIVE, 0},
                                    {"smooth_window", "1", OD_POSITIVE, 0}, {"smooth_order", "1", OD_NOT_NEGATIVE, 2},
                                    {"outliers", "1", OD_POSITIVE, 0},      {"outlier_window", "1", OD_POSITIVE, 0}};
  od_loader *ld = &xl->ld;
  od_section section = {.map = -1, .node = ld->tree.root, .path = "prepare", .what = "prepare"};
  if (node >= 0) section = od_section_open(ld, node, node, "prepare", "prepare", keys);
  int first = od_read_fields(ld, &section, fields, 6, OD_IN_LOADER);
  int smooth_window = read_window(ld, first + 2, "smooth_window", 3);
  int smooth_order = (int)od_read_whole(ld, first + 3, "smooth_order", 0, 20);
  int outlier_window = read_window(ld, first + 5, "outlier_window", 5);
  bool smooths = od_number_is_given(ld, first + 2), ordered = od_number_is_given(ld, first + 3);
  if (ordered && !smooths) od_complain_number(ld, first + 3, "smooth_order wants a smooth_window beside it");
  if (smooths && od_number_value(ld, first + 2) <= od_number_value(ld, first + 3))
    od_complain_number(ld, first + 2, "smooth_window must be larger than smooth_order");
  plan->prepare = (od_prepare){.resample = od_number_value(ld, first),
                               .detrend = (od_detrend)choice(ld, &section, "detrend", detrends, OD_DETREND_NONE),
                               .low_pass = od_number_value(ld, first + 1),
                               .savgol_window = smooth_window,
                               .savgol_order = smooths ? smooth_order : 0,
                               .outliers = od_number_value(ld, first + 4),
                               .outlier_window = outlier_window};
}

// --- Data sets ----------------------------------------------------------------------------------------------------

static od_fit_set *new_set(fit_loader *fl, od_loader *ld) {
  od_fit_plan *plan = fl->plan;
  od_fit_set *grown = od_grow(plan->set, plan->sets, &fl->set_capacity, sizeof *grown);
  if (!grown) {
    ld->no_memory = true;
    return NULL;
  }
  plan->set = grown;
  plan->set[plan->sets] = (od_fit_set){0};
  return &plan->set[plan->sets++];
}

static void read_logged(od_experiment_loader *xl, od_fit_set *set, int node, const char *path) {
  const od_experiment *e = xl->e;
  od_log_plan_read(&xl->ld, node, path, e->model, &set->plan);
  set->channel = calloc((size_t)(e->sensors + od_machine_input_count(e->model)) + 1, sizeof *set->channel);
  if (!set->channel || !od_load_channels(e, &set->plan, set->channel))
    xl->ld.no_memory = true;
  else if (!set->plan.file)
    od_complain(&xl->ld, node, "data needs 'file'");
  else
    od_load_log(xl, &set->plan, &set->log);
}

static void read_set(od_experiment_loader *xl, fit_loader *fl, int key) {
  static const char *const keys[] = {"use", "data", "simulate", "time", "noise", NULL};
  static const char *const uses[] = {"fit", "validate", NULL};
  static const char *const noises[] = {"yes", "no", NULL};
  static const od_field time = {"time", "s", OD_POSITIVE, 0};
  od_loader *ld = &xl->ld;
  const char *name = od_text_of(ld, key), *path = od_format(ld, "sets.%s", name);
  od_section section =
      od_section_open(ld, od_value(ld, key), key, path, od_format(ld, "the set '%s'", od_excerpt(ld, name)), keys);
  od_fit_set *set = section.map >= 0 ? new_set(fl, ld) : NULL;
  if (!set) return;
  set->name = name;
  set->validates = choice(ld, &section, "use", uses, 0) == 1;
  set->clean = choice(ld, &section, "noise", noises, 0) == 1;
  int number = od_read_fields(ld, &section, &time, 1, OD_IN_LOADER);
  set->time = od_number_value(ld, number);
  int data = od_section_get(ld, &section, "data"), simulate = od_section_get(ld, &section, "simulate");
  if (data >= 0 && od_number_is_given(ld, number))
    od_complain_number(ld, number, "time is for simulated sets; data has 'start' and 'end'");
  if (data >= 0 && set->clean) od_complain(ld, od_section_get(ld, &section, "noise"), "noise is for simulated sets");
  if (data >= 0 && simulate >= 0) {
    od_complain(ld, simulate, "a set is either read from 'data' or made by 'simulate'");
  } else if (data >= 0) {
    read_logged(xl, set, data, od_format(ld, "%s.data", path));
  } else {
    // Without a word about it, the experiment's own true machine.
    if (simulate >= 0) set->truth = od_load_machine_of(xl, &section, "simulate");
    if (simulate < 0 && !xl->e->truth) od_complain(ld, key, "the set '%s' needs 'data' or 'simulate'", name);
    if (!(set->time > 0) && set->truth) set->time = od_machine_run(set->truth)->time;
    if (!(set->time > 0)) set->time = xl->e->time;
    if (!(set->time > 0) && (set->truth || xl->e->truth)) od_complain(ld, key, "the set '%s' needs a time", name);
    if (set->time / xl->e->step > 1e8)
      od_complain(ld, key, "%.3g samples of the set '%s' are too many", set->time / xl->e->step, name);
  }
}

// With --data, its log takes the place of all that is fitted; sets for validation stay.
static bool is_replaced(od_experiment_loader *xl, int key) {
  od_loader *ld = &xl->ld;
  int map = od_value(ld, key);
  const od_section section = {.map = map >= 0 && ld->tree.node[map].kind == OD_TREE_MAP ? map : -1};
  int use = section.map >= 0 ? od_section_get(ld, &section, "use") : -1;
  const char *text = use >= 0 && ld->tree.node[use].kind == OD_TREE_TEXT ? od_text_of(ld, use) : "fit";
  return xl->options->data && strcmp(text, "validate") != 0;
}

// The experiment's own log, or its true machine.
static void add_own_set(od_experiment_loader *xl, fit_loader *fl) {
  const od_experiment *e = xl->e;
  od_fit_set *set = new_set(fl, &xl->ld);
  if (!set) return;
  *set = (od_fit_set){.name = "data", .log = e->log, .channel = e->channel, .time = e->time, .borrowed = true};
  if (e->log) set->plan = e->data;
}

// Without fitted sets in the file, or with --data, there is the experiment's own.
static void read_sets(od_experiment_loader *xl, fit_loader *fl, int node) {
  od_loader *ld = &xl->ld;
  const od_experiment *e = xl->e;
  bool fitted = false;
  if (e->data.file && strcmp(e->data.file, "-") == 0)
    od_messages_add(ld->messages, e->data.place, "a fit wants a whole log; a stream can only be observed");
  for (int key = od_first(ld, node, "data sets"); key >= 0; key = od_next(ld, key))
    if (!od_is_repeated(ld, node, key) && !is_replaced(xl, key)) read_set(xl, fl, key);
  if ((fl->plan->sets == 0 || xl->options->data) && !od_has_errors(ld)) add_own_set(xl, fl);
  for (int i = 0; i < fl->plan->sets; i++) {
    od_fit_set *set = &fl->plan->set[i];
    fitted = fitted || !set->validates;
    if (set->log && !set->borrowed) set->log->plan = &set->plan;  // the sets have stopped moving
  }
  if (fl->plan->sets > 0 && !fitted && !xl->options->data)
    od_complain(ld, node, "all sets are for validation; a fit needs one with 'use: fit'");
}

// --- True values ----------------------------------------------------------------------------------------------------

// What a parameter is in the machine that a fitted set was simulated with; NAN for a log, whose true machine is not known.
static double true_value(const od_fit_set *set, const od_estimated *p) {
  if (set->log) return NAN;
  if (!set->truth || p->number < 0) return p->truth;
  int number = od_machine_number_find(set->truth, p->path);
  return number < 0 ? (double)NAN : od_machine_number(set->truth, number).value;
}

// True is what all fitted sets were simulated with: nothing, as soon as one of them is a log or has another truth.
static void keep_truths(od_experiment *e, const od_fit_plan *plan) {
  for (int i = 0; i < e->parameters; i++) {
    od_estimated *p = &e->parameter[i];
    double common = NAN;
    bool first = true;
    for (int k = 0; k < plan->sets; k++) {
      if (plan->set[k].validates) continue;
      double value = true_value(&plan->set[k], p);
      common = first || value == common ? value : (double)NAN;
      first = false;
      if (isnan(common)) break;
    }
    p->truth = common;
  }
}

// --- Combinations -------------------------------------------------------------------------------------------------

static int find_parameter(od_experiment_loader *xl, int key) {
  od_loader *ld = &xl->ld;
  const char *path = od_text_of(ld, key);
  od_nearest nearest = od_nearest_to(path);
  for (int i = 0; i < xl->e->parameters; i++) {
    if (strcmp(xl->e->parameter[i].path, path) == 0) return i;
    od_nearest_try(&nearest, xl->e->parameter[i].path);
  }
  if (nearest.best)
    od_complain(ld, key, "'%s' is not fitted; did you mean '%s'?", od_excerpt(ld, path), nearest.best);
  else
    od_complain(ld, key, "'%s' is not among the parameters", od_excerpt(ld, path));
  return -1;
}

static void read_factors(od_experiment_loader *xl, int node, const char *path, const char *what, double *to) {
  od_loader *ld = &xl->ld;
  for (int key = od_first(ld, node, what); key >= 0; key = od_next(ld, key)) {
    const od_field field = {od_text_of(ld, key), "1", OD_ANY, NAN};
    int parameter = find_parameter(xl, key);
    int number = od_read_number_as(ld, od_value(ld, key), od_format(ld, "%s.%s", path, od_text_of(ld, key)), &field, "",
                                   od_place_of(ld, key), OD_IN_LOADER);
    if (parameter >= 0) to[parameter] = od_number_value(ld, number);
  }
}

static void read_combination(od_experiment_loader *xl, fit_loader *fl, int key) {
  static const char *const keys[] = {"powers", "sum", NULL};
  od_loader *ld = &xl->ld;
  od_fit_plan *plan = fl->plan;
  const char *name = od_text_of(ld, key), *path = od_format(ld, "combinations.%s", name);
  od_section section = od_section_open(ld, od_value(ld, key), key, path,
                                       od_format(ld, "the combination '%s'", od_excerpt(ld, name)), keys);
  if (section.map < 0) return;
  od_combination *grown = od_grow(plan->combination, plan->combinations, &fl->combination_capacity, sizeof *grown);
  double *numbers = calloc(2 * (size_t)xl->e->parameters + 1, sizeof *numbers);
  if (grown) plan->combination = grown;
  if (!grown || !numbers) {
    free(numbers);
    ld->no_memory = true;
    return;
  }
  od_combination c = {name, numbers, numbers + xl->e->parameters};
  if (od_section_get(ld, &section, "powers") < 0 && od_section_get(ld, &section, "sum") < 0)
    od_complain(ld, key, "the combination '%s' needs 'powers' or 'sum'", od_excerpt(ld, name));
  read_factors(xl, od_section_get(ld, &section, "powers"), od_format(ld, "%s.powers", path), "parameters and powers",
               c.power);
  read_factors(xl, od_section_get(ld, &section, "sum"), od_format(ld, "%s.sum", path), "parameters and weights",
               c.weight);
  plan->combination[plan->combinations++] = c;
}

// --- All of it ----------------------------------------------------------------------------------------------------

// Starts are drawn between bounds.
static void check_bounds(od_experiment_loader *xl, const od_fit_plan *plan, int node) {
  od_loader *ld = &xl->ld;
  for (int key = od_first(ld, node, "parameters"); plan->starts > 0 && key >= 0; key = od_next(ld, key))
    for (int i = 0; i < xl->e->parameters; i++) {
      const od_estimated *p = &xl->e->parameter[i];
      if (strcmp(p->path, od_text_of(ld, key)) == 0 && !(isfinite(p->low) && isfinite(p->high)))
        od_complain(ld, key, "'%s' needs 'low' and 'high': 'starts' are drawn between them", p->path);
    }
}

// Constraints and shooting leave no choice of the method.
static void check_method(od_experiment_loader *xl, od_fit_plan *plan, int how) {
  int node = od_map_find(&xl->ld, how, "method");
  if (plan->constraints == 0 && !plan->shooting.on) return;
  if (node >= 0 && plan->method != OD_LS_ACTIVE_SET)
    od_complain(&xl->ld, node, "found the method '%s', but %s want 'active-set', which is their default",
                od_fit_methods[plan->method], plan->shooting.on ? "fits with 'shooting'" : "'constraints'");
  plan->method = OD_LS_ACTIVE_SET;
}

static void read_more(void *user, od_experiment_loader *xl, const od_section *file) {
  fit_loader *fl = user;
  od_loader *ld = &xl->ld;
  read_how(xl, fl->plan, od_section_get(ld, file, "fit"));
  check_bounds(xl, fl->plan, od_section_get(ld, file, "parameters"));
  read_prepare(xl, fl->plan, od_section_get(ld, file, "prepare"));
  read_sets(xl, fl, od_section_get(ld, file, "sets"));
  keep_truths(xl->e, fl->plan);
  int combinations = od_section_get(ld, file, "combinations");
  for (int key = od_first(ld, combinations, "combinations"); key >= 0; key = od_next(ld, key))
    if (!od_is_repeated(ld, combinations, key)) read_combination(xl, fl, key);
  od_load_constraints(xl, fl->plan, od_section_get(ld, file, "constraints"));
  check_method(xl, fl->plan, od_section_get(ld, file, "fit"));
  if (xl->e->parameters == 0 && !od_has_errors(ld))
    od_complain(ld, ld->tree.root, "a fit needs at least one entry in 'parameters'");
}

od_status od_fit_plan_load(const char *path, const od_experiment_options *options, od_fit_plan **out,
                           od_messages *messages) {
  od_experiment_options mine = options ? *options : (od_experiment_options){0};
  fit_loader fl = {.plan = calloc(1, sizeof *fl.plan)};
  *out = NULL;
  if (!fl.plan) return OD_NO_MEMORY;
  mine.more = read_more;
  mine.user = &fl;
  od_status status = od_experiment_load(path, &mine, &fl.plan->e, messages);
  if (status == OD_OK)
    *out = fl.plan;
  else
    od_fit_plan_free(fl.plan);
  return status;
}

void od_fit_plan_free(od_fit_plan *plan) {
  if (!plan) return;
  for (int i = 0; i < plan->sets; i++) {
    od_fit_set *set = &plan->set[i];
    od_machine_free(set->truth);
    free(set->true_u);
    free(set->true_y);
    if (set->borrowed) continue;
    od_log_free(set->log);
    od_log_plan_free(&set->plan);
    free(set->channel);
  }
  for (int i = 0; i < plan->combinations; i++) free(plan->combination[i].power);
  free(plan->set);
  free(plan->combination);
  free(plan->constraint);
  od_experiment_free(plan->e);
  free(plan);
}
