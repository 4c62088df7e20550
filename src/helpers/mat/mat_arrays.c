#include "mat/mat_arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/table.h"
#include "io/wording.h"

enum { MOST_COLUMNS = 100000 };

od_array *od_arrays_add(od_arrays *a, const char *name, size_t rows, size_t columns) {
  if (a->count >= OD_ARRAYS_MOST) return NULL;
  od_array *list = od_arena_extend(a->arena, a->item, a->count, sizeof *list);
  if (!list) return NULL;
  a->item = list;
  od_array *added = &a->item[a->count++];
  *added = (od_array){.rows = rows, .columns = columns};
  snprintf(added->name, sizeof added->name, "%s", name);
  return added;
}

bool od_arrays_shape(const size_t *dimension, int rank, size_t *rows, size_t *columns, int at[2]) {
  int unused[2];
  if (!at) at = unused;
  *rows = rank > 0 ? dimension[0] : 0;
  *columns = 1;
  at[0] = rank > 0 ? 0 : -1, at[1] = -1;
  for (int i = 1; i < rank; i++) {
    if (dimension[i] == 1) continue;
    if (*columns != 1 && *rows != 1) return false;
    if (*columns != 1) *rows = *columns, at[0] = at[1];
    *columns = dimension[i], at[1] = i;
  }
  return *rows > 0 && *columns > 0;
}

bool od_array_is_vector(const od_array *a) {
  return a->rows == 1 || a->columns == 1;
}

// --- The length ---------------------------------------------------------------------------------------------------

// Returns whether an array has a column with this label; loose: whether a label that ends with the text suffices.
static bool has_label(const od_array *a, const char *text, bool loose) {
  for (size_t k = 0; a->label && k < a->columns; k++)
    if (loose ? od_name_ends_in(a->label[k], text) : !strcmp(a->label[k], text)) return true;
  return false;
}

// Returns the length of the vector, column or row with a name such as "p", "X(:,2)" or "Xt(3,:)"; 0: there is none. If no array has
// this name, uses an array whose name ends with this name.
static size_t named_length(const od_arrays *list, const char *text) {
  char base[OD_ARRAY_NAME];
  unsigned long index;
  int end = 0;
  if (snprintf(base, sizeof base, "%s", text) >= (int)sizeof base) return 0;
  char *open = strrchr(base, '(');
  bool column = open && sscanf(open, "(:,%lu)%n", &index, &end) == 1 && end > 0 && !open[end];
  bool row = open && !column && (end = 0, sscanf(open, "(%lu,:)%n", &index, &end) == 1) && end > 0 && !open[end];
  if (column || row) *open = '\0';
  for (int loose = 0; loose < 2; loose++)
    for (int i = 0; i < list->count; i++) {
      const od_array *a = &list->item[i];
      if (has_label(a, text, loose)) return a->rows;
      if (loose ? !od_name_ends_in(a->name, base) : strcmp(a->name, base) != 0) continue;
      if (column && index >= 1 && index <= a->columns) return a->rows;
      if (row && index >= 1 && index <= a->rows) return a->columns;
      if (!column && !row && od_array_is_vector(a)) return a->rows * a->columns;
    }
  return 0;
}

// Returns the length of the vector whose name is most similar to a name of time, or else of the vector that the file marks as the
// time; 0: no such vector.
static size_t length_of_time(const od_arrays *list) {
  size_t found = 0, marked = 0;
  for (int i = 0, best = 0; i < list->count; i++) {
    const od_array *a = &list->item[i];
    bool can_be = od_array_is_vector(a) && a->rows * a->columns > 1 && !a->flaw;
    int likeness = can_be ? od_name_is_time(a->name) : 0;
    if (likeness > best) best = likeness, found = a->rows * a->columns;
    if (can_be && a->is_time && marked == 0) marked = a->rows * a->columns;
  }
  return found > 0 ? found : marked;
}

