// B-spline curves given by control points (X_i, Y_i). Abscissa and ordinate are both splines of a parameter t on clamped uniform
// knots. Therefore control points on a straight line give exactly this line. An evaluation at x solves X(t) = x for t and computes
// Y(t). X increases with t. The solution has a closed form for degree 2; otherwise Newton's method finds t. With the basis
// functions B_i at t,
//   dY/dY_i = B_i,  dY/dx = Y'(t)/X'(t),  dY/dX_i = -B_i dY/dx.
// The code runs inside steps, in real and complex numbers.
#ifndef OD_SPLINE_MOST
#define OD_SPLINE_MOST 8  // highest degree + 1
#endif

#include "base/precision.h"

// The reciprocals of the integers 0 to 7 (0 for 0): the numbers of spans between two knots.
static const double X(per_span)[OD_SPLINE_MOST] = {0, 1, 1. / 2, 1. / 3, 1. / 4, 1. / 5, 1. / 6, 1. / 7};
_Static_assert(OD_SPLINE_MOST == 8, "there must be one reciprocal for each number of spans");

// Computes the degree + 1 basis functions that do not vanish in span j (j = 0 .. count - degree - 1) and their
// derivatives with respect to t. t runs from 0 to count - degree (unit spans). The function uses the recursion of Cox and
// de Boor with knots clamped at both ends.
static OD_INLINED void X(spline_basis)(int degree, int spans, int j, od_x t, od_x *B, od_x *D) {
  int low[OD_SPLINE_MOST], high[OD_SPLINE_MOST];  // knots j + 1 - d and j + d, clamped
  B[0] = 1;
  for (int d = 1; d <= degree; d++) {
    low[d] = j + 1 - d > 0 ? j + 1 - d : 0;
    high[d] = j + d < spans ? j + d : spans;
    od_x saved = 0;
    if (d == degree)
      for (int r = 0; r <= d; r++) D[r] = 0;
    for (int r = 0; r < d; r++) {
      od_x share = B[r] * X(per_span)[high[r + 1] - low[d - r]];
      if (d == degree) D[r] -= d * share, D[r + 1] += d * share;
      B[r] = saved + (high[r + 1] - t) * share;
      saved = (t - low[d - r]) * share;
    }
    B[d] = saved;
  }
}

static inline od_x X(spline_sum)(const od_x *B, const od_x *P, int degree) {
  od_x sum = 0;
  for (int r = 0; r <= degree; r++) sum += B[r] * P[r];
  return sum;
}

// A point of a curve. The control points `first` to first + degree determine the point.
typedef struct X(curve_point) {
  od_x t, x, speed;  // parameter (0: no previous point), abscissa, and derivative of the abscissa with respect to t
  od_x y, rise;      // ordinate and its derivative with respect to t
  od_x B[OD_SPLINE_MOST];
  int first;
} X(curve_point);

// Returns the slope dY/dx of the curve at a point.
static inline od_x X(curve_slope)(const X(curve_point) * c) {
  return c->rise / c->speed;
}

// Returns the first iterate of Newton's method: along the tangent at the previous point, or on the polygon of the
// control points.
static inline od_x X(curve_guess)(int spans, int count, const od_x *P, od_x x, const X(curve_point) * c) {
  double t = RE(c->t) + (RE(x) - RE(c->x)) / RE(c->speed);
  if (RE(c->t) > 0 && t > 0 && t < spans) return t;
  int i = 0;
  while (i + 2 < count && RE(P[i + 1]) <= RE(x)) i++;
  return (i + (RE(x) - RE(P[i])) / (RE(P[i + 1]) - RE(P[i]))) / (count - 1) * spans;
}

// Computes the parameter t at which the abscissa is x, by Newton's method within a shrinking bracket. x is strictly inside the
// curve. Also computes the basis at t and, in D, its derivatives. If `degree` is a constant, the loops unroll.
static OD_INLINED void X(curve_parameter)(int degree, int count, const od_x *P, od_x x, X(curve_point) * c, od_x *D) {
  int spans = count - degree;
  double low = 0, high = spans;
  od_x t = X(curve_guess)(spans, count, P, x, c), step = 0;
#ifdef OD_COMPLEX
  int polish = 2;  // more rounds for the imaginary part after the real part has converged
#endif
  for (int round = 0; round < 60; round++) {
    int j = (int)RE(t) < spans ? (int)RE(t) : spans - 1;
    c->first = j;
    X(spline_basis)(degree, spans, j, t, c->B, D);
    od_x miss = X(spline_sum)(c->B, P + j, degree) - x;
    c->speed = X(spline_sum)(D, P + j, degree);
    step = miss / c->speed;
    if (RE(miss) > 0)
      high = RE(t);
    else
      low = RE(t);
    bool small = fabs(RE(step)) < OD_TOLERANCE(1e-13) * spans;
#ifdef OD_COMPLEX
    if (small && polish-- == 0) break;
#else
    if (small) break;
#endif
    bool inside = RE(c->speed) > 0 && RE(t) - RE(step) > low && RE(t) - RE(step) < high;
    t = inside || small ? t - step : (od_x)((low + high) / 2);
  }
  // The last step changes only the last digits of the basis.
  for (int r = 0; r <= degree; r++) c->B[r] -= step * D[r];
  c->t = t - step;
  c->x = x;
}

