// Level 5: an object is a matrix element of the class 17 (opaque: flags, then the texts name, type system and class) or of the class 3
// (flags, dimensions, name, class). Source: MathWorks, MAT-File Format, chapter 1; the texts of the class 17 are not documented there
// and were found in files. Level 7.3 is HDF5: hdf5_file.c.
#include "mat/mat_objects.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "mat/hdf5_file.h"

enum {
  HEADER = 128,
  MATRIX = 14,
  COMPRESSED = 15,
  STRUCTURE = 2,
  OLD_OBJECT = 3,
  OPAQUE = 17,
  DEEPEST = 8,
  MOST = 1000
};

// --- Lines of MATLAB -----------------------------------------------------------------------------------------------

// Lines of MATLAB that save the numbers of objects of a class; @: the expression of the object, #: a valid name.
static const struct conversion {
  const char *class_name, *line;
} conversions[] = {
    {"timeseries", "t = @.Time; #_data = squeeze(@.Data); save('log.mat', 't', '#_data', '-v7')"},
    {"timetable",
     "s = table2struct(timetable2table(@, 'ConvertRowTimes', false), 'ToScalar', true); "
     "s.time = seconds(@.Properties.RowTimes - @.Properties.RowTimes(1)); "
     "save('log.mat', '-struct', 's', '-v7')"},
    {"table", "s = table2struct(@, 'ToScalar', true); save('log.mat', '-struct', 's', '-v7')"},
    {"datetime", "t = seconds(@ - @(1)); save('log.mat', 't', '-append')"},
    {"duration", "t = seconds(@); save('log.mat', 't', '-append')"},
    {"Simulink.SimulationData.Dataset",
     "s.time = @{1}.Values.Time; for k = 1:@.numElements, "
     "s.(matlab.lang.makeValidName(@{k}.Name)) = squeeze(@{k}.Values.Data); end; "
     "save('log.mat', '-struct', 's', '-v7')"},
    {"Simulink.SimulationOutput",
     "d = @.logsout; s.time = d{1}.Values.Time; for k = 1:d.numElements, "
     "s.(matlab.lang.makeValidName(d{k}.Name)) = squeeze(d{k}.Values.Data); end; "
     "save('log.mat', '-struct', 's', '-v7')"},
    {"Simulink.SimulationData.Signal",
     "t = @.Values.Time; #_data = squeeze(@.Values.Data); save('log.mat', 't', '#_data', '-v7')"},
    {"Simulink.Timeseries", "t = @.Time; #_data = squeeze(@.Data); save('log.mat', 't', '#_data', '-v7')"},
    {"categorical", "#_number = double(@); save('log.mat', '#_number', '-append')"},
};

// Replaces @ and # in the line of a conversion.
static void write_line(char *to, size_t size, const char *line, const char *name) {
  char valid[41];
  size_t n = 0;
  for (; n < sizeof valid - 1 && name[n]; n++) valid[n] = strchr(".(){}", name[n]) ? '_' : name[n];
  valid[n] = '\0';
  for (n = 0; *line && n + sizeof valid < size; line++) {
    const char *text = *line == '@' ? name : *line == '#' ? valid : NULL;
    if (text)
      n += (size_t)snprintf(to + n, sizeof valid, "%.40s", text);
    else
      to[n++] = *line;
  }
  to[n] = '\0';
}

void od_mat_add_object(od_arrays *to, const char *name, const char *class_name) {
  char line[500];
  const char *conversion = "save the numbers of the object as vectors, with save('log.mat', 't', 'x', '-v7')";
  if (!class_name[0] || to->count >= MOST) return;
  for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++)
    if (!strcmp(conversions[i].class_name, class_name)) conversion = conversions[i].line;
  write_line(line, sizeof line, conversion, name);
  od_array *a = od_arrays_add(to, name, 0, 0);
  if (a)
    a->flaw = od_arena_format(to->arena, "'%.40s' is a MATLAB object of the class %.60s; in MATLAB: %s", name,
                              class_name, line);
}

