// Readers of the page: tokens, and sessions, which begin with a token and are identified by a cookie.
#ifndef OD_HTTP_SESSIONS_H
#define OD_HTTP_SESSIONS_H

#include "http/secrets.h"
#include "twin/twin.h"

enum { OD_MOST_SESSIONS = 256 };

// A session. csrf: text that requests with changes must contain in a header, so that other pages cannot send such requests.
typedef struct od_session {
  od_secret cookie;
  char csrf[OD_RANDOM_SIZE];
  const char *name;
  od_page_role role;
  double begun, used;  // monotonic times, s; begun 0: the entry is free
} od_session;

typedef struct od_sessions {
  const od_twin_page *page;
  od_secret *token;  // one for each token of the page
  char local_csrf[OD_RANDOM_SIZE];
  od_session session[OD_MOST_SESSIONS];
} od_sessions;

// Reads all tokens. Fails with OD_BAD_INPUT if a file is not private or not a token, or if two tokens are equal; with OD_IO if a file cannot be read
// or the system has no random numbers; and with OD_NO_MEMORY.
od_status od_sessions_init(od_sessions *s, const od_twin_page *page, od_arena *memory, od_error *err);
void od_sessions_end(od_sessions *s);
// Returns the index of the page's token that is equal to a text; -1: none. All tokens are compared.
int od_sessions_find_token(const od_sessions *s, const char *text);
// Begins a session for a token. If the table of sessions is full, the session replaces the session that was used least recently.
// Returns NULL if the system has no random numbers.
od_session *od_sessions_begin(od_sessions *s, int token, double now);
// Returns the session of a cookie; NULL: no such session, or the session has expired (12 hours without use, or 7 days).
od_session *od_sessions_find(od_sessions *s, const char *cookie, double now);
void od_session_end(od_session *session);

#endif
