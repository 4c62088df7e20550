// Formula: a law that the user writes, as a function of named inputs and named numbers.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES
#undef OD_FORMULA_VALUE
#ifdef OD_COMPLEX
#define OD_FORMULA_VALUE od_formula_value_complex
#else
#define OD_FORMULA_VALUE od_formula_value
#endif

typedef struct X(numbers) {
  od_x parameter[1];  // choice 0 is the number of parameters
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = OD_FORMULA_VALUE(&b.s->formula, b.u, b.s->inputs, q->parameter, b.held);
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  od_formula_slopes(&b.s->formula, b.u, b.s->inputs, q->parameter, 0, b.held, by);
}
#endif

#else
#include "base/formula.h"
#define OD_BLOCK_FILE "blocks/formula_block.c"
#include "blocks/block_template_x.h"

const od_block_class od_formula_block = {
    .type = "formula",
    .has_formula = true,
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_formula_block_description = {
    .equations = &od_formula_block,
    .summary = "a formula of named inputs and parameters",
    .inputs = {{"inputs", .list = true}},
    .formula_key = "formula",
    .formula_meaning = "formula, such as \"k * max(x - x0, 0)\"",
    .fields = {{"parameters", "of each", OD_ANY, NAN, "names and values of the parameters in the formula",
                .shape = OD_NAMED}},
    .choices = {{OD_CHOICE_NAMES, "parameters", OD_MOST_FORMULA_NUMBERS}},
    .outputs = {""},
};
#endif
