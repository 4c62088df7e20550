// Reads a fit file into a plan: an experiment file with parameters to be fitted and five more sections.
//
//   fit           method, integrator, start of predictions, loss, starts, held-out rows
//   sets          the data: logs or simulated runs, fitted or only predicted
//   prepare       preparation of signals
//   combinations  user-defined functions of the parameters
//   constraints   relations between parameters
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "document/ranges.h"
#include "document/suggest.h"
#include "experiment/experiment_sections.h"
#include "experiment/experiment_loader.h"
#include "identify/fit.h"
#include "machine/machine.h"
#include "machine/method_names.h"
#include "model/model.h"

const char *const od_fit_methods[] = {"reflective", "levenberg-marquardt", "gauss-newton",
                                      "truncate",   "active-set",          NULL};

// --- Tables -------------------------------------------------------------------------------------------------------

static const char *method_name(int i) {
  return od_fit_methods[i];
}

static const od_key shooting_keys[] = {
    {"segments", OD_WHOLE, "1", "number of segments of each fitted set", OD_POSITIVE, 0, {1, 1e6}, "from `length`"},
    {"length", OD_NUMBER, "s", "duration of a segment", OD_POSITIVE, 0, .otherwise = "from `segments`"}};
static const od_section_class shooting_section = {"shooting", "`auto`, `no`, or the segments of predictions",
                                                  OD_KEYS(shooting_keys), .or_word = true};

#define START_WORDS "model|rest|unknown|first-row"

static const od_key fit_keys[] = {
    {"method", OD_CHOICE, NULL,
     "search method. `reflective`: interior trust region with steps reflected at bounds; `truncate`: for comparison, can stop "
     "too early at a bound; `active-set`: for fits with `constraints` or `shooting`",
     .choice = method_name},
    {"integrator", OD_CHOICE, NULL,
     "integration method of predictions. `exact`: exact discretization, for linear machines and uniform samples; "
     "[other integrators](machine-files.md#the-run)",
     .choice = od_fit_integrator, .otherwise = "the experiment's `integrator`, or `exact` if possible, or `trapezoid`"},
    {"hold", OD_CHOICE, "linear|previous", "interpolation of inputs between samples; `hold` of a log takes precedence"},
    {"start", OD_CHOICE, START_WORDS,
     "initial state of predictions. `model`: the model's initial state. `rest`: the equilibrium under the first inputs. `unknown`: "
     "the initial state of each fitted set is also fitted; validation sets start at the model's initial state. `first-row`: as `unknown`, and "
     "the search begins with the state nearest to the model's initial state that gives the measurements of the first row; validation "
     "sets start with this state"},
    {"loss", OD_CHOICE, "linear|soft-l1|huber|cauchy|arctan",
     "loss function: least squares (`linear`), or a robust loss"},
    {"loss_scale", OD_NUMBER, "1", "residual, in sigmas, above which a robust loss reduces the weight", OD_POSITIVE, 1},
    {"starts",
     OD_WHOLE,
     "1",
     "number of additional random starts between the bounds; all parameters then need bounds, and the best result is kept",
     OD_NOT_NEGATIVE,
     0,
     {0, 1e6}},
    {"hold_out", OD_NUMBER, "1", "fraction of each fitted set, at its end, that is predicted but not fitted: `20 %`",
     OD_NOT_NEGATIVE, 0},
    {"noise", OD_CHOICE, "unknown|known",
     "interpretation of the sensors' sigmas. `unknown`: sigmas are only weights, and the standard deviations of the estimates follow "
     "from the residuals. `known`: sigmas are exact, and the standard deviations follow from the sigmas"},
    {"evaluations", OD_WHOLE, "1", "largest number of predictions of all rows, per start", OD_POSITIVE, 200, {1, 1e9}},
    {"substeps",
     OD_WHOLE,
     "1",
     "number of integration steps between two samples; without effect for `exact`",
     OD_POSITIVE,
     1,
     {1, 1e6}},
    {"shooting", OD_SECTION, NULL,
     "multiple shooting: predictions in segments, for [long and unstable records](fit-files.md#long-and-unstable-records): `auto`, "
     "`{segments: 20}`, `{length: 0.5 s}`, or `no`",
     .otherwise = "no", .inside = &shooting_section},
};
const od_section_class od_fit_section = {"fit settings", "settings of a fit", OD_KEYS(fit_keys)};

