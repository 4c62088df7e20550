#define _XOPEN_SOURCE 700  // pread

#include "formats/mdf_blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "io/inputs_read.h"
#include "io/utf8.h"

enum { WINDOW = 1 << 16, ID_BLOCK = 64 };

double od_mdf_f64(const unsigned char *bytes) {
  uint64_t bits = od_mdf_u64(bytes);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

bool od_mdf_is_mdf(const unsigned char *start, size_t length) {
  if (length < 12 || (memcmp(start, "MDF     ", 8) != 0 && memcmp(start, "UnFinMF ", 8) != 0)) return false;
  return start[8] >= '0' && start[8] <= '9' && start[9] == '.';
}

od_status od_mdf_no_memory(const od_mdf_file *file, od_error *err) {
  return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", file->path);
}

od_status od_mdf_damaged(const od_mdf_file *file, const od_mdf_block *block, const char *what, od_error *err) {
  return od_fail(err, OD_BAD_INPUT, "%s: block %s at byte %llu %s; the file is damaged", file->path, block->id,
                 (unsigned long long)block->at, what);
}

// --- The file ----------------------------------------------------------------------------------------------------

od_status od_mdf_read_at(const od_mdf_file *file, uint64_t at, void *to, size_t count, size_t *got, od_error *err) {
  *got = 0;
  if (at >= file->size) return OD_OK;
  if (count > file->size - at) count = (size_t)(file->size - at);
  while (*got < count) {
    ssize_t part = pread(file->fd, (char *)to + *got, count - *got, (off_t)(at + *got));
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) return od_fail(err, OD_IO, "cannot read %s: %s", file->path, strerror(errno));
    if (part == 0) break;
    *got += (size_t)part;
  }
  return OD_OK;
}

// Checks the first block, which contains the version. Fails with OD_BAD_INPUT or OD_IO.
static od_status check_start(od_mdf_file *file, od_error *err) {
  unsigned char b[ID_BLOCK];
  size_t got;
  od_status status = od_mdf_read_at(file, 0, b, sizeof b, &got, err);
  if (status != OD_OK) return status;
  if (got < sizeof b)
    return od_fail(err, OD_BAD_INPUT,
                   "%s is an MDF file that ends after %zu bytes, within its first block; the file is incomplete",
                   file->path, got);
  if (!od_mdf_is_mdf(b, got))
    return od_fail(err, OD_BAD_INPUT,
                   "%s is not an MDF file: expected 'MDF' or 'UnFinMF' and a version number as its first bytes",
                   file->path);
  file->version = od_mdf_u16(b + 28);
  if (file->version < 400 || file->version >= 500)
    return od_fail(err, OD_BAD_INPUT,
                   "%s is an MDF file of version %.4s; expected a version from 4.00 to 4.30; convert the file to MDF 4",
                   file->path, (const char *)b + 8);
  file->is_unfinalized = b[0] == 'U';
  if (file->is_unfinalized) file->unfinished = od_mdf_u16(b + 60);
  return OD_OK;
}

od_status od_mdf_file_open(const char *path, od_mdf_file *file, od_error *err) {
  struct stat about;
  *file = (od_mdf_file){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file->fd < 0 || fstat(file->fd, &about) != 0)
    return od_fail(err, OD_IO, "cannot read %s: %s", path, strerror(errno));
  file->size = (uint64_t)about.st_size;
  file->written = about.st_mtim;
  file->window = od_malloc(WINDOW);
  if (!file->window || !od_inputs_note(path)) return od_mdf_no_memory(file, err);
  return check_start(file, err);
}

void od_mdf_file_close(od_mdf_file *file) {
  if (file->fd >= 0) close(file->fd);
  od_free(file->window);
  od_mdf_set_free(&file->seen);
}

// Reads bytes through the window. Bytes beyond the end of the file are 0. Fails with OD_IO.
static od_status read_near(od_mdf_file *file, uint64_t at, void *to, size_t count, od_error *err) {
  for (unsigned char *p = to; count > 0;) {
    if (at < file->window_at || at >= file->window_at + file->window_length) {
      file->window_at = at & ~(uint64_t)4095;
      od_status status = od_mdf_read_at(file, file->window_at, file->window, WINDOW, &file->window_length, err);
      if (status != OD_OK) return status;
      if (at >= file->window_at + file->window_length) {
        memset(p, 0, count);
        return OD_OK;
      }
    }
    size_t from = (size_t)(at - file->window_at), part = file->window_length - from;
    if (part > count) part = count;
    memcpy(p, file->window + from, part);
    p += part, at += part, count -= part;
  }
  return OD_OK;
}

