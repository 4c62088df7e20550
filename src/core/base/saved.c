#include "base/saved.h"

#include <string.h>

#include "base/parts.h"
#include "oleodyn/version.h"

// ---- pieces

const void *od_pieces_place(od_pieces *t, size_t bytes, void **to) {
  size_t begin = t->at;
  t->at += (bytes + 15) / 16 * 16;
  *to = t->mode == OD_PIECES_SAVE ? t->to + begin : NULL;
  if (*to) memset(t->to + begin + bytes, 0, t->at - begin - bytes);
  return t->mode == OD_PIECES_CHECK || t->mode == OD_PIECES_RESTORE ? t->from + begin : NULL;
}

const void *od_pieces_bytes(od_pieces *t, void *here, size_t bytes) {
  void *to;
  const void *from = od_pieces_place(t, bytes, &to);
  if (to && bytes) memcpy(to, here, bytes);
  if (t->mode == OD_PIECES_RESTORE && bytes) memcpy(here, from, bytes);
  return from;
}

void od_pieces_expect(od_pieces *t, int possible, const char *problem) {
  if (t->mode == OD_PIECES_CHECK && !possible && !t->problem) t->problem = problem;
}

// ---- the header

enum { FORMAT = 2, BYTE_ORDER_MARK = 0x01020304 };
static const char magic[8] = "odstate";

typedef struct header {
  char magic[8];
  uint32_t format, byte_order;
  unsigned char sizes[4];  // sizes of int, long, size_t and double, bytes
  uint32_t kind;
  uint64_t size, checksum;  // checksum of all bytes, computed with zero in the field `checksum`
  uint64_t machine, selection, options;
  char version[16], integrator[32], filter[32];
} header;

static const char *const kinds[] = {
    [OD_SAVED_SIM] = "a simulation",        [OD_SAVED_PLAIN_SIM] = "a plain simulation",
    [OD_SAVED_ADVANCE] = "an advance",      [OD_SAVED_OBSERVER] = "an observer",
    [OD_SAVED_RUN] = "a run of 'simulate'", [OD_SAVED_OBSERVATION] = "a run of 'observe'"};

static void put_name(char *to, size_t size, const char *name) {
  if (!name) return;
  size_t length = strlen(name);
  memcpy(to, name, length < size ? length : size - 1);
}

static header header_of(const od_saved_owner *owner, size_t size) {
  header h = {.format = FORMAT,
              .byte_order = BYTE_ORDER_MARK,
              .sizes = {sizeof(int), sizeof(long), sizeof(size_t), sizeof(double)},
              .kind = owner->kind,
              .size = size,
              .machine = owner->machine,
              .selection = owner->selection,
              .options = owner->options};
  memcpy(h.magic, magic, sizeof magic);
  put_name(h.version, sizeof h.version, OD_VERSION);
  put_name(h.integrator, sizeof h.integrator, owner->integrator);
  put_name(h.filter, sizeof h.filter, owner->filter);
  return h;
}

static uint64_t checksum_of(const void *saved, size_t size) {
  static const uint64_t zero;
  size_t at = offsetof(header, checksum), after = at + sizeof zero;
  uint64_t hash = od_hash_bytes(OD_HASH_START, saved, at);
  hash = od_hash_bytes(hash, &zero, sizeof zero);
  return od_hash_bytes(hash, (const char *)saved + after, size - after);
}

int od_saved_repair(void *saved, size_t size) {
  if (size < sizeof(header)) return 0;
  uint64_t sum = checksum_of(saved, size);
  memcpy((char *)saved + offsetof(header, checksum), &sum, sizeof sum);
  return 1;
}

// Prepares a name from a file for a message: replaces unprintable characters and ends the name with a zero byte.
// Returns the name.
static const char *readable(char *name, size_t size) {
  name[size - 1] = '\0';
  for (char *c = name; *c; c++)
    if (*c < ' ' || *c > '~') *c = '?';
  return name;
}

// Checks address, signature, size and checksum of a saved state, and the fields of the header that do not depend on the
// owner. *h receives the header. Fails with OD_BAD_INPUT.
static od_status check_bytes(const void *saved, size_t size, header *h, od_error *err) {
  static const header own = {.sizes = {sizeof(int), sizeof(long), sizeof(size_t), sizeof(double)}};
  if ((uintptr_t)saved % 16 != 0) return od_fail(err, OD_BAD_ARGUMENT, "a saved state must be aligned to 16 bytes");
  if (size < sizeof magic || memcmp(saved, magic, sizeof magic) != 0)
    return od_fail(err, OD_BAD_INPUT,
                   "this is not a saved state; expected a checkpoint, or the bytes that a save function wrote");
  if (size < sizeof *h)
    return od_fail(err, OD_BAD_INPUT,
                   "the saved state is truncated within its header: it has %lu bytes; save the state again",
                   (unsigned long)size);
  memcpy(h, saved, sizeof *h);
  if (h->byte_order != BYTE_ORDER_MARK || memcmp(h->sizes, own.sizes, sizeof own.sizes) != 0)
    return od_fail(
        err, OD_BAD_INPUT,
        "the saved state comes from a computer with another byte order or other sizes of numbers; restore it on a computer of that kind");
  if (h->format != FORMAT)
    return od_fail(err, OD_BAD_INPUT, "the saved state has format %lu; expected format %d", (unsigned long)h->format,
                   FORMAT);
  if (h->size != size)
    return od_fail(err, OD_BAD_INPUT, "the saved state is truncated or too long: %lu bytes; expected %lu bytes",
                   (unsigned long)size, (unsigned long)h->size);
  if (h->checksum != checksum_of(saved, size))
    return od_fail(err, OD_BAD_INPUT, "the saved state is damaged: its checksum is wrong");
  return OD_OK;
}

