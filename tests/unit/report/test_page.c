// The page writer: well-formed for any content, no external resources, reproducible bits. Oracle: a strict XML reader.
#include "support/test.h"

#include <locale.h>
#include <math.h>

#include "report/page.h"
#include "support/scratch.h"
#include "support/skipping.h"
#include "support/xml.h"

static const char nasty[] = "<b>&amp; \"q\" 'a' ]]> \x01\x7f caf\xc3\xa9 \xff\xc3 \xef\xbf\xbe</script>";

static void expect_well_formed(const char *text) {
  char what[200];
  if (!xml_well_formed(text, what, sizeof what)) fail_msg("%s", what);
}

// The reader itself: texts that it must reject.
static void test_checker(void **state) {
  (void)state;
  char what[200];
  const char *good[] = {"<a/>", "<!DOCTYPE html>\n<a b=\"1\" c='&lt;'>x<b/>&amp;<![CDATA[<&]]></a>\n",
                        "<a\n b=\"\"></a>"};
  const char *wrong[] = {"",
                         "<a>",
                         "<a></b>",
                         "<a b=1/>",
                         "<a b=\"1\" b=\"2\"/>",
                         "<a>&nbsp;</a>",
                         "<a>&</a>",
                         "<a>\x01</a>",
                         "<a>\xff</a>",
                         "<a/><b/>",
                         "x<a/>",
                         "<a b=\"<\"/>",
                         "<a b=\"/>",
                         "<a><b></a></b>",
                         "<a>]]></a>",
                         "<a>\xc0\x80</a>",
                         "<a>\xef\xbf\xbf</a>",
                         "<a/b>"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    if (!xml_well_formed(good[i], what, sizeof what)) fail_msg("'%s': %s", good[i], what);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    if (xml_well_formed(wrong[i], what, sizeof what)) fail_msg("'%s' was accepted", wrong[i]);
}

static void draw(od_page *p, const char *title, double low, double high) {
  static const double x[] = {0, 0.2, 0.4, 0.6, 0.8, 1}, y[] = {0, 2, NAN, -1, 1e300, 1};
  od_figure f = {.title = title, .note = title, .x_high = 1, .y_low = low, .y_high = high};
  f.x_name = f.x_unit = f.y_unit = title;
  od_series xs = {x, 6, 1, 1}, ys = {y, 6, 1, 1};
  od_page_figure_begin(p, &f);
  od_chart_dots(f.to, &f.chart, xs, ys, OD_DRAWN_MEASURED);
  od_chart_band(f.to, &f.chart, xs, ys, xs, OD_DRAWN_BAND, title);
  od_chart_line(f.to, &f.chart, xs, ys, OD_DRAWN_ESTIMATE, title);
  od_chart_bars(f.to, &f.chart, xs, ys, xs, OD_DRAWN_ESTIMATE);
  od_page_figure_end(p, &f);
}

static od_page *everything(const char *text) {
  static const od_page_column columns[] = {{"name", true}, {"value", false}, {"words", true}};
  static const od_legend legend[] = {{"a & b", OD_DRAWN_BAND}, {"<dots>", OD_DRAWN_MEASURED}, {NULL, NULL}};
  od_page *p = od_page_new(text, text);
  assert_non_null(p);
  od_page_fact(p, text, text);
  for (int i = 0; i < 3; i++) {
    od_page_section(p, text);
    od_page_heading(p, text);
    od_page_text(p, "%s and %.2f", text, 1.5);
    od_page_notice(p, (od_trust)i, text, text);
    od_page_item(p, text, text);
    od_page_table_begin(p, columns, 3);
    for (int row = 0; row < i; row++) {
      od_page_row(p, text);
      od_page_cell(p, row > 0, "1");
      od_page_cell(p, false, text);
    }
    od_page_table_end(p);
    od_page_legend(p, legend);
    od_page_figures_begin(p, i > 0);
    draw(p, text, -2, 2);
    draw(p, text, NAN, NAN);
    draw(p, text, 0, 1e-9);
    od_page_figures_end(p);
  }
  return p;
}

static char *written(scratch *s, od_page *p, const char *file) {
  od_error err = {0};
  const char *path = scratch_path(s, file);
  if (od_page_write(p, path, &err) != OD_OK) fail_msg("%s", err.text);
  od_page_free(p);
  return scratch_read(path);
}

static void test_nasty_texts(void **state) {
  char *text = written(*state, everything(nasty), "p.html");
  expect_well_formed(text);
  // Each special character of markup is escaped.
  assert_non_null(strstr(text, "&lt;b&gt;&amp;amp; &quot;q&quot; 'a' ]]&gt; ?? caf\xc3\xa9 ?? ?&lt;/script&gt;"));
  assert_null(strstr(text, "<b>&amp; \""));
  assert_non_null(strstr(text, "and 1.50</p>"));
  free(text);
}

// Every link has its target; the only addresses are the namespaces of HTML and SVG.
static void test_stands_alone(void **state) {
  char *text = written(*state, everything("plain"), "p.html");
  expect_well_formed(text);
  for (int i = 1; i <= 3; i++) {
    char link[40], target[40];
    snprintf(link, sizeof link, "<a href=\"#s%d\">", i);
    snprintf(target, sizeof target, "<h2 id=\"s%d\">", i);
    assert_non_null(strstr(text, link));
    assert_non_null(strstr(text, target));
  }
  for (const char *c = strstr(text, "http"); c; c = strstr(c + 1, "http"))
    assert_true(!strncmp(c, "http://www.w3.org/", 18));
  const char *foreign[] = {"src=", "url(", "@import", "<link", "fetch("};
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) assert_null(strstr(text, foreign[i]));
  const char *no_numbers[] = {">nan", ">-nan", ">inf", ">-inf", "=\"nan", "=\"inf", " nan", " inf "};
  for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++) assert_null(strstr(text, no_numbers[i]));
  free(text);
}

static void test_same_again(void **state) {
  scratch *s = *state;
  char *a = written(s, everything(nasty), "a.html"), *b = written(s, everything(nasty), "b.html");
  assert_string_equal(a, b);
  assert_int_equal(scratch_count(s), 2);
  free(a);
  free(b);
}

static void test_small_pages(void **state) {
  char *text = written(*state, od_page_new("", ""), "p.html");
  expect_well_formed(text);
  assert_null(strstr(text, "<script>"));
  assert_null(strstr(text, "<nav>"));
  free(text);
}

static void test_cannot_write(void **state) {
  (void)state;
  od_page *p = od_page_new("kind", "title");
  od_error err = {0};
  assert_int_equal(od_page_write(p, "/nowhere/at/all.html", &err), OD_IO);
  assert_non_null(strstr(err.text, "/nowhere/at/all.html"));
  od_page_free(p);
}

// The thread's own locale is restored when the page is freed.
static void test_locale_comes_back(void **state) {
  (void)state;
  locale_t mine = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
  if (!mine) skip_test("not possible: there is no locale C.UTF-8");
  locale_t before = uselocale(mine);
  od_page *p = everything("x");
  assert_true(uselocale((locale_t)0) != mine);
  od_page_free(p);
  assert_true(uselocale((locale_t)0) == mine);
  uselocale(before);
  freelocale(mine);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checker), TEST(test_nasty_texts),  TEST(test_stands_alone),      TEST(test_same_again),
      TEST(test_small_pages),         TEST(test_cannot_write), TEST(test_locale_comes_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