// --- Sets of addresses -------------------------------------------------------------------------------------------

void od_mdf_set_free(od_mdf_set *set) {
  od_free(set->place);
  *set = (od_mdf_set){0};
}

// Returns the slot of an address in a hash table: the slot with the address, or a free slot.
static uint64_t *place_of(uint64_t *place, size_t capacity, uint64_t address) {
  size_t i = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (capacity - 1);
  while (place[i] && place[i] != address) i = (i + 1) & (capacity - 1);
  return &place[i];
}

bool od_mdf_set_add(od_mdf_set *set, uint64_t address, bool *is_new) {
  if (2 * set->count >= set->capacity) {
    size_t capacity = set->capacity ? 2 * set->capacity : 64;
    uint64_t *larger = od_calloc(capacity, sizeof *larger);
    if (!larger) return false;
    for (size_t i = 0; i < set->capacity; i++)
      if (set->place[i]) *place_of(larger, capacity, set->place[i]) = set->place[i];
    od_free(set->place);
    set->place = larger;
    set->capacity = capacity;
  }
  uint64_t *place = place_of(set->place, set->capacity, address);
  *is_new = *place == 0;
  set->count += *is_new;
  *place = address;
  return true;
}

// --- Blocks ------------------------------------------------------------------------------------------------------

// Fills a block from the bytes of its header. Fails with OD_BAD_INPUT.
static od_status take_head(const od_mdf_file *file, uint64_t at, const unsigned char *b, od_mdf_block *block,
                           od_error *err) {
  *block = (od_mdf_block){.at = at, .length = od_mdf_u64(b + 8), .links = od_mdf_u64(b + 16)};
  memcpy(block->id, b, 4);
  bool is_id = b[0] == '#' && b[1] == '#' && b[2] >= 'A' && b[2] <= 'Z' && b[3] >= 'A' && b[3] <= 'Z';
  if (at < ID_BLOCK || at + OD_MDF_HEADER > file->size || at + OD_MDF_HEADER < at || !is_id)
    return od_fail(err, OD_BAD_INPUT, "%s: a link leads to byte %llu, where there is no block; the file is damaged",
                   file->path, (unsigned long long)at);
  return OD_OK;
}

od_status od_mdf_block_head(const od_mdf_file *file, uint64_t at, od_mdf_block *block, od_error *err) {
  unsigned char b[OD_MDF_HEADER] = {0};
  size_t got;
  od_status status = od_mdf_read_at(file, at, b, sizeof b, &got, err);
  return status == OD_OK ? take_head(file, at, b, block, err) : status;
}

od_status od_mdf_block_open(od_mdf_file *file, uint64_t at, const char *id, od_mdf_block *block, od_error *err) {
  unsigned char b[OD_MDF_HEADER];
  od_status status = read_near(file, at, b, sizeof b, err);
  if (status == OD_OK) status = take_head(file, at, b, block, err);
  if (status != OD_OK) return status;
  if (memcmp(block->id, id, 4) != 0)
    return od_fail(err, OD_BAD_INPUT, "%s: expected block %s at byte %llu, found %s; the file is damaged", file->path,
                   id, (unsigned long long)at, block->id);
  if (block->length < OD_MDF_HEADER || block->length > file->size - at)
    return od_mdf_damaged(file, block, "does not end within the file", err);
  if (block->links > (block->length - OD_MDF_HEADER) / 8)
    return od_mdf_damaged(file, block, "is too short for its links", err);
  return OD_OK;
}

od_status od_mdf_block_once(od_mdf_file *file, uint64_t at, const char *id, od_mdf_block *block, od_error *err) {
  bool is_new;
  od_status status = od_mdf_block_open(file, at, id, block, err);
  if (status != OD_OK) return status;
  if (!od_mdf_set_add(&file->seen, at, &is_new)) return od_mdf_no_memory(file, err);
  if (!is_new) return od_mdf_damaged(file, block, "is in a list twice", err);
  file->described += block->length;
  return file->described > file->size ? od_mdf_damaged(file, block, "overlaps another block", err) : OD_OK;
}

