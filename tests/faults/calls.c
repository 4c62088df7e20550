// System calls that fail or do half of their work: full disks, broken disks, short writes. Every scenario, with every call
// in turn. The oracle is the undisturbed run.
#include <errno.h>

#include "kinds.h"

enum { SAMPLES = 2 };

static const struct {
  const char *name;
  disturbance d;
} faults[] = {
    {"write: disk full", {.calls = CALL_WRITE, .error = ENOSPC}},
    {"write: disk full from then on", {.calls = CALL_WRITE, .error = ENOSPC, .on = true}},
    {"write: EIO", {.calls = CALL_WRITE, .error = EIO}},
    {"write: short", {.calls = CALL_WRITE, .half = true}},
    {"write: all short", {.calls = CALL_WRITE, .half = true, .on = true}},
    {"open: disk full", {.calls = CALL_OPEN, .error = ENOSPC}},
    {"sync: EIO", {.calls = CALL_SYNC, .error = EIO}},
    {"close: EIO", {.calls = CALL_CLOSE, .error = EIO}},
    {"rename: EIO", {.calls = CALL_RENAME, .error = EIO}},
    {"read: EIO", {.calls = CALL_READ, .error = EIO}},
    {"read: short", {.calls = CALL_READ, .half = true}},
};

static const char *fault_name(int fault) {
  return faults[fault].name;
}

static const char *subject_name(int subject) {
  return scenarios[subject].name;
}

static bool fits(int fault, int subject) {
  const scenario *sc = &scenarios[subject];
  bool only_files = faults[fault].d.calls & (CALL_OPEN | CALL_SYNC | CALL_RENAME);
  // The short version: all scenarios that write, with failing writes; the other faults with one scenario.
  bool first = !strcmp(sc->name, "simulate, files"), writes = faults[fault].d.calls == CALL_WRITE && sc->output[0];
  if (!getenv("OD_TORTURE") && !first && !writes && !(fault == 0 && strstr(sc->name, " -"))) return false;
  return !sc->long_run && (!only_files || sc->output[0]);
}

// Short reads and writes are continued: the result is always that of the undisturbed run.
static void run(scratch *s, int fault, int subject, tally *t) {
  const scenario *sc = &scenarios[subject];
  disturbance d = faults[fault].d;
  answer clean = scenario_answer(s, sc);
  long count = scenario_run(s, sc, &d).calls;
  for (d.at = 1; d.at <= count + 1; d.at = next_try(d.at, count, SAMPLES)) {
    ended e = scenario_run(s, sc, &d);
    char moment[80];
    snprintf(moment, sizeof moment, "call %ld of %ld", d.at, count);
    long failed = t->refused + t->partly;
    scenario_judge(s, sc, &clean, e, (leave){0}, moment, t);
    if ((d.half || d.at > count) && t->refused + t->partly > failed)
      tally_bad(t, "%s: %s, exit code %d", moment, d.half ? "short, and not continued" : "undisturbed", e.code);
  }
  answer_free(&clean);
}

const kind *kind_calls(void) {
  static kind k = {.name = "calls",
                   .traces = true,
                   .faults = sizeof faults / sizeof *faults,
                   .fault = fault_name,
                   .subject = subject_name,
                   .fits = fits,
                   .run = run};
  k.subjects = scenario_count;
  return &k;
}
