// Map over two pressures, such as the pressures of a cylinder's chambers: bilinear between the points of a grid, constant
// outside.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES
#include "blocks/grid_x.h"

#else
#define OD_BLOCK_FILE "blocks/pressure_map.c"
#include "blocks/block_template_x.h"

const od_block_class od_pressure_map_block = {
    .type = "pressure-map",
    .is_linear = od_block_never_linear,
    .table_axes = 2,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_pressure_map_block_description = {
    .equations = &od_pressure_map_block,
    .summary = "bilinear interpolation on a grid over two pressures, constant outside the grid",
    .inputs = {{"a", "Pa"}, {"b", "Pa"}},
    .fields = {{"at_a", "Pa", OD_ANY, NAN, "pressures a of the grid, increasing", .shape = OD_ABSCISSAE},
               {"at_b", "Pa", OD_ANY, NAN, "pressures b of the grid, increasing", .shape = OD_ABSCISSAE},
               {"values", OD_UNIT_OUT, OD_ANY, NAN,
                "outputs: for each pressure a, a list of the outputs at all pressures b; or these lists as one list",
                .shape = OD_ORDINATES}},
    .choices = {{OD_CHOICE_ENTRIES, "at_a", 8}, {OD_CHOICE_ENTRIES, "at_b", 8}},
    .outputs = {""},
};
#endif
