// Creates models from images. A view contains od_model with the addresses of the tables, the classes, and the settings of blocks.
#include <string.h>

#include "base/arena.h"
#include "base/place.h"
#include "model/fingerprint.h"
#include "model/image_form.h"
#include "model/model_parts.h"

bool od_image_is(const void *bytes, size_t size) {
  return size >= sizeof(((od_image_header *)0)->magic) && memcmp(bytes, OD_IMAGE_MAGIC, strlen(OD_IMAGE_MAGIC)) == 0;
}

// ---- the header

static od_status read_header(const void *image, size_t size, od_image_header *h, od_error *err) {
  if (!od_image_is(image, size))
    return od_fail(err, OD_BAD_INPUT, "this is not a model image; create an image with 'oleodyn compile'");
  if (size < sizeof *h)
    return od_fail(err, OD_BAD_INPUT,
                   "the image is truncated: it has %zu bytes, fewer than a header; compile the machine again", size);
  memcpy(h, image, sizeof *h);
  if (h->byte_order != OD_IMAGE_BYTE_ORDER)
    return od_fail(err, OD_BAD_INPUT,
                   "the image was created on a computer with another byte order; compile the machine on this computer");
  if (h->version != OD_IMAGE_VERSION)
    return od_fail(err, OD_BAD_INPUT, "the image has format %u; expected %d: compile the machine again",
                   (unsigned)h->version, (int)OD_IMAGE_VERSION);
  if (h->int_size != sizeof(int) || h->double_size != sizeof(double))
    return od_fail(
        err, OD_BAD_INPUT,
        "the image has integers of %u bytes and numbers of %u bytes; expected %zu and %zu: compile the machine on this computer",
        (unsigned)h->int_size, (unsigned)h->double_size, sizeof(int), sizeof(double));
  if (h->size != size)
    return od_fail(err, OD_BAD_INPUT,
                   "the image has %zu bytes; its header states %llu bytes; compile the machine again", size,
                   (unsigned long long)h->size);
  if (h->checksum != od_image_checksum(image, size))
    return od_fail(err, OD_BAD_INPUT, "the image is damaged: its checksum is wrong; compile the machine again");
  if (h->form != od_image_form())
    return od_fail(err, OD_BAD_INPUT,
                   "the image was created by another version of oleodyn, with other tables; compile the machine again");
  size_t end = sizeof *h;
  for (int i = 0; i < OD_IMAGE_PARTS; i++) {
    if (h->part[i] > size - end || od_image_round((size_t)h->part[i]) > size - end)
      return od_fail(err, OD_BAD_INPUT, "the image is damaged: its parts exceed its size; compile the machine again");
    end += od_image_round((size_t)h->part[i]);
  }
  return end == size ? OD_OK
                     : od_fail(err, OD_BAD_INPUT,
                               "the image is damaged: its parts do not fill its size; compile the machine again");
}

// The bytes of a part that are not read yet.
typedef struct rest {
  const char *at;
  size_t size;
} rest;
static rest part_of(const void *image, const od_image_header *h, od_image_part part) {
  size_t at = sizeof *h;
  for (int i = 0; i < (int)part; i++) at += od_image_round((size_t)h->part[i]);
  return (rest){(const char *)image + at, (size_t)h->part[part]};
}
// Returns the address of the next `size` bytes of a part, or NULL if the part has fewer bytes.
static const char *take(rest *r, size_t size) {
  const char *at = r->at;
  if (size > r->size) return NULL;
  r->at += size;
  r->size -= size;
  return at;
}

// ---- the fields of od_model

// Stores a value in a field of the size of an enum, bool or int. Returns false if the value does not fit the field.
static bool store(od_model *m, const od_model_field *f, int64_t value) {
  char *to = (char *)m + f->offset;
  bool is = value != 0;
  int whole = (int)value;
  if (value < -1 || value > OD_MOST_ITEMS || (f->kind == OD_FIELD_COUNT && value < 0)) return false;
  if (f->kind == OD_FIELD_ENUM && (value < 0 || value >= (int64_t)f->bound)) return false;
  if (f->kind == OD_FIELD_BOOL) {
    memcpy(to, &is, sizeof is);
    return value == 0 || value == 1;
  }
  unsigned char byte = (unsigned char)value;
  unsigned short two = (unsigned short)value;
  if (f->size == sizeof byte)
    memcpy(to, &byte, sizeof byte);
  else if (f->size == sizeof two)
    memcpy(to, &two, sizeof two);
  else
    memcpy(to, &whole, sizeof whole);
  return true;
}

