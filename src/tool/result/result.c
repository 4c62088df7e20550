#include "result/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/json.h"
#include "io/utf8.h"

od_result od_result_new(const char *kind, const char *title) {
  od_result r = {.kind = kind, .title = title, .data = json_object()};
  r.is_short_of_memory = !r.data;
  return r;
}

void od_result_free(od_result *r) {
  json_decref(r->data);
  od_arena_free(&r->arena);
  *r = (od_result){0};
}

bool od_result_is_complete(const od_result *r) {
  return !r->is_short_of_memory;
}

// Allocates zeroed memory that belongs to the result. Returns NULL if an allocation fails.
static void *take(od_result *r, size_t size) {
  void *memory = od_arena_take(&r->arena, size);
  r->is_short_of_memory = r->is_short_of_memory || !memory;
  return memory;
}

static const char *keep(od_result *r, const char *text) {
  const char *kept = od_arena_text(&r->arena, text ? text : "");
  r->is_short_of_memory = r->is_short_of_memory || !kept;
  return kept;
}

od_result od_result_give(od_result *r) {
  od_result given = *r;
  given.kind = keep(&given, r->kind);
  given.title = keep(&given, r->title);
  for (od_view_item *item = given.first; item; item = item->next) item->draw = NULL, item->user = NULL;
  *r = (od_result){0};
  return given;
}

// --- Data -------------------------------------------------------------------------------------------------------------

static void set(od_result *r, json_t *object, const char *key, json_t *value) {
  if (!value || json_object_set_new(object, key, value) != 0) r->is_short_of_memory = true;
}

void od_result_set(od_result *r, const char *key, json_t *value) {
  set(r, r->data, key, value);
}

void od_result_number(od_result *r, const char *key, double si) {
  set(r, r->data, key, od_json_number(si));
}

void od_result_whole(od_result *r, const char *key, long value) {
  set(r, r->data, key, json_integer(value));
}

void od_result_flag(od_result *r, const char *key, bool value) {
  set(r, r->data, key, json_boolean(value));
}

void od_result_text(od_result *r, const char *key, const char *text) {
  set(r, r->data, key, od_json_text(text));
}

// --- View -------------------------------------------------------------------------------------------------------------

static od_view_item *add_item(od_result *r, od_view_kind kind) {
  od_view_item *item = take(r, sizeof *item);
  if (!item) return NULL;
  item->kind = kind;
  item->audience = r->audience;
  *(r->last ? &r->last->next : &r->first) = item;
  return r->last = item;
}

static od_view_item *add_text(od_result *r, od_view_kind kind, const char *lead, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  size_t size = (size_t)vsnprintf(NULL, 0, format, again) + 1;
  va_end(again);
  od_view_item *item = add_item(r, kind);
  char *text = item ? take(r, size) : NULL;
  if (!text) return NULL;
  vsnprintf(text, size, format, args);
  item->lead = keep(r, lead);
  item->text = text;
  return item;
}

void od_result_audience(od_result *r, od_audience audience) {
  r->audience = audience;
}

void od_result_section(od_result *r, const char *title) {
  od_view_item *item = add_item(r, OD_VIEW_SECTION);
  if (item) item->text = keep(r, title);
}

void od_result_heading(od_result *r, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add_text(r, OD_VIEW_HEADING, "", format, args);
  va_end(args);
}

void od_result_fact(od_result *r, const char *name, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add_text(r, OD_VIEW_FACT, name, format, args);
  va_end(args);
}

void od_result_line(od_result *r, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add_text(r, OD_VIEW_LINE, "", format, args);
  va_end(args);
}

void od_result_code(od_result *r, const char *lines) {
  od_view_item *item = add_item(r, OD_VIEW_CODE);
  if (item) item->text = keep(r, lines);
}

void od_result_finding(od_result *r, od_trust trust, const char *lead, const char *format, ...) {
  va_list args;
  va_start(args, format);
  od_view_item *item = add_text(r, OD_VIEW_FINDING, lead, format, args);
  if (item) item->trust = trust;
  va_end(args);
}

void od_result_notice(od_result *r, od_trust trust, const char *lead, const char *format, ...) {
  va_list args;
  va_start(args, format);
  od_view_item *item = add_text(r, OD_VIEW_NOTICE, lead, format, args);
  if (item) item->trust = trust;
  va_end(args);
}

void od_result_picture(od_result *r, const char *name, const char *path) {
  od_view_item *item = add_item(r, OD_VIEW_PICTURE);
  if (!item) return;
  item->lead = keep(r, name);
  item->text = keep(r, path);
}

