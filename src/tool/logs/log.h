// A log: recorded data of a machine in operation, as channels in SI units with a common time. A plan assigns columns of the file
// to outputs and inputs of the machine. Files have any format of formats/log_format.h. A section 'data' defines the plan, so all
// readers of logs have the same keys. Each log has its own plan.
#ifndef OD_LOGS_LOG_H
#define OD_LOGS_LOG_H

#include <stdbool.h>

#include "document/loader.h"
#include "document/section.h"
#include "formats/read_table.h"
#include "io/table.h"
#include "io/verdict.h"
#include "memory/scoped.h"
#include "oleodyn/machine.h"

// Values of an input between rows. NEXT: the value of a row applies since the previous row.
typedef enum od_log_hold { OD_LOG_LINEAR, OD_LOG_PREVIOUS, OD_LOG_NEXT } od_log_hold;
// Names of the values of od_log_hold in files and options. The last entry is NULL.
extern const char *const od_log_hold_words[];

typedef struct od_channel {
  const char *name;
  const char *unit;       // SI unit of the values; "": values are not converted
  bool has_columns_unit;  // whether `unit` is the SI unit of the column's unit, set by od_log_match()
  bool is_input;
  bool has_own_hold;  // whether the channel has its own `hold`, not the hold of the plan
  od_log_hold hold;   // set by od_log_load() unless has_own_hold
  bool fills;         // whether values in rows of other files and groups are interpolated, as for inputs
  bool fills_own;     // whether missing values in rows of the channel's own file and group are also interpolated
  // The column of the channel in the file.
  const char *column;          // name or number of the column; NULL: the name of the channel
  const char *whole;           // a name that is tried before `column` and `file_unit`; NULL: none
  int number;                  // number of the column; 0: the column has the name `column`
  const char *from;            // name of the file with the column; NULL: any file of the log
  int from_number;             // number of the file, from 1; 0: given by `from`
  double delay;                // time by which the values of the channel are late, s; may be negative
  const char *file_unit;       // unit of the column; NULL: the unit in the file, or SI if the file has no unit
  bool is_mapped;              // whether the section or an option gives the column
  double scale, offset;        // the value in `file_unit` is scale * cell + offset
  double otherwise;            // value if the file has no such column; NAN: the column is required
  od_place place, unit_place;  // places of column and unit in the file with the plan; a place without a file means none

  // Result of od_log_match().
  int at;             // index of the column; -1: none, the channel is constant
  int input;          // index of the file
  const char *label;  // name of the column; NULL: none
  od_conversion conversion;
} od_channel;

// A file of a log, with its own clock. An event at the time t of the log has the time t0 + (t - t0) (1 + drift) + delay in the file; t0
// is the time of the first row.
typedef struct od_log_source {
  const char *path;
  od_place place;
  od_channel time;
  double interval;  // as in od_log_plan
  const char **missing;
  int skip;
  const char **databases;
  double delay, drift;
} od_log_source;

typedef struct od_log_plan {
  od_arena memory;   // memory of channels and of texts for missing values
  const char *file;  // path of the first file; NULL: not given
  od_place place;    // place of the key that names the log
  od_channel time;
  double interval;  // time between rows of a file without a time column, s; 0: there is a time column
  od_channel *channel;
  int channels;
  double start, end;      // first and last times of the part in use, s; infinite: all rows
  const char **missing;   // texts and numbers that mark a missing value; ends with NULL; may be NULL
  int skip;               // number of lines of a text file before its header
  od_log_source *source;  // several files; NULL: one file, with the settings of the plan
  int sources;
  double delay, drift;     // delay and drift of the clock of a single file, see od_log_source
  const char **databases;  // paths of DBC files for CAN traces; ends with NULL; may be NULL
  bool has_section;        // whether the plan may be changed by a section 'data' of a file; false: only by options
  od_log_hold hold;        // values of inputs between rows, unless the channel has its own
  size_t most_held;        // largest size of a log in memory, bytes; a larger log is read from its file each time
} od_log_plan;

