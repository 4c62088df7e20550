// Failed allocations in the library, at each allocation of its own code in turn: no crash, no leak, and the caller gets OD_NO_MEMORY or
// the correct result. The program itself ends immediately (src/cli/program/memory.c); users of the library do not. Oracles: the C library's
// allocator with counters of blocks that are not freed; the undisturbed run.
//
// Allocations of other libraries do not fail here, because these libraries do not report it. To examine one allocation:
//   unit.jobs.out_of_memory TEST NUMBER
#include "support/test.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>

#include "experiment/observe.h"
#include "identify/fit.h"
#include "io/csv_writer.h"
#include "formats/row_reader.h"
#include "io/thin_table.h"
#include "oleodyn/job.h"
#include "study/shared_truth.h"
#include "study/study.h"
#include "support/scratch.h"
#include "support/skipping.h"

// --- The allocator --------------------------------------------------------------------------------------------------

#if defined __has_feature  // of Clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OTHER_ALLOCATOR
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || defined OTHER_ALLOCATOR || !defined __GLIBC__
enum { FAILING = 0 };
#else
enum { FAILING = 1 };
#define REPLACES_ALLOCATOR
#endif

static atomic_long asked, living;  // allocations of the project's code while counting; blocks of all code
static long fails;                 // the one that fails; 0: not counting

#ifdef REPLACES_ALLOCATOR
extern const char __executable_start[], etext[];
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *old);

static bool refuse(const void *caller) {
  const char *from = caller;
  if (fails == 0 || from < __executable_start || from >= etext || ++asked != fails) return false;
  errno = ENOMEM;
  return true;
}
static void *count_block(void *block) {
  living += block != NULL;
  return block;
}

void *malloc(size_t size) {
  return refuse(__builtin_return_address(0)) ? NULL : count_block(__libc_malloc(size));
}
void *calloc(size_t count, size_t size) {
  return refuse(__builtin_return_address(0)) ? NULL : count_block(__libc_calloc(count, size));
}
void *realloc(void *old, size_t size) {
  if (refuse(__builtin_return_address(0))) return NULL;
  void *block = __libc_realloc(old, size);
  living += (block != NULL) - (old && (block || size == 0));
  return block;
}
void free(void *old) {
  living -= old != NULL;
  __libc_free(old);
}
char *strdup(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = refuse(__builtin_return_address(0)) ? NULL : count_block(__libc_malloc(size));
  return copy ? memcpy(copy, text, size) : NULL;
}
#endif

// --- Tested functions -----------------------------------------------------------------------------------------------

static long number;  // of the allocation that fails in the present run; 0: none

// Start and end of counting.
static void begin(void) {
  asked = 0;
  fails = number ? number : -1;
}
static void end(void) {
  fails = 0;
}

enum { LOG_ROWS = 400 };
static double answer;  // of the present run: it must be the same whenever its status is OD_OK

static od_status rows(scratch *s) {
  char path[512];
  strcpy(path, scratch_path(s, "log.csv"));
  od_row_reader *r = NULL, *other = NULL;
  od_error err = {0};
  double value[5];
  bool stop = false;
  begin();
  od_status status = od_row_reader_open(path, NULL, &r, &err);
  const bool wanted[5] = {true, true, true, true, true};  // a text among them, whose mistake is recorded
  if (status == OD_OK) {
    od_row_reader_want(r, wanted);
    status = od_row_reader_again(r, &other, &err);
  }
  for (long k = 0; status == OD_OK && !stop; k++) status = od_row_reader_next(r, value, &stop, &err);
  answer = value[2];
  od_row_reader_close(other);
  od_row_reader_close(r);
  end();
  return status;
}

static od_table *new_table(int columns) {
  od_table *t = od_table_new(columns);
  for (int i = 0; t && i < columns; i++)
    if (od_table_label(t, i, i ? "y" : "t", "1") != OD_OK) {
      od_table_free(t);
      return NULL;
    }
  return t;
}

static od_status writer(scratch *s) {
  char path[512];
  strcpy(path, scratch_path(s, "out.csv"));
  od_csv_writer *w = NULL;
  od_error err = {0};
  begin();
  od_table *head = new_table(2);
  od_status status = head ? od_csv_writer_open(path, head, &w, &err) : OD_NO_MEMORY;
  for (int k = 0; status == OD_OK && k < 20000; k++) od_csv_writer_row(w, (double[]){k, sqrt(k)});
  if (status == OD_OK) status = od_csv_writer_commit(w, &err);
  od_table_free(head);
  end();
  if (status != OD_OK && access(path, F_OK) == 0) fail_msg("a file that is not complete has its name");
  unlink(path);
  return status;
}