static void add_drawing(od_result *r, od_view_kind kind, od_draw_figures *draw, const void *user) {
  od_view_item *item = add_item(r, kind);
  if (!item) return;
  item->draw = draw;
  item->user = user;
}

void od_result_figures(od_result *r, od_draw_figures *draw, const void *user) {
  add_drawing(r, OD_VIEW_FIGURES, draw, user);
}

void od_result_charts(od_result *r, od_draw_figures *draw, const void *user) {
  add_drawing(r, OD_VIEW_CHARTS, draw, user);
}

void od_result_subtitle(od_result *r, const char *text) {
  r->subtitle = keep(r, text);
}

void od_result_accuracy_text(od_result *r, const char *text) {
  r->accuracy_text = keep(r, text);
}

void od_result_warnings(od_result *r, const od_verdict *remarks) {
  json_t *list = json_array();
  for (int i = 0; i < remarks->count; i++) {
    const od_remark *remark = &remarks->remark[i];
    if (json_array_append_new(list, od_json_text(remark->text)) != 0) r->is_short_of_memory = true;
    od_result_notice(r, remark->trust, remark->lead, "%s", remark->text);
  }
  od_result_set(r, "warnings", list);
}

// Copies a verdict into the arena of the result. Returns NULL if an allocation fails now or failed before.
static const od_verdict *copy_verdict(od_result *r, const od_verdict *v) {
  od_verdict *copy = take(r, sizeof *copy);
  od_remark *remark = copy ? take(r, (size_t)v->count * sizeof *remark + 1) : NULL;
  if (!remark) return NULL;
  *copy = (od_verdict){.trust = v->trust, .remark = remark, .count = v->count};
  for (int i = 0; i < v->count; i++) {
    remark[i] = v->remark[i];
    remark[i].lead = od_arena_text(&r->arena, v->remark[i].lead);
    remark[i].text = od_arena_text(&r->arena, v->remark[i].text);
    r->is_short_of_memory = r->is_short_of_memory || !remark[i].lead || !remark[i].text;
  }
  return r->is_short_of_memory ? NULL : copy;
}

void od_result_verdict(od_result *r, const od_verdict *v) {
  const char *const meanings[] = {
      [OD_SOUND] = NULL,
      [OD_DOUBTFUL] = r->doubtful_means ? r->doubtful_means : "the result may be inaccurate or incomplete",
      [OD_UNSOUND] = "the result must not be used"};
  const char *word = od_trust_text(v->trust), *meaning = meanings[v->trust];
  const od_verdict *copy = copy_verdict(r, v);
  od_view_item *item = copy ? add_item(r, OD_VIEW_VERDICT) : NULL;
  if (item) {
    item->verdict = copy;
    item->text = meaning ? od_arena_format(&r->arena, "%s (%s)", word, meaning) : keep(r, word);
  }
  od_result_set(r, "verdict", od_verdict_json(v));
}

// --- Tables -----------------------------------------------------------------------------------------------------------

// Returns the list or the object under a key. If the key does not exist, adds an empty list or object.
static json_t *rows_of(od_result *r, const char *key, json_t *(*make)(void)) {
  json_t *rows = json_object_get(r->data, key);
  if (!rows) od_result_set(r, key, rows = make());
  return rows;
}

od_result_table *od_result_add_table(od_result *r, const char *key, const od_result_column *columns, int count) {
  return od_result_add_table_to(r, key ? rows_of(r, key, json_array) : NULL, columns, count);
}

od_result_table *od_result_add_map(od_result *r, const char *key, const od_result_column *columns, int count) {
  return od_result_add_table_to(r, rows_of(r, key, json_object), columns, count);
}

od_result_table *od_result_add_table_to(od_result *r, json_t *rows, const od_result_column *columns, int count) {
  od_view_item *item = add_item(r, OD_VIEW_TABLE);
  od_result_table *t = item ? take(r, sizeof *t) : NULL;
  od_result_column *column = t ? take(r, (size_t)count * sizeof *column) : NULL;
  int *width = column ? take(r, (size_t)count * sizeof *width) : NULL;
  if (!width) return NULL;
  for (int i = 0; i < count; i++) {
    column[i] = columns[i];
    if (columns[i].kind == OD_CELL_REMARK && !columns[i].heading) column[i].heading = "";
    if (column[i].heading) {
      column[i].heading = keep(r, column[i].heading);
      width[i] = column[i].heading ? od_utf8_width(column[i].heading) : 0;
    }
  }
  *t = (od_result_table){.result = r, .column = column, .width = width, .columns = count, .rows = rows};
  item->table = t;
  return t;
}

