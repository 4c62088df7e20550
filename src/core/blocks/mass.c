// Mass driven by a piston: m v' = A pL - d v - k x - F (Merritt, Hydraulic Control Systems, 1967; source 22 in docs/theory.md).
#ifdef OD_BLOCK_TEXT

typedef struct X(numbers) {
  od_x mass, area, damping, stiffness;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  od_x pressure = b.u[0], force = b.u[1], position = b.x[0], velocity = b.x[1];
  b.y[0] = position;
  b.y[1] = velocity;
  b.rate[0] = velocity;
  b.rate[1] = (q->area * pressure - q->damping * velocity - q->stiffness * position - force) / q->mass;
}

#else
#define OD_BLOCK_FILE "blocks/mass.c"
#include "blocks/block_template_x.h"

const od_block_class od_mass_block = {
    .type = "mass",
    .states = 2,
    .holds = true,
    OD_BLOCK_EVALUATES,
};
const od_block_description od_mass_block_description = {
    .equations = &od_mass_block,
    .summary = "m v' = A p - d v - k x - F: position and velocity of a mass driven by a piston",
    .unit = "m",
    .inputs = {{"pressure", "Pa"}, {"force", "N", .optional = true}},
    .fields = {{"mass", "kg", OD_POSITIVE, NAN, "mass m", .limits = {1e-12, 1e9, 1e-4, 1e6}},
               {"area", "m2", OD_POSITIVE, NAN, "piston area A", .limits = {1e-14, 10, 1e-9, 1}},
               {"damping", "N s/m", OD_NOT_NEGATIVE, 0, "viscous damping d", .limits = {0, 1e13, 0, 1e8}},
               {"stiffness", "N/m", OD_NOT_NEGATIVE, 0, "stiffness k of the load", .limits = {0, 1e15, 0, 1e11}}},
    .outputs = {"position", "velocity"},
    .states_are_outputs = true,
};
#endif
