#include "components/component_curve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "components/lone_element.h"
#include "io/wording.h"

enum { POINTS = 401, MEMBERS = 4, MOST_SHOWN = 6 };

// A sweep for drawing a class: the abscissa from low to high, and a rule for the states.
typedef enum state_rule { AT_REST, AS_BEGUN, WITH_MODES } state_rule;
typedef struct sweep {
  int slot;
  double low, high;
  state_rule states;
  char name[80];
  const char *unit;
} sweep;

// The quantity that differs between the curves of a chart, with values up to `full`; slot -1: the chart has one curve.
typedef struct family {
  int slot;
  double full;
  const char *name;
  bool held;  // whether the quantity is a state; its values stay below `full`, because states seldom reach their
              // typical size
} family;

static double member_value(const family *f, int member, int members) {
  return f->full * (member + 1.0) / (f->held ? members + 1 : members);
}

// Returns the first slot of a kind of input; -1: the class has no such input.
static int find_slot(const od_element_description *c, od_in_kind kind) {
  for (int i = 0; i < c->equations->ins; i++)
    if (c->equations->in[i].kind == kind) return i;
  return -1;
}

// Writes the name of an end: "'supply'", "the first of 'between'".
static void end_name(const od_element_description *c, int end, char *text, size_t size) {
  int k = 0;
  while (k < OD_MOST_END_KEYS - 1 && end >= c->ends[k].count) end -= c->ends[k++].count;
  if (c->ends[k].count == 1)
    snprintf(text, size, "'%s'", c->ends[k].key);
  else
    snprintf(text, size, "the %s of '%s'", end == 0 ? "first" : "second", c->ends[k].key);
}

// Sets the abscissa for a slot: quantity, unit and range. Returns false for a slot of another kind than the cases below.
static bool sweep_over(const od_lone_element *x, int slot, state_rule states, sweep *s) {
  const od_element_description *c = x->type;
  double stroke = od_element_stroke(c, x->w + x->pool[0]), size;
  char end[60];
  *s = (sweep){.slot = slot, .states = states};
  switch (c->equations->in[slot].kind) {
    case OD_IN_PRESSURE:
      end_name(c, c->equations->in[slot].index, end, sizeof end);
      snprintf(s->name, sizeof s->name, "pressure at %s", end);
      s->high = 3 * x->pressure, s->unit = "Pa";
      return true;
    case OD_IN_SPEED:
      snprintf(s->name, sizeof s->name, "speed");
      s->low = -1, s->high = 1, s->unit = "m/s";
      return true;
    case OD_IN_LENGTH:
      snprintf(s->name, sizeof s->name, x->two_sided ? "coordinate" : "length");
      s->low = stroke > 0 ? od_lone_element_number(x, c->reach.closed) : x->two_sided ? -2 * x->length : 0;
      s->high = stroke > 0 ? s->low + stroke : 2 * x->length;
      s->unit = "m";
      return true;
    case OD_IN_SIGNAL:
      snprintf(s->name, sizeof s->name, "%s", c->signal_key ? c->signal_key : "signal");
      s->low = -1, s->high = 1, s->unit = "1";
      return true;
    case OD_IN_STATE:
      size = od_lone_element_state_size(x, c->equations->in[slot].index);
      snprintf(s->name, sizeof s->name, "%s", c->states[c->equations->in[slot].index].name);
      s->low = -size, s->high = size,
      s->unit = strcmp(c->states[c->equations->in[slot].index].unit, "*") ? c->states[c->equations->in[slot].index].unit
                                                                          : "1";
      return true;
    default: return false;
  }
}

// Chooses the quantity that differs between the curves: the first state if states are held, else the signal, else the
// speed.
static family family_of(const od_lone_element *x, const sweep *s) {
  const od_element_description *c = x->type;
  int signal = find_slot(c, OD_IN_SIGNAL), state = find_slot(c, OD_IN_STATE), speed = find_slot(c, OD_IN_SPEED);
  if (state >= 0 && state != s->slot && s->states == AS_BEGUN)
    return (family){state, od_lone_element_state_size(x, c->equations->in[state].index),
                    c->states[c->equations->in[state].index].name, true};
  if (signal >= 0 && signal != s->slot) return (family){signal, 1, c->signal_key ? c->signal_key : "signal", false};
  if (speed >= 0 && speed != s->slot) return (family){speed, 1, "speed", false};
  return (family){-1, 0, "", false};
}

