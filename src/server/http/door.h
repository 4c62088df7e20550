// The door: the HTTP server of the twin, in a separate thread with low priority. One thread serves all connections (libmicrohttpd
// with epoll), so the files of this module need no locks; other threads use only the board.
#ifndef OD_HTTP_DOOR_H
#define OD_HTTP_DOOR_H

#include "history/history_reader.h"
#include "http/board.h"
#include "http/address_rates.h"
#include "http/request.h"

// A connection, watched by the door: the door closes it if its reader takes too long to send a request or to receive an answer.
typedef struct od_watched_connection {
  struct od_watched_connection *next, *previous;
  int socket;
  double deadline;  // monotonic time at which the connection is closed, s; INFINITY: a live stream
} od_watched_connection;

struct od_stream;

typedef struct od_door {
  const od_twin *twin;
  const od_twin_page *page;
  od_board *board;
  od_history *history;  // connection for reading; NULL: none
  od_arena memory;
  od_sessions sessions;
  od_rates rates;
  char boot[OD_RANDOM_SIZE];
  struct MHD_Daemon *daemon;
  int listener, waker;  // sockets: listening; wakes the thread for its end
  int polled;           // epoll descriptor of the daemon
  pthread_t thread;
  bool has_thread;
  _Atomic bool ends;
  od_watched_connection *connections;
  struct od_stream *streams;
  int stream_count;
  double stream_next, state_next;  // monotonic times of the next turn of the streams, and of the next states, s
  long events;                     // number of the last event that the streams have
  size_t pending;                  // bytes of answers that wait for their readers
  struct od_live_machine *live;    // newest frame of each machine, for the streams (live.h)
} od_door;

// Opens the door: reads secrets, listens, and starts the thread. The twin and the board must outlive the door. Fails with OD_BAD_INPUT if a secret or
// certificate is invalid or the process may not open enough files; with OD_IO if the address, the history or a file cannot be used; and with
// OD_NO_MEMORY.
od_status od_door_open(const od_twin *twin, od_board *board, od_door **out, od_error *err);
void od_door_close(od_door *door);

// Shuts down the socket of a request. The daemon then closes the connection.
void od_door_drop(od_request *r);

#endif
