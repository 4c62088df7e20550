// The page, its script and its style sheet, which the build embeds (scripts/embed.cmake); metrics; health.
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "http/door.h"
#include "http/door_files.h"
#include "io/json.h"
#include "oleodyn/version.h"

// Answers with an embedded file. Its tag is a hash of its bytes (FNV-1a), so that a new version of the program has another tag.
static void answer_file(od_request *r, const char *type, const unsigned char *bytes, size_t size) {
  unsigned long long hash = 14695981039346656037u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
  char tag[24];
  snprintf(tag, sizeof tag, "\"%016llx\"", hash);
  od_answer_text(r, type, (const char *)bytes, size, tag);
}

void od_route_page(od_request *r) {
  answer_file(r, "text/html; charset=utf-8", od_twin_html, od_twin_html_size);
}

void od_route_script(od_request *r) {
  answer_file(r, "text/javascript; charset=utf-8", od_twin_js, od_twin_js_size);
}

void od_route_style(od_request *r) {
  answer_file(r, "text/css; charset=utf-8", od_twin_css, od_twin_css_size);
}

// The icon is a hydraulic cylinder with its rod.
void od_route_icon(od_request *r) {
  static const char icon[] =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 32 32\"><rect width=\"32\" height=\"32\" rx=\"6\" fill=\"#1f5f8b\"/>"
      "<rect x=\"4\" y=\"11\" width=\"15\" height=\"10\" rx=\"2\" fill=\"#fff\"/><rect x=\"19\" y=\"14\" width=\"9\" height=\"4\" fill=\"#cfe3f1\"/></svg>";
  answer_file(r, "image/svg+xml", (const unsigned char *)icon, sizeof icon - 1);
}

void od_route_metrics(od_request *r) {
  char *text = od_board_metrics(r->door->board);
  if (text)
    od_answer_text(r, "text/plain; version=0.0.4", text, strlen(text), NULL);
  else
    od_answer_error(r, 503, "there are no metrics yet; try again in a second");
  od_free(text);
}

void od_route_health(od_request *r) {
  od_answer_json(r, json_pack("{s:s, s:s}", "state", "running", "program", "oleodyn " OD_VERSION));
}
