#include "jobs/log_options.h"

static od_log_texts texts_of(const od_words *words) {
  return (od_log_texts){words->text, words->count};
}

od_log_settings od_log_settings_of(const od_log_arguments *a) {
  return (od_log_settings){.data = texts_of(&a->data),
                           .map = texts_of(&a->map),
                           .missing = texts_of(&a->missing),
                           .databases = texts_of(&a->databases),
                           .skip = a->skip,
                           .start = a->start,
                           .end = a->end,
                           .interval = a->interval,
                           .hold = a->hold};
}
