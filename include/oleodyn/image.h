// Model images: a compiled model as one block of bytes without addresses. An image is created once, on any computer with the same
// byte order. A program uses the image in place, even in read-only memory. `oleodyn compile MACHINE -o FILE.odm` writes an image;
// od_image_write() writes the image of a model that od_build_finish() made.
//
// An image has a header (format, sizes, checksum, fingerprint) and up to three parts: the model; names and units; and the texts of
// the machine file, which only the program `oleodyn` reads. Classes of elements and blocks are stored by name and version.
// Functions that read an image check the header, the checksum and every index before use. A damaged image is refused with
// OD_BAD_INPUT.
//
// The address of an image must be a multiple of 8. All functions may be called by several threads at the same time.
#ifndef OLEODYN_IMAGE_H
#define OLEODYN_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oleodyn/build.h"

OD_BEGIN_C

// The contents of an image in addition to the model.
typedef struct od_image_options {
  bool
      without_names;  // whether the image has no names and units; then outputs and numbers are accessible only by index
  const void *machine;  // texts of the machine file for the program `oleodyn`, copied without change; NULL: none
  size_t machine_size;  // bytes
  void *reserved[2];    // zero
} od_image_options;

// Returns the size of the image of a model in bytes. options NULL: the image contains names, but no texts of the machine file.
OD_API size_t od_image_size(const od_model *model, const od_image_options *options);
// Writes the image into the caller's memory of at least od_image_size() bytes. The same model and options give the same bytes.
// Fails with OD_BAD_ARGUMENT if the memory is too small, and with OD_NOT_AVAILABLE if a block has a law of the program or an FMU;
// err (may be NULL) has the reason.
OD_API od_status od_image_write(const od_model *model, const od_image_options *options, void *memory, size_t size,
                                od_error *err);

// Returns whether the bytes begin with the signature of an image of any version.
OD_API bool od_image_is(const void *bytes, size_t size);

// The sizes of an image and its fingerprint.
typedef struct od_image_facts {
  size_t size, model, names, machine;  // bytes of the whole image and of its parts; 0: the part is absent
  uint64_t fingerprint;
  size_t view;        // size of the view that od_model_from_image() needs, bytes
  const void *texts;  // the part `machine`; belongs to the image
  const void *reserved[2];
} od_image_facts;
// Checks the header and the checksum, and fills *out. Fails with OD_BAD_INPUT; err (may be NULL) has the reason.
OD_API od_status od_image_get_facts(const void *image, size_t size, od_image_facts *out, od_error *err);
// Checks an image completely. Allocates memory during the call. Fails with OD_BAD_INPUT if the image is damaged or needs a class that
// this program lacks, with OD_NOT_AVAILABLE if this build lacks a part of the core, and with OD_NO_MEMORY; err (may be NULL) has the
// reason.
OD_API od_status od_image_check(const void *image, size_t size, od_error *err);

// Creates a model that uses the image in place. view: memory of od_image_facts.view bytes, at a multiple of 16, for addresses of
// the tables. The image must stay unchanged. The image and the view must outlive the model and its plants; od_model_free() has no
// effect on this model. Allocates no memory. Fails with OD_BAD_INPUT and OD_NOT_AVAILABLE as od_image_check() does, and with
// OD_BAD_ARGUMENT if the view is too small or an address is not aligned; then *out is NULL.
OD_API od_status od_model_from_image(const void *image, size_t size, void *view, size_t view_size, const od_model **out,
                                     od_error *err);
// Creates a model with its own copy of the image, freed with od_model_free(). The image may have any address. Fails as
// od_image_check() does; then *out is NULL.
OD_API od_status od_model_copy_image(const void *image, size_t size, od_model **out, od_error *err);

// Returns a hash of all data that affect results: numbers, tables, initial state, names and versions of classes. The hash does not
// include names and units of elements and outputs. A built model and the same model from an image have the same fingerprint.
OD_API uint64_t od_model_fingerprint(const od_model *model);

OD_END_C

#endif
