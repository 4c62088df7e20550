// The table of all databases that keep a history. The first one is the store of paths.
#include <string.h>

#include "history/store.h"

static const struct {
  const od_store_class *class;  // NULL: this program was built without it
  const char *scheme, *package;
} classes[] = {
    {&od_sqlite_store, "", ""},
#ifdef OD_HAVE_LIBPQ
    {&od_postgresql_store, "postgresql", ""},
    {&od_postgresql_store, "postgres", ""},
#else
    {NULL, "postgresql", "libpq-dev"},
    {NULL, "postgres", "libpq-dev"},
#endif
};

od_status od_store_class_of(const od_twin_history *settings, const od_store_class **out, od_error *err) {
  const char *url = settings->url ? settings->url : "";
  const size_t length = strcspn(url, ":");
  *out = NULL;
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    if (strlen(classes[i].scheme) != length || strncmp(url, classes[i].scheme, length) != 0) continue;
    *out = classes[i].class;
    if (*out) return OD_OK;
    return od_fail(
        err, OD_BAD_INPUT,
        "the history %s cannot be used: this oleodyn-twin was built without PostgreSQL; install %s and build it again",
        url, classes[i].package);
  }
  return od_fail(
      err, OD_BAD_INPUT,
      "there is no history with the URL %s; expected postgresql://HOST/DATABASE, or 'file' in place of 'url'", url);
}
