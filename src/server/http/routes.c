// The table of routes. The description of the API (openapi.c) is made from this table.
#include "http/door.h"

#include <string.h>

#include "http/request.h"

#define JSON         "application/json"
#define QUERY(table) table, (int)(sizeof(table) / sizeof *(table))
#define API          "/api/v1"

// clang-format off
const od_route od_routes[] = {
    {"GET", "/", OD_ROLE_NONE, od_route_page, "Page", "The page for browsers.", "text/html", NULL, NULL, 0, NULL, false},
    {"GET", "/twin.js", OD_ROLE_NONE, od_route_script, "Script", "The script of the page.", "text/javascript", NULL, NULL, 0, NULL, false},
    {"GET", "/twin.css", OD_ROLE_NONE, od_route_style, "Style sheet", "The style sheet of the page.", "text/css", NULL, NULL, 0, NULL, false},
    {"GET", "/favicon.ico", OD_ROLE_NONE, od_route_icon, "Icon", "The icon of the page.", "image/svg+xml", NULL, NULL, 0, NULL, false},
    {"GET", API "/session", OD_ROLE_NONE, od_route_get_session, "Session", "The role of the reader, and the text for the header X-CSRF-Token.", JSON, "Session", NULL, 0, NULL, false},
    {"POST", API "/session", OD_ROLE_NONE, od_route_login, "Log in", "Begins a session with a token. The answer sets a cookie.", JSON, "Session", NULL, 0, "Login", true},
    {"DELETE", API "/session", OD_ROLE_READ, od_route_logout, "Log out", "Ends the session.", JSON, "Session", NULL, 0, NULL, false},
    {"GET", API "/machines", OD_ROLE_READ, od_route_machines, "Machines", "All machines with their states.", JSON, "Machines", NULL, 0, NULL, false},
    {"GET", API "/machines/{machine}", OD_ROLE_READ, od_route_machine, "Machine", "The description of a machine: series, scene, circuit, charts, curves. It is constant while `boot` and `version` are the same.", JSON, "Machine", NULL, 0, NULL, false},
    {"GET", API "/machines/{machine}/machine.svg", OD_ROLE_READ, od_route_machine_picture, "Picture of the machine", "The machine at its initial state.", "image/svg+xml", NULL, NULL, 0, NULL, false},
    {"GET", API "/machines/{machine}/circuit.svg", OD_ROLE_READ, od_route_circuit_picture, "Circuit", "The diagram of the hydraulic circuit.", "image/svg+xml", NULL, NULL, 0, NULL, false},
    {"GET", API "/machines/{machine}/history", OD_ROLE_READ, od_route_history, "History", "Channels of the history in bins: smallest, mean and largest value. The answer has at most 100 kB; if necessary there are fewer bins.", JSON, "History", QUERY(od_history_query), NULL, false},
    {"GET", API "/machines/{machine}/frames", OD_ROLE_READ, od_route_frames, "Frames", "Stored positions, pressures and flows of the moving pictures. The answer has at most 100 kB.", JSON, "Frames", QUERY(od_frames_query), NULL, false},
    {"GET", API "/machines/{machine}/verdict", OD_ROLE_READ, od_route_verdict, "Verdict", "The last verdict on the observer, with its causes.", JSON, "VerdictAnswer", NULL, 0, NULL, false},
    {"GET", API "/events", OD_ROLE_READ, od_route_events, "Events", "Events and alarms, the newest first.", JSON, "Events", QUERY(od_events_query), NULL, false},
    {"POST", API "/events/{id}/acknowledge", OD_ROLE_ACT, od_route_acknowledge, "Acknowledge", "Acknowledges an event. An event that was acknowledged before does not change.", JSON, "Event", NULL, 0, "Empty", false},
    {"GET", API "/stream", OD_ROLE_READ, od_route_stream, "Live values", "Server-sent events: `hello`, `machine` (state), `version`, `sample` (values of a machine, at most 25 per second), `event`, `verdict`. A reader that is slow loses samples.", "text/event-stream", NULL, QUERY(od_stream_query), NULL, false},
    {"GET", API "/openapi.json", OD_ROLE_NONE, od_route_openapi, "Description", "This description.", JSON, NULL, NULL, 0, NULL, false},
    {"GET", "/metrics", OD_ROLE_READ, od_route_metrics, "Metrics", "Metrics in the text format of Prometheus.", "text/plain; version=0.0.4", NULL, NULL, 0, NULL, false},
    {"GET", "/health", OD_ROLE_NONE, od_route_health, "Health", "Whether the server answers.", JSON, "Health", NULL, 0, NULL, false},
    {NULL, NULL, OD_ROLE_NONE, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, false},
};
// clang-format on

// Compares a path with the path of a route, and reads the parts in braces. Returns whether the path matches.
static bool matches(const od_door *d, const char *pattern, const char *path, od_request *r) {
  while (*pattern && *path) {
    if (*pattern != '{') {
      if (*pattern++ != *path++) return false;
      continue;
    }
    const size_t length = strcspn(path, "/");
    if (strncmp(pattern, "{machine}", 9) == 0) {
      r->machine = -1;
      for (int i = 0; i < d->twin->machines; i++)
        if (strlen(d->twin->machine[i].name) == length && strncmp(d->twin->machine[i].name, path, length) == 0)
          r->machine = i;
      if (r->machine < 0) return false;
    } else {
      r->id = od_read_id(path, length);
      if (r->id < 0) return false;
    }
    path += length;
    pattern = strchr(pattern, '}') + 1;
  }
  return *pattern == '\0' && *path == '\0';
}

const od_route *od_route_find(const od_door *door, const char *method, const char *path, od_request *r, int *status) {
  const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
  *status = 404;
  for (const od_route *route = od_routes; route->path; route++) {
    if (!matches(door, route->path, path, r)) continue;
    if (strcmp(route->method, wanted) == 0) {
      *status = 0;
      return route;
    }
    *status = 405;
  }
  return NULL;
}
