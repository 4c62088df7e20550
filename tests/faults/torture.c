// The torture: faults of the environment of the program, one at a time, and their outcomes.
// Usage: torture [KIND...] [=RUN...], such as torture signals "=fit, files"; without them all kinds and runs. Prints a
// table. The exit code is 1 after a bad outcome, 77 if the faults cannot be produced here.
//
// Old files exist where the program writes its own. After each fault every file is unchanged, byte for byte, or complete
// and equal to that of an undisturbed run. If an output is missing, the exit code is not zero. No temporary file remains.
// The oracle is the undisturbed run.
//
// As a test a few faults of each kind are tried, always the same ones; with OD_TORTURE in the environment (`make torture`)
// every one. JOBS: number of rows in parallel.
#include <sys/wait.h>

#include "kinds.h"

enum { MOST_ROWS = 1024, MOST_SECONDS = 3000 };

typedef struct row {
  const kind *kind;
  int fault, subject;
  pid_t worker;
  int from;  // the worker writes its counts here
} row;

static row rows[MOST_ROWS];
static int row_count;

// Arguments are names of kinds, and names of runs or files with a '=' before them. Without arguments of a sort all of that
// sort are tried.
static bool is_wanted(const char *name, char sort, int argc, char **argv) {
  bool any = false;
  for (int i = 1; i < argc; i++) {
    bool its = (argv[i][0] == '=') == (sort == '=');
    if (its && !strcmp(argv[i] + (sort == '='), name)) return true;
    any = any || its;
  }
  return !any;
}

static void add_rows(const kind *k, int argc, char **argv) {
  for (int fault = 0; fault < k->faults; fault++)
    for (int subject = 0; subject < k->subjects; subject++)
      if (is_wanted(k->subject(subject), '=', argc, argv) && (!k->fits || k->fits(fault, subject)) &&
          row_count < MOST_ROWS)
        rows[row_count++] = (row){.kind = k, .fault = fault, .subject = subject};
}

// Each row has its own process and folder.
static void start_row(row *r) {
  int ends[2];
  fflush(NULL);
  if (pipe(ends) != 0 || (r->worker = fork()) < 0) {
    perror("torture");
    exit(1);
  }
  r->from = ends[0];
  if (r->worker > 0) {
    close(ends[1]);
    return;
  }
  void *state = NULL;
  tally t = {0};
  alarm(MOST_SECONDS);
  if (scratch_setup(&state) != 0) _exit(1);
  scenario_setup(state);
  r->kind->run(state, r->fault, r->subject, &t);
  scratch_teardown(&state);
  _exit(write(ends[1], &t, sizeof t) == sizeof t ? 0 : 1);
}

static tally end_row(const row *r) {
  tally t = {0};
  int status = 0;
  if (read(r->from, &t, sizeof t) != sizeof t) {
    t = (tally){0};
    tally_bad(&t, "it did not come to its end");
  }
  close(r->from);
  waitpid(r->worker, &status, 0);
  return t;
}

static void print_row(const char *fault, const char *subject, const tally *t) {
  printf("%-30s %-38s %7ld %8ld %7ld %7ld %5ld", fault, subject, t->tried, t->refused, t->partly, t->same, t->bad);
  if (t->late > 0) printf("  ended within %.2f s", t->late);
  printf("\n");
  if (t->first[0]) printf("    BAD: %s\n", t->first);
  fflush(stdout);
}

static void add(tally *sum, const tally *t) {
  sum->tried += t->tried;
  sum->refused += t->refused;
  sum->partly += t->partly;
  sum->same += t->same;
  sum->bad += t->bad;
}

static bool can_trace(void) {
  void *state = NULL;
  if (scratch_setup(&state) != 0) return false;
  bool works = tracer_works(((scratch *)state)->folder);
  scratch_teardown(&state);
  return works;
}

int main(int argc, char **argv) {
  const kind *kinds[] = {kind_calls(), kind_signals(), kind_allocations(), kind_prefixes()};
  bool traces = can_trace();
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (!is_wanted(kinds[i]->name, ' ', argc, argv)) continue;
    if (kinds[i]->traces && !traces) printf("%s: calls of the system cannot be caught here\n", kinds[i]->name);
    if (!kinds[i]->traces || traces) add_rows(kinds[i], argc, argv);
  }
  int jobs = getenv("JOBS") ? atoi(getenv("JOBS")) : 1;
  printf(
      "refused: an error, and every file is the old one. partly: an error, a signal or a shorter input, and every file is the old\n"
      "one or complete. same: the answer of the run that nothing disturbs. bad: all else.\n\n"
      "%-30s %-38s %7s %8s %7s %7s %5s\n",
      "fault", "run or file", "tried", "refused", "partly", "same", "bad");
  tally sum = {0};
  for (int i = 0, started = 0; i < row_count; i++) {
    while (started < row_count && started < i + (jobs > 1 ? jobs : 1)) start_row(&rows[started++]);
    tally t = end_row(&rows[i]);
    print_row(rows[i].kind->fault(rows[i].fault), rows[i].kind->subject(rows[i].subject), &t);
    add(&sum, &t);
  }
  print_row("all", "", &sum);
  if (row_count == 0)
    return printf("skipped: not possible: ptrace is not permitted or a sanitizer has its own allocator\n"), 77;
  return sum.bad > 0 ? 1 : 0;
}
