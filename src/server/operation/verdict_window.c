#include "operation/verdict_window.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "io/display.h"

enum { LEAST_ROWS = 50 };

static int find_column(const od_row_head *head, const char *prefix, const char *name) {
  const size_t length = strlen(prefix);
  for (int c = 1; c < head->columns; c++)
    if (strncmp(head->name[c], prefix, length) == 0 && strcmp(head->name[c] + length, name) == 0) return c;
  return -1;
}

static bool begin_window(od_verdict_window *w) {
  const int inputs = od_machine_input_count(w->e->model);
  if (w->record) od_innovation_record_free(w->record);
  w->record = od_innovation_record_new(w->e->sensors, inputs, w->e->parameters);
  memset(w->counts, 0, (size_t)w->e->sensors * sizeof *w->counts);
  w->rows = 0;
  return w->record != NULL;
}

od_status od_verdict_window_init(od_verdict_window *w, const od_experiment *e, const od_row_head *head, double length) {
  const int sensors = e->sensors, inputs = od_machine_input_count(e->model);
  *w = (od_verdict_window){.e = e, .head = head, .length = length, .first = -1, .parameter = -1};
  w->measured = OD_TAKE(&w->memory, int, sensors);
  w->input = OD_TAKE(&w->memory, int, inputs);
  w->y = OD_TAKE(&w->memory, double, sensors);
  w->u = OD_TAKE(&w->memory, double, inputs);
  w->innovation = OD_TAKE(&w->memory, od_innovation, sensors);
  w->counts = OD_TAKE(&w->memory, od_sensor_counts, sensors);
  if (od_arena_status(&w->memory) != OD_OK) return OD_NO_MEMORY;
  for (int i = 0; i < sensors; i++) w->measured[i] = find_column(head, "measured.", e->sensor[i].name);
  for (int i = 0; i < inputs; i++) w->input[i] = find_column(head, "input.", od_machine_input_name(e->model, i));
  if (sensors > 0) w->first = find_column(head, "innovation.", e->sensor[0].name);
  if (e->parameters > 0) w->parameter = find_column(head, "estimate.", e->parameter[0].path);
  return begin_window(w) ? OD_OK : OD_NO_MEMORY;
}

void od_verdict_window_end(od_verdict_window *w) {
  if (w->record) od_innovation_record_free(w->record);
  od_arena_free(&w->memory);
}

// Judges the window by the tests of a run. row: the first row after the window, with the estimates. Tests that need a whole run (movements of
// parameters since the start, comparison with the truth) have nothing to test. Returns false if an allocation fails.
static bool judge(od_verdict_window *w, const double *row, od_observed *o) {
  const od_experiment *e = w->e;
  const int n = e->parameters;
  od_error err;
  o->innovations = OD_TAKE(&o->memory, od_innovations, e->sensors);
  o->moved = OD_TAKE(&o->memory, od_movement, n);
  o->clipped = OD_TAKE(&o->memory, long, e->watches);
  double *numbers = OD_TAKE(&o->memory, double, 4 * n);
  if (od_arena_status(&o->memory) != OD_OK) return false;
  o->start = numbers;
  o->estimate = numbers + n;
  o->sigma = o->estimate + n;
  o->bias = o->sigma + n;
  for (int i = 0; i < n; i++) {
    o->start[i] = e->parameter[i].start;
    o->estimate[i] = w->parameter < 0 ? e->parameter[i].start : row[w->parameter + 2 * i];
    o->sigma[i] = w->parameter < 0 ? e->parameter[i].sigma : row[w->parameter + 2 * i + 1];
  }
  for (int i = 0; i < e->sensors; i++) od_innovation_record_sensor(w->record, i, &o->innovations[i]);
  o->sensor = w->counts;
  o->begin = w->begin;
  o->end = w->end;
  o->steps = w->rows;
  o->step = w->rows > 1 ? (w->end - w->begin) / (double)(w->rows - 1) : e->step;
  o->nees = NAN;
  o->settled_first = o->settled_since = o->fell_back_since = NAN;
  const od_observe_options options = {.no_table = true};
  return od_observe_judge(e, &options, o, &err) == OD_OK;
}

// Returns the verdict as JSON, with the remarks that determine its trust as one text.
static json_t *verdict_json(const od_verdict_window *w, const od_verdict *v) {
  json_t *object = od_verdict_json(v);
  char text[2000] = "";
  size_t used = 0;
  for (int i = 0; i < v->count && used < sizeof text; i++)
    if (v->remark[i].trust == v->trust)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", used ? " " : "", v->remark[i].lead,
                               v->remark[i].text);
  json_object_set_new(object, "text", json_string(text));
  json_object_set_new(object, "from", json_real(w->begin));
  json_object_set_new(object, "to", json_real(w->end));
  return object;
}

static json_t *end_window(od_verdict_window *w, const double *last, char event[400]) {
  od_observed o = {0};
  json_t *object = NULL;
  if (judge(w, last, &o)) {
    object = verdict_json(w, &o.verdict);
    if (!w->has_verdict ? o.verdict.trust != OD_SOUND : o.verdict.trust != w->trust) {
      const char *text = json_string_value(json_object_get(object, "text"));
      snprintf(event, 400, "the estimates of the last %s are %s. %.330s", od_duration_text(w->end - w->begin, 2).text,
               od_trust_text(o.verdict.trust), text ? text : "");
    }
    w->has_verdict = true;
    w->trust = o.verdict.trust;
  }
  od_verdict_free(&o.verdict);
  od_arena_free(&o.memory);
  return object;
}

void od_verdict_window_take(od_verdict_window *w, const double *row, json_t **verdict, char event[400]) {
  *verdict = NULL;
  event[0] = '\0';
  if (!w->record || w->first < 0) return;
  if (w->rows >= LEAST_ROWS && row[0] >= w->begin + w->length) {
    *verdict = end_window(w, row, event);
    if (!begin_window(w)) return;
  }
  if (w->rows++ == 0) w->begin = row[0];
  w->end = row[0];
  for (int i = 0; i < w->e->sensors; i++) {
    const double value = row[w->first + 2 * i];
    const bool is_missing = w->measured[i] >= 0 && isnan(row[w->measured[i]]);
    w->y[i] = w->measured[i] >= 0 ? row[w->measured[i]] : (double)NAN;
    const od_sensor_use use = !isnan(value) ? OD_SENSOR_USED : is_missing ? OD_SENSOR_MISSING : OD_SENSOR_GATED;
    w->innovation[i] = (od_innovation){.value = value, .sigma = row[w->first + 2 * i + 1], .use = use};
    w->counts[i].used += use == OD_SENSOR_USED;
    w->counts[i].gated += use == OD_SENSOR_GATED;
    w->counts[i].missing += use == OD_SENSOR_MISSING;
  }
  const int inputs = od_machine_input_count(w->e->model);
  for (int i = 0; i < inputs; i++) w->u[i] = w->input[i] >= 0 ? row[w->input[i]] : 0;
  od_innovation_record_take(w->record, w->innovation, w->y, w->u);
}
