// Accuracy of the reported errors of runs: many random machines, each run by the program. Oracle: a reference solution that shares no code
// with runs.
//
//   calibration --seeds 1001:2000 --threads 2     the table
//   calibration --write 17 --to DIR               the machine file of a seed, for oleodyn simulate
//   calibration --seeds 1:40 --check              exit code 1 beyond the limits (scaled with the number of machines)
//   calibration --seeds 1:1000 --classes          how many machines have each class, without runs; 1: one is missing
//   --worst N: list the N worst; --all: a line for every machine; --seconds S: processor time for each part of a machine
//
// Every machine is evaluated in a separate process, so that a crash or a hang costs only one line of the table.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibration/judged.h"
#include "blocks/block_classes.h"
#include "elements/elements.h"
#include "io/verdict.h"

// Limits of wrong outputs, right outputs, and relevant errors, relative to the range.
static const double wrong = 0.03, right = 0.003, visible = 0.001, doubtful = 0.01;
enum { MOST_THREADS = 64 };

typedef struct options {
  uint64_t first, last;
  int threads, worst;
  bool shows_all, checks, counts_classes;
  double seconds;
  uint64_t write;
  const char *to;
} options;

// ---- processes

typedef struct worker {
  pid_t pid;
  uint64_t seed;
  int from;  // the pipe
  char folder[64];
} worker;

static void remove_folder(const char *folder) {
  char path[128];
  static const char *const names[] = {"machine.yaml", "log0.csv", "log1.csv", "log2.csv", "log3.csv"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
  rmdir(folder);
}

static void work(uint64_t seed, const char *folder, double seconds, int to) {
  judged *result = calloc(1, sizeof *result);
  if (!result) _exit(1);
  rlim_t most = (rlim_t)(10 * seconds + 60);
  setrlimit(RLIMIT_CPU, &(struct rlimit){most, most});
  judge(seed, folder, seconds, result);
  const char *at = (const char *)result;
  for (size_t left = sizeof *result; left > 0;) {
    ssize_t done = write(to, at, left);
    if (done < 0) _exit(1);
    at += done, left -= (size_t)done;
  }
  _exit(0);
}

static bool start_worker(worker *w, uint64_t seed, double seconds) {
  int ends[2];
  snprintf(w->folder, sizeof w->folder, "/tmp/oleodyn-calibration-XXXXXX");
  if (!mkdtemp(w->folder) || pipe(ends) != 0) return false;
  fflush(NULL);
  w->seed = seed;
  w->from = ends[0];
  w->pid = fork();
  if (w->pid == 0) {
    close(ends[0]);
    work(seed, w->folder, seconds, ends[1]);
  }
  close(ends[1]);
  return w->pid > 0;
}

static void finish_worker(worker *w, judged *result) {
  char *at = (char *)result;
  size_t left = sizeof *result;
  while (left > 0) {
    ssize_t got = read(w->from, at, left);
    if (got <= 0) break;
    at += got, left -= (size_t)got;
  }
  close(w->from);
  int status = 0;
  while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) continue;
  if (left > 0) {
    *result = (judged){.seed = w->seed, .state = JUDGED_DIED};
    if (WIFSIGNALED(status)) snprintf(result->why, sizeof result->why, "signal %d", WTERMSIG(status));
  }
  remove_folder(w->folder);
  w->pid = 0;
}

// Results in the order of seeds; one thread of the parent waits for each process in turn.
static judged *judge_all(const options *o) {
  long count = (long)(o->last - o->first + 1);
  judged *all = calloc((size_t)count, sizeof *all);
  worker ring[MOST_THREADS] = {0};
  if (!all) exit(2);
  for (long started = 0, finished = 0; finished < count;) {
    while (started < count && started - finished < o->threads) {
      if (!start_worker(&ring[started % o->threads], o->first + (uint64_t)started, o->seconds)) exit(2);
      started++;
    }
    finish_worker(&ring[finished % o->threads], &all[finished]);
    finished++;
    if (isatty(2)) fprintf(stderr, "\r%ld of %ld", finished, count);
  }
  if (isatty(2)) fprintf(stderr, "\r              \r");
  return all;
}

