// The discrete Fourier transform of any length.
#ifndef OD_FREQUENCY_FFT_H
#define OD_FREQUENCY_FFT_H

#include <complex.h>

#include "memory/scoped.h"

typedef struct od_fft od_fft;
// Prepares a transform. length: 1 to 2^24. Returns NULL if out of memory.
od_fft *od_fft_new(int length);
void od_fft_free(od_fft *f);
OD_OWNED_POINTER(od_fft, od_fft_free);
// Transforms x in place: X[k] = sum x[j] exp(-2 pi i j k / length). Allocates nothing.
void od_fft_run(od_fft *f, double _Complex *x);

#endif
