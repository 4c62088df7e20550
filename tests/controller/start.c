// The start of the program on the emulated board: copies the data, enables the floating-point unit, and calls main().
#include <stddef.h>
#include <stdint.h>

extern uint32_t data_begin[], data_end[], data_source[], bss_begin[], bss_end[];
extern char end[];
int main(void);

void start(void) {
  *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20;  // CPACR: access to the floating-point unit
  for (size_t i = 0; data_begin + i < data_end; i++) data_begin[i] = data_source[i];
  for (uint32_t *at = bss_begin; at < bss_end; at++) *at = 0;
  main();
  for (;;) {
  }
}
static void stop(void) {
  for (;;) {
  }
}
__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))0x20400000, start, stop, stop, stop, stop, stop};

// Memory for malloc(): all RAM after the program's data, up to the stack.
void *_sbrk(ptrdiff_t bytes) {
  static char *at = end;
  char *begin = at;
  if (at + bytes > (char *)0x203F0000) return (void *)-1;
  at += bytes;
  return begin;
}
