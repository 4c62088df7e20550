// Reads the section 'page' of a twin file: address, secrets and limits. A page that other computers can reach needs TLS, and a token or certificates
// of its readers.
#include "twin/load_page.h"

#include <arpa/inet.h>
#include <string.h>

#include "document/document.h"
#include "document/quantities.h"

static const od_key token_keys[] = {
    {"file", OD_TEXT, NULL,
     "file with the token in its first line, 20 to 200 characters; path relative to this file. Only its owner may read the file",
     .fallback = OD_REQUIRED},
    {"role", OD_CHOICE, "read|act", "`read`: readers see everything. `act`: they may also acknowledge alarms"},
};
static const od_section_class token_section = {"twin token", "secret with which readers log in", OD_KEYS(token_keys)};

static const od_key page_keys[] = {
    {"address", OD_TEXT, NULL,
     "numeric address at which the page is served. An address that other computers reach needs TLS, and tokens or certificates of readers",
     .otherwise = "127.0.0.1"},
    {"port", OD_WHOLE, "1", "port", OD_POSITIVE, 8700, {1, 65535}},
    {"hosts", OD_TEXTS, NULL,
     "names of this computer in the address line of browsers, in addition to `address` and localhost",
     .otherwise = "none"},
    {"certificate_file", OD_TEXT, NULL, "certificate of this computer (PEM), for TLS; path relative to this file",
     .otherwise = "no TLS"},
    {"key_file", OD_TEXT, NULL,
     "private key of the certificate (PEM); path relative to this file. Only its owner may read the file",
     .otherwise = "required with `certificate_file`"},
    {"client_ca_file", OD_TEXT, NULL,
     "certificate of the authority (PEM) that signs the certificates of readers; path relative to this file",
     .otherwise = "readers have no certificates"},
    {"client_role", OD_CHOICE, "read|act", "role of readers with a certificate"},
    {"tokens", OD_SECTION_MAP, NULL, "secrets with which readers log in, by the name of the reader",
     .otherwise = "none", .inside = &token_section},
    {"local", OD_CHOICE, "act|read|none",
     "role of readers without a token, if the address is 127.0.0.1 or ::1; else they have none"},
    {"connections", OD_WHOLE, "1", "largest number of connections at the same time", OD_POSITIVE, 256, {1, 100000}},
    {"streams",
     OD_WHOLE,
     "1",
     "largest number of pages that show live values at the same time",
     OD_POSITIVE,
     32,
     {1, 10000}},
    {"requests",
     OD_WHOLE,
     "1",
     "largest number of requests per second from one address",
     OD_POSITIVE,
     100,
     {1, 1000000}},
    {"frames", OD_NUMBER, "s", "time between stored positions of the moving machine and circuit", OD_POSITIVE, 0.1,
     OD_LIMITS(0.001, 3600, 0.02, 10)},
    {"verdict", OD_NUMBER, "s", "length of the windows of time in which the innovations of the observer are judged",
     OD_POSITIVE, 60, OD_LIMITS(0.1, 1e6, 5, 3600)},
};
const od_section_class od_twin_page_section = {"twin page", "page for browsers, and JSON API", OD_KEYS(page_keys)};

static void read_token(od_loader *ld, od_twin_page *p, int key) {
  od_page_token *token = &p->token[p->tokens++];
  token->name = od_text_of(ld, key);
  od_section section = od_section_open(ld, od_value(ld, key), key, od_format(ld, "page.tokens.%s", token->name),
                                       od_format(ld, "the token '%s'", od_excerpt(ld, token->name)), &token_section);
  if (section.map < 0) return;
  od_section_need(ld, &section, "file");
  token->file = od_key_path(ld, &section, "file");
  token->role = od_key_setting(ld, &section, "role") == 1 ? OD_ROLE_ACT : OD_ROLE_READ;
}

static void read_tokens(od_loader *ld, od_twin *t, int node) {
  od_index seen = {0};  // in the memory of the loader
  if (node < 0 || !od_is_map(ld, node)) {
    if (node >= 0) od_first(ld, node, "tokens");
    return;
  }
  t->page.token = OD_TAKE(&t->memory, od_page_token, ld->tree.node[node].count);
  for (int key = od_first(ld, node, "tokens"); t->page.token && key >= 0; key = od_next(ld, key))
    if (!od_seen_before(ld, &seen, key)) read_token(ld, &t->page, key);
}

