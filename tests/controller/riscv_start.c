// The start of the program on the emulated RISC-V board: sets the stack, enables the floating-point unit, clears the data, and calls main().
#include <stdint.h>

extern uint64_t bss_begin[], bss_end[];
int main(void);

static __attribute__((used)) void run(void) {
  __asm__ volatile("csrs mstatus, %0" : : "r"(0x6000));  // the floating-point unit
  for (uint64_t *at = bss_begin; at < bss_end; at++) *at = 0;
  main();
  for (;;) {
  }
}
__attribute__((section(".init"), naked, used)) void start(void) {
  __asm__ volatile("li sp, 0x83000000\nla tp, tls_begin\ncall run");
}
