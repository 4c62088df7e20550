// Images of machines: the compiled model, and the texts of all files from which the machine was loaded. Every command can use a
// complete image like the machine file.
#ifndef OD_MACHINE_IMAGE_H
#define OD_MACHINE_IMAGE_H

#include <stdbool.h>

#include "machine/machine_records.h"
#include "oleodyn/image.h"
#include "oleodyn/machine.h"

typedef enum od_machine_image_parts {
  OD_IMAGE_COMPLETE,
  OD_IMAGE_WITHOUT_MACHINE,  // no texts of files: for programs that use outputs and numbers by name
  OD_IMAGE_WITHOUT_NAMES,    // no texts and no names: for controllers
} od_machine_image_parts;

// Loads a machine file or an image and creates its image. The caller frees *image and *machine. On failure both are NULL,
// `messages` has the errors, and the status is OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_machine_compile(const char *path, const od_load_options *options, od_machine_image_parts parts,
                             void **image, size_t *size, od_machine **machine, od_messages *messages);

// Returns whether the file begins with the signature of an image. Returns false for pipes, for files that cannot be read, and while
// files are read from an image.
bool od_machine_is_image(const char *path);

// Loads the machine from the texts in an image, without other files, by the function `load`. Adds the options to the options of the
// image. Without further options the fingerprint of the new model must equal the fingerprint of the image, otherwise the status is
// OD_BAD_INPUT. Set *machine to NULL before the call; the caller frees *machine, also after a failure. `messages` has the errors. Other
// failures: OD_BAD_INPUT for a damaged image or files with errors, OD_IO, OD_NO_MEMORY.
od_status od_machine_load_image(const char *path, const od_load_options *options, od_machine_loader *load,
                                od_machine **machine, od_messages *messages);

#endif
