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
  od_fmu_moment *ring;           // the moment of token k is at k modulo `room`
  double **list;                 // for each moment: x, u and indicators
  long room, next, with_memory;  // size of the ring; next token; first token that may have a saved state
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

static long first_token(const od_fmu_moments *m) {
  return m->next > m->room ? m->next - m->room : 1;
}

static void drop(od_fmu_moments *m, long token) {
  od_fmu_moment *at = &m->ring[token % m->room];
  m->bytes -= at->memory.size;
  od_free(at->memory.bytes);
  at->memory = (od_fmu_memory){0};
}

void od_fmu_moments_free(od_fmu_moments *m) {
  if (!m) return;
  for (long k = first_token(m); k < m->next; k++) {
    drop(m, k);
    od_free(m->list[k % m->room]);
  }
  od_free(m->ring);
  od_free(m->list);
  pthread_mutex_destroy(&m->lock);
  od_free(m);
}

// Doubles the ring while it is full and smaller than the limit.
static bool grow(od_fmu_moments *m) {
  if (m->next <= m->room || m->room == MOST_MOMENTS) return m->room > 0;
  long room = m->room > 0 ? 2 * m->room : 64;
  od_fmu_moment *ring = od_calloc((size_t)room, sizeof *ring);
  double **list = od_calloc((size_t)room, sizeof *list);
  if (!ring || !list) {
    od_free(ring);
    od_free(list);
    return false;
  }
  for (long k = first_token(m); k < m->next && m->room > 0; k++) {
    ring[k % room] = m->ring[k % m->room];
    list[k % room] = m->list[k % m->room];
  }
  od_free(m->ring);
  od_free(m->list);
  m->ring = ring, m->list = list, m->room = room;
  return true;
}

static double *copy(double **to, const double *from, int count) {
  double *begin = *to;
  if (from && count) memcpy(begin, from, (size_t)count * sizeof *from);
  *to += count;
  return begin;
}

static long add(od_fmu_moments *m, const od_fmu_moment *moment) {
  size_t doubles = (size_t)(m->states + m->inputs + m->indicators) + 1;
  double *list = od_calloc(doubles, sizeof *list), *to = list;
  if (!list || !grow(m)) {
    od_free(list);
    od_free(moment->memory.bytes);
    return -1;
  }
  long token = m->next;
  if (token - m->room >= 1) {  // the oldest moment makes room
    drop(m, token);
    od_free(m->list[token % m->room]);
  }
  od_fmu_moment *at = &m->ring[token % m->room];
  *at = *moment;
  at->x = copy(&to, moment->x, m->states);
  at->u = copy(&to, moment->u, m->inputs);
  at->situation.indicator = copy(&to, moment->situation.indicator, m->indicators);
  m->list[token % m->room] = list;
  m->bytes += moment->memory.size;
  m->next++;
  if (m->with_memory < first_token(m)) m->with_memory = first_token(m);
  while (m->bytes > most_bytes && m->with_memory < token) drop(m, m->with_memory++);
  return token;
}

double od_fmu_moment_add(od_fmu_moments *m, const od_fmu_moment *moment) {
  pthread_mutex_lock(&m->lock);
  long token = add(m, moment);
  pthread_mutex_unlock(&m->lock);
  return (double)token;
}

// Returns the stored moment of a token, or NULL.
static const od_fmu_moment *find(const od_fmu_moments *m, double token) {
  return token >= (double)first_token(m) && token < (double)m->next ? &m->ring[(long)token % m->room] : NULL;
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
