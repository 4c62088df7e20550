// The style sheet and the script of pages: the files web/dist/page.css and web/dist/page.js, which the build converts to C
// (scripts/embed.cmake).
#ifndef OD_REPORT_PAGE_FILES_H
#define OD_REPORT_PAGE_FILES_H

#include <stddef.h>

extern const unsigned char od_page_css[], od_page_js[];
extern const size_t od_page_css_size, od_page_js_size;

#endif
