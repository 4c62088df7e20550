// Texts of C source. Oracles: strtod() of the C library, which reads hexadecimal constants; the rules of C for identifiers.
#include "export/c_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "export/template.h"
#include "io/text_stream.h"
#include "memory/scoped.h"
#include "support/random_machine.h"
#include "support/test.h"

static void assert_same_bits(double value) {
  char text[OD_C_NUMBER_SIZE], *end;
  od_c_number(text, value);
  assert_true(strlen(text) < OD_C_NUMBER_SIZE);
  double back = strtod(text, &end);
  assert_true(end != text && *end == '\0');
  assert_memory_equal(&back, &value, sizeof value);
}

static void numbers_keep_their_bits(void **state) {
  (void)state;
  static const double edges[] = {
      0, -0.0, 1, -1, 0.1, 1e6, 999999, 1e300, 4.9e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -3.5};
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) assert_same_bits(edges[i]);
  od_dice dice = {7};
  for (int i = 0; i < 20000; i++) {
    double value = od_dice_uniform(&dice, -1, 1) * pow(10, od_dice_uniform(&dice, -320, 308));
    assert_same_bits(value);
  }
  char text[OD_C_NUMBER_SIZE];
  od_c_number(text, -INFINITY);
  assert_string_equal(text, "-INFINITY");
  od_c_number(text, NAN);
  assert_string_equal(text, "NAN");
}

static void names_are_identifiers(void **state) {
  (void)state;
  OD_SCRATCH(arena);
  static const char *const text[] = {"P.pressure", "P_pressure", "valve.ports.a[1]", "3rd", "\xc3\xa4 b", "",
                                     "__",         "a..b"};
  static const char *const wanted[] = {"P_PRESSURE", "P_PRESSURE_2", "VALVE_PORTS_A_1", "N3RD", "B", NULL, NULL, "A_B"};
  const char *taken[8];
  for (int i = 0; i < 8; i++) {
    taken[i] = od_c_name(&arena, text[i], true, taken, i);
    assert_non_null(taken[i]);
    if (wanted[i]) assert_string_equal(taken[i], wanted[i]);
    assert_true(taken[i][0] != '\0' && !isdigit((unsigned char)taken[i][0]));
    for (const char *c = taken[i]; *c; c++) assert_true(isalnum((unsigned char)*c) || *c == '_');
    for (int k = 0; k < i; k++) assert_string_not_equal(taken[i], taken[k]);
  }
}

static bool field(FILE *to, const char *word, void *user) {
  (void)user;
  return strcmp(word, "name") == 0 && fputs("crane", to) != EOF;
}
static bool condition(const char *word, const void *user) {
  (void)user;
  return strcmp(word, "yes") == 0;
}

static void templates(void **state) {
  (void)state;
  static const struct {
    const char *text, *wanted;  // wanted NULL: an error
  } tries[] = {{"a @name@ b\n", "a crane b\n"},
               {"@name@@name@ $@@\n", "cranecrane $@\n"},
               {"%yes x\n%no y @other@\nz\n", "x\nz\n"},
               {"%yes \n", "\n"},
               {"", ""},
               {"@other@\n", NULL},
               {"@name\n", NULL},
               {"%word\n", NULL},
               {"no end", NULL}};
  for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
    od_text_stream s;
    od_text_stream_open(&s);
    bool ok = od_template_print(s.to, tries[i].text, strlen(tries[i].text), field, condition, NULL);
    char *text = od_text_stream_close(&s);
    assert_int_equal(ok, tries[i].wanted != NULL);
    if (ok) assert_string_equal(text, tries[i].wanted);
    od_free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_keep_their_bits),
      cmocka_unit_test(names_are_identifiers),
      cmocka_unit_test(templates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
