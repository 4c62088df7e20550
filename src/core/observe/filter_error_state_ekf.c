// The error-state extended Kalman filter. The machine's steps propagate the estimate, and the filter propagates the error of the
// estimate. Each correction resets the error to zero. Errors of a mechanism are propagated by kinematics alone,
//
//   dz <- dz + h dw,   dw <- dw + effect of the errors of first-order states and parameters
//
// so forces that depend on the motion count as process noise. The kinematic propagation uses less information than the exact
// transition, which the filter 'ekf' and the option 'transition: exact' use. The filter is, however, insensitive to errors in the
// model of the forces.
#include "observe/filters.h"
#include "observe/linear_filter.h"

enum { TRANSITION, OPTIONS };
enum { KINEMATIC, EXACT };
static const char *const transitions[] = {"kinematic", "exact", NULL};
static const od_filter_option options[] = {
    {"transition",
     "propagation of the errors of positions and velocities: 'kinematic' (without forces) or 'exact'; default: kinematic",
     KINEMATIC,
     0,
     0,
     transitions,
     {0}},
};

static size_t memory(const od_plant *plant, const od_observer_options *o) {
  (void)plant, (void)o;
  return 0;
}

// The kinematic transition replaces the blocks of positions and velocities in the exact transition. Fails with a status of
// od_sim_step().
static od_status predict(od_observer *o, double h, const double *u, const double *Q, const double *q) {
  int nz = o->plant->nz;
  double *A = od_observer_at(o, od_observer_linear(o)->A), *B = o->np ? od_observer_at(o, o->map_p) : NULL;
  od_status status = od_sim_step_with_jacobians(od_observer_sim(o), h, u, A, NULL, NULL, B);
  if (status != OD_OK) return status;
  od_observer_add_step_bias(o, A, B);
  for (int i = 0; i < nz && o->choice[TRANSITION] == KINEMATIC; i++)
    for (int j = 0; j < nz; j++) {
      A[i * o->nx + j] = A[(nz + i) * o->nx + nz + j] = i == j;
      A[i * o->nx + nz + j] = i == j ? h : 0;
      A[(nz + i) * o->nx + j] = 0;
    }
  od_covariance b = od_observer_estimate(o);
  return od_covariance_predict(&b, A, B, Q, q) ? OD_OK : OD_NOT_FINITE;
}

static od_status correct(od_observer *o, const double *y) {
  od_linear_begin(o);
  return od_linear_pass(o, y, 0);
}

const od_filter od_filter_error_state_ekf = {
    .name = "error-state-ekf",
    .description = "error-state extended Kalman filter with kinematic propagation of motion errors",
    .option = options,
    .options = OPTIONS,
    .memory = memory,
    .predict = predict,
    .correct = correct,
    .output_sigma = od_linear_output_sigma,
    .detects_changes = true,
};
