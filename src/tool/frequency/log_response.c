// Estimates the frequency response from a log. The estimator depends on the input: a stepped sine, a multisine, or a broad
// spectrum.
#include <math.h>

#include "base/allocate.h"
#include "frequency/named_response.h"

static od_status estimate_sines(od_log_columns *c, const od_estimate_options *w, double *value, od_response *r,
                                od_error *err) {
  OD_SCRATCH(scratch);
  int count = (int)floor((w->sine_to - w->sine_from) / w->sine_step * (1 + 1e-12) + 1e-9) + 1;
  double *frequency = OD_TAKE(&scratch, double, count);
  if (!frequency) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < count; i++) frequency[i] = w->sine_from + i * w->sine_step;
  const od_sines sines = {isnan(w->start) ? c->begin : w->start, frequency, count, w->periods, w->settle};
  OD_OWNED(od_sine_fit_free) od_sine_fit *fit = od_sine_fit_new(&sines, c->count - 1);
  if (!fit) return od_fail(err, OD_NO_MEMORY, "out of memory");
  bool end = false;
  od_status status = od_log_columns_next(c, value, &end, err);
  for (long k = 0; status == OD_OK && !end; k++) {
    od_sine_fit_add(fit, c->begin + (double)k * c->step, value[0], value + 1);
    status = od_log_columns_next(c, value, &end, err);
  }
  if (status == OD_OK) status = od_sine_fit_end(fit, &r->frf, err);
  if (status == OD_OK)
    snprintf(r->how, sizeof r->how, "stepped sine, %d of %d frequencies; the first %g of %g periods omitted%s",
             r->frf->points, count, w->settle, w->periods,
             od_sines_are_white(&sines) ? "; intervals assume white noise (more periods avoid this assumption)" : "");
  return status;
}

static od_status choose_spectra(const od_log_columns *c, const od_estimate_options *w, od_spectra_options *o,
                                od_error *err) {
  *o = (od_spectra_options){.step = c->step, .overlap = 0.5, .window = w->window, .length = 16};
  while (o->length < 65536 && 2 * o->length * 8L <= c->rows) o->length *= 2;
  if (w->length > 0) o->length = w->length;
  if (!(w->period > 0)) return OD_OK;
  double samples = round(w->period / c->step);
  if (fabs(w->period / c->step - samples) > 1e-3 || samples < 4 || samples > (double)c->rows)
    return od_fail(err, OD_BAD_INPUT,
                   "--period: found %g s, which is %.6g samples at a sampling period of %g s; expected a whole "
                   "number of samples from 4 to the length of the log",
                   w->period, w->period / c->step, c->step);
  o->length = (int)samples;
  o->periodic = true;
  o->settle = w->settle > 1000000 ? 1000000 : (int)w->settle;
  return OD_OK;
}

static od_status estimate_spectra(od_log_columns *c, const od_estimate_options *w, double *value, od_response *r,
                                  od_error *err) {
  od_spectra_options o;
  OD_OWNED(od_spectra_free) od_spectra *s = NULL;
  bool end = false;
  od_status status = choose_spectra(c, w, &o, err);
  if (status == OD_OK) status = od_spectra_new(&o, c->count - 1, &s, err);
  if (status == OD_OK) status = od_log_columns_next(c, value, &end, err);
  while (status == OD_OK && !end) {
    for (int i = 0; i < c->count; i++)
      if (!isfinite(value[i]))
        return od_fail(
            err, OD_BAD_INPUT,
            "'%s' has no value in row %ld; averaged spectra need a value in every row: fill the gap, or shorten the log",
            od_log_columns_name(c, i), c->next);
    od_spectra_add(s, value[0], value + 1);
    status = od_log_columns_next(c, value, &end, err);
  }
  if (status == OD_OK) status = od_spectra_end(s, &r->frf, err);
  if (status == OD_OK)
    snprintf(r->how, sizeof r->how,
             o.periodic ? "multisine, periods of %d samples" : "averaged spectra, blocks of %d samples (%s)", o.length,
             od_window_names[o.window]);
  return status;
}

od_status od_response_of_log(od_log_columns *c, const od_estimate_options *w, od_response *r, od_error *err) {
  OD_SCRATCH(scratch);
  double *value = OD_TAKE(&scratch, double, c->count);
  r->output = od_calloc((size_t)c->count, sizeof *r->output);
  if (!value || !r->output) return od_fail(err, OD_NO_MEMORY, "out of memory");
  // The response takes ownership of the labels of the columns.
  r->input = c->label[0];
  r->outputs = c->count - 1;
  for (int i = 1; i < c->count; i++) r->output[i - 1] = c->label[i];
  od_free(c->label);
  c->label = NULL;
  if (!od_log_columns_remark(c, &r->warnings)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = w->sine_step > 0 ? estimate_sines(c, w, value, r, err) : estimate_spectra(c, w, value, r, err);
  if (status != OD_OK) return status;
  double first = r->frf->frequency[0], last = r->frf->frequency[r->frf->points - 1];
  od_frf *band = od_frf_between(r->frf, w->low, w->high);
  if (!band) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_frf_free(r->frf);
  r->frf = band;
  return band->points > 0
             ? OD_OK
             : od_fail(
                   err, OD_BAD_INPUT,
                   "the response has points from %g to %g Hz, but none in the range of --low and --high; change this range",
                   first, last);
}