static const od_key prepare_keys[] = {
    {"resample", OD_NUMBER, "s",
     "new sampling interval of all signals; short gaps (3 old intervals) are filled by straight lines; a low-pass filter is applied "
     "first if the interval becomes longer",
     OD_POSITIVE, 0, OD_RANGE_INTERVAL, "none"},
    {"detrend", OD_CHOICE, "none|mean|linear", "trend that is subtracted from all signals"},
    {"low_pass",
     OD_NUMBER,
     "Hz",
     "corner frequency of a zero-phase low-pass filter for all sensors and inputs; the same filter preserves linear relations",
     OD_POSITIVE,
     0,
     {1e-9, 1e9, 1e-4, 1e5},
     "none"},
    {"smooth_window",
     OD_WHOLE,
     "1",
     "odd number of samples in the window of Savitzky-Golay smoothing, which is applied to sensor values only",
     OD_POSITIVE,
     0,
     {3, 1e6},
     "none"},
    {"smooth_order", OD_WHOLE, "1", "polynomial order of Savitzky-Golay smoothing", OD_NOT_NEGATIVE, 2, {0, 20}},
    {"outliers", OD_NUMBER, "1",
     "distance from the moving median, in robust standard deviations (for example 5), beyond which sensor values are removed",
     OD_POSITIVE, 0, .otherwise = "none"},
    {"outlier_window",
     OD_WHOLE,
     "1",
     "odd number of samples in the window of the moving median for `outliers`",
     OD_POSITIVE,
     0,
     {5, 1e6},
     "21"},
};
const od_section_class od_prepare_section = {"prepare", "preparation of logs before a fit", OD_KEYS(prepare_keys)};

static const od_key set_keys[] = {
    {"use", OD_CHOICE, "fit|validate",
     "use of the set. `validate`: the set is predicted with the fitted parameters, but not fitted"},
    {"data", OD_SECTION, NULL, "log of the set, with the keys of [`data`](logs.md)", .inside = &od_log_section},
    {"simulate", OD_SECTION, NULL, "true machine of this set only: `{variant: step, set: {oil.kp: 1500 MPa}}`",
     .otherwise = "the true machine of the file", .inside = &od_model_section},
    {"time", OD_NUMBER, "s", "duration of the simulation", OD_POSITIVE, 0, OD_RANGE_TIME,
     "`time` of the true machine's run, else `time` of the file"},
    {"start", OD_CHOICE, START_WORDS,
     "initial state of this set, as [`start` of `fit`](fit-files.md#how). `unknown` in a validation set: the initial state is fitted to the "
     "set, with the fitted parameters",
     .otherwise = "`start` of `fit`"},
    {"noise", OD_CHOICE, "yes|no",
     "noise of a simulated set. `no`: measurements have only scale and bias, without noise, dropouts, faults, delay, drift, resolution and range"},
};
const od_section_class od_fit_set_section = {"set", "data set of a fit", OD_KEYS(set_keys)};

static const od_key combination_keys[] = {
    {"powers", OD_NUMBER_MAP, NULL, "factors of a product: parameters and their powers"},
    {"sum", OD_NUMBER_MAP, NULL, "terms of a weighted sum: parameters and their weights"}};
const od_section_class od_combination_section = {"combination", "user-defined function of the parameters",
                                                 OD_KEYS(combination_keys)};

// --- Settings of the fit ------------------------------------------------------------------------------------------

// Reads the integration rule. The default is the experiment's integrator. The name after the last integrator is `exact`.
static od_rule read_rule(od_loader *ld, const od_section *section, const od_experiment *e) {
  int chosen = od_section_get(ld, section, "integrator") >= 0 ? od_key_choice(ld, section, "integrator") : -1;
  const od_integrator *integrator = chosen >= 0 ? od_integrator_at(chosen) : e->integrator;
  return (od_rule){.integrator = integrator, .exact = !integrator};
}