// ---- the table

typedef struct tally {
  int machines, wrong, right, misses, false_alarms, within[3];
  int outputs, outputs_wrong, outputs_missed, outputs_falsely, visible, factor_two, unknown, other_range;
  double ratio_sum[2], plain_sum[2];
  int ratios[2];
  double ratio[2][2000];
} tally;

static void count_outputs(const judged *j, tally *s) {
  for (int i = 0; i < j->outputs; i++) {
    const judged_output *o = &j->output[i];
    s->outputs++;
    s->outputs_wrong += o->error > wrong;
    if (isnan(o->reported)) {
      s->unknown++;
      continue;
    }
    s->outputs_missed += o->error > wrong && o->reported < doubtful;
    s->outputs_falsely += o->error < right && o->reported > doubtful;
    double quotient = o->reported_range / o->range;
    s->other_range += o->range > 0 && o->error > visible && !(quotient > 0.67 && quotient < 1.5);
    if (!(o->error > visible)) continue;
    s->visible++;
    // Errors above the whole range count as equal: the output is lost.
    double error = fmin(o->error, 1), reported = fmin(o->reported, 1);
    s->factor_two += reported >= error / 2 && reported <= 2 * error;
  }
}

static bool is_miss(const judged *j) {
  return j->state == JUDGED && j->worst > wrong && !j->is_accused;
}
static bool is_false_alarm(const judged *j) {
  return j->state == JUDGED && j->worst < right && j->is_accused;
}

