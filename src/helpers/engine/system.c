// The system of a page: no files, no environment, no clock. The C library calls the functions of WASI; this file defines these
// functions, so that a page need not provide them.
#include <stdint.h>
#include <wasi/api.h>

#define WASI(name) __imported_wasi_snapshot_preview1_##name
// Every function that the C library may call in this program, with the types of its arguments in WebAssembly.
#define FAILS(name, ...)            \
  int32_t WASI(name)(__VA_ARGS__);  \
  int32_t WASI(name)(__VA_ARGS__) { \
    return __WASI_ERRNO_BADF;       \
  }
#pragma clang diagnostic ignored "-Wunused-parameter"
#pragma clang diagnostic ignored "-Wreserved-identifier"

FAILS(fd_close, int32_t fd)
FAILS(fd_fdstat_get, int32_t fd, int32_t out)
FAILS(fd_fdstat_set_flags, int32_t fd, int32_t flags)
FAILS(fd_filestat_get, int32_t fd, int32_t out)
FAILS(fd_prestat_get, int32_t fd, int32_t out)
FAILS(fd_prestat_dir_name, int32_t fd, int32_t path, int32_t length)
FAILS(fd_read, int32_t fd, int32_t vectors, int32_t count, int32_t out)
FAILS(fd_readdir, int32_t fd, int32_t buffer, int32_t length, int64_t cookie, int32_t out)
FAILS(fd_seek, int32_t fd, int64_t offset, int32_t from, int32_t out)
FAILS(fd_write, int32_t fd, int32_t vectors, int32_t count, int32_t out)
FAILS(fd_pread, int32_t fd, int32_t vectors, int32_t count, int64_t offset, int32_t out)
FAILS(path_filestat_get, int32_t fd, int32_t flags, int32_t path, int32_t length, int32_t out)
FAILS(path_open, int32_t fd, int32_t look, int32_t path, int32_t length, int32_t flags, int64_t rights,
      int64_t inherited, int32_t kind, int32_t out)
FAILS(poll_oneoff, int32_t in, int32_t out, int32_t count, int32_t events)
FAILS(clock_time_get, int32_t clock, int64_t precision, int32_t out)
FAILS(environ_get, int32_t list, int32_t buffer)

int32_t WASI(environ_sizes_get)(int32_t *count, int32_t *size);
int32_t WASI(environ_sizes_get)(int32_t *count, int32_t *size) {
  *count = *size = 0;
  return __WASI_ERRNO_SUCCESS;
}

_Noreturn void WASI(proc_exit)(int32_t code);
_Noreturn void WASI(proc_exit)(int32_t code) {
  __builtin_trap();
}