// Reports settings and machines for which shooting is not possible: exact discretization, estimated delays, switches, and memory
// outside the state (sampled blocks, integrals), because a prediction cannot begin with this memory at a node.
static void check_shooting(od_experiment_loader *xl, const od_fit_plan *plan, int node) {
  od_loader *ld = &xl->ld;
  const od_model *m = xl->e->model ? od_machine_model(xl->e->model) : NULL;
  if (plan->rule_is_given && plan->rule.exact)
    od_complain(ld, node, "'shooting' needs integration steps; found 'integrator: exact', expected another integrator");
  if (!m) return;
  if (m->samplers > 0)
    od_complain(
        ld, node,
        "'shooting' needs a machine without sampled blocks, because the memory of a block is not part of the state; remove "
        "'shooting'");
  for (int i = 0; i < xl->e->parameters; i++)
    if (xl->e->parameter[i].sensor >= 0 && xl->e->parameter[i].calibrated == OD_SENSOR_DELAY)
      od_complain(ld, node,
                  "'shooting' cannot estimate '%s'; remove 'shooting', or give the delay as 'delay' of the channel",
                  xl->e->parameter[i].path);
  if (od_model_switchers(m) > 0)
    od_complain(ld, node, "'shooting' needs a machine without switches, but '%s' switches; remove 'shooting'",
                od_model_switcher_name(m, 0));
  for (int i = 0; i < xl->e->sensors; i++) {
    int output = od_machine_output_find(xl->e->model, xl->e->sensor[i].name);
    if (output >= 0 && m->output[output].kind >= OD_OUT_INTEGRAL)
      od_complain(ld, node,
                  "'shooting' cannot continue the integral '%s' across segments; fit the rate of the integral instead",
                  xl->e->sensor[i].name);
  }
}

// Reads the key 'shooting': auto, no, {segments: 20} or {length: 0.5 s}.
static void read_shooting(od_experiment_loader *xl, od_fit_plan *plan, const od_section *how) {
  static const char *const words[] = {"auto", "no", NULL};
  od_loader *ld = &xl->ld;
  int node = od_section_get(ld, how, "shooting");
  if (node < 0 || ld->tree.node[node].kind == OD_TREE_NULL) return;
  if (ld->tree.node[node].kind == OD_TREE_TEXT) {
    plan->shooting.on = od_read_choice(ld, node, "shooting", words) != 1;
    if (plan->shooting.on) check_shooting(xl, plan, node);
    return;
  }
  od_section section = od_section_open(ld, node, node, "fit.shooting", "shooting", &shooting_section);
  if (section.map < 0) return;
  plan->shooting.on = true;
  int first = od_read_keys(ld, &section, OD_IN_LOADER, "segments", "length", NULL);
  bool segments = od_number_is_given(ld, first), length = od_number_is_given(ld, first + 1);
  if (segments) plan->shooting.segments = (int)od_read_whole(ld, first, "segments", 1, 1e6);
  plan->shooting.length = od_number_value(ld, first + 1);
  if (segments && length)
    od_complain_number(ld, first + 1, "found both 'segments' and 'length', expected one of these keys");
  if (!segments && !length && !section.has_unknown)
    od_complain(ld, node, "'shooting' needs 'segments' or 'length', or the word 'auto'; give one of them");
  check_shooting(xl, plan, node);
}

static void read_how(od_experiment_loader *xl, od_fit_plan *plan, int node) {
  od_loader *ld = &xl->ld;
  od_section section = od_section_empty(&od_fit_section, ld->tree.root, "fit", "fit");
  if (node >= 0) section = od_section_open(ld, node, node, "fit", "fit", &od_fit_section);
  plan->method = (od_ls_method)od_key_setting(ld, &section, "method");
  plan->rule_is_given = xl->e->integrator_is_given || od_section_get(ld, &section, "integrator") >= 0;
  plan->rule = read_rule(ld, &section, xl->e);
  plan->hold = (od_hold)od_key_setting(ld, &section, "hold");
  plan->start = (od_fit_start)od_key_setting(ld, &section, "start");
  plan->loss = (od_ls_loss)od_key_setting(ld, &section, "loss");
  plan->known_noise = od_key_setting(ld, &section, "noise") == 1;
  plan->loss_scale = od_key_value(ld, &section, "loss_scale");
  plan->starts = (int)od_key_whole(ld, &section, "starts");
  int hold_out = od_read_keys(ld, &section, OD_IN_LOADER, "hold_out", NULL);
  plan->hold_out = od_number_value(ld, hold_out);
  plan->evaluations = (long)od_key_whole(ld, &section, "evaluations");
  plan->substeps = (int)od_key_whole(ld, &section, "substeps");
  read_shooting(xl, plan, &section);
  if (plan->hold_out >= 1)
    od_complain_number(ld, hold_out, "'hold_out' is %g; expected less than 1 (100 %%)", plan->hold_out);
}

