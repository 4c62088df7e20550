// A result: the findings of a command, added once for every way to show them.
//
// A result has two sides. Its data are named numbers, texts, lists and objects in SI units; JSON is these data as they are. Its view is the
// list of headings, sentences and tables for people, in units of the trade; terminal and page show it item by item. A table and a verdict are
// added to both sides by one call.
//
// All functions accept a result whose memory ran out: they add nothing. od_result_is_complete() reports it.
#ifndef OD_RESULT_RESULT_H
#define OD_RESULT_RESULT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/arena.h"
#include "io/display.h"
#include "io/verdict.h"

#define OD_RESULT_FORMAT(n) __attribute__((format(printf, n, (n) + 1)))

// --- View -------------------------------------------------------------------------------------------------------------

// An item of the view is for all ways of showing, or for one of them.
typedef enum od_audience { OD_FOR_ALL, OD_FOR_TERMINAL, OD_FOR_PAGE } od_audience;

typedef enum od_view_kind {
  OD_VIEW_SECTION,  // goes on until the next one; pages link to it, terminals do not show it
  OD_VIEW_HEADING,
  OD_VIEW_FACT,     // a name and its value
  OD_VIEW_LINE,     // a sentence
  OD_VIEW_FINDING,  // a sentence of a list, after a few words in bold
  OD_VIEW_NOTICE,   // a sentence in a box, after a few words in bold
  OD_VIEW_TABLE,
  OD_VIEW_VERDICT,
  OD_VIEW_FIGURES,  // for pages
  OD_VIEW_PICTURE,  // a file beside a page of Markdown
} od_view_kind;

typedef enum od_cell_kind {
  OD_CELL_TEXT,    // to the left
  OD_CELL_CODE,    // a word of a file, to the left
  OD_CELL_UNIT,    // the unit of the row: SI in the data, the unit of the trade in the view
  OD_CELL_NUMBER,  // in the unit of the row
  OD_CELL_PLAIN,   // a number that is shown as it is
  OD_CELL_WHOLE,
  OD_CELL_HEAT,    // a number from -1 to 1, on a ground of its color in pages
  OD_CELL_REMARK,  // a text behind the last column; its heading is empty
} od_cell_kind;

typedef struct od_result_column {
  const char *key;      // the field of a row's object in the data; NULL: it is in the view alone
  const char *heading;  // NULL: it is in the data alone
  od_cell_kind kind;
  int digits;    // significant digits of numbers in the view; 0: six
  int decimals;  // where larger than 0: so many digits behind the point instead
} od_result_column;

typedef struct od_shown_cell {
  const char *text;  // "": none, or the column is in the data alone
  double heat;       // of OD_CELL_HEAT
  bool is_marked;    // it needs attention
} od_shown_cell;

typedef struct od_result_row {
  struct od_result_row *next;
  od_shown_cell *cell;  // for each column
  bool begins_group;
} od_result_row;

typedef struct od_result_table {
  struct od_result *result;
  od_result_column *column;
  int *width;           // of each column, in characters
  int columns, filled;  // filled: cells of the last row
  od_result_row *first, *last;
  od_display shown;  // the unit of the last row
  const char *si;
  json_t *rows;  // in the data: a list, or an object; NULL: the table is in the view alone
  json_t *row;   // the object of the last row
} od_result_table;

struct od_page;
// Draws figures into a page (report/page.h).
typedef void od_draw_figures(struct od_page *page, const void *user);

typedef struct od_view_item {
  struct od_view_item *next;
  od_view_kind kind;
  od_audience audience;
  od_trust trust;    // of a finding or a notice: OD_SOUND, or it is a warning
  const char *lead;  // the name of a fact or a picture; the words before a finding or a notice
  const char *text;
  od_result_table *table;
  const od_verdict *verdict;
  od_draw_figures *draw;
  const void *user;
} od_view_item;

// --- Result -----------------------------------------------------------------------------------------------------------

typedef struct od_result {
  const char *kind, *title;  // above a page: "Simulation report", and the machine
  od_arena arena;
  json_t *data;  // an object
  od_view_item *first, *last;
  od_audience audience;  // of the items that are added next
  bool is_short_of_memory;
} od_result;

