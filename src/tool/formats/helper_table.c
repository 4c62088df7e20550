#include "formats/helper_table.h"

#include <string.h>

// Returns whether a name is short enough for a message. Longer names cannot be names of columns.
static bool is_short(const char *name) {
  return strlen(name) < OD_HELPER_TEXT;
}

void od_helper_put_wish(od_channel *to, const od_table_wish *wish) {
  uint64_t count = 0;
  for (int i = 0; wish->columns && wish->columns[i]; i++) count += is_short(wish->columns[i]);
  od_channel_put_text(to, wish->time && is_short(wish->time) ? wish->time : "");
  od_channel_put_number(to, wish->no_time);
  od_channel_put_number(to, count);
  for (int i = 0; wish->columns && wish->columns[i]; i++)
    if (is_short(wish->columns[i])) od_channel_put_text(to, wish->columns[i]);
}

od_status od_helper_take_head(od_channel *from, const char *path, uint64_t most_numbers, od_table **out, long *rows,
                              const char **start_time) {
  char name[OD_HELPER_TEXT], unit[OD_HELPER_TEXT], flaw[OD_HELPER_TEXT];
  uint64_t columns = od_channel_take_number(from, OD_HELPER_COLUMNS);
  *rows = (long)od_channel_take_number(from, columns > 0 ? most_numbers / columns : 0);
  int time = (int)od_channel_take_number(from, columns);
  od_channel_take_text(from, name, sizeof name);
  if (*rows < 1) from->broken = true;
  if (from->broken) return OD_OK;
  od_table *t = *out = od_table_new((int)columns);
  if (!t) return OD_NO_MEMORY;
  t->time = time;
  t->places.flaw = OD_TAKE(&t->arena, const char *, columns);
  if (start_time) *start_time = name[0] ? od_arena_text(&t->arena, name) : NULL;
  for (int i = 0; i < t->columns && !from->broken && od_arena_status(&t->arena) == OD_OK; i++) {
    if (!od_channel_take_text(from, name, sizeof name) || !od_channel_take_text(from, unit, sizeof unit) ||
        !od_channel_take_text(from, flaw, sizeof flaw))
      break;
    od_table_label(t, i, name, unit);
    if (flaw[0]) t->places.flaw[i] = od_arena_format(&t->arena, "%s: %s", path, flaw);
  }
  return od_arena_status(&t->arena);
}

od_status od_helper_outcome(const od_helper_errors *e, const char *path, const char *format, od_error *err) {
  if (e->no_memory || e->answered.status == OD_NO_MEMORY)
    return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  if (e->end == OD_INTERRUPTED) return od_fail(err, e->end, "interrupted while reading %s", path);
  if (e->end == OD_IO) return od_fail(err, e->end, "cannot read %s: %s", path, e->ended.text);
  if (e->end != OD_OK)
    return od_fail(err, e->end, "cannot read %s as %s: the library that reads such files %s; the file may be damaged",
                   path, format, e->ended.text);
  if (e->answered.status != OD_OK)
    return od_fail(err, e->answered.status, "cannot read %s as %s: %s", path, format, e->answered.text);
  return OD_OK;
}