// The keys of a section 'data'.
extern const od_section_class od_log_section;
// Reads a section with the keys of 'data' at a node, for a machine's outputs and inputs. Node -1: no section; columns
// have the names of the channels. `path`: path of the section's numbers. Errors are reported as messages. The loader's
// document owns the texts.
void od_log_plan_read(od_loader *ld, int node, const char *path, const od_machine *machine, od_log_plan *plan);
// Initializes a plan without a section: all rows, columns with the names of the channels.
void od_log_plan_init(od_log_plan *plan);
void od_log_plan_free(od_log_plan *plan);
// Returns a file of a log with the settings of the plan.
od_log_source od_log_source_of(const od_log_plan *plan, const char *path, od_place place);
// Returns the settings for reading a file as a table. columns: names of the columns that the file must have; ends with
// NULL. The texts are not copied.
od_table_wish od_log_table_wish(const od_log_source *source, const char *const *columns);
// Adds the channel of an output or input unless the channel exists. Returns its index, or -1 if out of memory.
int od_log_want(od_log_plan *plan, const char *name, const char *unit, bool is_input, double otherwise);
// Adds a channel that a user names: the name of a mapped channel, or of a column. unit NULL: the SI unit of the
// column's unit. `place`: place of the name. Returns the same as od_log_want().
int od_log_want_named(od_log_plan *plan, const char *name, const char *unit, od_place place);
// Returns the index of a channel; -1: there is no such channel.
int od_log_find(const od_log_plan *plan, const char *name);
// Adds a channel, also if there is a channel with this name. Returns its index, or -1 if out of memory.
int od_log_add(od_log_plan *plan, const od_channel *channel);

// Finds the columns of all channels. Returns false after reporting each column that is missing or has a wrong unit.
// `file`: name of the log. Sets units of channels without a unit.
bool od_log_match(od_log_plan *plan, const od_table *header, const char *file, od_units *units, od_messages *messages);
// Returns the value of a matched channel in a row, in SI units.
static inline double od_channel_value(const od_channel *c, const double *row) {
  return c->at < 0 ? c->otherwise : od_convert(&c->conversion, c->scale * row[c->at] + c->offset);
}

// Properties of a channel, computed when the log is read.
typedef struct od_channel_facts {
  double least, most;  // range of the values; INFINITY, -INFINITY: no values
  long first, last;    // indices of the first and last rows with a value; -1: no values
  double first_value, last_value;
  double steepest;     // the largest change between consecutive values
  long values;         // number of values
  double begin, end;   // times of the first and last values, s
  double longest, at;  // longest time between two values, and time of the first of these values, s
  long jumps;          // number of jumps of an input, see od_log_count_jumps()
} od_channel_facts;

typedef struct od_log {
  od_arena memory;          // memory of all arrays
  const od_log_plan *plan;  // defines the channels of the log
  long rows;
  // The part in use, s: the part of the plan. In a log with several rates, the part is limited to the times from the latest
  // first value to the earliest last value of the machine's inputs.
  double start, end_of_part;
  double begin, end;  // times of the first and last rows
  // Per channel: number of missing values in the part in use. In a log of several files, or of groups of channels with their own times,
  // a row without a value counts only if the row belongs to the file or group of the channel.
  long *missing;
  bool has_rates;           // whether some rows have values of only some of the channels
  bool *constant;           // per channel: whether all values are equal
  od_channel_facts *facts;  // properties of each channel
  long repeated;            // number of omitted rows, which have the time of the previous row
  double longest, at;       // longest time between two rows, and time of the first of these rows, s

  // Rows in memory: rows of a short log, or of a file that cannot be read twice. Rows of other logs are read from the file.
  double *time, *value;        // value[row * channels + channel]; NULL: the rows are in the file
  struct od_log_input *input;  // the files; their readers are NULL if the rows are in memory
  int inputs;
  const char *time_without_unit;  // name of the time column if the column has no unit; else NULL
} od_log;

