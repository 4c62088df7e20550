// The job optimize: finds numbers with which a machine meets its requirements and its outputs are close to their targets.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/job.h"
#include "document/messages.h"
#include "document/suggest.h"
#include "memory/owned.h"
#include "optimize/optimize.h"
#include "jobs/open_machine.h"
#include "jobs/setting_values.h"
#include "jobs/select_outputs.h"
#include "jobs/write_variant.h"
#include "machine/machine.h"
#include "machine/machine_result.h"
#include "report/picture_figures.h"

enum { MOST = 32 };

typedef struct arguments {
  od_load_arguments load;
  od_words free, goals;
  const char *reserve, *starts;
  od_variant_arguments variant;
} arguments;

// Returns whether a --set option sets this number. If so, the value of the option is the start of the search.
static bool sets_number(const char *set, const char *path) {
  size_t length = strlen(path);
  return strncmp(set, path, length) == 0 && set[length + strspn(set + length, " ")] == '=';
}

typedef struct plan {
  od_arena arena;
  od_free_number number[MOST];
  char path[MOST][340];
  od_goal goal[MOST];
  od_optimize_options o;
} plan;

static void free_plan(plan *p) {
  od_arena_free(&p->arena);
}

// --- Options ------------------------------------------------------------------------------------------------------

// Loads a machine with one value of --search among the values of --set. The --set values were correct before, so messages about
// --set are printed as messages about --search. Returns false if the machine cannot be loaded.
static bool load_as_free(od_job *job, const char *file, const od_load_arguments *given, od_machine **machine) {
  OD_OWNED(od_messages_free) od_messages *found = od_messages_new();
  od_messages *shown = found ? od_messages_new() : NULL;
  if (!shown) return od_job_loaded(job, NULL, OD_NO_MEMORY) == OD_GO_ON;
  const od_load_options load = od_load_options_of(given);
  od_status status = od_machine_load(file, &load, machine, found);
  for (int i = 0; i < od_messages_count(found); i++) {
    const od_message *m = od_messages_get(found, i);
    const od_place place = {od_message_is_about_set(m) ? "--search" : m->file, m->line, m->column};
    od_messages_say(shown, m->is_warning, place, "%s", m->text);
  }
  return od_job_loaded(job, shown, status) == OD_GO_ON;
}

// Computes the SI value of a number if the file is loaded with the value `text` for this number. Returns false after
// reporting errors.
static bool value_with(od_job *job, const char *file, const arguments *a, const char *path, const char *text,
                       double *value) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  const char **list = OD_TAKE(&scratch, const char *, a->load.set.count + 1);
  int count = 0;
  if (od_job_has_memory(job, &scratch) != OD_GO_ON) return false;
  for (int i = 0; i < a->load.set.count; i++)
    if (!sets_number(a->load.set.text[i], path)) list[count++] = a->load.set.text[i];
  list[count++] = od_arena_format(&scratch, "%.340s=%.120s", path, text);
  if (od_job_has_memory(job, &scratch) != OD_GO_ON) return false;
  od_load_arguments load = a->load;
  load.set = (od_words){list, count};
  int number = load_as_free(job, file, &load, &machine) ? od_machine_number_find(machine, path) : -1;
  if (number >= 0) *value = od_machine_number(machine, number).value;
  return number >= 0;
}

// Reads "PATH=LOW:HIGH". A unit after HIGH also applies to LOW if LOW has no unit. Returns false after reporting an error.
static bool read_free(od_job *job, const char *file, const arguments *a, const od_machine *m, const char *text,
                      char path[340], od_free_number *f) {
  const char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
  char low[120], high[120];
  if (!colon || equals - text >= 340) {
    od_job_error(job, "--search: found '%s', expected PATH=LOW:HIGH, such as pid.kp='1 V/m:100 V/m'", text);
    return false;
  }
  snprintf(path, 340, "%.*s", (int)(equals - text), text);
  snprintf(low, sizeof low, "%.*s", (int)(colon - equals - 1), equals + 1);
  snprintf(high, sizeof high, "%s", colon + 1);
  int number = od_machine_number_find(m, path);
  if (number < 0) {
    od_nearest nearest = od_nearest_to(path);
    for (int i = 0; i < od_machine_number_count(m); i++) od_nearest_try(&nearest, od_machine_number(m, i).path);
    od_job_error(job, "--search: there is no number '%s'%s", path,
                 od_nearest_suggestion(&nearest, "'oleodyn info FILE' lists all numbers").text);
    return false;
  }
  const char *unit = high + strspn(high, " +-0123456789.eE");
  if (low[strspn(low, " +-0123456789.eE")] == '\0' && *unit) {
    size_t used = strlen(low);
    snprintf(low + used, sizeof low - used, " %s", unit);
  }
  const od_number x = od_machine_number(m, number);
  *f = (od_free_number){.path = path, .start = x.value, .unit = x.unit};
  if (!value_with(job, file, a, path, low, &f->low) || !value_with(job, file, a, path, high, &f->high)) return false;
  if (f->low < f->high) return true;
  od_job_error(job, "--search: the range of '%s' is empty; expected PATH=LOW:HIGH with LOW below HIGH", text);
  return false;
}

