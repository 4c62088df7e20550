// The frequency response that a log tells.
#ifndef OD_CLI_RESPONSE_LOG_H
#define OD_CLI_RESPONSE_LOG_H

#include "cli/response_source.h"

int od_response_open_log(const char *path, const od_response_arguments *a, od_response *out);

#endif
