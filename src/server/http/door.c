#define _GNU_SOURCE  // SOCK_NONBLOCK, gettid

#include "http/door.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/allocate.h"
#include "http/client_certificate.h"
#include "http/live.h"
#include "io/private_file.h"
#include "io/clock.h"

enum { MEMORY_OF_CONNECTION = 12288, SEND_BUFFER = 1 << 17, NICENESS = 10, BACKLOG = 512, MOST_OPEN = 1000 };
// Largest times, s, until the first request of a connection is complete, until the next request, and until an answer is sent.
static const double first_request = 10, next_request = 20, longest_answer = 30;

// --- Connections --------------------------------------------------------------------------------------------------

static void watch(void *user, struct MHD_Connection *connection, void **context,
                  enum MHD_ConnectionNotificationCode code) {
  od_door *d = user;
  od_watched_connection *w = *context;
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *context = w = od_calloc(1, sizeof *w);
    if (!w || !info) return;
    w->socket = info->connect_fd;
    w->deadline = od_seconds() + first_request;
    setsockopt(w->socket, SOL_SOCKET, SO_SNDBUF, &(int){SEND_BUFFER}, sizeof(int));
    setsockopt(w->socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    w->next = d->connections;
    if (w->next) w->next->previous = w;
    d->connections = w;
  } else if (w) {
    if (w->next) w->next->previous = w->previous;
    if (w->previous) w->previous->next = w->next;
    if (d->connections == w) d->connections = w->next;
    od_free(w);
    *context = NULL;
  }
}

// Closes the sockets whose deadline has passed. libmicrohttpd then ends their connections.
static void close_late(od_door *d, double now) {
  for (od_watched_connection *w = d->connections; w; w = w->next)
    if (now > w->deadline) {
      shutdown(w->socket, SHUT_RDWR);
      w->deadline = now + longest_answer;
    }
}

void od_door_drop(od_request *r) {
  if (r->watched) shutdown(r->watched->socket, SHUT_RDWR);
}

// --- Requests -----------------------------------------------------------------------------------------------------

static enum MHD_Result take_header(void *user, enum MHD_ValueKind kind, const char *key, size_t key_size,
                                   const char *value, size_t size) {
  (void)kind, (void)key_size, (void)size;
  od_headers_take(user, key, value);
  return MHD_YES;
}

typedef struct query_reading {
  od_request *r;
  od_status status;
  od_error err;
} query_reading;

static enum MHD_Result take_query(void *user, enum MHD_ValueKind kind, const char *key, size_t key_size,
                                  const char *value, size_t size) {
  query_reading *q = user;
  (void)kind, (void)key_size;
  q->status = od_query_take(&q->r->query, key, value, value ? size : 0, &q->r->memory, &q->err);
  return q->status == OD_OK ? MHD_YES : MHD_NO;
}

static od_address address_of(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return od_address_of(info ? info->client_addr : NULL);
}

