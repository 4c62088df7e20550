// Sessions: identity of the reader, login with a token, logout.
#include <string.h>

#include "http/door.h"
#include "io/json.h"
#include "oleodyn/version.h"

static const char *const roles[] = {NULL, "read", "act"};

static void answer_session(od_request *r, const od_reader *reader, const char *cookie) {
  const od_door *d = r->door;
  const bool is_known = reader->role != OD_ROLE_NONE;
  json_t *object = json_pack("{s:s?, s:s?, s:s?, s:s, s:s, s:s?, s:b}", "role", roles[reader->role], "name",
                             is_known ? reader->name : NULL, "csrf", is_known ? reader->csrf : NULL, "boot", d->boot,
                             "program", "oleodyn " OD_VERSION, "title", is_known ? d->twin->title : NULL, "needs_token",
                             d->page->local_role == OD_ROLE_NONE);
  char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
  json_decref(object);
  struct MHD_Response *response =
      text ? MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_COPY) : NULL;
  od_json_text_free(text);
  if (!response) return;
  MHD_add_response_header(response, "Content-Type", "application/json");
  MHD_add_response_header(response, "Cache-Control", "no-store");
  if (cookie) MHD_add_response_header(response, "Set-Cookie", cookie);
  od_answer_response(r, 200, response);
}

void od_route_get_session(od_request *r) {
  answer_session(r, &r->reader, NULL);
}

// Returns the value of the header that sets the cookie to a text. An empty text removes the cookie. The memory of the request
// owns the result.
static const char *cookie_header(od_request *r, const char *value) {
  const od_twin_page *page = r->door->page;
  return od_arena_format(&r->memory, "%s=%s; Path=/; HttpOnly; SameSite=Strict%s%s", od_guard_cookie_name(page).text,
                         value, page->certificate_file ? "; Secure" : "", value[0] ? "" : "; Max-Age=0");
}

void od_route_login(od_request *r) {
  od_door *d = r->door;
  const char *token;
  od_error err = {0};
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  const od_address address = od_address_of(info ? info->client_addr : NULL);
  if (!od_rates_may_login(&d->rates, &address, r->now)) {
    od_answer_error(r, 429, "too many wrong tokens from this address; try again in a minute");
    return;
  }
  od_status status = od_body_text(r->body, r->size, "token", &r->memory, &token, &err);
  if (status != OD_OK) {
    od_answer_status(r, status, &err);
    return;
  }
  const int found = od_sessions_find_token(&d->sessions, token);
  if (found < 0) {
    od_rates_failed_login(&d->rates, &address, r->now);
    od_answer_error(r, 401, "the token is wrong");
    return;
  }
  if (r->reader.session) od_session_end(r->reader.session);
  od_session *s = od_sessions_begin(&d->sessions, found, r->now);
  const char *cookie = s ? cookie_header(r, s->cookie.text) : NULL;
  if (!cookie) {
    od_answer_error(r, 500, "the session cannot begin: no memory or no random numbers; try again later");
    return;
  }
  const od_reader reader = {.role = s->role, .name = s->name, .csrf = s->csrf, .session = s};
  answer_session(r, &reader, cookie);
}

void od_route_logout(od_request *r) {
  od_headers headers = r->headers;
  const char *cookie = cookie_header(r, "");
  if (r->reader.session) od_session_end(r->reader.session);
  headers.cookie = headers.authorization = NULL;
  const od_reader reader = od_guard_reader(&r->door->sessions, &headers, NULL, r->now);
  answer_session(r, &reader, cookie);
}
