#include "frequency/bode_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/atomic_file.h"
#include "io/number.h"
#include "io/svg.h"
#include "math/normal.h"

static const double width = 960, left = 96, right = 28, top = 88, panel = 200, gap = 56, bottom = 40;
static const char style[] =
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;fill:#3d4654;font-size:13px}"
    ".title{font-size:21px;font-weight:600;fill:#1c2430}.subtitle{font-size:13.5px;fill:#6b7685}"
    ".name{font-weight:600}.note{font-weight:400;fill:#6b7685}.tick{font-size:12px;fill:#8a94a3}"
    ".page{fill:#fff}.frame{fill:#fbfcfd;stroke:#c5ccd6}.grid{stroke:#e4e8ee}"
    ".bar{stroke:#8db5e8}.dot{fill:#1769d1}.curve{fill:none;stroke:#1769d1;stroke-width:1.6}"
    ".model{fill:none;stroke:#d1490c;stroke-width:1.8}";

// One panel: where values lie. Horizontal and, for amplitudes, vertical scales are logarithmic.
typedef struct frame {
  double y, low, high, from, to;  // top of the frame; values; frequencies
  bool is_logarithmic;
} frame;

static double place_x(const frame *f, double frequency) {
  return left + (width - left - right) * log(frequency / f->from) / log(f->to / f->from);
}

static double place_y(const frame *f, double value) {
  double part = f->is_logarithmic ? log(fmax(value, f->low) / f->low) / log(f->high / f->low)
                                  : (value - f->low) / (f->high - f->low);
  return f->y + panel * (1 - fmin(fmax(part, 0), 1));
}

// 1, 2 and 5 times powers of ten where there are few decades, else the powers alone.
static double next_tick(double value, bool few) {
  double lead = value / pow(10, floor(log10(value) + 1e-9));
  return !few ? value * 10 : lead < 1.5 ? value * 2 : lead < 3 ? value * 2.5 : value * 2;
}

static void draw_frequencies(FILE *to, const frame *f) {
  bool few = f->to / f->from < 1e4;
  for (double tick = pow(10, floor(log10(f->from))); tick <= f->to * 1.001; tick = next_tick(tick, few)) {
    char text[OD_NUMBER_SIZE];
    if (tick < f->from * 0.999) continue;
    od_number_round(text, tick, 3);
    od_svg_line(to, "grid", place_x(f, tick), f->y, place_x(f, tick), f->y + panel);
    od_svg_text(to, "tick", place_x(f, tick), f->y + panel + 16, "middle", text);
  }
}

static void draw_level(FILE *to, const frame *f, double value) {
  char text[OD_NUMBER_SIZE];
  od_number_round(text, value, 3);
  od_svg_line(to, "grid", left, place_y(f, value), width - right, place_y(f, value));
  od_svg_text(to, "tick", left - 8, place_y(f, value) + 4, "end", text);
}

static void draw_levels(FILE *to, const frame *f) {
  if (f->is_logarithmic) {
    bool few = f->high / f->low < 1e3;
    for (double tick = pow(10, floor(log10(f->low))); tick <= f->high; tick = next_tick(tick, few))
      if (tick >= f->low) draw_level(to, f, tick);
    return;
  }
  double range = f->high - f->low, step = range > 720   ? 180
                                          : range > 270 ? 90
                                          : range > 120 ? 45
                                                        : od_number_125(range / 3);
  for (double tick = ceil(f->low / step) * step; tick <= f->high; tick += step) draw_level(to, f, tick == 0 ? 0 : tick);
}

static void draw_path(FILE *to, const frame *f, const od_frf *frf, const double *value, const char *class_name) {
  od_svg_path_begin(to, class_name, NULL);
  for (int i = 0; i < frf->points; i++)
    od_svg_path_point(to, i ? 'L' : 'M', place_x(f, frf->frequency[i]), place_y(f, value[i]));
  od_svg_path_end(to);
}

