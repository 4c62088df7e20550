// One trial, run by the program and compared with the truth.
#ifndef OD_CALIBRATION_JUDGED_H
#define OD_CALIBRATION_JUDGED_H

#include <stdbool.h>
#include <stdint.h>

#include "calibration/trial.h"

enum { JUDGED_OUTPUTS = 12, JUDGED_CODES = 8, JUDGED_CLASSES = 48 };

typedef enum judged_state {
  JUDGED,
  JUDGED_NO_FILE,        // the file was rejected
  JUDGED_NO_TRUTH,       // the reference solution did not reach its end
  JUDGED_UNPREDICTABLE,  // two tolerances of the truth differ by more than 0.1 %
  JUDGED_NO_RUN,         // the run failed
  JUDGED_DIED,           // the process ended by a signal
  JUDGED_STATES
} judged_state;
extern const char *const judged_state_names[];

typedef struct judged_output {
  char name[TRIAL_NAME];
  double error, at;              // true error, relative to the range
  double reported, reported_at;  // NAN: not known
  double range, reported_range;
} judged_output;

// Contains no pointers, because it passes through a pipe.
typedef struct judged {
  uint64_t seed;
  judged_state state;
  bool is_adaptive, has_events, is_partial;
  double step, end;  // s; the last row
  char integrator[16];
  char why[200];
  int outputs;
  judged_output output[JUDGED_OUTPUTS];
  double worst;     // true error
  int trust;        // od_trust
  bool is_accused;  // a remark about accuracy makes it less than sound
  int codes;
  char code[JUDGED_CODES][24];
  double run_seconds, plain_seconds, truth_seconds;
  double truth_difference;  // of its two tolerances
  long restarts;
  int classes;
  char used[JUDGED_CLASSES][40];
} judged;

// Evaluates the machine of a seed in the folder, which receives its files. seconds: processor time allowed for each part; 0:
// the file is only loaded, to list its classes.
void judge(uint64_t seed, const char *folder, double seconds, judged *out);
// Returns whether a remark with this code concerns errors of outputs.
bool judged_is_about_accuracy(const char *code);
// Writes the machine file of a seed and its logs into a folder. Returns false if a file cannot be written.
bool judged_write(uint64_t seed, const char *folder);

#endif