static od_status read_fields(rest *r, od_model *m, od_error *err) {
  for (int i = 0; i < od_model_field_count; i++) {
    const od_model_field *f = &od_model_fields[i];
    int64_t value;
    const char *from = take(r, f->kind == OD_FIELD_DOUBLE ? f->size : sizeof value);
    if (!from)
      return od_fail(err, OD_BAD_INPUT,
                     "the image is damaged: the model ends after %d counts; compile the machine again", i);
    if (f->kind == OD_FIELD_DOUBLE) {
      memcpy((char *)m + f->offset, from, f->size);
      continue;
    }
    memcpy(&value, from, sizeof value);
    if (!store(m, f, value))
      return od_fail(err, OD_BAD_INPUT,
                     "the image is damaged: count %d of the model is wrong; compile the machine again", i);
  }
  return OD_OK;
}

static const od_image_class *take_classes(rest *r, int count) {
  return (const od_image_class *)(const void *)take(r, (size_t)count * sizeof(od_image_class));
}

// ---- the view

// Offsets of the parts of a view, and its size, bytes.
typedef struct view_places {
  size_t elements, blocks, specs, end;
} view_places;
static view_places lay_out_view(const od_model *m) {
  view_places v = {.end = sizeof *m};
  v.elements = od_place(&v.end, (size_t)m->element_classes * sizeof *m->element_class);
  v.blocks = od_place(&v.end, (size_t)m->block_classes * sizeof *m->block_class);
  v.specs = od_place(&v.end, (size_t)m->blocks * sizeof *m->spec);
  return v;
}

static od_status find_classes(const od_model *m, rest *r, const od_element_class **element, int *block, od_error *err) {
  const od_image_class *c = take_classes(r, m->element_classes);
  const od_image_class *d = c ? take_classes(r, m->block_classes) : NULL;
  if (!c || !d)
    return od_fail(err, OD_BAD_INPUT,
                   "the image is damaged: the list of classes exceeds the model; compile the machine again");
  for (int i = 0; i < m->element_classes + m->block_classes; i++) {
    bool is_element = i < m->element_classes;
    const od_image_class *x = is_element ? &c[i] : &d[i - m->element_classes];
    if (!memchr(x->name, '\0', sizeof x->name))
      return od_fail(err, OD_BAD_INPUT,
                     "the image is damaged: the name of a class does not end; compile the machine again");
    int found = is_element ? od_element_class_find(x->name) : od_block_class_find(x->name);
    const char *kind = is_element ? "elements" : "blocks";
    if (found < 0)
      return od_fail(
          err, OD_BAD_INPUT,
          "the image needs the class '%s' of %s, which this program does not contain; use a build that contains this class",
          x->name, kind);
    int version = is_element ? od_element_class_at(found)->version : od_block_classes[found]->version;
    if (version != x->version)
      return od_fail(
          err, OD_BAD_INPUT,
          "the image needs version %d of the class '%s' of %s; this program contains version %d: compile the "
          "machine again",
          x->version, x->name, kind, version);
    if (is_element)
      element[i] = od_element_class_at(found);
    else
      block[i - m->element_classes] = found;
  }
  return OD_OK;
}

// Sets the addresses of tables. Returns false if a table exceeds the rest of its part.
static bool set_tables(od_model *m, rest *r, const od_model_table *table, int count) {
  for (int i = 0; i < count; i++) {
    long long items = od_model_table_items(m, &table[i]);
    if (items < 0 || (unsigned long long)items > r->size / table[i].item) return false;
    const char *at = take(r, od_image_round((size_t)items * table[i].item));
    if (!at) return false;
    od_model_table_set(m, &table[i], at);
  }
  return true;
}

static od_status read_names(rest r, od_model *m, od_error *err) {
  od_image_names head;
  const char *from = take(&r, sizeof head);
  if (from) memcpy(&head, from, sizeof head);
  if (!from || !set_tables(m, &r, od_name_tables, od_name_table_count) || head.text_size < 1 ||
      (size_t)head.text_size != r.size || r.at[0] != '\0' || r.at[r.size - 1] != '\0' || head.title < 0 ||
      head.title >= head.text_size)
    return od_fail(err, OD_BAD_INPUT,
                   "the image is damaged: its names do not fit the model; compile the machine again");
  m->text = r.at;
  m->text_size = m->text_room = head.text_size;
  m->title = head.title;
  return OD_OK;
}

// Fills the settings of blocks. The caller has already checked the indices of classes and formulas.
static void fill_specs(od_model *m) {
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    m->spec[i] =
        (od_block_spec){.block_class = m->block_class[b->block_class], .inputs = b->list_inputs, .sample = b->sample};
    memcpy(m->spec[i].choice, b->choice, sizeof b->choice);
    if (b->operations) m->spec[i].formula = (od_formula){b->operations, m->operation + b->formula};
  }
}

// Returns whether the indices that fill_specs() uses are valid.
static bool specs_are_possible(const od_model *m) {
  if (m->operations > m->join.pool_count / OD_OPERATION_INTS) return false;
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    if (b->block_class < 0 || b->block_class >= m->block_classes || b->operations < 0 || b->formula < 0 ||
        b->operations > m->operations || b->formula > m->operations - b->operations)
      return false;
  }
  return true;
}

