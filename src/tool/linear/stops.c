#include "linear/stops.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/display.h"
#include "machine/machine.h"

// Returns the value of an element's number by its key; NAN: the element has no such number.
static double number_of(const od_machine *machine, const char *element, const char *key) {
  char path[400];
  snprintf(path, sizeof path, "%s.%s", element, key);
  int i = od_machine_number_find(machine, path);
  return i < 0 ? NAN : od_machine_number(machine, i).value;
}

// A type of limit: an output of an element must be between base - below and base + above. `output` is the last part of the output's
// name. base, below and above are keys of the element's numbers; NULL: zero.
typedef struct limit_kind {
  const char *output, *base, *below, *above, *why;
} limit_kind;
static const limit_kind kinds[] = {
    {"length", "closed", NULL, "stroke", "the end of its stroke"},
    {"spool", NULL, "stroke", "stroke", "the end of its stroke"},
};

static bool add(od_arena *arena, od_stops *l, od_stop limit) {
  od_stop *list = od_arena_extend(arena, l->limit, l->count, sizeof *list);
  if (!list) return false;
  l->limit = list;
  l->limit[l->count++] = limit;
  return true;
}

od_status od_stops_find(const od_machine *machine, od_arena *arena, od_stops *out, od_error *err) {
  const od_model *m = od_machine_model(machine);
  bool ok = true;
  *out = (od_stops){0};
  for (int i = 0; i < m->outputs && ok; i++) {
    const char *name = od_model_text(m, m->output[i].name), *dot = strrchr(name, '.');
    char element[300];
    if (m->output[i].kind == OD_OUT_INPUT) {
      double low = number_of(machine, name, "limits[0]"), high = number_of(machine, name, "limits[1]");
      if (low < high) ok = add(arena, out, (od_stop){i, low, high, "its limit"});
    }
    if (!dot) continue;
    snprintf(element, sizeof element, "%.*s", (int)(dot - name), name);
    if (m->output[i].kind == OD_OUT_NODE_PRESSURE && m->node[m->output[i].index].state >= 0)
      ok = ok && add(arena, out, (od_stop){i, 0, INFINITY, "the lowest possible pressure"});
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && ok; k++) {
      const limit_kind *kind = &kinds[k];
      if (strcmp(dot + 1, kind->output) != 0) continue;
      double base = kind->base ? number_of(machine, element, kind->base) : 0;
      double below = kind->below ? number_of(machine, element, kind->below) : 0;
      double above = number_of(machine, element, kind->above);
      if (isnan(base) || isnan(below) || isnan(above)) continue;
      ok = add(arena, out, (od_stop){i, base - below, base + above, kind->why});
    }
  }
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

static int place_of(const int *output, int ny, int wanted) {
  for (int i = 0; i < ny; i++)
    if (output[i] == wanted) return i;
  return -1;
}

const od_stop *od_stops_passed(const od_stops *limits, const int *output, int ny, const double *y, double *value) {
  const od_stop *worst = NULL;
  double most = 1e-6;
  for (int i = 0; i < limits->count; i++) {
    const od_stop *l = &limits->limit[i];
    int at = place_of(output, ny, l->output);
    if (at < 0) continue;
    double range = isfinite(l->high) ? l->high - l->low : 1e5;
    double part = fmax(l->low - y[at], y[at] - l->high) / (range > 0 ? range : 1);
    if (part > most) most = part, worst = l, *value = y[at];
  }
  return worst;
}

const od_stop *od_stops_reached(const od_stops *limits, const int *output, int ny, const double *y, double *value) {
  for (int i = 0; i < limits->count; i++) {
    const od_stop *l = &limits->limit[i];
    int at = place_of(output, ny, l->output);
    if (at < 0) continue;
    double near = isfinite(l->high) ? 1e-9 * (l->high - l->low) : 10;  // Pa
    *value = y[at];
    if (*value >= l->high - near || *value <= l->low + near) return l;
  }
  return NULL;
}

void od_stop_text(const od_machine *machine, const od_stop *l, double value, char *text, size_t size) {
  const char *name = od_machine_output_name(machine, l->output), *unit = od_machine_output_unit(machine, l->output);
  double end = value <= l->low || fabs(value - l->low) < fabs(value - l->high) ? l->low : l->high;
  if (value < l->low || value > l->high)
    snprintf(text, size, "%s would have to pass %s, %s", name, od_display_quantity(end, unit).text, l->why);
  else
    snprintf(text, size, "%s is at %s, %s", name, od_display_quantity(end, unit).text, l->why);
}
