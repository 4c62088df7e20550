#include "report/check_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// The outcome of loading a file.
typedef struct verdict {
  od_status status;
  char text[128];  // "3 bodies, 4 joints, 1 degree of freedom"
  bool has_facts;
  od_model_facts facts;
} verdict;

typedef struct file {
  const char *path;
  od_content content;
  const od_load_options *load;
} file;

static const char *plural(int count) {
  return count == 1 ? "" : "s";
}

// Converts the status of a loader. A file that cannot be read counts as bad input.
static od_status of_input(od_status status) {
  return status == OD_OK || status == OD_NO_MEMORY ? status : OD_BAD_INPUT;
}

static verdict look_at_machine(const file *f, od_messages *messages) {
  od_machine *machine = NULL;
  od_load_options options = *f->load;
  options.content = f->content;
  verdict v = {.status = of_input(od_machine_load(f->path, &options, &machine, messages))};
  if (machine) {
    v.has_facts = true;
    v.facts = od_model_get_facts(od_machine_model(machine));
    od_facts_text(&v.facts, v.text, sizeof v.text);
  }
  od_machine_free(machine);
  return v;
}

// The options of an experiment. --set changes the experiment's own numbers; the file chooses its variants.
static od_experiment_options experiment_options(const file *f) {
  return (od_experiment_options){.set = f->load->set, .set_count = f->load->set_count, .content = f->content};
}

static verdict look_at_fit(const file *f, od_messages *messages) {
  od_fit_plan *plan = NULL;
  const od_experiment_options options = experiment_options(f);
  od_status status = od_fit_plan_load(f->path, &options, &plan, messages);
  verdict v = {.status = status};
  if (plan)
    snprintf(v.text, sizeof v.text, "a fit of %d parameter%s to %d set%s of data", plan->e->parameters,
             plural(plan->e->parameters), plan->sets, plural(plan->sets));
  od_fit_plan_free(plan);
  return v;
}

static verdict look_at_experiment(const file *f, od_messages *messages) {
  od_experiment *e = NULL;
  const od_experiment_options options = experiment_options(f);
  od_status status = od_experiment_load(f->path, &options, &e, messages);
  verdict v = {.status = status};
  if (e)
    snprintf(v.text, sizeof v.text, "an experiment with %d sensor%s and %d estimated parameter%s", e->sensors,
             plural(e->sensors), e->parameters, plural(e->parameters));
  od_experiment_free(e);
  return v;
}

// Whether a referenced file could not be read. A fit would need this file, too.
static bool lacks_files(const od_messages *messages) {
  for (int i = 0; i < od_messages_count(messages); i++)
    if (strstr(od_messages_get(messages, i)->text, "cannot be read")) return true;
  return false;
}

// Checks a file that is invalid for an observer as a fit, because a fit has fewer requirements than an observer.
static void take_as_fit(const file *f, verdict *v, od_messages **messages) {
  od_messages *of_fit = od_messages_new();
  if (!of_fit) return;
  verdict fit = look_at_fit(f, of_fit);
  bool fits = fit.status == OD_OK;
  od_messages *dropped = fits ? *messages : of_fit;
  if (fits) *v = fit, *messages = of_fit;
  od_messages_free(dropped);
}

static verdict look_at_friction(const file *f, od_messages *messages) {
  od_friction_plan *plan = NULL;
  const od_friction_options options = {.set = f->load->set, .set_count = f->load->set_count, .content = f->content};
  od_status status = od_friction_plan_load(f->path, &options, &plan, messages);
  verdict v = {.status = status};
  if (plan)
    snprintf(v.text, sizeof v.text, "a fit of %d parameter%s of the friction law '%s'", plan->parameters,
             plural(plan->parameters), plan->start.law->name);
  od_friction_plan_free(plan);
  return v;
}

static verdict look_at_study(const file *f, od_messages *messages) {
  od_study *s = NULL;
  const od_study_options options = {.content = f->content};
  od_status status = od_study_load(f->path, &options, &s, messages);
  verdict v = {.status = status};
  if (s) snprintf(v.text, sizeof v.text, "a study of %d case%s", s->cases, plural(s->cases));
  od_study_free(s);
  return v;
}

// Loads the file according to its kind. The file is read only once, so that it may be a pipe.
static verdict look_at(const char *path, const od_load_options *load, od_messages **messages) {
  verdict (*const look[])(const file *, od_messages *) = {
      [OD_FILE_UNKNOWN] = look_at_machine,       [OD_FILE_MACHINE] = look_at_machine,
      [OD_FILE_EXPERIMENT] = look_at_experiment, [OD_FILE_FIT] = look_at_fit,
      [OD_FILE_FRICTION] = look_at_friction,     [OD_FILE_STUDY] = look_at_study};
  char *text = NULL;
  file f = {.path = path, .load = load};
  od_status status = od_text_file_read(path, &text, &f.content.length, *messages);
  if (status != OD_OK) return (verdict){.status = of_input(status)};
  f.content.text = text;
  // For a file of unknown kind, the loader of machines reports the errors.
  od_file_kind kind = od_document_kind(path, f.content);
  verdict v = look[kind](&f, *messages);
  if (kind == OD_FILE_EXPERIMENT && v.status != OD_OK && !lacks_files(*messages)) take_as_fit(&f, &v, messages);
  free(text);
  return v;
}

od_status od_check_file(const char *path, const od_load_options *load, od_messages **messages, od_result *result) {
  verdict v = look_at(path, load, messages);
  *result = od_result_new("Check", path);
  od_result_text(result, "file", path);
  od_result_flag(result, "ok", v.status == OD_OK);
  if (v.has_facts) od_facts_json(&v.facts, result->data);
  od_result_set(result, "messages", messages_json(*messages));
  if (v.status == OD_OK) od_result_line(result, "%s: ok: %s", path, v.text);
  return v.status;
}
