#include "jobs/linear_options.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "jobs/job.h"
#include "io/display.h"
#include "io/wording.h"
#include "linear/kinks.h"
#include "linear/response.h"
#include "memory/owned.h"
#include "jobs/setting_values.h"
#include "jobs/select_outputs.h"
#include "simulate/divergence.h"

// Adds the inputs that match the pattern. Returns false if no input matches.
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

// Finds the indices of the inputs given by the texts (names and patterns, separated by commas), in the arena. *out is
// NULL for all inputs. Returns OD_GO_ON, or the outcome after reporting errors.
static int select_inputs(od_job *job, const od_machine *machine, const od_words *texts, od_arena *arena, int **out,
                         int *count) {
  *out = NULL;
  *count = od_machine_input_count(machine);
  if (texts->count == 0) return OD_GO_ON;
  *out = OD_TAKE(arena, int, *count);
  OD_TRY(od_job_has_memory(job, arena));
  *count = 0;
  int code = OD_GO_ON;
  for (int i = 0; i < texts->count; i++) {
    char *rest = NULL, *list = od_arena_text(arena, texts->text[i]);
    for (char *name = strtok_r(list ? list : (char[]){""}, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
      if (add_inputs(machine, name, *out, count)) continue;
      od_job_find_input(job, machine, "", name);  // prints the message
      code = OD_JOB_BAD_INPUT;
    }
  }
  return code;
}

// Reads "rail.rate=50 mm/s": the output and its value in SI. Returns false after reporting an error.
static bool read_hold(od_job *job, const od_machine *machine, const char *text, od_held_output *hold) {
  const char *equals = strchr(text, '=');
  char name[300];
  snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - text : (long)strlen(text)), text);
  if (!equals) {
    od_job_error(job, "--hold: '%s' has no value; write OUTPUT=VALUE", text);
    return false;
  }
  hold->output = od_job_find_output(job, machine, "--hold: ", name);
  if (hold->output < 0) return false;
  if (!od_setting_any_quantity(job, "hold", equals + 1, od_machine_output_unit(machine, hold->output), &hold->value))
    return false;
  if (!isfinite(hold->value)) od_job_error(job, "--hold: '%s' is not finite; expected a finite value", text);
  return isfinite(hold->value);
}

static int read_point(od_job *job, const od_machine *machine, const od_linear_arguments *a, od_linear_plan *plan) {
  od_held_output *hold = OD_TAKE(&plan->arena, od_held_output, a->hold.count);
  OD_TRY(od_job_has_memory(job, &plan->arena));
  int *released, count = 0;
  od_point_options *o = &plan->point;
  bool ok = od_setting_quantity(job, "at", a->at, "s", &o->time);
  ok = od_setting_quantity(job, "step", a->step, "s", &o->step) && ok;
  if (a->step && !a->at) {
    od_job_error(job, "--step requires --at, because --step is the step of the run to the time of --at");
    ok = false;
  }
  if (a->release.count && !a->hold.count) {
    od_job_error(job, "--adjust requires --hold, because inputs are adjusted to hold outputs");
    ok = false;
  }
  for (int i = 0; i < a->hold.count; i++) ok = read_hold(job, machine, a->hold.text[i], &hold[i]) && ok;
  int code = select_inputs(job, machine, &a->release, &plan->arena, &released, &count);
  o->balance = a->balance;
  o->hold = hold;
  o->holds = a->hold.count;
  o->free_inputs = released;
  o->free_count = released ? count : 0;
  o->outputs = plan->outputs.index;
  o->output_count = plan->outputs.count;
  return ok ? code : OD_JOB_BAD_INPUT;
}

// Creates the plan from the arguments. Returns OD_GO_ON, or the outcome after reporting errors.
static int make_plan(od_job *job, const od_machine *machine, const od_linear_arguments *a, od_linear_plan *plan) {
  *plan = (od_linear_plan){0};
  OD_TRY(od_select_outputs(job, machine, &a->outputs, &plan->outputs));
  OD_TRY(select_inputs(job, machine, &a->inputs, &plan->arena, &plan->inputs, &plan->input_count));
  return read_point(job, machine, a, plan);
}

static void free_plan(od_linear_plan *plan) {
  od_selection_free(&plan->outputs);
  od_arena_free(&plan->arena);
}

static od_status find_model(const od_machine *machine, const od_linear_plan *plan,
                            bool (*progress)(void *user, double done), void *user, od_linear_model **model,
                            od_error *err) {
  od_point_options options = plan->point;
  options.progress = progress;
  options.user = user;
  return od_linear_model_find(machine, &options, plan->inputs, plan->input_count, plan->state, model, err);
}

// Finds the operating point and linearizes the machine at this point. Returns OD_GO_ON, or the outcome after reporting
// errors.
static int linearize(od_job *job, const od_machine *machine, const od_linear_arguments *a, od_linear_model **model) {
  OD_SCOPED(free_plan) od_linear_plan plan = {0};
  od_error err = {0};
  OD_TRY(make_plan(job, machine, a, &plan));
  OD_TRY(od_job_prepare_files(job));
  plan.state = job->files.path[OD_FILE_STATE] ? a->state : NULL;
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  od_status status = find_model(machine, &plan, od_job_progress, job, model, &err);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  return status == OD_OK ? OD_GO_ON : od_job_end_early(job, status, &err);
}