// kind and title must live as long as the result.
od_result od_result_new(const char *kind, const char *title);
void od_result_free(od_result *r);
// Whether everything was added.
bool od_result_is_complete(const od_result *r);

// Fields of the data. od_result_set() takes over the value.
void od_result_set(od_result *r, const char *key, json_t *value);
void od_result_number(od_result *r, const char *key, double si);
void od_result_whole(od_result *r, const char *key, long value);
void od_result_flag(od_result *r, const char *key, bool value);
void od_result_text(od_result *r, const char *key, const char *text);  // NULL: null

// Items of the view, for the audience that was chosen last.
void od_result_audience(od_result *r, od_audience audience);
void od_result_section(od_result *r, const char *title);
void od_result_heading(od_result *r, const char *format, ...) OD_RESULT_FORMAT(2);
void od_result_fact(od_result *r, const char *name, const char *format, ...) OD_RESULT_FORMAT(3);
void od_result_line(od_result *r, const char *format, ...) OD_RESULT_FORMAT(2);
// What is not OD_SOUND is a warning on standard error where no view is shown.
void od_result_finding(od_result *r, od_trust trust, const char *lead, const char *format, ...) OD_RESULT_FORMAT(4);
void od_result_notice(od_result *r, od_trust trust, const char *lead, const char *format, ...) OD_RESULT_FORMAT(4);
void od_result_picture(od_result *r, const char *name, const char *path);
void od_result_figures(od_result *r, od_draw_figures *draw, const void *user);

// Remarks that are no verdict: a notice for each, and the list of their texts as the field "warnings".
void od_result_warnings(od_result *r, const od_verdict *remarks);

// The verdict, as the field "verdict" and in the view. It must live as long as the result.
void od_result_verdict(od_result *r, const od_verdict *v);

// --- Tables -----------------------------------------------------------------------------------------------------------

// A table: a list of objects under `key` in the data (NULL: in the view alone). Tables with the same key are one list in the data. A table
// without rows is not shown.
od_result_table *od_result_add_table(od_result *r, const char *key, const od_result_column *columns, int count);
// The same, but an object under `key`: each row is an object under the text of its first cell.
od_result_table *od_result_add_map(od_result *r, const char *key, const od_result_column *columns, int count);
// The same with a list or an object anywhere in the data (NULL: in the view alone), which must live as long as the result. A table whose
// headings are all
// empty is shown without them.
od_result_table *od_result_add_table_to(od_result *r, json_t *rows, const od_result_column *columns, int count);
// The next row. Its numbers are in the SI unit (NULL: none); the view shows them in the unit that suits numbers of this size (NAN: the
// usual unit).
void od_result_add_row(od_result_table *t, const char *si, double size);
// The last row begins a group: terminals show an empty line before it.
void od_result_begin_group(od_result_table *t);
// The cells of the row, column by column. A column OD_CELL_UNIT fills itself.
void od_result_cell_text(od_result_table *t, const char *text);
void od_result_cell(od_result_table *t, double value);
// A number in SI in the data, shown as this text.
void od_result_cell_shown(od_result_table *t, double value, const char *text);
// A number with as many digits as its uncertainty (half of an interval, in SI; NAN: none) allows, and an uncertainty with two digits.
void od_result_cell_value(od_result_table *t, double value, double uncertainty);
void od_result_cell_uncertainty(od_result_table *t, double uncertainty);
// The last cell needs attention, where is_marked.
void od_result_mark(od_result_table *t, bool is_marked);
// A field of the row's object that is no column; takes over the value.
void od_result_row_set(od_result_table *t, const char *key, json_t *value);

// --- Ways to show it --------------------------------------------------------------------------------------------------

// Data as JSON: od_json_write(). View as a page: od_page_write_result() in report/page_result.h.
// The view as text. is_bold: headings are bold, by the codes of terminals.
void od_result_print(const od_result *r, FILE *to, bool is_bold);
// The view as a page of Markdown.
void od_result_print_markdown(const od_result *r, FILE *to);

#endif
