// Judges the requirements of a machine: bounds at every step of a run, and stability margins of loops.
//
// The caller records the outputs of od_judge_outputs(), passes od_judge_watcher() to the run, and calls od_judge_end() after the run.
// A judgment contains the possible range of its value. The range includes the error of the run and the extremes between steps. A
// parabola through three steps estimates these extremes. If the required bound is within this range, the outcome is undecided.
#ifndef OD_REQUIREMENTS_JUDGE_H
#define OD_REQUIREMENTS_JUDGE_H

#include <jansson.h>

#include "machine/requirement.h"
#include "result/result.h"
#include "memory/scoped.h"
#include "simulate/run.h"

typedef enum od_outcome {
  OD_PASS,
  OD_FAIL,
  OD_UNDECIDED,   // the run is not accurate enough, or the margin of a loop is not known
  OD_NOT_JUDGED,  // the run ended early
} od_outcome;
const char *od_outcome_text(od_outcome outcome);  // "pass", "fail", "undecided", "not judged"

typedef struct od_judgment {
  const od_requirement *requirement;
  od_outcome outcome;
  double reached;  // reached value, SI; INFINITY: the signal never settles, or the margin is infinite; NAN: not known
  double best, worst;  // ends of the possible range of the value, SI
  double at;           // time of the reached value, s (loops: frequency, Hz); NAN: no particular time
  double left;         // margin to the bound, SI; negative: the requirement is not met
  char note[500];      // text for the user, or empty
} od_judgment;

typedef struct od_judge od_judge;

// od_judge_covers() returns whether a requirement's window is within a run of this duration (s). od_judge_fail_uncovered() sets the
// error for a window outside the run and returns OD_BAD_INPUT.
bool od_judge_covers(const od_requirement *q, double time);
od_status od_judge_fail_uncovered(const od_machine *machine, const od_requirement *q, double time, od_error *err);
// Writes the indices of the outputs that the requirements need, each index once. Returns the number of these outputs. `output`
// must have room for all outputs of the machine.
int od_judge_outputs(const od_machine *machine, int *output);

// Creates a judge for a run of this duration (s) that records these outputs. NULL: out of memory.
od_judge *od_judge_new(const od_machine *machine, double time, const int *output, int outputs);
void od_judge_free(od_judge *judge);
OD_OWNED_POINTER(od_judge, od_judge_free);
// Returns a watcher for od_run_options.watchers. The judge must outlive the run.
od_run_watcher od_judge_watcher(od_judge *judge);
// Judges all requirements after the run. `complete`: whether the run reached its end. The margins of loops are computed only after a complete run,
// and may need further runs. Fails with OD_NO_MEMORY, or with a status of od_judge_loop().
od_status od_judge_end(od_judge *judge, const od_run_report *report, bool complete, od_error *err);
const od_judgment *od_judge_results(const od_judge *judge, int *count);
// Returns the worst outcome, in the order fail, not judged, undecided, pass.
od_outcome od_judge_outcome(const od_judge *judge);

// loop_margin.c: computes the margin of a loop into j->reached, j->best, j->worst, j->at and j->note. Fails with OD_BAD_INPUT if not exactly one
// input enters at the signal, with OD_NO_MEMORY, or with a status of od_linear_model_find() or od_poles_find().
od_status od_judge_loop(const od_machine *machine, od_judgment *j, od_error *err);

// judge_result.c: the texts for terminal, report and JSON.
typedef struct od_judgment_text {
  char required[96], reached[96], at[40], left[96];
} od_judgment_text;
od_judgment_text od_judgment_words(const od_judgment *j);
// Writes a value in its display unit: 37 %, 6 dB, 45 deg, 3 bar.
void od_requirement_value_text(const od_requirement *q, double value, char text[96]);
od_trust od_outcome_trust(od_outcome outcome);
// Adds the field "requirements" to the data. Adds a table to the view, and a finding for each requirement that does not pass
// or has a note.
void od_add_judgments(od_result *r, const od_judge *judge);

#endif
