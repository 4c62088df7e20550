// The samples of a run in memory, and the same samples as they would be if one fault of their columns were undone.
#ifndef OD_EXPERIMENT_RECORD_H
#define OD_EXPERIMENT_RECORD_H

#include "experiment/sample_source.h"

// Columns are counted over the sensors, then the inputs.
typedef struct od_record {
  long rows;
  int sensors, inputs;
  double *t;            // one per row
  double *y;            // rows x sensors; NAN: missing
  double *u, *u_after;  // rows x inputs: at the row's time, and after a jump there
} od_record;

// What may be wrong with a run. The comment states what `amount` is.
typedef enum od_fault_kind {
  OD_FAULT_NONE,
  OD_FAULT_DELAY,      // rows by which the column is late
  OD_FAULT_OFFSET,     // what the column has too much, SI
  OD_FAULT_SCALE,      // factor of the column
  OD_FAULT_SIGN,       // -1
  OD_FAULT_UNIT,       // factor between two units
  OD_FAULT_SWAP,       // none: `column` and `other` are exchanged
  OD_FAULT_GAUGE,      // Pa that all pressures (column -1) or one have too little
  OD_FAULT_CLOCK,      // part by which time is too long; `other` 1: that of the sensors beside that of the inputs
  OD_FAULT_HOLD,       // none: inputs jump at rows
  OD_FAULT_OUTLIERS,   // none
  OD_FAULT_NOISE,      // factor of the noise of a sensor, or of all (column -1)
  OD_FAULT_PARAMETER,  // value of the number `other` of the model, from time `from` on
  OD_FAULT_PRIOR,      // factor of the sigmas at the start
  OD_FAULT_STEP,       // how many times too long the steps are
  OD_FAULT_MODEL,      // factor of the process noise
} od_fault_kind;

typedef struct od_fault {
  od_fault_kind kind;
  int column, other;
  double amount, from;
} od_fault;
enum { OD_ALL_COLUMNS = -1 };  // of inputs (delay), of pressures (gauge), of sensors (noise)

od_record *od_record_new(long rows, int sensors, int inputs);
void od_record_free(od_record *r);
// All samples of an experiment, at most so many rows.
od_status od_record_take(const od_experiment *e, long most, od_record **out, od_error *err);
// Undoes a fault of columns or times; other faults change no data. `to` has the size of `from`.
void od_record_undo(const od_record *from, const od_fault *fault, const od_experiment *e, od_record *to);
// Time between two rows, in the mean.
double od_record_step(const od_record *r);
// A record as a source of samples. `rows`: at most so many.
od_status od_sample_source_record(const od_record *r, double step, long rows, od_sample_source *out);

#endif
