// The number of ends and states of an element class, by classes of one input or one result. Oracle: the comments of od_in_kind and od_out_kind, which
// say whether an index is that of an end or of a state.
#include "support/test.h"

#include "elements/element.h"

static void test_results(void **state) {
  (void)state;
  static const struct {
    od_out_kind kind;
    int index, ends, states;
  } rows[] = {{OD_TO_NOTHING, 2, 0, 0},    {OD_TO_THROUGH, 0, 2, 0},    {OD_TO_END, 0, 1, 0},
              {OD_TO_END, 2, 3, 0},        {OD_TO_VOLUME, 1, 2, 0},     {OD_TO_LARGEST, 2, 3, 0},
              {OD_TO_LARGEST, 0, 1, 0},    {OD_TO_COMPLIANCE, 1, 2, 0}, {OD_TO_FORCE, 2, 0, 0},
              {OD_TO_COMPLIANCE, 0, 1, 0}, {OD_TO_RATE, 0, 0, 1},       {OD_TO_RATE, 2, 0, 3}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const od_element_class c = {.outs = 1, .out = {{rows[i].kind, rows[i].index}}};
    assert_int_equal(od_element_class_ends(&c), rows[i].ends);
    assert_int_equal(od_element_state_count(&c), rows[i].states);
  }
}

static void test_inputs(void **state) {
  (void)state;
  for (int index = 0; index < 3; index++) {
    const od_element_class pressed = {.ins = 1, .in = {{OD_IN_PRESSURE, index}}},
                           moved = {.ins = 1, .in = {{OD_IN_STATE, index}}};
    assert_int_equal(od_element_class_ends(&pressed), index + 1);
    assert_int_equal(od_element_state_count(&pressed), 0);
    assert_int_equal(od_element_class_ends(&moved), 0);
    assert_int_equal(od_element_state_count(&moved), index + 1);
  }
  // The largest index counts, at any place of the lists.
  const od_element_class both = {.ins = 2,
                                 .in = {{OD_IN_PRESSURE, 3}, {OD_IN_PRESSURE, 1}},
                                 .outs = 2,
                                 .out = {{OD_TO_END, 2}, {OD_TO_THROUGH, 0}}};
  assert_int_equal(od_element_class_ends(&both), 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_results), cmocka_unit_test(test_inputs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
