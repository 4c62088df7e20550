// Reports in tests: checks that they are well-formed, and reads their tables. Include after cmocka.h.
#ifndef OD_TEST_REPORT_H
#define OD_TEST_REPORT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/scratch.h"
#include "support/xml.h"

// A report as a text, after a check that it is well-formed and contains no NaN.
static inline char *report_text(const char *path) {
  char *text = scratch_read(path), what[200];
  if (!xml_well_formed(text, what, sizeof what)) fail_msg("%s", what);
  const char *wrong[] = {">nan", ">-nan", ">inf", ">-inf", "=\"nan", "=\"inf", " nan", " inf ", "(null)"};
  char *program = strstr(text, "<script>\n//<![CDATA[");  // the script of the page itself
  assert_non_null(program);
  *program = '\0';
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    if (strstr(text, wrong[i])) fail_msg("'%s' in %.200s", wrong[i], strstr(text, wrong[i]) - 60);
  *program = '<';
  return text;
}

static inline void says(const char *text, const char *part) {
  if (!strstr(text, part)) fail_msg("'%s' is not in the report", part);
}

static inline void says_not(const char *text, const char *part) {
  if (strstr(text, part)) fail_msg("'%s' is in the report", part);
}

// Cell `column` (the first after the name is 1) of the n-th row with that name.
static inline void cell_of(const char *text, const char *name, int nth, int column, char *cell, size_t size) {
  char head[300];
  snprintf(head, sizeof head, "<th scope=\"row\">%s</th>", name);
  const char *c = text;
  for (int i = 0; i <= nth; i++) {
    c = strstr(i ? c + 1 : c, head);
    if (!c) fail_msg("no row %s", name);
  }
  for (int i = 0; i < column; i++) {
    c = strstr(c + 1, "<td");
    assert_non_null(c);
  }
  c = strchr(c, '>') + 1;
  snprintf(cell, size, "%.*s", (int)(strstr(c, "</td>") - c), c);
}

// The number shown is the value rounded to as many decimals as are shown.
static inline void expect_shown(const char *text, double value) {
  char cell[40], *end;
  snprintf(cell, sizeof cell, "%.*s", (int)strspn(text, "-.0123456789e"), text);
  const char *point = strchr(cell, '.');
  double shown = strtod(cell, &end);
  assert_true(cell[0] && !*end);
  int decimals = point ? (int)strspn(point + 1, "0123456789") : 0;
  const char *power = strchr(cell, 'e');
  double tolerance = 0.5000001 * pow(10, (power ? atoi(power + 1) : 0) - decimals);
  if (!power && !point && fabs(value) >= 1e5) tolerance = 1e-4 * fabs(value);
  if (!(fabs(shown - value) <= tolerance)) fail_msg("%s is shown for %.9g", cell, value);
}

#endif
