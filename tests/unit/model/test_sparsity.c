// Sparse rows of rates and the pattern of a step's matrix, on random machines.
//
// Oracle: a dense table of booleans, filled from the connections of the elements by the rules in model/rate_sparsity.c and
// model/step_pattern.h. Patterns must be equal: with a missing entry derivatives would be wrong, with an additional one steps would be slow.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "model/outputs.h"
#include "model/rate_derivatives.h"
#include "plant/model_plant_work.h"
#include "support/random_machine.h"

enum { MACHINES = 60, MOST = 400 };

typedef struct table {
  bool rate[MOST][MOST];   // rates of the circuit by columns
  bool group[MOST][MOST];  // flows into groups of junctions by columns
  int columns, junctions;  // the number of columns, the first column of a junction
} table;

static void fill(const od_model *m, table *t) {
  memset(t, 0, sizeof *t);
  t->junctions = 2 * m->actuators + m->circuit_states + m->signals;
  t->columns = t->junctions + m->junctions;
  assert_true(t->columns < MOST && m->circuit_states < MOST);
  for (int i = 0; i < m->join.targets; i++) {
    const od_target *s = &m->join.target[i];
    if (s->row < 0 || s->kind == OD_TO_FORCE) continue;
    bool *row = s->state >= 0 ? t->rate[s->state] : t->group[m->join.at_junction.group_of[m->node[s->target].junction]];
    for (int k = 0; k < s->ins; k++)
      if (m->join.column[s->in + k] < t->columns) row[m->join.column[s->in + k]] = true;
    if (m->join.warms >= 0) row[2 * m->actuators + m->join.warms] = true;
  }
  for (int i = 0; i < m->circuit_states; i++) t->rate[i][2 * m->actuators + i] = true;
  for (int i = 0; m->join.warms >= 0 && i < m->join.heaters; i++) {
    const od_instance *e = &m->instance[m->join.heater[i].instance];
    for (int k = 0; k < od_instance_class(m, e)->ins; k++) {
      int column = m->join.column[e->in - m->layout.in + k];
      if (column < t->columns) t->rate[m->join.warms][column] = true;
    }
  }
  for (int i = 0; i < m->circuit_states; i++)
    for (int j = 0; j < m->junctions; j++)
      for (int c = 0; t->rate[i][t->junctions + j] && c < t->junctions; c++)
        t->rate[i][c] = t->rate[i][c] || t->group[m->join.at_junction.group_of[j]][c];
}

static void check_rows(const od_model *m, const table *t) {
  const od_join *j = &m->join;
  const od_layout *l = &m->layout;
  int at = 0;
  assert_int_equal(j->row_start[0], 0);
  for (int i = 0; i < m->circuit_states; i++) {
    for (int c = 0; c < t->columns; c++) {
      assert_int_equal(od_rate_place(m, i, c), t->rate[i][c] ? l->rate_row + at : l->scalars_real - 1);
      if (!t->rate[i][c]) continue;
      assert_int_equal(j->row_column[at], c);
      if (c == 2 * m->actuators + i) assert_int_equal(j->diagonal[i], l->rate_row + at);
      at++;
    }
    assert_int_equal(j->row_start[i + 1], at);
  }
  assert_int_equal(l->scalars_real, l->rate_row + at + 1);
  // Rows of junctions: the columns of the group without its own pressures, then one column for each junction of the group.
  int place = l->force_row + m->actuators * l->force_width;
  for (int i = 0; i < j->at_junction.groups; i++) {
    const od_junction_group *g = &j->at_junction.group[i];
    int count = 0;
    for (int c = 0; c < t->junctions; c++)
      if (t->group[i][c]) assert_int_equal(j->at_junction.column[g->column + count++], c);
    assert_int_equal(g->columns, count);
    assert_int_equal(g->width, count + g->count);
    assert_int_equal(g->row, place);
    place += g->count * g->width;
    for (int k = 0; k < g->count; k++) {
      assert_int_equal(od_junction_row(m, g->first + k), g->row + k * g->width);
      for (int c = 0, found = 0; c < t->junctions; c++)
        assert_int_equal(od_junction_place(m, g->first + k, c),
                         t->group[i][c] ? g->row + k * g->width + found++ : l->scalars_real - 1);
    }
  }
  assert_int_equal(l->rate_row, place);
  // Each derivative of an output is added at the place of its row and column.
  for (int i = 0; i < j->targets; i++) {
    const od_target *s = &j->target[i];
    if (s->row < 0 || s->kind == OD_TO_FORCE) continue;
    for (int k = 0; k < s->ins; k++) {
      int c = j->column[s->in + k],
          want = s->state >= 0 ? od_rate_place(m, s->state, c) : od_junction_place(m, m->node[s->target].junction, c);
      assert_int_equal(j->place[s->place + k], want);
    }
  }
}

static void check_list(const bool *mark, int states, const int *list, int count) {
  int found = 0;
  for (int i = 0; i < states; i++)
    if (mark[i]) {
      assert_true(found < count);
      assert_int_equal(list[found++], i);
    }
  assert_int_equal(found, count);
}