od_status od_model_from_image(const void *image, size_t size, void *view, size_t view_size, const od_model **out,
                              od_error *err) {
  od_image_header h;
  od_model *m = view;
  *out = NULL;
  if ((uintptr_t)image % OD_IMAGE_ALIGNMENT)
    return od_fail(err, OD_BAD_ARGUMENT, "the address of the image is not a multiple of %d; align the image",
                   (int)OD_IMAGE_ALIGNMENT);
  if ((uintptr_t)view % 16)
    return od_fail(err, OD_BAD_ARGUMENT,
                   "the address of the memory for the view is not a multiple of 16; align the memory");
  if (view_size < sizeof *m)
    return od_fail(err, OD_BAD_ARGUMENT,
                   "the memory for the view has %zu bytes; od_image_facts.view gives the required size", view_size);
  od_status status = read_header(image, size, &h, err);
  if (status != OD_OK) return status;
  memset(m, 0, sizeof *m);
  rest r = part_of(image, &h, OD_IMAGE_MODEL);
  if ((status = read_fields(&r, m, err)) != OD_OK) return status;
  view_places v = lay_out_view(m);
  if (view_size < v.end)
    return od_fail(err, OD_BAD_ARGUMENT, "the view needs %zu bytes; the memory has %zu bytes", v.end, view_size);
  const od_element_class **element = (const od_element_class **)(void *)((char *)view + v.elements);
  m->block_class = (int *)(void *)((char *)view + v.blocks);
  m->spec = (od_block_spec *)(void *)((char *)view + v.specs);
  m->element_class = element;
  if ((status = find_classes(m, &r, element, m->block_class, err)) != OD_OK) return status;
  if (!set_tables(m, &r, od_model_tables, od_model_table_count) || r.size != 0)
    return od_fail(err, OD_BAD_INPUT,
                   "the image is damaged: its tables do not fill the model; compile the machine again");
  if (m->join.row_starts == 0) m->join.row_start = m->join.row_column = NULL;
  m->operation = (od_operation *)(void *)m->join.pool;
  if (!specs_are_possible(m))
    return od_fail(err, OD_BAD_INPUT,
                   "the image is damaged: a block has no class or formula; compile the machine again");
  fill_specs(m);
  if (h.part[OD_IMAGE_NAMES] && (status = read_names(part_of(image, &h, OD_IMAGE_NAMES), m, err)) != OD_OK)
    return status;
  if ((status = od_model_check_parts(m, err)) != OD_OK || (status = od_model_check(m, err)) != OD_OK) return status;
  if (od_model_fingerprint(m) != h.fingerprint)
    return od_fail(
        err, OD_BAD_INPUT,
        "the image is damaged: its fingerprint differs from the fingerprint of its model; compile the machine again");
  *out = m;
  return OD_OK;
}

// ---- facts and copies

od_status od_image_get_facts(const void *image, size_t size, od_image_facts *out, od_error *err) {
  od_image_header h;
  *out = (od_image_facts){0};
  od_status status = read_header(image, size, &h, err);
  if (status != OD_OK) return status;
  od_model m = {0};
  rest r = part_of(image, &h, OD_IMAGE_MODEL);
  if ((status = read_fields(&r, &m, err)) != OD_OK) return status;
  size_t classes = (size_t)m.element_classes + (size_t)m.block_classes;
  if (classes > r.size / sizeof(od_image_class) || (size_t)m.blocks > r.size / sizeof(od_block))
    return od_fail(err, OD_BAD_INPUT,
                   "the image is damaged: its classes and blocks exceed its size; compile the machine again");
  *out = (od_image_facts){.size = size,
                          .model = (size_t)h.part[OD_IMAGE_MODEL],
                          .names = (size_t)h.part[OD_IMAGE_NAMES],
                          .machine = (size_t)h.part[OD_IMAGE_MACHINE],
                          .fingerprint = h.fingerprint,
                          .view = lay_out_view(&m).end};
  if (out->machine) out->texts = part_of(image, &h, OD_IMAGE_MACHINE).at;
  return OD_OK;
}

od_status od_model_copy_image(const void *image, size_t size, od_model **out, od_error *err) {
  od_image_facts facts;
  *out = NULL;
  od_status status = od_image_get_facts(image, size, &facts, err);
  if (status != OD_OK) return status;
  od_arena arena = {0};
  const od_model *made = NULL;
  void *copy = od_arena_take(&arena, size), *view = copy ? od_arena_take(&arena, facts.view) : NULL;
  if (view) memcpy(copy, image, size);
  status = view ? od_model_from_image(copy, size, view, facts.view, &made, err)
                : od_fail(err, OD_NO_MEMORY, "out of memory");
  if (status != OD_OK) {
    od_arena_free(&arena);
    return status;
  }
  od_model *m = view;
  m->memory = arena.last;
  *out = m;
  return OD_OK;
}

od_status od_image_check(const void *image, size_t size, od_error *err) {
  od_model *m;
  od_status status = od_model_copy_image(image, size, &m, err);
  od_model_free(m);
  return status;
}
