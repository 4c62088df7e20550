// Compiles a machine to an image and simulates the model in the image, as a program on a controller does with an image in its flash.
// A controller contains only the second half: od_model_from_image() allocates no memory.
//
//   cc run_image.c $(pkg-config --cflags --libs oleodyn) && ./a.out
#include <stdio.h>
#include <stdlib.h>

#include "oleodyn/image.h"
#include "oleodyn/machine.h"
#include "oleodyn/sim.h"

static int fail(const od_error *err) {
  fprintf(stderr, "%s\n", err->text);
  return EXIT_FAILURE;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "cases/crane/machine.yaml";
  od_machine *machine;
  od_error err = {0};
  if (od_machine_load(path, NULL, &machine, NULL) != OD_OK) return EXIT_FAILURE;
  const od_image_options options = {.without_names = true};
  size_t size = od_image_size(od_machine_model(machine), &options);
  void *image = malloc(size);
  if (od_image_write(od_machine_model(machine), &options, image, size, &err) != OD_OK) return fail(&err);
  od_machine_free(machine);

  static double view[4096], block[1 << 17];  // a static block is aligned like its doubles
  const od_model *model;
  od_plant *plant;
  if (od_model_from_image(image, size, view, sizeof view, &model, &err) != OD_OK) return fail(&err);
  const int outputs[] = {0, 1};
  if (od_model_plant(model, outputs, 2, NULL, 0, &plant, &err) != OD_OK) return fail(&err);
  if (od_sim_size(plant) > sizeof block) return EXIT_FAILURE;
  od_sim *sim = od_sim_init(block, plant);
  double y[2], u[16] = {0};
  if (od_sim_start(sim, 0, u) != OD_OK) return EXIT_FAILURE;
  for (int i = 0; i < 1000; i++)
    if (od_sim_step(sim, 1e-3, u) != OD_OK) return EXIT_FAILURE;
  od_sim_outputs(sim, y);
  printf("image of %zu bytes, fingerprint %016llx\n", size, (unsigned long long)od_model_fingerprint(model));
  printf("outputs 0 and 1 at %g s: %.9g, %.9g\n", od_sim_time(sim), y[0], y[1]);
  od_plant_free(plant);
  free(image);
  return 0;
}
