// oleodyn check: are machine, experiment, fit, friction and study files right?
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "options/open_machine.h"
#include "options/options.h"
#include "terminal/terminal.h"
#include "document/document.h"
#include "document/text_file.h"
#include "experiment/experiment.h"
#include "friction_fit/friction_plan.h"
#include "identify/fit.h"
#include "io/json.h"
#include "machine/machine_info.h"
#include "study/study.h"

static json_t *messages_json(const od_messages *messages) {
  json_t *list = json_array();
  for (int i = 0; i < od_messages_count(messages); i++) {
    const od_message *m = od_messages_get(messages, i);
    json_array_append_new(
        list, json_pack("{s:o, s:i, s:i, s:s, s:o}", "file", od_json_text(m->file), "line", m->line, "column",
                        m->column, "severity", m->is_warning ? "warning" : "error", "text", od_json_text(m->text)));
  }
  return list;
}

// What a file was found to be, for the line or object about it.
typedef struct verdict {
  int code;        // exit code; negative: right
  char text[128];  // "3 bodies, 4 joints, 1 degree of freedom"
  bool has_facts;
  od_model_facts facts;
} verdict;

typedef struct file {
  const char *path;
  od_content content;
  const od_load_arguments *load;
} file;

static verdict look_at_machine(const file *f, od_messages *messages) {
  od_machine *machine = NULL;
  verdict v = {.code = od_cli_load_content(f->path, f->content, f->load, &machine, messages)};
  if (machine) {
    v.has_facts = true;
    v.facts = od_model_get_facts(od_machine_model(machine));
    od_facts_text(&v.facts, v.text, sizeof v.text);
  }
  od_machine_free(machine);
  return v;
}

// --set reaches the experiment's own numbers; variants are chosen in the file.
static od_experiment_options experiment_options(const file *f) {
  return (od_experiment_options){.set = f->load->set.text, .set_count = f->load->set.count, .content = f->content};
}

static verdict look_at_fit(const file *f, od_messages *messages) {
  od_fit_plan *plan = NULL;
  const od_experiment_options options = experiment_options(f);
  od_status status = od_fit_plan_load(f->path, &options, &plan, messages);
  verdict v = {.code = status == OD_OK ? -1 : od_exit_code(status)};
  if (plan)
    snprintf(v.text, sizeof v.text, "a fit of %d parameters to %d set%s of data", plan->e->parameters, plan->sets,
             plan->sets == 1 ? "" : "s");
  od_fit_plan_free(plan);
  return v;
}

static verdict look_at_experiment(const file *f, od_messages *messages) {
  od_experiment *e = NULL;
  const od_experiment_options options = experiment_options(f);
  od_status status = od_experiment_load(f->path, &options, &e, messages);
  verdict v = {.code = status == OD_OK ? -1 : od_exit_code(status)};
  if (e)
    snprintf(v.text, sizeof v.text, "an experiment with %d sensors and %d estimated parameters", e->sensors,
             e->parameters);
  od_experiment_free(e);
  return v;
}

// Whether a file that is named could not be read: nothing that a fit could do without.
static bool lacks_files(const od_messages *messages) {
  for (int i = 0; i < od_messages_count(messages); i++)
    if (strstr(od_messages_get(messages, i)->text, "cannot be read")) return true;
  return false;
}

// A fit needs less than an observer: what cannot be observed may still be fitted, and then that is what it is for.
static void take_as_fit(const file *f, verdict *v, od_messages **messages) {
  od_messages *of_fit = od_messages_new();
  if (!of_fit) return;
  verdict fit = look_at_fit(f, of_fit);
  bool fits = fit.code < 0;
  od_messages *dropped = fits ? *messages : of_fit;
  if (fits) *v = fit, *messages = of_fit;
  od_messages_free(dropped);
}

static verdict look_at_friction(const file *f, od_messages *messages) {
  od_friction_plan *plan = NULL;
  const od_friction_options options = {
      .set = f->load->set.text, .set_count = f->load->set.count, .content = f->content};
  od_status status = od_friction_plan_load(f->path, &options, &plan, messages);
  verdict v = {.code = status == OD_OK ? -1 : od_exit_code(status)};
  if (plan)
    snprintf(v.text, sizeof v.text, "a fit of %d parameters of the friction law '%s'", plan->parameters,
             plan->start.law->name);
  od_friction_plan_free(plan);
  return v;
}

