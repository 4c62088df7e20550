// Results. Oracle: texts and JSON written by hand.
#include "support/test.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/result.h"

static char *printed(const od_result *r, bool is_bold) {
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  assert_non_null(to);
  od_result_print(r, to, is_bold);
  fclose(to);
  return text;
}

static const od_result_column columns[] = {
    {"name", "output", OD_CELL_TEXT},       {"unit", "unit", OD_CELL_UNIT},     {"max", "max", OD_CELL_NUMBER},
    {"error_percent", NULL, OD_CELL_PLAIN}, {"p", "p, %", OD_CELL_PLAIN, 0, 2}, {"samples", "samples", OD_CELL_WHOLE},
    {NULL, NULL, OD_CELL_REMARK},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

// The tables of a result point to it, so the result stays where it is filled.
static void two_rows(od_result *r) {
  *r = od_result_new("Report", "a machine");
  od_result_heading(r, "a machine: %d s", 5);
  od_result_table *t = od_result_add_table(r, "outputs", columns, COLUMNS);
  od_result_add_row(t, "Pa", 2e7);
  od_result_cell_text(t, "größer");
  od_result_cell(t, 2e7);
  od_result_cell(t, 0.5);
  od_result_cell(t, 99.123);
  od_result_cell(t, 1200);
  od_result_cell_text(t, "at its bound");
  od_result_row_set(t, "pair", json_pack("[i, i]", 1, 2));
  od_result_add_row(t, "m", 0.25);
  od_result_cell_text(t, "x");
  od_result_cell(t, 0.25);
  od_result_cell(t, INFINITY);
  od_result_cell(t, NAN);
  od_result_cell(t, 7);
  od_result_line(r, "%s: done", "search");
}

// Columns are as wide as their longest cell, numbers are right-aligned, units are the usual ones, no line ends with blanks.
static void test_terminal(void **state) {
  (void)state;
  od_result r;
  two_rows(&r);
  char *text = printed(&r, false);
  assert_string_equal(text,
                      "a machine: 5 s\n"
                      "  output  unit  max   p, %  samples\n"
                      "  größer  bar   200  99.12     1200  at its bound\n"
                      "  x       mm    250      -        7\n"
                      "search: done\n");
  free(text);
  od_result_free(&r);
}

// The data are in SI and have every column with a key; numbers that JSON does not have are null.
static void test_json(void **state) {
  (void)state;
  od_result r;
  two_rows(&r);
  od_result_number(&r, "time", 5);
  od_result_whole(&r, "steps", 17);
  od_result_flag(&r, "complete", true);
  od_result_text(&r, "message", NULL);
  json_t *wanted = json_loads(
      "{\"outputs\": [{\"name\": \"größer\", \"unit\": \"Pa\", \"max\": 2e7, \"error_percent\": 0.5, \"p\": 99.123, \"samples\": 1200, "
      "\"pair\": [1, 2]}, {\"name\": \"x\", \"unit\": \"m\", \"max\": 0.25, \"error_percent\": null, \"p\": null, \"samples\": 7}], "
      "\"time\": 5.0, \"steps\": 17, \"complete\": true, \"message\": null}",
      0, NULL);
  assert_non_null(wanted);
  assert_true(json_equal(r.data, wanted));
  assert_true(od_result_is_complete(&r));
  json_decref(wanted);
  od_result_free(&r);
}

// A table without rows is not shown; headings are bold on request; a verdict is in the view and in the data.
static void test_parts(void **state) {
  (void)state;
  od_verdict v = {0};
  assert_true(od_verdict_add(&v, OD_DOUBTFUL, "step.long", "Step too long:", "1 ms"));
  od_result r = od_result_new("Report", "a machine");
  od_result_heading(&r, "title");
  od_result_add_table(&r, "none", columns, COLUMNS);
  od_result_verdict(&r, &v);
  char *text = printed(&r, true);
  assert_string_equal(
      text,
      "\033[1mtitle\033[0m\nverdict: doubtful (the result may be inaccurate or incomplete)\n  Step too long: 1 ms\n");
  assert_int_equal(json_array_size(json_object_get(r.data, "none")), 0);
  assert_string_equal(json_string_value(json_object_get(json_object_get(r.data, "verdict"), "trust")), "doubtful");
  free(text);
  od_result_free(&r);
  od_verdict_free(&v);
}

// Rows of a map are objects under their first cell.
static void test_map(void **state) {
  (void)state;
  static const od_result_column law[] = {{NULL, "parameter", OD_CELL_TEXT}, {"value", "value", OD_CELL_NUMBER}};
  od_result r = od_result_new("Report", "a law");
  od_result_table *t = od_result_add_map(&r, "parameters", law, 2);
  const char *const name[] = {"Fs", "Fc"};
  for (int i = 0; i < 2; i++) {
    od_result_add_row(t, "N", 1);
    od_result_cell_text(t, name[i]);
    od_result_cell(t, 10 + i);
    od_result_row_set(t, "unit", json_string("N"));
  }
  json_t *wanted = json_loads(
      "{\"parameters\": {\"Fs\": {\"value\": 10.0, \"unit\": \"N\"}, \"Fc\": {\"value\": 11.0, \"unit\": \"N\"}}}", 0,
      NULL);
  assert_true(json_equal(r.data, wanted));
  json_decref(wanted);
  od_result_free(&r);
}

// Warnings are notices in the view and a list of texts in the data, for any length.
static void test_warnings(void **state) {
  (void)state;
  static char digits[6001];
  memset(digits, '7', sizeof digits - 1);
  od_verdict v = {0};
  assert_true(od_verdict_add(&v, OD_DOUBTFUL, "point.moving", "In motion:", "the machine does not rest"));
  od_result r = od_result_new("Report", "a machine");
  od_result_warnings(&r, &v);
  od_result_line(&r, "%s", digits);
  char *text = printed(&r, false), wanted[6100];
  snprintf(wanted, sizeof wanted, "In motion: the machine does not rest\n%s\n", digits);
  assert_string_equal(text, wanted);
  json_t *list = json_pack("{s:[s]}", "warnings", "the machine does not rest");
  assert_true(json_equal(r.data, list));
  json_decref(list);
  free(text);
  od_result_free(&r);
  od_verdict_free(&v);
}

// Tables with the same key are one list in the data; a number is shown as the text that is given with it.
static void test_one_list(void **state) {
  (void)state;
  static const od_result_column two[] = {
      {"name", "output", OD_CELL_TEXT}, {"p", "p", OD_CELL_PLAIN}, {"n", NULL, OD_CELL_WHOLE}};
  od_result r = od_result_new("Report", "a machine");
  for (int i = 0; i < 2; i++) {
    od_result_table *t = od_result_add_table(&r, "outputs", two, 3);
    od_result_add_row(t, NULL, NAN);
    od_result_cell_text(t, i ? "b" : "a");
    od_result_cell_shown(t, 0.25 + i, i ? "yes" : "0.2 \u00b1 0.1");
    od_result_cell_shown(t, 3, "three");
  }
  char *text = printed(&r, false);
  assert_string_equal(text, "  output          p\n  a       0.2 \u00b1 0.1\n  output    p\n  b       yes\n");
  json_t *wanted = json_loads(
      "{\"outputs\": [{\"name\": \"a\", \"p\": 0.25, \"n\": 3}, {\"name\": \"b\", \"p\": 1.25, \"n\": 3}]}", 0, NULL);
  assert_true(json_equal(r.data, wanted));
  json_decref(wanted);
  free(text);
  od_result_free(&r);
}

// An empty line precedes headings except the first, and groups of rows; tables may have no headings and may be in lists inside the data.
static void test_groups(void **state) {
  (void)state;
  static const od_result_column plain[] = {{"name", "", OD_CELL_TEXT}, {"n", "", OD_CELL_WHOLE}};
  od_result r = od_result_new("Report", "a machine");
  json_t *list = json_array();
  od_result_set(&r, "parts", json_pack("{s:o}", "bodies", list));
  od_result_heading(&r, "first");
  od_result_heading(&r, "second");
  od_result_table *t = od_result_add_table_to(&r, list, plain, 2);
  for (int i = 0; i < 3; i++) {
    od_result_add_row(t, NULL, NAN);
    if (i == 2) od_result_begin_group(t);
    od_result_cell_text(t, i ? "b" : "long");
    od_result_cell(t, i);
  }
  char *text = printed(&r, false);
  assert_string_equal(text, "first\n\nsecond\n  long  0\n  b     1\n\n  b     2\n");
  json_t *wanted = json_loads(
      "{\"parts\": {\"bodies\": [{\"name\": \"long\", \"n\": 0}, {\"name\": \"b\", \"n\": 1}, {\"name\": \"b\", \"n\": 2}]}}",
      0, NULL);
  assert_true(json_equal(r.data, wanted));
  json_decref(wanted);
  free(text);
  od_result_free(&r);
}

// The same view as Markdown: bars in cells are escaped, words from files are code, empty lines separate lists.
static void test_markdown(void **state) {
  (void)state;
  static const od_result_column keys[] = {
      {"key", "key", OD_CELL_CODE}, {NULL, "meaning", OD_CELL_TEXT}, {"n", NULL, OD_CELL_WHOLE}};
  char *text = NULL;
  size_t size = 0;
  od_result r = od_result_new("Reference", "Parts");
  od_result_line(&r, "All of them, a * b * c.");
  od_result_section(&r, "Oil");
  od_result_heading(&r, "pump");
  od_result_fact(&r, "In files", "section '%s'", "pumps");
  od_result_fact(&r, "Shows", "flow");
  od_result_table *t = od_result_add_table(&r, "fields", keys, 3);
  od_result_add_row(t, NULL, NAN);
  od_result_cell_text(t, "flow");
  od_result_cell_text(t, "|flow|");
  od_result_cell(t, 1);
  od_result_audience(&r, OD_FOR_TERMINAL);
  od_result_line(&r, "not here");
  od_result_audience(&r, OD_FOR_ALL);
  od_result_picture(&r, "pump", "pictures/pump.svg");
  FILE *to = open_memstream(&text, &size);
  od_result_print_markdown(&r, to);
  fclose(to);
  assert_string_equal(
      text,
      "# Parts\n\nAll of them, a \\* b \\* c.\n\n## Oil\n\n### pump\n\n- In files: section 'pumps'\n- Shows: flow\n\n"
      "| key | meaning |\n|---|---|\n| `flow` | \\|flow\\| |\n\n![pump](pictures/pump.svg)\n");
  free(text);
  od_result_free(&r);
}

// Cells beyond the last column, and cells of a table after a failed allocation, are omitted.
static void test_surplus(void **state) {
  (void)state;
  od_result r;
  two_rows(&r);
  od_result_table *t = r.first->next->table;
  for (int i = 0; i < 20; i++) od_result_cell_text(t, "surplus");
  assert_int_equal(t->filled, COLUMNS);
  od_result_add_row(NULL, "Pa", 1);
  od_result_cell(NULL, 1);
  od_result_cell_text(NULL, "x");
  od_result_row_set(NULL, "x", json_null());
  od_result_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_terminal), cmocka_unit_test(test_json),   cmocka_unit_test(test_parts),
      cmocka_unit_test(test_surplus),  cmocka_unit_test(test_map),    cmocka_unit_test(test_warnings),
      cmocka_unit_test(test_one_list), cmocka_unit_test(test_groups), cmocka_unit_test(test_markdown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
