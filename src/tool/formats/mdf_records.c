#include "formats/mdf_records.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"

enum { MOST_QUEUED = 24 << 20, MOST_EMPTY_RECORDS = 10000000, MOST_REWINDS = 1000 };

// The layout of the records of one group in a scan.
typedef struct slot {
  uint64_t id;
  size_t length;  // number of bytes after the identifier; not used for variable-length values
  bool is_vlsd;
  od_mdf_cursor *cursor;  // NULL: the records are skipped
} slot;

struct od_mdf_scan {
  const od_mdf_file *file;
  od_mdf_budget *budget;
  int cursors;
  od_mdf_data data;
  size_t id_size;
  slot *slot;       // sorted by identifiers
  int slots, last;  // last: the slot of the last record
  int part;
  size_t queued;    // number of bytes in all queues
  uint64_t before;  // position of the first record that has not been read
  bool is_cut;
};

// --- Mixed records -----------------------------------------------------------------------------------------------

static int by_id(const void *a, const void *b) {
  uint64_t x = ((const slot *)a)->id, y = ((const slot *)b)->id;
  return (x > y) - (x < y);
}

// Returns the slot of an identifier, or NULL.
static slot *slot_of(od_mdf_scan *s, uint64_t id) {
  if (s->slot[s->last].id == id) return &s->slot[s->last];
  int low = 0, high = s->slots - 1;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (s->slot[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  if (s->slot[low].id != id) return NULL;
  s->last = low;
  return &s->slot[low];
}

// Creates a scan for a cursor. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status new_scan(od_mdf_cursor *c, od_error *err) {
  const od_mdf_part *p = &c->contents->part[c->contents->group[c->group].part];
  od_mdf_scan *s = od_calloc(1, sizeof *s);
  if (s) s->slot = od_calloc((size_t)p->groups, sizeof *s->slot);
  if (!s || !s->slot) {
    od_free(s);
    return od_mdf_no_memory(c->file, err);
  }
  s->file = c->file;
  s->budget = c->budget;
  s->id_size = (size_t)p->id_size;
  s->part = c->contents->group[c->group].part;
  od_mdf_data_init(&s->data, c->file, c->budget, p->data, c->capacity);
  s->data.goes_on = (c->file->unfinished & OD_MDF_UNFINISHED_DATA) != 0;
  for (int i = p->first; i < p->first + p->groups; i++) {
    const od_mdf_group *g = &c->contents->group[i];
    slot added = {.id = g->id, .length = (size_t)g->bytes + g->invalid_bytes, .is_vlsd = g->is_vlsd};
    s->slot[s->slots++] = added;
  }
  c->scan = s;
  s->cursors = 1;
  qsort(s->slot, (size_t)s->slots, sizeof *s->slot, by_id);
  for (int i = 1; i < s->slots; i++)
    if (s->slot[i].id == s->slot[i - 1].id)
      return od_fail(err, OD_BAD_INPUT,
                     "%s: two groups of data group %d have the record identifier %llu; the file is damaged",
                     c->file->path, s->part + 1, (unsigned long long)s->slot[i].id);
  slot_of(s, c->contents->group[c->group].id)->cursor = c;
  return OD_OK;
}

// Adds a cursor to a scan of mixed records.
static void join(od_mdf_cursor *c, od_mdf_scan *s) {
  slot_of(s, c->contents->group[c->group].id)->cursor = c;
  s->cursors++;
  c->scan = s;
}

static void leave(od_mdf_cursor *c) {
  od_mdf_scan *s = c->scan;
  if (!s) return;
  s->queued -= c->end - c->begin;
  slot *own = slot_of(s, c->contents->group[c->group].id);
  if (own && own->cursor == c) own->cursor = NULL;
  c->scan = NULL;
  if (--s->cursors > 0) return;
  od_mdf_data_free(&s->data);
  od_free(s->slot);
  od_free(s);
}

// Appends a record to the queue of a cursor: the length of the data and the data. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status enqueue(od_mdf_cursor *c, const unsigned char *record, size_t length, od_error *err) {
  uint32_t head = (uint32_t)length;
  size_t size = sizeof head + length;
  if (c->room - c->end < size) {
    size_t used = c->end - c->begin;
    if (c->begin >= used && c->room - used >= size) {
      memmove(c->queue, c->queue + c->begin, used);
    } else {
      size_t room = 2 * c->room > used + size ? 2 * c->room : 2 * (used + size) + 1024;
      unsigned char *larger = od_mdf_allocate(c->file, c->budget, room, err);
      if (!larger) return err ? err->status : OD_NO_MEMORY;
      if (used > 0) memcpy(larger, c->queue + c->begin, used);
      od_mdf_release(c->budget, c->queue, c->room);
      c->queue = larger;
      c->room = room;
    }
    c->begin = 0;
    c->end = used;
    if (c->has_record) c->record = c->queue + sizeof head;
    if (c->has_record) c->invalid = c->record + c->bytes;
  }
  memcpy(c->queue + c->end, &head, sizeof head);
  memcpy(c->queue + c->end + sizeof head, record, length);
  c->end += size;
  c->scan->queued += size;
  return OD_OK;
}

