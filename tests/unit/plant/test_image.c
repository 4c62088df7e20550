// Model images. Oracle of every comparison: the model from which the image was made. States, outputs, Jacobians and parameters have
// the same bits after steps of random machines and of all cases, while the memory of the image is write-protected.
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/test.h"
#include "machine/machine.h"
#include "model/image_form.h"
#include "oleodyn/sim.h"
#include "support/machines.h"
#include "support/random_machine.h"

enum { MACHINES = 60, STEPS = 5, OUTPUTS = 40, PARAMETERS = 4 };

// An image in memory that can only be read, and the model that uses the image in place.
typedef struct placed {
  void *memory, *view;
  size_t size, mapped;
  const od_model *m;
} placed;

static placed place(const od_model *from, bool without_names) {
  od_image_options options = {.without_names = without_names};
  od_error err = {0};
  placed p = {.size = od_image_size(from, &options)};
  p.mapped = (p.size + 4095) / 4096 * 4096;
  p.memory = mmap(NULL, p.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(p.memory != MAP_FAILED);
  assert_int_equal(od_image_write(from, &options, p.memory, p.size, &err), OD_OK);
  assert_int_equal(mprotect(p.memory, p.mapped, PROT_READ), 0);
  od_image_facts facts;
  assert_int_equal(od_image_get_facts(p.memory, p.size, &facts, &err), OD_OK);
  assert_int_equal(facts.fingerprint, od_model_fingerprint(from));
  p.view = aligned_alloc(16, (facts.view + 15) / 16 * 16);
  od_status status = od_model_from_image(p.memory, p.size, p.view, facts.view, &p.m, &err);
  if (status != OD_OK) fail_msg("%s", err.text);
  return p;
}
static void remove_placed(placed *p) {
  free(p->view);
  munmap(p->memory, p->mapped);
}

// Results of a run: everything that a program can ask for. Returns the number of values.
static size_t run(const od_model *m, double *value, size_t room) {
  int output[OUTPUTS], parameter[PARAMETERS], outputs = m->outputs < OUTPUTS ? m->outputs : OUTPUTS, parameters = 0;
  for (int i = 0; i < outputs; i++) output[i] = (int)((long)i * m->outputs / outputs);
  od_plant *plant = NULL;
  for (int i = 0; i < PARAMETERS && i < m->numbers; i++) {
    parameter[parameters] = (int)((long)i * m->numbers / PARAMETERS);
    // Axes of planar machines are not parameters.
    if (od_model_plant(m, output, outputs, parameter + parameters, 1, &plant, NULL) == OD_OK) parameters++;
    od_plant_free(plant), plant = NULL;
  }
  assert_int_equal(od_model_plant(m, output, outputs, parameter, parameters, &plant, NULL), OD_OK);
  size_t nx = (size_t)od_plant_nx(plant), nu = (size_t)plant->nu, np = (size_t)parameters, ny = (size_t)outputs;
  size_t all = nx + nu + np, used = 0;
  assert_true(3 + nx + (nx + 2 * ny) * (all + 1) + np < room);
  double *u = calloc(nu + 1, sizeof *u);
  od_sim *sim = od_sim_new(plant);
  assert_non_null(sim);
  value[used++] = od_sim_start(sim, 0, u);
  if (value[0] == OD_OK) {
    for (int i = 0; i < STEPS; i++) value[used++] = od_sim_step(sim, 1e-4, u);
    memcpy(value + used, od_sim_state(sim), nx * sizeof *value), used += nx;
    value[used] = od_sim_outputs(sim, value + used + 1), used += 1 + ny;
    double *f = value + used;
    value[used + nx * (1 + all)] = od_sim_derivatives(sim, f, f + nx, f + nx + nx * nx, f + nx + nx * (nx + nu));
    used += nx * (1 + all) + 1;
    double *h = value + used;
    value[used + ny * all] = od_sim_output_jacobians(sim, h, h + ny * nx, h + ny * (nx + nu));
    used += ny * all + 1;
    od_sim_parameters(sim, value + used), used += np;
  }
  od_sim_free(sim);
  free(u);
  od_plant_free(plant);
  return used;
}

static void compare(const od_model *m, bool without_names) {
  enum { ROOM = 400000 };
  static double want[ROOM], got[ROOM];
  if (2 * m->freedom + m->states > 300) return;  // derivatives would take long
  memset(want, 0, sizeof want), memset(got, 0, sizeof got);
  placed p = place(m, without_names);
  size_t count = run(m, want, ROOM);
  assert_int_equal(run(p.m, got, ROOM), count);
  assert_memory_equal(want, got, count * sizeof *want);
  assert_int_equal(p.m->outputs, m->outputs);
  for (int i = 0; i < m->outputs; i += 7) {
    assert_string_equal(od_model_output_name(p.m, i), without_names ? "" : od_model_output_name(m, i));
    assert_string_equal(od_model_output_unit(p.m, i), without_names ? "" : od_model_output_unit(m, i));
    assert_int_equal(od_model_output_find(p.m, od_model_output_name(m, i)),
                     without_names ? -1 : od_model_output_find(m, od_model_output_name(m, i)));
  }
  remove_placed(&p);
}

static void random_machines(void **state) {
  (void)state;
  int made = 0;
  for (uint64_t seed = 1; made < MACHINES; seed++) {
    static const od_sparsity kinds[] = {OD_SPARSE_BY_SIZE, OD_SPARSE_ALWAYS, OD_SPARSE_NEVER};
    od_model *m =
        od_random_machine_with(seed, seed % 2, seed % 3 == 0, seed % 4 != 1, seed % 5 < 3, kinds[seed / 2 % 3]);
    if (m) compare(m, made++ % 2);
    od_model_free(m);
  }
}

// Every machine file of the cases.
static void cases(void **state) {
  (void)state;
  const char *root = OD_SOURCE_DIR "/cases";
  DIR *folder = opendir(root);
  assert_non_null(folder);
  int count = 0;
  for (const struct dirent *e; (e = readdir(folder)) != NULL;) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s/machine.yaml", root, e->d_name);
    FILE *file = e->d_name[0] != '.' ? fopen(path, "r") : NULL;
    if (!file) continue;
    fclose(file);
    od_machine *machine = NULL;
    od_status status = od_machine_load(path, NULL, &machine, NULL);
    if (status == OD_OK) compare(od_machine_model(machine), false), count++;
    od_machine_free(machine);
  }
  closedir(folder);
  assert_true(count > 10);
}

