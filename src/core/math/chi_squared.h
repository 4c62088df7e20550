// The tail of the chi-squared distribution.
#ifndef OD_CHI_SQUARED_H
#define OD_CHI_SQUARED_H

// The probability that a chi-squared number with so many degrees of freedom exceeds x.
double od_chi_squared_tail(double x, double freedom);

#endif
