// Error metrics of outputs and parameters in a run. The section 'metrics' of an experiment file defines the metrics, so a study can compute the
// metrics of a publication.
#ifndef OD_EXPERIMENT_ERROR_METRICS_H
#define OD_EXPERIMENT_ERROR_METRICS_H

#include "base/saved.h"
#include "experiment/experiment.h"
#include "experiment/sample_source.h"

// A kind of metric: its key in files, and its expected value for a consistent estimator.
typedef struct od_error_metric_class {
  const char *key, *meaning;
  bool has_unit;    // whether the value has the unit of the outputs, and all outputs must have the same unit; false: no
                    // unit
  double expected;  // expected value for a consistent estimator; NAN: unknown
} od_error_metric_class;
// All kinds of metrics. The last entry has the key NULL.
extern const od_error_metric_class od_error_metric_classes[];

// Adds metrics to an experiment without metrics: the root mean square error of each watched output. Returns false if
// out of memory.
bool od_error_metrics_default(od_experiment *e);

typedef struct od_error_record od_error_record;
// Creates an object that collects the errors of a run from `begin` to `end`, s. Returns NULL if out of memory.
od_error_record *od_error_record_new(const od_experiment *e, const od_plant *plant, double begin, double end);
void od_error_record_free(od_error_record *r);
OD_OWNED_POINTER(od_error_record, od_error_record_free);
// Saves or restores a record as pieces of a saved state.
void od_error_record_transfer(od_error_record *r, od_pieces *t);
// Adds the errors of a sample. Call after each sample. Samples without a true value are omitted. Fails with a status of
// the simulation.
od_status od_error_record_take(od_error_record *r, const od_sample *s, od_observer *observer);
// Writes one value per metric; NAN: no sample was compared.
void od_error_record_result(const od_error_record *r, double *value);

#endif