// Returns the abscissa at knot j of a curve of degree 2.
static inline double X(curve_knot)(int spans, const od_x *P, int j) {
  return j == 0 ? RE(P[0]) : j == spans ? RE(P[spans + 1]) : (RE(P[j]) + RE(P[j + 1])) / 2;
}

// Computes the parameter t for degree 2, without iterations. Within span j, s = t - j goes from 0 to 1. The knot intervals of the
// first and the last of its three basis functions have the lengths l and r:
//   B = ((1 - s)^2 / l, ..., s^2 / r),  X = P1 - f (1 - s)^2 + g s^2,  f = (P1 - P0) / l,  g = (P2 - P1) / r,
// so that X = x is a quadratic equation for s. The square root in its solution equals X'/2. The search for the span starts at the
// previous point.
static inline void X(curve_quadratic)(int count, const od_x *P, od_x x, X(curve_point) * c, od_x *D) {
  int spans = count - 2, j = c->first >= 0 && c->first < spans ? c->first : 0;
  while (j > 0 && RE(x) < X(curve_knot)(spans, P, j)) j--;
  while (j + 1 < spans && RE(x) >= X(curve_knot)(spans, P, j + 1)) j++;
  double before = j > 0 ? 1 : 0,
         after = j + 1 < spans ? 1 : 0;  // 1 if a span precedes or follows this span, else 0
  double per_l = j > 0 ? 0.5 : 1, per_r = j + 1 < spans ? 0.5 : 1;
  od_x f = (P[j + 1] - P[j]) * per_l, g = (P[j + 2] - P[j + 1]) * per_r, d = x - (P[j + 1] - f);
  od_x root = od_x_sqrt(f * f + (g - f) * d), least = RE(f) < RE(g) ? f : g;
  // X'/2 is between f and g. If f or g is very small relative to the other, round-off may give zero or no root.
  if (!(2 * RE(root) >= RE(least))) root = least;
  od_x s = d / (f + root), rest = 1 - s;
  od_x l = rest * per_l, r = s * per_r;
  c->first = j;
  c->t = j + s;
  c->x = x;
  c->speed = 2 * root;
  c->B[0] = rest * l;
  c->B[1] = (s + before) * l + (rest + after) * r;
  c->B[2] = s * r;
  D[0] = -2 * l;
  D[1] = 2 * (l - r);
  D[2] = 2 * r;
}

// Computes the ordinate at t and the derivative of the ordinate with respect to t.
static OD_INLINED void X(curve_ordinate)(int degree, const od_x *Q, const od_x *D, X(curve_point) * c) {
  c->y = X(spline_sum)(c->B, Q + c->first, degree);
  c->rise = X(spline_sum)(D, Q + c->first, degree);
}

// Computes the point c of the curve at the abscissa x. The search for t starts at the point in c from an earlier
// evaluation of the same curve.
static inline void X(curve_follow)(int degree, int count, const od_x *P, const od_x *Q, od_x x, X(curve_point) * c) {
  od_x D[OD_SPLINE_MOST];
  // A curve is constant beyond its ends.
  if (RE(x) >= RE(P[count - 1]) || RE(x) <= RE(P[0])) {
    bool end = RE(x) >= RE(P[count - 1]);
    c->t = 0;
    c->first = end ? count - 1 - degree : 0;
    for (int r = 0; r <= degree; r++) c->B[r] = r == (end ? degree : 0);
    c->y = end ? Q[count - 1] : Q[0];
    c->rise = 0;
    c->speed = 1;
    return;
  }
  if (degree == 2) {
    X(curve_quadratic)(count, P, x, c, D);
    X(curve_ordinate)(2, Q, D, c);
    return;
  }
  switch (degree) {
    case 1: X(curve_parameter)(1, count, P, x, c, D); break;
    case 3: X(curve_parameter)(3, count, P, x, c, D); break;
    default: X(curve_parameter)(degree, count, P, x, c, D); break;
  }
  X(curve_ordinate)(degree, Q, D, c);
}

static inline void X(curve_evaluate)(int degree, int count, const od_x *P, const od_x *Q, od_x x, X(curve_point) * c) {
  c->t = c->x = 0;
  c->speed = 1;
  c->first = 0;
  X(curve_follow)(degree, count, P, Q, x, c);
}
