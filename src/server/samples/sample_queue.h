// Bounded queue of samples from the thread of a source to the thread of an observer. A source without loss (od_source_class.waits), such as
// a pipe or MQTT, waits for a free place. If the queue is full, a sample of another source, such as UDP, is left out and counted.
#ifndef OD_SAMPLES_SAMPLE_QUEUE_H
#define OD_SAMPLES_SAMPLE_QUEUE_H

#include <pthread.h>

#include "samples/sample_order.h"

typedef struct od_sample_queue {
  pthread_mutex_t lock;
  pthread_cond_t filled, emptied;
  int cells, capacity, first, count;
  bool closed;   // no further samples: the reader gets the remaining ones
  bool ended;    // the reader has stopped: samples are left out
  long overrun;  // number of samples that were left out because the queue was full, or removed when it was closed
  od_raw_sample *sample;
  double *cell;
} od_sample_queue;

// Creates a queue in the memory of an arena. Call od_sample_queue_end() before the arena is freed. Fails with OD_NO_MEMORY.
od_status od_sample_queue_init(od_sample_queue *q, od_arena *memory, int capacity, int cells);
void od_sample_queue_end(od_sample_queue *q);
// Appends a copy of a sample. waits: whether to wait for a free place. Returns false if the sample was left out.
bool od_sample_queue_put(od_sample_queue *q, const od_raw_sample *s, bool waits);
// Waits for the next sample and copies it to *s; its cells are copied to `cell`. Returns false if the queue is closed and empty.
bool od_sample_queue_take(od_sample_queue *q, od_raw_sample *s, double *cell);
// Closes the queue. drops: whether the remaining samples are left out, and counted.
void od_sample_queue_close(od_sample_queue *q, bool drops);
// The reader has stopped: from now on od_sample_queue_put() returns at once and leaves the samples out, without counting them.
void od_sample_queue_stop(od_sample_queue *q);
// Returns the number of waiting samples; *overrun receives the number of samples that were left out.
int od_sample_queue_length(od_sample_queue *q, long *overrun);

#endif
