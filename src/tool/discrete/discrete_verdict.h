// Verdict on a discrete-time model of a log.
#ifndef OD_DISCRETE_DISCRETE_VERDICT_H
#define OD_DISCRETE_DISCRETE_VERDICT_H

#include "discrete/discrete_model.h"
#include "io/verdict.h"
#include "prepare/log_columns.h"

// Quality of the model for one output: over the whole log, and over the held-out rows.
typedef struct od_output_quality {
  od_z_quality all, held_out;
} od_output_quality;

// Writes the quality: "93.41 %, error 0.0131".
const char *od_quality_text(const od_z_quality *q, char text[80]);

typedef struct od_discrete_findings {
  const od_discrete *model;  // NULL: a subspace model
  const od_z_transfer *z;
  int outputs;
  const od_signal_label *label;      // label of each output
  const od_output_quality *quality;  // quality of each output
  const char *why_none_held_out;     // reason why no rows are held out; NULL: some rows are held out
  double movement;                   // root mean square of the output's movement
} od_discrete_findings;
void od_discrete_judge(const od_discrete_findings *f, od_verdict *v);

#endif
