#include "calibration/judged.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "calibration/truth.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "simulate/run.h"

const char *const judged_state_names[] = {"judged",          "file refused", "no truth",
                                          "not predictable", "run failed",   "process died"};

// Remarks with these codes concern errors of outputs; others concern the machine.
static const char *const about_accuracy[] = {"step.", "tolerance.", "error.", "energy.", "run.", NULL};

static const double row_interval = 1e-3;   // s, of adaptive runs
static const double finest = 1e-4;         // s between samples of the truth
static const double jump_part = 5e-3;      // of the range: smaller jumps are ignored
static const double same_time = 1e-9;      // s
static const double jump_time = 2e-7;      // s within which they happen
static const double zero = 1e-13;          // SI: outputs that never exceed this count as zero
static const double unpredictable = 1e-3;  // of the range

static double processor_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ---- files

static bool write_text(const char *folder, const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *to = fopen(path, "w");
  if (!to) return false;
  bool ok = fputs(text, to) >= 0;
  return fclose(to) == 0 && ok;
}

static bool write_files(const trial *t, const char *folder, const char *const *outputs, int count) {
  char *text = trial_file(t, outputs, count), name[64];
  snprintf(name, sizeof name, "machine.yaml");
  bool ok = write_text(folder, name, text);
  free(text);
  for (int i = 0; i < t->files; i++) ok = ok && write_text(folder, t->file[i].name, t->file[i].text);
  return ok;
}

static od_machine *load(const trial *t, const char *folder, judged *j) {
  char path[512];
  snprintf(path, sizeof path, "%s/machine.yaml", folder);
  if (!write_files(t, folder, NULL, 0)) return NULL;
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  if (od_machine_load(path, NULL, &machine, messages) != OD_OK) {
    machine = NULL;
    for (int i = 0; i < od_messages_count(messages); i++) {
      const od_message *m = od_messages_get(messages, i);
      if (m->is_warning) continue;
      snprintf(j->why, sizeof j->why, "line %d: %s", m->line, m->text);
      break;
    }
  }
  od_messages_free(messages);
  return machine;
}

// ---- outputs: those that the trial lists, and some of all others

static bool is_judged_output(const od_machine *machine, int output) {
  const char *name = od_machine_output_name(machine, output);
  size_t length = strlen(name);
  return strcmp(name, "energy.balance") != 0 && !(length > 7 && strcmp(name + length - 7, ".inflow") == 0);
}

static void add_output(int *list, int *count, int output) {
  for (int i = 0; i < *count; i++)
    if (list[i] == output) return;
  if (output >= 0 && *count < JUDGED_OUTPUTS) list[(*count)++] = output;
}

static int choose_outputs(const trial *t, const od_machine *machine, int *list) {
  int count = 0, all = od_machine_output_count(machine);
  od_dice dice = {t->seed * 1181783497276652981u + 77};
  for (int i = 0; i < 4; i++) od_dice_uniform(&dice, 0, 1);
  for (int i = 0; i < 3 * t->outputs && count < 9; i++)
    add_output(list, &count, od_machine_output_find(machine, t->output[od_dice_pick(&dice, t->outputs)]));
  int more = count < 4 ? 4 : 2;
  for (int i = 0; i < more; i++) {
    int output = od_dice_pick(&dice, all);
    if (is_judged_output(machine, output)) add_output(list, &count, output);
  }
  return count;
}

// ---- classes that the loaded machine has

static void add_class(judged *j, const char *kind, const char *name) {
  char text[64];
  snprintf(text, sizeof text, "%s %s", kind, name);
  text[39] = '\0';
  for (int i = 0; i < j->classes; i++)
    if (strcmp(j->used[i], text) == 0) return;
  if (j->classes < JUDGED_CLASSES) memcpy(j->used[j->classes++], text, 40);
}

