// Reads a friction file into a plan.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "document/document.h"
#include "document/file_kind.h"
#include "document/ranges.h"
#include "document/suggest.h"
#include "friction_fit/friction_loader.h"
#include "friction_fit/friction_sections.h"
#include "machine/sections.h"

const char *const od_friction_methods[] = {"steady", "complete", "sequential", "dynamic", NULL};

// --- Tables -------------------------------------------------------------------------------------------------------

static const char *law_name(int i) {
  return i < od_friction_law_count() ? od_friction_laws[i]->name : NULL;
}

static const char *method_name(int i) {
  return od_friction_methods[i];
}

static const od_key truth_keys[] = {
    {"numbers", OD_TEXT, NULL, "entry of `laws` with the true numbers", .otherwise = "from `machine`"},
    {"law", OD_CHOICE, NULL, "law of the true friction", .otherwise = "law of the entry `numbers`", .choice = law_name},
    {"set", OD_NUMBER_MAP, NULL, "new values of numbers of the true law, by key"},
    {"machine", OD_TEXT, NULL,
     "friction element of the experiment's true machine whose numbers are the true numbers, such as main.friction"},
    {"position", OD_SECTION, NULL,
     "factor of the true law over the position. Simulated runs use this factor. With `machine`, the run uses the "
     "factor in the machine file; give the same factor here, for the comparison with the estimates",
     .inside = &od_friction_position_section},
};
static const od_section_class truth_section = {"friction truth", "law with which data are simulated",
                                               OD_KEYS(truth_keys)};

static const od_key fit_keys[] = {
    {"law", OD_CHOICE, NULL, "fitted law", .fallback = OD_REQUIRED, .choice = law_name},
    {"method", OD_CHOICE, NULL,
     "method of the fit. `steady`: points of steady motion, each direction separately. `complete`: all parameters from one run. "
     "`sequential`: points, then `tau_hn` from a step of the speed, then `sigma_0`. `dynamic`: points, then all other parameters "
     "together",
     .choice = method_name},
    {"start", OD_TEXT, NULL, "entry of `laws` with the start values, or `truth`", .fallback = OD_REQUIRED},
    {"set", OD_NUMBER_MAP, NULL,
     "new start values and fixed values of numbers of the fitted law, by key; `vb: 0 m/s`: computed from `vs` and `n`"},
    {"parameters", OD_TEXTS, NULL, "keys of the fitted numbers, for both directions",
     .otherwise = "all numbers without a default, and `viscous`"},
    {"search", OD_CHOICE, "reflective|levenberg-marquardt|gauss-newton", "search method",
     .fallback = OD_LS_LEVENBERG_MARQUARDT},
    {"logarithms", OD_CHOICE, "no|yes", "whether the search uses logarithms of the parameters",
     .otherwise = "`no` for `steady`, else `yes`"},
    {"start_factor", OD_NUMBER, "1", "factor by which all start values are multiplied", OD_POSITIVE, 1},
    {"start_spread", OD_NUMBER, "1",
     "for studies with `start: random`: largest factor by which a random start is above or below its start value",
     OD_POSITIVE, 5},
    {"accept", OD_NUMBER, "N",
     "largest accepted residual beyond the noise, root mean square; for points without a known noise, a search is accepted if "
     "residuals at neighboring speeds are not correlated",
     OD_POSITIVE, 0.05},
    {"evaluations", OD_WHOLE, "1", "largest number of evaluations of the law in a search", OD_POSITIVE, 200, {1, 1e9}},
    {"restarts",
     OD_WHOLE,
     "1",
     "largest number of restarts of a search that is not accepted. A restart has another `vs` and `n`; every second restart "
     "also uses forces from the data. The best search is the result",
     OD_NOT_NEGATIVE,
     12,
     {0, 1000}},
    {"substeps", OD_WHOLE, "1", "number of integration steps between two samples", OD_POSITIVE, 1, {1, 10000}},
    {"polish",
     OD_WHOLE,
     "1",
     "number of integration steps between two samples for a last search, which starts at the result; 0: no such search",
     OD_NOT_NEGATIVE,
     0,
     {0, 10000}},
    {"step_tolerance", OD_NUMBER, "1", "relative size of a step below which a search ends", OD_NOT_NEGATIVE, 1e-10},
    {"tolerance", OD_NUMBER, "1", "for studies: largest relative error at which a parameter counts as found",
     OD_POSITIVE, 0.01, OD_RANGE_TOLERANCE},
    {"normal", OD_NUMBERS, "Pa",
     "pressures in the two chambers at which the numbers are valid. `parameters` may contain `per_p1` and `per_p2`: the relative "
     "change of the law's [factor](machine-files.md#friction) per pressure. These parameters need a run with varying `pressures` "
     "and the method `complete`. `set` selects the numbers that are multiplied by the factor in addition to Fs and Fc "
     "(`factor_vs: 1`)",
     .otherwise = "0"},
    {"positions", OD_NUMBERS, "m",
     "2 to 12 positions in ascending order. The law's [factor](machine-files.md#friction) has the values `factor_x1`, "
     "`factor_x2`, ... at these positions and is linear in between. The entry `positions` of `parameters` stands for "
     "all of these values except that of `normal_position`. The key needs a run with positions and the method "
     "`complete`",
     .otherwise = "no dependence on the position"},
    {"normal_position", OD_NUMBER, "m", "one of `positions`, at which the factor is 1 and the numbers are valid",
     OD_ANY, 0, .otherwise = "the middle entry of `positions`"},
    {"noise", OD_NUMBER, "N", "standard deviation of the noise of a log's force", OD_NOT_NEGATIVE, 0,
     .otherwise = "from second differences, or from the [balance](friction-files.md#run)"},
    {"film_by", OD_CHOICE, "armax|least-squares", "estimation method of `tau_hn` (method `sequential`)"},
    {"film", OD_NUMBERS, "s",
     "first and last time of the part of the run from which `tau_hn` is estimated (method `sequential`)",
     .otherwise = "all"},
    {"bristles", OD_NUMBERS, "s",
     "first and last time of the part of the run from which `sigma_0` is estimated (method `sequential`)",
     .otherwise = "all"},
};
static const od_section_class fit_section = {"friction fit", "fitted law and settings of the fit", OD_KEYS(fit_keys)};

