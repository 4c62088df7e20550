#include "study/shared_truth.h"

#include <pthread.h>

#include "base/allocate.h"

struct od_shared_truth {
  od_shared_truth *next;
  const od_experiment *e;
  pthread_mutex_t lock;  // protects the following members
  od_kept_motion *motion;
  bool too_large;
};

struct od_shared_truths {
  od_shared_truth *first;
  double bytes, most_bytes;
};

od_shared_truths *od_shared_truths_new(double most_bytes) {
  od_shared_truths *all = od_calloc(1, sizeof *all);
  if (all) all->most_bytes = most_bytes;
  return all;
}

void od_shared_truths_free(od_shared_truths *all) {
  while (all && all->first) {
    od_shared_truth *s = all->first;
    all->first = s->next;
    od_kept_motion_free(s->motion);
    pthread_mutex_destroy(&s->lock);
    od_free(s);
  }
  od_free(all);
}

// Reserves memory. False: the limit of memory would be exceeded.
static bool reserve(od_shared_truths *all, double bytes) {
  if (!(all->bytes + bytes <= all->most_bytes)) return false;
  all->bytes += bytes;
  return true;
}

od_shared_truth *od_shared_truths_find(od_shared_truths *all, const od_experiment *e) {
  if (!od_motion_is_same(e)) return NULL;
  for (od_shared_truth *s = all->first; s; s = s->next)
    if (od_motion_is_shared(s->e, e)) return s;
  od_shared_truth *s = reserve(all, od_kept_motion_bytes(e)) ? od_calloc(1, sizeof *s) : NULL;
  if (!s || pthread_mutex_init(&s->lock, NULL) != 0) {
    od_free(s);
    return NULL;
  }
  s->e = e;
  s->next = all->first;
  all->first = s;
  return s;
}

od_status od_shared_truth_motion(od_shared_truth *s, od_going_on going, const od_kept_motion **out, od_error *err) {
  od_status status = OD_OK;
  pthread_mutex_lock(&s->lock);
  if (!s->motion && !s->too_large) {
    status = od_kept_motion_new(s->e, going, &s->motion, err);
    s->too_large = status == OD_NO_MEMORY;
  }
  *out = s->motion;
  pthread_mutex_unlock(&s->lock);
  return status == OD_NO_MEMORY ? OD_OK : status;
}

static bool keeps_going(void *user) {
  const od_going_on *going = user;
  return !going->progress || going->progress(going->user, 0);
}

od_status od_shared_truths_keep_sets(od_shared_truths *all, od_fit_plan *plan, int sets, od_going_on going,
                                     od_error *err) {
  const od_waiting waiting = {keeps_going, &going};
  for (int i = 0; i < sets; i++) {
    od_error ignored = {0};
    if (plan->set[i].log || !reserve(all, od_fit_truth_bytes(plan, i))) continue;
    od_status status = od_fit_keep_truth(plan, i, &waiting, &ignored);
    if (status == OD_INTERRUPTED) {
      *err = ignored;
      return status;
    }
  }
  return OD_OK;
}
