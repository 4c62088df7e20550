// Exact derivatives of one instance with respect to its numbers, and of its reports: from its class, or by complex steps through its
// equations.
#ifndef OD_ELEMENT_SLOPES_H
#define OD_ELEMENT_SLOPES_H

#include <math.h>

#include "base/complex_number.h"
#include "model/model.h"

// Computes the derivatives dout of the outputs of an instance with respect to a number, given by its index in the class
// (see od_element_class.number_slopes). Returns false if all derivatives are zero; then dout may be undefined.
bool od_element_number_slope(const od_model *m, double *w, int instance, int number, double *dout);
// Returns the change of output `out` of an instance when its inputs change by din, from the derivatives in the work
// memory.
double od_element_out_tangent(const od_model *m, const double *w, int instance, int out, const double *din);
#if OD_WITH_COMPLEX
// Evaluates an instance with the numbers theta of the model, properties of the oil (OD_OIL_STATES) and inputs `in`. `in` and
// `out` have one entry per slot of the class; imaginary parts carry derivatives.
void od_element_evaluate_at(const od_model *m, const double *theta, const double *oil, int instance,
                            const od_complex *in, od_complex *out);
// Returns the change of a report of an instance when its inputs change by din and the oil by doil (may be NULL). dout
// (may be NULL): changes of the outputs in addition to the effect of din.
double od_element_report_change(const od_model *m, double *w, int instance, int report, const double *din,
                                const double *dout, const double *doil);
// Returns the derivative of a report of an instance with respect to a number, given by its index in the class.
double od_element_report_by_number(const od_model *m, double *w, int instance, int report, int number);
#else
// In a build without complex numbers, od_model_plant() rejects plants that need these derivatives (plant/real_derivatives.c).
static inline double od_element_report_change(const od_model *m, double *w, int instance, int report, const double *din,
                                              const double *dout, const double *doil) {
  return (void)m, (void)w, (void)instance, (void)report, (void)din, (void)dout, (void)doil, NAN;
}
static inline double od_element_report_by_number(const od_model *m, double *w, int instance, int report, int number) {
  return (void)m, (void)w, (void)instance, (void)report, (void)number, NAN;
}
#endif

#endif
