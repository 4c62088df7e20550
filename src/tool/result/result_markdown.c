// The view of a result as a page of Markdown: sections and headings, facts and findings as lists, tables, pictures.
#include <stdio.h>
#include <string.h>

#include "result/result.h"

// Writes a text with a backslash before each special character of Markdown.
static void put_text(const char *text, const char *special, FILE *to) {
  for (; *text; text++) fprintf(to, strchr(special, *text) ? "\\%c" : "%c", *text);
}

// Writes a cell. Vertical bars are escaped, because a bar would end the cell.
static void put_cell(const od_result_column *c, const char *text, FILE *to) {
  bool is_code = c->kind == OD_CELL_CODE && *text;
  fputs(is_code ? " `" : " ", to);
  put_text(text, is_code ? "|" : "|*", to);
  fputs(is_code ? "` |" : " |", to);
}

// Writes `before`, the lead, `between`, the text and a line end.
static void put_line(const char *before, const char *lead, const char *between, const char *text, FILE *to) {
  fputs(before, to);
  put_text(lead, "*", to);
  fputs(between, to);
  put_text(text, "*", to);
  fputc('\n', to);
}

static void print_table(const od_result_table *t, FILE *to) {
  if (!t || !t->first) return;
  fputs("\n|", to);
  for (int i = 0; i < t->columns; i++)
    if (t->column[i].heading) fprintf(to, " %s |", t->column[i].heading);
  fputs("\n|", to);
  for (int i = 0; i < t->columns; i++)
    if (t->column[i].heading) fputs("---|", to);
  fputs("\n", to);
  for (const od_result_row *row = t->first; row; row = row->next) {
    fputs("|", to);
    for (int i = 0; i < t->columns; i++)
      if (t->column[i].heading) put_cell(&t->column[i], row->cell[i].text, to);
    fputs("\n", to);
  }
}

void od_result_print_markdown(const od_result *r, FILE *to) {
  od_view_kind before = OD_VIEW_SECTION;
  fprintf(to, "# %s\n", r->title);
  for (const od_view_item *item = r->first; item; item = item->next) {
    if (item->audience == OD_FOR_TERMINAL) continue;
    bool is_first = item->kind != before;  // whether the item is the first of a list
    before = item->kind;
    switch (item->kind) {
      case OD_VIEW_FIGURES:
      case OD_VIEW_CHARTS: break;
      case OD_VIEW_SECTION: fprintf(to, "\n## %s\n", item->text); break;
      case OD_VIEW_HEADING: fprintf(to, "\n### %s\n", item->text); break;
      case OD_VIEW_FACT: put_line(is_first ? "\n- " : "- ", item->lead, ": ", item->text, to); break;
      case OD_VIEW_FINDING: put_line(is_first ? "\n- **" : "- **", item->lead, "** ", item->text, to); break;
      case OD_VIEW_LINE: put_line("\n", "", "", item->text, to); break;
      case OD_VIEW_CODE: fprintf(to, "\n```\n%s```\n", item->text); break;
      case OD_VIEW_NOTICE: put_line("\n**", item->lead, "** ", item->text, to); break;
      case OD_VIEW_TABLE: print_table(item->table, to); break;
      case OD_VIEW_PICTURE: fprintf(to, "\n![%s](%s)\n", item->lead, item->text); break;
      case OD_VIEW_VERDICT: fprintf(to, "\nVerdict: %s\n", item->text); break;
    }
  }
}
