#include "machine/machine_image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "io/bundle.h"
#include "io/input_file.h"
#include "document/messages.h"
#include "machine/machine.h"
#include "memory/owned.h"
#include "memory/scoped.h"

OD_OWNED_POINTER(char, free);

enum { LARGEST_IMAGE = 1 << 30 };

static void free_bundle(od_bundle *b) {
  od_arena_free(&b->arena);
}

// ---- writing

od_status od_machine_compile(const char *path, const od_load_options *options, od_machine_image_parts parts,
                             void **image, size_t *size, od_machine **machine, od_messages *messages) {
  OD_SCOPED(free_bundle) od_bundle files = {0};
  *image = NULL, *machine = NULL;
  od_bundle *before = od_bundle_record(&files);
  od_status status = od_machine_load(path, options, machine, messages);
  od_bundle_record(before);
  if (status != OD_OK) return status;
  OD_SCOPED(od_records_free) od_records r = {0};
  if (parts == OD_IMAGE_COMPLETE) od_machine_records_append(&r, *machine, &files, OD_RECORDS_TEXTS);
  od_image_options how = {.without_names = parts == OD_IMAGE_WITHOUT_NAMES, .machine = r.bytes, .machine_size = r.size};
  const od_model *m = od_machine_model(*machine);
  *size = od_image_size(m, &how);
  *image = r.no_memory ? NULL : od_malloc(*size);
  od_error err = {0};
  status = *image ? od_image_write(m, &how, *image, *size, &err) : OD_NO_MEMORY;
  if (status == OD_OK) return status;
  od_messages_add(messages, (od_place){.file = path}, "%s", err.text[0] ? err.text : od_status_text(status));
  od_free(*image);
  *image = NULL;
  od_machine_free(*machine);
  *machine = NULL;
  return status;
}

// ---- reading

bool od_machine_is_image(const char *path) {
  struct stat facts;
  char begin[8];
  if (od_bundle_is_used() || stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  FILE *file = fopen(path, "rb");
  size_t got = file ? fread(begin, 1, sizeof begin, file) : 0;
  if (file) fclose(file);
  return od_image_is(begin, got);
}

// Reads the records. Returns false if a record is damaged or if the records contain no file.
static bool read_records(const char *at, size_t size, od_machine_source *s) {
  const char *path = NULL, *bytes;
  char kind;
  size_t count;
  while (size > 0)
    if (!od_records_take(&at, &size, &kind, &bytes, &count) || !od_machine_source_take(s, &path, kind, bytes, count))
      return false;
  return s->files.files > 0 || s->files.arena.exhausted;
}

// Reads the image file and its parts, and reports errors. The caller frees *image.
static od_status read_image(const char *path, char **image, od_image_facts *facts, od_machine_source *s,
                            od_messages *messages) {
  size_t size = 0;
  od_error why = {0};
  od_bundle *recorded = od_bundle_record(NULL);  // the bundle records the files in the image, not the image itself
  od_status status = od_input_read(path, LARGEST_IMAGE, image, &size, &why);
  od_bundle_record(recorded);
  if (status == OD_OK) status = od_image_check(*image, size, &why);
  if (status == OD_OK) status = od_image_get_facts(*image, size, facts, &why);
  if (status != OD_OK) {
    od_messages_add(messages, (od_place){.file = path}, "the image cannot be read: %s", why.text);
    return status;
  }
  if (!facts->texts) {
    od_messages_add(messages, (od_place){.file = path},
                    "this image for programs and controllers does not contain the machine file. Compile the machine "
                    "without --without-machine and --without-names to use the image in commands");
    return OD_BAD_INPUT;
  }
  if (!read_records(facts->texts, facts->machine, s)) {
    od_messages_add(messages, (od_place){.file = path},
                    "the image is damaged: the texts of its machine file are incomplete; compile the machine again");
    return OD_BAD_INPUT;
  }
  return od_arena_status(&s->files.arena);
}

od_status od_machine_load_image(const char *path, const od_load_options *options, od_machine_loader *load,
                                od_machine **machine, od_messages *messages) {
  OD_OWNED(free) char *image = NULL;
  OD_SCOPED(od_machine_source_free) od_machine_source s = {0};
  od_image_facts facts;
  od_status status = read_image(path, &image, &facts, &s, messages);
  if (status == OD_OK) status = od_machine_source_load(&s, options, load, machine, messages);
  bool same = options->set_count == 0 && !options->variant && (s.spatial || !options->spatial);
  if (status != OD_OK || !same) return status;
  uint64_t now = od_model_fingerprint(od_machine_model(*machine));
  if (now == facts.fingerprint) return OD_OK;
  od_messages_add(messages, (od_place){.file = path},
                  "the image has the model %016" PRIx64
                  ", but this version of oleodyn compiles its machine file to the model "
                  "%016" PRIx64 ": compile the machine again",
                  facts.fingerprint, now);
  return OD_BAD_INPUT;
}
