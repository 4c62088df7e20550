// One build of the equations of an element (see element_template_x.h): the scalar type, the shared functions, the equations, and the loops
// over instances.
#include "base/scalar_x.h"
#include "elements/laws_x.h"

// Data of an instance in addition to its inputs and numbers: the properties of the oil, the numbers of the host, the
// choices, and the memory `kept` of the instance. evaluate() may write to `kept`, for the next evaluation and for
// derivatives.
typedef struct X(setting) {
  const od_x *oil, *host;
  const int *choice;
  od_x *kept;
  od_formula formula;
  const od_x *held;  // see base/formula.h; NULL: no formula
} X(setting);

#include OD_ELEMENT_FILE

enum {
  X(ins) = sizeof(X(in)) / sizeof(od_x),
  X(outs) = sizeof(X(out)) / sizeof(od_x),
  X(reports) = sizeof(X(report)) / sizeof(od_x)
};

static inline X(setting) X(setting_of)(const od_batch *b, const int *pool, od_x *w, int i) {
  return (X(setting)){.oil = w + b->oil,
                      .host = w + pool[b->host + i],
                      .choice = pool + b->choice + i * b->choices,
                      .kept = w + b->kept + i * b->kept_scalars,
                      .formula = od_batch_formula(b, pool, i),
                      .held = b->formula > 0 ? w + pool[b->held + i] : NULL};
}

static void X(evaluate_all)(const od_batch *b, const int *pool, od_x *w) {
  const X(in) *in = (const X(in) *)(w + b->in);
  X(out) *out = (X(out) *)(w + b->out);
  for (int i = 0; i < b->count; i++) {
    const X(numbers) *q = (const X(numbers) *)(w + pool[b->number + i]);
    X(evaluate)(&in[i], q, X(setting_of)(b, pool, w, i), &out[i]);
  }
}

static void X(report_all)(const od_batch *b, const int *pool, od_x *w) {
  const X(in) *in = (const X(in) *)(w + b->in);
  const X(out) *out = (const X(out) *)(w + b->out);
  X(report) *report = (X(report) *)(w + b->report);
  for (int i = 0; i < b->count; i++) {
    const X(numbers) *q = (const X(numbers) *)(w + pool[b->number + i]);
    X(fill_report)(&in[i], q, X(setting_of)(b, pool, w, i), &out[i], &report[i]);
  }
}

#if defined OD_ELEMENT_MODES && !defined OD_COMPLEX
static od_x X(margin_of)(const od_batch *b, const int *pool, od_x *w, int i) {
  const X(in) *in = (const X(in) *)(w + b->in) + i;
  return X(margin)(in, (const X(numbers) *)(w + pool[b->number + i]));
}
#endif
#ifdef OD_ELEMENT_MODES
static void X(switch_mode_of)(const od_batch *b, const int *pool, od_x *w, int i, od_x *states) {
  const X(in) *in = (const X(in) *)(w + b->in) + i;
  X(switch_mode)(in, (const X(numbers) *)(w + pool[b->number + i]), (X(states) *)states);
}
#endif

#ifndef OD_COMPLEX
static void slopes_all(const od_batch *b, const int *pool, double *w) {
  const in_r *in = (const in_r *)(w + b->in);
  const out_r *out = (const out_r *)(w + b->out);
  slopes_r *slope = (slopes_r *)(w + b->slope);
  for (int i = 0; i < b->count; i++) {
    const numbers_r *q = (const numbers_r *)(w + pool[b->number + i]);
    slopes(&in[i], q, setting_of_r(b, pool, w, i), &out[i], &slope[i]);
  }
}
_Static_assert(sizeof(slopes_r) == sizeof(double) * ins_r * outs_r,
               "slopes_r must have a row for each output, with an entry for each input");
#endif
