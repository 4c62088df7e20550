// The same filter with the transition Jacobian as the literature takes it: by the complex step through the integrator,
// one perturbed trapezoidal step in complex numbers per state and per parameter. Covariance and correction are the
// observer's own.
#ifndef BENCH_COMPLEX_FILTER_H
#define BENCH_COMPLEX_FILTER_H

#include <stdbool.h>

#include "oleodyn/oleodyn.h"

typedef struct complex_filter complex_filter;

// plant: a machine's. NULL when memory runs out.
complex_filter *complex_filter_new(const od_plant *plant, od_covariance_form form, const double *sensor_sigma);
void complex_filter_free(complex_filter *f);
od_sim *complex_filter_sim(complex_filter *f);

od_status complex_filter_start(complex_filter *f, const double *p, const double *P, const double *u);
// One trapezoidal step of the simulation inside with its Jacobians A (nx x nx) and B (nx x np).
od_status complex_filter_transition(complex_filter *f, double h, const double *u, double *A, double *B);
od_status complex_filter_predict(complex_filter *f, double h, const double *u, const double *Q);
od_status complex_filter_correct(complex_filter *f, const double *y);

#endif
