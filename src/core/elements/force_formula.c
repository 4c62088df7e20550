// Force formula: a force that pushes two points apart, or acts in a joint. The user writes its law as a function of the length or
// coordinate x, its rate v, named signals and named numbers. All power of this force is a loss.
#ifdef OD_ELEMENT_TEXT
#include "elements/formula_value_x.h"

typedef struct X(in) {
  od_x x, rate, signal[1 + OD_MORE_SIGNALS];
} X(in);
typedef struct X(numbers) {
  od_x parameter[1];  // the number of entries depends on the instance
} X(numbers);
typedef struct X(out) {
  od_x force;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  out->force = OD_FORMULA_VALUE(&s.formula, &in->x, sizeof *in / sizeof in->x, q->parameter, s.held);
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = -out->force * in->rate;
  r->stored = 0;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r force;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  od_formula_slopes(&s.formula, &in->x, sizeof *in / sizeof in->x, q->parameter, 0, s.held, &by->force.x);
}
#endif

#else
#include "base/formula.h"
#define OD_ELEMENT_FILE "elements/force_formula.c"
#include "elements/element_template_x.h"

const od_element_class od_force_formula_class = {
    .name = "force formula",
    .has_formula = true,
    .acts = OD_ACTS_SOMEWHERE,
    .in = {{OD_IN_LENGTH}, {OD_IN_SPEED}, {OD_IN_SIGNAL, 0}, {OD_IN_SIGNAL, 1}, {OD_IN_SIGNAL, 2}, {OD_IN_SIGNAL, 3}},
    .out = {{OD_TO_FORCE}},
    OD_ELEMENT_FUNCTIONS,
    .number_slopes = formula_number_slopes,
};
const od_element_description od_force_formula_description = {
    .equations = &od_force_formula_class,
    .section = "force_formulas",
    .noun = "force formula",
    .heading = "Force formulas",
    .summary =
        "force between two points, or force or torque in a joint, by a user-defined formula of the position x, its "
        "rate v, named inputs and parameters",
    .formula_key = "force",
    .outputs = {{.name = "force", .unit = "N", .turning_unit = "N m", .shows = OD_SHOWS_OUT, .index = 0},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
    .may_supply = true,
};
#endif
