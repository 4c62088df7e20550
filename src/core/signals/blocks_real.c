// Blocks in real numbers, with their derivatives: by states and inputs by hand, by numbers a complex step of the one
// block that has them; then along the connections.
#include <stdbool.h>

#include "base/scalar_x.h"
#include "signals/blocks.h"
#include "signals/blocks_x.h"

void od_blocks_evaluate(const od_model *m, double *w) {
  blocks_evaluate_r(m, w);
}

// ---- one block

// Rows of derivatives, first those of the outputs, then those of the rates; in each row the states, then the inputs.
typedef struct slopes {
  double *row;
  int columns, states;
} slopes;

static inline slopes slopes_of(const od_model *m, double *w, const od_block *b) {
  return (slopes){w + m->layout.block_slope + b->slope, b->states + b->inputs, b->states};
}
static inline double *by_state(slopes s, int row, int state) {
  return s.row + row * s.columns + state;
}
static inline double *by_input(slopes s, int row, int input) {
  return s.row + row * s.columns + s.states + input;
}

static void rational_slopes(const od_block *b, const double *q, slopes s) {
  rational_r r;
  block_coefficients(b, q, &r);
  int n = r.n, top = b->outputs + n - 1;  // the row of the highest derivative's rate
  for (int i = 0; i < n; i++) {
    *by_state(s, 0, i) = r.b[i] - r.b[n] * r.a[i] / r.a[n];
    *by_state(s, top, i) = -r.a[i] / r.a[n];
    if (i + 1 < n) *by_state(s, b->outputs + i, i + 1) = 1;
  }
  *by_input(s, 0, 0) = r.b[n] / r.a[n];
  if (n > 0) *by_input(s, top, 0) = 1 / r.a[n];
  if (b->outputs > 1) *by_state(s, 1, 1) = r.b[0];
}

static inline bool within(double v, const double *limits) {
  return v >= limits[0] && v <= limits[1];
}

static void pid_slopes(const od_block *b, const double *q, const double *x, double e, slopes s) {
  bool derivative = b->spec.derivative;
  double rate = derivative ? 1 / q[3] : 0, by_e = q[0] + q[2] * rate;
  double v = q[0] * e + x[0] + (derivative ? q[2] * (e - x[1]) * rate : 0);
  bool unlimited = !b->spec.limited || within(v, q + 4);
  double back = unlimited ? 0 : -pid_tracking(b, q);
  if (unlimited) {
    *by_state(s, 0, 0) = 1;
    *by_input(s, 0, 0) = by_e;
  }
  *by_state(s, 1, 0) = back;
  *by_input(s, 1, 0) = q[1] + back * by_e;
  if (!derivative) return;
  if (unlimited) *by_state(s, 0, 1) = -q[2] * rate;
  *by_state(s, 1, 1) = -back * q[2] * rate;
  *by_state(s, 2, 1) = -rate;
  *by_input(s, 2, 0) = rate;
}

static void product_slopes(const od_block *b, const double *q, const double *u, slopes s) {
  for (int i = 0; i < b->inputs; i++) {
    double rest = q[0];
    for (int k = 0; k < b->inputs; k++) rest *= k == i ? 1 : u[k];
    *by_input(s, 0, i) = rest;
  }
}

static void block_slopes(const od_block *b, const double *q, const double *x, const double *u, slopes s) {
  for (int i = 0; i < (b->outputs + b->states) * s.columns; i++) s.row[i] = 0;
  if (b->spec.sample > 0) {
    *by_state(s, 0, b->states - 1) = 1;
    return;
  }
  switch (b->spec.kind) {
    case OD_BLOCK_SUM:
      for (int i = 0; i < b->inputs; i++) *by_input(s, 0, i) = q[i];
      return;
    case OD_BLOCK_PRODUCT: product_slopes(b, q, u, s); return;
    case OD_BLOCK_INTEGRATOR: {
      bool unlimited = !b->spec.limited || within(x[0], q + 1);
      *by_state(s, 0, 0) = unlimited ? 1 : 0;
      *by_state(s, 1, 0) = unlimited ? 0 : -1 / q[3];
      *by_input(s, 1, 0) = q[0];
      return;
    }
    case OD_BLOCK_SATURATION: *by_input(s, 0, 0) = within(u[0], q) ? 1 : 0; return;
    case OD_BLOCK_DEAD_ZONE: *by_input(s, 0, 0) = within(u[0], q) ? 0 : 1; return;
    case OD_BLOCK_PID: pid_slopes(b, q, x, u[0], s); return;
    case OD_BLOCK_LINEAR_VALVE:
      *by_input(s, 0, 0) = q[0];
      *by_input(s, 0, 1) = -q[1];
      return;
    case OD_BLOCK_LOAD_CHAMBER: {
      double stiffness = 4 * q[0] / q[1];
      *by_state(s, 0, 0) = 1;
      *by_state(s, 1, 0) = -stiffness * q[3];
      *by_input(s, 1, 0) = stiffness;
      *by_input(s, 1, 1) = -stiffness * q[2];
      return;
    }
    case OD_BLOCK_MASS:
      *by_state(s, 0, 0) = *by_state(s, 1, 1) = *by_state(s, 2, 1) = 1;
      *by_state(s, 3, 0) = -q[3] / q[0];
      *by_state(s, 3, 1) = -q[2] / q[0];
      *by_input(s, 3, 0) = q[1] / q[0];
      *by_input(s, 3, 1) = -1 / q[0];
      return;
    default: rational_slopes(b, q, s);
  }
}

void od_blocks_linearise(const od_model *m, double *w) {
  const od_layout *l = &m->layout;
  double u[OD_MOST_BLOCK_INPUTS];
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    gather_inputs(m, w, b, u);
    block_slopes(b, w + l->theta + b->number, w + l->c + b->state, u, slopes_of(m, w, b));
  }
}

