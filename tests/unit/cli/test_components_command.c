// oleodyn components: every class of the table is listed, shown and documented. The oracles: the table itself, and the page in
// docs, which people read.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "blocks/block_classes.h"
#include "elements/elements.h"
#include "support/program.h"

static void test_lists_all(void **state) {
  scratch *s = *state;
  outcome o = run(s, "components");
  ends_with(o, 0);
  for (int i = 0; i < od_element_class_count(); i++) {
    says(o.out, od_element_class_at(i)->name);
    says(o.out, od_element_class_at(i)->summary);
  }
  for (int i = 0; i < od_block_class_count(); i++) {
    says(o.out, od_block_classes[i]->type);
    says(o.out, od_block_classes[i]->summary);
  }
  forget(o);
}

static void test_shows_keys(void **state) {
  scratch *s = *state;
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_class *c = od_element_class_at(i);
    outcome o = run(s, "components '%s'", c->name);
    ends_with(o, 0);
    for (int k = 0; k < c->field_count; k++) says(o.out, c->fields[k].key), says(o.out, c->fields[k].meaning);
    forget(o);
  }
  for (int i = 0; i < od_block_class_count(); i++) {
    const od_block_class *c = od_block_classes[i];
    outcome o = run(s, "components '%s'", c->type);
    ends_with(o, 0);
    for (int k = 0; k < OD_MOST_INPUT_KEYS && c->inputs[k].key; k++) says(o.out, c->inputs[k].key);
    for (int k = 0; k < OD_MOST_BLOCK_FIELDS && c->fields[k].key; k++) {
      says(o.out, c->fields[k].key);
      says(o.out, c->fields[k].meaning);
      if (c->fields[k].or_key) says(o.out, c->fields[k].or_key);
    }
    forget(o);
  }
  outcome o = run(s, "components reliefs");  // sections are names, too
  ends_with(o, 0);
  says(o.out, "relief valve");
  forget(o);
}

static void test_json(void **state) {
  scratch *s = *state;
  outcome o = run(s, "components --json");
  ends_with(o, 0);
  json_t *json = json_loads(o.out, 0, NULL), *list = json_object_get(json, "components");
  assert_int_equal(json_array_size(list), od_element_class_count());
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_class *c = od_element_class_at(i);
    const json_t *one = json_array_get(list, (size_t)i);
    assert_string_equal(json_string_value(json_object_get(one, "name")), c->name);
    assert_int_equal(json_array_size(json_object_get(one, "fields")), c->field_count);
  }
  const json_t *blocks = json_object_get(json, "blocks");
  assert_int_equal(json_array_size(blocks), od_block_class_count());
  for (int i = 0; i < od_block_class_count(); i++)
    assert_string_equal(json_string_value(json_object_get(json_array_get(blocks, (size_t)i), "type")),
                        od_block_classes[i]->type);
  json_decref(json);
  forget(o);
  o = run(s, "components pid spring --json");
  ends_with(o, 0);
  json = json_loads(o.out, 0, NULL);
  assert_int_equal(json_array_size(json_object_get(json, "components")), 1);
  assert_int_equal(json_array_size(json_object_get(json, "blocks")), 1);
  json_decref(json);
  forget(o);
}

static void test_wrong_name(void **state) {
  scratch *s = *state;
  outcome o = run(s, "components orifcie");
  ends_with(o, 2);
  says(o.err, "did you mean 'orifice'?");
  forget(o);
  // Short names, also misspelt ones; words that several have; sections.
  static const char *const meant[][2] = {{"counterbalance", "did you mean 'counterbalance valve'?"},
                                         {"counterblance", "did you mean 'counterbalance valve'?"},
                                         {"relief", "did you mean 'relief valve' or "},
                                         {"thermal_acumulators", "did you mean 'thermal_accumulators'?"},
                                         {"zzz", "'oleodyn components' lists them"}};
  for (size_t i = 0; i < sizeof meant / sizeof *meant; i++) {
    o = run(s, "components %s", meant[i][0]);
    ends_with(o, 2);
    says(o.err, meant[i][1]);
    forget(o);
  }
}

// A picture of every class that has a section and flows or forces; others say why there is none.
static void test_plots(void **state) {
  scratch *s = *state;
  int drawn = 0;
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_class *c = od_element_class_at(i);
    if (!c->section && c != &od_port_class) continue;
    outcome o = run(s, "components '%s' --plot curve.svg", c->name);
    char *picture = o.code == 0 ? scratch_read(scratch_path(s, "curve.svg")) : NULL;
    if (o.code == 0) {
      assert_non_null(picture);
      says(picture, "</svg>"), says(picture, c->name), says(picture, "<path");
      assert_null(strstr(picture, "nan")), drawn++;
    } else {
      ends_with(o, 2);
      says(o.err, "there is nothing to draw of");
    }
    free(picture);
    forget(o);
  }
  assert_true(drawn >= 35);
  // An orifice between 300 bar and 100 bar, written out: the last row of its table. Areas and coefficients are in the middle of what is usual.
  outcome o = run(s, "components orifice --csv -");
  ends_with(o, 0);
  const od_element_field *f = od_orifice_class.fields;
  double area = sqrt(f[0].limits.usual_low * f[0].limits.usual_high), p = 0, flow = 0;
  double discharge = sqrt(f[1].limits.usual_low * f[1].limits.usual_high);
  char *last = strrchr(o.out, '\n');
  *last = '\0';
  last = strrchr(o.out, '\n') + 1;
  for (int column = 0; last && column < 5; column++, last = strchr(last, ',') ? strchr(last, ',') + 1 : NULL)
    *(column == 0 ? &p : &flow) = strtod(last, NULL);
  double want = area * discharge * sqrt(2 / 870.0 * 200e5);
  assert_true(p == 300e5 && fabs(flow - want) < 1e-6 * want);  // the last column: fully open
  forget(o);
  static const char *const wrong[][2] = {{"--plot x.svg", "expected one NAME, found 0"},
                                         {"orifice pump --plot x.svg", "expected one NAME, found 2"},
                                         {"gain --plot x.svg", "there is nothing to draw of 'gain'"},
                                         {"port --plot x.svg", "there is nothing to draw of 'port'"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    o = run(s, "components %s", wrong[i][0]);
    ends_with(o, 2);
    says(o.err, wrong[i][1]);
    forget(o);
  }
}

// Junctions are named as ends exactly where the loader takes them: elements without volume that do not act on the mechanism.
static void test_junctions(void **state) {
  scratch *s = *state;
  static const struct {
    const char *name;
    bool junctions;
  } classes[] = {{"orifice", true}, {"shuttle valve", true}, {"pipe", false}, {"cylinder", false}, {"motor", false}};
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    outcome o = run(s, "components '%s'", classes[i].name);
    ends_with(o, 0);
    assert_true((strstr(o.out, "junction") != NULL) == classes[i].junctions);
    forget(o);
  }
}

// `oleodyn components --markdown > docs/components.md` makes it right again.
static void test_page_is_up_to_date(void **state) {
  scratch *s = *state;
  outcome o = run(s, "components --markdown");
  ends_with(o, 0);
  char *page = scratch_read(OD_SOURCE_DIR "/docs/components.md");
  assert_non_null(page);
  assert_string_equal(o.out, page);
  free(page);
  forget(o);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_lists_all),         TEST(test_shows_keys), TEST(test_json),
                                     TEST(test_wrong_name),        TEST(test_junctions),  TEST(test_plots),
                                     TEST(test_page_is_up_to_date)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
