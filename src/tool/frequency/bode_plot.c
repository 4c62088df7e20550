#include "frequency/bode_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "linear/response_plot.h"

enum { TEXT = 300 };

// The drawn data: for each output the data and optionally the model, with names.
typedef struct drawing {
  od_table *table;
  double *spread, *phase;     // outputs x points
  const double **spreads;     // per curve
  const char **name, **note;  // per curve, per output
  char (*text)[TEXT];         // memory of the names and notes
  int curves;                 // per output
} drawing;

static bool allocate(drawing *d, const od_bode *b) {
  size_t outputs = (size_t)b->frf->outputs, points = (size_t)b->frf->points, all = outputs * (size_t)d->curves;
  d->table = od_table_new((int)(1 + 2 * all));
  d->spread = calloc(outputs * points + 1, sizeof *d->spread);
  d->phase = calloc(outputs * points + 1, sizeof *d->phase);
  d->spreads = calloc(all + 1, sizeof *d->spreads);
  d->name = calloc(all + 1, sizeof *d->name);
  d->note = calloc(outputs + 1, sizeof *d->note);
  d->text = calloc(all + outputs + 1, sizeof *d->text);
  return d->table && d->spread && d->phase && d->spreads && d->name && d->note && d->text;
}

static void release(drawing *d) {
  od_table_free(d->table);
  free(d->spread), free(d->phase), free(d->spreads), free(d->name), free(d->note), free(d->text);
}

static void name_curves(drawing *d, const od_bode *b) {
  const od_frf *f = b->frf;
  for (int k = 0; k < f->outputs; k++) {
    int data = k * d->curves, note = f->outputs * d->curves + k;
    snprintf(d->text[data], TEXT, "%.250s", b->name[k]);
    snprintf(d->text[note], TEXT, "dB of %.250s", b->unit[k]);
    d->name[data] = d->text[data];
    d->note[k] = d->text[note];
    // Exact values are drawn as a line.
    d->spreads[data] = f->sigma[k * f->points] == 0 ? NULL : d->spread + k * f->points;
    if (!b->model) continue;
    snprintf(d->text[data + 1], TEXT, "%.250s, fitted", b->name[k]);
    d->name[data + 1] = d->text[data + 1];
  }
}

static bool fill(drawing *d, const od_bode *b) {
  const od_frf *f = b->frf;
  const double degree = 180 / acos(-1);
  double *row = calloc((size_t)d->table->columns, sizeof *row);
  bool ok = row != NULL;
  for (int k = 0; k < f->outputs; k++) od_frf_phases(f, k, d->phase + k * f->points);
  for (int i = 0; ok && i < f->points; i++) {
    row[0] = f->frequency[i];
    for (int k = 0; k < f->outputs; k++) {
      int at = k * f->points + i;
      double amplitude = cabs(f->value[at]), phase = d->phase[at], *to = row + 1 + 2 * k * d->curves;
      to[0] = 20 * log10(amplitude);
      to[1] = degree * phase;
      d->spread[at] = od_frf_half(f, k, i) / amplitude;
      if (!b->model) continue;
      double _Complex value = od_transfer_value(b->model, k, f->frequency[i]);
      to[2] = 20 * log10(cabs(value));
      // The model's phase plus the multiple of a full turn that is nearest to the phase of the data.
      to[3] = degree * (phase + carg(value * cexp(-phase * _Complex_I)));
    }
    ok = od_table_append(d->table, row) == OD_OK;
  }
  free(row);
  return ok;
}

od_status od_bode_write(const od_bode *b, const char *path, od_error *err) {
  drawing d = {.curves = b->model ? 2 : 1};
  od_status status = OD_NO_MEMORY;
  if (allocate(&d, b) && fill(&d, b)) {
    name_curves(&d, b);
    const od_bode_plot plot = {d.table, d.name, d.spreads, b->frf->outputs, d.note, b->title, b->subtitle};
    status = od_bode_plot_write(&plot, path, err);
  } else {
    od_fail(err, status, "memory ran out");
  }
  release(&d);
  return status;
}
