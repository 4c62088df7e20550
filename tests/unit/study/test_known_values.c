// Known values of metrics in study files: the keys 'published' and 'reference' of a case, alone and together, in terminal, JSON, Markdown and
// page, and mistakes in them. Oracle: the values in the file; exact messages.
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "report/page_result.h"
#include "study/study_summary.h"
#include "support/scratch.h"

static const char machine[] =
    "inputs: {u: {unit: Pa, sine: {amplitude: 3 bar, frequency: 1 Hz, offset: 1 bar}}}\n"
    "blocks: {copy: {type: gain, input: u, gain: 1}, lag: {type: first-order, input: u, time_constant: 1 s}}\n"
    "run: {time: 1 s, step: 10 ms}\n"
    "variants: {half: {inputs: {u: {sine: {amplitude: 1.5 bar}}}}, same: {}}\n";
static const char values[] =
    "values: {low: {output: copy, take: min, unit: bar}, high: {output: copy, take: max, unit: bar}}\n"
    "cases:\n";

// Loads a study with these cases. messages: receives a line per message, without the folder of the file.
static od_study *load(scratch *s, const char *cases, char *messages, size_t size) {
  char text[2000];
  int length = snprintf(text, sizeof text, "%s%s", values, cases);
  scratch_write(s, "machine.yaml", machine, sizeof machine - 1);
  const char *path = scratch_write(s, "x.yaml", text, (size_t)length);
  size_t n = 0, folder = strlen(path) - strlen("x.yaml");
  od_messages *list = od_messages_new();
  od_study *study = NULL;
  od_study_load(path, NULL, &study, list);
  messages[0] = '\0';
  for (int i = 0; i < od_messages_count(list); i++) {
    const od_message *m = od_messages_get(list, i);
    n += (size_t)snprintf(messages + n, size - n, "%s:%d:%d: %s\n", m->file + folder, m->line, m->column, m->text);
  }
  od_messages_free(list);
  return study;
}

typedef struct shown {
  char *terminal, *markdown, *page;
  json_t *rows;
} shown;

static char *text_of(const od_result *r, bool is_markdown) {
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  assert_non_null(to);
  if (is_markdown)
    od_result_print_markdown(r, to);
  else
    od_result_print(r, to, false);
  fclose(to);
  return text;
}

// Runs the cases and gives the summary in all formats.
static shown run(scratch *s, const char *cases) {
  char messages[1000];
  od_study *study = load(s, cases, messages, sizeof messages);
  if (!study) fail_msg("%s", messages);
  od_study_result *r = NULL;
  od_error err = {0};
  if (od_study_run(study, &(od_study_run_options){.threads = 1}, &r, &err) != OD_OK) fail_msg("%s", err.text);
  od_result summary = od_study_summary(study, r, 0);
  const char *page = scratch_path(s, "page.html");
  assert_int_equal(od_page_write_result(&summary, page, &err), OD_OK);
  const shown all = {text_of(&summary, false), text_of(&summary, true), scratch_read(page),
                     json_incref(json_object_get(summary.data, "rows"))};
  od_result_free(&summary);
  od_study_result_free(r);
  od_study_free(study);
  return all;
}

static void forget(shown s) {
  free(s.terminal), free(s.markdown), free(s.page);
  json_decref(s.rows);
}

// The field of a row in JSON. NAN: null.
static double field_of(const shown *s, const char *name, const char *metric, const char *field) {
  size_t i;
  json_t *row;
  json_array_foreach(s->rows, i, row) {
    if (strcmp(json_string_value(json_object_get(row, "case")), name) != 0) continue;
    if (strcmp(json_string_value(json_object_get(row, "metric")), metric) != 0) continue;
    const json_t *value = json_object_get(row, field);
    assert_non_null(value);
    return json_is_null(value) ? NAN : json_number_value(value);
  }
  fail_msg("no %s of %s", metric, name);
  return NAN;
}

// Whether all texts for people have, or none of them has, a column with this heading.
static void has_column(const shown *s, const char *heading, bool expected) {
  char markdown[100], page[100];
  snprintf(markdown, sizeof markdown, " %s |", heading);
  snprintf(page, sizeof page, ">%s</th>", heading);
  assert_int_equal(strstr(s->terminal, heading) != NULL, expected);
  assert_int_equal(strstr(s->markdown, markdown) != NULL, expected);
  assert_int_equal(strstr(s->page, page) != NULL, expected);
}