static const od_key file_keys[] = {
    {"friction", OD_TEXT, NULL, "title of the file", .fallback = OD_REQUIRED},
    {"laws", OD_SECTION_MAP, NULL, "laws with their numbers, by name", .fallback = OD_REQUIRED,
     .inside = &od_friction_section},
    {"truth", OD_SECTION, NULL, "law with which data are simulated", .inside = &truth_section},
    {"fit", OD_SECTION, NULL, "fitted law and settings of the fit", .inside = &fit_section, .fallback = OD_REQUIRED},
    {"points", OD_SECTION, NULL, "speeds and forces of steady motion", .inside = &od_friction_points_section},
    {"run", OD_SECTION, NULL, "speed and force over time", .inside = &od_friction_run_section},
    {"map", OD_SECTION, NULL, "pairs of chamber pressures at which the run is fitted",
     .inside = &od_friction_map_section},
    {"seed", OD_WHOLE, "1", "seed of simulated errors", OD_NOT_NEGATIVE, 1, {0, 9007199254740992.0}},
    {"repeats",
     OD_WHOLE,
     "1",
     "number of simulated measurements of a [series](friction-files.md#series), with the seeds `seed`, `seed` + 1, ...",
     OD_POSITIVE,
     1,
     {1, OD_MOST_SERIES}},
    {"variants", OD_SECTION_MAP, NULL, "partial files that override entries of this file",
     .inside = &od_friction_file_section},
};
const od_section_class od_friction_file_section = {"friction file", "a friction file", OD_KEYS(file_keys)};

// --- The true law -------------------------------------------------------------------------------------------------

