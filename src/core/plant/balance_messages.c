// Messages about a static balance that was not found or that exceeds the limits of the machine.
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "plant/balance.h"

void od_balance_check_forces(od_balance *b) {
  const od_model *m = od_balance_model(b);
  const od_plant *plant = b->t->plant;
  int nk = od_plant_nk(plant), unknowns = b->angles + b->pressures;
  const double *g = b->t->g + nk;
  if (unknowns == 0) return;
  od_balance_mass_matrix(b);
  for (int k = 0; k < b->n; k++) {
    if (od_balance_is_at_rest(b, k, g[k])) continue;
    int coordinate = od_balance_coordinate(b, k), initial = b->s->initial_of_z[coordinate];
    char count[120] = "";
    if (unknowns < b->n)
      od_text_format(count, sizeof count,
                     "; a static balance of %d degrees of freedom needs the same number of balanced quantities, not %d",
                     b->n, unknowns);
    od_build_report(
        b->s->b, OD_ABOUT_INITIAL, initial,
        "'%s' is not in balance: a residual of %.4g %s remains, and no balanced quantity acts on this coordinate%s",
        od_balance_name(b, initial), fabs(g[k]),
        m->link[m->coordinate_link[coordinate]].kind == OD_LINK_PRISMATIC ? "N" : "N m", count);
  }
}

bool od_balance_report_suction(od_balance *b, const double *x, bool value) {
  bool found = false;
  for (int i = 0; i < b->s->balances; i++) {
    const od_condition *c = &b->s->balanced[i];
    if (!od_balance_is_pressure(c)) continue;
    double pressure = x[2 * b->n + od_assembly_first_order_state(od_balance_model(b), &c->output)];
    if (!(pressure < 0)) continue;
    if (value)
      od_build_report(
          b->s->b, OD_ABOUT_INITIAL, c->initial,
          "a static balance needs %.4g bar in '%s', but oil cannot carry tension: the lowest pressure is 0 bar; change the load, or a pressure that acts against it",
          pressure / 1e5, od_model_text(od_balance_model(b), od_balance_model(b)->node[c->output.index].name));
    else
      od_build_report(
          b->s->b, OD_ABOUT_INITIAL, c->initial,
          "a static balance needs a pressure below 0 bar in '%s', but oil cannot carry tension; change the load, or a pressure that acts against it",
          od_model_text(od_balance_model(b), od_balance_model(b)->node[c->output.index].name));
    found = true;
  }
  return found;
}

// Returns whether an element is closed at a node: the element has flows that in general depend on the pressure of the
// node, but not at the last point.
static bool is_shut_at(const od_balance *b, const od_instance *e, int node) {
  const double *w = od_model_plant_scalars(b->t->plant, b->t->work);
  const od_element_class *c = od_instance_class(od_balance_model(b), e);
  bool flows = false, depends = false;
  for (int j = 0; j < c->ins; j++) {
    if (c->in[j].kind != OD_IN_PRESSURE || e->end[c->in[j].index] != node) continue;
    for (int k = 0; k < c->outs; k++) {
      if (c->out[k].kind != OD_TO_THROUGH && c->out[k].kind != OD_TO_END) continue;
      flows = true;
      depends = depends || w[e->slope + k * c->ins + j] != 0;
    }
  }
  return flows && !depends;
}

// Writes a sentence about the elements that close a node: "It is closed off by valve 'v' ..", or "" if no element closes the
// node.
static void name_closers(const od_balance *b, int node, char *text, size_t size) {
  const od_model *m = od_balance_model(b);
  const od_instance *last = NULL;
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < m->instances && used < size; i++) {
    const od_instance *e = &m->instance[i], *owner = e->host >= 0 ? &m->instance[e->host] : e;
    if (owner == last || od_instance_class(m, owner)->acts != OD_ACTS_NOWHERE || !is_shut_at(b, e, node)) continue;
    const char *inside = od_instance_description(m, e)->inside;
    bool center = od_instance_description(m, owner)->shuts_about_center || (inside && strcmp(inside, "ports") == 0);
    used += od_text_format(text + used, size - used, "%s %s '%.60s'%s", used ? " and" : ". It is closed off by",
                           od_instance_description(m, owner)->noun, od_model_text(m, owner->name),
                           center ? " (center position)" : "");
    last = owner;
  }
}

