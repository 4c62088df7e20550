// Signals at every system call for files and at moments of long runs. The oracle is the undisturbed run.
#include <signal.h>

#include "kinds.h"

enum { SAMPLES = 3, MOMENTS = 2, MOMENTS_IN_FULL = 6 };

static const struct {
  const char *name;
  int signal, times;
  bool always;  // not only with OD_TORTURE
} faults[] = {{"SIGINT", SIGINT, 1, true},    {"SIGINT twice", SIGINT, 2, false}, {"SIGTERM", SIGTERM, 1, false},
              {"SIGHUP", SIGHUP, 1, false},   {"SIGQUIT", SIGQUIT, 1, true},      {"SIGPIPE", SIGPIPE, 1, false},
              {"SIGALRM", SIGALRM, 1, false}, {"SIGXCPU", SIGXCPU, 1, false},     {"SIGUSR1", SIGUSR1, 1, false},
              {"SIGUSR2", SIGUSR2, 1, false}, {"SIGKILL", SIGKILL, 1, true}};

static const char *fault_name(int fault) {
  return faults[fault].name;
}

static const char *subject_name(int subject) {
  return scenarios[subject].name;
}

// Whether the signal can have an effect. A second signal matters while the program handles the first: in long runs.
static bool fits(int fault, int subject) {
  const scenario *sc = &scenarios[subject];
  bool short_version = !getenv("OD_TORTURE");
  if (short_version && sc->long_run) return fault == 0 && !strncmp(sc->name, "simulate", 8);
  if (short_version && !faults[fault].always) return false;
  return sc->output[0] && (faults[fault].times == 1 || sc->long_run);
}

// SIGKILL cannot be handled.
static leave may_leave(int fault, bool shorter) {
  return (leave){.unfinished = faults[fault].signal == SIGKILL, .shorter = shorter};
}

static void run_at_calls(scratch *s, int fault, const scenario *sc, const answer *clean, tally *t) {
  disturbance d = {.calls = CALL_OPEN | CALL_WRITE | CALL_SYNC | CALL_CLOSE | CALL_RENAME,
                   .signal = faults[fault].signal};
  long count = scenario_run(s, sc, &d).calls;
  for (d.at = 1; d.at <= count; d.at = next_try(d.at, count, SAMPLES)) {
    ended e = scenario_run(s, sc, &d);
    char moment[80];
    snprintf(moment, sizeof moment, "before call %ld of %ld", d.at, count);
    // A run that is stopped before it begins may end without rows.
    scenario_judge(s, sc, clean, e, may_leave(fault, true), moment, t);
  }
}

// One second of processor time after the signal, by the program's clock.
static void run_at_moments(scratch *s, int fault, const scenario *sc, const answer *clean, tally *t) {
  static const double limit = 1;
  int moments = getenv("OD_TORTURE") ? MOMENTS_IN_FULL : MOMENTS;
  for (int i = 0; i < moments; i++) {
    double after = clean->seconds * (i + 0.5) / moments;
    const disturbance d = {.signal = faults[fault].signal, .after = after, .times = faults[fault].times};
    ended e = scenario_run(s, sc, &d);
    char moment[80];
    snprintf(moment, sizeof moment, "after %.2f s", after);
    scenario_judge(s, sc, clean, e, may_leave(fault, true), moment, t);
    if (e.late > t->late) t->late = e.late;
    if (e.late > limit && e.code != clean->code) tally_bad(t, "%s: it ends %.2f s later", moment, e.late);
  }
}

static void run(scratch *s, int fault, int subject, tally *t) {
  const scenario *sc = &scenarios[subject];
  answer clean = scenario_answer(s, sc);
  (sc->long_run ? run_at_moments : run_at_calls)(s, fault, sc, &clean, t);
  answer_free(&clean);
}

const kind *kind_signals(void) {
  static kind k = {.name = "signals",
                   .traces = true,
                   .faults = sizeof faults / sizeof *faults,
                   .fault = fault_name,
                   .subject = subject_name,
                   .fits = fits,
                   .run = run};
  k.subjects = scenario_count;
  return &k;
}
