#include "options/linear_options.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/exit_codes.h"
#include "options/option_values.h"
#include "terminal/progress.h"
#include "options/select_outputs.h"
#include "terminal/interrupts.h"
#include "terminal/terminal.h"
#include "document/suggest.h"
#include "io/display.h"
#include "linear/kinks.h"
#include "simulate/divergence.h"

void od_linear_arguments_free(od_linear_arguments *a) {
  od_load_arguments_free(&a->load);
  od_words_free(&a->inputs);
  od_words_free(&a->outputs);
  od_words_free(&a->hold);
  od_words_free(&a->release);
  od_words_free(&a->sweep.paths);
  od_point_state_free(a->state);
}

// Adds the inputs that match the pattern. False if none matches.
static bool add_inputs(const od_machine *machine, const char *pattern, int *list, int *count) {
  bool any = false;
  for (int i = 0; i < od_machine_input_count(machine); i++) {
    const char *name = od_machine_input_name(machine, i);
    if (strcmp(pattern, "all") != 0 && strcmp(pattern, name) != 0 && fnmatch(pattern, name, 0) != 0) continue;
    int k = 0;
    while (k < *count && list[k] != i) k++;
    if (k == *count) list[(*count)++] = i;
    any = true;
  }
  return any;
}

static void complain_unknown(const od_machine *machine, const char *name) {
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < od_machine_input_count(machine); i++) od_nearest_try(&nearest, od_machine_input_name(machine, i));
  if (nearest.best)
    od_cli_error("there is no input '%s'; did you mean '%s'?", name, nearest.best);
  else
    od_cli_error("there is no input '%s'; 'oleodyn info' lists the inputs", name);
}

int od_select_inputs(const od_machine *machine, const od_words *texts, int **out, int *count) {
  *out = NULL;
  *count = od_machine_input_count(machine);
  if (texts->count == 0) return -1;
  *out = calloc((size_t)*count + 1, sizeof **out);
  *count = 0;
  int code = *out ? -1 : OD_EXIT_FAILED;
  for (int i = 0; i < texts->count && *out; i++) {
    char *copy = strdup(texts->text[i]), *rest = NULL;
    if (!copy) return OD_EXIT_FAILED;
    for (char *name = strtok_r(copy, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
      if (add_inputs(machine, name, *out, count)) continue;
      complain_unknown(machine, name);
      code = OD_EXIT_BAD_INPUT;
    }
    free(copy);
  }
  return code;
}

// Reads "rail.rate=50 mm/s": the output and its value in SI.
static bool read_hold(const od_machine *machine, const char *text, od_held_output *hold) {
  const char *equals = strchr(text, '=');
  char name[300];
  snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - text : (long)strlen(text)), text);
  hold->output = od_machine_output_find(machine, name);
  if (!equals) {
    od_cli_error("--hold: '%s' has no value; write OUTPUT=VALUE", text);
    return false;
  }
  if (hold->output < 0) {
    od_nearest nearest = od_nearest_to(name);
    for (int i = 0; i < od_machine_output_count(machine); i++)
      od_nearest_try(&nearest, od_machine_output_name(machine, i));
    od_cli_error("--hold: there is no output '%s'%s", name,
                 nearest.best ? od_nearest_suggestion(&nearest).text : "; 'oleodyn info' lists the outputs");
    return false;
  }
  if (!od_option_any_quantity("hold", equals + 1, od_machine_output_unit(machine, hold->output), &hold->value))
    return false;
  if (!isfinite(hold->value)) od_cli_error("--hold: '%s' is not finite", text);
  return isfinite(hold->value);
}

static int read_point(const od_machine *machine, const od_linear_arguments *a, od_linear_plan *plan) {
  od_point_options *o = &plan->point;
  bool ok = od_option_quantity("at", a->at, "s", &o->time);
  ok = od_option_quantity("step", a->step, "s", &o->step) && ok;
  if (a->step && !a->at) {
    od_cli_error("--step is of the run to --at");
    ok = false;
  }
  if (a->release.count && !a->hold.count) {
    od_cli_error("--free: inputs are chosen to hold something; say what with --hold");
    ok = false;
  }
  plan->hold = calloc((size_t)a->hold.count + 1, sizeof *plan->hold);
  if (!plan->hold) return OD_EXIT_FAILED;
  for (int i = 0; i < a->hold.count; i++) ok = read_hold(machine, a->hold.text[i], &plan->hold[i]) && ok;
  int count = 0, code = od_select_inputs(machine, &a->release, &plan->released, &count);
  o->balance = a->balance;
  o->hold = plan->hold;
  o->holds = a->hold.count;
  o->free_inputs = plan->released;
  o->free_count = plan->released ? count : 0;
  o->outputs = plan->outputs.index;
  o->output_count = plan->outputs.count;
  return ok ? code : OD_EXIT_BAD_INPUT;
}

int od_linear_plan_make(const od_machine *machine, const od_linear_arguments *a, od_linear_plan *plan) {
  *plan = (od_linear_plan){0};
  int code = od_select_outputs(machine, &a->outputs, &plan->outputs);
  if (code < 0) code = od_select_inputs(machine, &a->inputs, &plan->inputs, &plan->input_count);
  if (code < 0) code = read_point(machine, a, plan);
  return code;
}

void od_linear_plan_free(od_linear_plan *plan) {
  od_selection_free(&plan->outputs);
  free(plan->inputs);
  free(plan->hold);
  free(plan->released);
  *plan = (od_linear_plan){0};
}

static od_status find_model(const od_machine *machine, const od_linear_plan *plan,
                            bool (*progress)(void *user, double done), void *user, od_linear_model **model,
                            od_error *err) {
  od_point_options options = plan->point;
  options.progress = progress;
  options.user = user;
  return od_linear_model_find(machine, &options, plan->inputs, plan->input_count, plan->state, model, err);
}