// A small machine with elements, blocks and loops.
static od_model *small_model(void) {
  od_model *least = NULL;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    od_model *m = od_random_machine(seed, true, seed % 2, true, true);
    bool smaller = m && m->blocks && (!least || od_image_size(m, NULL) < od_image_size(least, NULL));
    od_model_free(smaller ? least : m);
    if (smaller) least = m;
  }
  assert_non_null(least);
  return least;
}

// Each changed byte and each truncated image is refused with a message; the same model gives the same bytes.
static void damaged_images(void **state) {
  (void)state;
  od_model *m = small_model();
  size_t size = od_image_size(m, NULL);
  unsigned char *image = malloc(size), *again = malloc(size);
  assert_int_equal(od_image_write(m, NULL, image, size, NULL), OD_OK);
  assert_int_equal(od_image_write(m, NULL, again, size, NULL), OD_OK);
  assert_memory_equal(image, again, size);
  assert_int_equal(od_image_write(m, NULL, again, size - 1, NULL), OD_BAD_ARGUMENT);
  assert_int_equal(od_image_check(image, size, NULL), OD_OK);
  for (size_t i = 0; i < size; i++) {
    od_error err = {0};
    image[i] ^= (unsigned char)(1u << i % 8);
    od_image_facts facts;
    assert_int_equal(od_image_get_facts(image, size, &facts, &err), OD_BAD_INPUT);
    assert_true(err.text[0] != '\0');
    image[i] ^= (unsigned char)(1u << i % 8);
  }
  for (size_t i = 0; i < size; i += 1 + i / 50) assert_int_equal(od_image_check(image, i, NULL), OD_BAD_INPUT);
  // A copy at any address has the same fingerprint.
  unsigned char *moved = malloc(size + 1);
  od_model *copy = NULL;
  memcpy(moved + 1, image, size);
  assert_int_equal(od_model_copy_image(moved + 1, size, &copy, NULL), OD_OK);
  assert_int_equal(od_model_fingerprint(copy), od_model_fingerprint(m));
  od_model_free(copy);
  free(image), free(again), free(moved);
  od_model_free(m);
}

