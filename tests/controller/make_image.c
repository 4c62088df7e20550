// Writes the image of a machine without names as a C array, and lists of outputs and numbers for an observer. PARTS receives the
// header with the parts of the core that the machine needs: make_image MACHINE PARTS >image.h
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/core_parts.h"
#include "machine/machine.h"
#include "oleodyn/image.h"
#include "oleodyn/machine.h"

int main(int count, char **argument) {
  od_machine *machine = NULL;
  od_messages *messages = od_messages_new();
  if (count != 3 || od_machine_load(argument[1], NULL, &machine, messages) != OD_OK) {
    od_messages_print(messages, stderr, false);
    return 2;
  }
  const od_image_options options = {.without_names = true};
  const od_model *model = od_machine_model(machine);
  size_t size = od_image_size(model, &options);
  unsigned char *image = malloc(size);
  FILE *parts = fopen(argument[2], "w");
  if (!parts || !od_core_parts_write(model, parts) || fclose(parts)) return perror(argument[2]), 1;
  od_error err = {0};
  if (!image || od_image_write(model, &options, image, size, &err) != OD_OK)
    return fprintf(stderr, "%s\n", err.text), 1;
  printf("static const _Alignas(16) unsigned char image[] = {");
  for (size_t i = 0; i < size; i++) printf("%s%d,", i % 24 ? "" : "\n", image[i]);
  printf("};\n// The first two pressures, and the numbers of the valve.\nstatic const int observed[] = {");
  for (int i = 0; i < model->outputs; i++)
    if (strstr(od_model_text(model, model->output[i].name), ".pressure")) printf("%d, ", i);
  printf("};\nstatic const int numbers[] = {");
  for (int i = 0; i < model->numbers; i++)
    if (strstr(od_number_path(model, i), ".curve.")) printf("%d, ", i);
  printf("};\n");
  free(image);
  od_machine_free(machine);
  od_messages_free(messages);
  return 0;
}