// Reads the law and the numbers of a friction element ("main.friction") in the true machine of the run's experiment.
static void read_true_machine(od_friction_reader *r, const od_section *section) {
  od_loader *ld = &r->ld;
  od_friction_plan *plan = r->plan;
  int node = od_section_get(ld, section, "machine"), found = 0;
  const char *path =
      od_read_text(ld, node, "machine", "a friction element of the experiment's machine, such as main.friction");
  const od_friction_law *law = od_friction_read_law(r, od_section_need(ld, section, "law"));
  if (!r->has_experiment)
    od_complain(
        ld, node,
        "'machine' needs a run with an 'experiment', because 'machine' is a friction element of the true machine");
  if (!path || !law || !plan->log.experiment) return;
  const od_machine *m = plan->log.experiment->truth;
  plan->truth = (od_law_numbers){.name = path, .law = law};
  int base = law->sided + law->common;
  for (int i = 0; i < law->element->field_count; i++) {
    const od_element_field *f = &law->element->fields[i];
    int number = od_machine_number_find(m, od_format(ld, "%s.%s", path, f->key));
    plan->truth.q[i] = number >= 0 ? od_machine_number(m, number).value
                       : i >= base ? plan->truth.q[i - base]
                                   : f->fallback;
    found += number >= 0;
    plan->truth.two_sided = plan->truth.two_sided || (number >= 0 && i >= base);
    if (number < 0 && isnan(plan->truth.q[i])) found = -1000;
  }
  static const char *const per[] = {"pressure.per_a", "pressure.per_b"};
  for (int i = 0; i < 2; i++) {
    int number = od_machine_number_find(m, od_format(ld, "%s.%s", path, per[i]));
    if (number >= 0) plan->truth.q[OD_PER_P1 + i] = od_machine_number(m, number).value;
  }
  plan->simulates = found > 0;
  if (found <= 0)
    od_complain(
        ld, node,
        "the true machine has no friction element '%s' with the law '%s'; expected a name such as main.friction",
        od_excerpt(ld, path), law->name);
}

static void read_truth(od_friction_reader *r, int node) {
  od_loader *ld = &r->ld;
  if (node < 0) return;
  od_section section = od_section_open(ld, node, node, "truth", "truth", &truth_section);
  if (section.map < 0) return;
  int position = od_section_get(ld, &section, "position");
  if (od_section_get(ld, &section, "machine") >= 0 && !r->options->truth) {
    read_true_machine(r, &section);
    od_friction_read_true_position(r, position);
    return;
  }
  int named = r->options->truth ? -1 : od_section_need(ld, &section, "numbers");
  const char *name =
      r->options->truth ? r->options->truth : od_read_text(ld, named, "numbers", "the name of an entry of 'laws'");
  const od_law_numbers *numbers = name ? od_friction_find_numbers(r, named, name) : NULL;
  int law_node = od_section_get(ld, &section, "law");
  const od_friction_law *law = law_node >= 0 ? od_friction_read_law(r, law_node) : numbers ? numbers->law : NULL;
  if (!numbers || !law) return;
  r->plan->truth = od_law_numbers_as(numbers, law);
  r->plan->simulates = true;
  int set = od_section_get(ld, &section, "set");
  if (set >= 0) od_friction_read_changes(r, set, "truth.set", &r->plan->truth);
  od_friction_read_true_position(r, position);
}

// --- The fit ------------------------------------------------------------------------------------------------------

// Adds a parameter. If the law has numbers for each direction, a key of the positive direction adds both numbers.
static void add_parameter(od_friction_reader *r, int node, const char *key) {
  od_friction_plan *plan = r->plan;
  const od_friction_law *law = plan->start.law;
  int place = od_law_key(law, key), base = law->sided + law->common;
  if (place >= OD_FACTOR_X1 && place - OD_FACTOR_X1 >= plan->start.positions) {
    od_complain(&r->ld, node, "the parameter '%s' needs %d or more 'positions'; found %d", key,
                place - OD_FACTOR_X1 + 1, plan->start.positions);
    return;
  }
  if (place < 0 || (place >= od_friction_law_numbers(law, plan->start.two_sided) && !od_is_of_factor(place))) {
    od_friction_complain_no_number(r, node, law, od_friction_law_numbers(law, plan->start.two_sided), key);
    return;
  }
  int both[2] = {place, plan->start.two_sided && place < law->sided ? base + place : -1};
  for (int k = 0; k < 2 && both[k] >= 0; k++) {
    bool is_new = true;
    for (int i = 0; i < plan->parameters; i++) is_new = is_new && plan->parameter[i] != both[k];
    if (is_new) plan->parameter[plan->parameters++] = both[k];
  }
}