// Reads the files of the plan. Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY, and messages about all errors.
od_status od_log_read(od_log_plan *plan, od_units *units, od_log **out, od_messages *messages);
// od_log_open() and od_log_load() are the two parts of od_log_read(). Between these two calls, channels may be added
// to the plan: od_log_head() returns names and units of the columns. Free the log in all cases. Both functions fail like
// od_log_read().
od_status od_log_open(od_log_plan *plan, od_log **out, od_messages *messages);
int od_log_inputs(const od_log *log);
const od_table *od_log_head(const od_log *log, int input);
// Returns the column of the times in an open file, counted from 0; -1: none, or ambiguous.
int od_log_time_column(const od_log *log, int input);
// Adds a column of a file of an open log, counted from 0, unless a mapped channel has its name. Returns the same as
// od_log_want().
int od_log_want_column(od_log_plan *plan, const od_log *log, int input, int column, const char *unit);
// Finds the columns of the channels that the plan has so far. Fails with OD_BAD_INPUT, after reporting errors, or with
// OD_NO_MEMORY.
od_status od_log_find_columns(od_log *log, od_log_plan *plan, od_units *units, od_messages *messages);
od_status od_log_load(od_log *log, od_log_plan *plan, od_units *units, od_messages *messages);
// Returns whether all inputs have the same hold. If so, this hold becomes the hold of the plan.
bool od_log_unify_hold(od_log_plan *plan);
// Returns the name of a channel for results: the name of a mapped channel, else the name of its column.
const char *od_log_label(const od_log *log, int channel);
// Returns the path of the file of a channel.
const char *od_log_path(const od_log *log, int channel);
void od_log_free(od_log *log);
OD_OWNED_POINTER(od_log, od_log_free);
// Returns whether the file of a log that is not in memory has changed since it was read.
bool od_log_has_changed(const od_log *log);

// Returns the usual time between the values of a channel, s: the mean interval without the longest one.
double od_channel_interval(const od_channel_facts *facts);
enum { OD_INTERPOLATED_INTERVALS = 20 };  // longest time between two values that is interpolated, in usual intervals
// Checks that a channel has no gap of more than OD_INTERPOLATED_INTERVALS usual intervals. usual: its usual interval, s. Returns
// false after reporting an error.
bool od_log_check_gap(const od_log *log, int channel, double usual, od_messages *messages);

// ---- Rows (log.c)

// Iterates over the rows of a log. Several cursors may exist at the same time. od_log_cursor_new() fails with OD_BAD_INPUT, OD_IO,
// OD_INTERRUPTED or OD_NO_MEMORY.
typedef struct od_log_cursor od_log_cursor;
od_status od_log_cursor_new(const od_log *log, od_log_cursor **out, od_error *err);
void od_log_cursor_free(od_log_cursor *c);
OD_OWNED_POINTER(od_log_cursor, od_log_cursor_free);
// Reads the next row: its time, which is later than the time of the previous row, and a value per channel. The values
// are valid until the next call. NAN: the value is missing; gaps of inputs are filled. For an input with OD_LOG_NEXT,
// the value is the value of its next row. Between two rows, the caller interpolates inputs with OD_LOG_LINEAR and keeps
// all other inputs constant. *more false: there is no further row. Fails with OD_IO, also if the file has changed since it was first read,
// or with OD_NO_MEMORY.
od_status od_log_cursor_next(od_log_cursor *c, double *time, const double **value, bool *more, od_error *err);

// ---- Remarks (log_remarks.c). Functions that add a remark return false if out of memory.

// Adds a remark about rows that were omitted because they have the time of the previous row. Returns false if an allocation fails,
// like the following functions that add remarks.
bool od_log_remark_repeated(const od_log *log, od_verdict *verdict);
// Same as od_log_remark_repeated(), for a number of omitted rows and the path of a log.
bool od_log_remark_repeated_rows(long rows, const char *file, od_verdict *verdict);
// Adds a remark if times without a unit are probably in ms or us. The evidence is the name of the column, or rows that are a
// thousand or a million steps apart. step: time step of the experiment, s.
bool od_log_remark_time_unit(const od_log *log, double step, od_verdict *verdict);
// Counts the jumps of each input. A jump is a change by at least a tenth of the input's range within one row, if the changes in the
// row before and in the row after are at most a tenth of the jump. Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY if
// the rows cannot be read.
od_status od_log_count_jumps(od_log *log, od_error *err);
// Adds a remark about every input that jumps and is interpolated linearly. `hold`: inputs are held between rows, and no
// remark is added.
bool od_log_remark_jumps(const od_log *log, bool hold, od_trust trust, od_verdict *verdict);
// Returns whether the log has a pause: a time without rows, in which the inputs are unknown. od_log_remark_pause() adds a remark
// about the pause.
bool od_log_has_pause(const od_log *log);
bool od_log_remark_pause(const od_log *log, od_trust trust, od_verdict *verdict);

#endif
