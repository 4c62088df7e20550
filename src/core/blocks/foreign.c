// Foreign block: the law is a set of functions of the program (oleodyn/foreign.h).
//
// The law computes in real numbers. In complex numbers, where imaginary parts carry derivatives, the imaginary parts of the results
// are the change along the direction of the imaginary parts of the arguments. Laws without derivatives are differentiated by
// central differences, one argument after the other.
#include <math.h>
#include <stddef.h>

#include "base/parts.h"
#include "blocks/block_description.h"

#if OD_WITH_FOREIGN

// Step of central differences, relative to the size of an argument: about the cube root of the round-off.
static const double difference_step = 6e-6;

enum { MOST_ROWS = OD_MOST_BLOCK_OUTPUTS + OD_MOST_BLOCK_STATES };

// A function of a law with its results in one list of `rows` entries. kind: which function.
typedef enum function_kind { VALUES, SAMPLE, SWITCH } function_kind;
typedef struct function {
  const od_foreign_law *law;
  function_kind kind;
  int rows;
} function;

static function function_of(const od_foreign_law *law, function_kind kind) {
  return (function){law, kind, kind == SWITCH ? law->states : law->states + law->outputs};
}

// Computes the results of a function of a law, in this order: outputs, rates (VALUES); states, held outputs (SAMPLE); states (SWITCH).
// If the law fails, all results are NAN.
static void call(function f, const od_foreign_point *at, double *row) {
  const od_foreign_law *l = f.law;
  od_status status = OD_NOT_AVAILABLE;
  if (f.kind == VALUES && l->values) status = l->values(l->context, at, row, row + l->outputs);
  if (f.kind == SAMPLE && l->sample) status = l->sample(l->context, at, row, row + l->states);
  if (f.kind == SWITCH && l->switch_states) status = l->switch_states(l->context, at, row);
  for (int i = 0; status != OD_OK && i < f.rows; i++) row[i] = NAN;
}

// An argument of a law, which differences change.
typedef struct argument {
  double *value;
  double size;
} argument;

// Adds `by` times the derivatives of all results with respect to one argument.
static void add_difference(function f, const od_foreign_point *at, argument a, double by, double *change) {
  double high[MOST_ROWS], low[MOST_ROWS], middle = *a.value, h = difference_step * fmax(fabs(middle), a.size);
  *a.value = middle + h;
  double above = *a.value;
  call(f, at, high);
  *a.value = middle - h;
  double below = *a.value;
  call(f, at, low);
  *a.value = middle;
  for (int i = 0; i < f.rows; i++) change[i] += by * (high[i] - low[i]) / (above - below);
}

static double size_of(const double *nominal, int i) {
  return nominal && nominal[i] > 0 ? nominal[i] : 1;
}

// Computes the change of all results along a direction, by central differences.
static void difference(function f, const od_foreign_point *at, const od_foreign_point *along, double *change) {
  const od_foreign_law *l = f.law;
  double x[OD_MOST_BLOCK_STATES], u[OD_BLOCK_LINE], q[OD_MOST_BLOCK_NUMBERS];
  for (int i = 0; i < l->states; i++) x[i] = at->x[i];
  for (int i = 0; i < l->inputs; i++) u[i] = at->u[i];
  for (int i = 0; i < l->numbers; i++) q[i] = at->q[i];
  od_foreign_point moved = {at->t, x, u, q};
  for (int i = 0; i < f.rows; i++) change[i] = 0;
  for (int i = 0; i < l->states - l->tokens; i++)
    if (along->x[i] != 0) add_difference(f, &moved, (argument){&x[i], size_of(l->nominal, i)}, along->x[i], change);
  for (int i = 0; i < l->inputs; i++)
    if (along->u[i] != 0)
      add_difference(f, &moved, (argument){&u[i], size_of(l->input_nominal, i)}, along->u[i], change);
  // The step of a number is relative to its value; the step of a number that is zero is relative to 1.
  for (int i = 0; i < l->numbers; i++)
    if (along->q[i] != 0) add_difference(f, &moved, (argument){&q[i], q[i] != 0 ? 0 : 1}, along->q[i], change);
}

// Computes the change of all results along a direction. Tokens do not change.
static void tangent(function f, const od_foreign_point *at, const od_foreign_point *along, double *change) {
  const od_foreign_law *l = f.law;
  if (f.kind != VALUES || !l->tangent) {
    difference(f, at, along, change);
  } else if (l->tangent(l->context, at, along, change, change + l->outputs) != OD_OK) {
    for (int i = 0; i < f.rows; i++) change[i] = NAN;
  }
  int first = f.kind == VALUES ? l->outputs : 0;
  for (int i = l->states - l->tokens; i < l->states; i++) change[first + i] = 0;
}

static od_foreign_point point_of(const od_block_spec *s, const double *q, const double *x, const double *u) {
  return (od_foreign_point){u[s->foreign->inputs], x, u, q};
}

// ---- real numbers

static void evaluate(const od_block_spec *s, const double *q, const double *x, const double *u, const double *held,
                     double *y, double *rate) {
  const od_foreign_law *l = s->foreign;
  double row[MOST_ROWS];
  od_foreign_point at = point_of(s, q, x, u);
  (void)held;
  call(function_of(l, VALUES), &at, row);
  for (int i = 0; i < l->outputs; i++) y[i] = row[i];
  for (int i = 0; i < l->states; i++) rate[i] = i < l->states - l->tokens ? row[l->outputs + i] : 0;
}

static void step(const od_block_spec *s, const double *q, const double *x, const double *u, double *next) {
  od_foreign_point at = point_of(s, q, x, u);
  call(function_of(s->foreign, SAMPLE), &at, next);
}