static od_status thin(scratch *s) {
  (void)s;
  begin();
  od_table *table = new_table(3);
  od_thin_table *t = table ? od_thin_table_new(table) : NULL;
  od_status status = t ? OD_OK : OD_NO_MEMORY;
  for (int k = 0; status == OD_OK && k < 2 * OD_THIN_ROWS; k++)
    status = od_thin_table_append(t, (double[]){k, sin(k), cos(k)});
  if (status == OD_OK) status = od_thin_table_finish(t);
  answer = table ? (double)table->rows : 0;
  od_thin_table_free(t);
  od_table_free(table);
  end();
  return status;
}

static od_experiment *load(scratch *s, const char *name) {
  od_messages *messages = od_messages_new();
  od_experiment *e = NULL;
  if (od_experiment_load(scratch_path(s, name), &(od_experiment_options){0}, &e, messages) != OD_OK)
    od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  if (!e) fail_msg("%s cannot be read", name);
  return e;
}

// A log that is read again for its rows.
static od_status long_log(scratch *s) {
  od_experiment *e = load(s, "replay.yaml");
  od_error err = {0};
  od_units *units = od_units_new(&err);
  od_messages *messages = od_messages_new();
  od_log_plan plan = e->data;
  od_log *log = NULL;
  od_log_cursor *cursor = NULL;
  const double *value;
  double time = 0;
  bool more = true;
  plan.most_held = 0;
  begin();
  od_status status = od_log_read(&plan, units, &log, messages);
  if (status == OD_OK) status = od_log_cursor_new(log, &cursor, &err);
  while (status == OD_OK && more) status = od_log_cursor_next(cursor, &time, &value, &more, &err);
  answer = time;
  od_log_cursor_free(cursor);
  od_log_free(log);
  end();
  od_messages_free(messages);
  od_units_free(units);
  od_experiment_free(e);
  return status;
}

static od_status observe_with(scratch *s, const char *name) {
  od_experiment *e = load(s, name);
  od_observed *o = NULL;
  od_error err = {0};
  begin();
  od_status status = od_observe(e, &(od_observe_options){.keep = OD_ROWS_PICTURE}, &o, &err);
  answer = status == OD_OK ? o->estimate[0] : 0;
  od_observed_free(o);
  end();
  od_experiment_free(e);
  return status;
}
static od_status observe_log(scratch *s) {
  return observe_with(s, "replay.yaml");
}
static od_status observe_simulated(scratch *s) {
  return observe_with(s, "simulated.yaml");
}

static od_status shared_truth(scratch *s) {
  od_experiment *e = load(s, "simulated.yaml");
  od_error err = {0};
  const od_kept_motion *motion = NULL;
  begin();
  od_shared_truths *all = od_shared_truths_new(1e6);
  od_shared_truth *place = all ? od_shared_truths_find(all, e) : NULL;
  od_status status = place ? od_shared_truth_motion(place, (od_going_on){0}, &motion, &err) : OD_NO_MEMORY;
  if (status == OD_OK && !motion) status = OD_NO_MEMORY;  // the run must simulate it itself
  od_shared_truths_free(all);
  end();
  od_experiment_free(e);
  return status;
}

static od_status fit_with(scratch *s, const char *name, bool shared, size_t most_kept) {
  od_messages *messages = od_messages_new();
  od_fit_plan *plan = NULL;
  od_fitted *f = NULL;
  od_error err = {0};
  if (od_fit_plan_load(scratch_path(s, name), &(od_experiment_options){0}, &plan, messages) != OD_OK) {
    od_messages_print(messages, stderr, false);
    fail_msg("%s cannot be read", name);
  }
  begin();
  od_shared_truths *all = shared ? od_shared_truths_new(1e6) : NULL;
  od_status status = shared && !all ? OD_NO_MEMORY : OD_OK;
  if (all) status = od_shared_truths_keep_sets(all, plan, 1, (od_going_on){0}, &err);
  if (status == OD_OK) status = od_fit(plan, &(od_fit_options){.table = true, .most_kept = most_kept}, &f, &err);
  answer = status == OD_OK ? f->estimate[0] : 0;
  od_fitted_free(f);
  od_shared_truths_free(all);
  end();
  od_fit_plan_free(plan);
  od_messages_free(messages);
  return status;
}
static od_status fit_log(scratch *s) {
  return fit_with(s, "replay.yaml", false, 0);
}
static od_status fit_rows_again(scratch *s) {
  return fit_with(s, "replay.yaml", false, 1);
}
static od_status fit_simulated(scratch *s) {
  return fit_with(s, "simulated.yaml", true, 0);
}

