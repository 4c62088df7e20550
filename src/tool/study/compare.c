// Creates a comparison of all combinations of the lists. The experiment is loaded again for each combination.
#include "study/compare.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "document/document.h"
#include "experiment/error_metrics.h"
#include "filters/filter_types.h"
#include "memory/owned.h"
#include "study/cases.h"

enum { DEFAULT_SEEDS = 20 };
static const char each[] = "each";

typedef struct maker {
  od_comparison *c;
  const char *path;
  const od_compare_options *options;
  od_messages *messages;
  const char **sensors;  // the compared lists of sensors
  int sensor_lists;
  bool no_memory;
} maker;

// --- One row ------------------------------------------------------------------------------------------------------

// A row without a filter runs the EKF without corrections: its estimate is the motion of the free-running model. Filters that
// average over the uncertainty (ukf, second-order-ekf) would give a different motion.
static void load_row(maker *m, od_compared *row) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_messages_free) od_messages *messages = od_messages_new();
  const od_compare_options *o = m->options;
  od_study *s = &m->c->study;
  od_case *c = od_study_add_case(s);
  const char **set = OD_TAKE(&scratch, const char *, o->set.count + 1);
  int sets = 0;
  for (int i = 0; set && i < o->set.count; i++) set[sets++] = o->set.text[i];
  if (set && row->step) set[sets++] = od_arena_format(&scratch, "step=%s", row->step);
  m->no_memory = !messages || !c || od_arena_status(&scratch) != OD_OK;
  if (m->no_memory) return;
  const od_experiment_options options = {.truth = o->truth,
                                         .variant = row->variant,
                                         .filter = row->filter ? row->filter : "ekf",
                                         .sensors = row->sensors,
                                         .uncorrected = !row->filter,
                                         .set = set,
                                         .set_count = sets};
  c->runs = o->seeds > 0 ? o->seeds : DEFAULT_SEEDS;
  c->first_seed = o->first_seed;
  c->random_start = o->random_start;
  c->compared = c->timed = true;
  c->name = row->filter ? row->filter : "no correction";
  od_status status = od_observe_case_load(c, m->path, &options, messages);
  m->no_memory = status == OD_NO_MEMORY;
  row->item = status == OD_OK ? s->cases - 1 : -1;
  if (status == OD_OK) {
    row->seconds = od_observe_case_step(c);
    return;
  }
  // The first error is the reason why the combination is impossible.
  row->problem = "the combination cannot be loaded; check its filter, sensors, variant and step";
  for (int i = od_messages_count(messages) - 1; i >= 0; i--)
    if (!od_messages_get(messages, i)->is_warning)
      row->problem = od_arena_text(&s->memory, od_messages_get(messages, i)->text);
  m->no_memory = m->no_memory || !row->problem;
  od_case_free(c);
  s->cases--;
}

static void add_row(maker *m, od_compared row) {
  od_comparison *c = m->c;
  od_compared *list = od_arena_extend(&c->study.memory, c->row, c->rows, sizeof *list);
  if (!list) {
    m->no_memory = true;
    return;
  }
  c->row = list;
  list[c->rows++] = row;
  load_row(m, &list[c->rows - 1]);
}

// --- All rows --------------------------------------------------------------------------------------------------

static const char *entry(const od_compare_list *list, int i) {
  return list->count > 0 ? list->text[i] : NULL;
}
static int entries(const od_compare_list *list) {
  return list->count > 0 ? list->count : 1;
}

// Adds the rows of all combinations. The free-running model, which does not depend on sensors, precedes the filters.
static void multiply_out(maker *m) {
  const od_compare_options *o = m->options;
  const od_compare_list *filters = &o->filters;
  for (int v = 0; v < entries(&o->variants); v++)
    for (int t = 0; t < entries(&o->steps); t++)
      for (int s = 0; s < (m->sensor_lists > 0 ? m->sensor_lists : 1) && !m->no_memory; s++) {
        od_compared row = {.variant = entry(&o->variants, v), .step = entry(&o->steps, t), .item = -1};
        if (s == 0) add_row(m, row);
        row.sensors = m->sensor_lists > 0 ? m->sensors[s] : NULL;
        for (int i = 0; filters->count > 0 ? i < filters->count : od_filter_type_at(i) != NULL; i++) {
          row.filter = filters->count > 0 ? filters->text[i] : od_filter_type_at(i)->name;
          if (!m->no_memory) add_row(m, row);
        }
      }
}

