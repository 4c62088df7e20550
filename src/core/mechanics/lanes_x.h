// Tangents in lanes: the templates of tangents, with several directions in each entry. The functions are also compiled
// for processors with wider vectors (base/wide.h); all versions give bit-identical results.

OD_LANES_BY_VALUE

#undef od_t
#undef T
#undef PT
#undef TP
#undef D
#undef OD_STAGE
#undef OD_PART
#undef N
#undef OD_A
#undef OD_B
#undef OD_C
#undef OD_C_IS_B
#define od_t     od_lanes
#define T(name)  name##_lanes
#define PT(name) name##_pt
#define TP(name) name##_tp
#define D(name)  ((od_lanes *)(void *)(w + l->lanes.name))
#define OD_STAGE static OD_WIDE_QUAD
#define OD_PART  OD_INTO_WIDE

#define N(name) name##_pt
#define OD_A    double
#define OD_B    od_lanes
#define OD_C    od_lanes
#define OD_C_IS_B
#include "mechanics/space_x.h"
#undef OD_C_IS_B
#undef OD_A
#undef OD_B
#undef N
#define N(name) name##_tp
#define OD_A    od_lanes
#define OD_B    double
#include "mechanics/space_x.h"
#include "mechanics/linear_x.h"
#include "mechanics/tangent_numbers_x.h"
#include "mechanics/tangent_motion_x.h"
#include "mechanics/tangent_forces_x.h"

// This function is not marked OD_STAGE, so that tables can contain its address.
static void X(tangent_lanes)(const od_model *m, const int *in, double *w, const od_lanes *dz, const od_lanes *dzd,
                             const od_lanes *dzdd, const od_number_change *change, int level, od_lanes *dg) {
  tangent_lanes(m, in, w, dz, dzd, dzdd, NULL, change, level, dg);
}
