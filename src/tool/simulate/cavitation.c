#include "simulate/cavitation.h"

#include <math.h>
#include <stdlib.h>

#include "io/display.h"

enum { MOST_SHOWN = 6 };  // volumes with a remark of their own

typedef struct volume {
  bool now;      // at the last row
  double first;  // when it began, s; NAN: never
  double total;  // for how long, s
} volume;

struct od_cavitation {
  const od_model *model;
  double time;     // of the last row
  volume *volume;  // one per node
};

od_cavitation *od_cavitation_new(const od_model *model) {
  od_cavitation *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->model = model;
  c->volume = calloc((size_t)model->nodes + 1, sizeof *c->volume);
  if (!c->volume) {
    free(c);
    return NULL;
  }
  for (int i = 0; i < model->nodes; i++) c->volume[i].first = NAN;
  return c;
}

void od_cavitation_free(od_cavitation *c) {
  if (c) free(c->volume);
  free(c);
}

// Between two rows a volume is as it was at the first of them.
void od_cavitation_watch(od_cavitation *c, double t, const double *states) {
  for (int i = 0; i < c->model->nodes; i++) {
    volume *v = &c->volume[i];
    int state = c->model->node[i].state;
    if (v->now) v->total += t - c->time;
    v->now = state >= 0 && states[state] < 0;
    if (v->now && isnan(v->first)) v->first = t;
  }
  c->time = t;
}

bool od_cavitation_add_remarks(const od_cavitation *c, od_verdict *verdict) {
  int shown = 0, more = 0;
  bool ok = true;
  for (int i = 0; i < c->model->nodes && ok; i++) {
    const volume *v = &c->volume[i];
    if (isnan(v->first)) continue;
    if (shown == MOST_SHOWN) {
      more++;
      continue;
    }
    shown++;
    ok = od_verdict_add(verdict, OD_SOUND, "cavitation", "Cavitation:",
                        "volume %s cavitates from %.4g s on, in all for %s of %s: more oil is drawn from it than flows "
                        "in, and its pressure stays at zero.",
                        c->model->node[i].name, v->first, od_duration_text(v->total, 3).text,
                        od_duration_text(c->time, 3).text);
  }
  if (!ok || more == 0) return ok;
  return od_verdict_add(verdict, OD_SOUND, "cavitation", "Cavitation:", "%d more volume%s cavitate%s.", more,
                        more == 1 ? "" : "s", more == 1 ? "s" : "");
}