// Reads "OUTPUT:TAKE=TARGET". The target is in SI unless it has a unit. Returns false after reporting an error.
static bool read_goal(od_job *job, const od_machine *m, const char *text, od_goal *g) {
  const char *equals = strrchr(text, '='), *colon = NULL;
  for (const char *c = text; equals && c < equals; c++)
    if (*c == ':') colon = c;
  char output[160];
  int take = colon ? od_goal_take_find(colon + 1, (size_t)(equals - colon - 1)) : -1;
  if (take < 0 || colon - text >= (long)sizeof output) {
    od_job_error(
        job,
        "--goal: found '%s', expected OUTPUT:TAKE=TARGET with min, max, peak, mean, rms or final as TAKE, such as "
        "ram.force:max='20 kN'",
        text);
    return false;
  }
  snprintf(output, sizeof output, "%.*s", (int)(colon - text), text);
  *g = (od_goal){.output = od_job_find_output(job, m, "--goal: ", output), .take = (od_take)take};
  snprintf(g->name, sizeof g->name, "%.*s", (int)(equals - text), text);
  return g->output >= 0 &&
         od_setting_any_quantity(job, "goal", equals + 1, od_machine_output_unit(m, g->output), &g->target);
}

// Reads --search, --goal, --reserve and --starts. Returns OD_GO_ON, or the outcome after reporting all errors.
static int read_plan(od_job *job, const char *file, const arguments *a, const od_machine *m, plan *p) {
  bool ok = true;
  unsigned long long starts = 0;
  char *end = NULL;
  if (a->free.count == 0) {
    od_job_error(job, "no number is free; give at least one number: --search PATH=LOW:HIGH");
    return OD_JOB_BAD_INPUT;
  }
  if (a->free.count > MOST || a->goals.count > MOST) {
    od_job_error(job, "found --search %d times and --goal %d times, expected each at most %d times", a->free.count,
                 a->goals.count, MOST);
    return OD_JOB_BAD_INPUT;
  }
  for (int i = 0; i < a->free.count; i++)
    ok = read_free(job, file, a, m, a->free.text[i], p->path[i], &p->number[i]) && ok;
  for (int i = 0; i < a->goals.count; i++) ok = read_goal(job, m, a->goals.text[i], &p->goal[i]) && ok;
  double reserve = a->reserve ? strtod(a->reserve, &end) : 0.01;
  if (a->reserve && end > a->reserve && strcmp(end, "%") == 0) reserve /= 100, end++;
  if (a->reserve && (end == a->reserve || *end != '\0' || !(reserve >= 0 && reserve < 1))) {
    od_job_error(job, "--reserve: found '%s', expected a fraction of the bounds, such as 5%% or 0.05", a->reserve);
    ok = false;
  }
  ok = od_setting_whole(job, "starts", a->starts, &starts) && ok;
  if (starts > 1000) {
    od_job_error(job, "--starts: found %llu, expected 0 to 1000", starts);
    ok = false;
  }
  // The --set options of free numbers give only start values.
  const char **set = OD_TAKE(&p->arena, const char *, a->load.set.count);
  int sets = 0;
  OD_TRY(od_job_has_memory(job, &p->arena));
  for (int i = 0; i < a->load.set.count; i++) {
    bool is_free = false;
    for (int k = 0; k < a->free.count; k++) is_free = is_free || sets_number(a->load.set.text[i], p->path[k]);
    if (!is_free) set[sets++] = a->load.set.text[i];
  }
  p->o = (od_optimize_options){
      .path = file,
      .load = {.set = set, .set_count = sets, .variant = a->load.variant, .spatial = a->load.spatial},
      .number = p->number,
      .numbers = a->free.count,
      .goal = p->goal,
      .goals = a->goals.count,
      .reserve = reserve,
      .starts = (int)starts};
  return ok ? OD_GO_ON : OD_JOB_BAD_INPUT;
}

