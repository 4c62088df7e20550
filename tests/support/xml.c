#include "support/xml.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH = 64, ATTRIBUTES = 32 };

typedef struct slice {
  const char *at;
  size_t length;
} slice;

typedef struct reader {
  const char *begin, *c;
  slice open[DEPTH];
  int depth, roots;
  char *what;
  size_t size;
} reader;

static bool bad(reader *r, const char *why) {
  int line = 1;
  for (const char *c = r->begin; c < r->c; c++) line += *c == '\n';
  snprintf(r->what, r->size, "line %d: %s: %.60s", line, why, r->c);
  return false;
}

static bool same(slice a, slice b) {
  return a.length == b.length && !memcmp(a.at, b.at, a.length);
}

// One character of text, in UTF-8 and allowed by XML 1.0.
static bool character(reader *r) {
  const unsigned char *s = (const unsigned char *)r->c;
  uint32_t code = s[0];
  int more = code < 0x80 ? 0 : code >= 0xf0 ? 3 : code >= 0xe0 ? 2 : code >= 0xc2 ? 1 : -1;
  if (more < 0) return bad(r, "a byte that begins no character");
  if (more) code &= 0x3fu >> more;
  for (int i = 1; i <= more; i++) {
    if ((s[i] & 0xc0) != 0x80) return bad(r, "a cut character");
    code = code << 6 | (s[i] & 0x3f);
  }
  static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
  bool allowed = code == '\t' || code == '\n' || code == '\r' || (code >= 0x20 && code < 0xd800) ||
                 (code > 0xdfff && code < 0xfffe) || (code > 0xffff && code < 0x110000);
  if (code < least[more] || !allowed) return bad(r, "a character that XML does not allow");
  r->c += more + 1;
  return true;
}

static bool entity(reader *r) {
  static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
  for (int i = 0; i < 5; i++)
    if (!strncmp(r->c, known[i], strlen(known[i]))) return r->c += strlen(known[i]), true;
  return bad(r, "an unknown entity");
}

static slice name(reader *r) {
  slice n = {r->c, 0};
  if (isalpha((unsigned char)*r->c) || *r->c == '_')
    while (isalnum((unsigned char)*r->c) || strchr("_-:.", *r->c)) {
      if (!*r->c) break;
      r->c++;
    }
  n.length = (size_t)(r->c - n.at);
  return n;
}

static void blanks(reader *r) {
  while (*r->c && isspace((unsigned char)*r->c)) r->c++;
}

static bool attribute(reader *r, slice *seen, int *count) {
  slice n = name(r);
  if (n.length == 0) return bad(r, "expected an attribute");
  for (int i = 0; i < *count; i++)
    if (same(seen[i], n)) return bad(r, "an attribute twice");
  if (*count == ATTRIBUTES) return bad(r, "too many attributes");
  seen[(*count)++] = n;
  if (*r->c++ != '=') return bad(r, "an attribute without a value");
  char quote = *r->c++;
  if (quote != '"' && quote != '\'') return bad(r, "a value without quotes");
  while (*r->c != quote) {
    if (!*r->c || *r->c == '<') return bad(r, "a value without an end");
    if (!(*r->c == '&' ? entity(r) : character(r))) return false;
  }
  r->c++;
  return true;
}

static bool opening(reader *r) {
  slice n = name(r), seen[ATTRIBUTES];
  int count = 0;
  if (n.length == 0) return bad(r, "a tag without a name");
  if (r->depth == 0 && r->roots++ > 0) return bad(r, "a second root");
  for (;;) {
    const char *before = r->c;
    blanks(r);
    if (*r->c == '>') break;
    if (r->c[0] == '/' && r->c[1] == '>') return r->c += 2, true;
    if (before == r->c) return bad(r, "expected a blank");
    if (!attribute(r, seen, &count)) return false;
  }
  r->c++;
  if (r->depth == DEPTH) return bad(r, "too deep");
  r->open[r->depth++] = n;
  return true;
}

static bool closing(reader *r) {
  slice n = name(r);
  blanks(r);
  if (*r->c != '>' || r->depth == 0 || !same(n, r->open[r->depth - 1]))
    return bad(r, "a closing tag that matches none");
  r->c++;
  r->depth--;
  return true;
}

static bool cdata(reader *r) {
  const char *end = strstr(r->c, "]]>");
  if (!end) return bad(r, "CDATA without an end");
  while (r->c < end)
    if (!character(r)) return false;
  r->c = end + 3;
  return true;
}

bool xml_well_formed(const char *text, char *what, size_t size) {
  reader r = {.begin = text, .c = text, .what = what, .size = size};
  if (!strncmp(text, "<!DOCTYPE html>", 15)) r.c += 15;
  while (*r.c) {
    bool ok;
    if (!strncmp(r.c, "<![CDATA[", 9))
      r.c += 9, ok = r.depth > 0 && cdata(&r);
    else if (r.c[0] == '<' && r.c[1] == '/')
      r.c += 2, ok = closing(&r);
    else if (r.c[0] == '<')
      r.c += 1, ok = opening(&r);
    else if (r.depth == 0 && !isspace((unsigned char)*r.c))
      ok = bad(&r, "text outside the root");
    else if (!strncmp(r.c, "]]>", 3))
      ok = bad(&r, "an end of CDATA without a beginning");
    else
      ok = *r.c == '&' ? entity(&r) : character(&r);
    if (!ok) return false;
  }
  if (r.depth > 0 || r.roots != 1) return bad(&r, "the text ends too early");
  return true;
}
