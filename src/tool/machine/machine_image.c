// The texts in an image are records: a length of 8 bytes, a letter for the kind, and the bytes. Kinds: v variant, 3 spatial, s a
// value of --set, p the path of a file, c the content of that file. The first file is the machine file.
#include "machine/machine_image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "io/bundle.h"
#include "io/input_file.h"
#include "document/messages.h"
#include "machine/machine.h"
#include "machine/machine_loader.h"
#include "memory/owned.h"
#include "memory/scoped.h"

OD_OWNED_POINTER(char, free);

enum { LARGEST_IMAGE = 1 << 30 };

static void free_bundle(od_bundle *b) {
  od_arena_free(&b->arena);
}

// ---- writing

// A growing list of bytes. `room` is 0 after a failed allocation.
typedef struct records {
  char *bytes;
  size_t size, room;
  bool no_memory;
} records;

static void append(records *r, char kind, const char *bytes, size_t size) {
  uint64_t length = size + 1;
  size_t needed = r->size + sizeof length + (size_t)length;
  if (needed > r->room && !r->no_memory) {
    char *larger = od_realloc(r->bytes, 2 * needed);
    r->no_memory = larger == NULL;
    if (larger) r->bytes = larger, r->room = 2 * needed;
  }
  if (r->no_memory) return;
  memcpy(r->bytes + r->size, &length, sizeof length);
  r->bytes[r->size + sizeof length] = kind;
  if (size) memcpy(r->bytes + r->size + sizeof length + 1, bytes, size);
  r->size = needed;
}

static records write_records(const od_machine *machine, const od_bundle *b) {
  records r = {0};
  const od_load_options *o = &machine->loaded;
  if (o->variant) append(&r, 'v', o->variant, strlen(o->variant));
  if (o->spatial) append(&r, '3', NULL, 0);
  for (int i = 0; i < o->set_count; i++) append(&r, 's', o->set[i], strlen(o->set[i]));
  for (int i = 0; i < b->files; i++) {
    append(&r, 'p', b->file[i].path, strlen(b->file[i].path));
    append(&r, 'c', b->file[i].bytes, b->file[i].size);
  }
  return r;
}

od_status od_machine_compile(const char *path, const od_load_options *options, od_machine_image_parts parts,
                             void **image, size_t *size, od_machine **machine, od_messages *messages) {
  OD_SCOPED(free_bundle) od_bundle files = {0};
  *image = NULL, *machine = NULL;
  od_bundle *before = od_bundle_record(&files);
  od_status status = od_machine_load(path, options, machine, messages);
  od_bundle_record(before);
  if (status != OD_OK) return status;
  records r = parts == OD_IMAGE_COMPLETE ? write_records(*machine, &files) : (records){0};
  od_image_options how = {.without_names = parts == OD_IMAGE_WITHOUT_NAMES, .machine = r.bytes, .machine_size = r.size};
  const od_model *m = od_machine_model(*machine);
  *size = od_image_size(m, &how);
  *image = r.no_memory ? NULL : od_malloc(*size);
  status = *image ? od_image_write(m, &how, *image, *size, NULL) : OD_NO_MEMORY;
  od_free(r.bytes);
  if (status == OD_OK) return status;
  od_messages_add(messages, (od_place){.file = path}, "out of memory");
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

// The options and files of an image. The image owns the bytes of the files; the arena of the bundle owns all other texts.
typedef struct contents {
  od_bundle files;
  const char *variant, **set;
  int sets;
  bool spatial, no_memory;
} contents;
static void free_contents(contents *c) {
  od_arena_free(&c->files.arena);
}

// Reads the records. Returns false if a record is damaged.
static bool read_records(const char *at, size_t size, contents *c) {
  const char *path = NULL;
  od_arena *arena = &c->files.arena;
  while (size > 0) {
    uint64_t length;
    if (size < sizeof length) return false;
    memcpy(&length, at, sizeof length);
    at += sizeof length, size -= sizeof length;
    if (length < 1 || length > size) return false;
    const char *bytes = at + 1;
    size_t count = (size_t)length - 1;
    char *text = *at == 'c' ? NULL : od_arena_take(arena, count + 1);
    if (text && count) memcpy(text, bytes, count);
    switch (*at) {
      case 'v': c->variant = text; break;
      case '3': c->spatial = true; break;
      case 's': {
        const char **longer = od_arena_extend(arena, c->set, c->sets, sizeof *longer);
        if (longer) c->set = longer, c->set[c->sets++] = text;
        break;
      }
      case 'p': path = text; break;
      case 'c':
        if (path) od_bundle_add(&c->files, path, bytes, count, false);
        path = NULL;
        break;
      default: return false;
    }
    at += length, size -= (size_t)length;
  }
  c->no_memory = arena->exhausted;
  return c->files.files > 0 || c->no_memory;
}

// Reads the image file and its parts, and reports errors. The caller frees *image.
static od_status read_image(const char *path, char **image, od_image_facts *facts, contents *c, od_messages *messages) {
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
    od_messages_add(
        messages, (od_place){.file = path},
        "the image does not contain the machine file: it is for programs and controllers. Compile the machine "
        "without --without-machine and --without-names to use the image in commands");
    return OD_BAD_INPUT;
  }
  if (!read_records(facts->texts, facts->machine, c)) {
    od_messages_add(messages, (od_place){.file = path},
                    "the image is damaged: the texts of its machine file are incomplete");
    return OD_BAD_INPUT;
  }
  return c->no_memory ? OD_NO_MEMORY : OD_OK;
}

// Returns whether the caller's options replace the number of "path=value".
static bool is_replaced(const od_load_options *options, const char *value) {
  size_t length = strcspn(value, "=");
  for (int i = 0; i < options->set_count; i++)
    if (strcspn(options->set[i], "=") == length && strncmp(options->set[i], value, length) == 0) return true;
  return false;
}

od_status od_machine_load_image(const char *path, const od_load_options *options, od_machine_loader *load,
                                od_machine **machine, od_messages *messages) {
  OD_OWNED(free) char *image = NULL;
  OD_SCOPED(free_contents) contents c = {0};
  od_image_facts facts;
  od_status status = read_image(path, &image, &facts, &c, messages);
  if (status != OD_OK) return status;
  const char **set = OD_TAKE(&c.files.arena, const char *, c.sets + options->set_count);
  if (!set) return OD_NO_MEMORY;
  // A value of the caller replaces the value of the image for the same number.
  int sets = 0;
  for (int i = 0; i < c.sets; i++)
    if (!is_replaced(options, c.set[i])) set[sets++] = c.set[i];
  for (int i = 0; i < options->set_count; i++) set[sets++] = options->set[i];
  od_load_options all = {.set = set,
                         .set_count = sets,
                         .spatial = options->spatial || c.spatial,
                         .variant = options->variant ? options->variant : c.variant};
  const od_bundle *before = od_bundle_use(&c.files);
  status = load(c.files.file[0].path, &all, machine, messages);
  od_bundle_use(before);
  bool same = options->set_count == 0 && !options->variant && all.spatial == c.spatial;
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
