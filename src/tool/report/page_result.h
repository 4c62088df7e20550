// Writes the view of a result as a page.
#ifndef OD_REPORT_PAGE_RESULT_H
#define OD_REPORT_PAGE_RESULT_H

#include "oleodyn/status.h"
#include "result/result.h"

// Writes the page completely or not at all. Fails with OD_IO or OD_NO_MEMORY.
od_status od_page_write_result(const od_result *r, const char *path, od_error *err);

#endif
