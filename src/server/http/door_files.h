// The page of the twin: the files web/dist/twin.html, twin.js and twin.css, which the build converts to C (scripts/embed.cmake); and the schemas of
// the API.
#ifndef OD_HTTP_DOOR_FILES_H
#define OD_HTTP_DOOR_FILES_H

#include <stddef.h>

extern const unsigned char od_twin_html[], od_twin_js[], od_twin_css[], od_api_schemas[];
extern const size_t od_twin_html_size, od_twin_js_size, od_twin_css_size, od_api_schemas_size;

#endif
