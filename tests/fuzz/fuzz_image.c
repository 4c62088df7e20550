// Model images. An input chooses a machine and lists changes of its image. Checksum and fingerprint are repaired, so that the
// checks of the tables decide. An accepted image takes steps with derivatives: no access outside, no endless loop. Without
// repair every changed image is refused.
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "model/fingerprint.h"
#include "model/image_form.h"
#include "oleodyn/sim.h"

// Images of large machines, of which libFuzzer tries few; then the images of small machines, most of them without names.
static const char *const large[] = {"fourbar-swing", "position-servo", "slider-crank",     "crane",
                                    "load-sensing",  "rssr",           "stewart-platform", "excavator"};
enum { LARGE = sizeof large / sizeof *large, SLOW = LARGE + 8, BASES = LARGE + FUZZ_MACHINES, WITH_NAMES = 3 };
enum { STEPS = 2, OUTPUTS = 12, PARAMETERS = 3, GROUP = 6, MOST_CHANGES = 16 };
enum { UNREPAIRED = 128 };                                // least first byte of inputs without repair
enum { OF_HEADER = 224, OF_PARTS = 232, OF_SIZE = 240 };  // least kinds of changes of the header

typedef struct base {
  void *image, *work, *view;
  size_t size, view_size;
} base;

static base make_base(int index) {
  char full[500];
  od_machine *machine = NULL;
  if (index < LARGE) {
    snprintf(full, sizeof full, "%s/cases/%s/machine.yaml", OD_SOURCE_DIR, large[index]);
    if (od_machine_load(full, NULL, &machine, NULL) != OD_OK) abort();
  }
  const od_model *m = od_machine_model(machine ? machine : fuzz_machine(index - LARGE));
  const od_image_options options = {.without_names = index >= LARGE && index < BASES - WITH_NAMES};
  base b = {.size = od_image_size(m, &options)};
  b.image = malloc(b.size), b.work = malloc(b.size);
  od_image_facts facts;
  if (!b.image || !b.work || od_image_write(m, &options, b.image, b.size, NULL) != OD_OK ||
      od_image_get_facts(b.image, b.size, &facts, NULL) != OD_OK)
    abort();
  b.view_size = facts.view + 4096;
  b.view = aligned_alloc(16, (b.view_size + 15) / 16 * 16);
  od_machine_free(machine);
  return b;
}

// ---- changes

// Changes an integer, a byte or a number of the image.
static void change_contents(unsigned char *image, size_t offset, const uint8_t *by) {
  int value = (int8_t)by[4], whole;
  double number;
  size_t four = offset / 4 * 4, eight = offset / 8 * 8;
  memcpy(&whole, image + four, sizeof whole);
  switch (by[3] % 6) {
    case 0: whole = value; break;
    case 1: whole = value * 256 + by[5]; break;
    case 2: whole = (int)((unsigned)whole + (unsigned)value); break;
    case 3: whole = (int)((unsigned)value << 24 | by[5]); break;
    case 4: image[offset] = by[4]; return;
    default:
      number = (double[]){0, -1, 1e-300, 1e300, 3e9, -1e-5, 1e-9, 0.5}[by[4] % 8];
      memcpy(image + eight, &number, sizeof number);
      return;
  }
  memcpy(image + four, &whole, sizeof whole);
}

// Moves the border between two parts, or the end of the image. Returns the number of bytes that the end is moved.
static size_t change_sizes(unsigned char *image, size_t size, const uint8_t *by) {
  od_image_header h;
  memcpy(&h, image, sizeof h);
  uint64_t by_bytes = (uint64_t)(int64_t)((int8_t)by[4] * (by[5] % 2 ? 8 : 1));
  int part = by[0] % OD_IMAGE_PARTS;
  size_t cut = 0;
  h.part[part] += by_bytes;
  if (by[3] < OF_SIZE) {
    h.part[by[1] % OD_IMAGE_PARTS] -= by_bytes;
  } else if ((int8_t)by[4] < 0) {
    cut = (size_t) - (int8_t)by[4] * 8;
    if (cut > size - sizeof h) cut = size - sizeof h;
    h.size -= cut;
  }
  memcpy(image, &h, sizeof h);
  return cut;
}

