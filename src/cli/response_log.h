// The frequency response that a log tells.
#ifndef OD_CLI_RESPONSE_LOG_H
#define OD_CLI_RESPONSE_LOG_H

#include "cli/response_source.h"

int od_response_open_log(const char *path, const od_response_arguments *a, od_response *out);
// Copies name and unit (empty: "1"); false: memory ran out.
bool od_signal_label_set(od_signal_label *label, const char *name, const char *unit);

#endif
