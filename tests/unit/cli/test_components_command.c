// oleodyn components: every class of the table is listed, shown and documented. The oracles: the table itself, and the page in
// docs.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

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
    says(o.out, od_element_description_at(i)->summary);
  }
  for (int i = 0; i < od_block_class_count(); i++) {
    says(o.out, od_block_classes[i]->type);
    says(o.out, od_block_descriptions[i]->summary);
  }
  forget(o);
}

static void test_shows_keys(void **state) {
  scratch *s = *state;
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_description *c = od_element_description_at(i);
    outcome o = run(s, "components '%s'", c->equations->name);
    ends_with(o, 0);
    for (int k = 0; k < c->field_count; k++) says(o.out, c->fields[k].key), says(o.out, c->fields[k].meaning);
    forget(o);
  }
  for (int i = 0; i < od_block_class_count(); i++) {
    const od_block_description *c = od_block_descriptions[i];
    outcome o = run(s, "components '%s'", c->equations->type);
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
    const od_element_description *c = od_element_description_at(i);
    const json_t *one = json_array_get(list, (size_t)i);
    assert_string_equal(json_string_value(json_object_get(one, "name")), c->equations->name);
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
  // Short names, also misspelled ones; words that several names contain; sections.
  static const char *const meant[][2] = {{"counterbalance", "did you mean 'counterbalance valve'?"},
                                         {"counterblance", "did you mean 'counterbalance valve'?"},
                                         {"relief", "did you mean 'relief valve' or "},
                                         {"thermal_acumulators", "did you mean 'thermal_accumulators'?"},
                                         {"zzz", "'oleodyn components' lists the components"}};
  for (size_t i = 0; i < sizeof meant / sizeof *meant; i++) {
    ends_and_says(run(s, "components %s", meant[i][0]), 2, meant[i][1]);
  }
}

// A picture of every class that has a section and flows or forces; others state why there is none.
static void test_plots(void **state) {
  scratch *s = *state;
  int drawn = 0;
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_description *c = od_element_description_at(i);
    if (!c->section && c != &od_port_description) continue;
    outcome o = run(s, "components '%s' --plot curve.svg", c->equations->name);
    char *picture = o.code == 0 ? scratch_read(scratch_path(s, "curve.svg")) : NULL;
    if (o.code == 0) {
      assert_non_null(picture);
      says(picture, "</svg>"), says(picture, c->equations->name), says(picture, "<path");
      assert_null(strstr(picture, "nan")), drawn++;
    } else {
      ends_with(o, 2);
      says(o.err, "has no curve");
    }
    free(picture);
    forget(o);
  }
  assert_true(drawn >= 35);
  // An orifice between 300 bar and 100 bar by hand: the last row of its table. Areas and coefficients are in the middle of the usual range.
  outcome o = run(s, "components orifice --csv -");
  ends_with(o, 0);
  const od_element_field *f = od_orifice_description.fields;
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
                                         {"gain --plot x.svg", "'gain' has no curve"},
                                         {"port --plot x.svg", "'port' has no curve"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ends_and_says(run(s, "components %s", wrong[i][0]), 2, wrong[i][1]);
  }
}

// Junctions are listed as possible ends if and only if the loader accepts them: elements without volume that do not act on
// the mechanism.
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

// The same text except for numbers, which may differ by the rounding of a coordinate: the arithmetic of compilers differs in the last digit.
static void assert_same_picture(const char *one, const char *other) {
  while (*one && *other) {
    if ((*one >= '0' && *one <= '9') || *one == '-') {
      char *end, *other_end;
      double a = strtod(one, &end), b = strtod(other, &other_end);
      if (end > one && other_end > other) {
        assert_true(fabs(a - b) < 0.25);
        one = end, other = other_end;
        continue;
      }
    }
    assert_int_equal(*one, *other);
    one++, other++;
  }
  assert_int_equal(*one, *other);
}

// `cd docs && oleodyn components --markdown --pictures components > components.md` updates it. Every linked picture exists and agrees with the
// present equations; every class with its own picture has a link.
static void test_page_is_up_to_date(void **state) {
  scratch *s = *state;
  char path[512];
  snprintf(path, sizeof path, "%s", scratch_path(s, "."));
  outcome o = run(s, "components --markdown --pictures '%s'", path);
  ends_with(o, 0);
  char *page = scratch_read(OD_SOURCE_DIR "/docs/components.md");
  assert_non_null(page);
  assert_string_equal(o.out, page);
  int pictures = 0;
  for (char *at = page; (at = strstr(at, "](components/")) != NULL; pictures++) {
    char name[80], committed[sizeof OD_SOURCE_DIR + 120];
    at += strlen("](components/");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ")"), at);
    snprintf(committed, sizeof committed, OD_SOURCE_DIR "/docs/components/%s", name);
    char *want = scratch_read(committed), *drawn = scratch_read(scratch_path(s, name));
    assert_non_null(want);
    assert_non_null(drawn);
    assert_same_picture(drawn, want);
    says(drawn, "class=\"curve c0\"");
    free(want), free(drawn);
  }
  assert_true(pictures >= 40);
  free(page);
  forget(o);
  ends_and_says(run(s, "components --pictures no-such-folder"), 1, "no-such-folder");
}

// States settle before they are drawn. By the data sheet: a pressure-controlled pump delivers its full flow below its set pressure and
// none above its range.
static void test_states_at_rest(void **state) {
  scratch *s = *state;
  outcome o = run(s, "components 'pressure-controlled pump' --csv curve.csv");
  ends_with(o, 0);
  forget(o);
  char *text = scratch_read(scratch_path(s, "curve.csv"));
  const od_element_description *c = NULL;
  for (int i = 0; i < od_element_class_count(); i++)
    if (strcmp(od_element_class_at(i)->name, "pressure-controlled pump") == 0) c = od_element_description_at(i);
  assert_non_null(c);
  double set = 0, range = 0, full = 0;
  for (int i = 0; i < c->field_count; i++) {
    const od_element_field *f = &c->fields[i];
    double value = isnan(f->fallback) ? sqrt(f->limits.usual_low * f->limits.usual_high) : f->fallback;
    if (strcmp(f->key, "set") == 0) set = value;
    if (strcmp(f->key, "range") == 0) range = value;
    if (strcmp(f->key, "flow") == 0) full = value;
  }
  assert_true(set > 0 && range > 0 && full > 0);
  int below = 0, above = 0;
  for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
    char *end;
    double p = strtod(line + 1, &end), flow = *end == ',' ? strtod(end + 1, NULL) : NAN;
    if (p < set - range) assert_true(fabs(flow - full) < 1e-6 * full), below++;
    if (p > set + 2 * range) assert_true(fabs(flow) < 1e-6 * full), above++;
  }
  assert_true(below > 20 && above > 20);
  free(text);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_lists_all),          TEST(test_shows_keys),    TEST(test_json),
                                     TEST(test_wrong_name),         TEST(test_junctions),     TEST(test_plots),
                                     TEST(test_page_is_up_to_date), TEST(test_states_at_rest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
