// Loads a file of any kind to find its errors.
#ifndef OD_REPORT_CHECK_FILE_H
#define OD_REPORT_CHECK_FILE_H

#include "oleodyn/machine.h"
#include "result/result.h"

// Loads the file according to its kind: machine, experiment, fit, friction, study or twin. *load contains the numbers to set (not
// used for studies and twins) and, for machines, the other options; load->content is not used. Messages are added to *messages, which
// may be replaced. The view of *result is one line about a valid file; the data of *result also contain the messages. Returns the
// status of the load.
od_status od_check_file(const char *path, const od_load_options *load, od_messages **messages, od_result *result);

#endif
