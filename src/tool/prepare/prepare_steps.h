// The steps of prepare.h on one channel each: n samples side by side, NAN where one is missing. Memory is the caller's.
#ifndef OD_PREPARE_STEPS_H
#define OD_PREPARE_STEPS_H

// Hampel's filter (hampel.c): returns how many samples became missing. Scratch: n + window.
long od_hampel(double *x, long n, double limit, int window, double *scratch);

// Times closer than this part of a step are the same but for rounding.
#define OD_SAME_TIME 1e-6

// Straight lines between samples that are there (resample.c), at grid->start + i grid->step, unless they are farther
// apart than `longest`. Returns how many gaps were filled.
typedef struct od_grid {
  double start, step;
  long rows;
} od_grid;
long od_resample(const double *time, const double *x, long n, double longest, const od_grid *grid, double *out);

// Zero-phase low-pass (low_pass.c), the corner as a part of the sampling rate, 1e-10 to 1/2. Scratch: 2 n.
void od_low_pass(double *x, long n, double corner, double *scratch);

// Savitzky-Golay smoothing (savitzky_golay.c), window <= n. Scratch: n + 4 window.
void od_savitzky_golay(double *x, long n, int window, int order, double *scratch);

#endif
