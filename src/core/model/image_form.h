// The format of images. All numbers are in the byte order of the computer that wrote the image.
//
//   header
//   model    fields of od_model (8 bytes for each integer or double), classes, tables in the order of model_tables.c
//   names    number of bytes of all texts, title, tables of names, texts
//   machine  bytes for the program `oleodyn`
//
// Parts and tables begin at multiples of 8. Padding is zero.
#ifndef OD_IMAGE_FORM_H
#define OD_IMAGE_FORM_H

#include "model/model_tables.h"
#include "oleodyn/image.h"

enum { OD_IMAGE_VERSION = 2, OD_IMAGE_ALIGNMENT = 8, OD_IMAGE_BYTE_ORDER = 0x01020304 };

typedef enum od_image_part { OD_IMAGE_MODEL, OD_IMAGE_NAMES, OD_IMAGE_MACHINE, OD_IMAGE_PARTS } od_image_part;
typedef struct od_image_header {
  char magic[8];  // OD_IMAGE_MAGIC
  uint32_t version, byte_order, int_size, double_size;
  uint64_t size;      // size of the whole image, bytes
  uint64_t checksum;  // hash of all bytes of the image, computed with zero in this field
  uint64_t fingerprint;
  uint64_t form;                  // hash of the description of all tables: sizes and places of fields
  uint64_t part[OD_IMAGE_PARTS];  // size of each part, bytes; parts are contiguous
} od_image_header;
#define OD_IMAGE_MAGIC "odimage\n"

typedef struct od_image_class {
  char name[60];
  int version;
} od_image_class;
typedef struct od_image_names {
  int text_size, title;
} od_image_names;

static inline size_t od_image_round(size_t size) {
  return (size + OD_IMAGE_ALIGNMENT - 1) / OD_IMAGE_ALIGNMENT * OD_IMAGE_ALIGNMENT;
}
// Returns the hash of the description of the tables.
uint64_t od_image_form(void);
// Returns the checksum of an image: the hash of its bytes with zero in the field `checksum`.
uint64_t od_image_checksum(const void *image, size_t size);

// Checks the tables of a model whose fields and addresses are set: every index, section and rule on which the kernels depend. Fills
// the layout (image_check.c). Fails with OD_BAD_INPUT.
od_status od_model_check(od_model *m, od_error *err);

#endif
