// One build of an element's text (see both_x.h): the scalar, what elements share, the text itself, and the loops over
// instances.
#include "base/scalar_x.h"
#include "elements/laws_x.h"

// Where an instance stands: the oil, the numbers of the element it belongs to, its choices, and memory of its own that
// evaluate() may write for the next evaluation and for slopes.
typedef struct X(setting) {
  const od_x *oil, *host;
  const int *choice;
  od_x *kept;
} X(setting);

#include OD_ELEMENT_FILE

enum {
  X(ins) = sizeof(X(in)) / sizeof(od_x),
  X(outs) = sizeof(X(out)) / sizeof(od_x),
  X(reports) = sizeof(X(report)) / sizeof(od_x)
};

static inline X(setting) X(setting_of)(const od_batch *b, const int *pool, od_x *w, int i) {
  int host = pool[b->host + i];
  return (X(setting)){.oil = w + b->oil,
                      .host = w + (host >= 0 ? host : 0),
                      .choice = pool + b->choice + i * b->choices,
                      .kept = w + b->kept + i * b->kept_scalars};
}

static void X(evaluate_all)(const od_batch *b, const int *pool, od_x *w) {
  const od_x *in = w + b->in;
  od_x *out = w + b->out;
  for (int i = 0; i < b->count; i++, in += X(ins), out += X(outs)) X(evaluate)
  ((const X(in) *)in, (const X(numbers) *)(w + pool[b->number + i]), X(setting_of)(b, pool, w, i), (X(out) *)out);
}

static void X(report_all)(const od_batch *b, const int *pool, od_x *w) {
  const od_x *in = w + b->in, *out = w + b->out;
  od_x *report = w + b->report;
  for (int i = 0; i < b->count; i++, in += X(ins), out += X(outs), report += X(reports)) X(fill_report)
  ((const X(in) *)in, (const X(numbers) *)(w + pool[b->number + i]), X(setting_of)(b, pool, w, i), (const X(out) *)out,
   (X(report) *)report);
}

#if defined OD_ELEMENT_SLOPES && !defined OD_COMPLEX
static void slopes_all(const od_batch *b, const int *pool, double *w) {
  const double *in = w + b->in, *out = w + b->out;
  double *slope = w + b->slope;
  for (int i = 0; i < b->count; i++, in += ins_r, out += outs_r, slope += ins_r * outs_r)
    slopes((const in_r *)in, (const numbers_r *)(w + pool[b->number + i]), setting_of_r(b, pool, w, i),
           (const out_r *)out, (slopes_r *)slope);
}
_Static_assert(sizeof(slopes_r) == sizeof(double) * ins_r * outs_r, "slopes: a row for each out, an entry for each in");
#endif
