#include "report/check_file.h"

#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "document/document.h"
#include "document/text_file.h"
#include "experiment/experiment.h"
#include "friction_fit/friction_plan.h"
#include "identify/fit.h"
#include "io/json.h"
#include "io/wording.h"
#include "machine/machine_image.h"
#include "machine/machine_info.h"
#include "memory/owned.h"
#include "study/study.h"
#include "twin/twin.h"

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

// The outcome of loading a file: status, description, and the counts of a machine.
typedef struct outcome {
  od_status status;
  char text[240];  // "3 bodies, 4 joints, 1 degree of freedom"
  bool has_facts;
  od_model_facts facts;
} outcome;

typedef struct file {
  const char *path;
  od_content content;
  const od_load_options *load;
} file;

// Converts the status of a loader. A file that cannot be read counts as bad input.
static od_status of_input(od_status status) {
  return status == OD_OK || status == OD_NO_MEMORY ? status : OD_BAD_INPUT;
}

static outcome load_machine(const file *f, od_messages *messages) {
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  od_load_options options = *f->load;
  options.content = f->content;
  outcome o = {.status = of_input(od_machine_load(f->path, &options, &machine, messages))};
  if (!machine) return o;
  o.has_facts = true;
  o.facts = od_model_get_facts(od_machine_model(machine));
  od_facts_text(&o.facts, o.text, sizeof o.text);
  return o;
}

// Returns the options of an experiment. --set replaces numbers of the experiment file; the other options of the machine are not
// used.
static od_experiment_options experiment_options(const file *f) {
  return (od_experiment_options){.set = f->load->set, .set_count = f->load->set_count, .content = f->content};
}

static outcome load_fit(const file *f, od_messages *messages) {
  OD_OWNED(od_fit_plan_free) od_fit_plan *plan = NULL;
  const od_experiment_options options = experiment_options(f);
  outcome o = {.status = od_fit_plan_load(f->path, &options, &plan, messages)};
  if (plan)
    snprintf(o.text, sizeof o.text, "a fit of %s to %s of data", od_count(plan->e->parameters, "parameter").text,
             od_count(plan->sets, "set").text);
  return o;
}

// Returns whether a referenced file could not be read. A fit would also need this file.
static bool lacks_files(const od_messages *messages) {
  for (int i = 0; i < od_messages_count(messages); i++)
    if (strstr(od_messages_get(messages, i)->text, "cannot be read")) return true;
  return false;
}

// Loads an experiment. A file that is invalid for an observer is loaded as a fit, because a fit has fewer requirements.
static outcome load_experiment(const file *f, od_messages **messages) {
  OD_OWNED(od_experiment_free) od_experiment *e = NULL;
  const od_experiment_options options = experiment_options(f);
  outcome o = {.status = od_experiment_load(f->path, &options, &e, *messages)};
  if (e)
    snprintf(o.text, sizeof o.text, "an experiment with %s and %s", od_count(e->sensors, "sensor").text,
             od_count(e->parameters, "estimated parameter").text);
  if (o.status == OD_OK || lacks_files(*messages)) return o;
  OD_OWNED(od_messages_free) od_messages *of_fit = od_messages_new();
  outcome fit = of_fit ? load_fit(f, of_fit) : o;
  if (fit.status != OD_OK) return o;
  od_messages_free(*messages);
  *messages = OD_GIVE(of_fit);
  return fit;
}

static outcome load_friction(const file *f, od_messages *messages) {
  OD_OWNED(od_friction_plan_free) od_friction_plan *plan = NULL;
  const od_friction_options options = {.set = f->load->set, .set_count = f->load->set_count, .content = f->content};
  outcome o = {.status = od_friction_plan_load(f->path, &options, &plan, messages)};
  if (plan)
    snprintf(o.text, sizeof o.text, "a fit of %s of the friction law '%s'",
             od_count(plan->parameters, "parameter").text, plan->start.law->name);
  return o;
}

static outcome load_study(const file *f, od_messages *messages) {
  OD_OWNED(od_study_free) od_study *s = NULL;
  const od_study_options options = {.content = f->content};
  outcome o = {.status = od_study_load(f->path, &options, &s, messages)};
  if (s) snprintf(o.text, sizeof o.text, "a study of %s", od_count(s->cases, "case").text);
  return o;
}

static outcome load_twin(const file *f, od_messages *messages) {
  OD_OWNED(od_twin_free) od_twin *t = NULL;
  outcome o = {.status = od_twin_load(f->path, f->content, &t, messages)};
  if (t)
    snprintf(o.text, sizeof o.text, "a twin of %s with %s", od_count(t->machines, "machine").text,
             od_count(t->sources, "source").text);
  return o;
}

// Loads the file according to its kind. The file is read only once and may be a pipe.
static outcome load(const char *path, const od_load_options *options, od_messages **messages) {
  char *text = NULL;
  file f = {.path = path, .load = options};
  if (od_machine_is_image(path)) return load_machine(&f, *messages);
  outcome o = {.status = of_input(od_text_file_read(path, &text, &f.content.length, *messages))};
  if (o.status != OD_OK) return o;
  f.content.text = text;
  switch (od_document_kind(path, f.content)) {
    case OD_FILE_EXPERIMENT: o = load_experiment(&f, messages); break;
    case OD_FILE_FIT: o = load_fit(&f, *messages); break;
    case OD_FILE_FRICTION: o = load_friction(&f, *messages); break;
    case OD_FILE_STUDY: o = load_study(&f, *messages); break;
    case OD_FILE_TWIN: o = load_twin(&f, *messages); break;
    default: o = load_machine(&f, *messages); break;  // also reports the errors of a file of unknown kind
  }
  od_free(text);
  return o;
}

od_status od_check_file(const char *path, const od_load_options *options, od_messages **messages, od_result *result) {
  outcome o = load(path, options, messages);
  *result = od_result_new("Check", path);
  od_result_text(result, "file", path);
  od_result_flag(result, "ok", o.status == OD_OK);
  if (o.has_facts) od_facts_json(&o.facts, result->data);
  od_result_set(result, "messages", messages_json(*messages));
  if (o.status == OD_OK) od_result_line(result, "%s: ok: %s", path, o.text);
  return o.status;
}
