#include "report/page_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/page.h"

enum { MOST_COLUMNS = 24, MOST_ROWS = 1000 };  // limits that keep a page readable

static void add_row(od_page *p, const od_result_table *t, const od_result_row *row) {
  bool is_first = true;
  for (int i = 0; i < t->columns; i++) {
    const od_shown_cell *cell = &row->cell[i];
    if (!t->column[i].heading) continue;
    if (is_first)
      od_page_row(p, cell->text);
    else if (t->column[i].kind == OD_CELL_HEAT)
      od_page_heat_cell(p, cell->heat);
    else
      od_page_cell(p, cell->is_marked, cell->text);
    is_first = false;
  }
}

static void add_table(od_page *p, const od_result_table *t) {
  od_page_column columns[MOST_COLUMNS];
  int count = 0;
  long rows = 0;
  if (!t || !t->first) return;
  for (int i = 0; i < t->columns && count < MOST_COLUMNS; i++) {
    od_cell_kind kind = t->column[i].kind;
    bool words = kind == OD_CELL_TEXT || kind == OD_CELL_CODE || kind == OD_CELL_UNIT || kind == OD_CELL_REMARK;
    if (t->column[i].heading) columns[count++] = (od_page_column){t->column[i].heading, words};
  }
  od_page_table_begin(p, columns, count);
  for (const od_result_row *row = t->first; row; row = row->next)
    if (rows++ < MOST_ROWS) add_row(p, t, row);
  od_page_table_end(p);
  if (rows > MOST_ROWS) od_page_text(p, "The page shows the first %d of %ld rows.", MOST_ROWS, rows);
}

// Severities of remarks, as classes of the style sheet.
static const char *const severities[] = {[OD_SOUND] = "note", [OD_DOUBTFUL] = "warning", [OD_UNSOUND] = "serious"};

// Returns the text after a lead with a colon as a separate sentence: with a capital letter, if all characters of the first word are
// lower-case letters.
static const char *sentence(const char *text, od_arena *arena) {
  size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz");
  if (word == 0 || text[word] != ' ') return text;
  char *out = od_arena_text(arena, text);
  if (out) *out = (char)(*out - 'a' + 'A');
  return out ? out : text;
}

// Adds a finding. The title is the lead without its colon.
static void add_finding(od_page *p, od_trust trust, const char *code, const char *lead, const char *text) {
  OD_SCRATCH(scratch);
  char title[200];
  size_t length = strlen(lead);
  if (length > 0 && lead[length - 1] == ':') {
    text = sentence(text, &scratch);
    length--;
  }
  snprintf(title, sizeof title, "%.*s", (int)(length < sizeof title ? length : sizeof title - 1), lead);
  od_page_add_finding(p, &(od_page_finding){.severity = severities[trust],
                                            .title = title,
                                            .text = text,
                                            .code = code,
                                            .from = NAN,
                                            .to = NAN,
                                            .at = NAN});
}

static double time_in(const json_t *finding, const char *key) {
  const json_t *value = json_object_get(finding, key);
  return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static const char *text_in(const json_t *finding, const char *key) {
  return json_string_value(json_object_get(finding, key));
}

// Adds the findings of a run, which are data of the result.
static void add_run_findings(od_page *p, const json_t *list, const char *severity, double length) {
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *f = json_array_get(list, i);
    const char *own = text_in(f, "severity");
    if (!own || strcmp(own, severity) != 0) continue;
    od_page_add_finding(p, &(od_page_finding){.severity = severity,
                                              .title = text_in(f, "title"),
                                              .text = text_in(f, "text"),
                                              .code = text_in(f, "code"),
                                              .owner = text_in(f, "owner"),
                                              .output = text_in(f, "output"),
                                              .from = time_in(f, "from"),
                                              .to = time_in(f, "to"),
                                              .at = time_in(f, "at"),
                                              .length = length});
  }
}

// Returns the verdict that pages show. NULL: no verdict.
static const od_view_item *verdict_of(const od_result *r) {
  for (const od_view_item *item = r->first; item; item = item->next)
    if (item->kind == OD_VIEW_VERDICT && item->audience != OD_FOR_TERMINAL) return item;
  return NULL;
}

// Adds the verdict to the header, with its explanation: "doubtful (explanation)".
static void add_verdict(od_page *p, const od_result *r, const od_view_item *item) {
  char text[300] = "";
  const char *meaning = strchr(item->text, '(');
  if (r->accuracy_text)
    snprintf(text, sizeof text, "%s", r->accuracy_text);
  else if (meaning)
    snprintf(text, sizeof text, "%.*s", (int)strlen(meaning) - 2, meaning + 1);
  od_page_verdict(p, item->verdict->trust, text);
}