// Reads one record. *more: whether a record was read. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status scan_record(od_mdf_scan *s, bool *more, od_error *err) {
  const unsigned char *b;
  uint64_t id = 0;
  *more = false;
  s->before = s->data.position;
  od_status status = od_mdf_data_take(&s->data, s->id_size > 0 ? s->id_size : 1, &b, err);
  if (status != OD_OK || !b) {
    s->is_cut = s->data.is_cut || s->data.begin < s->data.end;
    return status;
  }
  if (s->id_size == 0) s->data.begin--, s->data.position--;  // the byte only shows that there is another record
  for (size_t i = 0; i < s->id_size; i++) id |= (uint64_t)b[i] << (8 * i);
  slot *own = s->id_size > 0 ? slot_of(s, id) : s->slot;
  if (!own) {
    // The data of an unfinalized file may end with unused space.
    if (s->file->is_unfinalized) {
      s->is_cut = true;
      return OD_OK;
    }
    return od_fail(
        err, OD_BAD_INPUT,
        "%s: byte %llu of the data of data group %d has the record identifier %llu, which no group has; the file is damaged",
        s->file->path, (unsigned long long)s->before, s->part + 1, (unsigned long long)id);
  }
  size_t length = own->length;
  if (own->is_vlsd) {
    status = od_mdf_data_take(&s->data, 4, &b, err);
    if (status == OD_OK && !b) s->is_cut = true;
    if (status != OD_OK || !b) return status;
    length = od_mdf_u32(b);
    if (!own->cursor || length > OD_MDF_LONGEST_RECORD) {
      uint64_t end = s->data.position + length;
      status = od_mdf_data_skip(&s->data, length, err);
      *more = s->data.position == end;
      s->is_cut = !*more;
      return status;
    }
  }
  status = od_mdf_data_take(&s->data, length, &b, err);
  if (status != OD_OK) return status;
  s->is_cut = !b;
  *more = b != NULL;
  return b && own->cursor && own->cursor->count < own->cursor->most ? enqueue(own->cursor, b, length, err) : OD_OK;
}

// Gives the cursor of a group its own scan, from the current position. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status separate(od_mdf_cursor *c, od_error *err) {
  uint64_t position = c->scan->data.position;
  leave(c);
  od_status status = new_scan(c, err);
  if (status != OD_OK) return status;
  c->scan->data.is_counted = false;
  return od_mdf_data_skip(&c->scan->data, position, err);
}

static od_status next_mixed(od_mdf_cursor *c, bool *more, od_error *err) {
  uint32_t head;
  if (c->has_record) {
    size_t size = sizeof head + c->length;
    c->begin += size;
    c->scan->queued -= size;
    c->has_record = false;
  }
  *more = false;
  if (c->count >= c->most) return OD_OK;
  if (c->begin == c->end) c->begin = c->end = 0;
  while (c->begin == c->end) {
    bool is_there;
    od_status status = OD_OK;
    if (c->scan->queued > MOST_QUEUED && c->scan->cursors > 1) status = separate(c, err);
    if (status == OD_OK) status = scan_record(c->scan, &is_there, err);
    if (status != OD_OK) return status;
    if (!is_there) {
      c->is_cut = c->scan->is_cut;
      return OD_OK;
    }
  }
  memcpy(&head, c->queue + c->begin, sizeof head);
  c->length = head;
  c->record = c->queue + c->begin + sizeof head;
  c->invalid = c->record + c->bytes;
  c->has_record = *more = true;
  c->index = c->count++;
  return OD_OK;
}

// --- Cursors -----------------------------------------------------------------------------------------------------

