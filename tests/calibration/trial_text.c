// Random numbers and text of trials.
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "calibration/trial.h"

double trial_uniform(trial *t, double low, double high) {
  return od_dice_uniform(&t->dice, low, high);
}
double trial_decades(trial *t, double low, double high) {
  return exp(trial_uniform(t, log(low), log(high)));
}
int trial_pick(trial *t, int count) {
  return od_dice_pick(&t->dice, count);
}
bool trial_chance(trial *t, double part) {
  return trial_uniform(t, 0, 1) < part;
}

bool trial_wants(trial *t, const char *name) {
  for (int k = 0; k < 3; k++)
    if (t->wanted[k] && strcmp(t->wanted[k], name) == 0) {
      t->wanted[k] = NULL;
      return true;
    }
  return false;
}

const char *trial_choose(trial *t, const char *const *names, int count) {
  int choice = trial_pick(t, count);
  for (int i = 0; i < count; i++)
    if (trial_wants(t, names[i])) return names[i];
  return names[choice];
}

static void grow(trial_text *s, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  size_t needed = s->used + (size_t)vsnprintf(NULL, 0, format, again) + 1;
  va_end(again);
  if (needed > s->size) s->text = realloc(s->text, s->size = 2 * needed + 256);
  if (!s->text) abort();
  s->used += (size_t)vsnprintf(s->text + s->used, s->size - s->used, format, args);
}

void trial_put(trial *t, const char *section, const char *format, ...) {
  int i = 0;
  while (i < t->sections && strcmp(t->section[i].name, section) != 0) i++;
  if (i == TRIAL_SECTIONS) abort();
  if (i == t->sections) snprintf(t->section[t->sections++].name, TRIAL_NAME, "%s", section);
  va_list args;
  va_start(args, format);
  grow(&t->section[i], format, args);
  va_end(args);
}

void trial_name(trial *t, const char *prefix, char name[TRIAL_NAME]) {
  snprintf(name, TRIAL_NAME, "%s%d", prefix, ++t->names);
}

void trial_add_break(trial *t, double time) {
  if (time > 0 && time < t->time && t->break_count < TRIAL_BREAKS) t->breaks[t->break_count++] = time;
}

void trial_add_edge(trial *t, const char *first, const char *second, double level, double period) {
  if (t->edges == TRIAL_EDGES) return;
  trial_edge *e = &t->edge[t->edges++];
  snprintf(e->first, TRIAL_NAME, "%s", first);
  snprintf(e->second, TRIAL_NAME, "%s", second);
  e->level = level, e->period = period;
}

void trial_add_output(trial *t, const char *format, ...) {
  if (t->outputs == TRIAL_OUTPUTS) return;
  va_list args;
  va_start(args, format);
  vsnprintf(t->output[t->outputs++], TRIAL_NAME, format, args);
  va_end(args);
}

void trial_add_sensor(trial *t, double factor, const char *format, ...) {
  if (t->sensors == TRIAL_SENSORS) return;
  va_list args;
  va_start(args, format);
  vsnprintf(t->sensor[t->sensors].quantity, TRIAL_NAME, format, args);
  va_end(args);
  t->sensor[t->sensors++].factor = factor;
}

void trial_add_signal(trial *t, const char *name) {
  if (t->signals < TRIAL_SIGNALS) snprintf(t->signal[t->signals++], TRIAL_NAME, "%s", name);
}

void trial_add_node(trial *t, const char *name) {
  if (t->nodes < TRIAL_NODES) snprintf(t->node[t->nodes++], TRIAL_NAME, "%s", name);
}

void trial_free(trial *t) {
  if (!t) return;
  for (int i = 0; i < t->sections; i++) free(t->section[i].text);
  for (int i = 0; i < t->files; i++) free(t->file[i].text);
  free(t);
}
