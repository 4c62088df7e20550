#include "frequency/bode_plot.h"

#include <math.h>

#include "linear/response_plot.h"

od_status od_bode_write(const od_bode *b, const char *path, od_error *err) {
  OD_SCRATCH(scratch);
  const od_frf *f = b->frf;
  const double degree = 180 / acos(-1);
  int per_output = b->model ? 2 : 1, curves = f->outputs * per_output, columns = 1 + 2 * curves;
  long all = (long)f->outputs * f->points;
  OD_OWNED(od_table_free) od_table *table = od_table_new(columns);
  double *spread = OD_TAKE(&scratch, double, all), *phases = OD_TAKE(&scratch, double, all);
  double *row = OD_TAKE(&scratch, double, columns);
  const double **spreads = OD_TAKE(&scratch, const double *, curves);
  const char **name = OD_TAKE(&scratch, const char *, curves), **note = OD_TAKE(&scratch, const char *, f->outputs);
  if (!table || od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int k = 0; k < f->outputs; k++) {
    int data = k * per_output;
    od_frf_phases(f, k, phases + k * f->points);
    name[data] = b->name[k];
    note[k] = od_arena_format(&scratch, "dB of %s", b->unit[k]);
    // Exact values are drawn as a line.
    spreads[data] = f->sigma[k * f->points] == 0 ? NULL : spread + k * f->points;
    if (b->model) name[data + 1] = od_arena_format(&scratch, "%s, fitted", b->name[k]);
  }
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < f->points; i++) {
    row[0] = f->frequency[i];
    for (int k = 0; k < f->outputs; k++) {
      int at = k * f->points + i;
      double amplitude = cabs(f->value[at]), phase = phases[at], *to = row + 1 + 2 * k * per_output;
      to[0] = 20 * log10(amplitude);
      to[1] = degree * phase;
      spread[at] = od_frf_half(f, k, i) / amplitude;
      if (!b->model) continue;
      double _Complex value = od_transfer_value(b->model, k, f->frequency[i]);
      to[2] = 20 * log10(cabs(value));
      // Shifts the model's phase by full turns to the value nearest to the phase of the data.
      to[3] = degree * (phase + carg(value * cexp(-phase * _Complex_I)));
    }
    if (od_table_append(table, row) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  const od_bode_plot plot = {table, name, spreads, f->outputs, note, b->title, b->subtitle};
  return od_bode_plot_write(&plot, path, err);
}
