// Scenarios: commands of the program that are disturbed, and the evaluation of the files that they leave.
#ifndef OD_FAULTS_SCENARIO_H
#define OD_FAULTS_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

#include "support/scratch.h"
#include "tracer.h"

enum { MOST_OUTPUTS = 5 };

typedef struct scenario {
  const char *name;
  const char *arguments;
  const char *input;                 // for standard input; NULL: none
  const char *output[MOST_OUTPUTS];  // files that it writes
  bool ends_early;                   // a failed write ends the run, and the files contain the results until then
  bool long_run;  // computes for seconds and writes little, so that signals arrive during the computation
} scenario;

extern const scenario scenarios[];
extern const int scenario_count;

// Outcomes of all disturbances of one kind.
typedef struct tally {
  long tried;
  long refused;     // an error, and every file is the old one
  long partly;      // an error or a signal, and every file is the old one or complete; of input: a legal part of it
  long same;        // the result of the undisturbed run
  long bad;         // all else
  double late;      // the longest time from a signal to the end
  char first[600];  // the first fault
} tally;

typedef struct bytes {
  char *at;
  size_t size;
} bytes;
bytes bytes_read(const char *path);
bool bytes_equal(bytes a, bytes b);

// The undisturbed run.
typedef struct answer {
  int code;
  double seconds;  // processor time
  bytes out;
  bytes file[MOST_OUTPUTS];
} answer;

// A folder with the files that the scenarios read.
void scenario_setup(scratch *s);
// Runs it once over old outputs, and disturbed.
answer scenario_answer(scratch *s, const scenario *sc);
void answer_free(answer *a);
ended scenario_run(scratch *s, const scenario *sc, const disturbance *d);

// The next n to try after this one: all of them with OD_TORTURE, else about `samples`; count + 1 comes after the last of
// `count`.
long next_try(long n, long count, int samples);

// Evaluates the files of a run. `moment` names the time of the disturbance.
typedef struct leave {
  bool unfinished;  // temporary files may remain: this cannot be avoided
  bool shorter;     // files may be complete ones of a shorter run
} leave;
void scenario_judge(scratch *s, const scenario *sc, const answer *clean, ended e, leave may, const char *moment,
                    tally *t);
// Counts a bad one.
void tally_bad(tally *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
