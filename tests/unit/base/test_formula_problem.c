// Formulas that are refused (base/formula.h): each limit and each rule alone. Oracle: the rules in the header, by hand.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "base/formula.h"

static void expect(const od_formula *f, int variables, const char *says) {
  const char *problem = od_formula_problem(f, variables);
  if ((problem == NULL) != (says == NULL) || (says && !strstr(problem, says)))
    fail_msg("'%s' instead of '%s'", problem ? problem : "", says ? says : "");
}

static void counts(void **state) {
  (void)state;
  enum { MOST = 400 };
  od_operation list[MOST + 1] = {{.kind = OD_OPERATION_NUMBER, .value = 2}};
  for (int i = 1; i <= MOST; i++) list[i] = (od_operation){.kind = OD_OPERATION_SIN, .a = i - 1};
  expect(&(od_formula){0, list}, 0, "has no formula");
  expect(&(od_formula){-1, list}, 0, "has no formula");
  expect(&(od_formula){1, NULL}, 0, "has no formula");
  expect(&(od_formula){1, list}, 0, NULL);
  expect(&(od_formula){MOST, list}, 0, NULL);
  expect(&(od_formula){MOST + 1, list}, 0, "more than 400 operations");
}

// Operands come before their operation; each operation reads only the operands that it has.
static void operands(void **state) {
  (void)state;
  static const struct {
    int kind, operands;
  } kinds[] = {{OD_OPERATION_SIN, 1},
               {OD_OPERATION_ADD, 2},
               {OD_OPERATION_POWER, 2},
               {OD_OPERATION_MAX, 2},
               {OD_OPERATION_IF_NEGATIVE, 3}};
  for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
    for (int which = 0; which < 3; which++)
      for (int value = -1; value <= 4; value++) {
        od_operation list[4] = {{.kind = OD_OPERATION_NUMBER, .value = 1},
                                {.kind = OD_OPERATION_NUMBER, .value = -1},
                                {.kind = OD_OPERATION_NUMBER}};
        list[3].kind = kinds[n].kind;
        *(which == 0 ? &list[3].a : which == 1 ? &list[3].b : &list[3].c) = value;
        const bool wrong = which < kinds[n].operands && (value < 0 || value > 2);
        expect(&(od_formula){4, list}, 0, wrong ? "before its operands" : NULL);
      }
  for (int kind = -1; kind < 1000; kind += 1001) {
    const od_operation list[] = {{.kind = kind}};
    expect(&(od_formula){1, list}, 1, "unknown operation");
  }
  const od_operation beyond[] = {{.kind = OD_OPERATION_KINDS}};
  expect(&(od_formula){1, beyond}, 1, "unknown operation");
}

static void variables_and_numbers(void **state) {
  (void)state;
  for (int variables = 0; variables < 4; variables++)
    for (int index = -1; index <= 4; index++) {
      const od_operation list[] = {{.kind = OD_OPERATION_VARIABLE, .a = index}};
      expect(&(od_formula){1, list}, variables, index >= 0 && index < variables ? NULL : "unknown variable");
    }
  const double values[] = {0, -1e300, INFINITY, -INFINITY, NAN};
  for (int i = 0; i < 5; i++) {
    const od_operation list[] = {{.kind = OD_OPERATION_NUMBER, .value = values[i]}};
    expect(&(od_formula){1, list}, 0, i < 2 ? NULL : "a number that is not finite");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(counts), cmocka_unit_test(operands),
                                     cmocka_unit_test(variables_and_numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