// Reports an unknown that no equation depends on. If the unknown is a pressure, also names the elements that close off
// the volume.
static void report_column(od_balance *b, int j) {
  char closers[400] = "";
  for (int i = 0; i < b->s->balances; i++)
    if (b->s->balanced[i].initial == b->owner[j] && od_balance_is_pressure(&b->s->balanced[i]))
      name_closers(b, b->s->balanced[i].output.index, closers, sizeof closers);
  od_build_report(b->s->b, OD_ABOUT_INITIAL, b->owner[j],
                  "'%s' cannot be balanced: no equilibrium equation depends on it%s%s", od_balance_name(b, b->owner[j]),
                  closers, closers[0] ? "" : "; 'others: steady' in 'initial' computes all values that are not exact");
}

// Reports forces that no unknown changes. If there are no such forces, reports unknowns that no equation depends on. Returns
// whether a problem was reported.
static bool report_rank(od_balance *b, const double *x) {
  int before = b->s->b->problems;
  if (!od_balance_find_pivots(b, x, b->rows)) return false;
  od_balance_mass_matrix(b);
  for (int i = 0; i < b->forces; i++)
    if (!b->row_pivot[i] && !od_balance_is_at_rest(b, b->row[i], b->work[i]))
      od_build_report(b->s->b, OD_ABOUT_INITIAL, b->source[i],
                      "'%s' is not in balance: no balanced quantity acts on it; balance a quantity that acts on it",
                      od_balance_name(b, b->source[i]));
  for (int j = 0; j < b->unknowns && b->s->b->problems == before; j++)
    if (!b->column_pivot[j]) report_column(b, j);
  return b->s->b->problems > before;
}

// The equation with the largest residual at the end of a search, relative to the effect of the unknowns on this residual. status: failure of
// the evaluation; then there is no equation.
typedef struct leftover {
  od_status status;
  int initial;  // the initial value whose equation is not satisfied
  double size;
  const char *unit;  // unit of a force; NULL: the residual is a rate
} leftover;

// Finds the equation with the largest relative residual at x. Equations on which no unknown has an effect come last.
static leftover find_leftover(od_balance *b, const double *x) {
  od_equilibrium e = od_balance_problem(b);
  double *r = b->work, *a = r + b->rows + b->helds, largest = -2;
  const od_model *m = od_balance_model(b);
  leftover left = {.status = od_equilibrium_evaluate(&e, x, r, a), .initial = b->source[0]};
  if (left.status != OD_OK) return left;
  for (int i = 0; i < b->rows; i++) {
    double size = 0;
    for (int j = 0; j < b->unknowns; j++) size = fmax(size, fabs(a[i * b->unknowns + j]) * b->scale[j]);
    double part = size > 0 ? fabs(r[i]) / size : -1 / (1 + fabs(r[i]));
    if (!(part > largest)) continue;
    largest = part;
    left = (leftover){OD_OK, b->source[i], fabs(r[i]), NULL};
    if (b->row[i] >= b->n) continue;
    // The independent coordinates may have changed since the start.
    int coordinate = od_balance_coordinate(b, b->row[i]);
    left.initial = b->s->initial_of_z[coordinate];
    left.unit = m->link[m->coordinate_link[coordinate]].kind == OD_LINK_PRISMATIC ? "N" : "N m";
  }
  return left;
}

// Distance from a balance, relative to the typical size of a coordinate, within which one Newton step estimates the pressures.
static const double linear_distance = 0.3;