// --- Preparation of signals ---------------------------------------------------------------------------------------

// Reads the length of a window, which must be odd, so that the window has a sample in the middle. Returns 0 if the key is not
// given.
static int read_window(od_loader *ld, const od_section *section, const char *key, int number) {
  const od_limits *l = &od_key_of(section->of, key)->limits;
  if (!od_number_is_given(ld, number)) return 0;
  double size = od_read_whole(ld, number, key, l->low, l->high);
  if (fmod(od_number_value(ld, number), 2) == 0)
    od_complain_number(ld, number, "'%s' is %.0f; expected an odd number", key, od_number_value(ld, number));
  return (int)size;
}

static void read_prepare(od_experiment_loader *xl, od_fit_plan *plan, int node) {
  od_loader *ld = &xl->ld;
  od_section section = od_section_empty(&od_prepare_section, ld->tree.root, "prepare", "prepare");
  if (node >= 0) section = od_section_open(ld, node, node, "prepare", "prepare", &od_prepare_section);
  int first = od_read_keys(ld, &section, OD_IN_LOADER, "resample", "low_pass", "smooth_window", "smooth_order",
                           "outliers", "outlier_window", NULL);
  int smooth_window = read_window(ld, &section, "smooth_window", first + 2);
  int smooth_order = (int)od_read_whole(ld, first + 3, "smooth_order", 0, 20);
  int outlier_window = read_window(ld, &section, "outlier_window", first + 5);
  bool smooths = od_number_is_given(ld, first + 2), ordered = od_number_is_given(ld, first + 3);
  if (ordered && !smooths)
    od_complain_number(ld, first + 3,
                       "'smooth_order' has no effect without 'smooth_window'; give both, or remove 'smooth_order'");
  if (smooths && od_number_value(ld, first + 2) <= od_number_value(ld, first + 3))
    od_complain_number(ld, first + 2, "'smooth_window' is %.0f; expected more than 'smooth_order' (%.0f)",
                       od_number_value(ld, first + 2), od_number_value(ld, first + 3));
  plan->prepare = (od_prepare){.resample = od_number_value(ld, first),
                               .detrend = (od_detrend)od_key_setting(ld, &section, "detrend"),
                               .low_pass = od_number_value(ld, first + 1),
                               .savgol_window = smooth_window,
                               .savgol_order = smooths ? smooth_order : 0,
                               .outliers = od_number_value(ld, first + 4),
                               .outlier_window = outlier_window};
}

// --- Data sets ----------------------------------------------------------------------------------------------------

static const char one_hold[] =
    "inputs of this log have several kinds of 'hold'; a fit needs the same 'hold' for all inputs that change";

static od_fit_set *new_set(od_fit_plan *plan, od_loader *ld) {
  od_fit_set *set = od_arena_extend(&plan->arena, plan->set, plan->sets, sizeof *set);
  if (!set) {
    ld->no_memory = true;
    return NULL;
  }
  plan->set = set;
  return &plan->set[plan->sets++];
}

// Reads the log of a set. All inputs must have the same hold.
static void load_held_log(od_experiment_loader *xl, od_fit_set *set, int node) {
  od_load_log(xl, &set->plan, &set->log);
  if (set->log && !od_log_unify_hold(&set->plan)) od_complain(&xl->ld, node, "%s", one_hold);
}

