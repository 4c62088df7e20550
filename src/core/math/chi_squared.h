// The tail of the chi-squared distribution.
#ifndef OD_CHI_SQUARED_H
#define OD_CHI_SQUARED_H

// Returns the probability that a chi-squared variable with `freedom` degrees of freedom exceeds x.
double od_chi_squared_tail(double x, double freedom);

#endif
