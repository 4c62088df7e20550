// Replaces functions of libFuzzer that record the operands of comparisons, so that inputs can be guessed from them. The inputs of targets
// that change images and states choose a place and a change; operands do not help there, and recording takes most of the time. The
// option --wrap of the linker puts these functions in place of those without __wrap_.
#include <stdint.h>

#define NO_OPERANDS(name, type)                                                                                       \
  void __wrap___sanitizer_cov_trace_##name(type a, type b);                                                           \
  __attribute__((no_sanitize("address", "undefined", "coverage"))) void __wrap___sanitizer_cov_trace_##name(type a,   \
                                                                                                            type b) { \
    (void)a, (void)b;                                                                                                 \
  }
NO_OPERANDS(cmp1, uint8_t)
NO_OPERANDS(cmp2, uint16_t)
NO_OPERANDS(cmp4, uint32_t)
NO_OPERANDS(cmp8, uint64_t)
NO_OPERANDS(const_cmp1, uint8_t)
NO_OPERANDS(const_cmp2, uint16_t)
NO_OPERANDS(const_cmp4, uint32_t)
NO_OPERANDS(const_cmp8, uint64_t)