static int by_length(const void *a, const void *b) {
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

// Returns the most frequent length of the longer side of all arrays of numbers except scalars. If two lengths are equally frequent,
// returns the greater length.
static size_t usual_length(const od_arrays *list) {
  size_t *length = OD_TAKE(list->arena, size_t, list->count), best = 1;
  if (!length) return 0;
  int votes = 0;
  for (int i = 0; i < list->count; i++) {
    const od_array *a = &list->item[i];
    size_t longer = a->rows > a->columns ? a->rows : a->columns;
    if (longer > 1 && !a->flaw) length[votes++] = longer;
  }
  qsort(length, (size_t)votes, sizeof *length, by_length);
  for (int i = 0, most = 0, same = 0; i < votes; i++) {
    same = i > 0 && length[i] == length[i - 1] ? same + 1 : 1;
    if (same >= most) most = same, best = length[i];
  }
  return best;
}

static size_t choose_length(const od_arrays *list, const od_mat_wish *wish) {
  size_t length = wish->time[0] ? named_length(list, wish->time) : 0;
  if (length == 0 && !wish->no_time) length = length_of_time(list);
  for (int i = 0; length <= 1 && i < wish->count; i++) length = named_length(list, wish->columns[i]);
  return length > 1 ? length : usual_length(list);
}

// --- The columns --------------------------------------------------------------------------------------------------

// Adds a column to the list c. If memory runs out, the arena records the failure.
static void choose(od_series_list *c, od_arena *arena, od_series s) {
  if (c->count >= MOST_COLUMNS) return;
  od_series *list = od_arena_extend(arena, c->item, c->count, sizeof *list);
  if (!list) return;
  c->item = list;
  c->item[c->count++] = s;
}

// Chooses all vectors, columns and rows of the length c->rows.
static void choose_all(const od_arrays *list, od_series_list *c) {
  for (int i = 0; i < list->count; i++) {
    const od_array *a = &list->item[i];
    if (a->flaw ? a->rows == 0 || a->rows == c->rows : od_array_is_vector(a) && a->rows * a->columns == c->rows)
      choose(c, list->arena, (od_series){.array = a});
    if (a->flaw || od_array_is_vector(a)) continue;
    for (size_t k = 0; a->rows == c->rows && k < a->columns && k < MOST_COLUMNS; k++)
      choose(c, list->arena, (od_series){a, k, false});
    for (size_t k = 0; a->columns == c->rows && k < a->rows && k < MOST_COLUMNS; k++)
      choose(c, list->arena, (od_series){a, k, true});
  }
}

// Returns the flaw of an array without rows that a name refers to, or NULL if there is no such array. For example, "ts", "ts.Data"
// and "ts(2)" refer to the array "ts".
static const char *flaw_of(const od_arrays *list, const char *text) {
  for (int i = 0; i < list->count; i++) {
    const od_array *a = &list->item[i];
    size_t n = strlen(a->name);
    if (a->flaw && a->rows == 0 && !strncmp(text, a->name, n) && (!text[n] || strchr(".({", text[n]))) return a->flaw;
  }
  return NULL;
}

od_status od_series_select(const od_arrays *list, const od_mat_wish *wish, od_series_list *out, od_error *err) {
  *out = (od_series_list){.rows = choose_length(list, wish)};
  for (int i = -1; i < wish->count; i++) {
    const char *name = i < 0 ? wish->time : wish->columns[i];
    size_t own = name[0] ? named_length(list, name) : 0;
    const char *flaw = name[0] && own == 0 ? flaw_of(list, name) : NULL;
    if (flaw) return od_fail(err, OD_BAD_INPUT, "%s", flaw);
    if (i >= 0 && own != 0 && own != out->rows)
      return od_fail(err, OD_BAD_INPUT, "'%.100s' has %s, but the log has %s; expected equal lengths", name,
                     od_count((long long)own, "value").text, od_count((long long)out->rows, "row").text);
  }
  choose_all(list, out);
  return od_arena_status(list->arena);
}

void od_series_describe(const od_series *s, od_series_label *to) {
  const od_array *a = s->array;
  const char *unit = a->own_unit ? a->own_unit[s->index] : a->unit;
  if (a->label && !s->is_row && s->index < a->columns)
    snprintf(to->name, sizeof to->name, "%s", a->label[s->index]);
  else if (a->flaw || od_array_is_vector(a))
    snprintf(to->name, sizeof to->name, "%s", a->name);
  else
    snprintf(to->name, sizeof to->name, s->is_row ? "%s(%zu,:)" : "%s(:,%zu)", a->name, s->index + 1);
  snprintf(to->unit, sizeof to->unit, "%s", unit && !(s->is_row && a->own_unit) ? unit : "");
  for (char *c = to->name; *c; c++)
    if ((unsigned char)*c < ' ') *c = '?';
  for (char *c = to->unit; *c; c++)
    if ((unsigned char)*c < ' ') *c = '?';
}

int od_series_time(const od_series_list *s, const od_series_label *label) {
  int found = -1;
  for (int i = 0; i < s->count; i++) {
    if (s->item[i].array->flaw) continue;
    if (od_name_is_time(label[i].name)) return -1;
    if (s->item[i].array->is_time && found < 0) found = i;
  }
  return found;
}

void od_series_put_head(od_channel *to, const od_series_list *s, const od_series_label *label, const char *start_time) {
  od_channel_put_number(to, OD_HELPER_TABLE);
  od_channel_put_number(to, (uint64_t)s->count);
  od_channel_put_number(to, s->rows);
  od_channel_put_number(to, (uint64_t)(od_series_time(s, label) + 1));
  od_channel_put_text(to, start_time && strlen(start_time) < OD_HELPER_TEXT ? start_time : "");
  for (int i = 0; i < s->count; i++) {
    const char *flaw = s->item[i].array->flaw;
    od_channel_put_text(to, label[i].name);
    od_channel_put_text(to, label[i].unit);
    od_channel_put_text(to, flaw && strlen(flaw) < OD_HELPER_TEXT ? flaw : flaw ? "has no numbers" : "");
  }
}
