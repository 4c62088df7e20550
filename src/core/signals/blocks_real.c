// Blocks in real arithmetic. The derivatives of each block (blocks/block_slopes.c) are combined along the connections. This
// file also contains the functions that take samples and switches.
#include <stdbool.h>

#include "base/scalar_x.h"
#include "signals/blocks.h"
#define OD_EVALUATE evaluate
#include "signals/blocks_x.h"

void od_blocks_evaluate(const od_model *m, double *w) {
  blocks_evaluate_r(m, w);
}

static inline od_block_counts counts_of(const od_block *b) {
  return (od_block_counts){
      .numbers = b->numbers, .inputs = b->inputs, .states = b->states, .outputs = b->outputs, .jumps = b->jumps};
}

void od_blocks_linearize(const od_model *m, double *w) {
  const od_layout *l = &m->layout;
  double u[OD_BLOCK_LINE];
  for (int i = 0; i < od_model_blocks(m); i++) {
    const od_block *b = &m->block[i];
    gather_inputs(m, w, b, u);
    od_block_slopes(od_block_spec_in(m, b), counts_of(b), w + l->theta + b->number, w + l->c + b->state, u,
                    w + l->held + b->held, w + l->block_slope + b->slope);
  }
}

// ---- derivatives with respect to numbers

od_block_number od_block_find_number(const od_model *m, int number) {
  for (int i = 0; i < od_model_blocks(m); i++) {
    int place = number - m->block[i].number;
    if (place >= 0 && place < m->block[i].numbers) return (od_block_number){i, place};
  }
  return (od_block_number){-1, -1};
}

// Computes the derivatives of a block's outputs, then of its rates, with respect to one of its numbers.
static void number_slopes(const od_model *m, const double *w, od_block_number n, double *out) {
  const od_block *b = &m->block[n.block];
  double u[OD_BLOCK_LINE];
  gather_inputs(m, w, b, u);
  od_block_number_slopes(od_block_spec_in(m, b), counts_of(b), w + m->layout.theta + b->number,
                         w + m->layout.c + b->state, u, w + m->layout.held + b->held, n.place, out);
}

// ---- changes along the connections of blocks

// Returns the change of one row of a block (an output or a rate of a state), for changes dc of the states and `line` of
// the signals.
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
  double direct[OD_MOST_BLOCK_OUTPUTS + OD_MOST_BLOCK_STATES];
  if (n.block >= 0) number_slopes(m, w, n, direct);
  for (int i = m->inputs; i < m->signals; i++) line[i] = 0;
  for (int i = 0; i < od_model_blocks(m); i++) {
    const od_block *b = &m->block[m->block_order[i]];
    for (int k = 0; k < b->outputs; k++)
      line[b->signal + k] = row_tangent(m, w, b, k, dc, line) + (m->block_order[i] == n.block ? direct[k] : 0);
  }
  for (int i = 0; i < od_model_blocks(m); i++) {
    const od_block *b = &m->block[i];
    for (int k = 0; k < b->states; k++)
      rate[b->state + k] = row_tangent(m, w, b, b->outputs + k, dc, line) + (i == n.block ? direct[b->outputs + k] : 0);
  }
}

// ---- samples

// The memory of a delay by n samples contains the index of the oldest sample, then all n samples. Initially all samples have the
// initial value of the delay.
void od_blocks_start(const od_model *m, double *w) {
  for (int i = 0; i < od_model_blocks(m); i++) {
    const od_block *b = &m->block[i];
    double *ring = w + m->layout.ring + b->ring;
    for (int k = 0; k < b->samples; k++) ring[1 + k] = m->c0[b->state];
  }
}

static void delay_sample(const od_model *m, double *w, const od_block *b, double u, double *next) {
  double *ring = w + m->layout.ring + b->ring;
  int oldest = (int)ring[0];
  next[0] = ring[1 + oldest];
  ring[1 + oldest] = u;
  ring[0] = (oldest + 1) % b->samples;
}

void od_block_sample(const od_model *m, double *w, int block, double *next) {
  const od_block *b = &m->block[block];
  double u[OD_BLOCK_LINE];
  gather_inputs(m, w, b, u);
  if (b->samples > 0)
    delay_sample(m, w, b, u[0], next);
  else
    od_block_class_of(od_block_spec_in(m, b))
        ->step(od_block_spec_in(m, b), w + m->layout.theta + b->number, w + m->layout.c + b->state, u, next);
}

void od_block_sample_tangent(const od_model *m, const double *w, int block, const double *dx, const double *du,
                             int place, double *next) {
  const od_block *b = &m->block[block];
  double u[OD_BLOCK_LINE];
  gather_inputs(m, w, b, u);
  od_block_step_tangent(od_block_spec_in(m, b), counts_of(b), w + m->layout.theta + b->number,
                        w + m->layout.c + b->state, u, (od_block_direction){dx, du, place}, next);
}

// ---- switches

void od_block_inputs(const od_model *m, const double *w, const od_block *b, double *u) {
  gather_inputs(m, w, b, u);
}

double od_block_margin_at(const od_model *m, const double *w, int block) {
  const od_block *b = &m->block[block];
  double u[OD_BLOCK_LINE];
  gather_inputs(m, w, b, u);
  return od_block_class_of(od_block_spec_in(m, b))
      ->margin(od_block_spec_in(m, b), w + m->layout.theta + b->number, w + m->layout.c + b->state, u);
}

void od_block_switch(const od_model *m, const double *w, int block, double *next) {
  const od_block *b = &m->block[block];
  double u[OD_BLOCK_LINE];
  gather_inputs(m, w, b, u);
  od_block_class_of(od_block_spec_in(m, b))
      ->switch_states(od_block_spec_in(m, b), w + m->layout.theta + b->number, w + m->layout.c + b->state, u, next);
}
