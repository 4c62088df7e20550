// Memory of models, plants, simulations, observers and inverse problems: everything is freed, and each allocation may fail.
//
// Oracle: the number of blocks that are in use, which is the same before and after; a failed allocation gives no object, or the same object, and
// never a crash. The program has an allocator of its own that counts blocks and fails at a chosen call (not under sanitizers, which find
// leaks by themselves).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "support/skipping.h"
#include "oleodyn/observer.h"
#include "oleodyn/sim.h"
#include "plant/inverse.h"
#include "support/machines.h"
#include "support/random_machine.h"

#if defined __has_feature  // of Clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OTHER_ALLOCATOR
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define OTHER_ALLOCATOR
#endif

static volatile long used, calls,
    fails_at;  // blocks in use; calls since the start of a trial; the call that fails, 0: none

#ifndef OTHER_ALLOCATOR
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *block);
static int is_due(void) {
  return ++calls == fails_at;
}
static void *counted(void *block) {
  if (block) used++;
  return block;
}
void *malloc(size_t size) {
  return is_due() ? NULL : counted(__libc_malloc(size));
}
void *calloc(size_t count, size_t size) {
  return is_due() ? NULL : counted(__libc_calloc(count, size));
}
void *realloc(void *old, size_t size) {
  if (is_due()) return NULL;
  void *block = __libc_realloc(old, size);
  if (block && !old) used++;
  return block;
}
void free(void *block) {
  if (block) used--;
  __libc_free(block);
}
#endif

// ---- what is built

static int follow_count;
static void follow(const void *user, const double *q, double *p, double *slope) {
  (void)user;
  follow_count++;
  for (int i = 0; i < 2; i++) p[i] = q[i], slope[2 * i] = i == 0, slope[2 * i + 1] = i == 1;
}

static od_sim_counts run(const od_plant *plant) {
  const double u[4] = {0.4, -0.3};
  od_sim_counts counts = {0};
  od_sim *s = od_sim_new(plant), *plain = od_sim_plain_new(plant);
  if (s && od_sim_start(s, 0, u) == OD_OK) {
    (void)od_sim_step(s, 1e-5, u);
    counts = od_sim_count(s);
  }
  od_sim_free(s);
  od_sim_free(plain);
  return counts;
}

static bool build_all(unsigned long long seed, od_sparsity sparsity) {
  bool loops = seed % 3 == 0;
  long fails = fails_at;
  if (loops) fails_at = 0;  // the search for random loops does not expect failures
  od_model *m = od_random_machine_with(seed, seed % 2, loops, seed % 4 != 1, seed % 2, sparsity);
  fails_at = fails;
  if (!m) return false;
  const int out[3] = {0, m->outputs / 2, m->outputs / 3}, parameter[2] = {0, 1};
  bool complete = true;
  for (int kind = 0; kind < 3; kind++) {
    od_plant *plant = NULL, *outer = NULL;
    complete = od_model_plant(m, out, 3, parameter, 2, &plant, NULL) == OD_OK && complete;
    if (!plant) continue;
    const od_calibration item = {1, OD_CALIBRATE_BIAS};
    od_sim_counts counts = run(plant);
    const double start[2] = {m->theta[0], m->theta[1]}, sigma[3] = {1, 1, 1};
    const od_tie tie = {.count = 2, .start = start, .follow = follow};
    od_status status = kind == 0   ? OD_OK
                       : kind == 1 ? od_plant_calibrated(plant, &item, 1, &outer, NULL)
                                   : od_plant_tied(plant, &tie, &outer, NULL);
    complete = complete && status == OD_OK && counts.residuals >= 0;
    const od_plant *whole = outer ? outer : plant;
    run(whole);
    const od_observer_options options = {.filter = od_filter_at(kind), .sensor_sigma = sigma};
    od_observer_free(od_observer_new(whole, &options));
    od_plant_free(outer ? outer : plant);
  }
  od_model_free(m);
  return complete;
}

// An inverse problem of a cart on a rail, with a drive.
static bool build_inverse(od_machine *machine) {
  const int moved = od_test_output(machine, "rail.position");
  const od_drive drive = {OD_DRIVE_COORDINATE, 0, 1};
  od_plant *plant = NULL;
  od_inverse *inverse = NULL;
  bool complete = od_machine_plant(machine, &moved, 1, NULL, 0, &plant, NULL) == OD_OK;
  if (complete) complete = od_inverse_new(plant, &moved, 1, 0, &drive, 1, NULL, 0, &inverse) == OD_OK;
  if (complete) complete = od_inverse_start(inverse) == OD_OK;
  od_inverse_free(inverse);
  od_plant_free(plant);
  return complete;
}

static int f(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)u;
  dx[0] = -p[0] * x[0];
  return 0;
}
static int jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                     double *fp) {
  (void)user, (void)t, (void)u, (void)fu;
  if (fx) fx[0] = -p[0];
  if (fp) fp[0] = -x[0];
  return 0;
}
static bool build_function(void) {
  const double one[1] = {1};
  const od_function function = {.nx = 1, .np = 1, .x0 = one, .p = one, .f = f, .f_jacobians = jacobians};
  od_plant *plant = NULL;
  bool complete = od_plant_from_function(&function, &plant, NULL) == OD_OK;
  if (plant) run(plant);
  od_plant_free(plant);
  return complete;
}

// ---- trials

typedef struct trial {
  int kind;
  unsigned long long seed;
  od_machine *machine;
} trial;
static bool build(const trial *t) {
  if (t->kind == 0) return build_function();
  if (t->kind == 1) return build_inverse(t->machine);
  return build_all(t->seed, t->kind == 2 ? OD_SPARSE_BY_SIZE : OD_SPARSE_ALWAYS);
}

static void try_all(const trial *t, long most) {
  long before = used;
  calls = fails_at = 0;
  bool complete = build(t);
  long all = calls;
  assert_int_equal(used, before);
  if (!complete) return;  // such as a machine that cannot move
  long stride = all / most + 1;
  int lost = 0;
  for (long n = 1; n <= all; n += stride) {
    calls = 0, fails_at = n;
    bool done = build(t);
    fails_at = 0;
    lost += !done;
    if (used != before)
      print_error("kind %d, machine %llu: %ld blocks are left after failure %ld of %ld\n", t->kind, t->seed,
                  used - before, n, all);
    assert_int_equal(used, before);
  }
  assert_true(lost > 0);
}

static void every_allocation(void **state) {
  (void)state;
#ifdef OTHER_ALLOCATOR
  skip_test("not possible: the allocator of a sanitizer cannot be replaced");
#else
  static const char text[] =
      "gravity: [0, 0]\nbodies: {cart: {point: {mass: 2 kg}}}\njoints: {rail: {type: prismatic, between: [ground, cart], axis: [1, 0, 0]}}\n"
      "initial: {rail.position: 0 m}\n";
  trial t = {.machine = od_test_machine_text(text)};
  for (t.kind = 0; t.kind < 2; t.kind++) try_all(&t, 1000);
  for (t.kind = 2; t.kind < 4; t.kind++)
    for (t.seed = 1; t.seed <= 9; t.seed++) try_all(&t, 120);
  od_machine_free(t.machine);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
