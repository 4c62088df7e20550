#include "formats/mdf_columns.h"

#include <string.h>

#include "base/allocate.h"
#include "base/byte_hash.h"

// The parts of a column's name.
enum { AS_NAMED, WITH_PARENT, WITH_GROUP };

double od_mdf_time_scale(const char *unit) {
  static const struct {
    const char *unit;
    double scale;
  } scales[] = {{"ms", 1e-3}, {"us", 1e-6}, {"\xc2\xb5s", 1e-6}, {"\xce\xbcs", 1e-6},
                {"ns", 1e-9}, {"min", 60},  {"h", 3600}};
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
    if (strcmp(unit, scales[i].unit) == 0) return scales[i].scale;
  return 1;
}

static od_status no_memory(const od_mdf_file *file, od_error *err) {
  return od_mdf_no_memory(file, err);
}

// Finds the time channel of each group, which may belong to another group. *any: whether any group has a time channel.
static const int *find_times(const od_mdf_contents *c, od_arena *memory, bool *any) {
  int *time = OD_TAKE(memory, int, c->groups);
  *any = false;
  for (int i = 0; time && i < c->groups; i++) {
    const od_mdf_group *g = &c->group[i];
    time[i] = g->time >= 0 ? g->time : g->master >= 0 ? c->group[g->master].time : -1;
    *any = *any || (time[i] >= 0 && g->channels > 0);
  }
  return time;
}

// --- Names -------------------------------------------------------------------------------------------------------

// Returns the name of column i with the parts `level`.
static const char *name_at(const od_mdf_contents *c, const od_mdf_columns *columns, int i, int level,
                           od_arena *memory) {
  const od_mdf_channel *channel = &c->channel[columns->channel[i]];
  size_t parent = strlen(channel->parent);
  bool has_parent = parent == 0 || strncmp(channel->name, channel->parent, parent) == 0;
  const char *group = columns->group[channel->group];
  if (level == AS_NAMED || (level == WITH_PARENT && has_parent)) return channel->name;
  if (level == WITH_PARENT) return od_arena_format(memory, "%s.%s", channel->parent, channel->name);
  if (has_parent) return od_arena_format(memory, "%s.%s", group, channel->name);
  return od_arena_format(memory, "%s.%s.%s", group, channel->parent, channel->name);
}

// A hash table of names, with the first column of each name.
typedef struct name_table {
  int *column;  // index + 1; 0: the slot is free
  size_t size;  // number of slots, a power of two
} name_table;

// Makes an empty table for a number of names. Returns false if an allocation fails.
static bool make_table(name_table *t, int count, od_arena *memory) {
  t->size = 16;
  while (t->size < 2 * (size_t)count) t->size *= 2;
  t->column = OD_TAKE(memory, int, t->size);
  return t->column != NULL;
}

// Returns the slot of a name.
static int *place_of(name_table *t, const char *const *name, const char *text) {
  size_t i = (size_t)od_hash_text(OD_HASH_START, text) & (t->size - 1);
  while (t->column[i] && strcmp(name[t->column[i] - 1], text) != 0) i = (i + 1) & (t->size - 1);
  return &t->column[i];
}

// Counts the columns with the same name: number[i] is 1 for the first column with the name of column i. is_shared: whether another
// column has the name. Returns whether any name is shared, or -1 if a name is missing or an allocation fails.
static int find_shared(name_table *t, const char *const *name, int count, bool *is_shared, int *number) {
  OD_SCRATCH(scratch);
  int *same = OD_TAKE(&scratch, int, count),
      any = 0;  // for the first column with a name: number of columns with this name
  if (!same) return -1;
  memset(t->column, 0, t->size * sizeof *t->column);
  for (int i = 0; i < count; i++) {
    if (!name[i]) return -1;
    int *place = place_of(t, name, name[i]), first = *place ? *place - 1 : i;
    *place = first + 1;
    number[i] = ++same[first];
    is_shared[i] = number[i] > 1;
    if (!is_shared[i]) continue;
    is_shared[first] = true;
    any = 1;
  }
  return any;
}

// Gives each column the shortest unique name: the name of the channel; as long as another column has the same name, with the structure,
// then with the group, then with a number. Returns false if an allocation fails.
static bool choose_names(const od_mdf_contents *c, const od_mdf_columns *columns, const char **name, od_arena *memory) {
  OD_SCRATCH(scratch);
  int count = columns->count, first = columns->has_time, any = true;
  name_table t = {0};
  if (!make_table(&t, count, &scratch)) return false;
  bool *is_shared = OD_TAKE(&scratch, bool, count);
  int *number = OD_TAKE(&scratch, int, count), *level = OD_TAKE(&scratch, int, count);
  if (od_arena_status(&scratch) != OD_OK) return false;
  for (int i = first; i < count; i++) name[i] = name_at(c, columns, i, AS_NAMED, memory);
  for (int pass = AS_NAMED; any > 0; pass++) {
    any = find_shared(&t, name, count, is_shared, number);
    if (any < 0) return false;
    for (int i = first; i < count; i++) {
      if (!is_shared[i]) continue;
      name[i] = pass < WITH_GROUP ? name_at(c, columns, i, ++level[i], memory)
                                  : od_arena_format(memory, "%s#%d", name[i], number[i]);
    }
    if (pass > WITH_GROUP) break;
  }
  return true;
}