// Reads the parameters. The default is all numbers without a default value, and viscous friction.
static void read_parameters(od_friction_reader *r, int node) {
  od_loader *ld = &r->ld;
  const od_friction_law *law = r->plan->start.law;
  if (node >= 0 && ld->tree.node[node].kind != OD_TREE_LIST) {
    od_complain(ld, node, "found %s, expected a list of keys of the law, such as [Fs, Fc]", od_describe(ld, node));
    return;
  }
  for (int entry = node >= 0 ? ld->tree.node[node].first : -1; entry >= 0; entry = ld->tree.node[entry].next) {
    const char *key = od_read_text(ld, entry, "parameters", "a key of the law");
    bool all = key && strcmp(key, "positions") == 0;
    if (all && r->plan->start.positions == 0)
      od_complain(ld, entry, "the parameters 'positions' need the key 'positions' of 'fit'; add this key");
    for (int k = 0; all && k < r->plan->start.positions; k++)
      if (k != r->plan->normal_position) add_parameter(r, entry, od_law_field(law, OD_FACTOR_X1 + k)->key);
    if (key && !all) add_parameter(r, entry, key);
  }
  for (int i = 0; node < 0 && i < law->sided + law->common; i++) {
    const od_element_field *f = &law->element->fields[i];
    if (isnan(f->fallback) || strcmp(f->key, "viscous") == 0) add_parameter(r, node, f->key);
  }
}

static void read_start(od_friction_reader *r, const od_section *section) {
  od_loader *ld = &r->ld;
  od_friction_plan *plan = r->plan;
  const od_friction_law *law = od_friction_read_law(r, od_section_need(ld, section, "law"));
  int node = od_section_need(ld, section, "start");
  const char *name = node >= 0 ? od_read_text(ld, node, "start", "the name of an entry of 'laws', or truth") : NULL;
  const od_law_numbers *from = NULL;
  if (name && strcmp(name, "truth") == 0 && plan->simulates)
    from = &plan->truth;
  else if (name)
    from = od_friction_find_numbers(r, node, name);
  if (!law || !from) return;
  plan->start = od_law_numbers_as(from, law);
  od_friction_read_positions(r, section);
  int set = od_section_get(ld, section, "set");
  if (set >= 0) od_friction_read_changes(r, set, "fit.set", &plan->start);
  read_parameters(r, od_section_get(ld, section, "parameters"));
  for (int i = 0; i < plan->parameters; i++)
    if (!(fabs(plan->start.q[plan->parameter[i]]) > 0) && !od_is_per_pressure(plan->parameter[i]))
      od_complain(
          ld, section->node,
          "the start of the parameter '%s' is zero; expected a number other than zero. Change the start with 'set'",
          od_law_field(law, plan->parameter[i])->key);
}

bool od_friction_read_pair(od_friction_reader *r, int node, const char *path, const char *what, const od_field *field,
                           double out[2]) {
  od_loader *ld = &r->ld;
  const char *dot = strrchr(path, '.'), *key = dot ? dot + 1 : path;
  int pair[2];
  if (node < 0 || !od_read_list(ld, node, key, what, 2, pair)) return false;
  for (int i = 0; i < 2; i++)
    out[i] = od_number_value(ld, od_read_number(ld, pair[i], od_format(ld, "%s[%d]", path, i), field,
                                                od_place_of(ld, pair[i]), OD_IN_LOADER));
  return true;
}

void od_friction_read_times(od_friction_reader *r, const od_section *section, const char *path, const char *key,
                            double out[2]) {
  const od_field field = {key, "s", OD_NOT_NEGATIVE, 0};
  int node = od_section_get(&r->ld, section, key);
  out[0] = 0, out[1] = INFINITY;
  if (od_friction_read_pair(r, node, od_path(&r->ld, path, key), "two times", &field, out) && !(out[1] > out[0]))
    od_complain(&r->ld, node, "found the times %g s and %g s, expected a second time after the first time", out[0],
                out[1]);
}