static void read_logged(od_experiment_loader *xl, od_fit_plan *plan, od_fit_set *set, int node, const char *path) {
  const od_experiment *e = xl->e;
  od_log_plan_read(&xl->ld, node, path, e->model, &set->plan);
  set->channel = OD_TAKE(&plan->arena, int, e->sensors + od_machine_input_count(e->model));
  if (!set->channel || !od_load_channels(e, &set->plan, set->channel))
    xl->ld.no_memory = true;
  else if (!set->plan.file)
    od_complain(&xl->ld, node, "'data' needs 'file', the name of a log");
  else
    load_held_log(xl, set, node);
}

static void read_set(od_experiment_loader *xl, od_fit_plan *plan, int key) {
  od_loader *ld = &xl->ld;
  const char *name = od_text_of(ld, key), *path = od_format(ld, "sets.%s", name);
  od_section section = od_section_open(ld, od_value(ld, key), key, path,
                                       od_format(ld, "the set '%s'", od_excerpt(ld, name)), &od_fit_set_section);
  od_fit_set *set = section.map >= 0 ? new_set(plan, ld) : NULL;
  if (!set) return;
  set->name = name;
  set->validates = od_key_setting(ld, &section, "use") == 1;
  set->clean = od_key_setting(ld, &section, "noise") == 1;
  set->start_is_given = od_section_get(ld, &section, "start") >= 0;
  if (set->start_is_given) set->start = (od_fit_start)od_key_setting(ld, &section, "start");
  int number = od_read_keys(ld, &section, OD_IN_LOADER, "time", NULL);
  set->time = od_number_value(ld, number);
  int data = od_section_get(ld, &section, "data"), simulate = od_section_get(ld, &section, "simulate");
  if (data >= 0 && od_number_is_given(ld, number))
    od_complain_number(ld, number, "'time' is only for simulated sets; use 'start' and 'end' of 'data'");
  if (data >= 0 && set->clean)
    od_complain(ld, od_section_get(ld, &section, "noise"), "'noise' is only for simulated sets; remove this key");
  if (data >= 0 && simulate >= 0) {
    od_complain(ld, simulate, "found both 'data' and 'simulate', expected one of these keys");
  } else if (data >= 0) {
    read_logged(xl, plan, set, data, od_format(ld, "%s.data", path));
  } else {
    // The default is the true machine of the experiment.
    if (simulate >= 0) set->truth = od_load_machine_of(xl, &section, "simulate");
    if (simulate < 0 && !xl->e->truth)
      od_complain(ld, key, "the set '%s' needs 'data' or 'simulate'; give one of these keys", name);
    if (!(set->time > 0) && set->truth) set->time = od_machine_run(set->truth)->time;
    if (!(set->time > 0)) set->time = xl->e->time;
    if (!(set->time > 0) && (set->truth || xl->e->truth))
      od_complain(ld, key, "the set '%s' needs 'time', the duration of the simulation", name);
    if (set->time / xl->e->step > 1e8)
      od_complain(ld, key,
                  "the set '%s' has %.3g samples; expected at most 100 million. Reduce 'time', or increase 'step'",
                  name, set->time / xl->e->step);
  }
}

// Returns whether the log of --data replaces a set. The log replaces all fitted sets; validation sets remain.
static bool is_replaced(od_experiment_loader *xl, int key) {
  od_loader *ld = &xl->ld;
  int map = od_value(ld, key);
  const od_section section = {.map = map >= 0 && ld->tree.node[map].kind == OD_TREE_MAP ? map : -1};
  int use = section.map >= 0 ? od_section_get(ld, &section, "use") : -1;
  const char *text = use >= 0 && ld->tree.node[use].kind == OD_TREE_TEXT ? od_text_of(ld, use) : "fit";
  return xl->options->log.data.count > 0 && strcmp(text, "validate") != 0;
}

// Adds the log or the true machine of the experiment as a set.
static void add_own_set(od_experiment_loader *xl, od_fit_plan *plan) {
  const od_experiment *e = xl->e;
  od_fit_set *set = new_set(plan, &xl->ld);
  if (!set) return;
  *set = (od_fit_set){.name = "data", .log = e->log, .channel = e->channel, .time = e->time, .borrowed = true};
  if (e->log) set->plan = e->data;
  if (e->log && !od_log_unify_hold(&set->plan)) od_messages_add(xl->ld.messages, e->data.place, "%s", one_hold);
}

