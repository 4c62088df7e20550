// A flow output at every end of an element.
//
// Oracle: the sum of the flows of all elements at a node is the inflow of the node, which the circuit sums over its own table
// (od_join.target), on random machines and on all machines of cases/, over a run. And every class: ends with the role "flow" have
// an output, pilots have none.
#include "support/test.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "support/machines.h"
#include "support/random_machine.h"

enum { MACHINES = 40 };

// Returns the index of the output that shows the flow at an end; -1: none.
static int output_of(const od_model *m, int instance, od_end_flow flow) {
  if (flow.output < 0) return -1;
  const od_element_output *o = &od_instance_description(m, &m->instance[instance])->outputs[flow.output];
  od_output_kind kind = o->shows == OD_SHOWS_STATE ? OD_OUT_ELEMENT_STATE : OD_OUT_ELEMENT;
  for (int i = 0; i < m->outputs; i++)
    if (m->output[i].kind == kind && m->output[i].index == instance && m->output[i].component == o->index) return i;
  fail_msg("the flow of the %s '%s' is not an output", od_instance_description(m, &m->instance[instance])->noun,
           od_model_text(m, m->instance[instance].name));
  return -1;
}

// Compares the sums of flows with the inflows of all nodes. Returns the number of nodes with a flow.
static int check_nodes(const od_model *m, const double *y) {
  int flowing = 0;
  double *sum = calloc((size_t)m->nodes + 1, sizeof *sum), *size = calloc((size_t)m->nodes + 1, sizeof *size);
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_description *c = od_instance_description(m, e);
    for (int k = 0; k < od_element_end_count(c); k++) {
      od_end_flow flow = od_element_end_flow(c, k);
      int output = output_of(m, i, flow);
      if (output < 0 || e->end[k] < 0) continue;
      sum[e->end[k]] += flow.sign * y[output];
      size[e->end[k]] += fabs(y[output]);
    }
  }
  for (int i = 0; i < m->outputs; i++) {
    int node = m->output[i].index;
    if (m->output[i].kind != OD_OUT_NODE_INFLOW) continue;
    near(sum[node], y[i], 1e-13 * size[node] + 1e-25);
    flowing += size[node] > 1e-12;
  }
  free(sum);
  free(size);
  return flowing;
}

// Steps a plant with all outputs and checks its nodes. Returns the number of nodes with a flow.
static int check_run(const od_model *m, const double *u, double h, int steps) {
  int *outputs = calloc((size_t)m->outputs + 1, sizeof *outputs), flowing = 0;
  double *y = calloc((size_t)m->outputs + 1, sizeof *y);
  od_plant *plant = NULL;
  for (int i = 0; i < m->outputs; i++) outputs[i] = i;
  assert_int_equal(od_model_plant(m, outputs, m->outputs, NULL, 0, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  assert_non_null(sim);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  for (int n = 0; n < steps; n++) {
    assert_int_equal(od_sim_outputs(sim, y), OD_OK);
    flowing += check_nodes(m, y);
    if (od_sim_step(sim, h, u) != OD_OK) break;  // some random machines are too stiff for this step
  }
  od_sim_free(sim);
  od_plant_free(plant);
  free(outputs);
  free(y);
  return flowing;
}

static void random_circuits(void **state) {
  (void)state;
  int flowing = 0;
  for (int found = 0, seed = 1; found < MACHINES; seed++) {
    od_model *m = od_random_machine((uint64_t)seed, seed % 2, seed % 3 == 0, true, seed % 5 == 0);
    const double u[8] = {0.7, -0.4, 0.3, 0.5, 0.2, -0.1, 0.9, 0.4};
    if (!m) continue;
    assert_true(m->inputs <= 8);
    flowing += check_run(m, u, 1e-4, 5);
    found++;
    od_model_free(m);
  }
  assert_true(flowing > 5 * MACHINES);
}

static void cases(void **state) {
  (void)state;
  glob_t files;
  int flowing = 0;
  assert_int_equal(glob(OD_SOURCE_DIR "/cases/*/machine.yaml", 0, NULL, &files), 0);
  assert_true(files.gl_pathc > 15);
  for (size_t i = 0; i < files.gl_pathc; i++) {
    od_machine *machine = od_test_machine(files.gl_pathv[i] + strlen(OD_SOURCE_DIR) + 1, NULL);
    const od_model *m = od_machine_model(machine);
    double *u = calloc((size_t)m->inputs + 1, sizeof *u);
    od_machine_inputs(machine, 0.5, u);
    flowing += check_run(m, u, 1e-3, 20);
    free(u);
    od_machine_free(machine);
  }
  globfree(&files);
  assert_true(flowing > 1000);
}

static void classes(void **state) {
  (void)state;
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_description *c = od_element_description_at(i);
    for (int k = 0; k < od_element_end_count(c); k++) {
      od_end_flow flow = od_element_end_flow(c, k);
      od_end_place at = od_element_end_at(c, k);
      bool moves_oil = false;
      for (int j = 0; j < c->equations->outs; j++)
        moves_oil = moves_oil || (c->equations->out[j].kind == OD_TO_THROUGH && k < 2) ||
                    (c->equations->out[j].kind == OD_TO_END && c->equations->out[j].index == k);
      if (moves_oil != (flow.output >= 0) || (at.end->role == OD_END_FLOW && !moves_oil) ||
          (at.end->role == OD_END_PILOT && moves_oil))
        fail_msg("class '%s', end %d (%s, %s): %s, output %d", c->equations->name, k, at.end->key,
                 od_end_role_name(at.end->role), moves_oil ? "flow" : "no flow", flow.output);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_circuits),
      cmocka_unit_test(cases),
      cmocka_unit_test(classes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
