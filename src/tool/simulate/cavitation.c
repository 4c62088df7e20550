#include "simulate/cavitation.h"

#include <math.h>
#include <stdio.h>

#include "io/display.h"
#include "io/wording.h"
#include "simulate/run.h"

enum { MOST_SHOWN = 6 };  // largest number of remarks about cavitating volumes, and about empty volumes

typedef struct volume {
  bool now;                // whether the volume cavitates at the last row
  double first;            // start of the first cavitation, s; NAN: none
  double total;            // total time with cavitation, s
  double before, highest;  // pressure after the last step, and highest pressure of the run, Pa
  double drawn, drawn_at;  // largest vacuum that flows do not explain, Pa, and its time, s
  double part;             // `drawn` relative to the highest pressure
  double empty;            // time at which the void became as large as the volume, s; NAN: never
} volume;

struct od_cavitation {
  const od_model *model;
  double time;     // time of the last row, s
  double modulus;  // bulk modulus of oil at zero pressure, Pa; INFINITY: no oil, or oil with air
  volume *volume;  // one volume per node
};

od_cavitation *od_cavitation_new(const od_model *model, od_arena *arena) {
  od_cavitation *c = OD_TAKE(arena, od_cavitation, 1);
  volume *volumes = OD_TAKE(arena, volume, model->nodes);
  if (!c || !volumes) return NULL;
  *c = (od_cavitation){.model = model, .modulus = INFINITY, .volume = volumes};
  for (int i = 0; i < model->nodes; i++) volumes[i].first = volumes[i].empty = NAN;
  if (model->oil >= 0 && model->oil_law != OD_OIL_AIR) c->modulus = model->theta[model->oil + OD_OIL_LAW];
  return c;
}

// Checks a row. The cavitation state at a row counts for the interval up to the next row.
void od_cavitation_watch(od_cavitation *c, double t, const double *states) {
  for (int i = 0; i < c->model->nodes; i++) {
    volume *v = &c->volume[i];
    int state = c->model->node[i].state;
    if (v->now) v->total += t - c->time;
    v->now = state >= 0 && states[state] < 0;
    if (v->now && isnan(v->first)) v->first = t;
    // At a pressure x < 0 the void is -x (V/B + C), with volume V, bulk modulus B and compliance C (hydraulics/circuit_x.h).
    if (v->now && isnan(v->empty) && states[state] < -c->modulus) v->empty = t;
    if (state < 0) continue;
    v->before = states[state];
    v->highest = fmax(v->highest, states[state]);
  }
  c->time = t;
}

// Checks a step. Elements draw at most the flow at zero pressure from a volume; the rate at the end of the step gives this flow. A
// larger fall below zero is not cavitation: the step passed the pressure at which the flows balance. Twice the
// rate is allowed, because the rate may have fallen within the step.
void od_cavitation_step(od_cavitation *c, double t, double h, const double *states, const double *rates) {
  static const double floor = 1e5;  // smallest reference pressure of `part`, Pa
  for (int i = 0; i < c->model->nodes; i++) {
    volume *v = &c->volume[i];
    int state = c->model->node[i].state;
    if (state < 0) continue;
    double p = states[state], below = -p - 2 * h * fmax(-rates[state], 0);
    double part = below / fmax(v->highest, floor);
    if (v->before >= 0 && p < 0 && part > v->part) v->part = part, v->drawn = below, v->drawn_at = t;
    v->before = p;
    v->highest = fmax(v->highest, p);
  }
}

// Adds a remark about the volume with the largest vacuum that a step caused. Vacuums are relative to the highest pressure of the
// volume.
static void add_drawn_remarks(const od_cavitation *c, od_verdict *verdict) {
  int count = 0, worst = 0;
  for (int i = 0; i < c->model->nodes; i++) {
    count += c->volume[i].part > OD_ACCURATE;
    if (c->volume[i].part > c->volume[worst].part) worst = i;
  }
  if (count == 0) return;
  const volume *v = &c->volume[worst];
  char more[140] = "";
  if (count > 1) snprintf(more, sizeof more, " The same error occurs in %s.", od_count(count - 1, "more volume").text);
  od_verdict_add(
      verdict, v->part > OD_LOST ? OD_UNSOUND : OD_DOUBTFUL, "step.vacuum", "Vacuum caused by a long step:",
      "the step to %.6g s lowers the pressure of volume %s below zero. The vacuum is %s larger than the flows at this "
      "volume allow. The step passed the pressure at which the flows balance. The cavitation after the step is not "
      "real; take shorter steps.%s",
      v->drawn_at, od_model_text(c->model, c->model->node[worst].name), od_display_quantity(v->drawn, "Pa").text, more);
}

void od_cavitation_add_remarks(const od_cavitation *c, od_verdict *verdict) {
  int empty = 0, shown = 0, more = 0;
  add_drawn_remarks(c, verdict);
  for (int i = 0; i < c->model->nodes; i++)
    if (!isnan(c->volume[i].empty) && empty++ < MOST_SHOWN)
      od_verdict_add(
          verdict, OD_SOUND, "volume.empty", "Empty volume:",
          "volume %s is empty at %.4g s: more oil has been drawn from the volume than the volume contained. A pump or motor that draws from an empty volume creates oil. Supply more oil to this volume.",
          od_model_text(c->model, c->model->node[i].name), c->volume[i].empty);
  for (int i = 0; i < c->model->nodes; i++) {
    const volume *v = &c->volume[i];
    if (isnan(v->first)) continue;
    if (shown == MOST_SHOWN) {
      more++;
      continue;
    }
    shown++;
    od_verdict_add(verdict, OD_SOUND, "cavitation", "Cavitation:",
                   "volume %s cavitates from %.4g s on, for %s of %s in total: more oil is drawn from the volume than "
                   "flows in, and its pressure stays at zero. Supply more oil to this volume.",
                   od_model_text(c->model, c->model->node[i].name), v->first, od_duration_text(v->total, 3).text,
                   od_duration_text(c->time, 3).text);
  }
  if (more > 0)
    od_verdict_add(verdict, OD_SOUND, "cavitation", "Cavitation:", "%s %s.", od_count(more, "more volume").text,
                   od_form(more, "cavitates", "cavitate"));
}