static od_status study(scratch *s) {
  char values[512];
  strcpy(values, scratch_path(s, "values.json"));
  od_messages *messages = od_messages_new();
  od_study *made = NULL;
  od_study_result *result = NULL;
  od_error err = {0};
  if (od_study_load(scratch_path(s, "study.yaml"), &(od_study_options){0}, &made, messages) != OD_OK)
    fail_msg("the study cannot be read");
  begin();
  od_status status = od_study_run(made, &(od_study_run_options){.threads = 1, .values = values}, &result, &err);
  answer = status == OD_OK ? result->row[0].value : 0;
  od_study_result_free(result);
  end();
  od_study_free(made);
  od_messages_free(messages);
  return status;
}

// Reading files. A message may report the failure as well.
static od_status judge_messages(od_status status, od_messages *messages) {
  for (int i = 0; messages && status == OD_BAD_INPUT && i < od_messages_count(messages); i++)
    if (strstr(od_messages_get(messages, i)->text, "out of memory")) status = OD_NO_MEMORY;
  od_messages_free(messages);
  return status;
}
static od_status load_study(scratch *s) {
  char path[512];
  strcpy(path, scratch_path(s, "study.yaml"));
  od_study *made = NULL;
  begin();
  od_messages *messages = od_messages_new();
  od_status status = messages ? od_study_load(path, &(od_study_options){0}, &made, messages) : OD_NO_MEMORY;
  answer = made ? made->cases : 0;
  od_study_free(made);
  end();
  return judge_messages(status, messages);
}

// Jobs of the public API. The answer is the number at `path` of the result.
static od_status job_with(scratch *s, const char *kind, const char *file, const char *option, const char *value,
                          const char *path) {
  char name[512];
  strcpy(name, scratch_path(s, file));
  begin();
  od_job *job = od_job_new(kind);
  od_status status = job ? od_job_add_file(job, name) : OD_NO_MEMORY;
  if (status == OD_OK && option) status = od_job_set(job, option, value, NULL);
  if (status == OD_OK) {
    od_job_keep_table(job);
    status = od_job_run(job) == OD_JOB_DONE ? OD_OK : OD_NO_MEMORY;
  }
  answer = status == OD_OK ? od_result_get_number(od_job_result(job), path) : 0;
  if (status == OD_OK && isnan(answer)) fail_msg("%s: there is no number %s", kind, path);
  od_job_free(job);
  end();
  return status;
}
static od_status job_simulate(scratch *s) {
  return job_with(s, "simulate", "lag.yaml", "output", "lag", "outputs[lag].max");
}
static od_status job_observe(scratch *s) {
  return job_with(s, "observe", "simulated.yaml", "seed", "3", "parameters[0].estimate");
}
static od_status job_fit(scratch *s) {
  return job_with(s, "fit", "replay.yaml", NULL, NULL, "parameters[0].estimate");
}
static od_status job_bode(scratch *s) {
  return job_with(s, "bode", "lag.yaml", "points", "20", "frequencies[3]");
}
static od_status job_sweep(scratch *s) {
  return job_with(s, "linearize", "lag.yaml", "sweep", "lag.gain=1:2:3", "columns[lag.gain].swept");
}
static od_status job_info(scratch *s) {
  return job_with(s, "info", "lag.yaml", NULL, NULL, "freedom");
}
static od_status job_draw(scratch *s) {
  char picture[512];
  strcpy(picture, scratch_path(s, "swing.svg"));
  return job_with(s, "draw", "swing.yaml", "machine", picture, "scene.size");
}

static const struct {
  const char *name;
  od_status (*run)(scratch *s);
  bool other_answer;  // a failed part may be omitted
} tries[] = {{"rows", rows},
             {"writer", writer},
             {"thin table", thin},
             {"long log", long_log},
             {"observe a log", observe_log},
             {"observe", observe_simulated},
             {"shared truth", shared_truth},
             {"fit a log", fit_log},
             {"fit, rows again", fit_rows_again},
             {"fit", fit_simulated},
             {"study", study, true},
             {"load a study", load_study},
             {"simulate job", job_simulate, true},
             {"observe job", job_observe, true},
             {"fit job", job_fit, true},
             {"bode job", job_bode, true},
             {"sweep job", job_sweep, true},
             {"info job", job_info, true},
             {"draw job", job_draw, true}};
enum { TRIES = sizeof tries / sizeof *tries, EVERY_ONE = 60, SAMPLES = 60 };

// --- The test -------------------------------------------------------------------------------------------------------

