// Random numbers. Oracles: the published test vectors of Philox 4x32-10 (Random123, kat_vectors) and of FNV-1a, converted to numbers by hand; moments
// of the distributions in closed form, within five standard errors.
#include "random/random.h"

#include <math.h>
#include <string.h>

#include "support/test.h"

#include "random/draw.h"
#include "random/hash.h"

// The number at the center of the interval of its 52 highest bits.
static double center(uint64_t bits) {
  return ldexp((double)(bits >> 12), -52) + ldexp(0.5, -52);
}

// Seed, sample, stream and use are the key and the counter of the vector, word by word.
static void published_vectors(void **state) {
  (void)state;
  static const struct {
    uint64_t seed, sample;
    uint32_t stream, use;
    uint64_t first, second;
  } vector[] = {
      {0, 0, 0, 0, 0x6627e8d5e169c58du, 0xbc57ac4c9b00dbd8u},
      {0xffffffffffffffffu, 0xffffffffffffffffu, 0xffffffffu, 0xffffffffu, 0x408f276d41c83b0eu, 0xa20bc7c66d5451fdu},
      {0x299f31d0a4093822u, 0x85a308d3243f6a88u, 0x13198a2eu, 0x03707344u, 0xd16cfe0994fdccebu, 0x5001e42024126ea1u},
  };
  for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
    const od_random_use use = (od_random_use)vector[i].use;
    double a = center(vector[i].first), b = center(vector[i].second);
    assert_true(od_random_uniform(vector[i].seed, vector[i].stream, vector[i].sample, use) == a);
    double gaussian = sqrt(-2 * log(a)) * cos(8 * atan(1) * b);
    near(od_random_gaussian(vector[i].seed, vector[i].stream, vector[i].sample, use), gaussian, 1e-14);
  }
}

static void hashes_of_names(void **state) {
  (void)state;
  assert_int_equal(od_hash(""), 0x811c9dc5u);
  assert_int_equal(od_hash("a"), 0xe40c292cu);
  assert_int_equal(od_hash("foobar"), 0xbf9cf968u);
  assert_int_equal(od_random_stream("foobar"), 0xbf9cf968u);
}

// The path of a number is the stream, the index of the draw is the sample.
static void draws(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  const od_draw uniform = {OD_DRAW_UNIFORM, -1, 3}, normal = {OD_DRAW_NORMAL, 5, 2};
  double sum[2] = {0}, squares[2] = {0}, product = 0;
  for (int k = 0; k < COUNT; k++) {
    double u = od_draw_value(&uniform, 7, "pump.flow", k), n = od_draw_value(&normal, 7, "arm.mass", k);
    assert_true(u > -1 && u < 3);
    assert_true(u == -1 + 4 * od_random_uniform(7, od_hash("pump.flow"), (uint64_t)k, OD_USE_DRAW));
    sum[0] += u - 1, sum[1] += n - 5;
    squares[0] += (u - 1) * (u - 1), squares[1] += (n - 5) * (n - 5);
    product += (u - 1) * (n - 5);
  }
  // Variances 16/12 and 4; fourth central moments 4^4/80 and 3 2^4.
  const double variance[] = {16.0 / 12, 4}, fourth[] = {256.0 / 80, 48};
  for (int i = 0; i < 2; i++) {
    near(sum[i] / COUNT, 0, 5 * sqrt(variance[i] / COUNT));
    near(squares[i] / COUNT, variance[i], 5 * sqrt((fourth[i] - variance[i] * variance[i]) / COUNT));
  }
  near(product / COUNT, 0, 5 * sqrt(variance[0] * variance[1] / COUNT));
}

static void words_of_distributions(void **state) {
  (void)state;
  od_draw_kind kind = OD_DRAW_NORMAL;
  assert_true(od_draw_kind_find("uniform(0, 1)", 7, &kind) && kind == OD_DRAW_UNIFORM);
  assert_true(od_draw_kind_find("normal", 6, &kind) && kind == OD_DRAW_NORMAL);
  assert_false(od_draw_kind_find("uniform", 6, &kind) || od_draw_kind_find("normality", 9, &kind) ||
               od_draw_kind_find("", 0, &kind));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(published_vectors), cmocka_unit_test(hashes_of_names),
                                     cmocka_unit_test(draws), cmocka_unit_test(words_of_distributions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
