// A report: one self-contained HTML page, without other files, network access or external scripts. The page has fixed places: pictures of the
// machine and its circuit, findings, charts, and sections with texts, tables and figures. Functions add content to these places in order,
// then the page is written. The functions escape texts. The page is well-formed XML, is identical for identical content, and is complete
// without its script. All figures are also data of the page (report/page_data.h), from which the script draws charts. The format is in
// docs/report-pages.md.
#ifndef OD_REPORT_PAGE_H
#define OD_REPORT_PAGE_H

#include <stdbool.h>

#include "io/chart.h"
#include "io/display.h"
#include "io/verdict.h"
#include "memory/scoped.h"
#include "oleodyn/status.h"
#include "report/page_data.h"

typedef struct od_page od_page;

// Creates a page. NULL: out of memory. The kind of report is shown next to the title. Both texts and the titles of sections must
// outlive the page. Until the page is freed, the calling thread formats numbers with a decimal point, independent of its locale.
od_page *od_page_new(const char *kind, const char *title);
void od_page_free(od_page *p);
OD_OWNED_POINTER(od_page, od_page_free);
// Writes the page completely or not at all. Fails with OD_IO or OD_NO_MEMORY.
od_status od_page_write(od_page *p, const char *path, od_error *err);
// Reports whether the memory of a figure was allocated. If `has_memory` is false, od_page_write() fails later. Returns
// has_memory.
bool od_page_require(od_page *p, bool has_memory);
// Returns the data of the page, which the page owns.
od_page_data *od_page_get_data(od_page *p);

// Adds bytes for the script of pages that compute, in an element with this id (a constant text), at most twice per page. The bytes must
// outlive the page. A page with such bytes contains this script.
void od_page_add_bytes(od_page *p, const char *id, const void *bytes, size_t size);

// Set the texts next to the title: how the result was computed, and the verdict with an explanation ("" : none).
void od_page_subtitle(od_page *p, const char *text);
void od_page_verdict(od_page *p, od_trust trust, const char *text);

// Begin and end the picture of the machine or of the circuit: one SVG element, written to the returned stream. style: CSS of the picture,
// which must outlive the page; the style sheet of the page comes later and can override these rules.
typedef enum od_picture_kind { OD_PICTURE_MACHINE, OD_PICTURE_CIRCUIT, OD_PICTURES } od_picture_kind;
FILE *od_page_picture_begin(od_page *p, od_picture_kind kind, const char *style);
void od_page_picture_end(od_page *p);
// Places the pictures one below the other, each in the whole width of the page, instead of side by side. tall: height of
// the circuit relative to its width.
void od_page_stack_pictures(od_page *p, double tall);

// Adds an entry to the findings, also in the data. severity: "good", "note", "warning" or "serious". Times in s; NAN: none. NULL: no
// text.
typedef struct od_page_finding {
  const char *severity, *title, *text, *code, *owner, *output;
  double from, to, at;
  double length;  // length of the run, which determines the digits of the shown time; 0: not known
} od_page_finding;
void od_page_add_finding(od_page *p, const od_page_finding *finding);

// Chooses the place of the following texts, tables and figures: the charts of the page, or its sections. od_page_section() chooses the
// sections.
typedef enum od_page_place { OD_PLACE_SECTIONS, OD_PLACE_CHARTS } od_page_place;
void od_page_choose_place(od_page *p, od_page_place place);

#define OD_PAGE_FORMAT(n) __attribute__((format(printf, n, (n) + 1)))

// Begins a section, which ends at the next section.
void od_page_section(od_page *p, const char *title);
void od_page_heading(od_page *p, const char *title);
void od_page_text(od_page *p, const char *format, ...) OD_PAGE_FORMAT(2);
// Adds a text that users can copy to a file, without changes.
void od_page_code(od_page *p, const char *lines);
// Adds a paragraph in a box, after a word in bold, in the color of the trust.
void od_page_notice(od_page *p, od_trust trust, const char *lead, const char *text);

// Add a fact or an item. A fact is a pair of name and value. An item is a sentence of a list after a word in bold. Consecutive
// facts and consecutive items form one list.
void od_page_fact(od_page *p, const char *name, const char *value);
void od_page_item(od_page *p, const char *lead, const char *text);

// Add a table: od_page_table_begin(); for each row od_page_row() with the name of the row, then a cell for each other column;
// od_page_table_end().
typedef struct od_page_column {
  const char *title;
  bool words;  // whether the column contains texts, not numbers
} od_page_column;
void od_page_table_begin(od_page *p, const od_page_column *columns, int count);
void od_page_row(od_page *p, const char *name);
void od_page_cell(od_page *p, bool is_marked, const char *text);  // is_marked: highlighted
// Adds a number from -1 to 1 on a colored background, which is stronger for larger magnitudes; NAN: no number.
void od_page_heat_cell(od_page *p, double value);
void od_page_table_end(od_page *p);

// Kinds of drawn series; the words are also classes of the style sheet.
#define OD_DRAWN_ESTIMATE "estimate"
#define OD_DRAWN_BAND     "band"
#define OD_DRAWN_TRUTH    "truth"
#define OD_DRAWN_START    "start"
#define OD_DRAWN_MEASURED "measured"
#define OD_DRAWN_LIMIT    "limit"
// Returns the class of curve i of a chart. Curves that share a chart have different colors and strokes. After OD_SERIES curves
// the classes repeat.
#define OD_SERIES 6
const char *od_drawn_series(int i);

// An entry in the legend of the following figures: "estimate", OD_DRAWN_ESTIMATE. An entry with a NULL text ends the legend.
typedef struct od_legend {
  const char *text, *drawn;
} od_legend;
void od_page_legend(od_page *p, const od_legend *entries);

// Figures of sections are placed side by side as far as the width of the window allows; `small` figures are half as wide.
// od_page_figure_begin() draws the frame; the caller draws the series into `chart` and `to`.
typedef struct od_figure {
  const char *title, *note;  // texts above the chart; note: in a lighter tone, or NULL
  double x_low, x_high, y_low, y_high;
  bool x_log, y_log;                     // logarithmic axes
  const char *x_name, *x_unit, *y_unit;  // displayed units
  const od_legend *legend;               // legend of this figure only, below its title; NULL: none
  // SI units of the axes, and factors: displayed number = SI number * factor; NULL and zero: the displayed units.
  const char *x_si, *y_si;
  double x_factor, y_factor;
  bool is_note_static;    // whether the note is only for readers without the script
  bool is_over_time;      // whether x is the time of the run
  bool has_equal_scales;  // whether a unit has the same length in both directions
  bool has_outputs;       // whether the names of lines are names of outputs of the machine
  const char *subject;    // the output of the machine whose estimate, true value and measurements are drawn; NULL: none
  od_chart chart;
  FILE *to;
} od_figure;
void od_page_figures_begin(od_page *p, bool small);
void od_page_figure_begin(od_page *p, od_figure *f);
// Begin and end a figure of this size in px that the script does not change. Returns the stream for the content of its
// SVG element.
FILE *od_page_still_begin(od_page *p, const char *title, const char *unit, const char *note, double width,
                          double height);
void od_page_still_end(od_page *p);
void od_page_figure_end(od_page *p, const od_figure *f);
void od_page_figures_end(od_page *p);

#endif
