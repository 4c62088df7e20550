// The view of a result as text. Each heading or sentence has its own line. An empty line precedes each heading that is not the first
// item. Columns of tables are as wide as their longest cell or heading.
#include <stdio.h>

#include "io/utf8.h"
#include "result/result.h"

static bool is_left_aligned(const od_result_column *c) {
  return c->kind == OD_CELL_TEXT || c->kind == OD_CELL_CODE || c->kind == OD_CELL_UNIT || c->kind == OD_CELL_REMARK;
}

// Prints one row; row NULL: the headings.
static void print_row(const od_result_table *t, const od_result_row *row, FILE *to) {
  int gap = 0;  // number of blanks before the next text, so that no line ends with blanks
  for (int i = 0; i < t->columns; i++) {
    const od_result_column *c = &t->column[i];
    if (!c->heading) continue;
    const char *text = row ? row->cell[i].text : c->heading;
    int blanks = t->width[i] - od_utf8_width(text);
    gap += 2 + (is_left_aligned(c) ? 0 : blanks);
    if (text[0]) {
      fprintf(to, "%*s%s", gap, "", text);
      gap = 0;
    }
    if (is_left_aligned(c)) gap += blanks;
  }
  fputc('\n', to);
}

static void print_table(const od_result_table *t, FILE *to) {
  bool has_headings = false;
  if (!t || !t->first) return;
  for (int i = 0; i < t->columns; i++) has_headings = has_headings || (t->column[i].heading && *t->column[i].heading);
  if (has_headings) print_row(t, NULL, to);
  for (const od_result_row *row = t->first; row; row = row->next) {
    if (row->begins_group) fputc('\n', to);
    print_row(t, row, to);
  }
}

static void print_verdict(const od_view_item *item, FILE *to) {
  const od_verdict *v = item->verdict;
  fprintf(to, "verdict: %s\n", item->text);
  for (int i = 0; i < v->count; i++) fprintf(to, "  %s %s\n", v->remark[i].lead, v->remark[i].text);
}

void od_result_print(const od_result *r, FILE *to, bool is_bold) {
  const char *bold = is_bold ? "\033[1m" : "", *plain = is_bold ? "\033[0m" : "";
  const char *gap = "";
  for (const od_view_item *item = r->first; item; item = item->next) {
    if (item->audience == OD_FOR_PAGE) continue;
    if (item->kind == OD_VIEW_HEADING) fputs(gap, to);
    if (item->kind != OD_VIEW_SECTION) gap = "\n";
    switch (item->kind) {
      case OD_VIEW_SECTION:
      case OD_VIEW_PICTURE:
      case OD_VIEW_FIGURES:
      case OD_VIEW_CHARTS: break;
      case OD_VIEW_HEADING: fprintf(to, "%s%s%s\n", bold, item->text, plain); break;
      case OD_VIEW_FACT: fprintf(to, "%s: %s\n", item->lead, item->text); break;
      case OD_VIEW_LINE: fprintf(to, "%s\n", item->text); break;
      case OD_VIEW_CODE: fputs(item->text, to); break;
      case OD_VIEW_NOTICE: fprintf(to, "%s %s\n", item->lead, item->text); break;
      case OD_VIEW_FINDING: fprintf(to, "  %s %s\n", item->lead, item->text); break;
      case OD_VIEW_TABLE: print_table(item->table, to); break;
      case OD_VIEW_VERDICT: print_verdict(item, to); break;
    }
  }
}
