// Judging the requirements of a machine: bounds at every step of a run, margins of loops beside it.
//
// Whoever runs the machine records the outputs that od_judge_outputs() names, too, hands od_judge_watch() to the run, and asks
// od_judge_end() afterwards. A judgement knows how far off its value may be: by the run's own error, and by what may
// happen between steps, which a parabola through three of them tells. Where that decides between pass and fail, it is undecided.
#ifndef OD_REQUIREMENTS_JUDGE_H
#define OD_REQUIREMENTS_JUDGE_H

#include <jansson.h>

#include "machine/requirement.h"
#include "simulate/run.h"

typedef enum od_outcome {
  OD_PASS,
  OD_FAIL,
  OD_UNDECIDED,   // the run is not accurate enough to tell
  OD_NOT_JUDGED,  // the run ended early
} od_outcome;
const char *od_outcome_text(od_outcome outcome);  // "pass", "fail", "undecided", "not judged"

typedef struct od_judgement {
  const od_requirement *requirement;
  od_outcome outcome;
  double reached;      // SI; INFINITY: never, or any; NAN: not known
  double best, worst;  // what it may be, given how far off the run is
  double at;           // s, of loops Hz; NAN: at no particular time
  double left;         // to the bound; negative: beyond it
  char note[500];      // for people, or empty
} od_judgement;

typedef struct od_judge od_judge;

// Whether a requirement's window lies within a run of so long; and the error where it does not.
bool od_judge_covers(const od_requirement *q, double time);
od_status od_judge_fail_uncovered(const od_machine *machine, const od_requirement *q, double time, od_error *err);
// The outputs of the machine that judging needs, in no particular order, each once: how many, at most as many as there are outputs.
int od_judge_outputs(const od_machine *machine, int *output);

// For a run of so long that records these outputs. NULL: memory ran out.
od_judge *od_judge_new(const od_machine *machine, double time, const int *output, int outputs);
void od_judge_free(od_judge *judge);
void od_judge_watch(void *judge, double t, const double *y);
// After the run, complete or not; then margins are found, which may take runs of their own.
od_status od_judge_end(od_judge *judge, const od_run_report *report, bool complete, od_error *err);
const od_judgement *od_judge_results(const od_judge *judge, int *count);
// The worst outcome: pass only if all do.
od_outcome od_judge_outcome(const od_judge *judge);

// loop_margin.c: the margin of a loop that a requirement wants.
od_status od_judge_loop(const od_machine *machine, od_judgement *j, od_error *err);

// judgement_text.c: the words that terminal, report and JSON share.
typedef struct od_judgement_text {
  char required[96], reached[96], at[40], left[96];
} od_judgement_text;
od_judgement_text od_judgement_words(const od_judgement *j);
// A value in the unit in which people see it: 37 %, 6 dB, 45 deg, 3 bar.
void od_requirement_value_text(const od_requirement *q, double value, char text[96]);
json_t *od_judge_json(const od_judge *judge);

#endif