// Texts for the program are part of the image, without change; without texts this part is absent.
static void texts_of_the_program(void **state) {
  (void)state;
  static const char texts[] = "bodies: {a: {}}";
  od_model *m = small_model();
  for (int with = 0; with < 2; with++) {
    od_image_options options = {.machine = with ? texts : NULL, .machine_size = with ? sizeof texts : 0};
    size_t size = od_image_size(m, &options);
    unsigned char *image = malloc(size);
    od_image_facts facts;
    memset(image, 0xa5, size);
    assert_int_equal(od_image_write(m, &options, image, size, NULL), OD_OK);
    assert_int_equal(od_image_get_facts(image, size, &facts, NULL), OD_OK);
    assert_int_equal(facts.size, size);
    assert_true(facts.machine >= options.machine_size && facts.machine < options.machine_size + 8);
    if (with)
      assert_memory_equal(facts.texts, texts, sizeof texts);
    else
      assert_null(facts.texts);
    free(image);
  }
  od_model_free(m);
}

// Repairs the checksum of an image and returns the message of its refusal.
static od_error refusal(unsigned char *image, size_t size) {
  od_image_header h;
  od_error err = {0};
  memcpy(&h, image, sizeof h);
  h.checksum = 0;
  memcpy(image, &h, sizeof h);
  h.checksum = od_image_checksum(image, size);
  memcpy(image, &h, sizeof h);
  assert_int_equal(od_image_check(image, size, &err), OD_BAD_INPUT);
  return err;
}

// Integers of the model that do not fit their fields: below -1, below zero for a count, above the largest count, outside an enumeration, and
// booleans that are neither 0 nor 1. The message contains the index of the field.
static void fields_of_the_model(void **state) {
  (void)state;
  od_model *m = small_model();
  size_t size = od_image_size(m, NULL), at = sizeof(od_image_header);
  unsigned char *image = malloc(size);
  assert_int_equal(od_image_write(m, NULL, image, size, NULL), OD_OK);
  for (int i = 0; i < od_model_field_count; i++) {
    const od_model_field *f = &od_model_fields[i];
    const int64_t most = f->kind == OD_FIELD_BOOL   ? 1
                         : f->kind == OD_FIELD_ENUM ? (int64_t)f->bound - 1
                                                    : (int64_t)OD_MOST_ITEMS;
    const bool has_none = f->kind != OD_FIELD_BOOL && f->kind != OD_FIELD_ENUM && f->kind != OD_FIELD_COUNT;
    const int64_t wrong[] = {
        -2, INT64_MIN, most + 1, INT64_MAX, has_none ? -2 : -1, (int64_t)1 << 32, -((int64_t)1 << 32)};
    int64_t before;
    char says[40];
    snprintf(says, sizeof says, "count %d of the model is wrong", i);
    for (size_t k = 0; f->kind != OD_FIELD_DOUBLE && k < sizeof wrong / sizeof *wrong; k++) {
      memcpy(&before, image + at, sizeof before);
      memcpy(image + at, &wrong[k], sizeof before);
      od_error err = refusal(image, size);
      if (!strstr(err.text, says))
        fail_msg("%lld instead of %lld: '%s'", (long long)wrong[k], (long long)before, err.text);
      memcpy(image + at, &before, sizeof before);
    }
    at += f->kind == OD_FIELD_DOUBLE ? f->size : sizeof before;
  }
  free(image);
  od_model_free(m);
}

