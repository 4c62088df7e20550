// The steps of prepare.h for one channel: n contiguous samples, NAN for a missing sample. The caller owns the memory.
#ifndef OD_PREPARE_STEPS_H
#define OD_PREPARE_STEPS_H

// Applies Hampel's filter (hampel.c). Returns the number of samples that became missing. Scratch: n + window.
long od_hampel(double *x, long n, double limit, int window, double *scratch);

// Largest difference, as a fraction of a step, of times that are equal except for rounding.
#define OD_SAME_TIME 1e-6

// Interpolates linearly between available samples (resample.c), at grid->start + i grid->step, into `out`. Between samples that are
// farther apart than `longest` (s), and beyond the ends, the result is NAN. Returns the number of filled gaps.
typedef struct od_grid {
  double start, step;
  long rows;
} od_grid;
long od_resample(const double *time, const double *x, long n, double longest, const od_grid *grid, double *out);

// Applies a zero-phase low-pass filter (low_pass.c). corner: corner frequency as a fraction of the sampling rate, 1e-10
// to 1/2. Scratch: 2 n.
void od_low_pass(double *x, long n, double corner, double *scratch);

// Applies Savitzky-Golay smoothing (savitzky_golay.c), window <= n. Scratch: n + 4 window.
void od_savitzky_golay(double *x, long n, int window, int order, double *scratch);

#endif
