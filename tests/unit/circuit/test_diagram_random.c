// Circuit diagrams of random machines with every class of element: no flaw of any kind, and flows of pieces that balance. Oracle: the
// geometric checks, and conservation of volume: at a branch, the flows of all pieces add up to zero; at the end of an element, the
// flow of the piece is the flow of the element there.
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "machine/machine_parts.h"
#include "support/random_machine.h"
#include "unit/circuit/circuits.h"

enum { MACHINES = 30 };

static const od_circuit *random_circuit(uint64_t seed, od_arena *arena, od_model **model) {
  const od_circuit *c = NULL;
  od_error err = {0};
  *model = od_random_machine(seed, true, false, true, false);
  if (!*model) return NULL;
  if (od_circuit_make_model(*model, arena, &c, &err) != OD_OK) fail_msg("%s", err.text);
  assert_non_null(c);
  return c;
}

static void have_no_flaws(void **state) {
  (void)state;
  int made = 0;
  for (int seed = 0; seed < MACHINES; seed++) {
    od_model *model;
    OD_SCRATCH(arena);
    const od_circuit *c = random_circuit((uint64_t)seed, &arena, &model);
    if (!c) continue;
    made++;
    for (od_flaw flaw = 0; flaw < OD_FLAWS; flaw++)
      if (od_sheet_flaws(&c->sheet, flaw) != 0)
        fail_msg("seed %d: %s: %d", seed, od_flaw_name(flaw), od_sheet_flaws(&c->sheet, flaw));
    od_model_free(model);
  }
  assert_true(made > MACHINES / 2);
}

// --- Flows --------------------------------------------------------------------------------------------------------------

// The flow of a piece for given values of all outputs.
static double flow_of(const od_piece *p, const double *y) {
  double sum = 0;
  for (int i = 0; i < p->terms; i++) sum += p->term[i].sign * y[p->term[i].output];
  return sum;
}

// The sum of the flows of pieces of a net into a point.
static double inflow(const od_sheet *s, int net, int x, int y, const double *value, int *pieces) {
  double sum = 0;
  *pieces = 0;
  for (int i = 0; i < s->pieces; i++) {
    const od_piece *p = &s->piece[i];
    const int *last = p->xy + 2 * (p->points - 1);
    if (p->net != net || p->cell >= 0) continue;
    if (p->xy[0] == x && p->xy[1] == y) sum -= flow_of(p, value), ++*pieces;
    if (last[0] == x && last[1] == y) sum += flow_of(p, value), ++*pieces;
  }
  return sum;
}

// The flow from an element into its node at an end, from the tables of the model alone.
static double end_flow(const od_model *m, int instance, int end, const double *y) {
  od_end_flow flow = od_element_end_flow(od_instance_description(m, &m->instance[instance]), end);
  int output = od_instance_output(m, instance, flow.output);
  return output < 0 ? 0 : flow.sign * y[output];
}

// The flow from a part into a net: its own ends, ports, and elements without a name inside.
static double part_flow(const od_model *m, int part, int net, const double *y) {
  double sum = 0;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    bool inside = e->host == part && (od_instance_class(m, e)->has_curve || !*od_model_text(m, e->name));
    if (i != part && !inside) continue;
    for (int k = 0; k < od_element_end_count(od_instance_description(m, e)); k++)
      if (e->end[k] == net) sum += end_flow(m, i, k, y);
  }
  return sum;
}

static void flows_balance(void **state) {
  (void)state;
  int branches = 0, ends = 0, roots = 0;
  for (int seed = 0; seed < MACHINES; seed++) {
    od_model *model;
    OD_SCRATCH(arena);
    const od_circuit *c = random_circuit((uint64_t)seed, &arena, &model);
    if (!c) continue;
    const od_sheet *s = &c->sheet;
    od_dice dice = {(uint64_t)seed};
    double *y = OD_TAKE(&arena, double, model->outputs);
    for (int i = 0; i < model->outputs; i++) y[i] = od_dice_uniform(&dice, -1, 1);
    int *unbalanced = OD_TAKE(&arena, int, model->nodes);
    for (int i = 0; i < s->dots; i++) {
      int pieces;
      double sum = inflow(s, s->dot[i].net, s->dot[i].x, s->dot[i].y, y, &pieces);
      if (pieces < 2) continue;
      if (fabs(sum) > 1e-9) unbalanced[s->dot[i].net]++;  // the root of the net: the compression of the oil
      branches++;
    }
    for (int net = 0; net < model->nodes; net++) assert_true(unbalanced[net] <= 1);
    for (int net = 0; net < model->nodes; net++) roots += unbalanced[net];
    for (int i = 0; i < s->pins; i++) {
      const od_pin *p = &s->pin[i];
      const od_cell *cell = &s->cell[p->cell];
      int pieces, same = 0;
      if (cell->part < 0) continue;
      for (int k = cell->pin; k < cell->pin + cell->pins; k++) same += s->pin[k].net == p->net;
      int x = od_pin_x(s, p) + (cell->is_mirrored ? -p->reach : p->reach);
      double sum = inflow(s, p->net, x, od_pin_y(s, p), y, &pieces);
      if (pieces != 1 || same > 1) continue;
      double want = -part_flow(model, c->graph.part[cell->part].instance, p->net, y);
      // The root of a net without branches shows the flow of the other end.
      bool has_dots = false;
      for (int k = 0; k < s->dots; k++) has_dots = has_dots || s->dot[k].net == p->net;
      if (!has_dots || c->graph.net[p->net].kind == OD_NODE_SOURCE) continue;
      near(sum, want, 1e-9);
      ends++;
    }
    od_model_free(model);
  }
  assert_true(branches > 200 && ends > 200 && roots > 25);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(have_no_flaws), cmocka_unit_test(flows_balance)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
