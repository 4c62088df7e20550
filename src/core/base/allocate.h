// The only functions that allocate memory. All code of src/core and src/tool uses these functions instead of malloc() (test
// `allocations`), so that programs can replace the allocator (od_set_allocator).
#ifndef OD_BASE_ALLOCATE_H
#define OD_BASE_ALLOCATE_H

#include <stddef.h>

#include "oleodyn/memory.h"

// Equivalent to malloc(), calloc(), realloc() and free(). Return NULL if there is no memory. A block of zero bytes has
// a valid address.
void *od_malloc(size_t size);
void *od_calloc(size_t count, size_t size);
void *od_realloc(void *block, size_t size);
void od_free(void *block);

// Return a copy of a text, or of at most `length` bytes of it. The caller frees the copy with od_free(). NULL: no memory.
char *od_strdup(const char *text);
char *od_strndup(const char *text, size_t length);

// Frees memory that a function of the C library allocated, such as realpath() or open_memstream().
void od_libc_free(void *block);

// Registers a function that od_set_allocator() calls. The function sets the allocator of other libraries to od_malloc()
// and od_free().
void od_allocator_listen(void (*was_set)(void));

#endif
