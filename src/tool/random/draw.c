#include "random/draw.h"

#include <string.h>

#include "random/random.h"

bool od_draw_kind_find(const char *word, size_t length, od_draw_kind *kind) {
  static const char *const words[] = {[OD_DRAW_NORMAL] = "normal", [OD_DRAW_UNIFORM] = "uniform"};
  for (int i = 0; i < 2; i++)
    if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0) {
      *kind = (od_draw_kind)i;
      return true;
    }
  return false;
}

double od_draw_value(const od_draw *draw, uint64_t seed, const char *path, int which) {
  uint32_t stream = od_random_stream(path);
  if (draw->kind == OD_DRAW_UNIFORM)
    return draw->a + (draw->b - draw->a) * od_random_uniform(seed, stream, (uint64_t)which, OD_USE_DRAW);
  return draw->a + draw->b * od_random_gaussian(seed, stream, (uint64_t)which, OD_USE_DRAW);
}