static void check_step(const od_model *m, const table *t) {
  const od_step_pattern *p = &m->step;
  int first = 2 * m->actuators, slopes = 0;
  bool moved[MOST] = {false}, driven[MOST] = {false}, felt[MOST] = {false}, pushing[MOST] = {false};
  for (int i = 0; i < m->circuit_states; i++) {
    for (int c = 0; c < first; c++) moved[i] = moved[i] || t->rate[i][c];
    for (int k = 0; k < m->drives && m->blocks; k++)
      if (t->rate[i][first + m->circuit_states + m->drive[k]]) driven[i] = moved[i] = true;
    for (int c = first; c < first + m->circuit_states; c++) {
      if (!t->rate[i][c]) continue;
      if (p->sparse.values) assert_int_equal(p->slope[slopes], od_rate_place(m, i, c) - m->layout.rate_row);
      slopes++;
    }
  }
  for (int i = 0; i < m->measures && m->blocks; i++) od_output_mark_states(m, &m->measure[i], felt);
  for (int i = m->circuit_states; i < m->states && m->blocks; i++) felt[i] = true;
  od_model_mark_pushing(m, pushing);
  check_list(moved, m->states, p->moved, p->moves);
  check_list(driven, m->states, p->driven, p->drives);
  check_list(felt, m->states, p->felt, p->feels);
  check_list(pushing, m->states, p->pushing, p->pushes);
  if (p->sparse.values) assert_int_equal(p->slopes, slopes);
}

static void random_machines(void **state) {
  (void)state;
  static table t;
  int made = 0, junctions = 0, blocks = 0, warm = 0, sparse = 0;
  for (unsigned long long seed = 1; made < MACHINES; seed++) {
    od_model *m = od_random_machine_with(seed, seed % 2, seed % 3 == 0, true, seed % 2, OD_SPARSE_ALWAYS);
    if (!m) continue;
    made++;
    assert_non_null(m->join.row_start);
    fill(m, &t);
    check_rows(m, &t);
    check_step(m, &t);
    junctions += m->junctions > 0, blocks += m->drives > 0, warm += m->join.warms >= 0,
        sparse += m->step.sparse.values > 0;
    od_model_free(m);
  }
  print_message("of %d machines %d with junctions, %d with driving blocks, %d with warm oil, %d sparse\n", made,
                junctions, blocks, warm, sparse);
  assert_true(junctions > 5 && blocks > 5 && sparse > 5);
}

// Volumes in a row, with leaks between neighbors and between other pairs: rows are sparse from 16 states on if less than a third of the entries
// is used, in whole numbers. Each leak between two volumes is two entries, and each state is one.
static void sizes_of_sparse_circuits(void **state) {
  (void)state;
  int sparse = 0, full = 0, at_limit = 0;
  for (int n = 14; n <= 20; n++)
    for (int more = 0, pairs = n * (n - 1) / 2; more <= pairs - (n - 1); more++) {
      const int entries = n + 2 * (n - 1 + more), most = n * n / 3;
      if (more > 0 && abs(entries - most) > 6) continue;
      od_build *b = od_build_new();
      int first = 0;
      const double oil[] = {870, 1e4, 1.4e9};
      for (int i = 0; i < 3; i++) {
        char path[20];
        snprintf(path, sizeof path, "oil.%d", i);
        int place = od_build_number(b, path, oil[i], "1");
        if (i == 0) first = place;
      }
      od_build_oil(b, OD_OIL_CONSTANT, first);
      int volume = od_build_number(b, "volume", 1e-3, "m3"), slope = od_build_number(b, "slope", 1e-12, "m3/s/Pa"),
          node[20];
      char name[20];
      for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "V%d", i);
        node[i] = od_build_node(b, name, OD_NODE_VOLUME, volume, OD_UNUSED);
        snprintf(name, sizeof name, "V%d.pressure", i);
        od_build_initial(b, name, 1e6, true);
      }
      for (int i = 0, others = 0; i < n; i++)
        for (int k = i + 1; k < n; k++) {
          if (k > i + 1 && others++ >= more) continue;
          od_element_spec leak = od_element_spec_of("leak");
          leak.end[0] = node[i], leak.end[1] = node[k];
          leak.first_number = slope;
          snprintf(name, sizeof name, "L%d-%d", i, k);
          od_build_element(b, name, &leak);
        }
      od_model *m = NULL;
      od_error err = {0};
      if (od_build_finish(b, &m, &err) != OD_OK) fail_msg("%s", err.text);
      od_build_free(b);
      bool expected = n >= 16 && entries < most;
      assert_int_equal(m->circuit_states, n);
      assert_true((m->join.row_start != NULL) == expected);
      if (expected) assert_int_equal(m->join.row_columns, entries);
      *(expected ? &sparse : &full) += 1;
      // The pressure of a volume depends on its own state alone.
      for (int i = 0; i < n; i++) {
        bool mark[MOST] = {false};
        snprintf(name, sizeof name, "V%d.pressure", i);
        const int output = od_model_output_find(m, name);
        assert_true(output >= 0);
        od_output_mark_states(m, &m->output[output], mark);
        for (int k = 0; k < n; k++) assert_true(mark[k] == (k == m->node[node[i]].state));
      }
      at_limit += n >= 16 && abs(entries - most) < 2;
      od_model_free(m);
    }
  print_message("%d circuits with sparse rows, %d with full rows, %d near the limit\n", sparse, full, at_limit);
  assert_true(sparse > 5 && full > 5 && at_limit > 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_machines), cmocka_unit_test(sizes_of_sparse_circuits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
