// Runs the program, and does something to it at the n-th of its calls of the system that have to do with files: the call
// fails, moves only half of the bytes, or a signal comes. The calls are caught where the kernel sees them (ptrace), so that
// it does not matter whether the program, the C library or another library makes them.
#ifndef OD_FAULTS_TRACER_H
#define OD_FAULTS_TRACER_H

#include <stdbool.h>

#define OD_SIGNALLED ".signalled"  // a file in the program's folder: a signal comes, let the clock run

enum { OD_MARK = -4242 };  // no file has this number; preload.c closes it when the program begins

// Kinds of calls, as bits. Those about standard error do not count: it is no output.
enum { CALL_OPEN = 1, CALL_WRITE = 2, CALL_SYNC = 4, CALL_CLOSE = 8, CALL_RENAME = 16, CALL_READ = 32 };

typedef struct disturbance {
  unsigned calls;  // those that count
  long at;         // the one that is disturbed, from 1 on; 0: none
  bool on;         // and all that follow it
  int error;       // it fails with this, and does nothing
  bool half;       // it reads or writes half of the bytes
  int signal;      // this comes just before it
  double after;    // without calls: seconds until the signal comes
  int times;       // the signal comes so often, 0: once
} disturbance;

typedef struct ended {
  int code;     // exit code; -1: ended by a signal
  int signal;   // or this
  long calls;   // how many counted
  double late;  // seconds of processor time from the signal to the end
} ended;

// Whether calls can be caught on this machine; tried in a folder.
bool tracer_works(const char *folder);

// Runs "oleodyn ARGUMENTS" in a folder, with standard input from the file `input` (NULL: nothing), output and errors to the
// files .out and .err. d NULL: undisturbed. Nothing in `arguments` is quoted.
ended program_run(const char *folder, const char *arguments, const char *input, const disturbance *d);

#endif
