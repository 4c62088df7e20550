// A frequency response as a picture: amplitude and phase over frequency, with intervals, and the curves of the model.
#ifndef OD_FREQUENCY_BODE_PLOT_H
#define OD_FREQUENCY_BODE_PLOT_H

#include "frequency/transfer.h"

typedef struct od_bode {
  const od_frf *frf;
  const od_transfer *model;               // model whose response is drawn; NULL: none
  const char *const *name, *const *unit;  // per output
  const char *title, *subtitle;
} od_bode;

// Writes an SVG file, or no file on failure; the path "-" prints the curves on standard output. Fails with OD_IO or OD_NO_MEMORY.
od_status od_bode_write(const od_bode *b, const char *path, od_error *err);

#endif
