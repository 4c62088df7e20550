// oleodyn optimize: searches numbers of a machine that meet its requirements and bring outputs close to their targets.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "options/open_machine.h"
#include "options/option_values.h"
#include "terminal/print_verdict.h"
#include "terminal/progress.h"
#include "options/result_files.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"
#include "output/write_variant.h"
#include "document/messages.h"
#include "document/suggest.h"
#include "optimize/optimize_result.h"

enum { MOST = 32 };

typedef struct arguments {
  od_load_arguments load;
  od_words free, goals;
  const char *reserve, *starts;
  od_files files;
  od_variant_arguments variant;
  bool quiet, si;
} arguments;

// Whether a --set option sets this number. Its value is then the start of the search.
static bool sets_number(const char *set, const char *path) {
  size_t length = strlen(path);
  return strncmp(set, path, length) == 0 && set[length + strspn(set + length, " ")] == '=';
}

typedef struct plan {
  od_free_number number[MOST];
  char path[MOST][340];
  od_goal goal[MOST];
  const char **set;  // the --set options that are not about free numbers
  int sets;
  od_optimize_options o;
} plan;

// Lists the --set options that stay constant. For free numbers --set only gives the start value.
static bool list_sets(const arguments *a, plan *p) {
  p->set = calloc((size_t)a->load.set.count + 1, sizeof *p->set);
  for (int i = 0; p->set && i < a->load.set.count; i++) {
    bool is_free = false;
    for (int k = 0; k < a->free.count; k++) is_free = is_free || sets_number(a->load.set.text[i], p->path[k]);
    if (!is_free) p->set[p->sets++] = a->load.set.text[i];
  }
  return p->set != NULL;
}

// --- Options ------------------------------------------------------------------------------------------------------

// Loads a machine with one value of --free among the values of --set. The --set values were correct before, so messages about
// --set are printed as messages about --free.
static bool load_as_free(const char *file, const od_load_arguments *load, od_machine **machine) {
  od_messages *found = od_messages_new(), *told = od_messages_new();
  int code = OD_EXIT_FAILED;
  if (found && told) {
    code = od_cli_load_content(file, (od_content){0}, load, machine, found);
    for (int i = 0; i < od_messages_count(found); i++) {
      const od_message *m = od_messages_get(found, i);
      const od_place place = {od_message_is_about_set(m) ? "--free" : m->file, m->line, m->column};
      od_messages_say(told, m->is_warning, place, "%s", m->text);
    }
    od_messages_print(told, stderr, od_terminal_colour(stderr));
  } else {
    od_cli_error("memory ran out");
  }
  od_messages_free(found);
  od_messages_free(told);
  return code < 0;
}

// The SI value of a number when the file is loaded with `text` for it. False after the loader's messages.
static bool value_with(const char *file, const arguments *a, const char *path, const char *text, double *value) {
  char set[480];
  const char **list = calloc((size_t)a->load.set.count + 2, sizeof *list);
  od_machine *machine = NULL;
  if (!list) return false;
  int count = 0;
  for (int i = 0; i < a->load.set.count; i++)
    if (!sets_number(a->load.set.text[i], path)) list[count++] = a->load.set.text[i];
  snprintf(set, sizeof set, "%.340s=%.120s", path, text);
  list[count++] = set;
  od_load_arguments load = a->load;
  load.set = (od_words){list, count, 0};
  bool ok = load_as_free(file, &load, &machine);
  int number = ok ? od_machine_number_find(machine, path) : -1;
  if (number >= 0) *value = od_machine_number(machine, number).value;
  od_machine_free(machine);
  free(list);
  return ok && number >= 0;
}

