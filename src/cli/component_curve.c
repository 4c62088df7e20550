#include "cli/component_curve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 401, MEMBERS = 4, MOST_SHOWN = 6, WORK = 256 };
static const double other_pressure = 100e5, least_pressure = 0, most_pressure = 300e5;

// One instance alone in a small work memory.
typedef struct lone {
  double w[WORK];
  int pool[2 + OD_MOST_ELEMENT_CHOICES];
  od_batch batch;
} lone;

static double middle(const od_element_field *f) {
  double low = f->limits.usual_low, high = f->limits.usual_high;
  if (!isnan(f->fallback)) return f->fallback;
  return low > 0 ? sqrt(low * high) : high > 0 ? high / 10 : 1;
}

// Oil as many have it: 870 kg/m3, 46 mm2/s.
static bool set_up(const od_element_class *c, lone *x) {
  int numbers = OD_OIL_STATES, in = numbers + OD_MOST_ELEMENT_FIELDS, out = in + OD_MOST_IN, report = out + OD_MOST_OUT;
  int kept = report + OD_MOST_REPORTS;
  if (c->has_curve || c->formula_key || c->host_class || !c->section || kept + c->kept > WORK) return false;
  *x = (lone){.pool = {numbers, 0},
              .batch = {.count = 1,
                        .in = in,
                        .out = out,
                        .report = report,
                        .kept = kept,
                        .kept_scalars = c->kept,
                        .choices = c->choices,
                        .number = 0,
                        .host = 1,
                        .choice = 2}};
  x->w[OD_OIL_STATE_ROOT] = sqrt(2 / 870.0);
  x->w[OD_OIL_STATE_SMOOTHING] = 1e4;
  x->w[OD_OIL_STATE_VISCOSITY] = 870 * 46e-6;
  x->w[OD_OIL_STATE_THINNESS] = 1;
  if (c->end_choice) x->pool[2] = 1;
  for (int i = 0; i < c->field_count; i++) x->w[numbers + i] = middle(&c->fields[i]);
  return true;
}

static double number(const lone *x, int field) {
  return x->w[x->pool[0] + field];
}

// What the class reads at the middle of things.
static double usual_in(const od_element_class *c, const lone *x, int slot) {
  switch (c->in[slot].kind) {
    case OD_IN_PRESSURE: return other_pressure;
    case OD_IN_LENGTH: return c->stroke_field ? number(x, c->closed_field) + number(x, c->stroke_field) / 2 : 0.5;
    case OD_IN_SIGNAL: return 1;
    case OD_IN_STATE: return c->states[c->in[slot].index].initial;
    default: return 0;
  }
}

// The first slot of a kind, or -1.
static int find_slot(const od_element_class *c, od_in_kind kind) {
  for (int i = 0; i < c->ins; i++)
    if (c->in[i].kind == kind) return i;
  return -1;
}

// What the curves are drawn over: a pressure, else a speed, else a length.
typedef struct sweep {
  int slot;
  double low, high;
  const char *name, *unit;
} sweep;
static sweep sweep_of(const od_element_class *c) {
  int pressure = find_slot(c, OD_IN_PRESSURE), speed = find_slot(c, OD_IN_SPEED), length = find_slot(c, OD_IN_LENGTH);
  if (pressure >= 0) return (sweep){pressure, least_pressure, most_pressure, "pressure at the first end", "Pa"};
  if (speed >= 0 && length < 0) return (sweep){speed, -1, 1, "speed", "m/s"};
  return (sweep){length, 0, 1, "length", "m"};
}

// What the four curves of a chart differ in: the signal, else the first state, each up to its size; slot -1: nothing, there is one curve.
typedef struct family {
  int slot;
  double full;
  const char *name;
} family;
static family family_of(const od_element_class *c, const lone *x, int swept) {
  int signal = find_slot(c, OD_IN_SIGNAL), state = find_slot(c, OD_IN_STATE), speed = find_slot(c, OD_IN_SPEED);
  if (state >= 0) {
    const od_element_state *s = &c->states[c->in[state].index];
    return (family){state, s->scale > 0 ? s->scale : number(x, s->scale_field), s->name};
  }
  if (signal >= 0) return (family){signal, 1, c->signal_key ? c->signal_key : "signal"};
  return speed >= 0 && speed != swept ? (family){speed, 1, "speed"} : (family){-1, 0, ""};
}

// Outs that people look at: flows and forces.
static int list_shown(const od_element_class *c, int shown[MOST_SHOWN]) {
  int count = 0;
  for (int i = 0; i < c->outs && count < MOST_SHOWN; i++)
    if (c->out[i].kind == OD_TO_THROUGH || c->out[i].kind == OD_TO_END || c->out[i].kind == OD_TO_FORCE)
      shown[count++] = i;
  return count;
}

static void label(od_table *t, int column, const od_element_class *c, int out, const family *f, double share) {
  char name[96], with[48] = "";
  const od_out_slot *o = &c->out[out];
  if (f->slot >= 0) snprintf(with, sizeof with, ", %s %g", f->name, share * f->full);
  if (o->kind == OD_TO_FORCE)
    snprintf(name, sizeof name, "force%s", with);
  else if (o->kind == OD_TO_THROUGH)
    snprintf(name, sizeof name, "flow from the first to the second end%s", with);
  else
    snprintf(name, sizeof name, "flow into end %d%s", o->index + 1, with);
  od_table_label(t, column, name, o->kind == OD_TO_FORCE ? "N" : "m3/s");
}

od_table *od_component_curve(const od_element_class *c, int panel[OD_CURVE_COLUMNS], char *note, size_t size) {
  lone x;
  int shown[MOST_SHOWN], count = list_shown(c, shown);
  if (count == 0 || !set_up(c, &x)) return NULL;
  sweep s = sweep_of(c);
  if (s.slot < 0) return NULL;
  family f = family_of(c, &x, s.slot);
  int members = f.slot >= 0 ? MEMBERS : 1, columns = 1 + count * members;
  od_table *t = od_table_new(columns);
  if (!t) return NULL;
  snprintf(note, size, "defaults, and the middle of what is usual%s",
           s.slot == find_slot(c, OD_IN_PRESSURE) ? "; other ends at 100 bar" : "");
  od_table_label(t, 0, s.name, s.unit);
  panel[0] = 0;
  for (int i = 0; i < count * members; i++) {
    panel[1 + i] = i / members;
    label(t, 1 + i, c, shown[i / members], &f, (i % members + 1.0) / members);
  }
  for (int k = 0; k < POINTS; k++) {
    double row[OD_CURVE_COLUMNS] = {s.low + (s.high - s.low) * k / (POINTS - 1)};
    for (int member = 0; member < members; member++) {
      for (int i = 0; i < c->ins; i++) x.w[x.batch.in + i] = usual_in(c, &x, i);
      x.w[x.batch.in + s.slot] = row[0];
      if (f.slot >= 0) x.w[x.batch.in + f.slot] = f.full * (member + 1.0) / members;
      c->evaluate(&x.batch, x.pool, x.w);
      for (int i = 0; i < count; i++) row[1 + i * members + member] = x.w[x.batch.out + shown[i]];
    }
    if (od_table_append(t, row) != OD_OK) {
      od_table_free(t);
      return NULL;
    }
  }
  return t;
}