void od_balance_report_failure(od_balance *b, const double *start, const double *x) {
  const od_plant *plant = b->t->plant;
  od_equilibrium e = od_balance_problem(b);
  double *step = b->work, *there = step + b->unknowns;
  if (od_equilibrium_step(&e, start, step) == OD_OK) {
    bool near = true;
    memcpy(there, start, (size_t)od_plant_nx(plant) * sizeof *there);
    for (int j = 0; j < b->unknowns; j++) {
      there[b->state[j]] += step[j];
      near = near && (b->state[j] >= b->n || fabs(step[j]) < linear_distance * b->scale[j]);
    }
    // Without balanced coordinates, the balance is linear in the pressures, so one step gives the values of the pressures.
    if (near && od_balance_report_suction(b, there, b->angles == 0)) return;
  }
  if (od_balance_report_suction(b, x, false)) return;
  leftover left = find_leftover(b, x);
  // Restores the coordinates that were independent at the start.
  if (plant->ops->start(plant, b->t->work, there) == OD_OK && report_rank(b, start)) return;
  const char *name = od_balance_name(b, left.initial), *help = "another start value ('balance from ...') may help";
  if (left.status != OD_OK)
    od_build_report(b->s->b, OD_ABOUT_INITIAL, left.initial,
                    "no static balance found: at the end of the search, %s; %s", od_status_text(left.status), help);
  else if (left.unit)
    od_build_report(b->s->b, OD_ABOUT_INITIAL, left.initial,
                    "no static balance found: at the end of the search, a residual of %.4g %s remains at '%s'; %s",
                    left.size, left.unit, name, help);
  else
    od_build_report(
        b->s->b, OD_ABOUT_INITIAL, left.initial,
        "no static balance found: at the end of the search, '%s' still changes by %.4g SI units per second; %s", name,
        left.size, help);
}

// Returns the balanced coordinate with the largest effect on a cylinder's length, as the index of its initial value.
static int mover_of(const od_balance *b, int instance) {
  double *length = b->work, *own = length + b->n, most = -1;
  int found = b->s->balanced[0].initial;
  od_output o = od_balance_length(b, instance);
  od_balance_gradient(b, &o, length);
  for (int i = 0; i < b->s->balances; i++) {
    if (!od_balance_is_coordinate(&b->s->balanced[i])) continue;
    od_balance_gradient(b, &b->s->balanced[i].output, own);
    double sum = 0;
    for (int k = 0; k < b->n; k++) sum += fabs(own[k] * length[k]);
    if (sum > most) most = sum, found = b->s->balanced[i].initial;
  }
  return found;
}

void od_balance_check_strokes(od_balance *b) {
  const od_model *m = od_balance_model(b);
  const double *w = od_model_plant_scalars(b->t->plant, b->t->work);
  for (int i = 0; i < m->instances && b->angles > 0; i++) {
    const od_instance *e = &m->instance[i];
    if (!od_instance_has_reach(m, e)) continue;
    const od_element_description *c = od_instance_description(m, e);
    const double *q = m->theta + e->number;
    double length = w[m->layout.length + e->actuator], shortest = q[c->reach.closed],
           longest = shortest + od_element_stroke(c, q);
    double beyond = length > longest ? length - longest : shortest - length;
    if (!(beyond > 1e-9 * longest)) continue;
    od_build_report(b->s->b, OD_ABOUT_INITIAL, mover_of(b, i),
                    "the static balance is beyond the stroke of %s '%s': the length would be %.6g m, %.4g mm %s of "
                    "%.6g m, and the end stop would carry %.4g kN",
                    c->noun, od_model_text(m, e->name), length, 1e3 * beyond,
                    length > longest ? "more than the greatest length" : "less than the least length",
                    length > longest ? longest : shortest, q[c->reach.stiffness] * beyond / 1e3);
  }
}