// Reads "PATH=LOW:HIGH". A unit after HIGH also applies to LOW.
static bool read_free(const char *file, const arguments *a, const od_machine *m, const char *text, char path[340],
                      od_free_number *f) {
  const char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
  char low[120], high[120];
  if (!colon || equals - text >= 340) {
    od_cli_error("--free: '%s' is not PATH=LOW:HIGH, such as pid.kp='1 V/m:100 V/m'", text);
    return false;
  }
  snprintf(path, 340, "%.*s", (int)(equals - text), text);
  snprintf(low, sizeof low, "%.*s", (int)(colon - equals - 1), equals + 1);
  snprintf(high, sizeof high, "%s", colon + 1);
  int number = od_machine_number_find(m, path);
  if (number < 0) {
    od_nearest nearest = od_nearest_to(path);
    for (int i = 0; i < od_machine_number_count(m); i++) od_nearest_try(&nearest, od_machine_number(m, i).path);
    od_cli_error("--free: there is no number '%s'%s", path,
                 nearest.best ? od_nearest_suggestion(&nearest).text : "; 'oleodyn info' lists them");
    return false;
  }
  const char *unit = high + strspn(high, " +-0123456789.eE");
  if (low[strspn(low, " +-0123456789.eE")] == '\0' && *unit) {
    size_t used = strlen(low);
    snprintf(low + used, sizeof low - used, " %s", unit);
  }
  const od_number x = od_machine_number(m, number);
  *f = (od_free_number){.path = path, .start = x.value, .unit = x.unit};
  if (!value_with(file, a, path, low, &f->low) || !value_with(file, a, path, high, &f->high)) return false;
  if (f->low < f->high) return true;
  od_cli_error("--free: '%s' ends where it begins or below; expected PATH=LOW:HIGH", text);
  return false;
}

// Reads "OUTPUT:TAKE=TARGET". The target is in SI unless it has a unit.
static bool read_goal(const od_machine *m, const char *text, od_goal *g) {
  const char *equals = strrchr(text, '='), *colon = NULL;
  for (const char *c = text; equals && c < equals; c++)
    if (*c == ':') colon = c;
  char output[160];
  int take = colon ? od_goal_take_find(colon + 1, (size_t)(equals - colon - 1)) : -1;
  if (take < 0 || colon - text >= (long)sizeof output) {
    od_cli_error(
        "--goal: '%s' is not OUTPUT:TAKE=TARGET with min, max, peak, mean, rms or final as TAKE, such as "
        "ram.force:max='20 kN'",
        text);
    return false;
  }
  snprintf(output, sizeof output, "%.*s", (int)(colon - text), text);
  *g = (od_goal){.output = od_machine_output_find(m, output), .take = (od_take)take};
  snprintf(g->name, sizeof g->name, "%.*s", (int)(equals - text), text);
  if (g->output >= 0)
    return od_option_any_quantity("goal", equals + 1, od_machine_output_unit(m, g->output), &g->target);
  od_nearest nearest = od_nearest_to(output);
  for (int i = 0; i < od_machine_output_count(m); i++) od_nearest_try(&nearest, od_machine_output_name(m, i));
  od_cli_error("--goal: there is no output '%s'%s", output, od_nearest_suggestion(&nearest).text);
  return false;
}

static int read_plan(const char *file, const arguments *a, const od_machine *m, plan *p) {
  bool ok = true;
  unsigned long long starts = 0;
  char *end = NULL;
  if (a->free.count == 0 || a->free.count > MOST || a->goals.count > MOST) {
    od_cli_error(a->free.count == 0 ? "--free: nothing is free; give the numbers to search, --free PATH=LOW:HIGH"
                                    : "--free and --goal: at most %d of each",
                 MOST);
    return OD_EXIT_BAD_INPUT;
  }
  for (int i = 0; i < a->free.count; i++) ok = read_free(file, a, m, a->free.text[i], p->path[i], &p->number[i]) && ok;
  for (int i = 0; i < a->goals.count; i++) ok = read_goal(m, a->goals.text[i], &p->goal[i]) && ok;
  double reserve = a->reserve ? strtod(a->reserve, &end) : 0.01;
  if (a->reserve && end > a->reserve && strcmp(end, "%") == 0) reserve /= 100, end++;
  if (a->reserve && (end == a->reserve || *end != '\0' || !(reserve >= 0 && reserve < 1))) {
    od_cli_error("--reserve: found '%s', expected a part of the bounds such as 5%% or 0.05", a->reserve);
    ok = false;
  }
  if (ok && a->starts && od_option_whole("starts", a->starts, &starts) >= 0) ok = false;
  if (starts > 1000) {
    od_cli_error("--starts: %llu are too many; at most 1000", starts);
    ok = false;
  }
  if (!list_sets(a, p)) return OD_EXIT_FAILED;
  p->o = (od_optimize_options){
      .path = file,
      .load = {.set = p->set, .set_count = p->sets, .variant = a->load.variant, .spatial = a->load.spatial},
      .number = p->number,
      .numbers = a->free.count,
      .goal = p->goal,
      .goals = a->goals.count,
      .reserve = reserve,
      .starts = (int)starts};
  return ok ? -1 : OD_EXIT_BAD_INPUT;
}

// --- The command --------------------------------------------------------------------------------------------------

