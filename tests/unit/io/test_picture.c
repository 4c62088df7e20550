// Pictures: logarithmic axes, histograms, and the text of a picture for terminals. Oracles: counts and places computed by hand.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/picture.h"
#include "support/scratch.h"
#include "support/xml.h"

static void test_log_axis(void **state) {
  (void)state;
  od_axis a = od_axis_make_log(0.1, 1000, "Hz", 8);
  static const char *const labels[] = {"0.1", "1", "10", "100", "1000"};
  assert_int_equal(a.ticks, 5);
  for (int i = 0; i < 5; i++) {
    char text[OD_AXIS_TEXT];
    od_axis_label(&a, i, text);
    assert_string_equal(text, labels[i]);
    assert_true(fabs(od_axis_place(&a, od_axis_tick(&a, i)) - i / 4.0) < 1e-12);
  }
  a = od_axis_make_log(3, 30, "1", 6);  // less than two decades: 5, 10, 20
  assert_int_equal(a.ticks, 3);
  assert_true(od_axis_tick(&a, 0) == 5 && od_axis_tick(&a, 1) == 10 && od_axis_tick(&a, 2) == 20);
  assert_true(od_axis_place(&a, 0) < -1 && od_axis_place(&a, -5) < -1);
  a = od_axis_make_log(1e-30, 1e30, "1", 6);
  assert_true(a.ticks >= 3 && a.ticks <= 8);
  a = od_axis_make_log(-1, NAN, "1", 6);  // not possible: a default range
  assert_true(a.low > 0 && a.high > a.low && a.ticks > 0);
  a = od_axis_make_log(7, 7, "1", 6);
  assert_true(a.low < 7 && a.high > 7);
}

static void test_histogram(void **state) {
  (void)state;
  OD_SCOPED(od_picture_free) od_picture p = {0};
  double value[28];
  // 25 values at 0, 1, ..., 24 and missing values: 5 columns of 5 values.
  for (int i = 0; i < 28; i++)
    value[i] = i < 25 ? (double)i : i == 25 ? (double)NAN : i == 26 ? (double)INFINITY : -(double)INFINITY;
  od_panel *panel = od_picture_add_histogram(&p, "error", "m", value, 28);
  assert_non_null(panel);
  const od_panel_line *l = panel->line;
  assert_int_equal(l->y.count, 12);
  double sum = 0;
  for (int i = 1; i < 11; i++) sum += od_series_at(&l->y, i) / 2;
  assert_true(sum == 25);
  for (int i = 1; i < 11; i++) assert_true(od_series_at(&l->y, i) == 5);
  assert_true(od_series_at(&l->x, 0) == 0 && od_series_at(&l->x, 11) == 24);
  assert_null(od_picture_add_histogram(&p, "error", "m", value + 24, 2));  // one finite value
  assert_non_null(od_picture_add_histogram(&p, "same", "m", (double[]){3, 3, 3}, 3));
}

// Prints the picture into a text, which the caller frees.
static char *printed(const od_picture *p, od_text_style style) {
  FILE *to = tmpfile();
  od_error err = {0};
  assert_int_equal(od_picture_print(p, style, to, &err), OD_OK);
  long length = ftell(to);
  char *text = calloc(1, (size_t)length + 1);
  rewind(to);
  assert_int_equal(fread(text, 1, (size_t)length, to), length);
  fclose(to);
  return text;
}

// Returns line i of a text.
static const char *line_of(const char *text, int i) {
  for (; i > 0; i--) {
    text = strchr(text, '\n');
    assert_non_null(text);
    text++;
  }
  return text;
}

static void test_text_of_a_straight_line(void **state) {
  (void)state;
  OD_SCOPED(od_picture_free) od_picture p = {0};
  const double x[] = {0, 1}, y[] = {0, 100e5};
  od_panel *panel =
      od_picture_add(&p, (od_panel){.title = "A.pressure", .x_name = "time", .x_unit = "s", .y_unit = "Pa"});
  od_panel_add(&p, panel, (od_panel_line){.x = {x, 2, 1, 1}, .y = {y, 2, 1, 1}});
  char *text = printed(&p, (od_text_style){.width = 60, .is_ascii = true});
  for (const char *c = text; *c; c++) assert_true((unsigned char)*c < 128 && *c != '\033');
  assert_int_equal(strncmp(line_of(text, 1), "A.pressure (bar)\n", 17), 0);
  // 17 rows; the curve rises from the bottom left to the top right: one more column to the left in each row downwards.
  int before = 1000;
  for (int row = 0; row < 17; row++) {
    const char *line = line_of(text, 2 + row), *star = strchr(line, '*'), *end = strchr(line, '\n');
    if (!star || star > end) continue;
    assert_true(star - line < before);
    assert_true(star - line >= 11 && star - line < 60);
    before = (int)(star - line);
  }
  assert_true(before <= 12);
  assert_non_null(strstr(text, "100 +"));
  assert_non_null(strstr(text, "time (s)"));
  // No line is wider than the terminal.
  for (const char *line = text; *line; line = strchr(line, '\n') + 1) assert_true(strchr(line, '\n') - line <= 60);
  free(text);
  text = printed(&p, (od_text_style){.width = 60});
  assert_non_null(strstr(text, "\u2514"));
  assert_non_null(strstr(text, "\xe2\xa1"));  // Braille characters begin with the bytes e2 a0 to e2 a3
  assert_null(strchr(text, '\033'));
  free(text);
  text = printed(&p, (od_text_style){.width = 60, .has_color = true});
  assert_non_null(strstr(text, "\033["));
  free(text);
}

