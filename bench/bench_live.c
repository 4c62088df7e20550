// Response time of a live observer: lines through pipes at 1 kHz, as from a logger. Usage: bench_live OLEODYN
// EXPERIMENT LOG.csv
#include <stdio.h>
#include <stdlib.h>

#include "support/feed.h"
#include "support/scratch.h"

enum { LINES = 3000 };

int main(int argc, char **argv) {
  static feed f;
  static double latency[LINES];
  if (argc != 4) return 2;
  char *text = scratch_read(argv[3]);
  char *arguments[] = {argv[1], "observe", argv[2], "--live", "--quiet", NULL};
  if (!text || feed_start(&f, argv[1], arguments, "/dev/null") != 0) return 1;
  int count = feed_all(&f, text, 1000, latency, LINES);
  if (feed_end(&f) != 0 || count < 100) return 1;
  double within = 0;
  for (int i = 0; i < count; i++) within += latency[i] <= 1e-3;
  printf(
      "Live observer, %d lines at 1 kHz through pipes: answered in %.0f us (median), %.0f us (99 %%), %.0f us (all); "
      "%.2f %% within 1 ms\n",
      count, 1e6 * latency[count / 2], 1e6 * latency[count * 99 / 100], 1e6 * latency[count - 1], 100 * within / count);
  free(text);
  return 0;
}
