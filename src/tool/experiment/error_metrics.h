// Figures that an experiment file asks for: what becomes of the errors of some outputs in the course of a run. Their definitions
// are data (section 'metrics'), so that a study or a comparison has the figures of whatever was published.
#ifndef OD_EXPERIMENT_ERROR_METRICS_H
#define OD_EXPERIMENT_ERROR_METRICS_H

#include "experiment/experiment.h"
#include "experiment/sample_source.h"

// A kind: its key in files, and what it says of an estimator that is right.
typedef struct od_error_metric_class {
  const char *key, *meaning;
  bool has_unit;    // that of its outputs, which then share one; else it is a plain number
  double expected;  // of a right estimator; NAN: nothing
} od_error_metric_class;
// The list, and its end (a NULL key).
extern const od_error_metric_class od_error_metric_classes[];

// Gives an experiment without metrics the root mean square error of everything that is watched; false: memory ran out.
bool od_error_metrics_default(od_experiment *e);

typedef struct od_error_record od_error_record;
od_error_record *od_error_record_new(const od_experiment *e, const od_plant *plant, double begin, double end);
void od_error_record_free(od_error_record *r);
// After each sample. Samples without a true value are left out.
od_status od_error_record_take(od_error_record *r, const od_sample *s, od_observer *observer);
// One value per metric; NAN: nothing was compared.
void od_error_record_result(const od_error_record *r, double *value);

#endif
