#include "terminal/show_result.h"

#include "io/json.h"
#include "terminal/exit_codes.h"
#include "terminal/terminal.h"

void od_show_result(const od_result *r, FILE *to) {
  if (to) {
    od_result_print(r, to, od_terminal_color(to));
    return;
  }
  for (const od_view_item *item = r->first; item; item = item->next) {
    if (item->audience == OD_FOR_PAGE) continue;
    for (int i = 0; item->verdict && i < item->verdict->count; i++) {
      const od_remark *remark = &item->verdict->remark[i];
      if (remark->trust > OD_SOUND) od_cli_warning("%s %s", remark->lead, remark->text);
    }
    if (item->trust > OD_SOUND) od_cli_warning("%s %s", item->lead, item->text);
  }
}

int od_show_either(const od_result *r, bool as_json) {
  od_error err = {0};
  if (!as_json) od_show_result(r, stdout);
  return od_exit_early(as_json ? od_json_write(r->data, "-", &err) : OD_OK, &err);
}

int od_verdict_exit(const od_verdict *v) {
  return v->trust == OD_UNSOUND ? OD_EXIT_UNSOUND : OD_EXIT_OK;
}