static int search_and_write(const arguments *a, const od_machine *machine, plan *p) {
  od_optimize_result r;
  od_error err = {0};
  od_progress progress = od_progress_start(a->quiet);
  p->o.progress = od_progress_tick;
  p->o.user = &progress;
  od_status status = od_optimize(&p->o, &r, &err);
  od_progress_end(&progress);
  int code = status == OD_OK || status == OD_NOT_CONVERGED ? -1 : od_exit_code(status);
  if (r.machine && code < 0) {
    FILE *notes = od_files_notes(&a->files, a->quiet);
    od_result result = od_optimize_findings(&p->o, &r);
    od_show_result(&result, notes);
    od_variant_number found[MOST];
    for (int i = 0; i < p->o.numbers; i++)
      found[i] = (od_variant_number){p->number[i].path, p->number[i].unit, r.search->x[i], -1};
    const char *verdict = r.unmet > 0 ? "goals are not met" : "all goals are met";
    const od_variant_numbers variant = {machine, &a->variant, verdict, found, p->o.numbers};
    const od_file_contents contents = {
        .result = &result, .write[OD_FILE_VARIANT] = od_variant_write_numbers, .variant_user = &variant};
    bool written = od_files_write(&a->files, &contents, notes);
    od_result_free(&result);
    code = od_cli_verdict_exit(&r.verdict);
    if (code == OD_EXIT_OK && r.unmet > 0) code = OD_EXIT_UNMET;
    if (!written) code = OD_EXIT_FAILED;
  } else {
    if (status == OD_INTERRUPTED)
      fprintf(stderr, "oleodyn: %s\n", err.text);
    else
      od_cli_error("%s", err.text[0] ? err.text : "no run came to its end");
    if (code < 0) code = OD_EXIT_FAILED;
  }
  od_optimize_result_free(&r);
  return code;
}

static const char details[] =
    "Goals are the requirements of the machine file, and those of --goal. A requirement that is met counts nothing; one that is not\n"
    "counts by how far it is from its bound and a reserve. Least squares finds a minimum near the numbers that the file has;\n"
    "--starts begins elsewhere as well. It is said which goals are met, which numbers stand at an end of their range, and whether this is a\n"
    "minimum. The verdict is on the run with these numbers, as that of simulate. The exit code is 4 where a goal is not met, 3 where\n"
    "that run is not sound.\n\n"
    "Examples\n"
    "  oleodyn optimize press.yaml --free 'pid.kp=1 V/m:100 V/m' --free 'bleed.area=0.1:5 mm2'\n"
    "  oleodyn optimize press.yaml --free lag.gain=0.5:5 --goal lag:final=1.9 --json found.json\n";

int od_command_optimize(int argc, char **argv) {
  arguments a = {0};
  const od_option options[] = {
      OD_LOAD_OPTIONS(&a.load),
      {"free", OD_OPTION_LIST, "PATH=LOW:HIGH", "a number to search, and between which values (repeatable)", &a.free},
      {"goal", OD_OPTION_LIST, "OUTPUT:TAKE=TARGET", "what an output should be, with or without a unit (repeatable)",
       &a.goals},
      {"reserve", OD_OPTION_TEXT, "PART", "what is to be left to the bound of a requirement; default 1%", &a.reserve},
      {"starts", OD_OPTION_TEXT, "N", "begin at so many other points between the ends as well", &a.starts},
      OD_VARIANT_OPTIONS(&a.variant),
  };
  const od_usage usage = {
      "optimize",
      "MACHINE",
      "search numbers of a machine so that its requirements are met",
      details,
      options,
      (int)(sizeof options / sizeof *options),
      .shared = {.files = &a.files, .file[OD_FILE_JSON] = "the findings", .si = &a.si, .quiet = &a.quiet}};
  od_words files = {0};
  od_machine *machine = NULL;
  plan *p = calloc(1, sizeof *p);
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  if (code < 0 && !p) code = OD_EXIT_FAILED;
  if (code < 0) code = od_cli_load(files.text[0], &a.load, &machine);
  if (code < 0) code = read_plan(files.text[0], &a, machine, p);
  if (code < 0) code = od_variant_check(&a.variant, &a.files.path[OD_FILE_VARIANT]);
  if (code < 0) code = od_files_check(&a.files);
  if (code < 0) code = od_files_spare(&a.files);
  if (code < 0) code = search_and_write(&a, machine, p);
  od_machine_free(machine);
  if (p) free(p->set);
  free(p);
  od_words_free(&files);
  od_words_free(&a.free);
  od_words_free(&a.goals);
  od_load_arguments_free(&a.load);
  return code;
}
