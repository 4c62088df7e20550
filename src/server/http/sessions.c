#include "http/sessions.h"

#include <string.h>

static const double longest_pause = 12 * 3600, longest_session = 7 * 86400;  // s

od_status od_sessions_init(od_sessions *s, const od_twin_page *page, od_arena *memory, od_error *err) {
  *s = (od_sessions){.page = page, .token = OD_TAKE(memory, od_secret, page->tokens)};
  if (!s->token) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = od_random_text(s->local_csrf, err);
  for (int i = 0; i < page->tokens && status == OD_OK; i++) {
    status = od_token_read(page->token[i].file, &s->token[i], err);
    for (int k = 0; k < i && status == OD_OK; k++)
      if (od_secret_equal(&s->token[i], &s->token[k]))
        status = od_fail(err, OD_BAD_INPUT, "the tokens '%s' and '%s' are equal; expected a token for each reader",
                         page->token[k].name, page->token[i].name);
  }
  return status;
}

void od_sessions_end(od_sessions *s) {
  for (int i = 0; s->token && i < s->page->tokens; i++) od_secret_forget(&s->token[i]);
  for (int i = 0; i < OD_MOST_SESSIONS; i++) od_session_end(&s->session[i]);
}

int od_sessions_find_token(const od_sessions *s, const char *text) {
  od_secret given;
  int found = -1;
  od_secret_set(&given, text);
  for (int i = 0; i < s->page->tokens; i++)
    if (od_secret_equal(&s->token[i], &given)) found = i;
  od_secret_forget(&given);
  return found;
}

od_session *od_sessions_begin(od_sessions *s, int token, double now) {
  od_session *to = s->session;
  for (int i = 1; i < OD_MOST_SESSIONS; i++)
    if (s->session[i].used < to->used) to = &s->session[i];
  char cookie[OD_RANDOM_SIZE];
  od_session_end(to);
  if (od_random_text(cookie, NULL) != OD_OK || od_random_text(to->csrf, NULL) != OD_OK) return NULL;
  od_secret_set(&to->cookie, cookie);
  to->name = s->page->token[token].name;
  to->role = s->page->token[token].role;
  to->begun = to->used = now;
  return to;
}

od_session *od_sessions_find(od_sessions *s, const char *cookie, double now) {
  od_secret given;
  od_session *found = NULL;
  od_secret_set(&given, cookie);
  for (int i = 0; i < OD_MOST_SESSIONS; i++)
    if (od_secret_equal(&s->session[i].cookie, &given)) found = &s->session[i];
  od_secret_forget(&given);
  if (!found || found->begun == 0) return NULL;
  if (now - found->used > longest_pause || now - found->begun > longest_session) {
    od_session_end(found);
    return NULL;
  }
  found->used = now;
  return found;
}

void od_session_end(od_session *session) {
  od_secret_forget(&session->cookie);
  memset(session, 0, sizeof *session);
}