// Determines whether the data of a group are lists of columns (LD), whose invalidation bits are in separate blocks. Fails with
// OD_BAD_INPUT or OD_IO.
static od_status look_at_data(od_mdf_cursor *c, uint64_t at, od_error *err) {
  od_mdf_block b;
  if (at == 0) return OD_OK;
  od_status status = od_mdf_block_head(c->file, at, &b, err);
  if (status == OD_OK && memcmp(b.id, "##HL", 4) == 0) {
    unsigned char first[8] = {0};
    size_t got;
    status = od_mdf_read_at(c->file, at + OD_MDF_HEADER, first, sizeof first, &got, err);
    at = od_mdf_u64(first);
    if (status == OD_OK && at) status = od_mdf_block_head(c->file, at, &b, err);
  }
  if (status != OD_OK) return status;
  char id[3] = {b.id[2], b.id[3], 0};
  if (memcmp(id, "DZ", 2) == 0) {  // the kind of the deflated block
    size_t got;
    status = od_mdf_read_at(c->file, at + OD_MDF_HEADER, id, 2, &got, err);
  }
  bool is_list = memcmp(id, "LD", 2) == 0;
  c->has_columns = is_list || memcmp(id, "DV", 2) == 0;
  if (status == OD_OK && c->has_columns && !is_list && c->invalid_bytes > 0)
    return od_mdf_damaged(c->file, &b, "has values without their invalidation bits", err);
  return status;
}

od_status od_mdf_cursor_init(od_mdf_cursor *c, const od_mdf_file *file, const od_mdf_contents *contents, int group,
                             od_mdf_budget *budget, size_t capacity, od_mdf_cursor *shared, bool is_again,
                             od_error *err) {
  const od_mdf_group *g = &contents->group[group];
  const od_mdf_part *p = &contents->part[g->part];
  *c = (od_mdf_cursor){.file = file, .contents = contents, .budget = budget, .group = group, .capacity = capacity};
  c->id_size = (size_t)p->id_size;
  c->bytes = g->bytes;
  c->invalid_bytes = g->invalid_bytes;
  c->most = file->unfinished & OD_MDF_UNFINISHED_CYCLES || g->is_vlsd ? UINT64_MAX : g->cycles;
  od_mdf_data_init(&c->data, file, budget, p->data, capacity);
  od_mdf_data_init(&c->bits, file, budget, p->data, capacity);
  c->data.is_counted = c->bits.is_counted = !is_again;
  c->bits.is_invalid = true;
  c->bits.record_bytes = g->bytes;
  c->bits.invalid_bytes = g->invalid_bytes;
  c->data.goes_on = (file->unfinished & OD_MDF_UNFINISHED_DATA) != 0;
  if (g->is_vlsd || p->groups > 1) {
    if (shared && shared->scan) {
      join(c, shared->scan);
      return OD_OK;
    }
    od_status status = new_scan(c, err);
    if (status != OD_OK) return status;
    c->scan->data.is_counted = !is_again;
    return OD_OK;
  }
  od_status status = look_at_data(c, p->data, err);
  if (c->has_columns) c->id_size = 0;
  bool is_empty = c->id_size + c->bytes + c->invalid_bytes == 0;
  if (is_empty && c->most == UINT64_MAX) c->most = 0;
  if (status == OD_OK && is_empty && c->most > MOST_EMPTY_RECORDS)
    return od_fail(err, OD_BAD_INPUT, "%s: group %d has %llu records without data; expected at most %d", file->path,
                   group + 1, (unsigned long long)c->most, MOST_EMPTY_RECORDS);
  return status;
}

void od_mdf_cursor_free(od_mdf_cursor *c) {
  if (!c->file) return;
  leave(c);
  od_mdf_release(c->budget, c->queue, c->room);
  od_mdf_data_free(&c->data);
  od_mdf_data_free(&c->bits);
  *c = (od_mdf_cursor){0};
}

