// Random inputs of every kind, with the times at which they jump or bend, computed here from the drawn numbers.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibration/trial.h"

const char *const trial_signal_kinds[] = {
    "constant",     "sine", "chirp", "stepped_sine", "steps",      "lagged_steps", "ramps",
    "half_cosines", "prbs", "sum",   "sequence",     "derivative", "file",         NULL};

typedef struct writer {
  char text[4096];
  int used;
} writer;

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
#include <stdarg.h>
static void put(writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(w->text + w->used, sizeof w->text - (size_t)w->used, format, args);
  va_end(args);
  if (n > 0 && w->used + n < (int)sizeof w->text) w->used += n;
}

static double value(trial *t, double middle, double size) {
  return middle + size * trial_uniform(t, -1, 1);
}

// [[time, value], ...] from about the start on; some points are so close that a step of 1 ms contains several.
static void put_points(trial *t, writer *w, double middle, double size) {
  int count = 2 + trial_pick(t, 6);
  double at = trial_uniform(t, 0.02, 0.2) * t->time;
  put(w, "at: [");
  for (int i = 0; i < count; i++) {
    double next = trial_chance(t, 0.25) ? trial_decades(t, 2e-4, 5e-3) : trial_uniform(t, 0.05, 0.3) * t->time;
    put(w, "%s[%.9g, %.6g]", i ? ", " : "", at, value(t, middle, size));
    char text[32];
    snprintf(text, sizeof text, "%.9g", at);
    trial_add_break(t, strtod(text, NULL));
    at = strtod(text, NULL) + next;
  }
  put(w, "]");
}

// The number as written in the file.
static double rounded(double x) {
  char text[32];
  snprintf(text, sizeof text, "%.6g", x);
  return strtod(text, NULL);
}

static void put_segment(trial *t, writer *w, double middle, double size, double *now) {
  const char *kind =
      TRIAL_CHOOSE(t, "hold", "step", "ramp", "half_cosine", "segment sine", "lagged_step", "steady_steps");
  double duration =
      rounded(trial_chance(t, 0.2) ? trial_decades(t, 3e-4, 5e-3) : trial_uniform(t, 0.05, 0.25) * t->time);
  double to = value(t, middle, size);
  if (strcmp(kind, "hold") == 0) put(w, "{hold: {duration: %.6g}}", duration);
  if (strcmp(kind, "step") == 0) put(w, "{step: {to: %.6g, duration: %.6g}}", to, duration);
  if (strcmp(kind, "ramp") == 0) put(w, "{ramp: {to: %.6g, duration: %.6g}}", to, duration);
  if (strcmp(kind, "half_cosine") == 0) put(w, "{half_cosine: {to: %.6g, duration: %.6g}}", to, duration);
  if (strcmp(kind, "segment sine") == 0)
    put(w, "{sine: {amplitude: %.6g, duration: %.6g, periods: %d}}", 0.5 * size, duration, 1 + trial_pick(t, 3));
  if (strcmp(kind, "lagged_step") == 0)
    put(w, "{lagged_step: {to: %.6g, time_constant: %.6g, duration: %.6g}}", to, trial_decades(t, 1e-3, 5e-2),
        duration);
  if (strcmp(kind, "steady_steps") == 0) {
    int count = 2 + trial_pick(t, 4);
    double lag = trial_chance(t, 0.5) ? trial_decades(t, 1e-3, 2e-2) : 0;
    duration = rounded(duration / count + 1e-3);
    put(w, "{steady_steps: {from: %.6g, to: %.6g, count: %d, duration: %.6g", 0.1 * size, 0.9 * size, count, duration);
    if (lag > 0) put(w, ", time_constant: %.6g", lag);
    put(w, "}}");
    for (int i = 1; i < count; i++) trial_add_break(t, *now += duration);
  }
  trial_add_break(t, *now += duration);
}

static void put_sequence(trial *t, writer *w, double middle, double size) {
  double now = 0;
  int count = 2 + trial_pick(t, 4);
  put(w, "sequence: [{step: {to: %.6g, duration: 0.01}}, ", middle);
  trial_add_break(t, now += 0.01);
  for (int i = 0; i < count; i++) {
    if (i) put(w, ", ");
    put_segment(t, w, middle, size, &now);
  }
  put(w, "]");
}

static void put_stepped_sine(trial *t, writer *w, double size) {
  double from = rounded(trial_uniform(t, 4, 10)), step = rounded(trial_uniform(t, 3, 10));
  int count = 1 + trial_pick(t, 4), periods = 1 + trial_pick(t, 2);
  put(w, "stepped_sine: {amplitude: %.6g, from: %.6g, to: %.6g, step: %.6g, periods: %d}", size, from,
      from + (count - 0.5) * step, step, periods);
  double now = 0;
  for (int i = 0; i < count; i++) trial_add_break(t, now += periods / (from + i * step));
}

