#include "fmu/fmu_moments.h"

#include <pthread.h>
#include <string.h>

#include "base/allocate.h"

// Limits: moments, and bytes of all saved states.
enum { MOST_MOMENTS = 1 << 20 };
static const size_t most_bytes = (size_t)128 << 20;

struct od_fmu_moments {
  pthread_mutex_t lock;
  int states, inputs, indicators;
  od_fmu_moment *ring;  // the moment of token k is at k modulo `room`; token 0: the place is free
  long room, count;     // size of the ring; number of stored moments
  long next;            // token of the next moment
  long with_memory;     // first token that may have a saved state
  size_t bytes;
};

void od_fmu_situation_copy(od_fmu_situation *to, const od_fmu_situation *from, int indicators) {
  to->next_event = from->next_event;
  if (indicators) memcpy(to->indicator, from->indicator, (size_t)indicators * sizeof *to->indicator);
}

od_fmu_moments *od_fmu_moments_new(int states, int inputs, int indicators) {
  od_fmu_moments *m = od_calloc(1, sizeof *m);
  if (!m) return NULL;
  pthread_mutex_init(&m->lock, NULL);
  m->states = states, m->inputs = inputs, m->indicators = indicators;
  m->next = m->with_memory = 1;
  return m;
}

// Frees the saved state of a moment.
static void drop(od_fmu_moments *m, od_fmu_moment *at) {
  m->bytes -= at->memory.size;
  od_free(at->memory.bytes);
  at->memory = (od_fmu_memory){0};
}

// Frees a place of the ring. The lists of a moment are one block of memory, which begins with the list x.
static void vacate(od_fmu_moments *m, od_fmu_moment *at) {
  if (at->token == 0) return;
  drop(m, at);
  od_free(at->x);
  *at = (od_fmu_moment){0};
  m->count--;
}

void od_fmu_moments_free(od_fmu_moments *m) {
  if (!m) return;
  for (long k = 0; k < m->room; k++) vacate(m, &m->ring[k]);
  od_free(m->ring);
  pthread_mutex_destroy(&m->lock);
  od_free(m);
}

// Doubles the ring if it is full and smaller than the limit. Returns false if an allocation fails.
static bool grow(od_fmu_moments *m) {
  if (m->room > 0 && (m->count < m->room || m->room == MOST_MOMENTS)) return true;
  long room = m->room > 0 ? 2 * m->room : 64;
  od_fmu_moment *ring = od_calloc((size_t)room, sizeof *ring);
  if (!ring) return false;
  for (long k = 0; k < m->room; k++)
    if (m->ring[k].token > 0) ring[(long)m->ring[k].token % room] = m->ring[k];
  od_free(m->ring);
  m->ring = ring, m->room = room;
  return true;
}

static double *copy(double **to, const double *from, int count) {
  double *begin = *to;
  if (from && count) memcpy(begin, from, (size_t)count * sizeof *from);
  *to += count;
  return begin;
}

static od_fmu_moment *find(const od_fmu_moments *m, double token) {
  if (!(token >= 1 && token < (double)m->next) || m->room == 0) return NULL;
  od_fmu_moment *at = &m->ring[(long)token % m->room];
  return at->token == token ? at : NULL;
}

static long add(od_fmu_moments *m, const od_fmu_moment *moment) {
  size_t doubles = (size_t)(m->states + m->inputs + m->indicators) + 1;
  double *to = od_calloc(doubles, sizeof *to);
  if (!to || !grow(m)) {
    od_free(to);
    od_free(moment->memory.bytes);
    return -1;
  }
  long token = m->next++;
  od_fmu_moment *at = &m->ring[token % m->room];
  vacate(m, at);  // the oldest moment makes room
  *at = *moment;
  at->token = (double)token;
  at->x = copy(&to, moment->x, m->states);
  at->u = copy(&to, moment->u, m->inputs);
  at->situation.indicator = copy(&to, moment->situation.indicator, m->indicators);
  m->bytes += moment->memory.size;
  m->count++;
  for (; m->bytes > most_bytes && m->with_memory < token; m->with_memory++) {
    od_fmu_moment *old = find(m, (double)m->with_memory);
    if (old) drop(m, old);
  }
  return token;
}

double od_fmu_moment_add(od_fmu_moments *m, const od_fmu_moment *moment) {
  pthread_mutex_lock(&m->lock);
  long token = add(m, moment);
  pthread_mutex_unlock(&m->lock);
  return (double)token;
}

double od_fmu_moment_take_up(od_fmu_moments *m, const od_fmu_moment *moment, double token) {
  pthread_mutex_lock(&m->lock);
  const od_fmu_moment *same = find(m, token);
  bool known = same && same->t == moment->t && same->memory.size == moment->memory.size && same->memory.bytes &&
               memcmp(same->memory.bytes, moment->memory.bytes, moment->memory.size) == 0;
  if (token > (double)m->next) m->next = m->with_memory = (long)token;
  if (known)
    od_free(moment->memory.bytes);
  else
    token = (double)add(m, moment);
  pthread_mutex_unlock(&m->lock);
  return token;
}

static bool copy_moment(const od_fmu_moments *m, const od_fmu_moment *from, od_fmu_moment *to) {
  double *list = od_calloc((size_t)(m->states + m->inputs + m->indicators) + 1, sizeof *list), *at = list;
  char *bytes = from->memory.bytes ? od_malloc(from->memory.size) : NULL;
  *to = *from;
  to->memory.bytes = bytes;
  if (!list || (from->memory.bytes && !bytes)) {
    od_free(list);
    od_free(bytes);
    return false;
  }
  if (bytes) memcpy(bytes, from->memory.bytes, from->memory.size);
  to->x = copy(&at, from->x, m->states);
  to->u = copy(&at, from->u, m->inputs);
  to->situation.indicator = copy(&at, from->situation.indicator, m->indicators);
  return true;
}

bool od_fmu_moment_get(od_fmu_moments *m, double token, od_fmu_moment *copy) {
  pthread_mutex_lock(&m->lock);
  const od_fmu_moment *found = find(m, token);
  bool good = found && copy_moment(m, found, copy);
  pthread_mutex_unlock(&m->lock);
  return good;
}

void od_fmu_moment_done(od_fmu_moment *copy) {
  od_free(copy->x);  // the first of all lists
  od_free(copy->memory.bytes);
}

bool od_fmu_moment_time(od_fmu_moments *m, double token, double *t) {
  pthread_mutex_lock(&m->lock);
  const od_fmu_moment *found = find(m, token);
  if (found) *t = found->t;
  pthread_mutex_unlock(&m->lock);
  return found != NULL;
}
