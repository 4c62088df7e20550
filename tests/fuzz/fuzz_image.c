// Model images. An input chooses a machine and lists changes of its image. Checksum and fingerprint are repaired, so that the
// checks of the tables decide. An accepted image takes steps with derivatives: no access outside, no endless loop.
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "model/fingerprint.h"
#include "model/image_form.h"
#include "oleodyn/sim.h"

static const char *const bases[] = {"fourbar-swing", "position-servo", "slider-crank",     "crane",
                                    "load-sensing",  "rssr",           "stewart-platform", "excavator"};
enum { BASES = sizeof bases / sizeof *bases, STEPS = 3, OUTPUTS = 12, PARAMETERS = 3 };

typedef struct base {
  void *image, *work, *view;
  size_t size, view_size;
} base;

static base make_base(const char *path) {
  char full[500];
  snprintf(full, sizeof full, "%s/cases/%s/machine.yaml", OD_SOURCE_DIR, path);
  od_machine *machine = NULL;
  if (od_machine_load(full, NULL, &machine, NULL) != OD_OK) abort();
  const od_model *m = od_machine_model(machine);
  base b = {.size = od_image_size(m, NULL)};
  b.image = malloc(b.size), b.work = malloc(b.size);
  od_image_facts facts;
  if (!b.image || !b.work || od_image_write(m, NULL, b.image, b.size, NULL) != OD_OK ||
      od_image_get_facts(b.image, b.size, &facts, NULL) != OD_OK)
    abort();
  b.view_size = facts.view + 4096;
  b.view = aligned_alloc(16, (b.view_size + 15) / 16 * 16);
  od_machine_free(machine);
  return b;
}

// Changes integers, bytes and numbers of the image, six bytes of the input each. The form and the size stay.
static void change(const base *b, const uint8_t *data, size_t size) {
  unsigned char *image = b->work;
  size_t begin = sizeof(od_image_header);
  for (size_t i = 0; i + 6 <= size && i < 6 * 16; i += 6) {
    size_t offset = begin + (data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16) % (b->size - begin);
    int value = (int8_t)data[i + 4], whole;
    double number;
    size_t four = offset / 4 * 4, eight = offset / 8 * 8;
    memcpy(&whole, image + four, sizeof whole);
    switch (data[i + 3] % 6) {
      case 0: whole = value; break;
      case 1: whole = value * 256 + data[i + 5]; break;
      case 2: whole = (int)((unsigned)whole + (unsigned)value); break;
      case 3: whole = (int)((unsigned)value << 24 | data[i + 5]); break;
      case 4: image[offset] = data[i + 4]; continue;
      default:
        number = (double[]){0, -1, 1e-300, 1e300, 3e9, -1e-5, 1e-9, 0.5}[data[i + 4] % 8];
        memcpy(image + eight, &number, sizeof number);
        continue;
    }
    memcpy(image + four, &whole, sizeof whole);
  }
}

static void repair(const base *b, const uint64_t *fingerprint) {
  od_image_header h;
  memcpy(&h, b->work, sizeof h);
  if (fingerprint) h.fingerprint = *fingerprint;
  h.checksum = 0;
  memcpy(b->work, &h, sizeof h);
  h.checksum = od_image_checksum(b->work, b->size);
  memcpy(b->work, &h, sizeof h);
}

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static base made[BASES];
  if (size < 1) return 0;
  base *b = &made[data[0] % BASES];
  if (!b->image) *b = make_base(bases[data[0] % BASES]);
  memcpy(b->work, b->image, b->size);
  change(b, data + 1, size - 1);
  repair(b, NULL);
  od_image_facts facts;
  const od_model *m = NULL;
  od_error err = {0};
  if (od_image_get_facts(b->work, b->size, &facts, NULL) != OD_OK) return 0;
  od_status status = od_model_from_image(b->work, b->size, b->view, b->view_size, &m, &err);
  if (status != OD_OK && !err.text[0]) abort();
  if (status == OD_BAD_INPUT && strstr(err.text, "fingerprint")) {
    uint64_t fingerprint = od_model_fingerprint(b->view);
    repair(b, &fingerprint);
    if (od_model_from_image(b->work, b->size, b->view, b->view_size, &m, &err) != OD_OK) abort();
  }
  if (m) run(m);
  return 0;
}
