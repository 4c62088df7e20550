#include "samples/sample_queue.h"

#include <string.h>

od_status od_sample_queue_init(od_sample_queue *q, od_arena *memory, int capacity, int cells) {
  *q = (od_sample_queue){.capacity = capacity, .cells = cells};
  q->sample = OD_TAKE(memory, od_raw_sample, capacity);
  q->cell = OD_TAKE_MATRIX(memory, double, capacity, cells);
  if (od_arena_status(memory) != OD_OK) return OD_NO_MEMORY;
  pthread_mutex_init(&q->lock, NULL);
  pthread_cond_init(&q->filled, NULL);
  pthread_cond_init(&q->emptied, NULL);
  return OD_OK;
}

void od_sample_queue_end(od_sample_queue *q) {
  if (!q->sample) return;
  pthread_cond_destroy(&q->filled);
  pthread_cond_destroy(&q->emptied);
  pthread_mutex_destroy(&q->lock);
}

bool od_sample_queue_put(od_sample_queue *q, const od_raw_sample *s, bool waits) {
  pthread_mutex_lock(&q->lock);
  while (waits && q->count == q->capacity && !q->closed && !q->ended) pthread_cond_wait(&q->emptied, &q->lock);
  const bool fits = q->count < q->capacity && !q->closed && !q->ended;
  if (fits) {
    const int at = (q->first + q->count) % q->capacity;
    q->sample[at] = *s;
    memcpy(q->cell + (size_t)at * (size_t)q->cells, s->cell, (size_t)q->cells * sizeof *q->cell);
    if (q->count++ == 0) pthread_cond_signal(&q->filled);
  } else {
    q->overrun += !q->closed && !q->ended;
  }
  pthread_mutex_unlock(&q->lock);
  return fits;
}

bool od_sample_queue_take(od_sample_queue *q, od_raw_sample *s, double *cell) {
  pthread_mutex_lock(&q->lock);
  while (q->count == 0 && !q->closed) pthread_cond_wait(&q->filled, &q->lock);
  const bool any = q->count > 0;
  if (any) {
    *s = q->sample[q->first];
    memcpy(cell, q->cell + (size_t)q->first * (size_t)q->cells, (size_t)q->cells * sizeof *cell);
    s->cell = cell;
    q->first = (q->first + 1) % q->capacity;
    if (q->count-- == q->capacity) pthread_cond_signal(&q->emptied);
  }
  pthread_mutex_unlock(&q->lock);
  return any;
}

void od_sample_queue_close(od_sample_queue *q, bool drops) {
  pthread_mutex_lock(&q->lock);
  q->closed = true;
  if (drops) {
    q->overrun += q->count;
    q->count = 0;
  }
  pthread_cond_broadcast(&q->filled);
  pthread_cond_broadcast(&q->emptied);
  pthread_mutex_unlock(&q->lock);
}

void od_sample_queue_stop(od_sample_queue *q) {
  pthread_mutex_lock(&q->lock);
  q->ended = true;
  pthread_cond_broadcast(&q->emptied);
  pthread_mutex_unlock(&q->lock);
}

int od_sample_queue_length(od_sample_queue *q, long *overrun) {
  pthread_mutex_lock(&q->lock);
  const int count = q->count;
  *overrun = q->overrun;
  pthread_mutex_unlock(&q->lock);
  return count;
}
