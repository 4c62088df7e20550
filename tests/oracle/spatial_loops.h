// Closed-form closures of two spatial loops.
//
// RSSR: a crank and a rocker, each turning about a ground axis, joined by a rod between two ball joints. From the
// square of the rod's length, the rocker angle solves A cos(f) + B sin(f) = C.
//
// Bricard's linkage: six revolute joints, six equal links, each joint axis perpendicular to its neighbors (twists
// alternately +90 and -90 degrees). The linkage moves although the count of freedoms is zero. Every other joint turns
// by the same angle, and the two groups satisfy (1 + cos p)(1 + cos f) = 1 (Chen, You and Tarnai, "Threefold-symmetric
// Bricard linkages for deployable structures", Int. J. Solids Struct. 42, 2005, with alpha = 90 degrees).
#ifndef ORACLE_SPATIAL_LOOPS_H
#define ORACLE_SPATIAL_LOOPS_H

// An arm turning about an axis: its tip is at pivot + radius (cos(angle) x + sin(angle) y), x and y unit vectors
// perpendicular to the axis x cross y and to each other.
typedef struct oracle_arm {
  double pivot[3], x[3], y[3], radius;
} oracle_arm;

typedef struct oracle_rssr {
  oracle_arm crank, rocker;
  double rod;
} oracle_rssr;

void oracle_arm_tip(const oracle_arm *arm, double angle, double tip[3]);

// The rocker angle for a crank angle, on branch +1 or -1, in (-pi, pi]. Returns 0, or -1 if the loop cannot close.
int oracle_rssr_rocker(const oracle_rssr *m, double crank_angle, int branch, double *rocker_angle);
// d(rocker)/d(crank) at a closed position.
double oracle_rssr_ratio(const oracle_rssr *m, double crank_angle, double rocker_angle);

// The angle of the even joints for an angle of the odd ones (or vice versa), in [0, pi]. NAN if the linkage cannot
// close: beyond 120 degrees.
double oracle_bricard_angle(double angle);
// d(even)/d(odd) for angles in (0, pi), both of one sign.
double oracle_bricard_ratio(double odd, double even);

#endif
