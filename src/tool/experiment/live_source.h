// A live stream of samples. The stream is CSV from a file descriptor, with a line of column names and then one line per
// sample; or a log file that grows, in any format that can be followed (formats/log_format.h).
#ifndef OD_EXPERIMENT_LIVE_SOURCE_H
#define OD_EXPERIMENT_LIVE_SOURCE_H

#include "experiment/sample_source.h"

typedef struct od_live_options {
  const char *file;  // path of a log that grows; NULL: `input` is read
  int input;         // file descriptor of the stream
  const char *name;  // name of the stream, for messages
  double timeout;    // for `file`: the stream ends after this time without new rows, s; 0: the stream does not end

  // Called several times per second while there is no data, and before each read of a stream; may be NULL. If the function returns
  // false, reading stops with OD_INTERRUPTED.
  bool (*goes_on)(void *user);
  // Called for a line that cannot be used, with the reason and the time of the line (NAN: none).
  void (*refuse)(void *user, double t, const char *why);
  // Called with a sentence about another event of `file`, for example that another file has replaced the file.
  void (*remark)(void *user, const char *what);
  void *user;
} od_live_options;

// Waits for the header (of `file`: also for the first row) and finds the columns of the experiment's channels. Fails with OD_BAD_INPUT,
// OD_IO, OD_INTERRUPTED or OD_NO_MEMORY. Missing columns and wrong units are in `messages`, other failures in err.
od_status od_sample_source_live(od_experiment *e, const od_live_options *options, od_sample_source *out,
                                od_messages *messages, od_error *err);

// Checks that the settings of the experiment's log are possible for a stream. Fails with OD_BAD_INPUT if the log has a delay, a drift,
// 'hold: next' or several kinds of 'hold'; err names the setting.
od_status od_stream_check(od_experiment *e, od_error *err);

#endif
