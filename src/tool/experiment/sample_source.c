#include "experiment/sample_source.h"

od_status od_sample_source_of(const od_experiment *e, od_sample_source *out, od_error *err) {
  return e->log ? od_sample_source_log(e, out, err) : od_sample_source_simulated(e, out, err);
}

void od_sample_source_free(od_sample_source *source) {
  if (source->release) source->release(source->self);
  *source = (od_sample_source){0};
}
