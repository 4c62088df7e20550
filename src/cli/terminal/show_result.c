#include "terminal/show_result.h"

#include "io/json.h"
#include "terminal/exit_codes.h"
#include "terminal/print_verdict.h"
#include "terminal/terminal.h"

void od_show_result(const od_result *r, FILE *to) {
  if (to) {
    od_result_print(r, to, od_terminal_colour(to));
    return;
  }
  for (const od_view_item *item = r->first; item; item = item->next) {
    if (item->audience == OD_FOR_PAGE) continue;
    if (item->verdict) od_cli_verdict(item->verdict, NULL);
    if (item->trust > OD_SOUND) od_cli_warning("%s %s", item->lead, item->text);
  }
}

int od_show_either(const od_result *r, bool as_json) {
  od_error err = {0};
  od_status status = od_result_is_complete(r) ? OD_OK : od_fail(&err, OD_NO_MEMORY, "memory ran out");
  if (status == OD_OK && as_json) status = od_json_write(r->data, "-", &err);
  if (status == OD_OK && !as_json) od_show_result(r, stdout);
  if (status != OD_OK) od_cli_error("%s", err.text);
  return od_exit_code(status);
}