static verdict look_at_study(const file *f, od_messages *messages) {
  od_study *s = NULL;
  const od_study_options options = {.content = f->content};
  od_status status = od_study_load(f->path, &options, &s, messages);
  verdict v = {.code = status == OD_OK ? -1 : od_exit_code(status)};
  if (s) snprintf(v.text, sizeof v.text, "a study of %d case%s", s->cases, s->cases == 1 ? "" : "s");
  od_study_free(s);
  return v;
}

// The file is read once, so that it may be a pipe.
static verdict look_at(const char *path, const od_load_arguments *load, od_messages **messages) {
  verdict (*const look[])(const file *, od_messages *) = {
      [OD_FILE_UNKNOWN] = look_at_machine,       [OD_FILE_MACHINE] = look_at_machine,
      [OD_FILE_EXPERIMENT] = look_at_experiment, [OD_FILE_FIT] = look_at_fit,
      [OD_FILE_FRICTION] = look_at_friction,     [OD_FILE_STUDY] = look_at_study};
  char *text = NULL;
  file f = {.path = path, .load = load};
  od_status status = od_text_file_read(path, &text, &f.content.length, *messages);
  if (status != OD_OK) return (verdict){.code = status == OD_NO_MEMORY ? OD_EXIT_FAILED : OD_EXIT_BAD_INPUT};
  f.content.text = text;
  // What tells no kind is left to the loader of machines to complain about.
  od_file_kind kind = od_document_kind(path, f.content);
  verdict v = look[kind](&f, *messages);
  if (kind == OD_FILE_EXPERIMENT && v.code >= 0 && !lacks_files(*messages)) take_as_fit(&f, &v, messages);
  free(text);
  return v;
}

// One file: a line for people, or an object for programs. Returns its exit code.
static int check_file(const char *path, const od_load_arguments *load, json_t *results) {
  od_messages *messages = od_messages_new();
  if (!messages) {
    od_cli_error("memory ran out");
    return OD_EXIT_FAILED;
  }
  verdict v = look_at(path, load, &messages);
  if (results) {
    json_t *result = json_pack("{s:o, s:b}", "file", od_json_text(path), "ok", v.code < 0);
    if (v.has_facts) od_facts_json(&v.facts, result);
    json_object_set_new(result, "messages", messages_json(messages));
    json_array_append_new(results, result);
  } else {
    fflush(stdout);
    od_messages_print(messages, stderr, od_terminal_colour(stderr));
    if (v.code < 0) printf("%s: ok: %s\n", path, v.text);
  }
  od_messages_free(messages);
  return v.code < 0 ? OD_EXIT_OK : v.code;
}

int od_command_check(int argc, char **argv) {
  bool json = false;
  od_load_arguments load = {0};
  const od_option options[] = {
      OD_LOAD_OPTIONS(&load),
  };
  const od_usage usage = {
      "check",
      "FILE...",
      "say whether machine, experiment, fit and study files are right, and everything that is wrong with them",
      "Files with sensors are experiments, or fits where they say how to fit, those with cases studies, all others machines.\n"
      "It ends with 0 when all files are right, else with 2.\n",
      options,
      (int)(sizeof options / sizeof *options),
      .shared = {.as_json = &json}};
  od_words files = {0};
  int code = od_options_parse_counted(&usage, argc, argv, 1, INT_MAX, &files);
  if (code < 0) {
    json_t *results = json ? json_array() : NULL;
    code = OD_EXIT_OK;
    for (int i = 0; i < files.count; i++) {
      int one = check_file(files.text[i], &load, results);
      if (one != OD_EXIT_OK && code != OD_EXIT_BAD_INPUT) code = one;
    }
    if (results) {
      json_t *object = json_pack("{s:b, s:o}", "ok", code == OD_EXIT_OK, "machines", results);
      od_error err = {0};
      od_status status = od_json_write(object, "-", &err);
      if (status != OD_OK) {
        od_cli_error("%s", err.text);
        code = od_exit_code(status);
      }
      json_decref(object);
    }
  }
  od_words_free(&files);
  od_load_arguments_free(&load);
  return code;
}
