#include "terminal/interrupts.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#include "oleodyn/job.h"

// Signals that end a program by default, and whether they can also request the end of a run.
static const struct ending {
  int number;
  bool requests_end;
} endings[] = {{SIGINT, true},   {SIGTERM, true},  {SIGHUP, true},   {SIGQUIT, false}, {SIGPIPE, false},
               {SIGALRM, false}, {SIGXCPU, false}, {SIGUSR1, false}, {SIGUSR2, false}};
enum { ENDINGS = sizeof endings / sizeof *endings };

static volatile sig_atomic_t listening, interrupted;

static bool requests_end(int number) {
  for (int i = 0; i < ENDINGS; i++)
    if (endings[i].number == number) return endings[i].requests_end;
  return false;
}

static pthread_t main_thread;

// The signal handler. Libraries start threads, and any thread may receive a signal. Only the thread that writes files may remove
// unfinished files; otherwise a new file could be created at the same time.
static void on_signal(int number) {
  if (!pthread_equal(pthread_self(), main_thread)) {
    pthread_kill(main_thread, number);
    return;
  }
  if (listening && !interrupted && requests_end(number)) {
    interrupted = 1;
    return;
  }
  od_remove_unfinished_files();
  // The signal is delivered again after this function has returned, and ends the program with the default action.
  signal(number, SIG_DFL);
  raise(number);
}

void od_signals_begin(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
  sigemptyset(&action.sa_mask);
  main_thread = pthread_self();
  for (int i = 0; i < ENDINGS; i++)
    if (sigaction(endings[i].number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
      sigaction(endings[i].number, &action, NULL);
}

void od_signals_listen(void) {
  listening = 1;
}

void od_signals_end_at_once(void) {
  listening = 0;
}

bool od_signals_interrupted(void) {
  return interrupted != 0;
}