// A class that this program lacks, and a class of another version, are refused with their names.
static void classes(void **state) {
  (void)state;
  od_model *m = small_model();
  size_t size = od_image_size(m, NULL);
  unsigned char *image = malloc(size);
  assert_int_equal(od_image_write(m, NULL, image, size, NULL), OD_OK);
  const char *name = m->element_class[0]->name;
  size_t at = sizeof(od_image_header);
  while (strcmp((const char *)image + at, name) != 0) at += 4;
  image[at] = 'Q';
  od_error err = refusal(image, size);
  assert_non_null(strstr(err.text, (const char *)image + at));
  image[at] = (unsigned char)name[0];
  image[at + offsetof(od_image_class, version)]++;
  err = refusal(image, size);
  assert_non_null(strstr(err.text, name));
  assert_non_null(strstr(err.text, "version 1"));
  free(image);
  od_model_free(m);
}

// The description of the tables lists every field: no gap between fields is as large as an integer, except reserved fields.
static void described_fields(void **state) {
  (void)state;
  for (int i = 0; i < od_model_table_count; i++) {
    const od_model_table *t = &od_model_tables[i];
    size_t covered = 0, allowed = 0;
    for (int k = 0; k < t->fields; k++) {
      covered += (t->field[k].size + 3) / 4 * 4;
      if (t->field[k].kind == OD_FIELD_DOUBLE) allowed = 4;  // before a double
    }
    if (strcmp(t->name, "joint") == 0) allowed += sizeof((od_joint_spec){0}.reserved);
    if (strcmp(t->name, "block_line") == 0)
      allowed += sizeof(int);  // names of measured quantities, zero in a compiled model
    if (t->item > covered + allowed + 4)
      fail_msg("table %s: %zu of %zu bytes are described", t->name, covered, t->item);
  }
}

// Returns whether an image of the model is refused because of an instance.
static bool instance_is_refused(const od_model *m) {
  size_t size = od_image_size(m, NULL);
  unsigned char *image = malloc(size);
  od_error err = {0};
  assert_int_equal(od_image_write(m, NULL, image, size, NULL), OD_OK);
  bool refused = od_image_check(image, size, &err) == OD_BAD_INPUT && strstr(err.text, "'instance'");
  free(image);
  return refused;
}

// An image with a required end that is not connected, or without a state that always exists, is refused.
static void incomplete_instances(void **state) {
  (void)state;
  int ends = 0, states = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    od_model *m = od_random_machine(seed, seed % 2, seed % 3 == 0, true, true);
    for (int i = 0; m && i < m->instances; i++) {
      od_instance *e = &m->instance[i];
      const od_element_class *c = od_instance_class(m, e);
      for (int k = 0; k < od_element_class_ends(c); k++) {
        int end = e->end[k];
        if (c->optional_ends >> k & 1U) continue;
        e->end[k] = -1;
        assert_true(instance_is_refused(m));
        e->end[k] = end, ends++;
      }
      for (int k = 0; k < od_element_state_count(c); k++) {
        int number = e->state[k];
        if (c->optional_states >> k & 1U) continue;
        e->state[k] = -1;
        assert_true(instance_is_refused(m));
        e->state[k] = number, states++;
      }
    }
    if (m) assert_false(instance_is_refused(m));
    od_model_free(m);
  }
  print_message("%d ends, %d states\n", ends, states);
  assert_true(ends > 20 && states > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_machines),
                                     cmocka_unit_test(cases),
                                     cmocka_unit_test(damaged_images),
                                     cmocka_unit_test(texts_of_the_program),
                                     cmocka_unit_test(incomplete_instances),
                                     cmocka_unit_test(fields_of_the_model),
                                     cmocka_unit_test(classes),
                                     cmocka_unit_test(described_fields)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
