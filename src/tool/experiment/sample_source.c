#include "experiment/sample_source.h"

od_status od_source_of(const od_experiment *e, od_source *out, od_error *err) {
  return e->log ? od_source_log(e, out, err) : od_source_truth(e, out, err);
}

void od_source_free(od_source *source) {
  if (source->free) source->free(source->self);
  *source = (od_source){0};
}
