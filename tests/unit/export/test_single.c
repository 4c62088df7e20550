// C source converted to single precision. Oracles: texts converted by hand; the compiler of the test, for which double and float differ in size.
#include "export/single.h"

#include <math.h>
#include <string.h>

#include "support/test.h"
#include "base/allocate.h"
#include "io/text_stream.h"

static void expect(const char *source, const char *wanted) {
  od_text_stream s;
  od_text_stream_open(&s);
  assert_non_null(s.to);
  od_single_print(s.to, source, strlen(source));
  char *text = od_text_stream_close(&s);
  assert_string_equal(text, wanted);
  od_free(text);
}

static void words(void **state) {
  (void)state;
  expect("double x = sqrt(y) + fmax(a, b);", "float x = sqrtf(y) + fmaxf(a, b);");
  expect("static double _Complex z; long double m; double *restrict doubles;",
         "static float _Complex z; long double m; float *restrict doubles;");
  expect("#define od_x_sqrt sqrt\n#include \"math/sqrt double.h\"\n",
         "#define od_x_sqrt sqrtf\n#include \"math/sqrt double.h\"\n");
  expect("DBL_MIN / DBL_EPSILON > my_sqrt(sqrt_of, exponent)", "FLT_MIN / FLT_EPSILON > my_sqrt(sqrt_of, exponent)");
}

static void constants(void **state) {
  (void)state;
  expect("0.5 + 1e-3 + 3 + 0x1F + 0x1.8p+3 - .25", "0.5f + 1e-3f + 3 + 0x1F + 0x1.8p+3f - .25f");
  expect("1.0f + 2L + 1UL + 7e2 - x1e5 + 1.", "1.0f + 2L + 1UL + 7e2f - x1e5 + 1.f");
  // Below the range: at the same place in the range of exponents, never zero.
  expect("size < 1e-300", "size < 0x1.18f309e4a37fp-123f");
}

static void texts_and_comments(void **state) {
  (void)state;
  expect("f(\"double 1.5 \\\" sqrt\", '\"', 'e');  // double 0.5\ndouble",
         "f(\"double 1.5 \\\" sqrt\", '\"', 'e');  // double 0.5\nfloat");
  expect("/* double 1.5 */ double /**/ 2.5 /* a * b / c */", "/* double 1.5 */ float /**/ 2.5f /* a * b / c */");
  expect("double", "float");
  expect("", "");
}

// A tolerance keeps its distance from 1 and from round-off on the scale of digits, up to a factor of 2.
static void tolerances(void **state) {
  (void)state;
  static const double tolerance[] = {1e-7, 1e-10, 1e-13};
  for (int i = 0; i < 3; i++) {
    char source[60], text[60];
    snprintf(source, sizeof source, "OD_TOLERANCE(%.0e);", tolerance[i]);
    od_text_stream s;
    od_text_stream_open(&s);
    od_single_print(s.to, source, strlen(source));
    char *written = od_text_stream_close(&s);
    double single;
    assert_int_equal(sscanf(written, "%lff;%59s", &single, text), 1);
    od_free(written);
    double digits = log(tolerance[i]) / log(0x1p-53), kept = log(single / 2) / log(0x1p-24);
    assert_true(fabs(digits - kept) < 1e-6);
  }
  expect("OD_TOLERANCE(t) + OD_TOLERANCES(1e-9)", "OD_TOLERANCE(t) + OD_TOLERANCES(1e-9f)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words),
      cmocka_unit_test(constants),
      cmocka_unit_test(texts_and_comments),
      cmocka_unit_test(tolerances),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
