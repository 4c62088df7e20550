// A result: the findings of a command, stored once for all output formats.
//
// A result has two parts. The data are named numbers, texts, lists and objects in SI units; JSON output contains exactly these
// data. The view is the list of headings, sentences and tables for people, in display units; terminal and page show the view item
// by item. One call adds a table or a verdict to both parts.
//
// If an allocation fails, items are missing, and od_result_is_complete() returns false.
#ifndef OD_RESULT_RESULT_H
#define OD_RESULT_RESULT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/arena.h"
#include "io/display.h"
#include "io/verdict.h"
#include "oleodyn/result.h"

#define OD_RESULT_FORMAT(n) __attribute__((format(printf, n, (n) + 1)))

// --- View -------------------------------------------------------------------------------------------------------------

// The outputs that show an item of the view: all outputs, or one output.
typedef enum od_audience { OD_FOR_ALL, OD_FOR_TERMINAL, OD_FOR_PAGE } od_audience;

typedef enum od_view_kind {
  OD_VIEW_SECTION,  // a part of a page, up to the next section; pages link to sections, terminals do not show them
  OD_VIEW_HEADING,
  OD_VIEW_FACT,     // a name and its value
  OD_VIEW_LINE,     // a sentence
  OD_VIEW_CODE,     // a text that users can copy to a file, shown without changes
  OD_VIEW_FINDING,  // a sentence of a list, after a few words in bold
  OD_VIEW_NOTICE,   // a sentence in a box, after a few words in bold
  OD_VIEW_TABLE,
  OD_VIEW_VERDICT,
  OD_VIEW_FIGURES,  // figures, for pages only
  OD_VIEW_CHARTS,   // figures in the place for charts of a page
  OD_VIEW_PICTURE,  // a file next to a Markdown page
} od_view_kind;

typedef enum od_cell_kind {
  OD_CELL_TEXT,    // aligned to the left
  OD_CELL_CODE,    // a word of a file, aligned to the left
  OD_CELL_UNIT,    // the unit of the row: SI in the data, the display unit in the view
  OD_CELL_NUMBER,  // a number in the unit of the row
  OD_CELL_PLAIN,   // a number that is shown without conversion
  OD_CELL_WHOLE,
  OD_CELL_HEAT,    // a number from -1 to 1; pages show the number on a colored background
  OD_CELL_REMARK,  // a text after the last column; its heading is empty
} od_cell_kind;

typedef struct od_result_column {
  const char *key;      // the field of a row's object in the data; NULL: the column is only in the view
  const char *heading;  // NULL: the column is only in the data
  od_cell_kind kind;
  int digits;    // significant digits of numbers in the view; 0: six
  int decimals;  // if larger than 0: number of digits after the decimal point, instead of `digits`
} od_result_column;

typedef struct od_shown_cell {
  const char *text;  // "": no text, or the column is only in the data
  double heat;       // value of OD_CELL_HEAT
  bool is_marked;    // whether the cell needs attention
} od_shown_cell;

typedef struct od_result_row {
  struct od_result_row *next;
  od_shown_cell *cell;  // one per column
  bool begins_group;
} od_result_row;

typedef struct od_result_table {
  struct od_result *result;
  od_result_column *column;
  int *width;           // width of each column, in characters
  int columns, filled;  // filled: number of filled cells in the last row
  od_result_row *first, *last;
  od_display shown;  // the display unit of the last row
  const char *si;
  json_t *rows;  // rows in the data: a list, or an object; NULL: the table is only in the view
  json_t *row;   // the object of the last row
} od_result_table;

struct od_page;
// Draws figures into a page (report/page.h).
typedef void od_draw_figures(struct od_page *page, const void *user);

typedef struct od_view_item {
  struct od_view_item *next;
  od_view_kind kind;
  od_audience audience;
  od_trust trust;    // trust of a finding or a notice; if not OD_SOUND, the item is a warning
  const char *lead;  // the name of a fact or a picture; the bold words before a finding or a notice
  const char *text;  // text of the item; for a verdict, its word and its explanation
  od_result_table *table;
  const od_verdict *verdict;
  od_draw_figures *draw;
  const void *user;
} od_view_item;

// --- Result -----------------------------------------------------------------------------------------------------------

struct od_result {
  const char *kind, *title;   // heading of a page: "Simulation report", and the machine
  const char *subtitle;       // how the result was computed, for the heading of a page; NULL: none
  const char *accuracy_text;  // explanation of the verdict in the heading of a page; NULL: the explanation of the view
  od_arena arena;
  json_t *data;  // an object
  od_view_item *first, *last;
  const char *doubtful_means;  // explanation of the verdict "doubtful" for this kind of result; NULL: a general
                               // explanation
  od_audience audience;        // audience of items that are added from now on
  bool is_short_of_memory;
};

