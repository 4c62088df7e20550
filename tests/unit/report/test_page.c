// The page writer: well-formed for any content, no external resources, reproducible bits. Oracle: a strict XML reader.
#include "support/test.h"

#include <locale.h>
#include <math.h>

#include "report/page.h"
#include "report/page_values.h"
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

// Nothing is loaded; the only addresses are the namespaces of HTML and SVG.
static void test_stands_alone(void **state) {
  char *text = written(*state, everything("plain"), "p.html");
  expect_well_formed(text);
  // The script is fixed: its own test examines it. Here it must not load anything.
  const char *loads[] = {"fetch(", "XMLHttpRequest", "import(", "WebSocket", "sendBeacon", "EventSource"};
  for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) assert_null(strstr(text, loads[i]));
  *strstr(text, "<script>\n//<![CDATA[") = '\0';
  for (const char *c = strstr(text, "http"); c; c = strstr(c + 1, "http"))
    assert_true(!strncmp(c, "http://www.w3.org/", 18));
  for (const char *c = strstr(text, "url("); c; c = strstr(c + 1, "url("))
    assert_true(!strncmp(c + 4, "data:", 5) || !strncmp(c + 4, "\"data:", 6) || c[4] == '#');
  const char *foreign[] = {" src=", "@import", "<link"};
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
  assert_null(strstr(text, "<div class=\"views"));
  assert_null(strstr(text, "<section class=\"card\">"));
  assert_null(strstr(text, "id=\"charts\""));
  assert_non_null(strstr(text, "<p class=\"empty\">No remarks.</p>"));
  free(text);
}

// A wide circuit is below the machine, any other beside it.
static void test_stacked_pictures(void **state) {
  for (int stacked = 0; stacked < 2; stacked++) {
    od_page *p = od_page_new("", "");
    for (int i = 0; i < OD_PICTURES; i++) {
      fputs("<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>", od_page_picture_begin(p, i, ""));
      od_page_picture_end(p);
    }
    if (stacked) od_page_stack_pictures(p, 0.25);
    char *text = written(*state, p, "p.html");
    expect_well_formed(text);
    assert_non_null(
        strstr(text, stacked ? "<div class=\"views stacked\" style=\"--tall:0.25\">" : "<div class=\"views\">"));
    free(text);
  }
}

static void test_cannot_write(void **state) {
  (void)state;
  od_page *p = od_page_new("kind", "title");
  od_error err = {0};
  assert_int_equal(od_page_write(p, "/nowhere/at/all.html", &err), OD_IO);
  assert_non_null(strstr(err.text, "/nowhere/at/all.html"));
  od_page_free(p);
}

// The parts of a page: pictures, findings, charts and sections, each in its place.
static void test_places(void **state) {
  od_page *p = od_page_new("Kind", "Title");
  od_page_subtitle(p, "how <it> was made");
  od_page_verdict(p, OD_DOUBTFUL, "a & b");
  fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"scene\"></svg>",
        od_page_picture_begin(p, OD_PICTURE_MACHINE, ".scene{}"));
  od_page_picture_end(p);
  od_page_section(p, "Empty");
  od_page_section(p, "Full");
  od_page_text(p, "in the section");
  od_page_choose_place(p, OD_PLACE_CHARTS);
  draw(p, "chart", 0, 1);
  od_page_choose_place(p, OD_PLACE_SECTIONS);
  od_page_text(p, "again in the section");
  od_page_add_finding(p, &(od_page_finding){.severity = "warning",
                                            .title = "Title <1>",
                                            .text = "p & q is full for 2 s & more",
                                            .owner = "p & q",
                                            .from = 1.25,
                                            .to = 2,
                                            .at = NAN});
  od_page_add_finding(
      p, &(od_page_finding){
             .severity = "good", .title = "Second", .text = "Text", .owner = "Tex", .from = NAN, .to = NAN, .at = NAN});
  char *text = written(*state, p, "p.html");
  expect_well_formed(text);
  const char *in_order[] = {
      "<p class=\"subtitle\">how &lt;it&gt; was made \u00b7 Kind</p>",
      "<p class=\"verdict doubtful\"><b>Doubtful</b> <span>a &amp; b</span></p>",
      "<div class=\"views single\">",
      "<section class=\"card\" id=\"machine\">",
      "class=\"scene\"",
      "<section class=\"card\" id=\"time\" hidden=\"hidden\">",
      "<li class=\"finding warning\" data-finding=\"0\"><b>Title &lt;1&gt;</b> <span class=\"at\">1.25\u00a0s</span><p><b>p &amp; q</b> is full for 2\u00a0s &amp; more</p></li>",
      "<li class=\"finding good\" data-finding=\"1\"><b>Second</b><p>Text</p></li>",
      "<div id=\"charts\">",
      "<figure class=\"card chart\" id=\"chart-0\" data-chart=\"0\">",
      "<section class=\"card\"><h2>Full</h2>",
      "<p>in the section</p>",
      "<p>again in the section</p>",
      "<script type=\"application/json\" id=\"page-data\">"};
  const char *at = text;
  for (size_t i = 0; i < sizeof in_order / sizeof *in_order; i++) {
    const char *found = strstr(at, in_order[i]);
    if (!found) fail_msg("'%s' is missing or not in its place", in_order[i]);
    at = found + strlen(in_order[i]);
  }
  assert_null(strstr(text, "Empty"));
  free(text);
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

// Bounds of sentences: at least the value, two digits, and less than one unit of the second digit above the value. Oracle: printf.
static void test_bounds(void **state) {
  (void)state;
  near_relative(od_two_digits_up(0.994), 1, 1e-14);
  near_relative(od_two_digits_up(0.342), 0.35, 1e-14);
  near_relative(od_two_digits_up(0.35), 0.35, 1e-14);
  assert_true(od_two_digits_up(0) == 0);
  for (int i = 1; i < 20000; i++) {
    const double value = 1e-7 * pow(1.0017, i), up = od_two_digits_up(value);
    char text[32];
    snprintf(text, sizeof text, "%.1e", up);
    near_relative(strtod(text, NULL), up, 1e-12);
    assert_true(up >= value * (1 - 1e-11) && up < 1.1 * value * (1 + 1e-11));
  }
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checker),
      cmocka_unit_test(test_bounds),
      TEST(test_nasty_texts),
      TEST(test_stands_alone),
      TEST(test_same_again),
      TEST(test_small_pages),
      TEST(test_places),
      TEST(test_stacked_pictures),
      TEST(test_cannot_write),
      TEST(test_locale_comes_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
