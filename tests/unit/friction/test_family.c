// The parameters of the LuGre family from the numbers of each law, for both directions, and their derivatives. Oracle: the laws by hand, in
// complex numbers, with powers instead of exponentials of logarithms: Table 5.1 of source 28 in docs/theory.md for the speed of a complete
// film, with at least half of the Stribeck curve decayed there; powers of the factor, which is at least 1e-6; the load.
#include <complex.h>
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "friction/law.h"
#include "support/random_instance.h"

enum { MOST = 64 };
typedef double complex number;

// A parameter of a law for one direction by its key; `absent` if the law does not have it.
static number named(const od_friction_law *law, const number *q, bool negative, const char *key, number absent) {
  const od_element_field *f = law->element->fields;
  int sided = law->sided, all = sided + law->common;
  for (int i = 0; i < all; i++)
    if (strcmp(f[i].key, key) == 0) return negative && i < sided ? q[all + i] : q[i];
  return absent;
}

static number loaded(number force, number change) {
  return creal(change) > -0.999 * creal(force) ? force + change : force / 1000;
}

// log(vb/vs), from S(vb) = k.
static number film_speed(const char *law, number vb, number vs, number n) {
  if (creal(vb) > 0) return clog(vb / vs);
  bool lorentzian = strstr(law, "lorentzian") != NULL;
  number k = strcmp(law, "lorentzian") == 0 ? 0.06 : lorentzian ? 0.06 / (n * n) : 0.002 / cpow(n, 4.5);
  if (creal(k) > 0.5) k = 0.5;
  return clog(cpow(lorentzian ? 1 / k - 1 : -clog(k), 1 / n));
}

static void by_hand(const od_friction_law *law, const number *q, bool negative, number signal,
                    number p[OD_FAMILY_COUNT]) {
#define OF(key, absent) named(law, q, negative, key, absent)
  number factor = OF("factor", 1) * signal, load = (OF("load", 0) * signal) / OF("load_0", 1) - 1;
  bool has_load = OF("load_0", 0) != 0, is_tustin = strcmp(law->name, "tustin") == 0,
       has_film = strcmp(law->name, "lugre") != 0;
  if (has_load) factor = 1;
  if (creal(factor) < 1e-6) factor = 1e-6;
  number n = OF("n", is_tustin ? 1 : 2), vs = OF("vs", 0), hn = OF("tau_hn", INFINITY),
         tau = cpow(factor, OF("factor_tau", 0));
  p[OD_FAMILY_FS] =
      (has_load ? loaded(OF("Fs", 0), OF("load_Fs", 0) * load) : OF("Fs", 0)) * cpow(factor, OF("factor_Fs", 0));
  p[OD_FAMILY_FC] =
      (has_load ? loaded(OF("Fc", 0), OF("load_Fc", 0) * load) : OF("Fc", 0)) * cpow(factor, OF("factor_Fc", 0));
  p[OD_FAMILY_VS] = vs * cpow(factor, OF("factor_vs", 0));
  p[OD_FAMILY_N] = n;
  p[OD_FAMILY_VISCOUS] = OF("viscous", 0) * cpow(factor, OF("factor_viscous", 0));
  p[OD_FAMILY_LOG_VB_VS] = has_film ? film_speed(law->name, OF("vb", 0), vs, n) : 0;
  p[OD_FAMILY_V0] = OF("v0", 0);
  p[OD_FAMILY_SIGMA_0] = OF("sigma_0", 0);
  p[OD_FAMILY_SIGMA_1] = OF("sigma_1", 0);
  p[OD_FAMILY_GROWTH_RATE] = 1 / (OF("tau_hp", 0.15 * hn) * tau);
  p[OD_FAMILY_SHRINK_RATE] = 1 / (hn * tau);
  p[OD_FAMILY_REST_RATE] = 1 / (OF("tau_h0", INFINITY) * tau);
  p[OD_FAMILY_INERTIA] = OF("inertia", 0);
  p[OD_FAMILY_LAG] = OF("lag", 0);
  p[OD_FAMILY_FILM_FORCE] = OF("film_force", 0);
  if (creal(hn) > 1e300) p[OD_FAMILY_GROWTH_RATE] = p[OD_FAMILY_SHRINK_RATE] = p[OD_FAMILY_REST_RATE] = 0;
}

// Numbers of a usual size. Exponents n on both sides of the one at which half of the curve remains, 0.293 or 0.346; vb given or not; loads that
// increase the friction or leave a thousandth of it.
static int draw(od_dice *dice, const od_friction_law *law, bool two_sided, double *q) {
  int count = od_friction_law_numbers(law, two_sided);
  for (int i = 0; i < count; i++) {
    const char *key = law->element->fields[i].same_as ? law->element->fields[i].same_as : law->element->fields[i].key;
    q[i] = od_dice_uniform(dice, 0.5, 2);
    if (strcmp(key, "n") == 0) q[i] = pow(10, od_dice_uniform(dice, -1, 0.7));
    if (strcmp(key, "vb") == 0 && od_dice_pick(dice, 2)) q[i] = 0;
    if (strncmp(key, "factor_", 7) == 0) q[i] = od_dice_uniform(dice, -2, 2);
    if (strcmp(key, "load") == 0) q[i] = od_dice_uniform(dice, -3, 3);
  }
  return count;
}

static void parameters_of_all_laws(void **state) {
  (void)state;
  int laws = 0, halves = 0, least_loads = 0;
  for (int l = 0; l < od_friction_law_count(); l++) {
    const od_friction_law *law = od_friction_laws[l];
    if (!law->has_family) continue;
    laws++;
    for (int run = 0; run < 300; run++) {
      od_dice dice = {(uint64_t)(1000 * l + run)};
      bool two_sided = run % 2, negative = run / 2 % 2;
      const double signals[] = {1, 0.7, 2, 1e-9, -1};
      double q[MOST], signal = signals[run / 4 % 5], got[OD_FAMILY_COUNT];
      int count = draw(&dice, law, two_sided, q);
      for (int moved = -1; moved < count; moved++) {
        number p[MOST], want[OD_FAMILY_COUNT], both[OD_FAMILY_COUNT];
        for (int i = 0; i < count; i++) p[i] = q[i] + (i == moved ? 1e-30 * I : 0);
        by_hand(law, p, two_sided && negative, signal, want);
        law->family_c(p, two_sided, negative, signal, both);
        law->family_r(q, two_sided, negative, signal, got);
        for (int k = 0; k < OD_FAMILY_COUNT; k++) {
          const double size = k == OD_FAMILY_LOG_VB_VS ? 1 : 1e-13;
          near_scaled(got[k], creal(want[k]), 2e-13, size);
          near_scaled(creal(both[k]), creal(want[k]), 2e-13, size);
          near_scaled(cimag(both[k]), cimag(want[k]), 1e-11, 1e-42);
        }
        double n = creal(want[OD_FAMILY_N]);
        halves += moved < 0 && n < 0.29;
        least_loads += moved < 0 && creal(want[OD_FAMILY_FS]) < 0.01;
      }
    }
  }
  print_message("%d laws, %d times a small exponent, %d times a thousandth of the friction\n", laws, halves,
                least_loads);
  assert_true(laws >= 8 && halves > 100 && least_loads > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parameters_of_all_laws)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