// Returns an empty result, freed with od_result_free(). kind and title must outlive the result. Sets is_short_of_memory if an
// allocation fails.
od_result od_result_new(const char *kind, const char *title);
void od_result_free(od_result *r);
// Passes the result to another owner: returns its content and leaves an empty result. Figures are not passed on, because they refer
// to data of the previous owner.
od_result od_result_give(od_result *r);
// Returns whether all items were added to the result: no allocation has failed.
bool od_result_is_complete(const od_result *r);

// Set fields of the data. od_result_set() takes ownership of the value.
void od_result_set(od_result *r, const char *key, json_t *value);
void od_result_number(od_result *r, const char *key, double si);
void od_result_whole(od_result *r, const char *key, long value);
void od_result_flag(od_result *r, const char *key, bool value);
void od_result_text(od_result *r, const char *key, const char *text);  // NULL: null

// Add items to the view, for the audience that was chosen last.
void od_result_audience(od_result *r, od_audience audience);
void od_result_section(od_result *r, const char *title);
void od_result_heading(od_result *r, const char *format, ...) OD_RESULT_FORMAT(2);
void od_result_fact(od_result *r, const char *name, const char *format, ...) OD_RESULT_FORMAT(3);
void od_result_line(od_result *r, const char *format, ...) OD_RESULT_FORMAT(2);
// Adds a text that users can copy to a file: lines, each with a line end.
void od_result_code(od_result *r, const char *lines);
// If no view is shown, items whose trust is not OD_SOUND are printed as warnings on standard error.
void od_result_finding(od_result *r, od_trust trust, const char *lead, const char *format, ...) OD_RESULT_FORMAT(4);
void od_result_notice(od_result *r, od_trust trust, const char *lead, const char *format, ...) OD_RESULT_FORMAT(4);
void od_result_picture(od_result *r, const char *name, const char *path);
void od_result_figures(od_result *r, od_draw_figures *draw, const void *user);
// Same as od_result_figures(), but the figures are in the place for charts of a page, whatever the section.
void od_result_charts(od_result *r, od_draw_figures *draw, const void *user);
// Set the texts in the heading of a page (subtitle, accuracy_text).
void od_result_subtitle(od_result *r, const char *text);
void od_result_accuracy_text(od_result *r, const char *text);

// Adds remarks that are not a verdict. The view gets a notice for each remark; the data get the list of their texts as the field
// "warnings".
void od_result_warnings(od_result *r, const od_verdict *remarks);

// Adds a copy of the verdict, as the field "verdict" and in the view. The view explains the words "doubtful" and "unsound".
void od_result_verdict(od_result *r, const od_verdict *v);

// --- Tables -----------------------------------------------------------------------------------------------------------

// Adds a table: a list of objects under `key` in the data (NULL: the table is only in the view). Tables with the same key share one
// list in the data. A table without rows is not shown.
od_result_table *od_result_add_table(od_result *r, const char *key, const od_result_column *columns, int count);
// Same as od_result_add_table(), but with an object under `key`: each row is an object under the text of its first cell.
od_result_table *od_result_add_map(od_result *r, const char *key, const od_result_column *columns, int count);
// Same as od_result_add_table(), but with a list or an object anywhere in the data (NULL: the table is only in the view). The list
// or object must exist while rows are added. Terminals show a table whose headings are all empty without a line of headings.
od_result_table *od_result_add_table_to(od_result *r, json_t *rows, const od_result_column *columns, int count);
// Adds a row. Its numbers are in the SI unit `si` (NULL: none). The view shows the numbers in the display unit for numbers of
// this size (NAN: the usual unit).
void od_result_add_row(od_result_table *t, const char *si, double size);
// Begins a group with the last row: terminals show an empty line before the group.
void od_result_begin_group(od_result_table *t);
// Add the cells of the row, column by column. Cells of a column OD_CELL_UNIT are filled automatically.
void od_result_cell_text(od_result_table *t, const char *text);
void od_result_cell(od_result_table *t, double value);
// Adds a number in SI to the data. The view shows this text instead of the number.
void od_result_cell_shown(od_result_table *t, double value, const char *text);
// od_result_cell_value() adds a number that the view rounds according to its uncertainty. od_result_cell_uncertainty() adds the
// uncertainty, in the view with two digits. uncertainty: half of an interval, in SI; NAN: none.
void od_result_cell_value(od_result_table *t, double value, double uncertainty);
void od_result_cell_uncertainty(od_result_table *t, double uncertainty);
// If is_marked is true, marks the last cell as needing attention.
void od_result_mark(od_result_table *t, bool is_marked);
// Adds a field to the row's object that is not a column. Takes ownership of the value.
void od_result_row_set(od_result_table *t, const char *key, json_t *value);

// --- Outputs ----------------------------------------------------------------------------------------------------------

// Functions that write a result. Data as JSON: od_json_write(). View as a page: od_page_write_result() in report/page_result.h.
// View as text and as Markdown: oleodyn/result.h.

#endif
