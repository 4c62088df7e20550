// Proposed mappings of columns. Oracle: column_names.h, a list of names with the inputs and outputs that they mean, written before the
// similarity of names was tuned. The test prints the share of right proposals for names that were used for tuning, and for the
// held-out names.
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "machine/machine.h"
#include "memory/owned.h"
#include "unit/survey/column_names.h"
#include "survey/name_words.h"
#include "survey/propose_mapping.h"

static od_machine *load(const char *name) {
  char path[512];
  snprintf(path, sizeof path, OD_SOURCE_DIR "/cases/%s/machine.yaml", name);
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  const od_load_options options = {.may_lack_initial_state = true};
  assert_int_equal(od_machine_load(path, &options, &machine, messages), OD_OK);
  od_messages_free(messages);
  return machine;
}

// Counts of one half of the names.
typedef struct counts {
  int all, right, ambiguous, wrong;
} counts;

// Proposes a mapping for each log: all names of one machine are the columns of one log.
static void judge_machine(const char *name, counts half[2]) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_machine_free) od_machine *machine = load(name);
  int target_count = 0, count = 0, row[COLUMN_NAMES];
  od_map_target *targets = od_map_targets_of(machine, &scratch, &target_count);
  // Several names for one target are in different logs.
  for (int log = 0; log < 3; log++) {
    od_map_column column[COLUMN_NAMES];
    count = 0;
    for (int i = 0; i < COLUMN_NAMES; i++) {
      const column_name *c = &column_names[i];
      if (strcmp(c->machine, name) != 0) continue;
      int earlier = 0;
      for (int k = 0; k < i; k++)
        earlier += c->target[0] && !strcmp(column_names[k].machine, name) && !strcmp(column_names[k].target, c->target);
      if (earlier != log) continue;
      column[count] = (od_map_column){c->name, c->unit, c->low, c->high};
      row[count++] = i;
    }
    if (count == 0) continue;
    OD_SCOPED(od_mapping_free) od_mapping mapping = {0};
    od_error err = {0};
    assert_int_equal(od_mapping_propose(column, count, targets, target_count, &mapping, &err), OD_OK);
    for (int i = 0; i < count; i++) {
      const column_name *c = &column_names[row[i]];
      const od_map_proposal *p = NULL;
      for (int k = 0; k < mapping.count; k++)
        if (mapping.proposal[k].column == i) p = &mapping.proposal[k];
      counts *h = &half[row[i] % 2];
      bool is_right = p ? !strcmp(targets[p->target].name, c->target) : !c->target[0];
      h->all++;
      h->right += is_right;
      h->ambiguous += p && p->is_ambiguous;
      h->wrong += p && !is_right && !p->is_ambiguous;
      if (!is_right && (row[i] % 2 == 0 || getenv("OD_SHOW_HELD_OUT")))
        printf("  %s: '%s' [%s] is %s, proposed %s (%.2f: %s)\n", name, c->name, c->unit,
               c->target[0] ? c->target : "nothing", p ? targets[p->target].name : "nothing", p ? p->score : 0,
               p ? p->reason : "");
    }
  }
}

static void print_counts(const counts half[2]) {
  const char *const of[] = {"used for tuning", "held out"};
  for (int k = 0; k < 2; k++)
    printf("names %s: %d of %d right (%.0f %%), %d wrong without a remark, %d ambiguous\n", of[k], half[k].right,
           half[k].all, 100.0 * half[k].right / half[k].all, half[k].wrong, half[k].ambiguous);
}

static void test_names(void **state) {
  (void)state;
  counts half[2] = {0};
  for (int i = 0; i < COLUMN_NAMES; i++) {
    bool is_first = true;
    for (int k = 0; k < i; k++) is_first = is_first && strcmp(column_names[k].machine, column_names[i].machine) != 0;
    if (is_first) judge_machine(column_names[i].machine, half);
  }
  print_counts(half);
  assert_true(half[0].right >= 0.85 * half[0].all);
  assert_true(half[1].right >= 0.8 * half[1].all);
}

// Each name is the only column of its log, so no other column can take a wrong target.
static void test_lone_names(void **state) {
  (void)state;
  counts half[2] = {0};
  const char *loaded = "";
  OD_SCRATCH(scratch);
  od_machine *machine = NULL;
  od_map_target *targets = NULL;
  int target_count = 0;
  for (int i = 0; i < COLUMN_NAMES; i++) {
    const column_name *c = &column_names[i];
    if (strcmp(c->machine, loaded) != 0) {
      od_machine_free(machine);
      machine = load(loaded = c->machine);
      targets = od_map_targets_of(machine, &scratch, &target_count);
    }
    OD_SCOPED(od_mapping_free) od_mapping mapping = {0};
    od_error err = {0};
    const od_map_column column = {c->name, c->unit, c->low, c->high};
    assert_int_equal(od_mapping_propose(&column, 1, targets, target_count, &mapping, &err), OD_OK);
    const od_map_proposal *p = mapping.count > 0 ? &mapping.proposal[0] : NULL;
    counts *h = &half[i % 2];
    bool is_right = p ? !strcmp(targets[p->target].name, c->target) : !c->target[0];
    h->all++;
    h->right += is_right;
    h->ambiguous += p && p->is_ambiguous;
    h->wrong += p && !is_right && !p->is_ambiguous;
    if (!is_right && i % 2 == 0)
      printf("  alone: '%s' [%s] is %s, proposed %s (%.2f: %s)\n", c->name, c->unit,
             c->target[0] ? c->target : "nothing", p ? targets[p->target].name : "nothing", p ? p->score : 0,
             p ? p->reason : "");
  }
  od_machine_free(machine);
  print_counts(half);
  assert_true(half[0].right >= 0.85 * half[0].all);
  assert_true(half[1].right >= 0.8 * half[1].all);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_lone_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
