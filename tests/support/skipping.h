// Skips the running test of cmocka and prints the reason. The reason begins with "no package: ", "no data: " or
// "not possible: "; scripts/test-all reads the line and rejects the first kind.
#ifndef OD_TEST_SKIPPING_H
#define OD_TEST_SKIPPING_H

#define skip_test(...) (print_message("skipped: " __VA_ARGS__), print_message("\n"), skip())

#endif
