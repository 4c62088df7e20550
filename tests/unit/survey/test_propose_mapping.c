// Proposed mappings of columns. Oracle: column_names.h, a list of names with the inputs and outputs that they mean, written before the
// similarity of names was tuned. The test prints the share of right proposals for names that were used for tuning, and for the
// held-out names.
#include "support/test.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine.h"
#include "memory/owned.h"
#include "random/random.h"
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

// An input without a similar column gets the only column with its unit, also one that an output has taken with a low score. No proposal if two
// columns or two inputs have the unit, if the column has no values, or if its name is certain to be an output.
static void test_inputs_by_unit(void **state) {
  (void)state;
  static const od_map_target targets[] = {
      {"u", "V", true}, {"valve.spool", "V", false}, {"A.pressure", "Pa", false}, {"w", "V", true}};
  static const struct {
    od_map_column column[2];
    int targets, expected;  // expected: target of the first column; -1: none
    const char *unit;
  } tries[] = {{{{"Ventilbefehl", "V", -3, 3}, {"pA", "bar", 2, 90}}, 3, 0, NULL},
               {{{"Ventil", "V", -3, 3}, {"pA", "bar", 2, 90}}, 3, 0, NULL},
               {{{"drive_mV", "", -3, 3}, {"pA", "bar", 2, 90}}, 3, 0, "mV"},
               {{{"valve spool", "V", -3, 3}, {"pA", "bar", 2, 90}}, 3, 1, NULL},
               {{{"Ventilbefehl", "V", -3, 3}, {"battery", "V", 23, 25}}, 3, -1, NULL},
               {{{"Ventilbefehl", "V", -3, 3}, {"pA", "bar", 2, 90}}, 4, -1, NULL},
               {{{"Ventilbefehl", "V", NAN, NAN}, {"pA", "bar", 2, 90}}, 3, -1, NULL},
               {{{"Ventilbefehl", "", -3, 3}, {"pA", "bar", 2, 90}}, 3, -1, NULL}};
  for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
    OD_SCOPED(od_mapping_free) od_mapping mapping = {0};
    od_error err = {0};
    int found = -1;
    assert_int_equal(od_mapping_propose(tries[i].column, 2, targets, tries[i].targets, &mapping, &err), OD_OK);
    for (int k = 0; k < mapping.count; k++) {
      const od_map_proposal *p = &mapping.proposal[k];
      if (p->column != 0) continue;
      found = p->target;
      assert_false(p->is_ambiguous);
      assert_int_equal(p->is_by_unit, found == 0);
      if (tries[i].unit) assert_string_equal(p->unit, tries[i].unit);
    }
    if (found != tries[i].expected)
      fail_msg("'%s': target %d, expected %d", tries[i].column[0].name, found, tries[i].expected);
  }
}

// Units with small and capital letters are one word of a name. Oracle: the words and units written by hand.
static void test_units_in_names(void **state) {
  (void)state;
  static const struct {
    const char *name, *last, *unit;
  } tries[] = {{"pump_kPa", "kPa", "kPa"},    {"pumpMPa", "MPa", "MPa"},    {"F.kN", "kN", "kN"},
               {"cmd mV", "mV", "mV"},        {"oil_degC", "degC", "degC"}, {"I [mA]", "mA", "mA"},
               {"torque_kNm", "kNm", "kN m"}, {"cmd_V", "V", "V"},          {"boomCylLen", "Len", NULL},
               {"kPaSensor", "Sensor", NULL}, {"crowd.pA", "A", "A"}};
  for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
    od_name_words w = od_name_words_of(tries[i].name);
    assert_true(w.count > 1);
    assert_string_equal(w.word[w.count - 1], tries[i].last);
    const char *unit = od_word_unit(w.word[w.count - 1], true);
    if (tries[i].unit && !unit) fail_msg("%s: no unit", tries[i].name);
    if (tries[i].unit)
      assert_string_equal(unit, tries[i].unit);
    else
      assert_null(unit);
  }
}

// ---- Random names

// Writes a random form of a word: whole, without vowels, or its first letters.
static void write_word(char *to, const char *word, uint64_t seed, int *draw) {
  size_t n = strlen(word), length = 0;
  int form = n < 4 ? 0 : (int)(4 * od_random_uniform(seed, 1, (uint64_t)(*draw)++, OD_USE_NOISE));
  for (size_t i = 0; i < n; i++) {
    bool is_vowel = strchr("aeiouAEIOU", word[i]) != NULL;
    if (form == 1 && i > 0 && is_vowel) continue;
    if (form == 2 && i >= 3) break;
    if (form == 3 && i >= 4) break;
    to[length++] = word[i];
  }
  to[length] = '\0';
}

// Returns the letter for a quantity; NULL: the word is no quantity.
static const char *letter_of(const char *word) {
  static const char *const letters[][2] = {
      {"pressure", "p"}, {"length", "x"}, {"position", "s"}, {"angle", "phi"}, {"force", "F"}};
  for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
    if (!strcmp(letters[i][0], word)) return letters[i][1];
  return NULL;
}

