// Columns of a log in SI units, and the estimate that suits its input: a stepped sine, a multisine, or anything broad.
#include "options/response_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/exit_codes.h"
#include "options/option_values.h"
#include "terminal/terminal.h"
#include "io/json.h"
#include "io/number.h"

enum { MOST_SINES = 100000 };

// --- Estimates ----------------------------------------------------------------------------------------------------

// "1:100:1"
static bool read_sines(const char *text, double *from, double *to, double *step) {
  double *const value[3] = {from, to, step};
  const char *at = text;
  for (int i = 0; i < 3; i++) {
    size_t length = strcspn(at, ":");
    if (!od_number_parse(at, length, false, value[i]) || !(*value[i] > 0) || !isfinite(*value[i])) break;
    at += length;
    if (i == 2 && !*at && *from <= *to && (*to - *from) / *step < MOST_SINES) return true;
    if (*at++ != ':') break;
  }
  od_cli_error("--sine: found '%s', expected frequencies in Hz, from low to high, and their distance, as in 1:100:1",
               text);
  return false;
}

static od_status by_sines(od_log_columns *c, const od_sines *sines, double *value, od_frf **out, od_error *err) {
  od_sine_fit *fit = od_sine_fit_new(sines, c->count - 1);
  if (!fit) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  bool end = false;
  od_status status = od_log_columns_next(c, value, &end, err);
  for (long k = 0; status == OD_OK && !end; k++) {
    od_sine_fit_add(fit, c->begin + (double)k * c->step, value[0], value + 1);
    status = od_log_columns_next(c, value, &end, err);
  }
  if (status == OD_OK) status = od_sine_fit_end(fit, out, err);
  od_sine_fit_free(fit);
  return status;
}

static od_status estimate_sines(od_log_columns *c, const od_response_arguments *a, double *value, od_response *r,
                                od_error *err) {
  double from, to, step, periods = 3, settle = 1, start = c->begin;
  if (!read_sines(a->sine, &from, &to, &step) || !od_option_quantity("periods", a->periods, "1", &periods))
    return OD_BAD_INPUT;
  if (a->settle &&
      (!od_number_parse(a->settle, strlen(a->settle), false, &settle) || !(settle >= 0 && settle < periods))) {
    od_cli_error("--settle: found '%s', expected a number of periods from 0 to less than %g", a->settle, periods);
    return OD_BAD_INPUT;
  }
  if (!od_option_quantity("start", a->start, "s", &start)) return OD_BAD_INPUT;
  int count = (int)floor((to - from) / step * (1 + 1e-12) + 1e-9) + 1;
  double *frequency = calloc((size_t)count, sizeof *frequency);
  if (!frequency) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < count; i++) frequency[i] = from + i * step;
  const od_sines sines = {start, frequency, count, periods, settle};
  od_status status = by_sines(c, &sines, value, &r->frf, err);
  if (status == OD_OK)
    snprintf(r->how, sizeof r->how, "stepped sine, %d of %d frequencies; the first %g of %g periods left out%s",
             r->frf->points, count, settle, periods,
             od_sines_are_white(&sines) ? "; intervals take the noise as white, which more periods would not" : "");
  free(frequency);
  return status;
}

static bool read_window(const char *text, od_window *window) {
  for (int i = 0; text && od_window_names[i]; i++)
    if (!strcmp(text, od_window_names[i])) {
      *window = (od_window)i;
      return true;
    }
  if (text) od_cli_error("--window: found '%s', expected hann, hamming, blackman or none", text);
  return !text;
}

static bool read_spectra(const od_log_columns *c, const od_response_arguments *a, od_spectra_options *o) {
  double period = 0;
  unsigned long long settle = 1;
  int length = 16;
  while (length < 65536 && 2 * length * 8L <= c->rows) length *= 2;
  *o = (od_spectra_options){.step = c->step, .overlap = 0.5};
  if (!od_option_count("length", a->length, &length) || !read_window(a->window, &o->window) ||
      !od_option_quantity("period", a->period, "s", &period) ||
      (a->settle && od_option_whole("settle", a->settle, &settle) >= 0))
    return false;
  o->length = length;
  if (!a->period) return true;
  double samples = round(period / c->step);
  if (fabs(period / c->step - samples) > 1e-3 || samples < 4 || samples > (double)c->rows) {
    od_cli_error("--period: %g s are %.6g samples of %g s, expected a whole number of them within the log", period,
                 period / c->step, c->step);
    return false;
  }
  o->length = (int)samples;
  o->periodic = true;
  o->settle = settle > 1000000 ? 1000000 : (int)settle;
  return true;
}