// Reads the sets. Without sets in the file, or with --data, the fitted set is the log or the true machine of the experiment.
static void read_sets(od_experiment_loader *xl, od_fit_plan *plan, int node) {
  od_loader *ld = &xl->ld;
  const od_experiment *e = xl->e;
  bool fitted = false;
  if (e->data.file && strcmp(e->data.file, "-") == 0)
    od_messages_add(ld->messages, e->data.place, "a fit needs a complete log, not a stream; give the name of a file");
  for (int key = od_first(ld, node, "data sets"); key >= 0; key = od_next(ld, key))
    if (!od_is_repeated(ld, node, key) && !is_replaced(xl, key)) read_set(xl, plan, key);
  const bool has_own_set = plan->sets == 0 || xl->options->log.data.count > 0;
  const char *setting = od_log_settings_given(&xl->options->log);
  if (setting && !(e->log && has_own_set) && !od_has_errors(ld))
    od_messages_add(
        ld->messages, (od_place){.file = setting},
        "found no log to which this option applies; expected --data, or the section 'data' of the file with 'file'. "
        "Logs of 'sets' have their own keys");
  if (has_own_set && !od_has_errors(ld)) add_own_set(xl, plan);
  for (int i = 0; i < plan->sets; i++) {
    od_fit_set *set = &plan->set[i];
    fitted = fitted || !set->validates;
    if (set->log && !set->borrowed)
      set->log->plan = &set->plan;  // the array of sets does not move any more, so
                                    // addresses of sets remain valid
  }
  if (plan->sets > 0 && !fitted && xl->options->log.data.count == 0)
    od_complain(ld, node, "all sets are for validation; a fit needs at least one set with 'use: fit'");
}

// --- True values ----------------------------------------------------------------------------------------------------

// Returns the value of a parameter in the machine with which a fitted set was simulated; NAN for a log, whose true machine
// is not known.
static double true_value(const od_fit_set *set, const od_estimated *p) {
  if (set->log) return NAN;
  if (!set->truth || p->number < 0) return p->truth;
  int number = od_machine_number_find(set->truth, p->path);
  return number < 0 ? (double)NAN : od_machine_number(set->truth, number).value;
}

// Stores true values. A parameter has a true value only if all fitted sets were simulated, with the same value.
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
  od_complain(ld, key, "'%s' is not a parameter of the fit%s", od_excerpt(ld, path),
              od_nearest_suggestion(&nearest, "name an entry of 'parameters'").text);
  return -1;
}

static void read_factors(od_experiment_loader *xl, int node, const char *path, const char *what, double *to) {
  od_loader *ld = &xl->ld;
  for (int key = od_first(ld, node, what); key >= 0; key = od_next(ld, key)) {
    const od_field field = {od_text_of(ld, key), "1", OD_ANY, NAN};
    int parameter = find_parameter(xl, key);
    int number = od_read_number(ld, od_value(ld, key), od_format(ld, "%s.%s", path, od_text_of(ld, key)), &field,
                                od_place_of(ld, key), OD_IN_LOADER);
    if (parameter >= 0) to[parameter] = od_number_value(ld, number);
  }
}

static void read_combination(od_experiment_loader *xl, od_fit_plan *plan, int key) {
  od_loader *ld = &xl->ld;
  const char *name = od_text_of(ld, key), *path = od_format(ld, "combinations.%s", name);
  od_section section =
      od_section_open(ld, od_value(ld, key), key, path, od_format(ld, "the combination '%s'", od_excerpt(ld, name)),
                      &od_combination_section);
  if (section.map < 0) return;
  od_combination *list = od_arena_extend(&plan->arena, plan->combination, plan->combinations, sizeof *list);
  od_combination c = {name, OD_TAKE(&plan->arena, double, xl->e->parameters),
                      OD_TAKE(&plan->arena, double, xl->e->parameters)};
  if (od_arena_status(&plan->arena) != OD_OK) {
    ld->no_memory = true;
    return;
  }
  plan->combination = list;
  if (od_section_get(ld, &section, "powers") < 0 && od_section_get(ld, &section, "sum") < 0)
    od_complain(ld, key, "the combination '%s' needs 'powers' or 'sum'; give one of these keys", od_excerpt(ld, name));
  read_factors(xl, od_section_get(ld, &section, "powers"), od_format(ld, "%s.powers", path), "parameters and powers",
               c.power);
  read_factors(xl, od_section_get(ld, &section, "sum"), od_format(ld, "%s.sum", path), "parameters and weights",
               c.weight);
  plan->combination[plan->combinations++] = c;
}

