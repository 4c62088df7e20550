// Derivatives of one instance by complex steps of it alone: exact, whatever its equation.
#ifndef OD_ELEMENT_SLOPES_H
#define OD_ELEMENT_SLOPES_H

#include "model/model.h"

// d out / d in, a row for each out, into the instance's place in the work memory.
void od_element_slopes(const od_model *m, double *w, int instance);
// d out by a number as its class calls it (see od_element_class.number_slopes); false where all of them are zero.
bool od_element_number_slope(const od_model *m, double *w, int instance, int number, double *dout);
// The change of one of its outs when its `in` changes by din, where its slopes are known.
double od_element_out_tangent(const od_model *m, const double *w, int instance, int out, const double *din);
// Of a report also when its outs change by dout besides, and the oil by doil (either may be NULL).
double od_element_report_change(const od_model *m, double *w, int instance, int report, const double *din,
                                const double *dout, const double *doil);
// The derivative of a report by a number as its class calls it.
double od_element_report_by_number(const od_model *m, double *w, int instance, int report, int number);

#endif
