#include "machine/below_zero.h"

#include <math.h>
#include <stdio.h>

#include "io/display.h"

enum { MOST_SHOWN = 6 };               // largest number of signals with a separate remark
static const double round_off = 1e-9;  // negative values of smaller magnitude are round-off

int od_below_zero_list(const od_model *m, od_below_zero *out) {
  int count = 0;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_description *c = od_instance_description(m, e);
    for (int f = 0; f < c->field_count && e->signal >= 0; f++) {
      if (!c->fields[f].below_zero) continue;
      if (out)
        out[count] = (od_below_zero){.instance = i, .field = f, .signal = e->signal, .first = NAN, .worst = -round_off};
      count++;
    }
  }
  return count;
}

void od_below_zero_watch(od_below_zero *b, double t, double value) {
  if (!(value < b->worst)) return;
  if (isnan(b->first)) b->first = t;
  b->worst = value;
  b->when = t;
}

static bool add_remark(const od_model *m, const od_below_zero *b, od_verdict *verdict) {
  const od_instance *e = &m->instance[b->instance];
  const od_element_description *c = od_instance_description(m, e);
  // A friction element has the name of its joint or cylinder.
  const char *name = *od_model_text(m, e->name) ? od_model_text(m, e->name)
                     : e->host >= 0             ? od_model_text(m, m->instance[e->host].name)
                     : e->joint >= 0            ? od_model_text(m, m->joint[e->joint].name)
                                                : "";
  const od_output *signal = NULL;
  for (int i = 0; i < m->outputs && !signal; i++)
    if (m->output[i].kind == OD_OUT_INPUT && m->output[i].index == b->signal) signal = &m->output[i];
  return od_verdict_add(
      verdict, OD_DOUBTFUL, "signal.below_zero", "Signal below zero:",
      "'%s', the %s of the %s of %s, is first negative at %.4g s; its lowest value is %s, at %.4g s: %s.",
      od_model_text(m, signal ? signal->name : 0), c->fields[b->field].key, c->noun, name, b->first,
      od_display_quantity(b->worst, signal ? od_model_text(m, signal->unit) : "1").text, b->when,
      c->fields[b->field].below_zero);
}

bool od_below_zero_add_remarks(const od_model *m, const od_below_zero *list, int count, od_verdict *verdict) {
  int shown = 0;
  bool ok = true;
  for (int i = 0; i < count && ok; i++)
    if (!isnan(list[i].first) && shown++ < MOST_SHOWN) ok = add_remark(m, &list[i], verdict);
  if (!ok || shown <= MOST_SHOWN) return ok;
  return od_verdict_add(verdict, OD_DOUBTFUL, "signal.below_zero",
                        "Signal below zero:", "%d more %s a negative signal.", shown - MOST_SHOWN,
                        shown - MOST_SHOWN == 1 ? "element has" : "elements have");
}
