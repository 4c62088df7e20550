// The schema of the history. Each version is a list of statements that change the preceding version, so a new database is equal
// to a migrated database. Statements of a published version never change.
#include "history/history.h"

static const char *const migrations[OD_HISTORY_VERSION] = {
    // Version 1.
    "CREATE TABLE machine (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, title TEXT NOT NULL);"
    "CREATE TABLE channel (id INTEGER PRIMARY KEY, machine INTEGER NOT NULL REFERENCES machine, name TEXT NOT NULL, unit TEXT NOT NULL,"
    "  UNIQUE (machine, name));"
    "CREATE TABLE layout (id INTEGER PRIMARY KEY, machine INTEGER NOT NULL REFERENCES machine, channels TEXT NOT NULL,"
    "  UNIQUE (machine, channels));"
    "CREATE TABLE block (id INTEGER PRIMARY KEY, machine INTEGER NOT NULL REFERENCES machine, first REAL NOT NULL, last REAL NOT NULL,"
    "  rows INTEGER NOT NULL, sequence INTEGER NOT NULL, layout INTEGER NOT NULL REFERENCES layout, data BLOB NOT NULL);"
    "CREATE UNIQUE INDEX block_last ON block (machine, last);"
    "CREATE TABLE bucket (channel INTEGER NOT NULL, level INTEGER NOT NULL, number INTEGER NOT NULL, count INTEGER NOT NULL, min REAL NOT NULL,"
    "  max REAL NOT NULL, sum REAL NOT NULL, PRIMARY KEY (channel, level, number)) WITHOUT ROWID;"
    "CREATE TABLE estimate (channel INTEGER NOT NULL, t REAL NOT NULL, value REAL NOT NULL, sigma REAL, PRIMARY KEY (channel, t)) WITHOUT ROWID;"
    "CREATE TABLE event (id INTEGER PRIMARY KEY, machine INTEGER REFERENCES machine, t REAL, clock REAL NOT NULL, kind TEXT NOT NULL,"
    "  text TEXT NOT NULL);"
    "CREATE TABLE checkpoint (machine INTEGER PRIMARY KEY REFERENCES machine, t REAL NOT NULL, sequence INTEGER NOT NULL, clock REAL NOT NULL,"
    "  state BLOB NOT NULL);",
    // Version 2: acknowledged events; views for programs that show SQL tables.
    "ALTER TABLE event ADD COLUMN acknowledged REAL;"
    "CREATE VIEW pyramid AS SELECT machine.name AS machine, channel.name AS channel, channel.unit AS unit, level,"
    "  number * (1 << (3 * level)) AS t, count, min, max, sum / count AS mean"
    "  FROM bucket JOIN channel ON channel.id = bucket.channel JOIN machine ON machine.id = channel.machine;"
    "CREATE VIEW estimates AS SELECT machine.name AS machine, channel.name AS channel, channel.unit AS unit, t, value, sigma"
    "  FROM estimate JOIN channel ON channel.id = estimate.channel JOIN machine ON machine.id = channel.machine;"};

const char *od_history_migration(int i) {
  return migrations[i];
}
