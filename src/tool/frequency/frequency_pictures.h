// Pictures of frequency responses: magnitude and phase with intervals, coherence, Nyquist plot, and the model that was fitted.
#ifndef OD_FREQUENCY_FREQUENCY_PICTURES_H
#define OD_FREQUENCY_FREQUENCY_PICTURES_H

#include "frequency/transfer_result.h"
#include "io/picture.h"

// A response and, optionally, the response of a model at the same frequencies.
typedef struct od_drawn_response {
  const od_frf *frf;
  int output;
  const char *name, *label;       // name of the panels; label of the response, such as "measured"
  const char *unit;               // unit of the magnitude: "m/V"
  const double _Complex *fitted;  // value of the model at each frequency; NULL: no model
  const char *fitted_label;
} od_drawn_response;

// Adds magnitude and phase over frequency. The numbers are copied.
void od_picture_add_response(od_picture *p, const od_drawn_response *r);
// Adds all outputs of a response: magnitude, phase, coherence where known, and a Nyquist plot.
void od_picture_add_named_response(od_picture *p, const od_response *r);
// Adds data and model of all outputs, poles and zeros, and the error over the order if several orders were tried.
void od_picture_add_transfer(od_picture *p, const od_fitted_transfer *f);

#endif