static void put_file(trial *t, writer *w, double middle, double size) {
  if (t->files == TRIAL_FILES) {
    put(w, "constant: %.6g", value(t, middle, size));
    return;
  }
  trial_text *file = &t->file[t->files];
  snprintf(file->name, sizeof file->name, "log%d.csv", t->files++);
  file->size = 1 << 16;
  file->text = malloc(file->size);
  double every = rounded(trial_decades(t, 2e-3, 3e-2)), frequency = trial_uniform(t, 1, 10);
  file->used = (size_t)snprintf(file->text, file->size, "time,v\n");
  for (int i = 0; i * every < t->time + every; i++) {
    file->used += (size_t)snprintf(file->text + file->used, file->size - file->used, "%.9g,%.6g\n", i * every,
                                   middle + size * sin(2 * 3.14159265358979323846 * frequency * i * every));
    char text[32];
    snprintf(text, sizeof text, "%.9g", i * every);
    trial_add_break(t, strtod(text, NULL));
  }
  put(w, "file: {path: %s, column: v}", file->name);
}

static void put_sine(trial *t, writer *w, double middle, double size) {
  double start = trial_chance(t, 0.5) ? rounded(trial_uniform(t, 0, 0.4) * t->time) : 0;
  put(w, "sine: {amplitude: %.6g, frequency: %.6g, phase: %.6g, offset: %.6g, start: %.6g}", size,
      trial_decades(t, 0.5, 25), trial_uniform(t, 0, 3), middle, start);
  trial_add_break(t, start);
}

static void put_chirp(trial *t, writer *w, double middle, double size) {
  double start = rounded(trial_uniform(t, 0, 0.3) * t->time), duration = rounded(trial_uniform(t, 0.3, 0.6) * t->time);
  put(w, "chirp: {amplitude: %.6g, from: %.6g, to: %.6g, duration: %.6g, offset: %.6g, start: %.6g, sweep: %s}", size,
      trial_uniform(t, 1, 5), trial_uniform(t, 8, 40), duration, middle, start,
      trial_chance(t, 0.5) ? "linear" : "logarithmic");
  trial_add_break(t, start);
  trial_add_break(t, start + duration);
}

static void put_prbs(trial *t, writer *w, double middle, double size) {
  double bit = rounded(trial_decades(t, 0.004, 0.15));
  put(w, "prbs: {low: %.6g, high: %.6g, bit: %.6g, seed: %d, order: 6}", middle - size, middle + size, bit,
      1 + trial_pick(t, 60));
  for (int i = 1; i * bit < t->time; i++) trial_add_break(t, i * bit);
}

static void put_signal(trial *t, writer *w, const char *kind, double middle, double size) {
  if (strcmp(kind, "constant") == 0) put(w, "constant: %.6g", value(t, middle, size));
  if (strcmp(kind, "sine") == 0) put_sine(t, w, middle, size);
  if (strcmp(kind, "chirp") == 0) put_chirp(t, w, middle, size);
  if (strcmp(kind, "prbs") == 0) put_prbs(t, w, middle, size);
  if (strcmp(kind, "sequence") == 0) put_sequence(t, w, middle, size);
  if (strcmp(kind, "file") == 0) put_file(t, w, middle, size);
  bool has_initial = strcmp(kind, "steps") == 0 || strcmp(kind, "lagged_steps") == 0;
  if (has_initial || strcmp(kind, "ramps") == 0 || strcmp(kind, "half_cosines") == 0) {
    put(w, "%s: {", kind);
    if (has_initial) put(w, "initial: %.6g, ", middle);
    if (kind[0] == 'l') put(w, "time_constant: %.6g, ", trial_decades(t, 1e-3, 5e-2));
    put_points(t, w, middle, size);
    put(w, "}");
  }
  if (strcmp(kind, "stepped_sine") == 0) {
    put(w, "sum: [%.6g, {", middle);
    put_stepped_sine(t, w, size);
    put(w, "}]");
  }
  if (strcmp(kind, "derivative") == 0) {
    double from = rounded(trial_uniform(t, 0.05, 0.3) * t->time), for_long = trial_uniform(t, 0.2, 0.5) * t->time,
           to = rounded(from + for_long);
    put(w, "sum: [%.6g, {derivative: {%s: {at: [[%.6g, 0], [%.6g, %.6g]]}}}]", middle,
        trial_chance(t, 0.5) ? "half_cosines" : "ramps", from, to, 0.6 * size * for_long);
    trial_add_break(t, from);
    trial_add_break(t, to);
  }
}

void trial_input(trial *t, const char *unit, double middle, double size, char name[TRIAL_NAME]) {
  int count = 0;
  while (trial_signal_kinds[count]) count++;
  const char *kind = trial_choose(t, trial_signal_kinds, count);
  writer w = {.used = 0};
  trial_name(t, "in", name);
  if (strcmp(kind, "sum") == 0) {
    static const char *const first[] = {"ramps", "sine", "sequence", "half_cosines"}, *const second[] = {
                                                                                          "steps", "prbs", "chirp",
                                                                                          "lagged_steps"};
    put(&w, "sum: [{");
    put_signal(t, &w, first[trial_pick(t, 4)], middle, 0.7 * size);
    put(&w, "}, {");
    put_signal(t, &w, second[trial_pick(t, 4)], 0, 0.3 * size);
    put(&w, "}]");
  } else {
    put_signal(t, &w, kind, middle, size);
  }
  trial_put(t, "inputs", "  %s: {unit: '%s', %s}\n", name, unit, w.text);
}