static double margin(const od_block_spec *s, const double *q, const double *x, const double *u) {
  const od_foreign_law *l = s->foreign;
  od_foreign_point at = point_of(s, q, x, u);
  double margin = NAN;
  return l->margin(l->context, &at, &margin) == OD_OK ? margin : NAN;
}

static void switch_states(const od_block_spec *s, const double *q, const double *x, const double *u, double *next) {
  od_foreign_point at = point_of(s, q, x, u);
  call(function_of(s->foreign, SWITCH), &at, next);
}

static void slopes(const od_block_spec *s, const double *q, const double *x, const double *u, const double *held,
                   double *by) {
  const od_foreign_law *l = s->foreign;
  od_foreign_point at = point_of(s, q, x, u);
  int columns = l->states + l->inputs, rows = l->outputs + l->states;
  (void)held;
  if (l->slopes && l->slopes(l->context, &at, by) == OD_OK) return;
  double dx[OD_MOST_BLOCK_STATES] = {0}, du[OD_BLOCK_LINE] = {0}, dq[OD_MOST_BLOCK_NUMBERS] = {0}, change[MOST_ROWS];
  od_foreign_point along = {0, dx, du, dq};
  for (int j = 0; j < columns; j++) {
    double *moved = j < l->states ? &dx[j] : &du[j - l->states];
    bool is_token = j >= l->states - l->tokens && j < l->states;
    *moved = 1;
    if (!is_token) tangent(function_of(l, VALUES), &at, &along, change);
    *moved = 0;
    for (int i = 0; i < rows; i++) by[i * columns + j] = is_token ? 0 : change[i];
  }
}

// ---- complex numbers

#if OD_WITH_COMPLEX
// The largest magnitude of imaginary parts is 1 in the directions that a law receives.
typedef struct complex_arguments {
  double x[OD_MOST_BLOCK_STATES], u[OD_BLOCK_LINE], q[OD_MOST_BLOCK_NUMBERS];
  double dx[OD_MOST_BLOCK_STATES], du[OD_BLOCK_LINE], dq[OD_MOST_BLOCK_NUMBERS];
  double scale;
} complex_arguments;

static void split(const od_complex *from, int count, double *value, double *change, double *scale) {
  for (int i = 0; i < count; i++) {
    value[i] = od_real(from[i]), change[i] = od_imaginary(from[i]);
    *scale = fmax(*scale, fabs(change[i]));
  }
}

static void multiply(double *list, int count, double by) {
  for (int i = 0; i < count; i++) list[i] *= by;
}

// Computes a function of a law in complex numbers.
static void call_complex(const od_block_spec *s, function_kind kind, const od_complex *q, const od_complex *x,
                         const od_complex *u, od_complex *row) {
  const od_foreign_law *l = s->foreign;
  function f = function_of(l, kind);
  complex_arguments a = {.scale = 0};
  double value[MOST_ROWS], change[MOST_ROWS] = {0};
  split(x, l->states, a.x, a.dx, &a.scale);
  for (int i = l->states - l->tokens; i < l->states; i++) a.dx[i] = 0;
  split(u, l->inputs, a.u, a.du, &a.scale);
  split(q, l->numbers, a.q, a.dq, &a.scale);
  od_foreign_point at = {od_real(u[l->inputs]), a.x, a.u, a.q}, along = {0, a.dx, a.du, a.dq};
  call(f, &at, value);
  if (a.scale > 0) {
    multiply(a.dx, l->states, 1 / a.scale);
    multiply(a.du, l->inputs, 1 / a.scale);
    multiply(a.dq, l->numbers, 1 / a.scale);
    tangent(f, &at, &along, change);
  }
  for (int i = 0; i < f.rows; i++) row[i] = OD_COMPLEX_OF(value[i], a.scale * change[i]);
}

static void evaluate_complex(const od_block_spec *s, const od_complex *q, const od_complex *x, const od_complex *u,
                             const od_complex *held, od_complex *y, od_complex *rate) {
  const od_foreign_law *l = s->foreign;
  od_complex row[MOST_ROWS];
  (void)held;
  call_complex(s, VALUES, q, x, u, row);
  for (int i = 0; i < l->outputs; i++) y[i] = row[i];
  for (int i = 0; i < l->states; i++) rate[i] = row[l->outputs + i];
  for (int i = l->states - l->tokens; i < l->states; i++) rate[i] = 0;
}

static void step_complex(const od_block_spec *s, const od_complex *q, const od_complex *x, const od_complex *u,
                         od_complex *next) {
  call_complex(s, SAMPLE, q, x, u, next);
}

static void switch_states_complex(const od_block_spec *s, const od_complex *q, const od_complex *x, const od_complex *u,
                                  od_complex *next) {
  call_complex(s, SWITCH, q, x, u, next);
}
#define IN_COMPLEX(function) function
#else
#define IN_COMPLEX(function) NULL
#endif

// ---- the table

static int count_states(const od_block_spec *s) {
  return s->foreign->states;
}

static bool passes_on(const od_block_spec *s) {
  return !s->foreign->holds;
}

const od_block_class od_foreign_block = {
    .type = "foreign",
    .is_foreign = true,
    .count_states = count_states,
    .passes_on = passes_on,
    .is_linear = od_block_never_linear,
    .evaluate = evaluate,
    .evaluate_complex = IN_COMPLEX(evaluate_complex),
    .step = step,
    .step_complex = IN_COMPLEX(step_complex),
    .margin = margin,
    .switch_states = switch_states,
    .switch_states_complex = IN_COMPLEX(switch_states_complex),
    .slopes = slopes,
};
const od_block_description od_foreign_block_description = {
    .equations = &od_foreign_block,
    .summary = "a law given by functions of the program",
    .inputs = {{"inputs", .list = true}},
    .outputs = {""},
};
#endif