static void find_classes(const trial *t, const od_machine *machine, judged *j) {
  const od_model *m = od_machine_model(machine);
  for (int i = 0; i < m->instances; i++) add_class(j, "element", od_instance_class(m, &m->instance[i])->name);
  for (int i = 0; i < m->blocks; i++) {
    add_class(j, "block", od_block_class_of(&m->spec[i])->type);
    if (m->block[i].sample > 0) add_class(j, "block", "sampled");
  }
  static const char *const joints[] = {"revolute",    "prismatic", "universal", "spherical", "fixed",
                                       "cylindrical", "planar",    "screw",     "free"};
  static const char *const signals[] = {"constant",     "sine",        "chirp",        "stepped_sine", "steps",
                                        "lagged_steps", "ramps",       "half_cosines", "prbs",         "sum",
                                        "derivative",   "file",        "hold",         "step",         "ramp",
                                        "half_cosine",  "lagged_step", "steady_steps"};
  static const char *const sections[] = {"contacts", "gears", "rods",      "forces", "torques",
                                         "sources",  "tanks", "junctions", "volumes"};
  char *text = trial_file(t, NULL, 0), word[64];
  for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
    snprintf(word, sizeof word, "type: %s, between", joints[i]);
    if (strstr(text, word)) add_class(j, "joint", joints[i]);
  }
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    snprintf(word, sizeof word, "%s: {", signals[i]);
    for (char *at = text; (at = strstr(at, word)); at++)
      if (at > text && (at[-1] == ' ' || at[-1] == '{')) add_class(j, "signal", signals[i]);
    snprintf(word, sizeof word, ", %s: ", signals[i]);
    if ((i == 0 || i == 9) && strstr(text, word)) add_class(j, "signal", signals[i]);
  }
  if (strstr(text, "sequence: [")) add_class(j, "signal", "sequence");
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    snprintf(word, sizeof word, "\n%s:", sections[i]);
    if (strstr(text, word)) add_class(j, "section", sections[i]);
  }
  free(text);
}

// ---- the run

static bool keep_going(void *user, double done) {
  (void)done;
  return processor_time() < *(double *)user;
}

bool judged_is_about_accuracy(const char *code) {
  for (int i = 0; about_accuracy[i]; i++)
    if (strncmp(about_accuracy[i], code, strlen(about_accuracy[i])) == 0) return true;
  return false;
}

static void note_verdict(judged *j, const od_verdict *v) {
  j->trust = v->trust;
  for (int i = 0; i < v->count; i++) {
    if (j->codes < JUDGED_CODES) snprintf(j->code[j->codes++], sizeof j->code[0], "%s", v->remark[i].code);
    j->is_accused |= v->remark[i].trust != OD_SOUND && judged_is_about_accuracy(v->remark[i].code);
    j->is_partial |= strcmp(v->remark[i].code, "run.incomplete") == 0;
  }
}

static od_table *run_it(const od_machine *machine, const int *outputs, int count, double seconds, judged *j) {
  double until = processor_time() + seconds;
  od_run_options options = od_run_options_of(machine, (od_run_wishes){0});
  options.outputs = outputs, options.output_count = count;
  options.progress = keep_going, options.user = &until;
  od_table *table = NULL;
  od_run_report report = {0};
  od_error error = {0};
  double begin = processor_time();
  od_status status = od_run(machine, &options, &table, &report, &error);
  j->run_seconds = processor_time() - begin;
  note_verdict(j, &report.verdict);
  for (int i = 0; i < count; i++) {
    const od_output_error *e = report.accuracy.error ? &report.accuracy.error[i] : NULL;
    j->output[i].reported = e ? e->part : NAN;
    j->output[i].reported_at = e ? e->at : NAN;
    j->output[i].reported_range = e ? e->range : NAN;
  }
  od_run_report_free(&report);
  if (status != OD_OK) snprintf(j->why, sizeof j->why, "%s: %.150s", od_status_text(status), error.text);
  if (status != OD_OK && !(table && table->rows > 1)) {
    od_table_free(table);
    return NULL;
  }
  j->is_partial |= status != OD_OK;
  return table;
}

// Processor time of a run with fixed steps of 1 ms without a verdict.
static double time_plain_run(const od_machine *machine, const int *outputs, int count, double seconds) {
  double until = processor_time() + seconds, begin = processor_time();
  od_run_options options = {
      .time = od_machine_run(machine)->time, .step = 1e-3, .unjudged = true, .outputs = outputs, .output_count = count};
  options.progress = keep_going, options.user = &until;
  od_table *table = NULL;
  od_run_report report = {0};
  od_error error = {0};
  od_status status = od_run(machine, &options, &table, &report, &error);
  double taken = processor_time() - begin;
  od_table_free(table);
  od_run_report_free(&report);
  return status == OD_OK ? taken : NAN;
}

// ---- comparison