// Lists the displayed outputs: flows and forces. Returns their number.
static int list_shown(const od_element_description *c, int shown[MOST_SHOWN]) {
  int count = 0;
  for (int i = 0; i < c->equations->outs && count < MOST_SHOWN; i++)
    if (c->equations->out[i].kind == OD_TO_THROUGH || c->equations->out[i].kind == OD_TO_END ||
        c->equations->out[i].kind == OD_TO_FORCE)
      shown[count++] = i;
  return count;
}

static void label(od_table *t, int column, const od_element_description *c, int out, const family *f, double value) {
  char name[160], with[48] = "", end[60];
  const od_out_slot *o = &c->equations->out[out];
  if (f->slot >= 0) snprintf(with, sizeof with, ", %s %.3g", f->name, value);
  end_name(c, o->index, end, sizeof end);
  if (o->kind == OD_TO_FORCE)
    snprintf(name, sizeof name, "force%s", with);
  else if (o->kind == OD_TO_THROUGH)
    snprintf(name, sizeof name, "flow%s", with);
  else
    snprintf(name, sizeof name, "flow into %s%s", end, with);
  od_table_label(t, column, name, o->kind == OD_TO_FORCE ? "N" : "m3/s");
}

// Returns whether the finite values of a column change visibly and occur in more than a quarter of the rows.
static bool is_lively(const od_table *t, int column) {
  double low = INFINITY, high = -INFINITY;
  long known = 0;
  for (long k = 0; k < t->rows; k++) {
    double y = t->data[k * t->columns + column];
    if (!isfinite(y)) continue;
    low = fmin(low, y), high = fmax(high, y), known++;
  }
  return known > t->rows / 4 && high - low > 1e-12 && high - low > 1e-3 * fmax(fabs(low), fabs(high));
}

static void note_text(const od_lone_element *x, const sweep *s, char *note, size_t size) {
  const od_element_description *c = x->type;
  bool ends = find_slot(c, OD_IN_PRESSURE) >= 0, states = c->states[0].name != NULL;
  char pressure[80] = "";
  bool first = c->equations->in[s->slot].kind == OD_IN_PRESSURE && c->equations->in[s->slot].index == 0;
  int others = od_element_end_count(c) - 1;
  if (ends && first && others > 0)
    snprintf(pressure, sizeof pressure, "; other %s at %.3g bar", od_form(others, "end", "ends"), x->pressure / 1e5);
  else if (ends && !first && others > 0)
    snprintf(pressure, sizeof pressure, "; first end at %.3g bar, other %s at %.3g bar", x->first_pressure / 1e5,
             od_form(others, "end", "ends"), x->pressure / 1e5);
  else if (ends && !first)
    snprintf(pressure, sizeof pressure, "; end at %.3g bar", x->first_pressure / 1e5);
  snprintf(note, size, "defaults, else the middle of usual ranges%s%s", pressure,
           !states                ? ""
           : s->states == AT_REST ? "; states in equilibrium"
                                  : "; states held");
}

// A class, and the data for drawing its curves.
typedef struct sketch {
  od_lone_element x;
  int shown[MOST_SHOWN], count;              // drawn outputs
  double low[OD_MOST_IN], high[OD_MOST_IN];  // ranges of the inputs
} sketch;

// Fills one row; writes NAN if the states do not settle.
static void fill_row(sketch *d, const sweep *s, const family *f, int members, double *row) {
  od_lone_element *x = &d->x;
  for (int member = 0; member < members; member++) {
    od_lone_element_reset(x, s->states == WITH_MODES);
    *od_lone_element_in(x, s->slot) = row[0];
    if (f->slot >= 0) *od_lone_element_in(x, f->slot) = member_value(f, member, members);
    bool known = true;
    if (s->states == AT_REST)
      known = od_lone_element_settle(x);
    else
      od_lone_element_evaluate(x);
    for (int i = 0; i < d->count; i++)
      row[1 + i * members + member] = known ? od_lone_element_out(x, d->shown[i]) : NAN;
  }
  for (int i = 0; i < x->type->equations->ins; i++) {
    d->low[i] = fmin(d->low[i], *od_lone_element_in(x, i));
    d->high[i] = fmax(d->high[i], *od_lone_element_in(x, i));
  }
}

