#include "terminal/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "terminal/interrupts.h"
#include "terminal/terminal.h"

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

od_progress od_progress_start(bool quiet) {
  double start = seconds();
  return (od_progress){.shown = !quiet && isatty(STDERR_FILENO), .start = start, .last = start};
}

static void draw(od_progress *p, double done, double elapsed) {
  enum { width = 32 };
  char bar[width + 1];
  int full = (int)(done * width);
  for (int i = 0; i < width; i++) bar[i] = i < full ? '#' : '.';
  bar[width] = '\0';
  fprintf(stderr, "\r[%s] %3d %%", bar, (int)(100 * done));
  if (done > 0) {
    double left = fmax(ceil(elapsed * (1 - done) / done), 1), minutes = floor(left / 60);
    if (minutes > 0) fprintf(stderr, ", %.0f min", minutes);
    fprintf(stderr, "%s%.0f s left", minutes > 0 ? " " : ", ", left - 60 * minutes);
  }
  fprintf(stderr, "\033[K");
  fflush(stderr);
  p->drawn = true;
}

bool od_progress_tick(od_progress *p, double done) {
  if (p->shown && !isnan(done)) {
    double t = seconds();
    // The bar appears after one second and is updated ten times per second.
    if (t - p->start > 1 && t - p->last > 0.1) {
      draw(p, fmin(fmax(done, 0), 1), t - p->start);
      p->last = t;
    }
  }
  return !od_signals_interrupted();
}

void od_progress_end(od_progress *p) {
  if (p->drawn) fprintf(stderr, "\r\033[K");
  p->drawn = false;
}