// The rows' times and finer ones between them.
static double *make_grid(const od_table *table, long *count) {
  *count = 0;
  long capacity = 1;
  for (long i = 1; i < table->rows; i++)
    capacity += 2 + (long)ceil((table->data[i * table->columns] - table->data[(i - 1) * table->columns]) / finest);
  double *grid = calloc((size_t)capacity, sizeof *grid);
  if (!grid) abort();
  for (long i = 1; i < table->rows; i++) {
    double from = table->data[(i - 1) * table->columns], to = table->data[i * table->columns];
    int parts = (int)ceil((to - from) / finest - 1e-6);
    for (int k = 1; k <= parts; k++) grid[(*count)++] = k == parts ? to : from + (to - from) * k / parts;
  }
  return grid;
}

typedef struct range {
  double low, high;
} range;

// The sample at t, after the event at t.
static long sample_at(const truth *a, double t, long from) {
  long i = from;
  while (i + 1 < a->count && a->time[i + 1] <= t + same_time) i++;
  return i;
}

// Samples of the truth at the rows of the run, which a reader sees.
static range range_at_rows(const truth *a, int column, const od_table *table) {
  range r = {INFINITY, -INFINITY};
  for (long i = 0, row = 0; row < table->rows; row++) {
    i = sample_at(a, table->data[row * table->columns], i);
    r.low = fmin(r.low, a->y[i * a->columns + column]);
    r.high = fmax(r.high, a->y[i * a->columns + column]);
  }
  return r;
}

// Marks the samples behind which an output jumps.
static void find_jumps(const truth *a, int column, double size, unsigned char *jumps) {
  for (long i = 0; i + 1 < a->count; i++) {
    const double *y = a->y + i * a->columns + column;
    double change = fabs(y[a->columns] - y[0]), wide = a->time[i + 1] - a->time[i];
    jumps[i] = wide <= jump_time && change > jump_part * size;
    if (wide <= jump_time || i == 0 || i + 2 >= a->count || change <= 4 * jump_part * size) continue;
    // Flags that jump without a listed event: constant before and after.
    jumps[i] = y[0] == y[-a->columns] && y[2 * a->columns] == y[a->columns];
  }
}

// Distance of a value from the truth at row time t, before or after an event at t. If the truth jumps within one row of t, the
// distance from its values in that time.
static double distance(const truth *a, int column, const unsigned char *jumps, long at, double value, double wide) {
  double t = a->time[at], low = INFINITY, high = -INFINITY;
  long first = at, last = at;
  bool has_jump = false;
  while (first > 0 && a->time[first - 1] >= t - wide * (1 + 1e-6)) has_jump |= jumps[--first];
  while (last + 1 < a->count && a->time[last + 1] <= t + wide * (1 + 1e-6)) has_jump |= jumps[last++];
  for (long i = first; i <= last; i++) {
    if (!has_jump && fabs(a->time[i] - t) > same_time) continue;
    low = fmin(low, a->y[i * a->columns + column]), high = fmax(high, a->y[i * a->columns + column]);
  }
  return value < low ? low - value : value > high ? value - high : isnan(value) ? INFINITY : 0;
}

// The scale of errors of an output: its range, at least a thousandth of its largest value; for energies see verdicts of runs.
static double size_of(const od_machine *machine, int output, range r, double moved) {
  double size = fmax(r.high - r.low, 1e-3 * fmax(fabs(r.low), fabs(r.high)));
  const od_model *m = od_machine_model(machine);
  if (output >= od_model_output_count(m)) return size;
  od_output_kind kind = m->output[output].kind;
  if (kind == OD_OUT_KINETIC || kind == OD_OUT_POTENTIAL || kind == OD_OUT_STORED) return fmax(size, moved);
  return kind >= OD_OUT_INTEGRAL ? fmax(size, 1e-3 * moved) : size;
}

