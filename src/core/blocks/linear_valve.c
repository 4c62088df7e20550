// Servo valve, linearized: Q = Kq i - Kc pL (Merritt, Hydraulic Control Systems, 1967; source 22 in docs/theory.md).
#ifdef OD_BLOCK_TEXT

typedef struct X(numbers) {
  od_x flow_gain, pressure_coefficient;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = q->flow_gain * b.u[0] - q->pressure_coefficient * b.u[1];
}

#else
#define OD_BLOCK_FILE "blocks/linear_valve.c"
#include "blocks/block_template_x.h"

const od_block_class od_linear_valve_block = {
    .type = "linear-valve",
    OD_BLOCK_EVALUATES,
};
const od_block_description od_linear_valve_block_description = {
    .equations = &od_linear_valve_block,
    .summary = "Q = Kq i - Kc p: a servo valve, linearized",
    .unit = "m3/s",
    .inputs = {{"command"}, {"load_pressure", "Pa"}},
    .fields = {{"flow_gain", OD_UNIT_RATIO, OD_ANY, NAN, "flow gain Kq"},
               {"pressure_coefficient", "m3/s/Pa", OD_NOT_NEGATIVE, 0, "flow-pressure coefficient Kc",
                .limits = {0, 1e-3, 1e-17, 1e-7}}},
    .outputs = {"flow"},
};
#endif