// Writes a random name for a target: its words in their order or with the last word first, with one of four separators or in camel case, and
// sometimes with a unit at the end. *has_unit: whether the unit is in the name.
static void write_name(char *to, size_t size, const od_map_target *t, const char *unit, uint64_t seed, bool *has_unit) {
  static const char *const separators[] = {"_", ".", " ", ""};
  int draw = 0;
  od_name_words w = od_name_words_of(t->name);
  bool is_reversed = od_random_uniform(seed, 1, (uint64_t)draw++, OD_USE_NOISE) < 0.3;
  int separator = (int)(4 * od_random_uniform(seed, 1, (uint64_t)draw++, OD_USE_NOISE));
  *has_unit = unit[0] != '\0' && od_random_uniform(seed, 1, (uint64_t)draw++, OD_USE_NOISE) < 0.3;
  to[0] = '\0';
  for (int i = 0; i < w.count; i++) {
    char word[OD_WORD_SIZE];
    const char *from = w.word[is_reversed ? (i + w.count - 1) % w.count : i];
    // The quantity is often a letter, or missing.
    const char *letter = letter_of(from);
    double form = letter ? od_random_uniform(seed, 1, (uint64_t)draw++, OD_USE_NOISE) : 1;
    if (form < 0.2 && w.count > 1) continue;
    if (form < 0.5)
      snprintf(word, sizeof word, "%s", letter);
    else
      write_word(word, from, seed, &draw);
    if (separator == 3 && i > 0) word[0] = (char)toupper((unsigned char)word[0]);
    snprintf(to + strlen(to), size - strlen(to), "%s%s", to[0] != '\0' ? separators[separator] : "", word);
  }
  if (*has_unit) snprintf(to + strlen(to), size - strlen(to), "_%s", unit);
}

// Units of quantities in which loggers store them, and a usual range in this unit.
static const struct {
  const char *si, *unit;
  double low, high;
} logged[] = {{"Pa", "bar", 5, 200}, {"m", "mm", 100, 900}, {"rad", "deg", -40, 90},
              {"N", "kN", -10, 50},  {"V", "V", -5, 5},     {"1", "", -1, 1}};

// Returns whether a target is measured or commanded often: an input, or an output that ends in one of these words.
static bool is_typical(const od_map_target *t) {
  static const char *const ends[] = {".pressure", ".length", ".position", ".angle", ".force", ".spool"};
  if (t->is_input) return true;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    size_t n = strlen(t->name), m = strlen(ends[i]);
    if (n > m && !strcmp(t->name + n - m, ends[i])) return true;
  }
  return false;
}

// Logs of 8 columns with random names. Prints the shares of right, wrong, missing and ambiguous proposals. Seeds from 1 to 50 were used for
// tuning.
static void test_random_names(void **state) {
  (void)state;
  enum { COLUMNS = 8, LOGS = 40 };
  static const char *const machines[] = {"fourbar-valve",  "excavator", "load-sensing",
                                         "position-servo", "press",     "crane"};
  const char *text = getenv("OD_FIRST_SEED");
  const uint64_t first = text ? strtoull(text, NULL, 10) : 30001;
  int all = 0, right = 0, wrong = 0, ambiguous = 0;
  for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
    OD_SCRATCH(scratch);
    OD_OWNED(od_machine_free) od_machine *machine = load(machines[m]);
    int target_count = 0;
    od_map_target *targets = od_map_targets_of(machine, &scratch, &target_count);
    for (uint64_t seed = first; seed < first + LOGS; seed++) {
      od_map_column column[COLUMNS];
      char name[COLUMNS][200];
      int truth[COLUMNS], count = 0;
      for (uint64_t k = 0; count < COLUMNS && k < 2000; k++) {
        int t = (int)(target_count * od_random_uniform(seed, 2, k, OD_USE_NOISE)), q = -1;
        for (int i = 0; i < (int)(sizeof logged / sizeof *logged); i++)
          if (!strcmp(logged[i].si, targets[t].unit)) q = i;
        for (int i = 0; i < count; i++) q = truth[i] == t ? -1 : q;
        if (q < 0 || !is_typical(&targets[t])) continue;
        bool has_unit;
        write_name(name[count], sizeof name[count], &targets[t], logged[q].unit, seed * 1000 + k, &has_unit);
        column[count] = (od_map_column){name[count], has_unit ? "" : logged[q].unit, logged[q].low, logged[q].high};
        truth[count++] = t;
      }
      OD_SCOPED(od_mapping_free) od_mapping mapping = {0};
      od_error err = {0};
      assert_int_equal(od_mapping_propose(column, count, targets, target_count, &mapping, &err), OD_OK);
      all += count;
      for (int k = 0; k < mapping.count; k++) {
        const od_map_proposal *p = &mapping.proposal[k];
        bool is_right = p->target == truth[p->column];
        right += is_right;
        ambiguous += p->is_ambiguous;
        wrong += !is_right && !p->is_ambiguous;
        if (!is_right && !p->is_ambiguous && text)
          printf("  %s: '%s' is %s, proposed %s (%.2f)\n", machines[m], column[p->column].name,
                 targets[truth[p->column]].name, targets[p->target].name, p->score);
      }
    }
  }
  printf("%d random names: %.1f %% right, %.1f %% wrong without a remark, %.1f %% ambiguous\n", all, 100. * right / all,
         100. * wrong / all, 100. * ambiguous / all);
  assert_true(right >= 0.9 * all && wrong <= 0.05 * all);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_lone_names),
                                     cmocka_unit_test(test_inputs_by_unit), cmocka_unit_test(test_units_in_names),
                                     cmocka_unit_test(test_random_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