static bool is_reading(const char *method) {
  return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

// Checks a request before its body is read. Answers and returns false if the request is refused.
static bool admit(od_request *r, const char *method, const char *path) {
  od_door *d = r->door;
  const od_address address = address_of(r->connection);
  int status = 0;
  if (!od_rates_request(&d->rates, &address, r->now))
    return od_answer_error(r, 429, "too many requests from this address; expected at most %d per second",
                           d->page->requests),
           false;
  MHD_get_connection_values_n(r->connection, MHD_HEADER_KIND, take_header, &r->headers);
  const bool is_api = strncmp(path, "/api/", 5) == 0;
  od_refusal refusal = od_guard_request(d->page, &r->headers, is_api);
  if (refusal.status == 0) {
    od_certificate_name certificate;
    const bool has_certificate = d->page->client_ca_file && od_client_certificate(r->connection, &certificate);
    if (r->headers.authorization && !od_rates_may_login(&d->rates, &address, r->now))
      return od_answer_error(r, 429, "too many wrong tokens from this address; try again in a minute"), false;
    const char *name = has_certificate ? od_arena_text(&r->memory, certificate.text) : NULL;
    r->reader = od_guard_reader(&d->sessions, &r->headers, name, r->now);
    if (r->reader.is_refused) od_rates_failed_login(&d->rates, &address, r->now);
    r->route = od_route_find(d, method, path, r, &status);
    if (r->route)
      refusal = od_guard_role(&r->reader, &r->headers, r->route->role, !is_reading(method) && !r->route->is_login);
    else if (is_api && r->reader.role == OD_ROLE_NONE)
      refusal = (od_refusal){401, "log in with a token first"};
  }
  if (refusal.status) return od_answer_error(r, refusal.status, "%s", refusal.text), false;
  if (status == 404)
    return od_answer_error(r, 404, "there is no such address; GET /api/v1/openapi.json lists all addresses"), false;
  if (status == 405) return od_answer_error(r, 405, "the method %.10s is not possible at this address", method), false;
  if (!is_reading(method) &&
      (!r->headers.content_type || strncmp(r->headers.content_type, "application/json", 16) != 0 ||
       strchr("; ", r->headers.content_type[16]) == NULL) &&
      strcmp(method, "DELETE") != 0)
    return od_answer_error(r, 415, "expected a body of the type application/json"), false;
  query_reading reading = {.r = r, .status = OD_OK};
  od_query_begin(&r->query, r->route->query, r->route->queries);
  if (strncmp(path, "/api/", 5) == 0)
    MHD_get_connection_values_n(r->connection, MHD_GET_ARGUMENT_KIND, take_query, &reading);
  if (reading.status != OD_OK) return od_answer_status(r, reading.status, &reading.err), false;
  return true;
}

static od_request *begin_request(od_door *d, struct MHD_Connection *connection) {
  od_request *r = od_calloc(1, sizeof *r);
  if (!r) return NULL;
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  r->door = d;
  r->connection = connection;
  r->now = od_seconds();
  r->machine = -1;
  r->watched = info ? info->socket_context : NULL;
  return r;
}

// libmicrohttpd calls this function when the headers of a request are complete, for each part of its body, and at its end.
static enum MHD_Result take_request(void *user, struct MHD_Connection *connection, const char *path, const char *method,
                                    const char *version, const char *data, size_t *size, void **context) {
  od_door *d = user;
  od_request *r = *context;
  (void)version;
  if (!r) {
    *context = r = begin_request(d, connection);
    if (!r) return MHD_NO;
    if (!admit(r, method, path)) return r->is_answered ? MHD_YES : MHD_NO;
    return MHD_YES;
  }
  if (r->is_answered) {  // the request was refused when its headers were complete: skip its body
    *size = 0;
    return MHD_YES;
  }
  if (*size > 0) {
    const size_t room = OD_MOST_BODY - r->size, n = *size < room ? *size : room;
    r->is_too_large = r->is_too_large || *size > room;
    memcpy(r->body + r->size, data, n);
    r->size += n;
    *size = 0;
    return MHD_YES;
  }
  if (r->is_too_large)
    od_answer_error(r, 413, "the body is too large; expected at most %d bytes", OD_MOST_BODY);
  else
    r->route->answer(r);
  return r->is_answered ? MHD_YES : MHD_NO;
}

static void end_request(void *user, struct MHD_Connection *connection, void **context,
                        enum MHD_RequestTerminationCode code) {
  od_door *d = user;
  od_request *r = *context;
  (void)connection, (void)code;
  if (!r) return;
  d->pending -= r->counted;
  if (r->watched) r->watched->deadline = od_seconds() + next_request;
  explicit_bzero(r->body, sizeof r->body);
  od_arena_free(&r->memory);
  od_free(r);
  *context = NULL;
}

void od_answer_begin(od_request *r) {
  if (r->watched) r->watched->deadline = od_seconds() + longest_answer;
}

// --- The thread ---------------------------------------------------------------------------------------------------

// Returns the time for which the thread may sleep, ms.
static int pause_of(const od_door *d, double now) {
  MHD_UNSIGNED_LONG_LONG ms = 500;
  double pause = MHD_get_timeout(d->daemon, &ms) == MHD_YES ? fmin((double)ms, 500) : 500;
  if (d->streams) pause = fmin(pause, fmax(1e3 * (d->stream_next - now), 0));
  return (int)ceil(pause);
}

static void *serve(void *user) {
  od_door *d = user;
  double next_check = 0;
  prctl(PR_SET_NAME, "page");
  setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS);
  while (!atomic_load(&d->ends)) {
    struct pollfd wait[2] = {{.fd = d->polled, .events = POLLIN}, {.fd = d->waker, .events = POLLIN}};
    poll(wait, 2, pause_of(d, od_seconds()));
    const double now = od_seconds();
    if (d->streams && now >= d->stream_next) od_streams_turn(d, now);
    MHD_run(d->daemon);
    if (now >= next_check) {
      close_late(d, now);
      next_check = now + 0.5;
    }
  }
  return NULL;
}