// Returns whether an item belongs to the findings of a page, which have a place of their own: warnings, and the findings of the sections
// "Findings" and "Verdict". *section: the title of the current section.
static bool is_finding(const od_view_item *item, const char **section) {
  if (item->kind == OD_VIEW_SECTION) *section = item->text;
  if (item->audience == OD_FOR_TERMINAL) return false;
  if (item->kind == OD_VIEW_NOTICE && item->trust != OD_SOUND) return true;
  if (!*section) return false;
  if (strcmp(*section, "Findings") != 0 && strcmp(*section, "Verdict") != 0) return false;
  return item->kind == OD_VIEW_FINDING || item->kind == OD_VIEW_NOTICE;
}

// Copies a list of the result's data to the data of the page.
static void copy_field(od_page *p, const od_result *r, const char *key) {
  json_t *list = json_object_get(r->data, key);
  if (json_array_size(list) > 0) od_page_data_set(od_page_get_data(p), key, json_incref(list));
}

// Returns whether a list of findings has a code. Remarks with the same code are about the same fact.
static bool has_code(const json_t *found, const char *code) {
  for (size_t i = 0; code && i < json_array_size(found); i++) {
    const char *other = json_string_value(json_object_get(json_array_get(found, i), "code"));
    if (other && strcmp(other, code) == 0) return true;
  }
  return false;
}

// Adds the remarks of the verdict and the findings of the result, worst first. A remark that the findings of the run
// repeat with an interval and an output is omitted.
static void add_findings(od_page *p, const od_result *r) {
  const od_view_item *verdict = verdict_of(r);
  const od_verdict *v = verdict ? verdict->verdict : NULL;
  const json_t *found = json_object_get(r->data, "findings");
  double length = time_in(r->data, "time");
  if (verdict) add_verdict(p, r, verdict);
  for (int trust = OD_UNSOUND; trust >= OD_SOUND; trust--) {
    const char *section = NULL;
    for (int i = 0; v && i < v->count; i++)
      if ((int)v->remark[i].trust == trust && !has_code(found, v->remark[i].code))
        add_finding(p, v->remark[i].trust, v->remark[i].code, v->remark[i].lead, v->remark[i].text);
    for (const od_view_item *item = r->first; item; item = item->next)
      if (is_finding(item, &section) && (int)item->trust == trust)
        add_finding(p, item->trust, NULL, item->lead, item->text);
    add_run_findings(p, found, severities[trust], length);
  }
  add_run_findings(p, found, "good", length);
  copy_field(p, r, "phases");
  copy_field(p, r, "events");
}

od_status od_page_write_result(const od_result *r, const char *path, od_error *err) {
  OD_OWNED(od_page_free) od_page *p = od_page_new(r->kind, r->title);
  if (!p || !od_result_is_complete(r)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (r->subtitle) od_page_subtitle(p, r->subtitle);
  add_findings(p, r);
  const char *section = NULL;
  for (const od_view_item *item = r->first; item; item = item->next) {
    if (is_finding(item, &section) || item->audience == OD_FOR_TERMINAL) continue;
    switch (item->kind) {
      case OD_VIEW_SECTION: od_page_section(p, item->text); break;
      case OD_VIEW_HEADING: od_page_heading(p, item->text); break;
      case OD_VIEW_FACT: od_page_fact(p, item->lead, item->text); break;
      case OD_VIEW_LINE: od_page_text(p, "%s", item->text); break;
      case OD_VIEW_CODE: od_page_code(p, item->text); break;
      case OD_VIEW_NOTICE: od_page_notice(p, item->trust, item->lead, item->text); break;
      case OD_VIEW_FINDING: od_page_item(p, item->lead, item->text); break;
      case OD_VIEW_TABLE: add_table(p, item->table); break;
      case OD_VIEW_FIGURES: item->draw(p, item->user); break;
      case OD_VIEW_CHARTS:
        od_page_choose_place(p, OD_PLACE_CHARTS);
        item->draw(p, item->user);
        od_page_choose_place(p, OD_PLACE_SECTIONS);
        break;
      case OD_VIEW_VERDICT:
      case OD_VIEW_PICTURE: break;
    }
  }
  return od_page_write(p, path, err);
}