// --- Bytes of a file of level 5 -----------------------------------------------------------------------------------

typedef struct bytes {
  FILE *file;
  long long at;      // number of bytes read so far
  bool swapped;      // whether the file is big-endian
  bool is_packed;    // whether the bytes are unpacked data of a compressed element
  bool failed;       // whether the bytes ended early or cannot be unpacked
  long long packed;  // number of bytes of the compressed element that have not been read yet
  z_stream z;
  unsigned char in[16384];
} bytes;

static void take(bytes *b, void *to, size_t size) {
  memset(to, 0, size);
  if (b->failed) return;
  b->at += (long long)size;
  if (!b->is_packed) {
    b->failed = fread(to, 1, size, b->file) != size;
    return;
  }
  b->z.next_out = to;
  b->z.avail_out = (unsigned)size;
  while (b->z.avail_out > 0 && !b->failed) {
    if (b->z.avail_in == 0 && b->packed > 0) {
      size_t part = b->packed < (long long)sizeof b->in ? (size_t)b->packed : sizeof b->in;
      b->z.next_in = b->in;
      b->z.avail_in = (unsigned)fread(b->in, 1, part, b->file);
      b->packed = b->z.avail_in == part ? b->packed - (long long)part : 0;
    }
    int status = inflate(&b->z, Z_NO_FLUSH);
    b->failed = status != Z_OK && (status != Z_STREAM_END || b->z.avail_out > 0);
  }
}

static void skip(bytes *b, long long size) {
  unsigned char unused[4096];
  if (!b->is_packed && size > 0 && !b->failed) {
    b->failed = fseeko(b->file, (off_t)size, SEEK_CUR) != 0;
    b->at += size;
    return;
  }
  for (; size > 0 && !b->failed; size -= (long long)sizeof unused)
    take(b, unused, size < (long long)sizeof unused ? (size_t)size : sizeof unused);
}

static uint32_t take_number(bytes *b) {
  unsigned char n[4];
  take(b, n, sizeof n);
  return b->swapped ? (uint32_t)n[0] << 24 | (uint32_t)n[1] << 16 | (uint32_t)n[2] << 8 | n[3]
                    : (uint32_t)n[3] << 24 | (uint32_t)n[2] << 16 | (uint32_t)n[1] << 8 | n[0];
}

// The tag of an element: type and number of bytes of data, and number of bytes that follow the data.
typedef struct tag {
  uint32_t type, size, padding;
} tag;

static tag take_tag(bytes *b) {
  uint32_t type = take_number(b);
  if (type >> 16) return (tag){type & 0xffff, type >> 16, type >> 16 < 4 ? 4 - (type >> 16) : 0};
  uint32_t size = take_number(b);
  return (tag){type, size, (8 - size % 8) % 8};
}

// Reads a text of at most `size` - 1 bytes; skips the rest.
static void take_text(bytes *b, char *to, size_t size) {
  tag t = take_tag(b);
  size_t n = t.size < size - 1 ? t.size : size - 1;
  take(b, to, n);
  to[n] = '\0';
  skip(b, (long long)(t.size - n) + t.padding);
}

// --- Matrices -----------------------------------------------------------------------------------------------------

static void find_in_matrix(bytes *b, const char *prefix, const char *given, int depth, od_arrays *to);

