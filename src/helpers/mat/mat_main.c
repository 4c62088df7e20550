// oleodyn-mat: reads and writes MATLAB files, and reads HDF5 files. The program answers one request of liboleodyn and ends. Its standard
// input is the socket of the request (io/channel.h). Its argument is the size of the file in bytes, which determines the limits of
// time and memory.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/helper.h"
#include "mat/hdf5_file.h"
#include "mat/mat_files.h"
#include "memory/scoped.h"
#include "oleodyn/version.h"

// Ignores interrupts, because the caller writes partial results after an interrupt. This program ends when the caller closes the
// socket.
static void ignore_interrupts(void) {
  static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) signal(endings[i], SIG_IGN);
}

static bool take_wish(od_channel *c, od_mat_wish *wish, od_arena *arena) {
  char text[OD_HELPER_TEXT];
  od_channel_take_text(c, text, sizeof text);
  wish->time = od_arena_text(arena, text);
  wish->no_time = od_channel_take_number(c, 1);
  wish->count = (int)od_channel_take_number(c, OD_HELPER_COLUMNS);
  wish->columns = OD_TAKE(arena, char *, wish->count);
  for (int i = 0; i < wish->count && wish->columns && !c->broken; i++) {
    od_channel_take_text(c, text, sizeof text);
    wish->columns[i] = od_arena_text(arena, text);
  }
  return !c->broken;
}

static od_status read_table(od_channel *c, od_helper_task task, const char *path, long long bytes, od_error *err) {
  OD_SCRATCH(scratch);
  od_mat_wish wish = {0};
  int count = 0, *wanted = NULL;
  bool complete = take_wish(c, &wish, &scratch);
  if (task == OD_HELPER_ROWS) {
    count = (int)od_channel_take_number(c, OD_HELPER_COLUMNS);
    wanted = OD_TAKE(&scratch, int, count);
    for (int i = 0; i < count && wanted; i++) wanted[i] = (int)od_channel_take_number(c, OD_HELPER_COLUMNS);
    complete = !c->broken;
  }
  if (!complete) return od_fail(err, OD_BAD_ARGUMENT, "the request is invalid");
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  if (task == OD_HELPER_HEAD) return od_hdf5_read_head(path, bytes, &wish, c, err);
  if (task == OD_HELPER_ROWS) ignore_interrupts();
  if (task == OD_HELPER_ROWS) return od_hdf5_read_rows(path, bytes, &wish, wanted, count, c, err);
  return od_mat_read_file(path, bytes, &wish, c, err);
}

static od_status write_variables(od_channel *c, const char *path, od_error *err) {
  ignore_interrupts();
  return od_mat_write_file(path, c, err);
}

static od_status answer(od_channel *c, long long bytes, od_error *err) {
  char path[OD_HELPER_PATH];
  uint64_t protocol = od_channel_take_number(c, UINT64_MAX);
  if (protocol != OD_HELPER_PROTOCOL) return od_fail(err, OD_BAD_ARGUMENT, "the request has another protocol");
  uint64_t task = od_channel_take_number(c, OD_HELPER_ROWS);
  od_channel_take_text(c, path, sizeof path);
  if (c->broken || task == 0) return od_fail(err, OD_BAD_ARGUMENT, "the request is invalid");
  return task == OD_HELPER_WRITE ? write_variables(c, path, err)
                                 : read_table(c, (od_helper_task)task, path, bytes, err);
}

int main(int argc, char **argv) {
  static od_channel c;
  if (argc != 2 || !strcmp(argv[1], "--version")) {
    printf(
        "oleodyn-mat %s: reads and writes MATLAB files, and reads HDF5 files, for oleodyn, which starts this program\n",
        OD_VERSION);
    return argc == 2 ? 0 : 2;
  }
  od_helper_restrict(atoll(argv[1]));
  od_error err = {0};
  od_channel_init(&c, STDIN_FILENO);
  od_channel_put_number(&c, OD_HELPER_PROTOCOL);
  err.status = answer(&c, atoll(argv[1]), &err);
  c.broken = false;  // answers a broken request with a message
  od_channel_put_number(&c, OD_HELPER_STATUS);
  od_channel_put_number(&c, err.status);
  od_channel_put_text(&c, err.text);
  bool sent = od_channel_flush(&c);
  od_channel_drain(&c);
  _exit(sent ? 0 : 1);
}
