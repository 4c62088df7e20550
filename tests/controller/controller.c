// A program for a controller: runs the model of an image in read-only memory, or an observer of it, and prints the bits of the
// result. The same source is compiled for the computer that runs the tests, whose numbers are the oracle. OBSERVER selects the
// observer with 24 states: those of the machine and numbers of the valve's curves.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "oleodyn/image.h"
#include "oleodyn/observer.h"
#include "oleodyn/sim.h"

#ifdef __arm__
// Prints a text by semihosting (SYS_WRITE0), and ends the emulator (SYS_EXIT).
static void call_host(int operation, const void *argument) {
  register int r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}
static void print(const char *text) {
  call_host(4, text);
}
static void finish(int status) {
  call_host(0x18, (const void *)(status ? 0x20023 : 0x20026));
}
#else
#include <stdio.h>
static void print(const char *text) {
  fputs(text, stdout);
}
static void finish(int status) {
  exit(status);
}
#endif

static void print_bits(double x) {
  uint64_t bits;
  char text[18] = {0};
  memcpy(&bits, &x, sizeof bits);
  for (int i = 0; i < 16; i++) text[i] = "0123456789abcdef"[bits >> (60 - 4 * i) & 15];
  text[16] = '\n';
  print(text);
}

static _Alignas(16) unsigned char view[16384], memory[400000];

static void fail(const char *text) {
  print(text);
  print("\n");
  finish(1);
}

int main(void) {
  od_error err = {0};
  const od_model *model = NULL;
  od_plant *plant = NULL;
  double u[8] = {0};
  if (od_model_from_image(image, sizeof image, view, sizeof view, &model, &err) != OD_OK) fail(err.text);
#ifdef OBSERVER
  int parameter[24];
  if (od_model_plant(model, observed, 2, NULL, 0, &plant, &err) != OD_OK) fail(err.text);
  int nx = od_plant_nx(plant), np = 24 - nx;
  od_plant_free(plant);
  for (int i = 0; i < np; i++) parameter[i] = numbers[i];
  if (od_model_plant(model, observed, 2, parameter, np, &plant, &err) != OD_OK) fail(err.text);
  static double P[24 * 24], q[24];
  const double sigma[2] = {1e-3, 1e-3};
  for (int i = 0; i < 24; i++) P[25 * i] = 1e-4, q[i] = 1e-10;
  const od_observer_options options = {.filter = od_filter_find("ekf"), .sensor_sigma = sigma};
  if (od_observer_size(plant, &options) > sizeof memory) fail("the memory is too small");
  od_observer *o = od_observer_init(memory, plant, &options);
  od_status status = od_observer_start(o, 0, NULL, NULL, P, u);
  for (int i = 0; i < 100 && status == OD_OK; i++) {
    double y[2], spread[2];
    u[0] = 0.05 * (i % 100);
    status = od_observer_predict(o, 1e-3, u, NULL, q);
    if (status == OD_OK) status = od_observer_outputs(o, y, spread);
    y[0] += 1e-3 * (i % 3 - 1), y[1] += 1e-3 * (i % 5 - 2);
    if (status == OD_OK) status = od_observer_correct(o, y);
  }
  if (status != OD_OK) fail(od_status_text(status));
  for (int i = 0; i < nx; i++) print_bits(od_observer_state(o)[i]);
  for (int i = 0; i < np; i++) print_bits(od_observer_parameters(o)[i]);
#else
  if (od_model_plant(model, NULL, 0, NULL, 0, &plant, &err) != OD_OK) fail(err.text);
  if (od_sim_size(plant) > sizeof memory) fail("the memory is too small");
  od_sim *sim = od_sim_init(memory, plant);
  od_status status = od_sim_start(sim, 0, u);
  for (int i = 0; i < 500 && status == OD_OK; i++) {
    u[0] = 0.05 * (i % 100);
    status = od_sim_step(sim, 1e-3, u);
  }
  if (status != OD_OK) fail(od_status_text(status));
  for (int i = 0; i < od_plant_nx(plant); i++) print_bits(od_sim_state(sim)[i]);
#endif
  finish(0);
  return 0;
}
