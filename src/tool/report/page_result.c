#include "report/page_result.h"

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

static void add_verdict(od_page *p, const od_view_item *item) {
  const od_verdict *v = item->verdict;
  char text[200];
  snprintf(text, sizeof text, "%s.", item->text);
  od_page_notice(p, v->trust, "Verdict:", text);
  for (int i = 0; i < v->count; i++) od_page_notice(p, v->remark[i].trust, v->remark[i].lead, v->remark[i].text);
}

od_status od_page_write_result(const od_result *r, const char *path, od_error *err) {
  OD_OWNED(od_page_free) od_page *p = od_page_new(r->kind, r->title);
  if (!p || !od_result_is_complete(r)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (const od_view_item *item = r->first; item; item = item->next) {
    if (item->audience == OD_FOR_TERMINAL) continue;
    switch (item->kind) {
      case OD_VIEW_SECTION: od_page_section(p, item->text); break;
      case OD_VIEW_HEADING: od_page_heading(p, item->text); break;
      case OD_VIEW_FACT: od_page_fact(p, item->lead, item->text); break;
      case OD_VIEW_LINE: od_page_text(p, "%s", item->text); break;
      case OD_VIEW_NOTICE: od_page_notice(p, item->trust, item->lead, item->text); break;
      case OD_VIEW_FINDING: od_page_item(p, item->lead, item->text); break;
      case OD_VIEW_TABLE: add_table(p, item->table); break;
      case OD_VIEW_VERDICT: add_verdict(p, item); break;
      case OD_VIEW_FIGURES: item->draw(p, item->user); break;
      case OD_VIEW_PICTURE: break;
    }
  }
  return od_page_write(p, path, err);
}
