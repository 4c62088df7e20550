// The derivatives of one block with respect to states and inputs: from its class if the class defines them, otherwise the block is
// linear, and unit steps give the derivatives. Complex steps give the derivatives with respect to numbers, and the derivatives of
// samples.
#include <math.h>
#include <string.h>

#include "blocks/block_classes.h"

// Computes the derivatives `by` of a linear block without an offset: the response of the block to a unit value of each
// state or input.
static void unit_slopes(const od_block_spec *s, od_block_counts n, const double *q, double *by) {
  double x[OD_MOST_BLOCK_STATES], u[OD_BLOCK_LINE] = {0}, y[OD_MOST_BLOCK_OUTPUTS], rate[OD_MOST_BLOCK_STATES];
  int columns = n.states + n.inputs;
  for (int i = 0; i < n.states; i++) x[i] = 0;
  for (int i = 0; i < n.inputs; i++) u[i] = 0;
  for (int j = 0; j < columns; j++) {
    double *moved = j < n.states ? &x[j] : &u[j - n.states];
    *moved = 1;
    od_block_class_of(s)->evaluate(s, q, x, u, NULL, y, rate);
    *moved = 0;
    for (int i = 0; i < n.outputs; i++) by[i * columns + j] = y[i];
    for (int i = 0; i < n.states; i++) by[(n.outputs + i) * columns + j] = rate[i];
  }
}

#if OD_WITH_COMPLEX
static const double tiny = 1e-30;

// The data of a block in complex numbers, for the stack.
typedef struct complex_block {
  od_complex q[OD_MOST_BLOCK_NUMBERS], x[OD_MOST_BLOCK_STATES], u[OD_BLOCK_LINE];
  od_complex held[OD_MOST_OPERATIONS];
  od_complex y[OD_MOST_BLOCK_OUTPUTS], rate[OD_MOST_BLOCK_STATES];
} complex_block;

static void fill(od_block_counts n, const double *q, const double *x, const double *u, const double *held,
                 complex_block *b) {
  for (int i = 0; i < n.numbers; i++) b->q[i] = q[i];
  for (int i = 0; i < n.states; i++) b->x[i] = x[i];
  for (int i = 0; i <= n.inputs; i++) b->u[i] = u[i];
  for (int i = 0; i < n.jumps; i++) b->held[i] = held ? held[i] : 0;
}

void od_block_number_slopes(const od_block_spec *s, od_block_counts n, const double *q, const double *x,
                            const double *u, const double *held, int number, double *by) {
  complex_block b;
  for (int i = 0; i < n.outputs + n.states; i++) by[i] = 0;
  if (s->sample > 0) return;  // the output of a sampled block is held: all derivatives are zero
  fill(n, q, x, u, held, &b);
  b.q[number] += OD_COMPLEX_OF(0.0, tiny);
  od_block_class_of(s)->evaluate_complex(s, b.q, b.x, b.u, b.held, b.y, b.rate);
  for (int i = 0; i < n.outputs; i++) by[i] = od_imaginary(b.y[i]) / tiny;
  for (int i = 0; i < n.states; i++) by[n.outputs + i] = od_imaginary(b.rate[i]) / tiny;
}

void od_block_step_tangent(const od_block_spec *s, od_block_counts n, const double *q, const double *x, const double *u,
                           od_block_direction along, double *next) {
  const od_block_class *c = od_block_class_of(s);
  complex_block b;
  for (int i = 0; i < n.states; i++) next[i] = 0;
  if (c->remembers) return;  // the next output of a sampled delay is an earlier input: all changes are zero
  fill(n, q, x, u, NULL, &b);
  for (int i = 0; along.dx && i < n.states; i++) b.x[i] += OD_COMPLEX_OF(0.0, tiny * along.dx[i]);
  for (int i = 0; i < n.inputs; i++) b.u[i] += OD_COMPLEX_OF(0.0, tiny * along.du[i]);
  if (along.number >= 0) b.q[along.number] += OD_COMPLEX_OF(0.0, tiny);
  c->step_complex(s, b.q, b.x, b.u, b.rate);
  for (int i = 0; i < n.states; i++) next[i] = od_imaginary(b.rate[i]) / tiny;
}
#else
// In a build without complex numbers, od_model_plant() rejects plants that need these derivatives (plant/real_derivatives.c).
void od_block_number_slopes(const od_block_spec *s, od_block_counts n, const double *q, const double *x,
                            const double *u, const double *held, int number, double *by) {
  (void)s, (void)q, (void)x, (void)u, (void)held, (void)number;
  for (int i = 0; i < n.outputs + n.states; i++) by[i] = NAN;
}
void od_block_step_tangent(const od_block_spec *s, od_block_counts n, const double *q, const double *x, const double *u,
                           od_block_direction along, double *next) {
  (void)s, (void)q, (void)x, (void)u, (void)along;
  for (int i = 0; i < n.states; i++) next[i] = NAN;
}
#endif

void od_block_slopes(const od_block_spec *s, od_block_counts n, const double *q, const double *x, const double *u,
                     const double *held, double *by) {
  const od_block_class *c = od_block_class_of(s);
  bool sampled = s->sample > 0;
  if (sampled || c->slopes) memset(by, 0, (size_t)((n.outputs + n.states) * (n.states + n.inputs)) * sizeof *by);
  if (sampled)  // the outputs are the last states, the held values
    for (int k = 0; k < n.outputs; k++) by[k * (n.states + n.inputs) + n.states - n.outputs + k] = 1;
  else if (c->slopes)
    c->slopes(s, q, x, u, held, by);
  else
    unit_slopes(s, n, q, by);
}
