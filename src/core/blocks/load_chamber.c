// Oil on both sides of a symmetric cylinder, linearized: pL' = 4 B/V (Q - A v - C pL) (Merritt, Hydraulic Control Systems,
// 1967; source 22 in docs/theory.md).
#ifdef OD_BLOCK_TEXT

typedef struct X(numbers) {
  od_x modulus, volume, area, leakage;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  od_x flow = b.u[0], velocity = b.u[1], pressure = b.x[0];
  b.y[0] = pressure;
  b.rate[0] = 4 * q->modulus / q->volume * (flow - q->area * velocity - q->leakage * pressure);
}

#else
#define OD_BLOCK_FILE "blocks/load_chamber.c"
#include "blocks/block_template_x.h"

const od_block_class od_load_chamber_block = {
    .type = "load-chamber",
    .states = 1,
    .state_scale = 1e6,
    .holds = true,
    OD_BLOCK_EVALUATES,
};
const od_block_description od_load_chamber_block_description = {
    .equations = &od_load_chamber_block,
    .summary = "p' = 4 B/V (Q - A v - C p): the oil of a symmetric cylinder, linearized",
    .unit = "Pa",
    .inputs = {{"flow", "m3/s"}, {"velocity", "m/s"}},
    .fields = {{"modulus", "Pa", OD_POSITIVE, NAN, "bulk modulus B", .limits = {1e6, 1e15, 3e8, 3e9}},
               {"volume", "m3", OD_POSITIVE, NAN, "total volume V of both chambers", .limits = {1e-13, 1e6, 1e-8, 1}},
               {"area", "m2", OD_POSITIVE, NAN, "piston area A", .limits = {1e-14, 10, 1e-9, 1}},
               {"leakage", "m3/s/Pa", OD_NOT_NEGATIVE, 0, "leakage coefficient C", .limits = {0, 1e-3, 1e-17, 1e-7}}},
    .outputs = {"pressure"},
    .states_are_outputs = true,
};
#endif