// Reports data that the method requires but the file does not contain.
static void check_method(od_friction_reader *r, const od_section *section) {
  od_friction_plan *plan = r->plan;
  od_loader *ld = &r->ld;
  bool steady = plan->method == OD_FRICTION_STEADY, complete = plan->method == OD_FRICTION_COMPLETE;
  const char *name = od_friction_methods[plan->method];
  if (steady && !plan->points.given && !plan->has_run)
    od_complain(ld, section->node,
                "the method '%s' needs 'points', or a 'run' with settled parts; add one of these sections", name);
  if (!steady && !plan->has_run)
    od_complain(ld, section->node, "the method '%s' needs the section 'run'; add this section", name);
  if (plan->map.given && plan->map.log[0]) plan->log.file = plan->map.log[0];
  bool simulated =
      (plan->points.given && !plan->points.log) || (plan->has_run && !plan->log.file && !r->has_experiment);
  if (simulated && !plan->simulates)
    od_complain(ld, section->node, "data without a log are simulated; add the section 'truth'");
  bool follows = false;
  for (int i = 0; i < plan->parameters; i++) follows = follows || od_is_per_pressure(plan->parameter[i]);
  if (follows && (!complete || !(plan->log.balance.given || plan->log.pressure[0])))
    od_complain(
        ld, section->node,
        "'per_p1' and 'per_p2' need the method 'complete', and a log or an experiment with 'pressures' or a 'balance'");
  bool has_position = plan->log.file || r->has_experiment ? plan->log.position != NULL : plan->has_run;
  if (plan->start.positions > 0 && (!complete || !has_position))
    od_complain(
        ld, section->node,
        "'positions' need the method 'complete', and a run with positions: simulated, or with the column 'position'");
  if (plan->start.law && complete && !plan->start.law->has_family)
    od_complain(
        ld, section->node,
        "the law '%s' has no states that a run can determine; use the method 'steady' (for a run without settled "
        "parts, with 'points: {every: 10}')",
        plan->start.law->name);
}

static void read_fit(od_friction_reader *r, int node) {
  od_loader *ld = &r->ld;
  od_friction_plan *plan = r->plan;
  if (node < 0) return;
  od_section section = od_section_open(ld, node, node, "fit", "fit", &fit_section);
  if (section.map < 0) return;
  plan->method = (od_friction_method)od_key_setting(ld, &section, "method");
  plan->search = (od_ls_method)od_key_setting(ld, &section, "search");
  bool steady = plan->method == OD_FRICTION_STEADY, chosen = od_section_get(ld, &section, "logarithms") >= 0;
  plan->log_scale = chosen ? od_key_choice(ld, &section, "logarithms") == 1 : !steady;
  plan->film_by = (od_film_by)od_key_setting(ld, &section, "film_by");
  plan->start_factor = od_key_value(ld, &section, "start_factor");
  plan->accept = od_key_value(ld, &section, "accept");
  plan->evaluations = (long)od_key_whole(ld, &section, "evaluations");
  plan->restarts = (int)od_key_whole(ld, &section, "restarts");
  plan->substeps = (int)od_key_whole(ld, &section, "substeps");
  plan->polish = (int)od_key_whole(ld, &section, "polish");
  plan->step_tolerance = od_key_value(ld, &section, "step_tolerance");
  plan->tolerance = od_key_value(ld, &section, "tolerance");
  plan->noise = od_key_value(ld, &section, "noise");
  int spread = od_read_keys(ld, &section, OD_IN_LOADER, "start_spread", NULL);
  plan->start_spread = od_number_value(ld, spread);
  if (plan->start_spread < 1)
    od_complain_number(ld, spread, "'start_spread' is %g; expected at least 1", plan->start_spread);
  const od_field normal = od_key_field(&section, "normal");
  od_friction_read_pair(r, od_section_get(ld, &section, "normal"), "fit.normal", "two pressures", &normal,
                        plan->normal);
  od_friction_read_times(r, &section, "fit", "film", plan->film_time);
  od_friction_read_times(r, &section, "fit", "bristles", plan->bristle_time);
  read_start(r, &section);
  check_method(r, &section);
}