// --- Opening and closing ------------------------------------------------------------------------------------------

// Creates the listening socket. Fails with OD_IO.
static od_status listen_at(od_door *d, od_error *err) {
  const od_twin_page *p = d->page;
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)p->port)};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)p->port)};
  const bool is_v6 = inet_pton(AF_INET, p->address, &v4.sin_addr) != 1;
  if (is_v6) inet_pton(AF_INET6, p->address, &v6.sin6_addr);
  d->listener = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const struct sockaddr *address = is_v6 ? (const struct sockaddr *)&v6 : (const struct sockaddr *)&v4;
  const socklen_t size = is_v6 ? sizeof v6 : sizeof v4;
  if (d->listener >= 0) {
    setsockopt(d->listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (is_v6) setsockopt(d->listener, IPPROTO_IPV6, IPV6_V6ONLY, &(int){1}, sizeof(int));
    if (bind(d->listener, address, size) == 0 && listen(d->listener, BACKLOG) == 0) return OD_OK;
  }
  return od_fail(err, OD_IO, "the page cannot be served at %s, port %d: %s; choose another 'listen' or 'port'",
                 p->address, p->port, strerror(errno));
}

// Raises the limit of open files of the process, if it is less than the number of connections and 256 more. Fails with OD_BAD_INPUT.
static od_status allow_files(const od_twin_page *p, od_error *err) {
  struct rlimit limit;
  const rlim_t needed = (rlim_t)p->connections + 256;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return OD_OK;
  if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= needed) {
    limit.rlim_cur = needed;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return OD_OK;
  }
  return od_fail(err, OD_BAD_INPUT,
                 "the system allows %lld open files, which are too few for %d connections; reduce 'connections' of the "
                 "section 'page', or raise the limit ('ulimit -n')",
                 (long long)limit.rlim_max, p->connections);
}

static void ignore_log(void *user, const char *format, va_list arguments) {
  (void)user, (void)format, (void)arguments;
}

static od_status start_daemon(od_door *d, od_error *err) {
  OD_SCRATCH(scratch);
  const od_twin_page *p = d->page;
  struct MHD_OptionItem tls[5] = {{MHD_OPTION_END, 0, NULL}};
  unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
  char *certificate = NULL, *key = NULL, *authority = NULL;
  size_t size = 0;
  od_status status = OD_OK;
  if (p->certificate_file) {
    status = od_public_file_read(p->certificate_file, "certificate", &scratch, &certificate, err);
    if (status == OD_OK) status = od_private_file_read(p->key_file, "key", &scratch, &key, &size, err);
    if (status == OD_OK && p->client_ca_file)
      status = od_public_file_read(p->client_ca_file, "certificate", &scratch, &authority, err);
    if (status == OD_OK) status = od_tls_check(p, certificate, key, authority, err);
    if (status != OD_OK) return status;
    int n = 0;
    flags |= MHD_USE_TLS;
    tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, certificate};
    tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, key};
    tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)od_tls_priorities};
    if (authority) tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0, authority};
    tls[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
  }
  d->daemon = MHD_start_daemon(
      flags, 0, NULL, NULL, take_request, d, MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL, MHD_OPTION_LISTEN_SOCKET,
      d->listener, MHD_OPTION_CONNECTION_LIMIT, (unsigned)p->connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      (size_t)MEMORY_OF_CONNECTION, MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)1024, MHD_OPTION_STRICT_FOR_CLIENT,
      1, MHD_OPTION_NOTIFY_COMPLETED, end_request, d, MHD_OPTION_NOTIFY_CONNECTION, watch, d, MHD_OPTION_ARRAY, tls,
      MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
  if (key) explicit_bzero(key, size);
  const union MHD_DaemonInfo *info = d->daemon ? MHD_get_daemon_info(d->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
  if (!info)
    return od_fail(err, OD_IO, "the server of the page cannot be started at %s, port %d: %s", p->address, p->port,
                   strerror(errno));
  d->polled = info->epoll_fd;
  return OD_OK;
}