static od_status estimate_spectra(od_log_columns *c, const od_response_arguments *a, double *value, od_response *r,
                                  od_error *err) {
  od_spectra_options o;
  od_spectra *s = NULL;
  if (!read_spectra(c, a, &o)) return OD_BAD_INPUT;
  od_status status = od_spectra_new(&o, c->count - 1, &s, err);
  bool end = false;
  if (status == OD_OK) status = od_log_columns_next(c, value, &end, err);
  while (status == OD_OK && !end) {
    for (int i = 0; i < c->count; i++)
      if (!isfinite(value[i]))
        status = od_fail(err, OD_BAD_INPUT, "'%s' has no value in row %ld; spectra need all", c->head->name[c->at[i]],
                         c->next);
    od_spectra_add(s, value[0], value + 1);
    if (status == OD_OK) status = od_log_columns_next(c, value, &end, err);
  }
  if (status == OD_OK) status = od_spectra_end(s, &r->frf, err);
  if (status == OD_OK)
    snprintf(r->how, sizeof r->how,
             o.periodic ? "multisine, periods of %d samples" : "averaged spectra, blocks of %d samples (%s)", o.length,
             od_window_names[o.window]);
  od_spectra_free(s);
  return status;
}

static od_status keep_band(const od_response_arguments *a, od_response *r, od_error *err) {
  double low = 0, high = INFINITY;
  if (!od_option_quantity("low", a->low, "Hz", &low) || !od_option_quantity("high", a->high, "Hz", &high))
    return OD_BAD_INPUT;
  od_frf *part = od_frf_between(r->frf, low, high);
  if (!part) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_frf_free(r->frf);
  r->frf = part;
  return part->points > 0 ? OD_OK : od_fail(err, OD_BAD_INPUT, "there is no point from %g to %g Hz", low, high);
}

static od_status estimate(od_log_columns *c, const od_response_arguments *a, od_response *r, od_error *err) {
  double *value = calloc((size_t)c->count, sizeof *value);
  if (!value) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_status status = a->sine ? estimate_sines(c, a, value, r, err) : estimate_spectra(c, a, value, r, err);
  free(value);
  return status == OD_OK ? keep_band(a, r, err) : status;
}

// Hands over the names.
static bool take_labels(od_log_columns *c, od_response *r) {
  r->output = calloc((size_t)c->count, sizeof *r->output);
  if (!r->output) return false;
  r->input = c->label[0];
  r->outputs = c->count - 1;
  for (int i = 1; i < c->count; i++) r->output[i - 1] = c->label[i];
  free(c->label);
  c->label = NULL;
  return true;
}

int od_response_open_log(const char *path, const od_response_arguments *a, od_response *out) {
  od_log_columns c;
  od_error err = {0};
  if (a->load.variant || a->load.set.count > 0 || a->load.spatial || a->points) {
    od_cli_error("--variant, --set, --spatial and --points are for machine files; %s is a log", path);
    return OD_EXIT_BAD_INPUT;
  }
  int code = od_log_columns_open(path, &(od_log_wish){a->input, &a->outputs, a->interval, a->end}, &c);
  if (code < 0) {
    od_status status =
        take_labels(&c, out) ? estimate(&c, a, out, &err) : od_fail(&err, OD_NO_MEMORY, "memory ran out");
    if (!od_time_doubt_remark(&c.doubt, &out->warnings)) status = od_fail(&err, OD_NO_MEMORY, "memory ran out");
    if (status != OD_OK && err.text[0]) od_cli_error("%s: %s", path, err.text);
    if (status != OD_OK) code = od_exit_code(status);
  }
  od_log_columns_free(&c);
  return code;
}