// Fills the cell of the next column with its text and adds its value to the data. Takes ownership of the value.
static void fill(od_result_table *t, const char *text, json_t *value) {
  int i = t->filled++;
  if (i == 0 && json_is_object(t->rows)) {
    t->row = json_object();
    set(t->result, t->rows, text, t->row);
  }
  if (t->row && t->column[i].key)
    set(t->result, t->row, t->column[i].key, value);
  else
    json_decref(value);
  const char *kept = t->column[i].heading ? keep(t->result, text) : NULL;
  if (!kept) return;
  int width = od_utf8_width(kept);
  if (width > t->width[i]) t->width[i] = width;
  t->last->cell[i].text = kept;
}

// Fills columns of units, for which callers add no cells.
static void fill_units(od_result_table *t) {
  while (t->filled < t->columns && t->column[t->filled].kind == OD_CELL_UNIT)
    fill(t, t->shown.unit, od_json_text(t->si));
}

void od_result_add_row(od_result_table *t, const char *si, double size) {
  if (!t) return;
  od_result_row *row = take(t->result, sizeof *row);
  od_shown_cell *cell = row ? take(t->result, (size_t)t->columns * sizeof *cell) : NULL;
  if (!cell) return;
  for (int i = 0; i < t->columns; i++) cell[i].text = "";
  row->cell = cell;
  *(t->last ? &t->last->next : &t->first) = row;
  t->last = row;
  t->filled = 0;
  t->si = si;
  t->shown = si ? od_display_unit(si, size) : (od_display){"", 1};
  t->row = json_is_array(t->rows) ? json_object() : NULL;
  if (t->row && json_array_append_new(t->rows, t->row) != 0) t->result->is_short_of_memory = true;
  fill_units(t);
}

void od_result_begin_group(od_result_table *t) {
  if (t && t->last) t->last->begins_group = true;
}

static bool has_cell(const od_result_table *t) {
  return t && t->last && t->filled < t->columns;
}

void od_result_cell_text(od_result_table *t, const char *text) {
  if (!has_cell(t)) return;
  fill(t, text, od_json_text(text));
  fill_units(t);
}

void od_result_cell(od_result_table *t, double value) {
  if (!has_cell(t)) return;
  const od_result_column *c = &t->column[t->filled];
  char text[OD_NUMBER_SIZE] = "-";
  double shown = c->kind == OD_CELL_NUMBER ? value * t->shown.factor : value;
  if (c->kind == OD_CELL_HEAT) t->last->cell[t->filled].heat = value;
  if (!isnan(value) && c->kind == OD_CELL_WHOLE)
    snprintf(text, sizeof text, "%.0f", value);
  else if (!isnan(value) && c->decimals > 0)
    od_number_fixed(text, shown, c->decimals);
  else if (!isnan(value))
    od_number_round(text, shown, c->digits > 0 ? c->digits : 6);
  od_result_cell_shown(t, value, text);
}

void od_result_cell_shown(od_result_table *t, double value, const char *text) {
  if (!has_cell(t)) return;
  bool is_whole = t->column[t->filled].kind == OD_CELL_WHOLE && !isnan(value);
  fill(t, text, is_whole ? json_integer((json_int_t)value) : od_json_number(value));
  fill_units(t);
}

void od_result_cell_value(od_result_table *t, double value, double uncertainty) {
  if (!has_cell(t)) return;
  char text[OD_NUMBER_SIZE];
  od_display_value(text, value * t->shown.factor, uncertainty * t->shown.factor);
  fill(t, text, od_json_number(value));
  fill_units(t);
}

void od_result_cell_uncertainty(od_result_table *t, double uncertainty) {
  if (!has_cell(t)) return;
  char text[OD_NUMBER_SIZE] = "-";
  if (isfinite(uncertainty)) od_display_uncertainty(text, uncertainty * t->shown.factor);
  fill(t, text, od_json_number(uncertainty));
  fill_units(t);
}

void od_result_mark(od_result_table *t, bool is_marked) {
  if (t && t->last && t->filled > 0) t->last->cell[t->filled - 1].is_marked = is_marked;
}

void od_result_row_set(od_result_table *t, const char *key, json_t *value) {
  if (t && t->row)
    set(t->result, t->row, key, value);
  else
    json_decref(value);
}