static void test_both(void **state) {
  shown s =
      run(*state,
          "  a: {machine: machine.yaml, do: simulate, published: {low: -2.125}, reference: {low: -2.25, high: 4.5}}\n"
          "  b: {machine: machine.yaml, do: simulate, variants: [half, same], reference: {doubtful: 0}}\n");
  has_column(&s, "published", true);
  has_column(&s, "reference", true);
  assert_true(field_of(&s, "a", "low", "published") == -2.125 && field_of(&s, "a", "low", "reference") == -2.25);
  assert_true(isnan(field_of(&s, "a", "high", "published")) && field_of(&s, "a", "high", "reference") == 4.5);
  assert_true(field_of(&s, "b/half", "doubtful", "reference") == 0);
  assert_true(field_of(&s, "b/same", "doubtful", "reference") == 0);
  assert_true(isnan(field_of(&s, "b/half", "low", "reference")));
  // The columns have this order, and the numbers are in their columns.
  assert_true(strstr(s.terminal, "published") < strstr(s.terminal, "reference"));
  assert_true(strstr(s.terminal, "-2.125") < strstr(s.terminal, "-2.25"));
  assert_non_null(strstr(s.markdown, " -2.125 | -2.25 | "));
  assert_non_null(strstr(s.markdown, " - | 4.5 | "));
  forget(s);
}

static void test_one_or_none(void **state) {
  shown s = run(*state, "  a: {machine: machine.yaml, do: simulate, reference: {low: -2.25}}\n");
  has_column(&s, "published", false);
  has_column(&s, "reference", true);
  assert_true(isnan(field_of(&s, "a", "low", "published")) && field_of(&s, "a", "low", "reference") == -2.25);
  forget(s);
  s = run(*state, "  a: {machine: machine.yaml, do: simulate, published: {low: -2.25}}\n");
  has_column(&s, "published", true);
  has_column(&s, "reference", false);
  assert_true(field_of(&s, "a", "low", "published") == -2.25 && isnan(field_of(&s, "a", "low", "reference")));
  forget(s);
  s = run(*state, "  a: {machine: machine.yaml, do: simulate}\n");
  has_column(&s, "published", false);
  has_column(&s, "reference", false);
  assert_true(isnan(field_of(&s, "a", "low", "published")) && isnan(field_of(&s, "a", "low", "reference")));
  forget(s);
}

// The same mistake in either key gives the same message, with the place and the name of the key.
static void test_mistakes(void **state) {
  static const char *const keys[] = {"published", "reference"};
  for (int i = 0; i < 2; i++) {
    char cases[500], messages[1000], expected[500];
    snprintf(cases, sizeof cases, "  a: {machine: machine.yaml, do: simulate,\n      %s: {low: large}}\n", keys[i]);
    assert_null(load(*state, cases, messages, sizeof messages));
    assert_string_equal(messages, "x.yaml:4:24: 'large' is not a number; low must be a number\n");
    snprintf(cases, sizeof cases, "  a: {machine: machine.yaml, do: simulate,\n      %s: 3}\n", keys[i]);
    assert_null(load(*state, cases, messages, sizeof messages));
    assert_string_equal(messages, "x.yaml:4:18: found '3', expected a map of metrics and their values\n");
    snprintf(cases, sizeof cases, "  a: {machine: machine.yaml, do: simulate,\n      %sx: {low: 3}}\n", keys[i]);
    assert_null(load(*state, cases, messages, sizeof messages));
    snprintf(expected, sizeof expected, "x.yaml:4:7: unknown key '%sx' in the case 'a'; did you mean '%s'?\n", keys[i],
             keys[i]);
    assert_string_equal(messages, expected);

    // A metric that the case does not have: known after the case is prepared.
    snprintf(cases, sizeof cases, "  a: {machine: machine.yaml, do: simulate,\n      %s: {lwo: 3}}\n", keys[i]);
    od_study *study = load(*state, cases, messages, sizeof messages);
    assert_non_null(study);
    od_study_result *r = NULL;
    od_error err = {0};
    assert_int_equal(od_study_run(study, NULL, &r, &err), OD_BAD_INPUT);
    assert_non_null(strstr(err.text, "x.yaml:4:19: the case 'a' has no metric 'lwo'; did you mean 'low'?"));
    assert_null(r);
    od_study_free(study);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_both, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_one_or_none, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_mistakes, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
