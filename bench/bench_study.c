// A study by the program: total processor time, on one thread.
// Usage: bench_study OLEODYN STUDY.yaml
#define _DEFAULT_SOURCE  // wait4

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

#define SEEDS "10"

// s of processor time of one run of the program, or a negative number.
static double run_program(const char *program, const char *study) {
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    execl(program, program, "study", study, "--seeds", SEEDS, "--threads", "1", "--quiet", "--json", "-", (char *)NULL);
    _exit(127);
  }
  int status = 0;
  struct rusage used;
  if (wait4(child, &status, 0, &used) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return -1;
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: bench_study OLEODYN STUDY.yaml\n");
    return 2;
  }
  if (!bench_wants_times()) return 0;
  bench_pin();
  bench_subject s = {.name = "study", .figure = "four-bar study, " SEEDS " seeds", .runs = BENCH_KEPT};
  for (int i = 0; i < BENCH_KEPT; i++)
    if ((s.least[i] = run_program(argv[1], argv[2])) < 0) {
      fprintf(stderr, "bench_study: %s study %s failed\n", argv[1], argv[2]);
      return 1;
    }
  qsort(s.least, BENCH_KEPT, sizeof *s.least, ascending);
  bench_write_figures(&s);
  printf(
      "The study of the hydraulic four-bar with %s seeds of each case: %.2f s of processor time, least of %d (spread %.1f %%)\n",
      SEEDS, bench_best(&s), BENCH_KEPT, 100 * bench_spread(&s));
  return 0;
}
