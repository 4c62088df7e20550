// Helper programs, which are installed with oleodyn. There is one helper per library that may crash, hang or exhaust memory when a
// file is damaged, or that loads many other libraries. The library liboleodyn sends a request and receives an answer
// (io/channel.h). The caller continues even if the helper crashes.
#ifndef OD_IO_HELPER_H
#define OD_IO_HELPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "io/channel.h"
#include "oleodyn/status.h"

// A helper writes to an open file, not to a path. With a path, the helper could create the file again after the caller has ended
// and removed the file.
#define OD_HELPER_FILE "/dev/fd/3"

// Finds a file in the folders of the helper programs, in the same order as od_helper_start(). Returns false if no
// folder contains the file.
enum { OD_HELPER_PATH_SIZE = 4096 };
bool od_helper_find_file(char path[OD_HELPER_PATH_SIZE], const char *name);

typedef struct od_helper {
  const char *name;  // the name of the program
  long long bytes;   // the size of the file or data; the limits of time and memory grow with this size
  int file;          // an open file that the helper writes under the path OD_HELPER_FILE; 0: none
  pid_t process;
  bool is_other;  // whether the helper uses another version of the protocol
  od_channel channel;
} od_helper;

// Starts the program `name` and begins the request: protocol, task and path. If the environment variable
// OLEODYN_HELPERS is set, only this folder is searched for the program. Otherwise the function searches folders
// relative to liboleodyn and to the program, and in the folder of the installation. After OD_OK, the caller continues
// the request, reads the answer and calls od_helper_end(). Fails with OD_IO if the program is missing or cannot be
// started; the message names the program.
od_status od_helper_start(od_helper *h, od_helper_task task, const char *path, od_error *err);

// Ends the request. Returns the kind of the first part of the answer; 0: no answer, or a helper of another version.
od_helper_part od_helper_ask(od_helper *h);

// If `part` is OD_HELPER_STATUS, reads the status and the message at the end of an answer. Then waits for the end of the program.
// Returns OD_OK if the answer is complete; then *answered has the status and the message of the helper. Returns OD_BAD_INPUT, with
// the reason ("crashed", "took longer than 1 s"), if the answer is not complete; OD_INTERRUPTED if the user interrupted the helper;
// OD_IO if the helper belongs to another version.
od_status od_helper_end(od_helper *h, od_helper_part part, od_error *answered, od_error *err);

// Returns the largest number of doubles in an answer. A helper does not have memory for more doubles.
uint64_t od_helper_most_numbers(long long bytes);

// For helper programs: limits processor time, elapsed time and memory of this process. bytes: see od_helper.
void od_helper_restrict(long long bytes);

#endif
