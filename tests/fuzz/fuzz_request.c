// Requests to the door, as lines after a first byte: "?KEY=VALUE" of a query, "NAME: VALUE" of a header, "/PATH", and else a body.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "http/door.h"

static od_twin_machine machines[] = {{.name = "crane"}, {.name = "bench"}};
static const od_twin twin = {.machine = machines, .machines = 2};
static const char *hosts[] = {"twin.example", NULL};

static void take_line(od_request *r, char *line, size_t length) {
  od_error err = {0};
  char *at;
  const char *text;
  int status;
  if (line[0] == '?' && (at = memchr(line, '=', length))) {
    *at = '\0';
    const od_status taken =
        od_query_take(&r->query, line + 1, at + 1, length - (size_t)(at + 1 - line), &r->memory, &err);
    if (taken != OD_OK && taken != OD_BAD_INPUT && taken != OD_NO_MEMORY) abort();
    for (int i = 0; i < r->query.keys; i++)
      if (taken == OD_OK && !isfinite(od_query_number(&r->query, r->query.key[i].name, 0))) abort();
  } else if (line[0] == '/') {
    const od_route *route = od_route_find(r->door, "GET", line, r, &status);
    if (!route != (status != 0)) abort();
    if (route) od_query_begin(&r->query, route->query, route->queries);
  } else if ((at = memchr(line, ':', length))) {
    *at = '\0';
    od_headers_take(&r->headers, line, at + 1 + strspn(at + 1, " "));
  } else {
    (void)od_body_text(line, length, "token", &r->memory, &text, &err);
    (void)od_body_empty(line, length, &err);
    if (od_read_id(line, length) < -1) abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static od_sessions sessions;
  static const od_twin_page page = {
      .address = "127.0.0.1", .port = 8700, .is_loopback = true, .host = hosts, .local_role = OD_ROLE_READ};
  static od_door door;
  static od_request r;
  if (size == 0) return 0;
  od_arena memory = {0};
  char *text = OD_TAKE(&memory, char, size + 1);
  memcpy(text, data, size);
  door = (od_door){.twin = &twin, .page = &page};
  sessions.page = &page;
  memset(&r, 0, sizeof r);
  r.door = &door;
  const od_route *route = &od_routes[data[0] % 20];
  od_query_begin(&r.query, route->query, route->queries);
  for (char *line = text + 1, *end = text + size; line < end;) {
    char *stop = memchr(line, '\n', (size_t)(end - line));
    if (!stop) stop = end;
    *stop = '\0';
    take_line(&r, line, (size_t)(stop - line));
    line = stop + 1;
  }
  const od_refusal refusal = od_guard_request(&page, &r.headers, data[0] & 1);
  if (refusal.status == 0 && !r.headers.host) abort();
  const od_reader reader = od_guard_reader(&sessions, &r.headers, NULL, 1);
  if (reader.role == OD_ROLE_ACT || reader.session) abort();  // there are no tokens
  if (od_guard_role(&reader, &r.headers, OD_ROLE_ACT, true).status == 0) abort();
  od_arena_free(&r.memory);
  od_arena_free(&memory);
  return 0;
}
