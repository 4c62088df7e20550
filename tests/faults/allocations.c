// The n-th allocation fails, in the program, the C library or another library. Expected each time: one message and the
// exit code 1.
#include <sys/resource.h>

#include "kinds.h"
#include "support/allocations.h"

enum { SAMPLES = 25 };

enum { AT_ALLOCATION, AT_LIMIT, FAULTS };

static const char *fault_name(int fault) {
  static const char *const names[] = {"allocation fails", "150 MB and no more"};
  return names[fault];
}

// The rows do not fit into 150 MB.
static const scenario too_long = {.name = "simulate, too long",
                                  .arguments = "simulate lag.yaml --time 1000000 --csv o.csv --quiet",
                                  .output = {"o.csv"}};

// This scenario follows those of all kinds.
static const scenario *scenario_at(int subject) {
  return subject < scenario_count ? &scenarios[subject] : &too_long;
}

static const char *subject_name(int subject) {
  return scenario_at(subject)->name;
}

// Sanitizers have their own allocator, which cannot be made to fail. Threads of a study allocate in any order.
static bool fits(int fault, int subject) {
  const scenario *sc = scenario_at(subject);
  if (fault == AT_LIMIT || sc == &too_long) return COUNTING && fault == AT_LIMIT && sc == &too_long;
  bool shown = getenv("OD_TORTURE") || !strcmp(sc->name, "check") || strstr(sc->name, ", files");
  return COUNTING && shown && !sc->long_run && !strstr(sc->name, "study");
}

// Number of allocations; 0: the program ended before it wrote the number.
static long allocations_asked(scratch *s) {
  char *text = scratch_read(scratch_path(s, ".allocations"));
  long n = text ? atol(text) : 0;
  free(text);
  return n;
}

// One line. The helper program that reads or writes a file ends without a message; the program itself prints one.
static void judge_message(scratch *s, long n, int code, tally *t) {
  char *said = scratch_read(scratch_path(s, ".err"));
  const char *end = strchr(said, '\n');
  bool in_child = strstr(said, "is incomplete") || strstr(said, "ran out of memory; the file may be damaged");
  if (code != 1 + (strstr(said, "may be damaged") != NULL) || !end || end[1] ||
      (!in_child && strcmp(said, "oleodyn: error: out of memory\n") != 0))
    tally_bad(t, "allocation %ld: no single message 'out of memory', exit code %d: %.200s", n, code, said);
  free(said);
}

// Without an allocator that fails on purpose: a run that needs more memory than available.
static void run_limited(scratch *s, const scenario *sc, tally *t) {
  const answer none = {0};
  setrlimit(RLIMIT_AS, &(struct rlimit){150 << 20, 150 << 20});
  ended e = scenario_run(s, sc, NULL);
  scenario_judge(s, sc, &none, e, (leave){0}, "at the limit", t);
  judge_message(s, 0, e.code, t);
}

static void run(scratch *s, int fault, int subject, tally *t) {
  const scenario *sc = scenario_at(subject);
  if (fault == AT_LIMIT) {
    run_limited(s, sc, t);
    return;
  }
  answer clean = scenario_answer(s, sc);
  long count = allocations_asked(s);
  if (count < 200) tally_bad(t, "only %ld allocations are counted", count);
  // Libraries may allocate more after the count, when they end.
  bool succeeded = false;
  for (long n = 1; n <= count + 100 && !succeeded; n = next_try(n, count, SAMPLES)) {
    char number[32], moment[80];
    snprintf(number, sizeof number, "%ld", n);
    snprintf(moment, sizeof moment, "allocation %ld of %ld", n, count);
    setenv("OD_FAIL_ALLOCATION", number, 1);
    unlink(scratch_path(s, ".allocations"));
    ended e = scenario_run(s, sc, NULL);
    unsetenv("OD_FAIL_ALLOCATION");
    scenario_judge(s, sc, &clean, e, (leave){0}, moment, t);
    succeeded = n > count && e.code == clean.code;
    if (!succeeded) judge_message(s, n, e.code, t);
  }
  if (!succeeded) tally_bad(t, "it never succeeds");
  answer_free(&clean);
}

const kind *kind_allocations(void) {
  static kind k = {
      .name = "allocations", .faults = FAULTS, .fault = fault_name, .subject = subject_name, .fits = fits, .run = run};
  k.subjects = scenario_count + 1;
  return &k;
}