// --- Sweeps ----------------------------------------------------------------------------------------------------------

static int prepare_sweep(od_job *job, void *user, const od_machine *machine) {
  od_linear_sweep *s = user;
  OD_OWNED(od_linear_model_free) od_linear_model *model = NULL;
  od_error err = {0};
  OD_TRY(make_plan(job, machine, s->arguments, &s->plan));
  if (!s->begin) return OD_GO_ON;
  od_status status = find_model(machine, &s->plan, od_job_progress, job, &model, &err);
  if (status == OD_OK) return s->begin(job, s->user, machine, model);
  if (status == OD_INTERRUPTED) {
    od_job_say(job, OD_MESSAGE_STOP, "interrupted before the first point");
    return OD_JOB_INTERRUPTED;
  }
  od_job_error(job, "the first point of the sweep failed: %s", err.text);
  return OD_JOB_FAILED;
}

static void warn_of_points(od_job *job, od_linear_sweep *s) {
  int kinked = atomic_load(&s->kinked), narrow = atomic_load(&s->narrow), moving = atomic_load(&s->moving);
  if (kinked)
    od_job_warning(job, "at %s the slopes differ on the two sides; the linear model uses their mean",
                   od_count(kinked, "point").text);
  if (narrow)
    od_job_warning(job,
                   "at %s the slopes change within " OD_NARROW_WORDS
                   "; the linear model is valid only for smaller changes of speeds",
                   od_count(narrow, "point").text);
  if (moving)
    od_job_warning(job, "at %s the machine is not in equilibrium; the linear model is valid only for a short time",
                   od_count(moving, "point").text);
  if (atomic_load(&s->sampled))
    od_job_warning(job,
                   "sampled blocks hold their outputs; in the linear model the loops through these blocks are open");
}

static od_status measure_point(void *user, const od_machine *machine, bool (*keeps_going)(void *, double), void *going,
                               od_sweep_row *row, od_error *err) {
  od_linear_sweep *s = user;
  OD_OWNED(od_linear_model_free) od_linear_model *model = NULL;
  od_status status = find_model(machine, &s->plan, keeps_going, going, &model, err);
  if (status == OD_OK) status = s->measure(s->user, model, keeps_going, going, row, err);
  if (status == OD_OK && !keeps_going(going, 1)) status = OD_INTERRUPTED;
  if (status != OD_OK) return status;
  // The counts do not depend on the order in which threads process the points.
  if (od_linear_kink(model, 0)) atomic_fetch_add(&s->kinked, 1);
  if (od_linear_narrow(model, 0)) atomic_fetch_add(&s->narrow, 1);
  if (!model->rests) atomic_fetch_add(&s->moving, 1);
  if (model->samples) atomic_fetch_add(&s->sampled, 1);
  return OD_OK;
}

static int run_sweep(od_job *job, const char *path, od_linear_sweep *s) {
  const od_linear_arguments *a = s->arguments;
  const od_sweep_job sweep = {.path = path,
                              .load = &a->load,
                              .arguments = &a->sweep,
                              .prepare = prepare_sweep,
                              .measure = measure_point,
                              .finish = s->finish,
                              .drawn = s->drawn,
                              .user = s};
  int code = od_sweep_job_run(job, &sweep);
  warn_of_points(job, s);
  free_plan(&s->plan);
  return code;
}

int od_linear_job_run(od_job *job, const od_linear_job *c) {
  od_words files = {0};
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  OD_OWNED(od_linear_model_free) od_linear_model *model = NULL;
  OD_TRY(od_job_begin(job, c->usage, 1, 1, &files));
  if (c->check) OD_TRY(c->check(job, c->user));
  const od_linear_arguments *a = c->sweep->arguments;
  if (a->sweep.paths.count) return run_sweep(job, files.text[0], c->sweep);
  OD_TRY(od_job_load_machine(job, files.text[0], &a->load, &machine));
  OD_TRY(linearize(job, machine, a, &model));
  od_job_begin_stage(job, OD_STAGE_PREPARE);  // from here on there is no partial result to save
  return c->show(job, c->user, machine, model);
}

// --- Frequencies of responses -----------------------------------------------------------------------------------------

int od_frequencies_choose(od_job *job, const od_frequency_arguments *a, const od_linear_model *model, int points,
                          od_arena *arena, double **out, int *count) {
  double low, high;
  od_frequencies_range(model, &low, &high);
  *count = points;
  bool ok = od_setting_quantity(job, "low", a->low, "Hz", &low);
  ok = od_setting_quantity(job, "high", a->high, "Hz", &high) && ok;
  ok = od_setting_count(job, "points", a->points, count) && ok;
  if (!ok) return OD_JOB_BAD_INPUT;
  if (!(low < high)) {
    od_job_error(job, "--low and --high: found %.6g Hz to %.6g Hz; expected a highest frequency above the lowest", low,
                 high);
    return OD_JOB_BAD_INPUT;
  }
  if (*count < 2 || *count > 1000000) {
    od_job_error(job, "--points: found %d, expected 2 to 1000000 frequencies", *count);
    return OD_JOB_BAD_INPUT;
  }
  *out = od_frequencies_make(low, high, *count, arena);
  return *out ? OD_GO_ON : od_job_end_early(job, OD_NO_MEMORY, &(od_error){.text = "out of memory"});
}
