// The transform is implemented here because the best-known library (FFTW) is under the GPL and this code is sufficient. Powers
// of two use the radix-2 algorithm in place. Other lengths use a convolution with a chirp (Bluestein), whose length is a power
// of two. Twiddle factors come from a table of exact angles.
#include "frequency/fft.h"

#include <stdbool.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"

struct od_fft {
  int length, size;          // size: the power of two that is transformed
  double _Complex *twiddle;  // exp(-2 pi i k / size), k < size/2
  int *reversed;             // bits of each index in reversed order

  // For other lengths: the chirp exp(-pi i k^2 / length), the transform of the conjugate chirp divided by size, and work memory.
  double _Complex *chirp, *filter, *work;
  od_arena arena;
};

// Returns the point of the unit circle after the given fraction of a turn, clockwise.
static double _Complex unit_circle(double part) {
  double angle = -2 * acos(-1) * part;
  return cos(angle) + sin(angle) * _Complex_I;
}

static void run_power(const od_fft *f, double _Complex *x) {
  int n = f->size;
  for (int i = 0; i < n; i++) {
    int j = f->reversed[i];
    if (i >= j) continue;
    double _Complex swap = x[i];
    x[i] = x[j];
    x[j] = swap;
  }
  for (int half = 1, stride = n / 2; half < n; half *= 2, stride /= 2)
    for (int begin = 0; begin < n; begin += 2 * half)
      for (int k = 0; k < half; k++) {
        double _Complex other = x[begin + half + k] * f->twiddle[k * stride], here = x[begin + k];
        x[begin + k] = here + other;
        x[begin + half + k] = here - other;
      }
}

// Computes the chirp. k^2 modulo twice the length is computed in integers, so that long chirps keep all digits.
static void make_chirp(od_fft *f) {
  int n = f->length;
  for (long long k = 0; k < n; k++) {
    f->chirp[k] = unit_circle((double)(k * k % (2LL * n)) / (2.0 * n));
    f->filter[k] = conj(f->chirp[k]) / f->size;
    if (k > 0) f->filter[f->size - k] = f->filter[k];
  }
  run_power(f, f->filter);
}

od_fft *od_fft_new(int length) {
  OD_OWNED(od_fft_free) od_fft *f = od_calloc(1, sizeof *f);
  if (!f) return NULL;
  bool is_power = (length & (length - 1)) == 0;
  f->length = length;
  f->size = 1;
  while (f->size < (is_power ? length : 2 * length - 1)) f->size *= 2;
  f->twiddle = OD_TAKE(&f->arena, double _Complex, f->size / 2);
  f->reversed = OD_TAKE(&f->arena, int, f->size);
  if (!is_power) {
    f->chirp = OD_TAKE(&f->arena, double _Complex, length);
    f->filter = OD_TAKE(&f->arena, double _Complex, f->size);
    f->work = OD_TAKE(&f->arena, double _Complex, f->size);
  }
  if (od_arena_status(&f->arena) != OD_OK) return NULL;
  for (int k = 0; k < f->size / 2; k++) f->twiddle[k] = unit_circle((double)k / f->size);
  for (int i = 1; i < f->size; i++) f->reversed[i] = f->reversed[i / 2] / 2 + (i % 2 ? f->size / 2 : 0);
  if (!is_power) make_chirp(f);
  return OD_GIVE(f);
}

void od_fft_free(od_fft *f) {
  if (!f) return;
  od_arena_free(&f->arena);
  od_free(f);
}

void od_fft_run(od_fft *f, double _Complex *x) {
  if (!f->chirp) {
    run_power(f, x);
    return;
  }
  for (int k = 0; k < f->length; k++) f->work[k] = x[k] * f->chirp[k];
  memset(f->work + f->length, 0, (size_t)(f->size - f->length) * sizeof *f->work);
  run_power(f, f->work);
  // The inverse transform is computed as the transform of the conjugates.
  for (int k = 0; k < f->size; k++) f->work[k] = conj(f->work[k] * f->filter[k]);
  run_power(f, f->work);
  for (int k = 0; k < f->length; k++) x[k] = conj(f->work[k]) * f->chirp[k];
}
