// The style sheet and the scripts of pages: the files web/dist/page.css, web/dist/page.js and web/dist/interactive.js, which the build converts to C
// (scripts/embed.cmake).
#ifndef OD_REPORT_PAGE_FILES_H
#define OD_REPORT_PAGE_FILES_H

#include <stddef.h>

extern const unsigned char od_page_css[], od_page_js[], od_interactive_js[];
extern const size_t od_page_css_size, od_page_js_size, od_interactive_js_size;

#endif