od_status od_mdf_cursor_next(od_mdf_cursor *c, bool *more, od_error *err) {
  if (c->scan) return next_mixed(c, more, err);
  *more = false;
  if (c->count >= c->most) return OD_OK;
  const unsigned char *b;
  size_t inner = c->has_columns ? 0 : c->invalid_bytes, size = c->id_size + c->bytes + inner;
  static const unsigned char nothing[1];
  od_status status = OD_OK;
  b = nothing;
  if (size > 0) status = od_mdf_data_take(&c->data, size, &b, err);
  if (status != OD_OK) return status;
  if (!b) {
    bool is_expected = c->most == UINT64_MAX && c->data.begin == c->data.end && !c->data.is_cut;
    c->is_cut = !is_expected;
    return OD_OK;
  }
  c->record = b + c->id_size;
  c->invalid = c->record + c->bytes;
  c->length = c->bytes;
  if (c->has_columns && c->invalid_bytes > 0) {
    status = od_mdf_data_take(&c->bits, c->invalid_bytes, &c->invalid, err);
    c->is_cut = !c->invalid;
    if (status != OD_OK || !c->invalid) return status;
  }
  c->index = c->count++;
  *more = true;
  return OD_OK;
}

// --- Texts -------------------------------------------------------------------------------------------------------

od_status od_mdf_texts_init(od_mdf_texts *t, const od_mdf_file *file, const od_mdf_contents *contents,
                            const od_mdf_channel *channel, od_mdf_budget *budget, size_t capacity, od_error *err) {
  *t = (od_mdf_texts){0};
  for (int i = 0; i < contents->groups; i++) {
    if (contents->group[i].block != channel->data || !contents->group[i].is_vlsd) continue;
    t->values = od_calloc(1, sizeof *t->values);
    if (!t->values) return od_mdf_no_memory(file, err);
    return od_mdf_cursor_init(t->values, file, contents, i, budget, capacity, NULL, true, err);
  }
  od_mdf_data_init(&t->data, file, budget, channel->data, capacity);
  t->data.is_counted = false;
  return OD_OK;
}

void od_mdf_texts_free(od_mdf_texts *t) {
  if (t->values) od_mdf_cursor_free(t->values);
  od_free(t->values);
  if (t->data.file) od_mdf_data_free(&t->data);
}

// Moves back to the first text. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status rewind_texts(od_mdf_texts *t, od_error *err) {
  const od_mdf_file *file = t->values ? t->values->file : t->data.file;
  if (++t->rewinds > MOST_REWINDS)
    return od_fail(
        err, OD_BAD_INPUT,
        "%s: more than %d texts are stored before the text of an earlier record; expected texts in the order of "
        "the records",
        file->path, MOST_REWINDS);
  t->at = 0;
  t->has_text = false;
  if (!t->values) {
    od_mdf_data_rewind(&t->data);
    return OD_OK;
  }
  od_mdf_cursor c = *t->values;
  od_mdf_cursor_free(t->values);
  return od_mdf_cursor_init(t->values, c.file, c.contents, c.group, c.budget, c.capacity, NULL, true, err);
}

// Reads the next text. *more: whether a text was read. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status next_text(od_mdf_texts *t, bool *more, od_error *err) {
  uint64_t at = t->has_text ? t->at + 4 + t->length : t->at;
  t->at = at;
  t->has_text = false;
  if (t->values) {
    od_status status = od_mdf_cursor_next(t->values, more, err);
    t->text = t->values->record;
    t->length = t->values->length;
    t->has_text = *more;
    return status;
  }
  const unsigned char *b;
  *more = false;
  od_status status = od_mdf_data_skip(&t->data, at - t->data.position, err);
  if (status == OD_OK) status = od_mdf_data_take(&t->data, 4, &b, err);
  if (status != OD_OK || !b) return status;
  t->length = od_mdf_u32(b);
  if (t->length > OD_MDF_LONGEST_RECORD) return OD_OK;
  status = od_mdf_data_take(&t->data, t->length, &t->text, err);
  t->has_text = *more = status == OD_OK && t->text;
  return status;
}

od_status od_mdf_texts_find(od_mdf_texts *t, uint64_t at, bool *found, od_error *err) {
  od_status status = OD_OK;
  *found = t->has_text && t->at == at;
  if (*found) return OD_OK;
  bool is_before = t->values ? at < t->at : at < t->data.position;
  if (is_before) status = rewind_texts(t, err);
  if (status != OD_OK) return status;
  if (!t->values) {  // texts in blocks SD can be read at any position
    t->at = at;
    t->has_text = false;
    return next_text(t, found, err);
  }
  bool more = true;
  while (more && !(t->has_text && t->at >= at)) {
    status = next_text(t, &more, err);
    if (status != OD_OK) return status;
  }
  *found = t->has_text && t->at == at;
  return OD_OK;
}
