#include "http/door_guard.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include <stdio.h>

void od_headers_take(od_headers *h, const char *name, const char *value) {
  const struct {
    const char *name, **to;
  } known[] = {{"Host", &h->host},
               {"Origin", &h->origin},
               {"Sec-Fetch-Site", &h->fetch_site},
               {"Content-Type", &h->content_type},
               {"Cookie", &h->cookie},
               {"Authorization", &h->authorization},
               {"X-CSRF-Token", &h->csrf},
               {"Last-Event-ID", &h->last_event},
               {"If-None-Match", &h->match}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcasecmp(name, known[i].name) != 0) continue;
    h->is_doubled = h->is_doubled || *known[i].to;
    *known[i].to = value ? value : "";
  }
}

// --- Host and origin ----------------------------------------------------------------------------------------------

// Splits a value of Host into a name, without brackets, and checks the port. Returns false if the value has another form.
static bool split_host(const char *host, char name[256]) {
  const bool has_brackets = host[0] == '[';
  const char *from = host + has_brackets, *end = has_brackets ? strchr(host, ']') : host + strcspn(host, ":");
  if (!end || end == from || end - from > 255) return false;
  memcpy(name, from, (size_t)(end - from));
  name[end - from] = '\0';
  const char *port = end + has_brackets;
  if (*port == '\0') return true;
  const size_t digits = strspn(port + 1, "0123456789");
  return *port == ':' && digits >= 1 && digits <= 5 && port[1 + digits] == '\0';
}

static bool is_numeric(const char *name) {
  struct in6_addr a;
  return inet_pton(AF_INET, name, &a) == 1 || inet_pton(AF_INET6, name, &a) == 1;
}

bool od_guard_host(const od_twin_page *page, const char *host) {
  static const char *const loopback[] = {"localhost", "127.0.0.1", "::1"};
  char name[256];
  if (!host || !split_host(host, name)) return false;
  for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++)
    if (strcasecmp(name, loopback[i]) == 0) return true;
  if (strcasecmp(name, page->address) == 0) return true;
  for (int i = 0; page->host && page->host[i]; i++)
    if (strcasecmp(name, page->host[i]) == 0) return true;
  return !page->is_loopback && is_numeric(name);
}

bool od_guard_origin(const od_twin_page *page, const char *origin, const char *host) {
  const char *scheme = page->certificate_file ? "https://" : "http://";
  const size_t length = strlen(scheme);
  return host && strncmp(origin, scheme, length) == 0 && strcasecmp(origin + length, host) == 0;
}

// --- The reader ---------------------------------------------------------------------------------------------------

od_cookie_name od_guard_cookie_name(const od_twin_page *page) {
  od_cookie_name name;
  snprintf(name.text, sizeof name.text, "%soleodyn_%d", page->certificate_file ? "__Host-" : "", page->port);
  return name;
}

bool od_guard_cookie(const char *header, const char *name, char value[OD_RANDOM_SIZE]) {
  const size_t length = strlen(name);
  for (const char *at = header; at && *at;) {
    at += strspn(at, " \t;");
    const size_t size = strcspn(at, ";");
    if (size > length && strncmp(at, name, length) == 0 && at[length] == '=') {
      const size_t n = size - length - 1;
      if (n >= OD_RANDOM_SIZE) return false;
      memcpy(value, at + length + 1, n);
      value[n] = '\0';
      return true;
    }
    at += size;
  }
  return false;
}

od_reader od_guard_reader(od_sessions *s, const od_headers *h, const char *certificate, double now) {
  static const char bearer[] = "Bearer ";
  const od_twin_page *page = s->page;
  char cookie[OD_RANDOM_SIZE];
  if (h->authorization) {
    const bool has_form = strncasecmp(h->authorization, bearer, sizeof bearer - 1) == 0;
    const int token = has_form ? od_sessions_find_token(s, h->authorization + sizeof bearer - 1) : -1;
    if (token < 0) return (od_reader){.is_refused = true};
    return (od_reader){.role = page->token[token].role, .name = page->token[token].name, .is_bearer = true};
  }
  if (h->cookie && od_guard_cookie(h->cookie, od_guard_cookie_name(page).text, cookie)) {
    od_session *session = od_sessions_find(s, cookie, now);
    if (session)
      return (od_reader){.role = session->role, .name = session->name, .csrf = session->csrf, .session = session};
  }
  if (certificate) return (od_reader){.role = page->client_role, .name = certificate, .csrf = s->local_csrf};
  if (page->local_role == OD_ROLE_NONE) return (od_reader){0};
  return (od_reader){.role = page->local_role, .name = "local", .csrf = s->local_csrf};
}

// --- The rules ----------------------------------------------------------------------------------------------------

od_refusal od_guard_request(const od_twin_page *page, const od_headers *h, bool is_api) {
  if (h->is_doubled) return (od_refusal){400, "a header of the request occurs twice"};
  if (!od_guard_host(page, h->host))
    return (od_refusal){403,
                        "the header Host does not name this computer; add the name to 'hosts' of the section 'page'"};
  if (h->origin && !od_guard_origin(page, h->origin, h->host))
    return (od_refusal){
        403, "the header Origin of the request is not the address of this page; open the page at its own address"};
  if (is_api && h->fetch_site && strcmp(h->fetch_site, "same-origin") != 0 && strcmp(h->fetch_site, "none") != 0)
    return (od_refusal){403, "the request comes from a page of another site"};
  return (od_refusal){0};
}

od_refusal od_guard_role(const od_reader *reader, const od_headers *h, od_page_role needed, bool changes) {
  if (reader->is_refused) return (od_refusal){401, "the token of the request is wrong"};
  if (reader->role == OD_ROLE_NONE && needed > OD_ROLE_NONE) return (od_refusal){401, "log in with a token first"};
  if (reader->role < needed) return (od_refusal){403, "the role 'read' may not do this; the role 'act' is needed"};
  if (!changes || reader->is_bearer) return (od_refusal){0};
  od_secret given, expected;
  const bool fits = h->csrf && reader->csrf && od_secret_set(&given, h->csrf) &&
                    od_secret_set(&expected, reader->csrf) && od_secret_equal(&given, &expected);
  if (!fits)
    return (od_refusal){403, "the header X-CSRF-Token is missing or wrong; GET /api/v1/session gives its value"};
  return (od_refusal){0};
}
