// The board of a program: output and the count of instructions. Emulators: QEMU with -icount, Cortex-M7 (mps2-an500) and RISC-V
// (virt). Other compilers: a program of the computer, which counts nothing.
#ifndef BOARD_H
#define BOARD_H

#if defined __arm__
// Semihosting: SYS_WRITE0 prints a text, SYS_EXIT ends the emulator.
static void call_host(int operation, const void *argument) {
  register int r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}
static void board_print(const char *text) {
  call_host(4, text);
}
static void board_finish(int status) {
  call_host(0x18, (const void *)(status ? 0x20023 : 0x20026));
}
// SysTick counts down once in 40 ns. With -icount shift=5, an instruction takes 32 ns. The counter has 24 bits.
static unsigned long board_instructions(void) {
  static unsigned long ticks, last;
  volatile unsigned long *control = (volatile unsigned long *)0xE000E010, *reload = control + 1, *value = control + 2;
  if (!(*control & 1)) *reload = 0xFFFFFF, *value = 0, *control = 5, last = *value;
  unsigned long now = *value;
  ticks += (last - now) & 0xFFFFFF;
  last = now;
  return ticks / 4 * 5 + ticks % 4 * 5 / 4;
}
#elif defined __riscv
static void call_host(long operation, const void *argument) {
  register long a0 __asm__("a0") = operation;
  register const void *a1 __asm__("a1") = argument;
  __asm__ volatile(".option push\n.option norvc\n.balign 16\nslli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
                   : "+r"(a0)
                   : "r"(a1)
                   : "memory");
}
static void board_print(const char *text) {
  call_host(4, text);
}
// The test device of the board ends the emulator.
static void board_finish(int status) {
  *(volatile unsigned *)0x100000 = status ? 0x13333 : 0x5555;
}
static unsigned long board_instructions(void) {
  unsigned long count;
  __asm__ volatile("csrr %0, minstret" : "=r"(count));
  return count;
}
#else
#include <stdio.h>
#include <stdlib.h>
static void board_print(const char *text) {
  fputs(text, stdout);
}
static void board_finish(int status) {
  exit(status);
}
static unsigned long board_instructions(void) {
  return 0;
}
#endif

#endif
