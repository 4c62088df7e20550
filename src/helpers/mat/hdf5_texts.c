#include "mat/hdf5_texts.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 20 };  // bytes of all texts of an attribute

// Copies a text of at most `size` bytes without the blanks at its end. Control characters become '?'.
static char *copy(const char *text, size_t size, od_arena *arena) {
  size_t n = strnlen(text, size);
  while (n > 0 && text[n - 1] == ' ') n--;
  char *to = OD_TAKE(arena, char, n + 1);
  for (size_t i = 0; to && i < n; i++) to[i] = (unsigned char)text[i] < ' ' && text[i] != '\n' ? '?' : text[i];
  return to;
}

static bool read_all(hid_t object, hid_t attribute, hid_t type, void *to) {
  return (attribute >= 0 ? H5Aread(attribute, type, to) : H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to)) >=
         0;
}

static int read_texts(hid_t object, hid_t attribute, hid_t type, hid_t space, int most, char ***out, od_arena *arena) {
  hssize_t count = H5Sget_simple_extent_npoints(space);
  if (H5Tget_class(type) != H5T_STRING || count < 1 || count > most) return 0;
  bool is_long = H5Tis_variable_str(type) > 0;
  size_t size = is_long ? sizeof(char *) : H5Tget_size(type), n = (size_t)count;
  if (size == 0 || size > LARGEST / n) return 0;
  OD_SCRATCH(scratch);
  char *bytes = OD_TAKE(&scratch, char, n *size);
  char **text = OD_TAKE(arena, char *, n);
  if (!bytes || !text || !read_all(object, attribute, type, bytes)) return 0;
  for (size_t i = 0; i < n; i++) {
    const char *one = bytes + i * size;
    if (is_long) memcpy(&one, bytes + i * size, sizeof one);
    text[i] = copy(one ? one : "", is_long ? LARGEST : size, arena);
    if (!text[i]) return 0;
  }
  if (is_long) H5Dvlen_reclaim(type, space, H5P_DEFAULT, bytes);
  *out = text;
  return (int)count;
}

int od_hdf5_texts(hid_t object, const char *name, int most, char ***out, od_arena *arena) {
  if (name && H5Aexists(object, name) <= 0) return 0;
  hid_t attribute = name ? H5Aopen(object, name, H5P_DEFAULT) : -1;
  if (name && attribute < 0) return 0;
  hid_t type = name ? H5Aget_type(attribute) : H5Dget_type(object);
  hid_t space = name ? H5Aget_space(attribute) : H5Dget_space(object);
  int count = type >= 0 && space >= 0 ? read_texts(object, attribute, type, space, most, out, arena) : 0;
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  if (attribute >= 0) H5Aclose(attribute);
  return count;
}

char *od_hdf5_text(hid_t object, const char *name, od_arena *arena) {
  char **text;
  return od_hdf5_texts(object, name, 1, &text, arena) == 1 ? text[0] : NULL;
}

bool od_hdf5_number(hid_t object, const char *name, double *out) {
  if (H5Aexists(object, name) <= 0) return false;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute < 0) return false;
  hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  H5T_class_t is = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
  bool single = (is == H5T_INTEGER || is == H5T_FLOAT) && space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
  bool read = single && H5Aread(attribute, H5T_NATIVE_DOUBLE, out) >= 0;
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  H5Aclose(attribute);
  return read;
}

int od_hdf5_pickled(char *text, int most, char **out) {
  int count = 0;
  if (strncmp(text, "(lp", 3) != 0) return 0;
  for (char *line = text, *end; line && *line; line = end ? end + 1 : NULL) {
    end = strchr(line, '\n');
    if (end) *end = '\0';
    if (*line == 'a') line++;
    if (*line == 'V' && count < most) out[count++] = line + 1;
  }
  return count;
}
