// The inverse of a servo valve (elements/servo_valve.c), for feedforward: the fraction of the stroke at which the flow of a port
// has the desired value. A positive flow passes the edge to the first line, and a negative flow passes the edge to the second line.
//   y = Q / (nominal_flow sqrt(d/nominal_drop)),   d = |p_line - p_port|, at least `least`
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES

typedef struct X(numbers) {
  od_x nominal_flow, nominal_drop, least;
} X(numbers);

typedef struct X(edge) {
  int line;  // index of the input: the pressure of the line that this edge connects
  int sign;  // sign of the derivative of `drop` with respect to this pressure; 0 at the least drop
  od_x drop;
} X(edge);

static inline X(edge) X(edge_of)(const X(numbers) * q, X(block) b) {
  int line = RE(b.u[0]) >= 0 ? 1 : 2;
  od_x across = b.u[line] - b.u[3];
  int sign = RE(across) > RE(q->least) ? 1 : -RE(across) > RE(q->least) ? -1 : 0;
  return (X(edge)){line, sign, sign ? sign * across : q->least};
}

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  X(edge) e = X(edge_of)(q, b);
  b.y[0] = b.u[0] / (q->nominal_flow * od_x_sqrt(e.drop / q->nominal_drop));
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  edge_r e = edge_of_r(q, b);
  by[0] = 1 / (q->nominal_flow * sqrt(e.drop / q->nominal_drop));
  by[e.line] = -e.sign * by[0] * b.u[0] / (2 * e.drop);
  by[3] = -by[e.line];
}
#endif

#else
#define OD_BLOCK_FILE "blocks/valve_inverse.c"
#include "blocks/block_template_x.h"

const od_block_class od_valve_inverse_block = {
    .type = "valve-inverse",
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_valve_inverse_block_description = {
    .equations = &od_valve_inverse_block,
    .summary = "the fraction of a servo valve's stroke at which its flow has the desired value",
    .unit = "1",
    .inputs = {{"flow", "m3/s"}, {"first", "Pa"}, {"second", "Pa"}, {"port", "Pa"}},
    .fields = {{"nominal_flow", "m3/s", OD_POSITIVE, NAN,
                "flow across one fully open edge of the valve at the nominal drop", .limits = {1e-12, 10, 1e-7, 0.1}},
               {"nominal_drop", "Pa", OD_POSITIVE, 3.5e6,
                "pressure drop across one edge of the valve at the nominal flow", .limits = {1, 1e9, 1e4, 1e8}},
               {"least", "Pa", OD_POSITIVE, 1e5, "least pressure drop; smaller drops are replaced by this value",
                .limits = {1e-3, 1e9, 1e2, 1e7}}},
    .outputs = {""},
};
#endif