od_status od_mdf_links(od_mdf_file *file, const od_mdf_block *block, uint64_t first, size_t count, uint64_t *link,
                       od_error *err) {
  for (size_t i = 0; i < count; i++) {
    unsigned char b[8] = {0};
    od_status status = OD_OK;
    if (first + i < block->links) status = read_near(file, block->at + OD_MDF_HEADER + 8 * (first + i), b, 8, err);
    if (status != OD_OK) return status;
    link[i] = od_mdf_u64(b);
  }
  return OD_OK;
}

uint64_t od_mdf_block_room(const od_mdf_block *block) {
  return block->length - OD_MDF_HEADER - 8 * block->links;
}

od_status od_mdf_block_data(od_mdf_file *file, const od_mdf_block *block, uint64_t from, size_t count, void *to,
                            od_error *err) {
  uint64_t room = od_mdf_block_room(block);
  size_t there = from >= room ? 0 : room - from < count ? (size_t)(room - from) : count;
  memset((char *)to + there, 0, count - there);
  return read_near(file, block->at + OD_MDF_HEADER + 8 * block->links + from, to, there, err);
}

// --- Texts -------------------------------------------------------------------------------------------------------

// Finds the content of the first element TX of XML. Without such an element, the content is empty.
static char *first_element(char *xml) {
  char *from = strstr(xml, "<TX");
  from = from ? strchr(from, '>') : NULL;
  if (!from || from[-1] == '/') return xml + strlen(xml);
  char *to = strstr(++from, "</TX");
  if (to) *to = 0;
  return from;
}

// Replaces the five entities of XML.
static void replace_entities(char *text) {
  static const char *const entity[] = {"&lt;", "&gt;", "&quot;", "&apos;", "&amp;"};
  static const char character[] = "<>\"'&";
  char *to = text;
  for (const char *from = text; *from;) {
    size_t i = 0;
    if (*from == '&')
      while (i < sizeof entity / sizeof *entity && strncmp(from, entity[i], strlen(entity[i])) != 0) i++;
    bool is_entity = *from == '&' && i < sizeof entity / sizeof *entity;
    *to++ = is_entity ? character[i] : *from;
    from += is_entity ? strlen(entity[i]) : 1;
  }
  *to = 0;
}

// Removes blanks at both ends. Replaces line ends by spaces and bytes that are not text by "?". Cuts the text to `most` bytes.
static const char *plain_text(char *text, size_t most) {
  text += strspn(text, " \t\r\n");
  size_t length = strlen(text), at = 0;
  while (length > 0 && strchr(" \t\r\n", text[length - 1])) length--;
  while (at < length && at < most) {
    size_t size = od_utf8_length((const unsigned char *)text + at, length - at);
    if (size == 0) text[at] = '?';
    if (size == 1 && strchr("\t\r\n", text[at])) text[at] = ' ';
    if (at + size > most) break;
    at += size > 0 ? size : 1;
  }
  text[at] = 0;
  return text;
}

od_status od_mdf_text(od_mdf_file *file, uint64_t at, size_t most, od_arena *memory, const char **text, od_error *err) {
  enum { LONGEST_XML = 1 << 16 };
  od_mdf_block block;
  *text = "";
  if (at == 0) return OD_OK;
  bool is_xml = od_mdf_block_open(file, at, "##MD", &block, NULL) == OD_OK;
  od_status status = is_xml ? OD_OK : od_mdf_block_open(file, at, "##TX", &block, err);
  if (status == OD_OK && block.links > 0) status = od_mdf_damaged(file, &block, "is a text with links", err);
  if (status != OD_OK) return status;
  uint64_t room = od_mdf_block_room(&block);
  size_t longest = is_xml ? LONGEST_XML : most, length = room < longest ? (size_t)room : longest;
  char *raw = od_malloc(length + 1);
  if (!raw) return od_mdf_no_memory(file, err);
  status = od_mdf_block_data(file, &block, 0, length, raw, err);
  raw[status == OD_OK ? length : 0] = 0;
  char *content = is_xml ? first_element(raw) : raw;
  if (is_xml) replace_entities(content);
  *text = od_arena_text(memory, plain_text(content, most));
  od_free(raw);
  return status == OD_OK && !*text ? od_mdf_no_memory(file, err) : status;
}

od_status od_mdf_comment(od_mdf_file *file, uint64_t at, od_arena *memory, const char **text, od_error *err) {
  od_status status = od_mdf_text(file, at, OD_MDF_LONGEST_COMMENT, memory, text, err);
  return status == OD_BAD_INPUT ? OD_OK : status;
}