// --- The command --------------------------------------------------------------------------------------------------

static int search_and_write(od_job *job, const arguments *a, const od_machine *machine, plan *p) {
  OD_SCOPED(od_optimize_result_free) od_optimize_result r = {0};
  od_error err = {0};
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  p->o.progress = od_job_progress;
  p->o.user = job;
  od_status status = od_optimize(&p->o, &r, &err);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  if (status != OD_OK && status != OD_NOT_CONVERGED) return od_job_end_early(job, status, &err);
  if (!r.machine) {
    od_job_error(
        job, "%s",
        err.text[0] ? err.text : "no run was completed; choose other start values with --set, or use --starts");
    return OD_JOB_FAILED;
  }
  OD_SCOPED(od_result_free) od_result result = od_optimize_findings(&p->o, &r);
  OD_SCOPED(od_picture_free) od_picture picture = {.title = od_machine_caption(machine), .subtitle = "search"};
  od_picture_add_optimized(&picture, &p->o, &r);
  od_result_add_picture(&result, "Charts", &picture);
  od_variant_number found[MOST];
  for (int i = 0; i < p->o.numbers; i++)
    found[i] = (od_variant_number){p->number[i].path, p->number[i].unit, r.search->x[i], -1};
  const char *verdict = r.unmet > 0 ? "goals are not met" : "all goals are met";
  const od_variant_numbers variant = {machine, &a->variant, verdict, found, p->o.numbers};
  const od_file_contents contents = {.result = &result,
                                     .picture = &picture,
                                     .summary_always = true,
                                     .write[OD_FILE_VARIANT] = od_variant_write_numbers,
                                     .variant_user = &variant};
  int code = od_job_finish(job, &contents, &r.verdict);
  return code == OD_JOB_DONE && r.unmet > 0 ? OD_JOB_UNMET : code;
}

static const char details[] =
    "The goals are the requirements of the machine file and the targets of --goal. A requirement that passes with the\n"
    "reserve has no cost; otherwise its cost grows with the distance from its bound. Least squares finds a minimum close to\n"
    "the numbers of the file; with --starts the search also begins at other points. The output lists the goals that are met\n"
    "and the numbers at a bound, and states whether the result is a minimum. The verdict judges a run with the\nnumbers found, as in 'simulate'."
    " The exit code is 4 if a goal is not met, and 3 if this run is wrong.\n\n"
    "Examples\n"
    "  oleodyn optimize press.yaml --search 'pid.kp=1 V/m:100 V/m' --search 'bleed.area=0.1:5 mm2'\n"
    "  oleodyn optimize press.yaml --search lag.gain=0.5:5 --goal lag:final=1.9 --json found.json\n";

int od_kind_optimize(od_job *job) {
  arguments a = {0};
  const od_option options[] = {
      OD_LOAD_OPTIONS(&a.load),
      {"search", OD_OPTION_LIST, "PATH=LOW:HIGH", "path of a number to search for, and its range (repeatable)",
       &a.free},
      {"goal", OD_OPTION_LIST, "OUTPUT:TAKE=TARGET", "target value of an output, with or without a unit (repeatable)",
       &a.goals},
      {"reserve", OD_OPTION_TEXT, "PART",
       "distance to keep from the bound of each requirement, as a fraction of the bound;\ndefault: 0.01", &a.reserve},
      {"starts", OD_OPTION_TEXT, "N", "number of further points of the ranges at which the search begins; default: 0",
       &a.starts},
      OD_VARIANT_OPTIONS(&a.variant),
  };
  const od_usage usage = {"MACHINE", details, OD_OPTIONS(options),
                          .shared = {.file[OD_FILE_JSON] = "the findings",
                                     .file[OD_FILE_PLOT] = "the search, and the run with the numbers found",
                                     .file[OD_FILE_REPORT] = "findings and charts",
                                     .si = true,
                                     .quiet = true}};
  od_words files = {0};
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  OD_SCOPED(free_plan) plan p = {0};
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  OD_TRY(od_job_load_machine(job, files.text[0], &a.load, &machine));
  OD_TRY(read_plan(job, files.text[0], &a, machine, &p));
  OD_TRY(od_variant_check(job, &a.variant, &job->files.path[OD_FILE_VARIANT]));
  OD_TRY(od_job_prepare_files(job));
  return search_and_write(job, &a, machine, &p);
}