static void write_files(scratch *s) {
  static const struct {
    const char *name, *text;
  } files[] = {
      {"lag.yaml",
       "machine: Lag\ninputs: {u: {unit: V, sine: {amplitude: 1 V, frequency: 0.5 Hz}}}\n"
       "blocks: {lag: {type: first-order, input: u, gain: 2, time_constant: 0.5 s}}\nrun: {time: 4 s, step: 10 ms}\n"
       "variants: {wrong: {blocks: {lag: {gain: 1.5, time_constant: 0.5 s}}}}\n"},
      {"swing.yaml",
       "bodies: {arm: {mass: 9 kg, inertia: 1, points: {lug: [1 m, 0.2 m], end: [2 m, 0]}}}\nground: {points: {foot: [1 m, -1 m]}}\n"
       "joints: {hinge: {type: revolute, between: [ground, arm]}}\nsprings: {spring: {between: [ground.foot, arm.lug], stiffness: 1 kN/m, length: 1 m}}\n"
       "forces: {pull: {at: arm.end, value: 1 N, direction: [0, -1]}}\ninitial: {hinge.angle: 0 deg}\n"
       "look: {bodies: {ground: {shapes: [{path: M0 0 L2 .1 Q2 -.1 1 1 Z, round: 10 mm, color: accent}]}}, traces: arm.end}\n"},
      {"replay.yaml",
       "machine: lag.yaml\nmodel: {variant: wrong}\nstep: 10 ms\nsensors: {lag: {sigma: 50 mV}}\n"
       "data: {file: log.csv}\nparameters: {lag.gain: {low: 0.1, high: 10, sigma: 1}}\n"},
      {"simulated.yaml",
       "machine: lag.yaml\nmodel: {variant: wrong}\ntime: 1 s\nstep: 10 ms\nsensors: {lag: {sigma: 50 mV}}\n"
       "parameters: {lag.gain: {low: 0.1, high: 10, sigma: 1}}\n"},
      {"study.yaml",
       "study: small\ncases:\n  a: {experiment: simulated.yaml, seeds: 3}\n"
       "  b: {experiment: simulated.yaml, do: fit, seeds: 3}\n"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    scratch_write(s, files[i].name, files[i].text, strlen(files[i].text));
  FILE *to = fopen(scratch_path(s, "log.csv"), "w");
  fputs("time [s],note,u,lag,extra\n", to);
  double y = 0, a = exp(-0.01 / 0.5);
  for (int k = 0; k < LOG_ROWS; k++) {
    double u = sin(0.03 * k);
    fprintf(to, "%d.%02d,text,%.6g,%.6g,%d\n", k / 100, k % 100, u, y + 0.05 * sin(1e3 * k), k);
    y = a * y + 2 * (1 - a) * u;
  }
  fclose(to);
}

// The number after n: each of the first ones, then some of the rest.
static long next_number(long n, long count) {
  return n < EVERY_ONE ? n + 1 : n + 1 + (count - EVERY_ONE) / SAMPLES;
}

static void try_all(scratch *s, int t) {
  number = 0;
  for (int i = 0; i < 2; i++)  // libraries keep memory that they allocate the first time
    if (tries[t].run(s) != OD_OK) fail_msg("%s: fails without being disturbed", tries[t].name);
  long count = asked;
  double right = answer;
  for (number = 1; number <= count; number = next_number(number, count)) {
    long before = living;
    od_status status = tries[t].run(s);
    long lost = living - before;
    bool is_reported = status == OD_NO_MEMORY || (status == OD_OK && (answer == right || tries[t].other_answer));
    if (lost != 0 || !is_reported)
      print_error("%s, allocation %ld of %ld: %s, %ld blocks lost, answer %g instead of %g\n", tries[t].name, number,
                  count, od_status_text(status), lost, answer, right);
    assert_true(lost == 0 && is_reported);
  }
  print_message("%s: %ld allocations\n", tries[t].name, count);
}

static void nothing_is_lost(void **state) {
  if (!FAILING) skip_test("not possible: the sanitizer has its own allocator");
  write_files(*state);
  for (int t = 0; t < TRIES; t++) try_all(*state, t);
}

int main(int argc, char **argv) {
  if (argc > 2) {
    void *state = NULL;
    scratch_setup(&state);
    write_files(state);
    for (int t = 0; t < TRIES; t++)
      if (!strcmp(argv[1], tries[t].name)) {
        number = 0;
        tries[t].run(state);
        number = atol(argv[2]);
        printf("%s\n", od_status_text(tries[t].run(state)));
      }
    return scratch_teardown(&state);
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(nothing_is_lost, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