// Searches the fields of a structure for objects. elements: the number of elements of the structure.
static void find_in_fields(bytes *b, const char *name, uint32_t elements, int depth, od_arrays *to) {
  OD_SCRATCH(scratch);
  tag t = take_tag(b);
  uint32_t length = take_number(b);
  skip(b, (long long)t.size - 4 + t.padding);
  tag names = take_tag(b);
  uint32_t fields = length > 0 ? names.size / length : 0;
  if (length > 64 || fields > MOST || elements > MOST || depth >= DEEPEST) return;
  char *field = OD_TAKE(&scratch, char, (long)fields *length + 1);
  if (!field) return;
  take(b, field, (size_t)fields * length);
  skip(b, (long long)(names.size - fields * length) + names.padding);
  for (uint32_t e = 0; e < elements && !b->failed; e++)
    for (uint32_t f = 0; f < fields && !b->failed; f++) {
      char prefix[OD_ARRAY_NAME], index[16] = "", own[65];
      t = take_tag(b);
      long long end = b->at + (long long)t.size;
      if (elements > 1) snprintf(index, sizeof index, "(%u)", (unsigned)e + 1);
      snprintf(own, sizeof own, "%.*s", (int)length, field + (size_t)f * length);
      bool fits = snprintf(prefix, sizeof prefix, "%.150s%s.", name, index) < (int)sizeof prefix;
      if (t.type == MATRIX && t.size > 0 && fits) find_in_matrix(b, prefix, own, depth + 1, to);
      skip(b, end - b->at);
    }
}

// Reads the flags of a matrix and searches the matrix for objects. given: the name of a field; NULL: the matrix contains its name.
// The function need not read the whole matrix.
static void find_in_matrix(bytes *b, const char *prefix, const char *given, int depth, od_arrays *to) {
  char own[65], class_name[128], name[OD_ARRAY_NAME];
  uint32_t elements = 1;
  tag t = take_tag(b);
  if (t.size != 8) return;
  uint32_t class_type = take_number(b) & 0xff;
  take_number(b);
  if (class_type != OPAQUE) {
    t = take_tag(b);
    if (t.size > 32 * sizeof(uint32_t)) return;
    for (uint32_t i = 0; i < t.size / 4; i++) {
      uint32_t size = take_number(b);
      elements = size > 0 && elements > MOST / size ? MOST + 1 : elements * size;
    }
    skip(b, t.padding);
  }
  take_text(b, own, sizeof own);
  snprintf(name, sizeof name, "%.180s%s", prefix, given ? given : own);
  if (class_type == OPAQUE) take_text(b, class_name, sizeof class_name);  // the type system
  if (class_type == OPAQUE || class_type == OLD_OBJECT) {
    take_text(b, class_name, sizeof class_name);
    if (!b->failed && name[0]) od_mat_add_object(to, name, class_name);
  }
  if (class_type == STRUCTURE && !b->failed && name[0]) find_in_fields(b, name, elements, depth, to);
}

// Searches a compressed element of `size` bytes for objects.
static void find_in_packed(bytes *b, long long size, od_arrays *to) {
  long long start = b->at;
  b->packed = size;
  b->z = (z_stream){0};
  if (inflateInit(&b->z) != Z_OK) return;
  b->is_packed = true;
  tag t = take_tag(b);
  if (t.type == MATRIX) find_in_matrix(b, "", NULL, 0, to);
  inflateEnd(&b->z);
  b->is_packed = b->failed = false;
  b->at = start;
}

static void find_in_elements(bytes *b, long long size, od_arrays *to) {
  while (!b->failed && b->at < size) {
    tag t = take_tag(b);
    long long end = b->at + (long long)t.size;
    if (t.type != COMPRESSED) end += t.padding;
    if (t.type == MATRIX) find_in_matrix(b, "", NULL, 0, to);
    if (t.type == COMPRESSED) find_in_packed(b, t.size, to);
    b->failed = fseeko(b->file, (off_t)end, SEEK_SET) != 0;
    b->at = end;
  }
}

void od_mat_find_objects(const char *path, od_arrays *to) {
  static bytes b;
  unsigned char head[HEADER];
  b.file = fopen(path, "rb");
  if (!b.file) return;
  take(&b, head, sizeof head);
  bool little = !memcmp(head + 126, "IM", 2), big = !memcmp(head + 126, "MI", 2);
  int version = little ? head[125] : head[124];
  b.swapped = big;
  fseeko(b.file, 0, SEEK_END);
  long long size = (long long)ftello(b.file);
  fseeko(b.file, HEADER, SEEK_SET);
  if ((little || big) && version == 1) find_in_elements(&b, size, to);
  fclose(b.file);
  if ((little || big) && version == 2) od_hdf5_find_objects(path, to);
}