int od_cli_linearize(const char *path, const od_linear_arguments *a, od_machine **machine, od_linear_model **model) {
  od_linear_plan plan = {0};
  od_error err = {0};
  *model = NULL;
  int code = od_cli_load(path, &a->load, machine);
  if (code < 0) code = od_linear_plan_make(*machine, a, &plan);
  if (code < 0) code = od_files_check(&a->files);
  if (code < 0) code = od_files_spare(&a->files);
  plan.state = a->files.path[OD_FILE_STATE] ? a->state : NULL;
  if (code < 0) {
    od_progress progress = od_progress_start(a->quiet);
    od_status status = find_model(*machine, &plan, od_progress_tick, &progress, model, &err);
    od_progress_end(&progress);
    const char *text = err.text[0] ? err.text : od_status_text(status);
    if (status == OD_INTERRUPTED)
      fprintf(stderr, "oleodyn: %s\n", text);
    else if (status != OD_OK)
      od_cli_error("%s", text);
    if (status != OD_OK) code = od_exit_code(status);
  }
  od_linear_plan_free(&plan);
  return code;
}

// --- Sweeps ----------------------------------------------------------------------------------------------------------

static bool goes_on(void *user, double done) {
  (void)user, (void)done;
  return !od_signals_interrupted();
}

static int prepare_sweep(void *user, const od_machine *machine) {
  od_linear_sweep *s = user;
  od_linear_model *model = NULL;
  od_error err = {0};
  int code = od_linear_plan_make(machine, s->arguments, &s->plan);
  if (code >= 0 || !s->begin) return code;
  od_status status = find_model(machine, &s->plan, goes_on, NULL, &model, &err);
  if (status == OD_OK) {
    code = s->begin(s->user, machine, model);
  } else if (status == OD_INTERRUPTED) {
    fprintf(stderr, "oleodyn: interrupted before the first point\n");
    code = OD_EXIT_INTERRUPTED;
  } else {
    od_cli_error("the first point of the sweep: %s", err.text);
    code = OD_EXIT_FAILED;
  }
  od_linear_model_free(model);
  return code;
}

// Counts the points with warnings. Counters are independent of the order in which threads process the points.
static void count_warnings(od_linear_sweep *s, const od_linear_model *m) {
  if (od_linear_kink(m, 0)) atomic_fetch_add(&s->kinked, 1);
  if (od_linear_narrow(m, 0)) atomic_fetch_add(&s->narrow, 1);
  if (!m->rests) atomic_fetch_add(&s->moving, 1);
  if (m->samples) atomic_fetch_add(&s->sampled, 1);
}

static void warn_of_points(od_linear_sweep *s) {
  int kinked = atomic_load(&s->kinked), moving = atomic_load(&s->moving), sampled = atomic_load(&s->sampled);
  if (kinked)
    od_cli_warning("at %d point%s slopes differ on two sides; the linear model has their mean", kinked,
                   kinked > 1 ? "s" : "");
  if (atomic_load(&s->narrow))
    od_cli_warning("at %d point%s slopes change within " OD_NARROW_WORDS
                   "; the linear model holds for smaller movements only",
                   atomic_load(&s->narrow), atomic_load(&s->narrow) > 1 ? "s" : "");
  if (moving)
    od_cli_warning("at %d point%s the machine does not rest; the linear model holds for a short time only", moving,
                   moving > 1 ? "s" : "");
  if (sampled)
    od_cli_warning("sampled blocks hold what they put out: in the linear model the loops through them are open");
}

static od_status measure_point(void *user, const od_machine *machine, bool (*keeps_going)(void *, double), void *going,
                               od_sweep_row *row, od_error *err) {
  od_linear_sweep *s = user;
  od_linear_model *model = NULL;
  od_status status = find_model(machine, &s->plan, keeps_going, going, &model, err);
  if (status == OD_OK) status = s->measure(s->user, model, keeps_going, going, row, err);
  if (status == OD_OK && !keeps_going(going, 1)) status = OD_INTERRUPTED;
  if (status == OD_OK) count_warnings(s, model);
  od_linear_model_free(model);
  return status;
}

int od_linear_sweep_run(const char *path, od_linear_sweep *s) {
  const od_linear_arguments *a = s->arguments;
  const od_sweep_command sweep = {.path = path,
                                  .load = &a->load,
                                  .arguments = &a->sweep,
                                  .files = &a->files,
                                  .quiet = a->quiet,
                                  .prepare = prepare_sweep,
                                  .measure = measure_point,
                                  .finish = s->finish,
                                  .drawn = s->drawn,
                                  .user = s};
  int code = od_sweep_command_run(&sweep);
  warn_of_points(s);
  od_linear_plan_free(&s->plan);
  return code;
}

int od_linear_command_run(const od_linear_command *c, int argc, char **argv) {
  od_words files = {0};
  od_machine *machine = NULL;
  od_linear_model *model = NULL;
  int code = od_options_parse_counted(c->usage, argc, argv, 1, 1, &files);
  if (code < 0 && c->check) code = c->check(c->user);
  if (code < 0 && c->arguments->sweep.paths.count) code = od_linear_sweep_run(files.text[0], c->sweep);
  if (code < 0) code = od_cli_linearize(files.text[0], c->arguments, &machine, &model);
  od_signals_end_at_once();  // from here on there is no partial result to save
  if (code < 0) code = c->show(c->user, machine, model);
  od_linear_model_free(model);
  od_machine_free(machine);
  od_words_free(&files);
  od_linear_arguments_free(c->arguments);
  return code;
}
