// Flow formula: a flow between two nodes. The user writes its law as a function of both pressures, named signals and named
// numbers.
#ifdef OD_ELEMENT_TEXT
#include "elements/formula_value_x.h"

typedef struct X(in) {
  od_x from, to, signal[1 + OD_MORE_SIGNALS];
} X(in);
typedef struct X(numbers) {
  od_x parameter[1];  // the number of entries depends on the instance
} X(numbers);
#include "elements/flow_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  out->flow = OD_FORMULA_VALUE(&s.formula, &in->from, sizeof *in / sizeof in->from, q->parameter, s.held);
}

#ifndef OD_COMPLEX
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  od_formula_slopes(&s.formula, &in->from, sizeof *in / sizeof in->from, q->parameter, 0, s.held, &by->flow.from);
}
#endif

#else
#include "base/formula.h"
#define OD_ELEMENT_FILE "elements/flow_formula.c"
#include "elements/element_template_x.h"

const od_element_class od_flow_formula_class = {
    .name = "flow formula",
    .has_formula = true,
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0},
           {OD_IN_PRESSURE, 1},
           {OD_IN_SIGNAL, 0},
           {OD_IN_SIGNAL, 1},
           {OD_IN_SIGNAL, 2},
           {OD_IN_SIGNAL, 3}},
    .out = {{OD_TO_THROUGH}},
    OD_ELEMENT_FUNCTIONS,
    .number_slopes = formula_number_slopes,
};
const od_element_description od_flow_formula_description = {
    .equations = &od_flow_formula_class,
    .section = "flow_formulas",
    .noun = "flow formula",
    .heading = "Flow formulas",
    .summary = "flow by a user-defined formula of the pressures p_a and p_b, named inputs and parameters",
    .formula_key = "flow",
    .ends = {{"between", 2}},
    .outputs = {OD_FLOW_OUTPUTS},
    .may_supply = true,
};
#endif
