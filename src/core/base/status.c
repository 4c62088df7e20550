// The texts of statuses, and od_fail(), which fills in an od_error.
#include "oleodyn/status.h"

#include <stdarg.h>

#include "base/parts.h"
#include "base/text.h"

#define OD_STATUS_TEXT(name, text) text,
static const char *const texts[] = {OD_STATUS_LIST(OD_STATUS_TEXT)};
#undef OD_STATUS_TEXT

const char *od_status_text(od_status status) {
  return (unsigned)status < OD_STATUS_COUNT ? texts[status] : "unknown status";
}

#if OD_WITH_MESSAGES
od_status(od_fail)(od_error *err, od_status status, const char *format, ...) {
  if (err) {
    err->status = status;
    va_list args;
    va_start(args, format);
    od_text_format_list(err->text, sizeof err->text, format, args);
    va_end(args);
  }
  return status;
}
#endif