static void compare(const od_machine *machine, const int *outputs, int count, const od_table *table, const truth *a,
                    const truth *b, double wide, judged *j) {
  double moved = 0;
  for (int k = count; k < a->columns; k++) {
    range r = range_at_rows(a, k, table);
    moved = fmax(moved, r.high - r.low);
  }
  unsigned char *jumps = calloc((size_t)a->count + 1, 1);
  for (int k = 0; k < count; k++) {
    judged_output *o = &j->output[k];
    range r = range_at_rows(a, k, table);
    double size = o->range = size_of(machine, outputs[k], r, moved);
    find_jumps(a, k, size, jumps);
    long at = 0, other = 0;
    if (!(fmax(fabs(r.low), fabs(r.high)) > zero)) continue;  // only round-off
    for (long i = 0; i < table->rows; i++) {
      double t = table->data[i * table->columns];
      if (t > a->time[a->count - 1] + 1e-9) break;
      at = sample_at(a, t, at), other = sample_at(b, t, other);
      double error = distance(a, k, jumps, at, table->data[i * table->columns + 1 + k], wide) / size;
      double difference = distance(a, k, jumps, at, b->y[other * b->columns + k], finest) / size;
      if (isnan(error)) error = INFINITY;
      if (error > o->error) o->error = error, o->at = t;
      if (!(difference <= j->truth_difference)) j->truth_difference = difference;
    }
    j->worst = fmax(j->worst, o->error);
  }
  free(jumps);
}

static void judge_machine(const trial *t, const od_machine *machine, double seconds, judged *j) {
  static const char *const energies[] = {"energy.kinetic", "energy.stored", "energy.dissipated", "energy.input"};
  int outputs[JUDGED_OUTPUTS + 4], count = choose_outputs(t, machine, outputs), all = count;
  for (int i = 0; i < 4; i++) {
    int energy = od_machine_output_find(machine, energies[i]);
    if (energy >= 0) outputs[all++] = energy;
  }
  j->outputs = count;
  for (int i = 0; i < count; i++)
    snprintf(j->output[i].name, TRIAL_NAME, "%s", od_machine_output_name(machine, outputs[i]));
  od_table *table = run_it(machine, outputs, count, seconds, j);
  if (!table) {
    j->state = JUDGED_NO_RUN;
    return;
  }
  if (t->is_adaptive) j->plain_seconds = time_plain_run(machine, outputs, count, seconds);
  j->end = table->data[(table->rows - 1) * table->columns];
  long grid_count;
  double *grid = make_grid(table, &grid_count);
  truth a, b = {0};
  bool ok = truth_run(&a, machine, t, outputs, all, grid, grid_count, 1e-11, true, seconds);
  snprintf(j->why + strlen(j->why), sizeof j->why - strlen(j->why), "%s", a.why);
  if (ok) {
    ok = truth_run(&b, machine, t, outputs, all, grid, grid_count, 1e-10, false, seconds);
    snprintf(j->why + strlen(j->why), sizeof j->why - strlen(j->why), "%s", b.why);
  }
  j->truth_seconds = a.seconds + b.seconds;
  j->restarts = a.restarts;
  j->has_events = t->edges > 0;
  if (ok) compare(machine, outputs, count, table, &a, &b, t->is_adaptive ? row_interval : t->step, j);
  j->state = !ok                                   ? JUDGED_NO_TRUTH
             : j->truth_difference > unpredictable ? JUDGED_UNPREDICTABLE
             : j->is_partial                       ? JUDGED_NO_RUN
                                                   : JUDGED;
  truth_free(&a), truth_free(&b);
  free(grid);
  od_table_free(table);
}

void judge(uint64_t seed, const char *folder, double seconds, judged *out) {
  trial *t = trial_new(seed);
  *out = (judged){.seed = seed, .is_adaptive = t->is_adaptive, .step = t->step, .plain_seconds = NAN};
  snprintf(out->integrator, sizeof out->integrator, "%s", t->integrator ? t->integrator : "default");
  od_machine *machine = load(t, folder, out);
  if (!machine) {
    out->state = JUDGED_NO_FILE;
  } else {
    find_classes(t, machine, out);
    const od_model *m = od_machine_model(machine);
    if (seconds > 0) judge_machine(t, machine, seconds, out);
    out->has_events |= od_model_switchers(m) > 0;
    od_machine_free(machine);
  }
  trial_free(t);
}

bool judged_write(uint64_t seed, const char *folder) {
  trial *t = trial_new(seed);
  judged ignored = {0};
  od_machine *machine = load(t, folder, &ignored);
  const char *names[JUDGED_OUTPUTS];
  int outputs[JUDGED_OUTPUTS], count = machine ? choose_outputs(t, machine, outputs) : 0;
  for (int i = 0; i < count; i++) names[i] = od_machine_output_name(machine, outputs[i]);
  bool ok = write_files(t, folder, names, count);
  od_machine_free(machine);
  trial_free(t);
  return ok;
}
