// The eight cylinders of Tables 4.1 and 4.2 of source 28 in docs/theory.md, with three misprints corrected: vs of #2, vb of #4, vb of
// #8. Magnitudes; [0] for positive and [1] for negative speeds. The last row are the "expected parameters" there.
#ifndef OD_PUBLISHED_CYLINDERS_H
#define OD_PUBLISHED_CYLINDERS_H

typedef struct published_side {
  double Fs, Fc, vs, vb, n, viscous;
} published_side;
typedef struct published_cylinder {
  published_side side[2];
  double tau_hp, tau_hn, tau_h0, sigma_0, sigma_1;
} published_cylinder;

enum { PUBLISHED_CYLINDERS = 8 };
extern const published_cylinder published_cylinders[PUBLISHED_CYLINDERS + 1];

// Their numbers in the order of the laws "modified-lugre" and "reduced", both directions. Returns the number of them.
int published_modified_lugre(const published_cylinder *c, double *q);
int published_reduced(const published_cylinder *c, double *q);

// The trajectory of cases/cylinder-friction that identifies all parameters: sines, ramps, half-cosines and a lagged step of the speed,
// 13 s long. The source shows its trajectory in a figure only; this one is chosen here.
double trajectory_speed(double t);
// Times of the ends of its pieces and of its sign changes, in order, from 0 to 13 s.
enum { TRAJECTORY_BREAKS = 15 };
extern const double trajectory_breaks[TRAJECTORY_BREAKS];

#endif