// Creates the lists of sensors. "each" stands for each sensor alone.
static void list_sensors(maker *m, const od_experiment *e) {
  const od_compare_list *list = &m->options->sensors;
  od_arena *memory = &m->c->study.memory;
  m->sensors = OD_TAKE_MATRIX(memory, const char *, list->count, e->sensors + 1);
  if (!m->sensors) m->no_memory = true;
  for (int i = 0; i < list->count && !m->no_memory; i++) {
    if (strcmp(list->text[i], each) != 0) m->sensors[m->sensor_lists++] = list->text[i];
    for (int k = 0; k < e->sensors && !strcmp(list->text[i], each); k++)
      m->sensors[m->sensor_lists++] = od_arena_text(memory, e->sensor[k].name);
  }
}

// Loads the experiment with each entry of a list alone. Existing filters are not checked here: if a filter fails, its row
// contains the reason. Returns the status of the last entry that failed, else `status`.
enum { FILTERS, SENSORS, VARIANTS, STEPS };
static od_status check_each(maker *m, const od_compare_list *list, int which, od_status status) {
  for (int i = 0; i < list->count; i++) {
    const char *text = list->text[i];
    if ((which == SENSORS && strcmp(text, each) == 0) || (which == FILTERS && od_filter_type_find(text))) continue;
    OD_OWNED(od_experiment_free) od_experiment *other = NULL;
    char step[128];
    snprintf(step, sizeof step, "step=%.100s", text);
    const char *const set[] = {step};
    const od_experiment_options one = {.truth = m->options->truth,
                                       .filter = which == FILTERS ? text : NULL,
                                       .sensors = which == SENSORS ? text : NULL,
                                       .variant = which == VARIANTS ? text : NULL,
                                       .set = set,
                                       .set_count = which == STEPS};
    od_status loaded = od_experiment_load(m->path, &one, &other, m->messages);
    if (loaded != OD_OK) status = loaded;
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
    od_messages_add(m->messages, (od_place){.file = m->path},
                    "the data are a log, but a comparison requires a simulated true machine; remove 'file' under "
                    "'data'");
    return OD_BAD_INPUT;
  }
  status = check_each(m, &o->filters, FILTERS, status);
  status = check_each(m, &o->sensors, SENSORS, status);
  status = check_each(m, &o->variants, VARIANTS, status);
  return check_each(m, &o->steps, STEPS, status);
}

od_status od_comparison_load(const char *path, const od_compare_options *options, od_comparison **out,
                             od_messages *messages) {
  OD_OWNED(od_comparison_free) od_comparison *c = od_calloc(1, sizeof *c);
  OD_OWNED(od_experiment_free) od_experiment *e = NULL;
  *out = NULL;
  if (!c) return OD_NO_MEMORY;
  maker m = {.c = c, .path = path, .options = options, .messages = messages};
  od_status status = check(&m, &e);
  if (status != OD_OK) return status;
  // The experiment's document owns the path.
  c->study.file = e->file;
  e->file = NULL;
  c->study.title = od_arena_text(&c->study.memory, e->title);
  c->study.path = c->study.file->file;
  list_sensors(&m, e);
  if (!m.no_memory) multiply_out(&m);
  if (m.no_memory || od_arena_status(&c->study.memory) != OD_OK) return OD_NO_MEMORY;
  c->by_sensors = m.sensor_lists > 0;
  c->by_variant = options->variants.count > 0;
  c->by_step = options->steps.count > 0;
  *out = OD_GIVE(c);
  return OD_OK;
}

void od_comparison_free(od_comparison *c) {
  if (!c) return;
  od_study_clear(&c->study);
  od_free(c);
}

// The rows of a result are in the order of the cases.
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
