// An exported program (name: exported) on an emulated processor: repeats the test run of the export ROUNDS times without a restart,
// and prints the bits of the results, then counts: instructions of the first step, the most of steps 2 to 10 and of any later step,
// bytes of the memory and of the stack. OBSERVER: the program is an observer. The same source is compiled for the computer that runs the tests, whose
// numbers are the oracle.
#define EXPORTED_TEST_ONLY
#include "exported_test.c"

#include <stdint.h>
#include <string.h>

#include "board.h"
#include "oleodyn/embedded.h"

#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef REAL
#define REAL double
#endif
enum { PAINTED = 24000 };

static void print_bits(double x) {
  uint64_t bits;
  char text[18] = {0};
  memcpy(&bits, &x, sizeof bits);
  for (int i = 0; i < 16; i++) text[i] = "0123456789abcdef"[bits >> (60 - 4 * i) & 15];
  text[16] = '\n';
  board_print(text);
}
static void print_count(const char *name, unsigned long count) {
  char text[24] = {0}, *at = text + sizeof text - 1;
  *--at = '\n';
  do *--at = (char)('0' + count % 10);
  while (count /= 10);
  board_print(name);
  board_print(" ");
  board_print(at);
}

// Fills the free part of the stack, and counts the bytes that were used since.
static __attribute__((noinline)) unsigned char *paint_stack(void) {
  volatile unsigned char here = 0;
  uintptr_t top = (uintptr_t)&here - 256;
  for (uintptr_t at = top - PAINTED; at < top; at++) *(volatile unsigned char *)at = 0xA5;
  return (unsigned char *)top;
}
static __attribute__((noinline)) unsigned long used_stack(const unsigned char *top) {
  const volatile unsigned char *at = top - PAINTED;
  while (at < top && *at == 0xA5) at++;
  return (unsigned long)(top - at) + 256;
}

static _Alignas(16) unsigned char memory[EXPORTED_MEMORY];

static int step(exported_run *it, int i) {
#ifdef OBSERVER
  return exported_step(it, input + i * EXPORTED_INPUTS, sensor + i * EXPORTED_SENSORS);
#else
  return exported_step(it, input + i * EXPORTED_INPUTS);
#endif
}

static void fail(const char *text) {
  board_print(text);
  board_finish(1);
}

static void print_results(exported_run *it) {
  static REAL y[EXPORTED_OUTPUTS + 1];
#ifdef OBSERVER
  static REAL sigma[EXPORTED_OUTPUTS + 1], p[EXPORTED_PARAMETERS + 1], p_sigma[EXPORTED_PARAMETERS + 1];
  if (exported_outputs(it, y, sigma) != 0) fail("the outputs cannot be computed\n");
#if PARAMETERS
  exported_parameters(it, p, p_sigma);
#endif
#else
  if (exported_outputs(it, y) != 0) fail("the outputs cannot be computed\n");
#endif
  for (int i = 0; i < EXPORTED_OUTPUTS; i++) print_bits((double)y[i]);
#ifdef OBSERVER
  for (int i = 0; i < EXPORTED_OUTPUTS; i++) print_bits((double)sigma[i]);
  for (int i = 0; i < EXPORTED_PARAMETERS; i++) print_bits((double)p[i]);
  for (int i = 0; i < EXPORTED_PARAMETERS; i++) print_bits((double)p_sigma[i]);
#endif
}

int main(void) {
  unsigned long first = 0, worst = 0, later = 0;
  exported_run *it = exported_init(memory, sizeof memory);
  if (!it) fail("the memory is too small\n");
  unsigned char *top = paint_stack();
  for (long round = 0; round < ROUNDS; round++)
    for (int i = 0; i < STEPS; i++) {
      unsigned long before = board_instructions();
      if (step(it, i) != 0) fail("a step fails\n");
      unsigned long count = board_instructions() - before;
      if (round == 0 && i == 0)
        first = count;
      else if (round == 0 && i < 10)
        worst = count > worst ? count : worst;
      else if (round == 0 && count > later)
        later = count;
    }
  unsigned long stack = used_stack(top);
  print_results(it);
  print_count("first", first);
  print_count("worst", worst);
  print_count("later", later);
  print_count("stack", stack);
  print_count("memory", (unsigned long)od_embedded_used(it));
  board_finish(0);
  return 0;
}
