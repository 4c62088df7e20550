// Makes a comparison: all combinations of the lists, each with the experiment loaded again.
#include "study/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document/document.h"
#include "document/index.h"
#include "experiment/error_metrics.h"
#include "filters/filter_types.h"
#include "study/cases.h"

enum { DEFAULT_SEEDS = 20 };
static const char each[] = "each";

typedef struct maker {
  od_comparison *c;
  const char *path;
  const od_compare_options *options;
  od_messages *messages;
  od_arena *texts;
  const char **sensors;  // the compared lists
  int sensor_lists;
  int row_capacity, case_capacity;
  bool no_memory;
} maker;

static const char *copy(maker *m, const char *text) {
  const char *own = od_texts_copy(m->texts, text, strlen(text));
  if (!own) m->no_memory = true;
  return own ? own : "";
}

// --- One row ------------------------------------------------------------------------------------------------------

// The reason why a combination is impossible: the first message.
static const char *problem_of(maker *m, const od_messages *messages) {
  for (int i = 0; i < od_messages_count(messages); i++)
    if (!od_messages_get(messages, i)->is_warning) return copy(m, od_messages_get(messages, i)->text);
  return "it cannot be loaded";
}

static od_case *new_case(maker *m) {
  od_study *s = &m->c->study;
  od_case *grown = od_grow(s->item, s->cases, &m->case_capacity, sizeof *grown);
  if (!grown) return NULL;
  s->item = grown;
  s->item[s->cases] = (od_case){0};
  return &s->item[s->cases++];
}

// "step=10 ms" after the other settings.
static const char **settings(maker *m, const od_compared *row, int *count) {
  const od_compare_options *o = m->options;
  const char **set = calloc((size_t)o->set.count + 2, sizeof *set);
  *count = 0;
  for (int i = 0; set && i < o->set.count; i++) set[(*count)++] = o->set.text[i];
  if (set && row->step) {
    char text[128];
    snprintf(text, sizeof text, "step=%.100s", row->step);
    set[(*count)++] = copy(m, text);
  }
  if (!set) m->no_memory = true;
  return set;
}

// A row without a filter runs the EKF without corrections: its estimate is the model's own motion. Filters that average over
// the uncertainty (ukf, second-order-ekf) would give another motion.
static void load_row(maker *m, od_compared *row) {
  const od_compare_options *o = m->options;
  od_messages *messages = od_messages_new();
  od_case *c = new_case(m);
  od_experiment_options options = {.truth = o->truth,
                                   .variant = row->variant,
                                   .filter = row->filter ? row->filter : "ekf",
                                   .sensors = row->sensors,
                                   .uncorrected = !row->filter};
  const char **set = settings(m, row, &options.set_count);
  options.set = set;
  m->no_memory = m->no_memory || !messages || !c;
  if (!m->no_memory) {
    c->runs = o->seeds > 0 ? o->seeds : DEFAULT_SEEDS;
    c->first_seed = o->first_seed;
    c->random_start = o->random_start;
    c->compared = c->timed = true;
    c->name = row->filter ? row->filter : "no correction";
    od_status status = od_observe_case_load(c, m->path, &options, messages);
    m->no_memory = status == OD_NO_MEMORY;
    row->item = status == OD_OK ? m->c->study.cases - 1 : -1;
    if (status != OD_OK) {
      row->problem = problem_of(m, messages);
      c->ops->release(c);
      m->c->study.cases--;
    } else {
      row->seconds = od_observe_case_step(c);
    }
  }
  free(set);
  od_messages_free(messages);
}

static void add_row(maker *m, od_compared row) {
  od_comparison *c = m->c;
  od_compared *grown = od_grow(c->row, c->rows, &m->row_capacity, sizeof *grown);
  if (!grown) {
    m->no_memory = true;
    return;
  }
  c->row = grown;
  c->row[c->rows++] = row;
  load_row(m, &c->row[c->rows - 1]);
}

// --- All of them --------------------------------------------------------------------------------------------------

static const char *entry(const od_compare_list *list, int i) {
  return list->count > 0 ? list->text[i] : NULL;
}
static int entries(const od_compare_list *list) {
  return list->count > 0 ? list->count : 1;
}

// Adds the filters with one choice of all other settings, after the free-running model, which does not depend on sensors.
static void add_filters(maker *m, od_compared like, bool first_sensors) {
  const od_compare_list *filters = &m->options->filters;
  if (first_sensors) add_row(m, (od_compared){.variant = like.variant, .step = like.step, .item = -1});
  for (int i = 0; filters->count > 0 ? i < filters->count : od_filter_type_at(i) != NULL; i++) {
    like.filter = filters->count > 0 ? filters->text[i] : od_filter_type_at(i)->name;
    if (!m->no_memory) add_row(m, like);
  }
}

