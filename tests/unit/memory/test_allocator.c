// The allocator of the program (od_set_allocator) gets all memory of the library. Oracles: a counting allocator that marks its
// blocks, and a replaced malloc() that looks at the address of its caller: code of this program, which contains the static library,
// never calls it while the library works.
#include "support/test.h"

#include <jansson.h>
#include <stdint.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "oleodyn/oleodyn.h"
#include "simulate/run.h"
#include "support/experiments.h"
#include "support/fits.h"
#include "support/scratch.h"
#include "support/skipping.h"

// --- The C library's functions, watched ---------------------------------------------------------------------------

#if defined __has_feature  // of Clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OTHER_ALLOCATOR
#endif
#endif
#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ && !defined OTHER_ALLOCATOR
#define WATCHED 1
extern const char __executable_start, etext;
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *block);

// Volatile, because compilers assume that malloc changes no variable of the program.
static volatile bool is_watching;
static volatile long own_calls, all_calls;

static void watch(const void *caller) {
  if (!is_watching) return;
  const char *at = caller;
  all_calls++;
  if (at >= &__executable_start && at < &etext) own_calls++;
}

void *malloc(size_t size) {
  watch(__builtin_return_address(0));
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  watch(__builtin_return_address(0));
  return __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
  watch(__builtin_return_address(0));
  return __libc_realloc(old, size);
}
#else
#define WATCHED 0
static bool is_watching;
static long own_calls, all_calls;
static void *__libc_malloc(size_t size) {
  return malloc(size);
}
static void *__libc_realloc(void *old, size_t size) {
  return realloc(old, size);
}
static void __libc_free(void *block) {
  free(block);
}
#endif

// --- The counting allocator ---------------------------------------------------------------------------------------

typedef struct counts {
  long allocated, released, foreign;
  size_t bytes;
} counts;

typedef struct mark {
  uint64_t number, size;  // 16 bytes: the block behind has the alignment of malloc()
} mark;
static const uint64_t alive = 0x6f6c656f64796e21, dead = 0x646561640a0a0a0a;

static void *allocate(void *user, size_t size) {
  counts *c = user;
  mark *m = __libc_malloc(sizeof *m + size);
  if (!m) return NULL;
  *m = (mark){alive, size};
  memset(m + 1, 0xa5, size);  // callers must not rely on zeros
  c->allocated++;
  c->bytes += size;
  return m + 1;
}

static void release(void *user, void *block) {
  counts *c = user;
  mark *m = (mark *)block - 1;
  if (m->number != alive) {
    c->foreign++;
    return;
  }
  m->number = dead;
  c->released++;
  c->bytes -= m->size;
  __libc_free(m);
}

static void *resize(void *user, void *block, size_t size) {
  counts *c = user;
  mark *m = (mark *)block - 1;
  if (m->number != alive) {
    c->foreign++;
    return NULL;
  }
  size_t old = m->size;
  mark *moved = __libc_realloc(m, sizeof *m + size);
  if (!moved) return NULL;
  moved->size = size;
  c->bytes += size - old;
  return moved + 1;
}

static counts total;

// --- Work ---------------------------------------------------------------------------------------------------------

static void load_and_run(void) {
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  assert_int_equal(od_machine_load(OD_SOURCE_DIR "/cases/fin-servo/machine.yaml", NULL, &machine, messages), OD_OK);
  od_run_options o = od_run_options_of(machine, (od_run_wishes){0});
  o.time = 0.05;
  od_table *table = NULL;
  od_run_report report = {0};
  od_error err = {0};
  if (od_run(machine, &o, &table, &report, &err) != OD_OK) fail_msg("%s", err.text);
  od_run_report_free(&report);
  od_table_free(table);
  od_machine_free(machine);
  od_messages_free(messages);
}

static void refuse(void) {
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  assert_int_not_equal(od_machine_load(OD_SOURCE_DIR "/tests/bad/axes_in_tree.yaml", NULL, &machine, messages), OD_OK);
  od_messages_free(messages);
}

