// A log: what was recorded of a machine at work, as channels in SI units over one time. A plan says which column of the
// file is which output or input of the machine; files are CSV or MATLAB files. The plan is made of a section 'data', so
// that whatever reads logs reads them alike; each log has a plan of its own.
#ifndef OD_EXPERIMENT_LOG_H
#define OD_EXPERIMENT_LOG_H

#include <stdbool.h>

#include "document/loader.h"
#include "io/table.h"
#include "io/verdict.h"
#include "oleodyn/machine.h"

typedef struct od_channel {
  const char *name, *unit;  // of the output or input it is for; unit in SI
  bool is_input;
  // How the file has it.
  const char *column;          // a name or a number; NULL: called like the channel itself
  const char *file_unit;       // NULL: what the file says, else SI
  double scale, offset;        // scale * cell + offset is in that unit
  double otherwise;            // its value where the file has no such column; NAN: it must have one
  od_place place, unit_place;  // of column and unit in the file that names them; no file: none does
  // Where od_log_match() found it.
  int at;  // column; -1: nowhere, it is constant
  od_conversion conversion;
} od_channel;

typedef struct od_log_plan {
  const char *file;  // NULL: not said
  od_place place;    // where it is said
  od_channel time;
  double interval;  // between the rows of a file without a time, s; 0: there is a time
  od_channel *channel;
  int channels, capacity;
  double start, end;     // the part that counts; infinite: all of it
  const char **missing;  // texts and numbers that stand for no value; ends with NULL; may be NULL
  int skip;              // lines of a text file before its header
  bool hold;             // inputs keep their value until the next row; else they go straight to it
  size_t most_held;      // bytes: a longer log is not held, but read from its file as often as its rows are wanted
} od_log_plan;

// Reads a section like 'data' at a node (-1: there is none; everything is called by its own name) for a machine's outputs
// and inputs. `path` is that of its numbers. What is wrong becomes a message. Texts belong to the loader's machine.
void od_log_plan_read(od_loader *ld, int node, const char *path, const od_machine *machine, od_log_plan *plan);
void od_log_plan_free(od_log_plan *plan);
// The channel for an output or input, added if it is not there: its index, or -1 when memory ran out.
int od_log_want(od_log_plan *plan, const char *name, const char *unit, bool is_input, double otherwise);

// Finds the columns; false with messages about each that is not there or has a wrong unit. `file` is the log's name.
bool od_log_match(od_log_plan *plan, const od_table *header, const char *file, od_units *units, od_messages *messages);
// A cell of a matched channel in SI.
static inline double od_channel_value(const od_channel *c, const double *row) {
  return c->at < 0 ? c->otherwise : od_convert(&c->conversion, c->scale * row[c->at] + c->offset);
}

// What is known of a channel without its rows.
typedef struct od_channel_facts {
  double least, most;  // of its values; +-INFINITY: it has none
  long first, last;    // the first row with a value, and the last
  double first_value, last_value;
  double steepest;  // the largest change from one value to the next
  long jumps;       // of an input, see od_log_jumps()
} od_channel_facts;

typedef struct od_log {
  const od_log_plan *plan;  // its channels are the log's
  long rows;
  double begin, end;        // times of the first row and of the last
  long *missing;            // per channel, in the rows that count
  bool *constant;           // per channel: it never changes
  od_channel_facts *facts;  // per channel
  long repeated;            // rows with the time of the row before, which are left out
  double longest, at;       // the longest time between two rows, and when it begins
  // The rows of a short log, and of a file that cannot be read twice. Others are read whenever they are asked for.
  double *time, *value;  // value[row * channels + channel]; NULL: they are in the file
  struct od_row_reader *file;
  bool *wanted;     // per column of the file
  char *bare_time;  // the name of the column with the time, if nobody says its unit
} od_log;

// Reads the plan's file. OD_BAD_INPUT or OD_IO with messages about all that is wrong.
od_status od_log_read(od_log_plan *plan, od_units *units, od_log **out, od_messages *messages);
void od_log_free(od_log *log);
// Whether the rows of a log that is not held have changed in its file since it was read.
bool od_log_has_changed(const od_log *log);

// ---- rows (log_cursor.c)

// Goes over the rows of a log; any number of them at the same time.
typedef struct od_log_cursor od_log_cursor;
od_status od_log_cursor_new(const od_log *log, od_log_cursor **out, od_error *err);
void od_log_cursor_free(od_log_cursor *c);
// The next row: its time, later than the one before, and a value per channel, which stays until the next call. NAN: missing; inputs have no
// gaps: these are bridged. *more false: there is none.
od_status od_log_cursor_next(od_log_cursor *c, double *time, const double **value, bool *more, od_error *err);

// Adds a remark about rows that were left out because their time is that of the row before. False: memory ran out.
bool od_log_remark_repeated(const od_log *log, od_verdict *verdict);

// log_time_unit.c: adds a remark where times without a unit are rather in ms or us, by the name of their column or because rows are a thousand
// or a million steps apart. False: memory ran out.
bool od_log_remark_time_unit(const od_log *log, double step, od_verdict *verdict);

// log_jumps.c: counts how often each input jumps: changes within one row by more than a tenth of its range, and hardly in the
// rows around it.
od_status od_log_count_jumps(od_log *log, od_error *err);
static inline long od_log_jumps(const od_log *log, int channel) {
  return log->facts[channel].jumps;
}
// Adds a remark about every input that jumps, unless inputs are held from row to row. False: memory ran out.
bool od_log_remark_jumps(const od_log *log, bool hold, od_trust trust, od_verdict *verdict);
// Whether inputs are unknown for a while, because the log has no rows there; and a remark about it.
bool od_log_pauses(const od_log *log);
bool od_log_remark_pause(const od_log *log, od_trust trust, od_verdict *verdict);

#endif