static void test_names_of_lines(void **state) {
  (void)state;
  OD_SCOPED(od_picture_free) od_picture p = {0};
  const double x[] = {0, 1}, y[] = {0, 1, 1, 0};
  od_panel *panel = od_picture_add(&p, (od_panel){.title = "two"});
  od_panel_add(&p, panel, (od_panel_line){.label = "rises", .x = {x, 2, 1, 1}, .y = {y, 2, 1, 1}});
  od_panel_add(&p, panel, (od_panel_line){.label = "falls", .x = {x, 2, 1, 1}, .y = {y + 2, 2, 1, 1}});
  od_panel_level(&p, panel, 0.5, "middle");
  char *text = printed(&p, (od_text_style){.width = 50, .is_ascii = true});
  // The letter of a line stands at its right end: a near the top, b near the bottom.
  assert_non_null(strstr(text, " a\n"));
  assert_non_null(strstr(strstr(text, " a\n"), " b\n"));
  assert_non_null(strstr(text, "* a rises"));
  assert_non_null(strstr(text, "+ b falls"));
  assert_non_null(strstr(text, "- middle"));
  free(text);
}

static void test_hostile_texts(void **state) {
  scratch *s = *state;
  OD_SCOPED(od_picture_free) od_picture p = {.title = "<script>alert(1)</script>", .subtitle = "\"'&"};
  char longest[3000];
  memset(longest, 'x', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  const double x[] = {0, 1, 2}, y[] = {1, NAN, -1e300};
  od_panel *panel = od_picture_add(&p, (od_panel){.title = longest, .note = "\033[31mred\n", .x_name = longest});
  od_panel_add(&p, panel, (od_panel_line){.label = "</svg><script>", .x = {x, 3, 1, 1}, .y = {y, 3, 1, 1}});
  od_panel_mark_point(&p, panel, 1, 1, OD_MARK_CROSS, "<b>");
  const char *const names[] = {"a<b>\033[0m", "\xff\xfe"};
  od_picture_add_list(&p, "list", "Pa", names, (double[]){NAN, 1e5}, NULL, 2);
  char *text = printed(&p, (od_text_style){.width = 10000});  // limited
  assert_null(strchr(text, '\033'));
  free(text);
  od_error err = {0};
  assert_int_equal(od_picture_write(&p, scratch_path(s, "p.svg"), &err), OD_OK);
  char *svg = scratch_read(scratch_path(s, "p.svg"));
  assert_null(strstr(svg, "<script>"));
  char what[200];
  if (!xml_well_formed(svg, what, sizeof what)) fail_msg("%s", what);
  free(svg);
}

static void test_nothing_to_plot(void **state) {
  scratch *s = *state;
  od_picture p = {0};
  od_error err = {0};
  assert_int_equal(od_picture_write(&p, scratch_path(s, "p.svg"), &err), OD_BAD_ARGUMENT);
  assert_non_null(strstr(err.text, "nothing to plot"));
  assert_int_equal(od_picture_print(&p, (od_text_style){.width = 80}, stderr, &err), OD_BAD_ARGUMENT);
}

static void test_style(void **state) {
  (void)state;
  static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG", "COLUMNS"};
  for (int i = 0; i < 4; i++) unsetenv(variables[i]);
  FILE *file = tmpfile();
  od_text_style style = od_text_style_of(file);
  assert_true(style.is_ascii && style.width == 80 && !style.has_color);
  setenv("LANG", "de_DE.UTF-8", 1);
  setenv("COLUMNS", "120", 1);
  style = od_text_style_of(file);
  assert_true(!style.is_ascii && style.width == 120);
  setenv("LC_ALL", "C", 1);  // overrides LANG
  setenv("COLUMNS", "7", 1);
  style = od_text_style_of(file);
  assert_true(style.is_ascii && style.width == 40);
  fclose(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_log_axis),
      cmocka_unit_test(test_histogram),
      cmocka_unit_test(test_text_of_a_straight_line),
      cmocka_unit_test(test_names_of_lines),
      cmocka_unit_test_setup_teardown(test_hostile_texts, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_nothing_to_plot, scratch_setup, scratch_teardown),
      cmocka_unit_test(test_style),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
