// The internal data of a page, for the files that add content to the page.
#ifndef OD_REPORT_PAGE_PARTS_H
#define OD_REPORT_PAGE_PARTS_H

#include <locale.h>

#include "report/page.h"

enum { MOST_COLUMNS = 24, MOST_BYTES = 2 };
enum { PART_MACHINE, PART_CIRCUIT, PART_FINDINGS, PART_CHARTS, PART_SECTIONS, PARTS };

struct od_page {
  const char *kind, *title, *subtitle, *verdict;
  bool has_verdict;
  od_trust trust;
  struct {
    FILE *to;
    char *text;
    size_t length;
  } part[PARTS];
  FILE *body;  // the part that receives texts, tables and figures
  od_page_place place;
  const char *section;  // title of the last section; NULL: none
  bool has_section;     // whether the section has content
  od_picture_kind picture;
  const char *picture_style[OD_PICTURES];  // NULL: no such picture
  double
      tall;  // 0: pictures side by side; otherwise they are one below the other, and this is height / width of the circuit
  int finding_count;
  json_t *findings;  // list for the data; NULL: no findings
  const char *list;  // tag of the open list; NULL: none
  bool words[MOST_COLUMNS];
  int columns, column;
  bool small, failed;  // failed: whether an allocation failed
  od_page_data *data;
  struct {
    const char *id;
    const void *bytes;
    size_t size;
  } bytes[MOST_BYTES];
  int byte_elements;
  od_data_chart drawing;   // the open figure, as data
  od_arena arena;          // owns texts
  locale_t plain, before;  // locale of this thread while the page is created, and the previous locale
};

// Closes the open list, and opens a section if none is open.
void od_page_begin_content(od_page *p);

#endif
