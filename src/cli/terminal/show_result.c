#include "terminal/show_result.h"

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