static const char *kind_of(const header *h) {
  return h->kind >= OD_SAVED_SIM && h->kind <= OD_SAVED_OBSERVATION ? kinds[h->kind] : "an unknown object";
}

static od_status check_kind(header *h, od_saved_kind kind, od_error *err) {
  header expected = header_of(&(od_saved_owner){.kind = kind}, 0);
  if (memcmp(h->version, expected.version, sizeof h->version) != 0)
    return od_fail(
        err, OD_BAD_INPUT,
        "the saved state was written by oleodyn %s; this is oleodyn %s; use the version that wrote the state",
        readable(h->version, sizeof h->version), expected.version);
  if (h->kind != expected.kind)
    return od_fail(err, OD_BAD_INPUT, "the saved state is the state of %s; expected %s", kind_of(h), kinds[kind]);
  return OD_OK;
}

// Compares the header with the identity of the owner. Fails with OD_BAD_INPUT.
static od_status check_owner(header *h, const od_saved_owner *owner, od_error *err) {
  header expected = header_of(owner, 0);
  od_status status = check_kind(h, owner->kind, err);
  if (status != OD_OK) return status;
  if (h->machine != expected.machine)
    return od_fail(
        err, OD_BAD_INPUT,
        "the saved state belongs to another machine, or a number of the machine differs; use the machine and the numbers of the saved run");
  if (h->selection != expected.selection)
    return od_fail(
        err, OD_BAD_INPUT,
        "the saved state belongs to other outputs or other free parameters of the machine; use the selection of the saved run");
  if (memcmp(h->integrator, expected.integrator, sizeof h->integrator) != 0)
    return od_fail(err, OD_BAD_INPUT, "the saved state belongs to integrator '%s'; expected '%s'",
                   readable(h->integrator, sizeof h->integrator), expected.integrator);
  if (memcmp(h->filter, expected.filter, sizeof h->filter) != 0)
    return od_fail(err, OD_BAD_INPUT, "the saved state belongs to filter '%s'; expected '%s'",
                   readable(h->filter, sizeof h->filter), expected.filter);
  if (h->options != expected.options)
    return od_fail(err, OD_BAD_INPUT, "the saved state belongs to %s with other options; use the same options",
                   kind_of(h));
  return OD_OK;
}

// ---- the whole state

od_status od_saved_first(od_saved_kind kind, const void *saved, size_t size, void *first, size_t bytes, od_error *err) {
  header h;
  od_status status = check_bytes(saved, size, &h, err);
  if (status == OD_OK) status = check_kind(&h, kind, err);
  if (status != OD_OK) return status;
  if (size - sizeof h < bytes) return od_fail(err, OD_BAD_INPUT, "the saved state is damaged: it has no contents");
  memcpy(first, (const char *)saved + sizeof h, bytes);
  return OD_OK;
}

size_t od_saved_size(void *self, od_pieces_function *transfer) {
  od_pieces t = {.mode = OD_PIECES_COUNT, .at = sizeof(header)};
  transfer(self, &t);
  return t.at;
}

void od_saved_write(const od_saved_owner *owner, void *self, od_pieces_function *transfer, void *saved) {
  od_pieces t = {.mode = OD_PIECES_SAVE, .to = saved, .at = sizeof(header)};
  transfer(self, &t);
  const header h = header_of(owner, t.at);
  memcpy(saved, &h, sizeof h);
  od_saved_repair(saved, t.at);
}

od_status od_saved_read(const od_saved_owner *owner, void *self, od_pieces_function *transfer, const void *saved,
                        size_t size, od_error *err) {
  _Static_assert(sizeof(header) % 16 == 0, "pieces are aligned to 16");
  header h;
  od_status status = check_bytes(saved, size, &h, err);
  if (status == OD_OK) status = check_owner(&h, owner, err);
  if (status != OD_OK) return status;
  size_t needed = od_saved_size(self, transfer);
  if (needed != size)
    return od_fail(err, OD_BAD_INPUT,
                   "the saved state is damaged: its size does not fit the machine: %lu bytes, expected %lu",
                   (unsigned long)size, (unsigned long)needed);
  od_pieces t = {.mode = OD_PIECES_CHECK, .from = saved, .at = sizeof(header)};
  transfer(self, &t);
  if (t.problem) return od_fail(err, OD_BAD_INPUT, "the saved state is damaged: %s", t.problem);
  t = (od_pieces){.mode = OD_PIECES_RESTORE, .from = saved, .at = sizeof(header)};
  transfer(self, &t);
  return OD_OK;
}
