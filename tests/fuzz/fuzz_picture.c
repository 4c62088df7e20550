// Pictures of machine files: the section look, shapes of bodies without it, machines that cannot be assembled. The picture is written and
// the scene is converted to JSON; a small circuit is laid out as well.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "circuit/diagram.h"
#include "fuzz/fuzz.h"
#include "machine/machine.h"
#include "memory/scoped.h"
#include "oleodyn/machine.h"
#include "scene/scene.h"

enum { MOST_NODES = 8 };  // the layout of a large circuit takes too long here

static void draw(const od_machine *machine) {
  OD_SCRATCH(arena);
  const od_scene *scene = NULL;
  const od_circuit *circuit = NULL;
  char *text = NULL;
  size_t length = 0;
  FILE *to = open_memstream(&text, &length);
  if (!to) return;
  if (od_scene_make(machine, &arena, &scene, NULL) == OD_OK && scene) {
    od_scene_svg_with(scene, NULL, &(od_scene_picture){.is_alone = true, .names = true}, to);
    json_decref(od_scene_json(scene));
  }
  if (od_machine_model(machine)->nodes <= MOST_NODES && od_circuit_make(machine, &arena, &circuit, NULL) == OD_OK &&
      circuit)
    od_circuit_svg(circuit, to);
  fclose(to);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_file(data, size, "input.yaml", "cases/crane");
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  od_status status = od_machine_load(path, &(od_load_options){.may_lack_initial_state = true}, &machine, messages);
  fuzz_judge(status, machine, messages);
  if (machine) draw(machine);
  od_machine_free(machine);
  return 0;
}