// Checks that the options of logs apply to the logs of the plan.
static void check_settings(const od_friction_reader *r) {
  const od_friction_plan *plan = r->plan;
  od_messages *messages = r->ld.messages;
  const od_log_settings *given = &plan->settings;
  const char *setting = od_log_settings_given(given), *replacing = given->data.count > 0  ? "--data"
                                                                   : r->options->logs > 0 ? "--run"
                                                                                          : NULL;
  const char *timed = given->start ? "--start" : given->end ? "--end" : given->interval ? "--interval" : NULL;
  const bool has_map = plan->map.given && plan->map.log[0];
  if (od_has_errors(&r->ld)) return;
  if (replacing && !plan->has_run)
    od_messages_add(messages, (od_place){.file = replacing},
                    "the file has no section 'run', so there is no log to replace; remove this option");
  else if (replacing && has_map)
    od_messages_add(messages, (od_place){.file = replacing},
                    "the logs of 'map' cannot be replaced; remove this option");
  else if (setting && !plan->log.file && !plan->points.log)
    od_messages_add(messages, (od_place){.file = setting}, "the data are simulated; expected a log, with --data");
  else if (timed && !plan->log.file)
    od_messages_add(messages, (od_place){.file = timed}, "points have no times; remove this option");
}

// Reads the number of runs of a series.
static void read_repeats(od_friction_reader *r, const od_section *file) {
  od_friction_plan *plan = r->plan;
  int node = od_section_get(&r->ld, file, "repeats");
  plan->repeats = (int)od_key_whole(&r->ld, file, "repeats");
  if (node >= 0 && plan->log.file && plan->repeats > 1)
    od_complain(&r->ld, node, "'repeats' needs simulated measurements, but the run has a log; give a list of logs");
  if (plan->logs > 0) plan->repeats = plan->logs;
  plan->settings = r->options->settings;
  check_settings(r);
  if (plan->map.given && plan->repeats > 1)
    od_complain(&r->ld, file->node,
                "found a series and a 'map'; expected only one of these. Remove 'map', 'repeats' or the list of logs");
}

// --- The file -----------------------------------------------------------------------------------------------------

static od_status read_file(void *user) {
  od_friction_reader *r = user;
  od_loader *ld = &r->ld;
  if (od_is_other_kind(ld, OD_FILE_FRICTION)) return OD_BAD_INPUT;
  od_section file = od_document_root(ld, "a friction", "'laws' and 'fit'", &od_friction_file_section);
  file.what = "a friction file";
  if (file.map < 0) return OD_BAD_INPUT;
  file.map = od_load_variants(ld, &od_friction_file_section, file.map, r->options->variant);
  const char *title = od_read_text(ld, od_section_need(ld, &file, "friction"), "friction", "a title");
  r->plan->title = title ? title : r->plan->path;
  r->plan->seed = (uint64_t)od_key_whole(ld, &file, "seed");
  od_friction_read_laws(r, od_section_need(ld, &file, "laws"));
  if (!r->plan->set) return OD_NO_MEMORY;
  od_friction_read_points(r, od_section_get(ld, &file, "points"));
  od_friction_read_run(r, od_section_get(ld, &file, "run"));
  read_truth(r, od_section_get(ld, &file, "truth"));
  od_friction_read_map(r, od_section_get(ld, &file, "map"));
  read_fit(r, od_section_need(ld, &file, "fit"));
  read_repeats(r, &file);
  if (!od_has_errors(ld)) od_numbers_report_unused(&ld->document->numbers, ld->messages);
  if (od_lacks_memory(ld)) return OD_NO_MEMORY;
  return od_has_errors(ld) ? OD_BAD_INPUT : OD_OK;
}

od_status od_friction_plan_load(const char *path, const od_friction_options *options, od_friction_plan **out,
                                od_messages *messages) {
  static const od_friction_options none = {0};
  od_friction_plan *plan = od_calloc(1, sizeof *plan);
  od_status status = OD_NO_MEMORY;
  int first = od_messages_count(messages);
  *out = NULL;
  if (plan) {
    od_friction_reader r = {.plan = plan, .options = options ? options : &none};
    r.ld = od_document_start(path, r.options->content, messages);
    plan->file = r.ld.document;
    if (plan->file) {
      plan->path = plan->file->file;
      status = od_document_load(&r.ld, r.options->set, r.options->set_count, read_file, &r);
    }
  }
  od_document_end(messages, first, NULL, status, path);
  if (status == OD_OK)
    *out = plan;
  else
    od_friction_plan_free(plan);
  return status;
}

void od_friction_plan_free(od_friction_plan *plan) {
  if (!plan) return;
  od_experiment_free(plan->log.experiment);
  od_document_free(plan->file);
  od_free(plan->set);
  od_free(plan);
}