static void count_machine(const judged *j, tally *s) {
  s->machines++;
  s->wrong += j->worst > wrong;
  s->right += j->worst < right;
  s->misses += is_miss(j);
  s->false_alarms += is_false_alarm(j);
  s->within[0] += j->worst <= 0.001, s->within[1] += j->worst <= 0.003, s->within[2] += j->worst <= 0.01;
  count_outputs(j, s);
  if (!j->is_adaptive || !(j->plain_seconds > 0)) return;
  int k = j->has_events;
  s->ratio_sum[k] += j->run_seconds, s->plain_sum[k] += j->plain_seconds;
  if (s->ratios[k] < 2000) s->ratio[k][s->ratios[k]++] = j->run_seconds / j->plain_seconds;
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double percent(int part, int of) {
  return of ? 100.0 * part / of : 0;
}

static void print_tally(const char *name, tally *s) {
  printf("%-8s %5d machines: %d wrong by more than 3 %%, %d right within 0.3 %%\n", name, s->machines, s->wrong,
         s->right);
  printf("           misses (wrong, no remark about accuracy) %d; false alarms (right, with such a remark) %d\n",
         s->misses, s->false_alarms);
  printf("           all outputs within 0.1 / 0.3 / 1 %%: %.1f / %.1f / %.1f %% of the machines\n",
         percent(s->within[0], s->machines), percent(s->within[1], s->machines), percent(s->within[2], s->machines));
  printf(
      "           %d outputs: %d wrong, %d of them reported below 1 %%; %d right and reported above 1 %%; %d without a report\n",
      s->outputs, s->outputs_wrong, s->outputs_missed, s->outputs_falsely, s->unknown);
  printf(
      "           %d outputs off by more than 0.1 %%: reported within a factor 2 in %.1f %%; %d with another range\n",
      s->visible, percent(s->factor_two, s->visible), s->other_range);
  static const char *const events[] = {"without events", "with events"};
  for (int k = 0; k < 2; k++) {
    if (!s->ratios[k]) continue;
    qsort(s->ratio[k], (size_t)s->ratios[k], sizeof(double), compare_doubles);
    printf(
        "           cost %s, judged, beside fixed steps of 1 ms, unjudged: median %.1f, 90 %% below %.1f, in all %.1f\n",
        events[k], s->ratio[k][s->ratios[k] / 2], s->ratio[k][s->ratios[k] * 9 / 10],
        s->ratio_sum[k] / s->plain_sum[k]);
  }
}

static void print_machine(const judged *j, const char *what) {
  char run[40];
  snprintf(run, sizeof run, j->is_adaptive ? "auto" : "%.3g ms", 1e3 * j->step);
  printf("  %6llu  %-12s %-9s %-9s", (unsigned long long)j->seed, what, run, j->integrator);
  if (j->state != JUDGED && j->state != JUDGED_UNPREDICTABLE) {
    printf(" %s\n", j->why);
    return;
  }
  // The output with the largest true error; for false alarms the one with the largest reported error.
  int k = 0;
  for (int i = 1; i < j->outputs; i++)
    if (is_false_alarm(j) ? j->output[i].reported > j->output[k].reported : j->output[i].error > j->output[k].error)
      k = i;
  const judged_output *o = &j->output[k];
  printf(" %s off by %.3g %% at %.4g s, reported %.3g %% at %.4g s; %s", o->name, 100 * o->error, o->at,
         100 * o->reported, o->reported_at, od_trust_text((od_trust)j->trust));
  for (int i = 0; i < j->codes; i++) printf(" %s", j->code[i]);
  if (j->state == JUDGED_UNPREDICTABLE) printf("; truths differ by %.2g %%", 100 * j->truth_difference);
  printf("  (%.1f s)\n", j->truth_seconds);
}

// The largest ratio of reported and true error; 1: no output is off by more than 0.1 %.
static double worst_factor(const judged *j) {
  double worst = 1;
  for (int i = 0; i < j->outputs; i++) {
    const judged_output *o = &j->output[i];
    if (!(o->error > visible) || isnan(o->reported)) continue;
    double quotient = fmin(o->error, 1) / fmax(fmin(o->reported, 1), 1e-9);
    worst = fmax(worst, fmax(quotient, 1 / quotient));
  }
  return worst;
}

static int by_factor(const void *a, const void *b) {
  double x = worst_factor(*(const judged *const *)a), y = worst_factor(*(const judged *const *)b);
  return (x < y) - (x > y);
}

static void print_worst(const judged *all, long count, int worst) {
  const judged **list = calloc((size_t)count, sizeof *list);
  long n = 0;
  for (long i = 0; i < count; i++)
    if (all[i].state == JUDGED) list[n++] = &all[i];
  qsort(list, (size_t)n, sizeof *list, by_factor);
  printf("\nReports farthest from the truth (factor):\n");
  for (long i = 0; i < n && i < worst; i++) {
    char factor[32];
    snprintf(factor, sizeof factor, "%.3g", worst_factor(list[i]));
    print_machine(list[i], factor);
  }
  free(list);
}

static int by_cost(const void *a, const void *b) {
  const judged *x = *(const judged *const *)a, *y = *(const judged *const *)b;
  double p = x->run_seconds / x->plain_seconds, q = y->run_seconds / y->plain_seconds;
  return (p < q) - (p > q);
}

// The runs with adaptive steps that cost most compared with fixed steps of 1 ms.
static void print_dearest(const judged *all, long count, int most) {
  const judged **list = calloc((size_t)count, sizeof *list);
  long n = 0;
  if (!list) return;
  for (long i = 0; i < count; i++)
    if (all[i].state == JUDGED && all[i].is_adaptive && all[i].plain_seconds > 0) list[n++] = &all[i];
  qsort(list, (size_t)n, sizeof *list, by_cost);
  printf("\nDearest runs (seed, seconds, times the unjudged run, events):\n");
  for (long i = 0; i < n && i < most; i++)
    printf("  %6llu  %.3f s  %.1f%s\n", (unsigned long long)list[i]->seed, list[i]->run_seconds,
           list[i]->run_seconds / list[i]->plain_seconds, list[i]->has_events ? "  events" : "");
  free(list);
}

static void print_classes(const judged *all, long count) {
  enum { MOST = 400 };
  static char name[MOST][40];
  static int times[MOST];
  int classes = 0;
  for (long i = 0; i < count; i++)
    for (int k = 0; all[i].state == JUDGED && k < all[i].classes; k++) {
      int c = 0;
      while (c < classes && strcmp(name[c], all[i].used[k]) != 0) c++;
      if (c == MOST) continue;
      if (c == classes) memcpy(name[classes++], all[i].used[k], 40);
      times[c]++;
    }
  printf("\nJudged machines with each class:\n");
  static const char *const kinds[] = {"element ", "block ", "joint ", "signal ", "section "};
  for (int k = 0; k < 5; k++) {
    printf("  %s:", kinds[k]);
    for (int c = 0; c < classes; c++)
      if (strncmp(name[c], kinds[k], strlen(kinds[k])) == 0) printf(" %s %d,", name[c] + strlen(kinds[k]), times[c]);
    printf("\n");
  }
  int count_by[2][5] = {0};
  static const char *const integrators[] = {"default", "trapezoid", "tr-bdf2", "rk4", "cvodes"};
  for (long i = 0; i < count; i++)
    for (int k = 0; k < 5; k++)
      count_by[all[i].is_adaptive][k] += all[i].state == JUDGED && strcmp(all[i].integrator, integrators[k]) == 0;
  for (int a = 0; a < 2; a++) {
    printf("  integrators, %s:", a ? "auto" : "fixed steps");
    for (int k = 0; k < 5; k++)
      if (count_by[a][k]) printf(" %s %d,", integrators[k], count_by[a][k]);
    printf("\n");
  }
}

// All outputs of one machine.
static void print_outputs(const judged *j) {
  for (int i = 0; i < j->outputs; i++) {
    const judged_output *o = &j->output[i];
    printf("  %-32s off by %9.3g %% at %9.4g s, reported %9.3g %% at %9.4g s; range %9.4g, reported %9.4g\n", o->name,
           100 * o->error, o->at, 100 * o->reported, o->reported_at, o->range, o->reported_range);
  }
  printf("  run %.3g s, unjudged with 1 ms %.3g s, truth %.3g s with %ld starts; its tolerances differ by %.2g %%\n",
         j->run_seconds, j->plain_seconds, j->truth_seconds, j->restarts, 100 * j->truth_difference);
}

// Classes of the library that no machine has.
static int print_missing(const judged *all, long count) {
  int missing = 0, blocks = od_block_class_count(), all_classes = blocks + od_element_class_count();
  for (int i = 0; i < all_classes; i++) {
    char name[64];
    bool is_used = false;
    if (i < blocks)
      snprintf(name, sizeof name, "block %s", od_block_classes[i]->type);
    else
      snprintf(name, sizeof name, "element %s", od_element_class_at(i - blocks)->name);
    for (long k = 0; k < count && !is_used; k++)
      for (int c = 0; c < all[k].classes; c++) is_used |= strcmp(all[k].used[c], name) == 0;
    if (!is_used) printf("%s%s", missing++ ? ", " : "Classes without a machine: ", name);
  }
  if (missing) printf("\n");
  return missing;
}

static void print_remarks(const judged *all, long count) {
  enum { MOST = 40 };
  char code[MOST][24];
  int times[MOST] = {0}, codes = 0, unpredictable = 0, accused = 0;
  for (long i = 0; i < count; i++) {
    unpredictable += all[i].state == JUDGED_UNPREDICTABLE,
        accused += all[i].state == JUDGED_UNPREDICTABLE && all[i].is_accused;
    for (int k = 0; k < all[i].codes; k++) {
      int c = 0;
      while (c < codes && strcmp(code[c], all[i].code[k]) != 0) c++;
      if (c == MOST) continue;
      if (c == codes) memcpy(code[codes++], all[i].code[k], sizeof code[0]);
      times[c]++;
    }
  }
  printf("\nMachines that are not predictable: %d; reported as doubtful or worse: %d\nRemarks about accuracy:",
         unpredictable, accused);
  for (int c = 0; c < codes; c++)
    if (judged_is_about_accuracy(code[c])) printf(" %s %d,", code[c], times[c]);
  printf("\nRemarks about the machine:");
  for (int c = 0; c < codes; c++)
    if (!judged_is_about_accuracy(code[c])) printf(" %s %d,", code[c], times[c]);
  printf("\n");
}

static int print_all(const judged *all, long count, const options *o) {
  int states[JUDGED_STATES] = {0};
  static tally both, halves[2];
  for (long i = 0; i < count; i++) {
    states[all[i].state]++;
    if (all[i].state != JUDGED) continue;
    count_machine(&all[i], &both);
    count_machine(&all[i], &halves[all[i].is_adaptive]);
  }
  for (long i = 0; o->shows_all && i < count; i++) print_machine(&all[i], judged_state_names[all[i].state]);
  if (count == 1) print_outputs(&all[0]);
  printf("Seeds %llu to %llu:", (unsigned long long)o->first, (unsigned long long)o->last);
  for (int k = 0; k < JUDGED_STATES; k++)
    if (states[k]) printf(" %d %s,", states[k], judged_state_names[k]);
  printf("\n");
  print_tally("all", &both);
  print_tally("auto", &halves[1]);
  print_tally("fixed", &halves[0]);
  printf("\nMisses and false alarms:\n");
  for (long i = 0; i < count; i++)
    if (is_miss(&all[i])) print_machine(&all[i], "miss");
  for (long i = 0; i < count; i++)
    if (is_false_alarm(&all[i])) print_machine(&all[i], "false alarm");
  print_worst(all, count, o->worst);
  print_dearest(all, count, o->worst / 2);
  print_remarks(all, count);
  printf("\nNot judged:\n");
  for (long i = 0; i < count; i++)
    if (all[i].state != JUDGED) print_machine(&all[i], judged_state_names[all[i].state]);
  print_classes(all, count);
  if (!o->checks) return 0;
  // Limits per thousand machines: 5 misses, 5 false alarms; at least one is allowed.
  int allowed = 1 + (int)(0.005 * both.machines);
  bool ok = both.misses <= allowed && both.false_alarms <= allowed && both.machines >= 0.8 * (double)count &&
            percent(both.factor_two, both.visible) >= (both.visible >= 500 ? 95 : 90);
  printf("\n%s\n", ok ? "within the limits" : "BEYOND THE LIMITS");
  return ok ? 0 : 1;
}

static int usage(void) {
  fprintf(stderr,
          "calibration [--seeds FIRST:LAST] [--threads N] [--worst N] [--all] [--check] [--classes] [--seconds S]\n"
          "calibration --write SEED --to FOLDER\n");
  return 2;
}

int main(int argc, char **argv) {
  options o = {.first = 1, .last = 100, .threads = 2, .worst = 15, .seconds = 10, .to = "."};
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--all") == 0) {
      o.shows_all = true;
      continue;
    }
    if (strcmp(argv[i], "--classes") == 0) {
      o.counts_classes = true;
      continue;
    }
    if (strcmp(argv[i], "--check") == 0) {
      o.checks = true;
      continue;
    }
    i++;
    if (strcmp(argv[i - 1], "--seeds") == 0) {
      char *end;
      o.first = o.last = strtoull(value, &end, 10);
      if (*end == ':') o.last = strtoull(end + 1, &end, 10);
      if (*end || o.last < o.first) return usage();
    } else if (strcmp(argv[i - 1], "--threads") == 0) {
      o.threads = atoi(value);
    } else if (strcmp(argv[i - 1], "--worst") == 0) {
      o.worst = atoi(value);
    } else if (strcmp(argv[i - 1], "--seconds") == 0) {
      o.seconds = atof(value);
    } else if (strcmp(argv[i - 1], "--write") == 0) {
      o.write = strtoull(value, NULL, 10);
    } else if (strcmp(argv[i - 1], "--to") == 0) {
      o.to = value;
    } else {
      return usage();
    }
  }
  if (o.threads < 1 || o.threads > MOST_THREADS || !(o.seconds > 0)) return usage();
  if (o.write) return judged_write(o.write, o.to) ? 0 : 1;
  if (o.counts_classes) o.seconds = 0;
  judged *all = judge_all(&o);
  if (o.counts_classes) {
    for (uint64_t i = 0; i <= o.last - o.first; i++)
      if (all[i].state != JUDGED) print_machine(&all[i], judged_state_names[all[i].state]);
    print_classes(all, (long)(o.last - o.first + 1));
    int missing = print_missing(all, (long)(o.last - o.first + 1));
    free(all);
    return missing > 0;
  }
  int code = print_all(all, (long)(o.last - o.first + 1), &o);
  free(all);
  return code;
}
