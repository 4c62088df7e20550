// Checks of the headers of a request: the host (against DNS rebinding), the origin and the site of the sender (against other
// pages), the cookie, and the reader's role.
#ifndef OD_HTTP_DOOR_GUARD_H
#define OD_HTTP_DOOR_GUARD_H

#include "http/sessions.h"

// The headers that the checks need; NULL: absent.
typedef struct od_headers {
  const char *host, *origin, *fetch_site, *content_type, *cookie, *authorization, *csrf, *last_event, *match;
  bool is_doubled;  // whether one of these headers occurs twice
} od_headers;
// Stores a header of the request if a check needs this header.
void od_headers_take(od_headers *h, const char *name, const char *value);

// Returns whether a value of the header Host names this computer: a loopback name or a name of the page, with any port. If other computers can reach
// the page, also a numeric address.
bool od_guard_host(const od_twin_page *page, const char *host);
// Returns whether the origin is the page itself: the scheme and the value of Host.
bool od_guard_origin(const od_twin_page *page, const char *origin, const char *host);

// The name of the page's cookie. The name contains the port, because cookies of all ports of a host share their names.
typedef struct od_cookie_name {
  char text[48];
} od_cookie_name;
od_cookie_name od_guard_cookie_name(const od_twin_page *page);
// Finds a cookie. Returns false if there is none, or if its value is longer than a random text.
bool od_guard_cookie(const char *header, const char *name, char value[OD_RANDOM_SIZE]);

// The sender of a request: role and session.
typedef struct od_reader {
  od_page_role role;
  const char *name, *csrf;
  od_session *session;  // NULL: none
  bool is_bearer;       // whether the token is in the request, which other pages cannot send
  bool is_refused;      // whether the token of the request is wrong
} od_reader;
// Returns the sender of a request, from its certificate, token or cookie. certificate: name of the verified certificate; NULL:
// none.
od_reader od_guard_reader(od_sessions *s, const od_headers *h, const char *certificate, double now);

// The HTTP status and text of a refused request; status 0: the request is accepted.
typedef struct od_refusal {
  int status;
  const char *text;
} od_refusal;
// Checks host, origin, site and doubled headers. is_api: whether the path is of the API; pages of other sites may only link to the page itself.
od_refusal od_guard_request(const od_twin_page *page, const od_headers *h, bool is_api);
// Checks the role of the sender. For requests that change data (`changes`) also checks the CSRF token.
od_refusal od_guard_role(const od_reader *reader, const od_headers *h, od_page_role needed, bool changes);

#endif
