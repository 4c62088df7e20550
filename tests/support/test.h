// cmocka with the headers that it needs, and comparisons of numbers. Every test includes this header.
#ifndef OD_SUPPORT_TEST_H
#define OD_SUPPORT_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

// The test fails, with both numbers and the place of the call, unless |got - want| is at most
//   near            tolerance
//   near_relative   part * |want|
//   near_scaled     part * (|want| + size), for numbers that may be zero; size: their typical size
// A NaN is never near.
#define near(got, want, tolerance)         od_test_near(got, want, tolerance, __FILE__, __LINE__)
#define near_relative(got, want, part)     near_scaled(got, want, part, 0)
#define near_scaled(got, want, part, size) od_test_near_scaled(got, want, part, size, __FILE__, __LINE__)

static inline void od_test_near(double got, double want, double tolerance, const char *file, int line) {
  if (fabs(got - want) <= tolerance) return;
  print_error("got %.17g, expected %.17g within %.3g\n", got, want, tolerance);
  _fail(file, line);
}
static inline void od_test_near_scaled(double got, double want, double part, double size, const char *file, int line) {
  od_test_near(got, want, part * (fabs(want) + size), file, line);
}

#endif