static void observe_experiment(void) {
  od_experiment *e = load_experiment(OD_SOURCE_DIR "/cases/fourbar-valve/points-3.experiment.yaml", NULL);
  od_observed_free(observe(e));
  od_experiment_free(e);
}

static void fit_machine(void) {
  od_fit_plan *plan = fit_plan(OD_SOURCE_DIR "/cases/fin-servo/fit.yaml", NULL);
  fit_release(fit_run(plan, NULL), plan);
}

static void write_and_read(void) {
  void *state = NULL;
  assert_int_equal(scratch_setup(&state), 0);
  scratch *s = state;
  od_table *t = od_table_new(2), *again = NULL;
  od_table_label(t, 0, "time", "s");
  od_table_label(t, 1, "p", "Pa");
  for (int i = 0; i < 1000; i++) assert_int_equal(od_table_append(t, (double[]){i, 1e5 * i}), OD_OK);
  static const char *const names[] = {"t.csv", "t.mat"};
  for (int i = 0; i < 2; i++) {
    assert_int_equal((i ? od_table_write_mat : od_table_write_csv)(t, scratch_path(s, names[i]), NULL), OD_OK);
    assert_int_equal(od_table_read(scratch_path(s, names[i]), NULL, &again, NULL), OD_OK);
    assert_int_equal(again->rows, 1000);
    od_table_free(again);
  }
  od_table_free(t);
  scratch_teardown(&state);
}

static void make_json(void) {
  json_t *o = json_object();
  json_object_set_new(o, "a", json_real(1));
  json_decref(o);
}

static void test_all_memory(void **state) {
  (void)state;
  static const struct {
    const char *name;
    void (*work)(void);
    long own;  // allocations of this test itself: the scratch folder. They prove that calls from this program are seen
  } works[] = {
      {"load and run", load_and_run}, {"wrong file", refuse},       {"observe", observe_experiment},
      {"fit", fit_machine},           {"files", write_and_read, 1}, {"jansson", make_json},
  };
  for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
    counts first = total, second;
    is_watching = true;
    works[i].work();
    is_watching = false;
    second = total;
    long allocated = second.allocated - first.allocated, own = own_calls, others = all_calls - own_calls;
    own_calls = all_calls = 0;
    print_message("%s: %ld blocks by the allocator, %ld by other libraries, %ld by code of this program\n",
                  works[i].name, allocated, others, own);
    assert_true(allocated > 0);
    assert_int_equal(total.foreign, 0);
    if (WATCHED) assert_int_equal(own, works[i].own);
    // Tables that stay until the program ends may be made in the first round only.
    works[i].work();
    assert_int_equal(total.allocated - second.allocated, total.released - second.released);
    assert_int_equal(total.bytes, second.bytes);
  }
  print_message("%ld blocks, %ld freed\n", total.allocated, total.released);
}

// A program that sets the allocator too late, or an incomplete one, gets a status.
static void test_refused(void **state) {
  (void)state;
  const od_allocator good = {allocate, resize, release, &total};
  assert_int_equal(od_set_allocator(&good), OD_NOT_AVAILABLE);
  assert_int_equal(od_set_allocator(NULL), OD_NOT_AVAILABLE);
}

int main(void) {
  const od_allocator good = {allocate, resize, release, &total};
  for (int i = 0; i < 3; i++) {
    od_allocator bad = good;
    if (i == 0) bad.allocate = NULL;
    if (i == 1) bad.resize = NULL;
    if (i == 2) bad.release = NULL;
    if (od_set_allocator(&bad) != OD_BAD_ARGUMENT) return 1;
  }
  if (od_set_allocator(NULL) != OD_OK || od_set_allocator(&good) != OD_OK) return 1;
  if (!WATCHED) print_message("malloc() is not watched: sanitizers and other C libraries have their own\n");
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_memory), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
