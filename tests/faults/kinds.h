// The kinds of faults. A kind has faults and subjects, and tries every fault on every subject; a pair is a row of the
// table that `make torture` prints.
#ifndef OD_FAULTS_KINDS_H
#define OD_FAULTS_KINDS_H

#include "scenario.h"

typedef struct kind {
  const char *name;  // of the test: faults.NAME
  bool traces;       // needs to intercept system calls
  int faults;
  const char *(*fault)(int fault);
  int subjects;
  const char *(*subject)(int subject);
  bool (*fits)(int fault, int subject);  // NULL: all do
  void (*run)(scratch *s, int fault, int subject, tally *t);
} kind;

const kind *kind_calls(void);
const kind *kind_signals(void);
const kind *kind_allocations(void);
const kind *kind_prefixes(void);

#endif