static void multiply_out(maker *m) {
  const od_compare_options *o = m->options;
  for (int v = 0; v < entries(&o->variants); v++)
    for (int t = 0; t < entries(&o->steps); t++)
      for (int s = 0; s < (m->sensor_lists > 0 ? m->sensor_lists : 1) && !m->no_memory; s++)
        add_filters(m,
                    (od_compared){.sensors = m->sensor_lists > 0 ? m->sensors[s] : NULL,
                                  .variant = entry(&o->variants, v),
                                  .step = entry(&o->steps, t),
                                  .item = -1},
                    s == 0);
}

// "each" means each sensor alone.
static void list_sensors(maker *m, const od_experiment *e) {
  const od_compare_list *list = &m->options->sensors;
  m->sensors = calloc((size_t)(list->count + 1) * (size_t)(e->sensors + 1), sizeof *m->sensors);
  if (!m->sensors) m->no_memory = true;
  for (int i = 0; i < list->count && !m->no_memory; i++) {
    if (strcmp(list->text[i], each) != 0) m->sensors[m->sensor_lists++] = list->text[i];
    for (int k = 0; k < e->sensors && !strcmp(list->text[i], each); k++)
      m->sensors[m->sensor_lists++] = copy(m, e->sensor[k].name);
  }
}

// Loads the experiment with each entry of a list alone. An existing filter may fail with this experiment; then its row contains
// the reason.
enum { FILTERS, SENSORS, VARIANTS, STEPS };
static od_status check_each(maker *m, const od_compare_list *list, int which, od_status status) {
  for (int i = 0; i < list->count; i++) {
    const char *text = list->text[i];
    if ((which == SENSORS && strcmp(text, each) == 0) || (which == FILTERS && od_filter_type_find(text))) continue;
    od_experiment *other = NULL;
    char step[128];
    snprintf(step, sizeof step, "step=%.100s", text);
    const char *const set[] = {step};
    const od_experiment_options one = {.truth = m->options->truth,
                                       .filter = which == FILTERS ? text : NULL,
                                       .sensors = which == SENSORS ? text : NULL,
                                       .variant = which == VARIANTS ? text : NULL,
                                       .set = set,
                                       .set_count = which == STEPS};
    od_status said = od_experiment_load(m->path, &one, &other, m->messages);
    od_experiment_free(other);
    if (said != OD_OK) status = said;
  }
  return status;
}

// Checks the file and the given names once, and reports all errors.
static od_status check(maker *m, od_experiment **e) {
  const od_compare_options *o = m->options;
  od_experiment_options options = {.truth = o->truth, .set = o->set.text, .set_count = o->set.count};
  od_status status = od_experiment_load(m->path, &options, e, m->messages);
  if (status != OD_OK) return status;
  if (!(*e)->truth) {
    od_messages_add(m->messages, (od_place){.file = m->path}, "a comparison needs a simulated truth, not a log");
    return OD_BAD_INPUT;
  }
  status = check_each(m, &o->filters, FILTERS, status);
  status = check_each(m, &o->sensors, SENSORS, status);
  status = check_each(m, &o->variants, VARIANTS, status);
  return check_each(m, &o->steps, STEPS, status);
}

od_status od_comparison_load(const char *path, const od_compare_options *options, od_comparison **out,
                             od_messages *messages) {
  od_comparison *c = calloc(1, sizeof *c);
  od_experiment *e = NULL;
  *out = NULL;
  if (!c) return OD_NO_MEMORY;
  maker m = {.c = c, .path = path, .options = options, .messages = messages};
  od_status status = check(&m, &e);
  if (status == OD_OK) {
    // The experiment's document owns the texts.
    c->study.file = e->file;
    e->file = NULL;
    m.texts = &c->study.file->arena;
    c->study.title = copy(&m, e->title);
    c->study.path = c->study.file->file;
    list_sensors(&m, e);
    if (!m.no_memory) multiply_out(&m);
    c->by_sensors = m.sensor_lists > 0;
    c->by_variant = options->variants.count > 0;
    c->by_step = options->steps.count > 0;
    if (m.no_memory) status = OD_NO_MEMORY;
  }
  free(m.sensors);
  od_experiment_free(e);
  if (status == OD_OK)
    *out = c;
  else
    od_comparison_free(c);
  return status;
}

void od_comparison_free(od_comparison *c) {
  if (!c) return;
  od_study_clear(&c->study);
  free(c->row);
  free(c);
}

// Rows of a result are in the order of the cases.
const od_study_row *od_comparison_find(const od_comparison *c, const od_study_result *r, const od_compared *row,
                                       const char *metric) {
  if (row->item < 0) return NULL;
  const od_case *item = &c->study.item[row->item];
  for (int i = 0; i < r->rows; i++) {
    const od_study_row *found = &r->row[i];
    bool of_item = found->metric >= item->metric && found->metric < item->metric + item->metrics;
    if (of_item && strcmp(found->metric->name, metric) == 0) return found;
  }
  return NULL;
}