// ---- by numbers

od_block_number od_block_find_number(const od_model *m, int number) {
  for (int i = 0; i < m->blocks; i++) {
    int place = number - m->block[i].number;
    if (place >= 0 && place < m->block[i].numbers) return (od_block_number){i, place};
  }
  return (od_block_number){-1, -1};
}

enum { MOST_NUMBERS = 2 * OD_MOST_BLOCK_ORDER + 2 };
_Static_assert((int)MOST_NUMBERS >= (int)OD_MOST_BLOCK_INPUTS, "weights of a sum are numbers");

// What one number changes of its own block: outputs, then rates.
static void number_slopes(const od_model *m, const double *w, od_block_number n, double *out) {
  const od_layout *l = &m->layout;
  const od_block *b = &m->block[n.block];
  const double step = 1e-30;
  double u[OD_MOST_BLOCK_INPUTS];
  double _Complex uc[OD_MOST_BLOCK_INPUTS], q[MOST_NUMBERS], x[OD_MOST_BLOCK_ORDER + 1];
  double _Complex y[OD_MOST_BLOCK_OUTPUTS] = {0}, rate[OD_MOST_BLOCK_ORDER + 1] = {0};
  gather_inputs(m, w, b, u);
  for (int i = 0; i < b->inputs; i++) uc[i] = u[i];
  for (int i = 0; i < b->numbers; i++) q[i] = w[l->theta + b->number + i];
  for (int i = 0; i < b->states; i++) x[i] = w[l->c + b->state + i];
  q[n.place] += __builtin_complex(0.0, step);
  od_block_complex(b, q, x, uc, y, rate);
  for (int i = 0; i < b->outputs; i++) out[i] = cimag(y[i]) / step;
  for (int i = 0; i < b->states; i++) out[b->outputs + i] = cimag(rate[i]) / step;
}

// ---- along the connections

// The change of one row of a block: an output or a rate.
static inline double row_tangent(const od_model *m, const double *w, const od_block *b, int row, const double *dc,
                                 const double *line) {
  const double *slope = w + m->layout.block_slope + b->slope + row * (b->states + b->inputs);
  double sum = 0;
  for (int i = 0; dc && i < b->states; i++) sum += slope[i] * dc[b->state + i];
  for (int i = 0; i < b->inputs; i++) {
    int source = m->block_line[b->line + i].source;
    if (source >= 0) sum += slope[b->states + i] * line[source];
  }
  return sum;
}

void od_blocks_tangent(const od_model *m, const double *w, const double *dc, od_block_number n, double *line,
                       double *rate) {
  double direct[OD_MOST_BLOCK_OUTPUTS + OD_MOST_BLOCK_ORDER + 1];
  if (n.block >= 0) number_slopes(m, w, n, direct);
  for (int i = m->inputs; i < m->signals; i++) line[i] = 0;
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[m->block_order[i]];
    for (int k = 0; k < b->outputs; k++)
      line[b->signal + k] = row_tangent(m, w, b, k, dc, line) + (m->block_order[i] == n.block ? direct[k] : 0);
  }
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    for (int k = 0; k < b->states; k++)
      rate[b->state + k] = row_tangent(m, w, b, b->outputs + k, dc, line) + (i == n.block ? direct[b->outputs + k] : 0);
  }
}

// ---- samples

// The memory of a delay by n samples: where the oldest one is, then all n. Before the first n samples that is what the
// delay holds at the start.
void od_blocks_start(const od_model *m, double *w) {
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    double *ring = w + m->layout.ring + b->ring;
    for (int k = 0; b->spec.sample > 0 && k < b->spec.samples; k++) ring[1 + k] = m->c0[b->state];
  }
}

static void delay_sample(const od_model *m, double *w, const od_block *b, double u, double *next) {
  double *ring = w + m->layout.ring + b->ring;
  int oldest = (int)ring[0];
  next[0] = ring[1 + oldest];
  ring[1 + oldest] = u;
  ring[0] = (oldest + 1) % b->spec.samples;
}

void od_block_sample(const od_model *m, double *w, int block, double *next) {
  const od_block *b = &m->block[block];
  double u[OD_MOST_BLOCK_INPUTS];
  gather_inputs(m, w, b, u);
  if (b->spec.kind == OD_BLOCK_DELAY)
    delay_sample(m, w, b, u[0], next);
  else
    block_sample_r(b, w + m->layout.theta + b->number, w + m->layout.c + b->state, u[0], next);
}

void od_block_sample_tangent(const od_model *m, const double *w, int block, const double *dx, double du, int place,
                             double *next) {
  const od_layout *l = &m->layout;
  const od_block *b = &m->block[block];
  const double step = 1e-30;
  double u[OD_MOST_BLOCK_INPUTS];
  double _Complex q[MOST_NUMBERS], x[OD_MOST_BLOCK_ORDER + 1], out[OD_MOST_BLOCK_ORDER + 1] = {0};
  for (int i = 0; i < b->states; i++) next[i] = 0;
  if (b->spec.kind == OD_BLOCK_DELAY) return;  // what comes out went in long ago
  gather_inputs(m, w, b, u);
  for (int i = 0; i < b->numbers; i++) q[i] = w[l->theta + b->number + i];
  for (int i = 0; i < b->states; i++) x[i] = w[l->c + b->state + i] + __builtin_complex(0.0, dx ? step * dx[i] : 0.0);
  if (place >= 0) q[place] += __builtin_complex(0.0, step);
  od_block_sample_complex(b, q, x, u[0] + __builtin_complex(0.0, step * du), out);
  for (int i = 0; i < b->states; i++) next[i] = cimag(out[i]) / step;
}
