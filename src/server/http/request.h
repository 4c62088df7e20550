// A request, its route and its answer. A route is a row of the table in routes.c; the files route_*.c contain the functions of the routes.
#ifndef OD_HTTP_REQUEST_H
#define OD_HTTP_REQUEST_H

#include <jansson.h>
#include <microhttpd.h>
#include <stdio.h>

#include "http/door_guard.h"
#include "http/query.h"

struct od_door;
typedef struct od_request od_request;

// A route. Parts of the path in braces match one part of the path: {machine} the name of a machine, {id} a number.
typedef struct od_route {
  const char *method, *path;
  od_page_role role;              // role that the reader needs
  void (*answer)(od_request *r);  // answers by one of the functions below
  const char *summary, *meaning;  // for the description of the API
  const char *type, *schema;      // content type of the answer; its schema in schemas.json, NULL: none
  const od_query_key *query;
  int queries;
  const char *body;  // schema of the body; NULL: none
  bool is_login;     // whether the request needs no CSRF token although it is a POST
} od_route;

enum { OD_MOST_BODY = 4096 };

struct od_request {
  struct od_door *door;
  struct MHD_Connection *connection;
  const od_route *route;
  od_headers headers;
  od_reader reader;
  od_query query;
  int machine;  // {machine}: index
  int64_t id;   // {id}
  double now;   // monotonic time, s
  char body[OD_MOST_BODY + 1];
  size_t size;
  bool is_too_large, is_answered;
  size_t counted;  // bytes of the answer in the door's count of pending bytes
  od_arena memory;
  struct od_watched_connection *watched;
};

// Send an answer: an object, which the function releases; a text; or an error.
void od_answer_json(od_request *r, json_t *object);
void od_answer_text(od_request *r, const char *type, const char *text, size_t size, const char *tag);
void od_answer_error(od_request *r, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Answers with the message of a failed function: 400 for OD_BAD_INPUT, else 500.
void od_answer_status(od_request *r, od_status status, const od_error *err);
// Answers with a response of libmicrohttpd, and releases the response. Adds the headers of all answers.
void od_answer_response(od_request *r, int status, struct MHD_Response *response);

// An answer that is printed to memory. Call od_text_begin(), print to the stream, then call od_answer_stream(), which frees the
// text.
typedef struct od_text_stream {
  FILE *to;
  char *text;
  size_t size;
} od_text_stream;
bool od_text_begin(od_text_stream *s);
// Ends the text. Returns false, and frees the text, if an allocation failed.
bool od_text_end(od_text_stream *s);
void od_answer_stream(od_request *r, const char *type, od_text_stream *s);
// Write a number with 6 significant digits (times: 13), null for NAN and infinity; and a text as a JSON string.
void od_put_value(FILE *to, double value);
void od_put_time(FILE *to, double t);
void od_put_text(FILE *to, const char *text);

// The table of routes (routes.c), ended by a row without a path.
extern const od_route od_routes[];
// Finds the route of a path. *status: 0; 404 or 405 if there is none, and the function then returns NULL. The parts of the path
// go into the request.
const od_route *od_route_find(const struct od_door *door, const char *method, const char *path, od_request *r,
                              int *status);

// The functions of the routes, one per row of od_routes. Each sends one answer.
void od_route_get_session(od_request *r);
void od_route_login(od_request *r);
void od_route_logout(od_request *r);
void od_route_machines(od_request *r);
void od_route_machine(od_request *r);
void od_route_machine_picture(od_request *r);
void od_route_circuit_picture(od_request *r);
void od_route_history(od_request *r);
void od_route_frames(od_request *r);
void od_route_verdict(od_request *r);
void od_route_events(od_request *r);
void od_route_acknowledge(od_request *r);
void od_route_stream(od_request *r);
void od_route_openapi(od_request *r);
void od_route_metrics(od_request *r);
void od_route_health(od_request *r);
void od_route_page(od_request *r);
void od_route_script(od_request *r);
void od_route_style(od_request *r);
void od_route_icon(od_request *r);
extern const od_query_key od_history_query[5], od_frames_query[3], od_events_query[4], od_stream_query[2];

#endif
