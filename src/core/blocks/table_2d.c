// Table over two inputs: bilinear between the points of a grid, constant outside. Use a table for measured maps, such as the flow
// of a valve over opening and pressure drop, or the efficiency of a pump.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES
#include "blocks/grid_x.h"

#else
#define OD_BLOCK_FILE "blocks/table_2d.c"
#include "blocks/block_template_x.h"

const od_block_class od_table_2d_block = {
    .type = "table-2d",
    .is_linear = od_block_never_linear,
    .table_axes = 2,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_table_2d_block_description = {
    .equations = &od_table_2d_block,
    .summary = "bilinear interpolation on a grid over two inputs, constant outside the grid",
    .inputs = {{"row"}, {"column"}},
    .fields = {{"at_row", "row", OD_ANY, NAN, "values of the input 'row' on the grid, increasing",
                .shape = OD_ABSCISSAE},
               {"at_column", "column", OD_ANY, NAN, "values of the input 'column' on the grid, increasing",
                .shape = OD_ABSCISSAE},
               {"values", OD_UNIT_OUT, OD_ANY, NAN, "outputs: a list for each row, or one list of all outputs",
                .shape = OD_ORDINATES}},
    .choices = {{OD_CHOICE_ENTRIES, "at_row", 16}, {OD_CHOICE_ENTRIES, "at_column", 16}},
    .outputs = {""},
};
#endif