// Counts the alarms of the history that are not acknowledged, at most MOST_OPEN of each machine. Fails with OD_IO or
// OD_NO_MEMORY.
static od_status count_alarms(od_door *d, od_error *err) {
  od_status status = OD_OK;
  for (int i = 0; d->history && i < d->twin->machines && status == OD_OK; i++) {
    OD_SCRATCH(scratch);
    const od_event_query query = {
        .machine = d->twin->machine[i].name, .is_open = true, .kinds = od_alarm_kinds, .most = MOST_OPEN};
    od_history_event *event;
    int count = 0;
    status = od_history_reader_events(d->history, &scratch, &query, &event, &count, err);
    od_board_set_alarms(d->board, i, count);
  }
  return status;
}

static od_status open_door(od_door *d, od_error *err) {
  od_status status = od_random_text(d->boot, err);
  if (status == OD_OK) status = od_sessions_init(&d->sessions, d->page, &d->memory, err);
  if (status == OD_OK) status = allow_files(d->page, err);
  const bool has_history = d->twin->history.file || d->twin->history.url;
  if (status == OD_OK && has_history) status = od_history_reader_open(&d->twin->history, &d->history, err);
  if (status == OD_OK) status = count_alarms(d, err);
  if (status == OD_OK) status = od_live_init(d, err);
  if (status == OD_OK) status = listen_at(d, err);
  if (status == OD_OK) status = start_daemon(d, err);
  if (status == OD_OK && (d->waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
    status = od_fail(err, OD_IO, "the server of the page cannot be started: %s", strerror(errno));
  if (status != OD_OK) return status;
  d->has_thread = pthread_create(&d->thread, NULL, serve, d) == 0;
  return d->has_thread ? OD_OK : od_fail(err, OD_NO_MEMORY, "cannot start a thread");
}

od_status od_door_open(const od_twin *twin, od_board *board, od_door **out, od_error *err) {
  od_door *d = od_calloc(1, sizeof *d);
  *out = NULL;
  if (!d) return od_fail(err, OD_NO_MEMORY, "out of memory");
  d->twin = twin;
  d->page = &twin->page;
  d->board = board;
  d->listener = d->waker = -1;
  d->rates.requests = twin->page.requests;
  od_status status = open_door(d, err);
  if (status == OD_OK)
    *out = d;
  else
    od_door_close(d);
  return status;
}

void od_door_close(od_door *d) {
  if (!d) return;
  atomic_store(&d->ends, true);
  if (d->has_thread) {
    if (write(d->waker, &(uint64_t){1}, sizeof(uint64_t)) < 0) poll(NULL, 0, 500);  // the thread also ends by itself
    pthread_join(d->thread, NULL);
  }
  od_streams_end(d);
  if (d->daemon)
    MHD_stop_daemon(d->daemon);  // closes the listening socket
  else if (d->listener >= 0)
    close(d->listener);
  if (d->waker >= 0) close(d->waker);
  od_live_end(d);
  od_history_close(d->history);
  od_sessions_end(&d->sessions);
  od_arena_free(&d->memory);
  od_free(d);
}
