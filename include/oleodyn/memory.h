// The memory of the library. By default the library uses malloc() of the C library; a program can set its own functions.
#ifndef OLEODYN_MEMORY_H
#define OLEODYN_MEMORY_H

#include <stddef.h>

#include "oleodyn/status.h"

OD_BEGIN_C

// Functions that allocate memory. All three are required. They must be safe to call from several threads at the same time if the
// program uses the library in several threads. They must not call functions of the library.
typedef struct od_allocator {
  // Returns `size` bytes (at least 1), aligned for every type of C; NULL: no memory. The content is arbitrary.
  void *(*allocate)(void *user, size_t size);
  // Changes the size of a block (never NULL) to `size` bytes (at least 1) and keeps its content. Returns NULL if there is no
  // memory; then the block remains valid.
  void *(*resize)(void *user, void *block, size_t size);
  // Frees a block (never NULL).
  void (*release)(void *user, void *block);
  void *user;  // passed to all three functions
} od_allocator;

// Sets the functions for all memory of the library in this process; NULL: the functions of the C library. The struct is copied;
// `user` and the functions must stay valid until the process ends. Call this function once, before any other function of the
// library and before the program starts threads. Returns OD_NOT_AVAILABLE if the library has already allocated memory,
// OD_BAD_ARGUMENT if a function is missing.
//
// The functions are also used for jansson (json_set_alloc_funcs(), a setting of the whole process) and zlib. Memory that libfyaml,
// LAPACK, SUNDIALS and the C library allocate for themselves is not covered. After creation, simulations and observers allocate
// nothing.
OD_API od_status od_set_allocator(const od_allocator *allocator);

OD_END_C

#endif