// Returns whether only programs on this computer reach an address. Sets *valid to whether the address is numeric.
static bool is_loopback(const char *address, bool *valid) {
  struct in_addr v4;
  struct in6_addr v6;
  *valid = true;
  if (inet_pton(AF_INET, address, &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  if (inet_pton(AF_INET6, address, &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  *valid = false;
  return true;
}

static void read_hosts(od_loader *ld, od_twin *t, int node) {
  if (node < 0) return;
  const int count = od_is_list(ld, node) ? od_list_count(ld, node) : 1;
  const char **list = OD_TAKE(&t->memory, const char *, count + 1);
  int n = 0, at = od_is_list(ld, node) ? od_list_first(ld, node) : node;
  for (; list && at >= 0 && n < count; at = od_is_list(ld, node) ? ld->tree.node[at].next : -1) {
    const int entry = od_is_list(ld, node) ? od_entry(ld, at) : node;
    const char *name = od_read_text(ld, entry, "hosts", "the name of a computer");
    if (name && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") != strlen(name))
      od_complain(ld, entry, "'%s' is no name of a computer; expected letters, digits, '.' and '-', without port",
                  od_excerpt(ld, name));
    if (name) list[n++] = name;
  }
  t->page.host = list;
}

// Rules between keys.
static void check(od_loader *ld, const od_section *section, int node, const od_twin_page *p) {
  if (p->certificate_file && !p->key_file) od_section_lacks(ld, section, "key_file");
  if (p->key_file && !p->certificate_file) od_section_lacks(ld, section, "certificate_file");
  if (p->client_ca_file && !p->certificate_file)
    od_complain(ld, od_section_get(ld, section, "client_ca_file"),
                "certificates of readers need TLS; give 'certificate_file' and 'key_file', too");
  if (p->is_loopback) {
    if (p->local_role == OD_ROLE_NONE && p->tokens == 0 && !p->client_ca_file)
      od_complain(ld, od_section_get(ld, section, "local"),
                  "'local: none' without 'tokens' or 'client_ca_file': no reader could see the page; give one of them");
    return;
  }
  const int address = od_section_get(ld, section, "address");
  if (!p->certificate_file)
    od_complain(
        ld, address >= 0 ? address : node,
        "other computers can reach the address %s, so the page needs TLS; give 'certificate_file' and 'key_file', or "
        "use the address 127.0.0.1",
        p->address);
  if (p->tokens == 0 && !p->client_ca_file)
    od_complain(ld, address >= 0 ? address : node,
                "other computers can reach the address %s, so readers must log in; give 'tokens' or 'client_ca_file'",
                p->address);
  const int local = od_section_get(ld, section, "local");
  if (local >= 0)
    od_complain(ld, local, "'local' has no effect with the address %s, which other computers reach; remove the key",
                p->address);
}

void od_twin_read_page(od_loader *ld, od_twin *t, int node) {
  od_twin_page *p = &t->page;
  if (node < 0) return;
  od_section section = od_section_open(ld, node, node, "page", "the section 'page'", &od_twin_page_section);
  if (section.map < 0) return;
  static const od_page_role roles[] = {OD_ROLE_READ, OD_ROLE_ACT},
                            local_roles[] = {OD_ROLE_ACT, OD_ROLE_READ, OD_ROLE_NONE};
  bool valid = true;
  const char *address = od_key_text(ld, &section, "address", "a numeric address");
  p->address = address ? address : "127.0.0.1";
  p->is_loopback = is_loopback(p->address, &valid);
  if (!valid)
    od_complain(
        ld, od_section_get(ld, &section, "address"),
        "'%s' is no numeric address; expected one such as 127.0.0.1, 0.0.0.0, ::1 or ::", od_excerpt(ld, p->address));
  p->port = (int)od_key_whole(ld, &section, "port");
  read_hosts(ld, t, od_section_get(ld, &section, "hosts"));
  p->certificate_file = od_key_path(ld, &section, "certificate_file");
  p->key_file = od_key_path(ld, &section, "key_file");
  p->client_ca_file = od_key_path(ld, &section, "client_ca_file");
  p->client_role = roles[od_key_setting(ld, &section, "client_role")];
  p->local_role = p->is_loopback ? local_roles[od_key_setting(ld, &section, "local")] : OD_ROLE_NONE;
  read_tokens(ld, t, od_section_get(ld, &section, "tokens"));
  p->connections = (int)od_key_whole(ld, &section, "connections");
  p->streams = (int)od_key_whole(ld, &section, "streams");
  p->requests = (int)od_key_whole(ld, &section, "requests");
  p->frames = od_key_value(ld, &section, "frames");
  p->verdict = od_key_value(ld, &section, "verdict");
  if (valid) check(ld, &section, node, p);
}
