// Databases that keep a history: a connection, and statements with values. All stores have the same tables and take the same statements; their
// parameters are $1, $2, ..., numbered in the order of their first use. store_classes.c is the table of all classes; a new one is a file and a
// line there.
//
// Functions that fail write the reason into od_store.reason, without secrets.
#ifndef OD_HISTORY_STORE_H
#define OD_HISTORY_STORE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "oleodyn/status.h"
#include "twin/twin.h"

typedef struct od_store_class od_store_class;
typedef struct od_store {
  const od_store_class *class;
  const char *place;    // path or URL, for messages
  bool only_reads;      // whether this is the connection of a reader
  double until;         // of a reader: monotonic time at which its reading ends, s
  const char *refusal;  // why the database cannot be a history (od_store_class.version): "is ..."; NULL: none
  char reason[300];
} od_store;

typedef enum od_value_kind {
  OD_VALUE_NULL,
  OD_VALUE_INTEGER,
  OD_VALUE_NUMBER,
  OD_VALUE_TEXT,
  OD_VALUE_BYTES
} od_value_kind;
// A value of a column, valid until the next step; or of a parameter, whose bytes the caller keeps until the statement has been executed or reset. A
// text ends with a zero byte.
typedef struct od_value {
  od_value_kind kind;
  int64_t integer;
  double number;
  const void *bytes;  // of texts and bytes
  size_t size;
} od_value;

// A statement. Each class has its own data after this part.
typedef struct od_statement {
  od_store *store;
} od_statement;

// OD_STEP_LATE: the statement took longer than od_store.until allows.
typedef enum od_step { OD_STEP_ROW, OD_STEP_DONE, OD_STEP_FAILED, OD_STEP_LATE } od_step;
// OD_UNKNOWN: the connection was lost while the transaction ended.
typedef enum od_outcome { OD_COMMITTED, OD_NOT_COMMITTED, OD_UNKNOWN } od_outcome;

struct od_store_class {
  const char *name;  // such as "PostgreSQL"
  // Opens the database, for a writer with a lock against other writers. *out is set also on failure, except without memory. Fails with OD_BAD_INPUT,
  // OD_IO or OD_NO_MEMORY.
  od_status (*open)(const od_twin_history *settings, bool only_reads, od_store **out, od_error *err);
  void (*close)(od_store *s);
  // Returns the version of the tables; 0: there are none; -1 on failure, and if s->refusal is set.
  int64_t (*version)(od_store *s);
  bool (*set_version)(od_store *s, int64_t version);
  bool (*ready)(od_store *s);  // called once when the tables have the version of this program
  // Runs statements without values and results.
  bool (*run)(od_store *s, const char *sql);
  // A transaction. After a commit no transaction is open, also if the commit failed. After OD_UNKNOWN, `settle` finds the outcome when the
  // database can be reached again.
  bool (*begin)(od_store *s);
  od_outcome (*commit)(od_store *s);
  void (*roll_back)(od_store *s);
  od_outcome (*settle)(od_store *s);
  // Statements. `prepare` returns NULL on failure. `execute` runs a statement without rows and resets it; the failure of a statement may be
  // reported by a later one, or by `commit`.
  od_statement *(*prepare)(od_store *s, const char *sql);
  void (*bind)(od_statement *q, int parameter, const od_value *value);
  bool (*execute)(od_statement *q);
  od_step (*step)(od_statement *q);
  od_value (*column)(const od_statement *q, int column);
  void (*reset)(od_statement *q);  // ends the rows, and makes all parameters NULL
  void (*finalize)(od_statement *q);
  long (*changes)(const od_statement *q);  // number of rows that the statement has changed, after its last step
  // Size of the data, bytes. `account` adds the bytes of rows that were added or removed; NULL: the database counts them.
  double (*size)(od_store *s);
  void (*account)(od_store *s, double bytes);
};

extern const od_store_class od_sqlite_store, od_postgresql_store;

// Returns the class of a history. Fails with OD_BAD_INPUT if there is no store for the URL, or if this program was built without it.
od_status od_store_class_of(const od_twin_history *settings, const od_store_class **out, od_error *err);

static inline void od_bind_integer(od_statement *q, int parameter, int64_t value) {
  q->store->class->bind(q, parameter, &(od_value){.kind = OD_VALUE_INTEGER, .integer = value});
}
// NAN: NULL.
static inline void od_bind_number(od_statement *q, int parameter, double value) {
  q->store->class->bind(q, parameter,
                        &(od_value){.kind = isnan(value) ? OD_VALUE_NULL : OD_VALUE_NUMBER, .number = value});
}
static inline void od_bind_text(od_statement *q, int parameter, const char *text) {
  q->store->class->bind(
      q, parameter,
      &(od_value){.kind = text ? OD_VALUE_TEXT : OD_VALUE_NULL, .bytes = text, .size = text ? strlen(text) : 0});
}
static inline void od_bind_bytes(od_statement *q, int parameter, const void *bytes, size_t size) {
  q->store->class->bind(q, parameter, &(od_value){.kind = OD_VALUE_BYTES, .bytes = bytes, .size = size});
}
static inline od_step od_statement_step(od_statement *q) {
  return q->store->class->step(q);
}
static inline void od_statement_reset(od_statement *q) {
  q->store->class->reset(q);
}
static inline void od_statement_end(od_statement *q) {
  if (q) q->store->class->finalize(q);
}
static inline od_value od_column(const od_statement *q, int column) {
  return q->store->class->column(q, column);
}
// NULL: 0.
static inline int64_t od_column_integer(const od_statement *q, int column) {
  const od_value v = od_column(q, column);
  return v.kind == OD_VALUE_NUMBER ? (int64_t)v.number : v.integer;
}
// NULL: NAN.
static inline double od_column_number(const od_statement *q, int column) {
  const od_value v = od_column(q, column);
  return v.kind == OD_VALUE_INTEGER ? (double)v.integer : v.kind == OD_VALUE_NUMBER ? v.number : (double)NAN;
}
// NULL: NULL.
static inline const char *od_column_text(const od_statement *q, int column) {
  return od_column(q, column).bytes;
}

#endif