// --- Constraints: relations between parameters --------------------------------------------------------------------
//
//   constraints:
//     - friction.coulomb <= friction.static
//     - spring.k1 = 2 * spring.k2
//     - 0.1 <= leak.a + leak.b <= 1
//
// A chain becomes one constraint per relation. Equalities come first, as the search requires.

static const char *name_of(const void *user, int i) {
  return ((const od_experiment *)user)->parameter[i].path;
}
static const char *unit_of(const void *user, int i) {
  return ((const od_experiment *)user)->parameter[i].unit;
}

static bool names_parameter(const od_expression *e) {
  for (int i = 0; i < e->count; i++)
    if (e->operation[i].kind == OD_OPERATION_VARIABLE) return true;
  return false;
}

static const char *part_of(od_loader *ld, const char *text, const od_relation *r, int from, int to) {
  return od_copy(ld, text + r->begin[from], (size_t)(r->end[to] - r->begin[from]));
}

static void add_constraint(od_experiment_loader *xl, od_fit_plan *plan, const char *text, const od_relation *r, int i) {
  od_fit_constraint *list = od_arena_extend(&plan->arena, plan->constraint, plan->constraints, sizeof *list);
  if (!list) {
    xl->ld.no_memory = true;
    return;
  }
  plan->constraint = list;
  bool equality = r->kind[i] == OD_EQUAL;
  int at = plan->constraints++;
  // Equalities come first. Within each kind, constraints are in the order of the file.
  for (; equality && at > plan->equalities; at--) list[at] = list[at - 1];
  plan->equalities += equality;
  list[at] = (od_fit_constraint){.text = part_of(&xl->ld, text, r, i, i + 1),
                                 .left_text = part_of(&xl->ld, text, r, i, i),
                                 .right_text = part_of(&xl->ld, text, r, i + 1, i + 1),
                                 .kind = r->kind[i],
                                 .left = r->side[i],
                                 .right = r->side[i + 1]};
}

// Returns the place of character `at` of a one-line text in the file.
static od_place place_in(const od_loader *ld, int node, int at) {
  od_place place = od_place_of(ld, node);
  place.column += at;
  return place;
}

static void read_relation(od_experiment_loader *xl, od_fit_plan *plan, od_relation *r, int node) {
  od_loader *ld = &xl->ld;
  const od_expression_names names = {xl->e->parameters, name_of, unit_of, xl->e, ld->units};
  od_expression_problem problem;
  if (ld->tree.node[node].kind == OD_TREE_MAP) {
    od_complain(ld, node, "found a map, expected a relation such as 'a + b <= 1'");
    return;
  }
  const char *text = od_read_text(ld, node, "a constraint", "a relation such as 'a + b <= 1'");
  if (!text) return;
  if (!od_relation_parse(text, &names, r, &problem)) {
    od_messages_add(ld->messages, place_in(ld, node, problem.at), "in the constraint '%s': %s", od_excerpt(ld, text),
                    problem.text);
    return;
  }
  for (int i = 0; i + 1 < r->sides; i++)
    if (names_parameter(&r->side[i]) || names_parameter(&r->side[i + 1]))
      add_constraint(xl, plan, text, r, i);
    else
      od_messages_add(ld->messages, place_in(ld, node, r->begin[i]),
                      "'%s' contains no parameter of the fit; a constraint needs at least one parameter",
                      part_of(ld, text, r, i, i + 1));
}

