// Answers. Every answer has the headers that restrict the actions of browsers: only files of the page itself, no frame around the
// page, no guessed types.
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/allocate.h"
#include "http/door.h"
#include "http/live.h"
#include "io/json.h"
#include "io/utf8.h"

static const char *const headers[][2] = {
    {"Content-Security-Policy",
     "default-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; object-src 'none'; base-uri 'none'; "
     "form-action 'self'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Permissions-Policy", "camera=(), microphone=(), geolocation=()"},
};

void od_answer_response(od_request *r, int status, struct MHD_Response *response) {
  if (!response) return;
  for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
    MHD_add_response_header(response, headers[i][0], headers[i][1]);
  if (r->door->page->certificate_file)
    MHD_add_response_header(response, "Strict-Transport-Security", "max-age=31536000");
  od_answer_begin(r);
  r->is_answered = MHD_queue_response(r->connection, (unsigned)status, response) == MHD_YES;
  MHD_destroy_response(response);
}

// Limit of the bytes of all answers that wait for their readers.
static const size_t most_pending = 64 << 20;

static struct MHD_Response *response_of(od_request *r, const char *type, const char *text, size_t size) {
  struct MHD_Response *response = MHD_create_response_from_buffer(size, (void *)text, MHD_RESPMEM_MUST_COPY);
  if (!response) return NULL;
  MHD_add_response_header(response, "Content-Type", type);
  r->counted += size;
  r->door->pending += size;
  return response;
}

void od_answer_text(od_request *r, const char *type, const char *text, size_t size, const char *tag) {
  if (r->door->pending + size > most_pending) {
    od_answer_error(r, 503, "too many answers wait for their readers; try again later");
    return;
  }
  const bool is_known = tag && r->headers.match && strcmp(r->headers.match, tag) == 0;
  struct MHD_Response *response = response_of(r, type, text, is_known ? 0 : size);
  if (!response) return;
  if (tag) MHD_add_response_header(response, "ETag", tag);
  MHD_add_response_header(response, "Cache-Control", tag ? "no-cache" : "no-store");
  od_answer_response(r, is_known ? 304 : 200, response);
}

void od_answer_json(od_request *r, json_t *object) {
  char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
  json_decref(object);
  if (text)
    od_answer_text(r, "application/json", text, strlen(text), NULL);
  else
    od_answer_error(r, 500, "out of memory");
  od_json_text_free(text);
}

void od_answer_error(od_request *r, int status, const char *format, ...) {
  char text[600];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  json_t *object = json_pack("{s:{s:i, s:o}}", "error", "status", status, "text", od_json_text(text));
  char *body = object ? json_dumps(object, JSON_COMPACT) : NULL;
  json_decref(object);
  struct MHD_Response *response = body ? response_of(r, "application/json", body, strlen(body)) : NULL;
  od_json_text_free(body);
  if (!response) return;
  MHD_add_response_header(response, "Cache-Control", "no-store");
  if (status == 401) MHD_add_response_header(response, "WWW-Authenticate", "Bearer realm=\"oleodyn\"");
  if (status == 429) MHD_add_response_header(response, "Retry-After", "60");
  od_answer_response(r, status, response);
}

void od_answer_status(od_request *r, od_status status, const od_error *err) {
  od_answer_error(r, status == OD_BAD_INPUT ? 400 : 500, "%s", err->text);
}

// --- Texts --------------------------------------------------------------------------------------------------------

bool od_text_begin(od_text_stream *s) {
  *s = (od_text_stream){0};
  s->to = open_memstream(&s->text, &s->size);
  return s->to != NULL;
}

bool od_text_end(od_text_stream *s) {
  const bool ok = fclose(s->to) == 0 && s->text;
  if (!ok) od_libc_free(s->text);
  return ok;
}

void od_answer_stream(od_request *r, const char *type, od_text_stream *s) {
  if (!od_text_end(s)) {
    od_answer_error(r, 500, "out of memory");
    return;
  }
  od_answer_text(r, type, s->text, s->size, NULL);
  od_libc_free(s->text);
}

void od_put_value(FILE *to, double value) {
  if (isfinite(value))
    fprintf(to, "%.6g", value);
  else
    fputs("null", to);
}

void od_put_time(FILE *to, double t) {
  if (isfinite(t))
    fprintf(to, "%.13g", t);
  else
    fputs("null", to);
}

void od_put_text(FILE *to, const char *text) {
  const bool is_valid = od_utf8_has_only(text, strlen(text));
  putc('"', to);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++)
    if (*c == '"' || *c == '\\')
      fprintf(to, "\\%c", *c);
    else if (*c < ' ' || *c == 0x7f)
      fprintf(to, "\\u%04x", *c);
    else
      putc(is_valid || *c < 0x80 ? *c : '?', to);
  putc('"', to);
}
