// Feeds a live observer through pipes, one line at a time, and measures how long each answer takes.
#ifndef OD_TEST_FEED_H
#define OD_TEST_FEED_H

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct feed {
  pid_t child;
  int to, from;  // its standard input and output
  char line[65536];
  size_t length;  // of the last answer, with its line end
} feed;

// Starts the program with its standard error in a file. Returns -1 if it cannot be started.
static inline int feed_start(feed *f, const char *program, char *const arguments[], const char *errors) {
  int in[2], out[2];
  signal(SIGPIPE, SIG_IGN);
  if (pipe(in) != 0 || pipe(out) != 0 || (f->child = fork()) < 0) return -1;
  if (f->child == 0) {
    if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || !freopen(errors, "w", stderr)) _exit(127);
    close(in[0]), close(in[1]), close(out[0]), close(out[1]);
    signal(SIGPIPE, SIG_DFL);
    execv(program, arguments);
    _exit(127);
  }
  close(in[0]), close(out[1]);
  f->to = in[1], f->from = out[0], f->length = 0;
  return 0;
}

// Sends a line, which must have its line end. Returns -1 if the program does not read it.
static inline int feed_send(const feed *f, const char *line, size_t length) {
  for (size_t done = 0; done < length;) {
    ssize_t n = write(f->to, line + done, length - done);
    if (n < 0 && errno != EINTR) return -1;
    if (n > 0) done += (size_t)n;
  }
  return 0;
}

// Waits for one whole line, into f->line. Returns -1 if there is none.
static inline int feed_receive(feed *f) {
  for (f->length = 0;;) {
    ssize_t n = read(f->from, f->line + f->length, sizeof f->line - 1 - f->length);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return -1;
    f->length += (size_t)n;
    f->line[f->length] = '\0';
    if (f->line[f->length - 1] == '\n') return 0;
  }
}

// Ends the input, waits, and returns the exit code of the program.
static inline int feed_end(feed *f) {
  int status = 0;
  close(f->to);
  while (feed_receive(f) == 0) continue;
  close(f->from);
  waitpid(f->child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline double feed_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int feed_ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Sends the header and the lines of a text at a rate (1/s) and writes the sorted response times to latency. Returns
// their number, or -1.
static inline int feed_all(feed *f, const char *text, double rate, double *latency, int most) {
  const char *end = strchr(text, '\n');
  if (!end || feed_send(f, text, (size_t)(end + 1 - text)) != 0 || feed_receive(f) != 0) return -1;
  double begin = feed_now();
  int count = 0;
  for (text = end + 1; count < most && (end = strchr(text, '\n')); text = end + 1, count++) {
    double wait = begin + (double)count / rate - feed_now();
    struct timespec pause = {.tv_nsec = wait > 0 ? (long)(1e9 * wait) : 0};
    if (wait > 0) nanosleep(&pause, NULL);
    double sent = feed_now();
    if (feed_send(f, text, (size_t)(end + 1 - text)) != 0 || feed_receive(f) != 0) return -1;
    latency[count] = feed_now() - sent;
  }
  qsort(latency, (size_t)count, sizeof *latency, feed_ascending);
  return count;
}

#endif