// --- Columns -----------------------------------------------------------------------------------------------------

// Gives each group a name: its own, or its number if there is none. Several groups with the same name have different labels, because each
// group has its own times. Returns false if an allocation fails.
static bool label_groups(const od_mdf_contents *c, od_mdf_columns *columns, od_arena *memory) {
  OD_SCRATCH(scratch);
  name_table t = {0};
  bool *is_shared = OD_TAKE(&scratch, bool, c->groups);
  int *number = OD_TAKE(&scratch, int, c->groups);
  columns->group = OD_TAKE(memory, const char *, c->groups);
  columns->label = OD_TAKE(memory, const char *, c->groups);
  if (!columns->group || !columns->label || !is_shared || !number || !make_table(&t, c->groups, &scratch)) return false;
  for (int i = 0; i < c->groups; i++) {
    const char *name = c->group[i].name;
    columns->group[i] = name[0] ? name : od_arena_format(memory, "group%d", i + 1);
  }
  if (find_shared(&t, columns->group, c->groups, is_shared, number) < 0) return false;
  for (int i = 0; i < c->groups; i++)
    columns->label[i] =
        is_shared[i] ? od_arena_format(memory, "%s#%d", columns->group[i], number[i]) : columns->group[i];
  return od_arena_status(memory) == OD_OK;
}

// Chooses the channels that become columns. Groups without times have no columns if other groups have times. Fails with
// OD_NO_MEMORY.
static od_status choose_channels(const od_mdf_file *file, od_mdf_contents *c, od_mdf_columns *columns, od_arena *memory,
                                 od_error *err) {
  columns->channel = OD_TAKE(memory, int, c->channels + 1);
  if (!columns->channel) return no_memory(file, err);
  if (columns->has_time) columns->channel[columns->count++] = -1;
  for (int g = 0; g < c->groups; g++) {
    const od_mdf_group *group = &c->group[g];
    if (columns->has_time && columns->time_of[g] < 0) {
      if (group->channels > 0 &&
          od_mdf_remark(c, memory, "group '%.100s' is left out: it has no times", columns->label[g]) != OD_OK)
        return no_memory(file, err);
      continue;
    }
    for (int i = group->first; i < group->first + group->channels; i++)
      if (!columns->has_time || i != columns->time_of[g]) columns->channel[columns->count++] = i;
  }
  return OD_OK;
}

// Returns whether a channel of the times has the name of the requested time column.
static bool has_time_named(const od_mdf_contents *c, const od_mdf_columns *columns, const char *name) {
  for (int g = 0; name && g < c->groups; g++)
    if (columns->time_of[g] >= 0 && strcmp(c->channel[columns->time_of[g]].name, name) == 0) return true;
  return false;
}

// Adds a message that a channel contains texts. Returns false if an allocation fails.
static bool add_flaw(const od_mdf_file *file, od_table *head, int column) {
  head->places.flaw[column] = od_arena_format(&head->arena, "%s: channel '%.100s' contains texts; expected numbers",
                                              file->path, head->name[column]);
  return head->places.flaw[column] != NULL;
}

od_status od_mdf_columns_choose(const od_mdf_file *file, od_mdf_contents *contents, const od_table_wish *wish,
                                od_arena *memory, od_mdf_columns *columns, od_error *err) {
  OD_SCRATCH(scratch);
  *columns = (od_mdf_columns){0};
  columns->time_of = find_times(contents, memory, &columns->has_time);
  if (!columns->time_of || !label_groups(contents, columns, memory)) return no_memory(file, err);
  od_status status = choose_channels(file, contents, columns, memory, err);
  if (status != OD_OK) return status;
  if (columns->count == 0)
    return od_fail(err, OD_BAD_INPUT, "%s has no channels that can be read; expected at least one channel of numbers",
                   file->path);
  const char **name = OD_TAKE(&scratch, const char *, columns->count);
  columns->head = od_table_new(columns->count);
  if (!name || !columns->head) return no_memory(file, err);
  if (columns->has_time) name[0] = has_time_named(contents, columns, wish->time) ? wish->time : "time";
  if (!choose_names(contents, columns, name, memory)) return no_memory(file, err);
  od_table *head = columns->head;
  head->places.flaw = OD_TAKE(&head->arena, const char *, columns->count);
  if (!head->places.flaw) return no_memory(file, err);
  for (int i = 0; i < columns->count; i++) {
    const od_mdf_channel *c = columns->channel[i] >= 0 ? &contents->channel[columns->channel[i]] : NULL;
    if (od_table_label(head, i, name[i], c ? c->unit : "s") != OD_OK) return no_memory(file, err);
    if (c && c->is_text && !add_flaw(file, head, i)) return no_memory(file, err);
  }
  return OD_OK;
}