// Returns the sum of the changes of all states, relative to their sizes.
static double state_travel(const sketch *d) {
  const od_element_description *c = d->x.type;
  double sum = 0;
  for (int i = 0; i < c->equations->ins; i++)
    if (c->equations->in[i].kind == OD_IN_STATE)
      sum += (d->high[i] - d->low[i]) / od_lone_element_state_size(&d->x, c->equations->in[i].index);
  return sum;
}

// Computes the curves over one abscissa. curve->table is NULL if no curve changes visibly. Fails with OD_NO_MEMORY.
static od_status draw(sketch *d, const sweep *s, od_component_curve *curve) {
  family f = family_of(&d->x, s);
  int members = f.slot >= 0 ? MEMBERS : 1, columns = 1 + d->count * members, alive = 0;
  od_table *t = od_table_new(columns);
  *curve = (od_component_curve){.table = t, .members = members};
  if (!t) return OD_NO_MEMORY;
  for (int i = 0; i < OD_MOST_IN; i++) d->low[i] = INFINITY, d->high[i] = -INFINITY;
  note_text(&d->x, s, curve->note, sizeof curve->note);
  od_table_label(t, 0, s->name, s->unit);
  for (int i = 0; i < d->count * members; i++) {
    curve->panel[1 + i] = i / members;
    label(t, 1 + i, d->x.type, d->shown[i / members], &f, member_value(&f, i % members, members));
  }
  od_status status = OD_OK;
  for (int k = 0; k < POINTS && status == OD_OK; k++) {
    double row[OD_CURVE_COLUMNS] = {s->low + (s->high - s->low) * k / (POINTS - 1)};
    fill_row(d, s, &f, members, row);
    status = od_table_append(t, row);
  }
  for (int i = 1; i < columns; i++) alive += curve->lively[i] = is_lively(t, i);
  if (status == OD_OK && alive > 0) return OD_OK;
  od_table_free(t);
  curve->table = NULL;
  return status;
}

// Chooses the slot that changes the states most, among several slots of a kind, such as the pressures at the ends. A later slot is
// chosen only if its change of the states is more than 1.2 times the change by the chosen slot, plus 0.01. curve->table is NULL if no slot
// gives a curve. Fails with OD_NO_MEMORY.
static od_status draw_best(sketch *d, od_in_kind over, state_rule states, od_component_curve *curve) {
  const od_element_description *c = d->x.type;
  double furthest = 0;
  curve->table = NULL;
  for (int slot = 0; slot < c->equations->ins; slot++) {
    sweep s;
    od_component_curve other;
    if (c->equations->in[slot].kind != over || !sweep_over(&d->x, slot, states, &s)) continue;
    if (draw(d, &s, &other) != OD_OK) {
      od_table_free(curve->table);
      curve->table = NULL;
      return OD_NO_MEMORY;
    }
    if (!other.table) continue;
    double way = state_travel(d);
    bool better = !curve->table || way > 1.2 * furthest + 0.01;
    od_table_free(better ? curve->table : other.table);
    if (better) *curve = other, furthest = way;
  }
  return OD_OK;
}

od_status od_component_curve_make(const od_element_description *c, od_component_curve *curve, od_error *err) {
  static const struct {
    od_in_kind over;
    state_rule states;
  } ways[] = {{OD_IN_PRESSURE, AT_REST},  {OD_IN_PRESSURE, AS_BEGUN}, {OD_IN_LENGTH, AS_BEGUN},
              {OD_IN_LENGTH, WITH_MODES}, {OD_IN_SPEED, AS_BEGUN},    {OD_IN_SIGNAL, AT_REST},
              {OD_IN_SIGNAL, AS_BEGUN},   {OD_IN_STATE, AS_BEGUN}};
  sketch d;
  d.count = list_shown(c, d.shown);
  curve->table = NULL;
  if (d.count == 0 || !od_lone_element_make(c, &d.x)) return OD_OK;
  for (size_t way = 0; way < sizeof ways / sizeof *ways && !curve->table; way++)
    if (draw_best(&d, ways[way].over, ways[way].states, curve) != OD_OK)
      return od_fail(err, OD_NO_MEMORY, "out of memory");
  return OD_OK;
}
