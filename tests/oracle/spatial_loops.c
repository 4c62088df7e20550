// RSSR and Bricard closures. See the header.
#include "oracle/spatial_loops.h"

#include <math.h>

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void oracle_arm_tip(const oracle_arm *arm, double angle, double tip[3]) {
  for (int i = 0; i < 3; i++) tip[i] = arm->pivot[i] + arm->radius * (cos(angle) * arm->x[i] + sin(angle) * arm->y[i]);
}

int oracle_rssr_rocker(const oracle_rssr *m, double crank_angle, int branch, double *rocker_angle) {
  // |d + r (cos f x + sin f y)|^2 = rod^2 with d from the crank's tip to the rocker's pivot.
  double tip[3], d[3];
  oracle_arm_tip(&m->crank, crank_angle, tip);
  for (int i = 0; i < 3; i++) d[i] = m->rocker.pivot[i] - tip[i];
  const double r = m->rocker.radius;
  const double A = 2 * r * dot(d, m->rocker.x), B = 2 * r * dot(d, m->rocker.y);
  const double C = m->rod * m->rod - r * r - dot(d, d), size = hypot(A, B);
  if (!(fabs(C) <= size)) return -1;
  const double f = atan2(B, A) + branch * acos(C / size);
  *rocker_angle = atan2(sin(f), cos(f));
  return 0;
}

double oracle_rssr_ratio(const oracle_rssr *m, double crank_angle, double rocker_angle) {
  // The rod's ends have equal velocities along the rod.
  double a[3], b[3], rod[3], va[3], vb[3];
  oracle_arm_tip(&m->crank, crank_angle, a);
  oracle_arm_tip(&m->rocker, rocker_angle, b);
  for (int i = 0; i < 3; i++) {
    rod[i] = b[i] - a[i];
    va[i] = m->crank.radius * (-sin(crank_angle) * m->crank.x[i] + cos(crank_angle) * m->crank.y[i]);
    vb[i] = m->rocker.radius * (-sin(rocker_angle) * m->rocker.x[i] + cos(rocker_angle) * m->rocker.y[i]);
  }
  return dot(rod, va) / dot(rod, vb);
}

double oracle_bricard_angle(double angle) {
  return acos(1 / (1 + cos(angle)) - 1);
}

double oracle_bricard_ratio(double odd, double even) {
  return -sin(odd) * (1 + cos(even)) / (sin(even) * (1 + cos(odd)));
}
