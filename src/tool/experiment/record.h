// The samples of a run in memory, and copies of these samples with one fault of a column undone.
#ifndef OD_EXPERIMENT_RECORD_H
#define OD_EXPERIMENT_RECORD_H

#include "experiment/sample_source.h"

// The samples of a run. In column indices, sensors come first, then inputs.
typedef struct od_record {
  od_arena memory;  // memory of the arrays
  long rows;
  int sensors, inputs;
  double *t;            // time of each row, s
  double *y;            // rows x sensors; NAN: missing
  double *u, *u_after;  // rows x inputs: inputs at the time of the row, and just after a jump at this time
} od_record;

// Possible faults of a run. Each comment describes `amount`.
typedef enum od_fault_kind {
  OD_FAULT_NONE,
  OD_FAULT_DELAY,   // delay of the column in rows
  OD_FAULT_OFFSET,  // offset of the column, SI
  OD_FAULT_SCALE,   // factor of the column
  OD_FAULT_SIGN,    // -1
  OD_FAULT_UNIT,    // factor between two units
  OD_FAULT_SWAP,    // not used: `column` and `other` are exchanged
  OD_FAULT_GAUGE,   // atmospheric pressure that is missing in all pressures (column -1) or in one pressure, Pa
  OD_FAULT_CLOCK,  // fraction by which times are too long; `other` 1: only times of the sensors, relative to the inputs
  OD_FAULT_HOLD,   // `amount` is not used: inputs jump at rows
  OD_FAULT_OUTLIERS,   // `amount` is not used: the observer rejects outliers
  OD_FAULT_NOISE,      // factor of the noise of a sensor, or of all sensors (column -1)
  OD_FAULT_PARAMETER,  // `amount` is not used: number `other` of the model is free from the time `from` on
  OD_FAULT_PRIOR,      // factor of the initial sigmas
  OD_FAULT_STEP,       // factor by which the steps are too long
  OD_FAULT_MODEL,      // factor of the process noise
} od_fault_kind;

typedef struct od_fault {
  od_fault_kind kind;
  int column, other;
  double amount, from;
} od_fault;
enum { OD_ALL_COLUMNS = -1 };  // all inputs (delay), pressures (gauge) or sensors (noise)

// Creates a record with zeros in all arrays. Returns NULL if out of memory.
od_record *od_record_new(long rows, int sensors, int inputs);
void od_record_free(od_record *r);
OD_OWNED_POINTER(od_record, od_record_free);
// Reads the samples of an experiment, at most `most` rows. Fails with OD_NO_MEMORY or a status of the source of the samples.
od_status od_record_take(const od_experiment *e, long most, od_record **out, od_error *err);
// Copies `from` to `to` and undoes a fault of columns or times. Other faults change no data. `to` has the size of `from`.
void od_record_undo(const od_record *from, const od_fault *fault, const od_experiment *e, od_record *to);
// Returns the largest minus the smallest value of a column; 0: there are no values.
double od_record_range(const od_record *r, int column);
// Returns the mean time between two rows, s.
double od_record_step(const od_record *r);
// Creates a source of samples from a record, which must outlive the source. step: step of the process noise, s. Fails
// with OD_NO_MEMORY.
od_status od_sample_source_record(const od_record *r, double step, od_sample_source *out);

#endif