static void read_constraints(od_experiment_loader *xl, od_fit_plan *plan, int node) {
  od_loader *ld = &xl->ld;
  if (node < 0 || ld->tree.node[node].kind == OD_TREE_NULL) return;
  if (ld->tree.node[node].kind != OD_TREE_LIST) {
    od_complain(ld, node, "found %s, expected a list of relations, such as '- a + b <= 1'", od_describe(ld, node));
    return;
  }
  OD_SCRATCH(scratch);
  od_relation *r = OD_TAKE(&scratch, od_relation, 1);
  if (!r) ld->no_memory = true;
  for (int entry = ld->tree.node[node].first; r && entry >= 0; entry = ld->tree.node[entry].next)
    read_relation(xl, plan, r, od_tree_value(&ld->tree, entry));
}

// --- The complete file --------------------------------------------------------------------------------------------

// Reports parameters without two bounds if the plan has random starts.
static void check_bounds(od_experiment_loader *xl, const od_fit_plan *plan, int node) {
  od_loader *ld = &xl->ld;
  for (int key = od_first(ld, node, "parameters"); plan->starts > 0 && key >= 0; key = od_next(ld, key))
    for (int i = 0; i < xl->e->parameters; i++) {
      const od_estimated *p = &xl->e->parameter[i];
      if (strcmp(p->path, od_text_of(ld, key)) == 0 && !(isfinite(p->low) && isfinite(p->high)))
        od_complain(ld, key, "'%s' needs 'low' and 'high', because 'starts' are drawn between the bounds", p->path);
    }
}

// Selects the active-set method for constraints and shooting. Rejects any other method in the file.
static void check_method(od_experiment_loader *xl, od_fit_plan *plan, int how) {
  int node = od_map_find(&xl->ld, how, "method");
  if (plan->constraints == 0 && !plan->shooting.on) return;
  if (node >= 0 && plan->method != OD_LS_ACTIVE_SET)
    od_complain(&xl->ld, node, "found the method '%s', expected 'active-set' (the default) for %s",
                od_fit_methods[plan->method], plan->shooting.on ? "fits with 'shooting'" : "'constraints'");
  plan->method = OD_LS_ACTIVE_SET;
}

static void read_more(void *user, od_experiment_loader *xl, const od_section *file) {
  od_fit_plan *plan = user;
  od_loader *ld = &xl->ld;
  read_how(xl, plan, od_section_get(ld, file, "fit"));
  check_bounds(xl, plan, od_section_get(ld, file, "parameters"));
  read_prepare(xl, plan, od_section_get(ld, file, "prepare"));
  read_sets(xl, plan, od_section_get(ld, file, "sets"));
  keep_truths(xl->e, plan);
  int combinations = od_section_get(ld, file, "combinations");
  for (int key = od_first(ld, combinations, "combinations"); key >= 0; key = od_next(ld, key))
    if (!od_is_repeated(ld, combinations, key)) read_combination(xl, plan, key);
  read_constraints(xl, plan, od_section_get(ld, file, "constraints"));
  check_method(xl, plan, od_section_get(ld, file, "fit"));
  if (xl->e->parameters == 0 && !od_has_errors(ld))
    od_complain(ld, ld->tree.root, "a fit needs at least one entry in 'parameters'; add a number of the machine");
}

od_status od_fit_plan_load(const char *path, const od_experiment_options *options, od_fit_plan **out,
                           od_messages *messages) {
  od_experiment_options mine = options ? *options : (od_experiment_options){0};
  od_fit_plan *plan = *out = od_calloc(1, sizeof *plan);
  if (!plan) return OD_NO_MEMORY;
  plan->cost_tolerance = 1e-12, plan->step_tolerance = 1e-9, plan->precision = 1e-11;
  mine.more = read_more;
  mine.user = plan;
  od_status status = od_experiment_load(path, &mine, &plan->e, messages);
  if (status == OD_OK) return OD_OK;
  od_fit_plan_free(plan);
  *out = NULL;
  return status;
}

void od_fit_plan_free(od_fit_plan *plan) {
  if (!plan) return;
  for (int i = 0; i < plan->sets; i++) {
    od_fit_set *set = &plan->set[i];
    od_machine_free(set->truth);
    od_fit_data_free(set->true_motion);
    if (set->borrowed) continue;
    od_log_free(set->log);
    od_log_plan_free(&set->plan);
  }
  od_experiment_free(plan->e);
  od_arena_free(&plan->arena);
  od_free(plan);
}
