// The frequency response that a log tells.
#ifndef OD_OPTIONS_RESPONSE_LOG_H
#define OD_OPTIONS_RESPONSE_LOG_H

#include "options/response_source.h"

int od_response_open_log(const char *path, const od_response_arguments *a, od_response *out);

#endif