// Applies all changes, GROUP bytes of the input each. Returns the new size of the image, which now ends at the end of b->work.
static size_t change(const base *b, const uint8_t *data, size_t size) {
  unsigned char *image = b->work;
  size_t begin = sizeof(od_image_header), left = b->size;
  memcpy(image, b->image, b->size);
  for (size_t i = 0; i + GROUP <= size && i < GROUP * MOST_CHANGES; i += GROUP) {
    const uint8_t *by = data + i;
    size_t place = by[0] | (size_t)by[1] << 8 | (size_t)by[2] << 16;
    if (by[3] >= OF_PARTS)
      left -= change_sizes(image, left, by);
    else if (by[3] >= OF_HEADER)
      image[place % begin] = by[4];
    else if (left > begin)
      change_contents(image, begin + place % (left - begin), by);
  }
  if (left < b->size) memmove(image + b->size - left, image, left);
  return left;
}

static void repair(void *image, size_t size, const uint64_t *fingerprint) {
  od_image_header h;
  memcpy(&h, image, sizeof h);
  if (fingerprint) h.fingerprint = *fingerprint;
  h.checksum = 0;
  memcpy(image, &h, sizeof h);
  h.checksum = od_image_checksum(image, size);
  memcpy(image, &h, sizeof h);
}

// ---- use

static void run(const od_model *m) {
  int output[OUTPUTS], parameter[PARAMETERS], outputs = 0, parameters = 0;
  for (int i = 0; i < OUTPUTS && m->outputs > 0; i++) output[outputs++] = (int)((long)i * m->outputs / OUTPUTS);
  for (int i = 0; i < PARAMETERS && m->numbers > 0; i++)
    parameter[parameters++] = (int)((long)i * m->numbers / PARAMETERS);
  od_plant *plant = NULL;
  if (od_model_plant(m, output, outputs, parameter, parameters, &plant, NULL) != OD_OK &&
      od_model_plant(m, output, outputs, NULL, parameters = 0, &plant, NULL) != OD_OK)
    return;
  od_model_plant_integrate_powers(plant);
  size_t nx = (size_t)od_plant_nx(plant), all = nx + (size_t)plant->nu + (size_t)parameters + 1;
  double *u = calloc((size_t)plant->nu + 1, sizeof *u), *y = calloc((size_t)outputs + 1, sizeof *y);
  double *f = calloc((nx + OUTPUTS + 1) * (all + 3), sizeof *f);
  od_sim *sim = od_sim_new(plant);
  if (sim && u && y && f && od_sim_start(sim, 0, u) == OD_OK) {
    double *fx = f + nx, *fu = fx + nx * nx, *fp = fu + nx * (size_t)plant->nu;
    od_status status = OD_OK;
    for (int i = 0; i < STEPS && status == OD_OK; i++) status = od_sim_step(sim, 1e-4, u);
    od_sim_outputs(sim, y);
    od_sim_derivatives(sim, f, fx, fu, parameters ? fp : NULL);
    double *hx = f, *hu = hx + (size_t)outputs * nx, *hp = hu + (size_t)outputs * (size_t)plant->nu;
    od_sim_output_jacobians(sim, hx, hu, parameters ? hp : NULL);
  }
  od_sim_free(sim);
  free(u), free(y), free(f);
  od_plant_free(plant);
}

// with_facts: whether the header is read alone, too. Most headers are unchanged, and a checksum takes long.
static void read_image(const base *b, void *image, size_t size, bool with_facts) {
  od_image_facts facts;
  const od_model *m = NULL;
  od_error err = {0};
  if (with_facts && od_image_get_facts(image, size, &facts, &err) != OD_OK) {
    if (!err.text[0]) abort();
    return;
  }
  od_status status = od_model_from_image(image, size, b->view, b->view_size, &m, &err);
  if (status != OD_OK && !err.text[0]) abort();
  if (status == OD_BAD_INPUT && strstr(err.text, "fingerprint")) {
    uint64_t fingerprint = od_model_fingerprint(b->view);
    repair(image, size, &fingerprint);
    if (od_model_from_image(image, size, b->view, b->view_size, &m, &err) != OD_OK) abort();
  }
  if (m) run(m);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return fuzz_mutate(data, size, most, seed, 1, GROUP, BASES, SLOW);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static base made[BASES];
  if (size < 1) return 0;
  int index = data[0] % BASES;
  base *b = &made[index];
  if (!b->image) *b = make_base(index);
  size_t left = change(b, data + 1, size - 1);
  unsigned char *image = (unsigned char *)b->work + (b->size - left);
  if (data[0] < UNREPAIRED) {
    repair(image, left, NULL);
    read_image(b, image, left, size > 4 && data[4] >= OF_HEADER);
  } else {
    od_image_facts facts;
    od_error err = {0};
    bool same = left == b->size && memcmp(image, b->image, left) == 0;
    if ((od_image_get_facts(image, left, &facts, &err) == OD_OK) != same || (!same && !err.text[0])) abort();
  }
  return 0;
}