// Values with intervals, or a line where there are none; then the model's.
static void draw_values(FILE *to, const frame *f, const od_frf *frf, const double *value, const double *half,
                        const double *model) {
  od_svg_rectangle(to, "frame", left, f->y, width - left - right, panel);
  draw_frequencies(to, f);
  draw_levels(to, f);
  bool exact = !(half[0] > 0);
  if (exact) draw_path(to, f, frf, value, "curve");
  for (int i = 0; i < frf->points && !exact; i++) {
    double x = place_x(f, frf->frequency[i]);
    if (isfinite(half[i])) od_svg_line(to, "bar", x, place_y(f, value[i] - half[i]), x, place_y(f, value[i] + half[i]));
    od_svg_circle(to, "dot", x, place_y(f, value[i]), frf->points > 300 ? 1.2 : 2);
  }
  if (model) draw_path(to, f, frf, model, "model");
}

static frame frame_of(const od_frf *f, const double *value, double y, bool is_logarithmic) {
  frame r = {y, INFINITY, -INFINITY, f->frequency[0], f->frequency[f->points - 1], is_logarithmic};
  for (int i = 0; i < f->points; i++) {
    if (!isfinite(value[i]) || (is_logarithmic && !(value[i] > 0))) continue;
    r.low = fmin(r.low, value[i]);
    r.high = fmax(r.high, value[i]);
  }
  if (!(r.low <= r.high)) r.low = r.high = 1;
  r.low = is_logarithmic ? r.low / 1.3 : r.low - 10;
  r.high = is_logarithmic ? r.high * 1.3 : r.high + 10;
  if (!(r.to > r.from)) r.from /= 1.1, r.to *= 1.1;
  return r;
}

static void draw_output(FILE *to, const od_bode *b, int output, double y, double *memory) {
  const od_frf *f = b->frf;
  const double degree = 180 / acos(-1);
  double *amplitude = memory, *phase = memory + f->points, *half = memory + 2 * f->points,
         *model = b->model ? memory + 3 * f->points : NULL, *turned = memory + 4 * f->points;
  od_frf_phases(f, output, phase);
  for (int i = 0; i < f->points; i++) {
    amplitude[i] = cabs(f->value[output * f->points + i]);
    half[i] = od_frf_half(f, output, i);
    if (!b->model) continue;
    double _Complex value = od_transfer_value(b->model, output, f->frequency[i]);
    model[i] = cabs(value);
    // The turn of the model's phase that is nearest to that of the data.
    turned[i] = degree * (phase[i] + carg(value * cexp(-phase[i] * _Complex_I)));
  }
  frame first = frame_of(f, amplitude, y, true);
  od_svg_label(to, left, y - 10, b->name[output], b->unit[output]);
  draw_values(to, &first, f, amplitude, half, model);
  for (int i = 0; i < f->points; i++) {
    phase[i] *= degree;
    half[i] = fmin(half[i] / amplitude[i], 3) * degree;
  }
  frame second = frame_of(f, phase, y + panel + gap, false);
  od_svg_label(to, left, second.y - 10, "phase", "deg, over Hz");
  draw_values(to, &second, f, phase, half, b->model ? turned : NULL);
}

od_status od_bode_write(const od_bode *b, const char *path, od_error *err) {
  double *memory = calloc(5 * (size_t)b->frf->points + 1, sizeof *memory);
  if (!memory) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_atomic_file file;
  od_status status = od_atomic_open(&file, path, err);
  if (status == OD_OK) {
    double height = 2 * (panel + gap), y = top + 24;
    od_svg_begin(file.file, width, top + b->frf->outputs * height + bottom, b->title, style);
    od_svg_text(file.file, "title", 24, 38, "start", b->title);
    od_svg_text(file.file, "subtitle", 24, 62, "start", b->subtitle);
    for (int k = 0; k < b->frf->outputs; k++, y += height) draw_output(file.file, b, k, y, memory);
    od_svg_end(file.file);
    status = od_atomic_commit(&file, err);
  }
  free(memory);
  return status;
}
