// The force of a friction law over a run, with its derivatives. The kernels are in src/core/friction/drive.h.
#ifndef OD_RUN_MODEL_H
#define OD_RUN_MODEL_H

#include "friction/drive.h"
#include "friction_fit/friction_plan.h"
#include "memory/scoped.h"

typedef struct od_run_model {
  od_arena arena;
  od_friction_grid grid;
  int samples;
  double *work;
  // Chamber pressures at the samples minus the normal pressures, Pa; owned by the caller. NULL: not known.
  const double *pressure[2];
  const double *position;  // positions at the samples, m; owned by the caller. NULL: not known
} od_run_model;

// Creates a model over nodes: their `count` times t, s, and speeds v, m/s, which are copied. Node 0 and every `every`-th node after
// it are samples. Fails with OD_NO_MEMORY, and with OD_BAD_ARGUMENT if times do not increase or a number is not finite; *out is
// then NULL.
od_status od_run_model_new(int count, const double *t, const double *v, int every, od_run_model **out);
// Creates a model over samples with linear interpolation, each interval divided into `substeps` steps. Fails like
// od_run_model_new(); *out is then unchanged or NULL.
od_status od_run_model_between(int samples, const double *t, const double *v, int substeps, od_run_model **out);
void od_run_model_free(od_run_model *m);
OD_OWNED_POINTER(od_run_model, od_run_model_free);

// Computes the force at the samples of a run that starts at rest. Fails with OD_NOT_FINITE if the numbers are not valid for the
// law, and with OD_NO_MEMORY.
od_status od_run_model_force(const od_run_model *m, const od_law_numbers *n, double *force);
// Computes the force and its derivatives with respect to some numbers: a row of `columns` derivatives per sample. Fails like
// od_run_model_force().
od_status od_run_model_slopes(const od_run_model *m, const od_law_numbers *n, int columns, const int *number,
                              double *force, double *slopes);

#endif
