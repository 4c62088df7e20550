// Reads the numbers of an HDF5 file and sends them in blocks of rows, so that files may be larger than memory.
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "mat/hdf5_datasets.h"

enum {
  BLOCK = 4 << 20,           // usual size of a block, bytes
  LARGEST_BLOCK = 64 << 20,  // largest size of a block that is as long as a chunk, bytes
  MOST_ROWS = 1 << 16,
  CACHE = 96 << 20,       // memory for chunks that every file may need, bytes
  MEMORY_PER_BYTE = 200,  // additional memory for chunks per byte of the file, bytes
  PATIENCE = 60           // longest time for a block, s
};

// A dataset while its rows are read.
typedef struct source {
  const od_hdf5_dataset *set;
  hid_t id, type, space;  // dataset, type in memory, and selection in the file
  int first, last;        // first and last index in `wanted` of the table's columns that belong to the dataset
  bool along_second;      // whether rows of the table run along set->at[1]
  size_t low, high;       // smallest and largest wanted index in the dimension across the rows
  size_t width;           // number of slots of a row in memory
  size_t *slot;           // for each leaf: its first slot in a record; SIZE_MAX: not wanted
  const bool *is_wanted;  // for each leaf: whether a column of the leaf is wanted
  double chunks;          // number of chunks in memory; 0: no chunks
  double *block;          // slots of the rows of the block; a slot of OD_HDF5_BITS contains the 64 bits of an integer
} source;

// --- Types in memory ----------------------------------------------------------------------------------------------

static hid_t memory_kind(od_hdf5_kind kind) {
  return kind == OD_HDF5_BITS ? H5T_NATIVE_B64 : H5T_NATIVE_DOUBLE;
}

// Returns the type in memory of a type in the file: wanted leaves as slots of 8 bytes. *leaf: index of the next leaf;
// before: bytes of the record before this type; *used: bytes of this type in the record. Sets s->slot of the wanted
// leaves. Returns a negative value if the type has no wanted leaves or a call failed.
static hid_t memory_type(const source *s, hid_t type, int depth, int *leaf, size_t before, size_t *used) {
  *used = 0;
  if (*leaf >= s->set->leaves) return -1;
  if (!od_hdf5_has_members(type, depth)) {
    const od_hdf5_leaf *l = &s->set->leaf[*leaf];
    if (!s->is_wanted[(*leaf)++]) return -1;
    s->slot[l->index] = before / 8;
    *used = 8 * l->slots;
    if (H5Tget_class(type) != H5T_ARRAY) return H5Tcopy(memory_kind(l->kind));
    hsize_t length[H5S_MAX_RANK];
    int rank = H5Tget_array_dims2(type, length);
    return rank > 0 ? H5Tarray_create2(memory_kind(l->kind), (unsigned)rank, length) : -1;
  }
  // The members are collected first, because a compound type needs its size when it is created.
  enum { MOST = 10000 };
  int members = H5Tget_nmembers(type), count = 0;
  if (members > MOST) return -1;
  OD_SCRATCH(scratch);
  hid_t *inner = OD_TAKE(&scratch, hid_t, members);
  size_t *offset = OD_TAKE(&scratch, size_t, members);
  int *number = OD_TAKE(&scratch, int, members);
  if (od_arena_status(&scratch) != OD_OK) return -1;
  for (int i = 0; i < members; i++) {
    size_t size;
    hid_t member = H5Tget_member_type(type, (unsigned)i);
    inner[count] = member >= 0 ? memory_type(s, member, depth + 1, leaf, before + *used, &size) : -1;
    if (member >= 0) H5Tclose(member);
    if (inner[count] < 0) continue;
    offset[count] = *used;
    number[count++] = i;
    *used += size;
  }
  hid_t all = count > 0 ? H5Tcreate(H5T_COMPOUND, *used) : -1;
  for (int i = 0; i < count; i++) {
    char *name = H5Tget_member_name(type, (unsigned)number[i]);
    if (all >= 0 && name) H5Tinsert(all, name, offset[i], inner[i]);
    H5free_memory(name);
    H5Tclose(inner[i]);
  }
  return all;
}

// --- Preparation --------------------------------------------------------------------------------------------------

// Returns the number of chunks that a row crosses; 0: the dataset has no chunks.
static double chunks_of_row(const source *s) {
  const od_hdf5_dataset *d = s->set;
  size_t across = s->along_second ? d->rows : d->columns, chunk = s->along_second ? d->chunk[0] : d->chunk[1];
  return d->chunk_bytes > 0 && chunk > 0 ? ceil((double)across / (double)chunk) : 0;
}

// Opens the dataset with a cache for a number of chunks. No chunk is unpacked twice if the cache contains all chunks of a row.
static hid_t open_set(hid_t file, const source *s, double chunks) {
  hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
  if (chunks > 0) H5Pset_chunk_cache(access, chunks > 8 ? 10007 : 521, (size_t)(chunks * s->set->chunk_bytes), 1);
  hid_t id = H5Dopen2(file, s->set->path, access);
  H5Pclose(access);
  return id;
}

// Chooses the chunks in memory: for every dataset, the chunks of one row if the memory is sufficient for all datasets, otherwise one
// chunk. Fails with OD_BAD_INPUT if one chunk of every dataset needs more than CACHE plus MEMORY_PER_BYTE bytes per byte of the file.
static od_status choose_caches(source *s, int sources, long long bytes, od_error *err) {
  double most = CACHE + MEMORY_PER_BYTE * (double)bytes, full = 0, least = 0;
  for (int i = 0; i < sources; i++) {
    full += chunks_of_row(&s[i]) * s[i].set->chunk_bytes;
    least += chunks_of_row(&s[i]) > 0 ? s[i].set->chunk_bytes : 0;
  }
  if (least > most)
    return od_fail(
        err, OD_BAD_INPUT,
        "the chunks of the columns in use need %.3g MB of memory, which is too much for a file with %.3g MB; "
        "write smaller chunks",
        least / 1e6, (double)bytes / 1e6);
  for (int i = 0; i < sources; i++) s[i].chunks = full <= most ? chunks_of_row(&s[i]) : fmin(chunks_of_row(&s[i]), 1);
  return OD_OK;
}

// Opens the dataset of a source for its columns wanted[s->first] to wanted[s->last] of the table. Fails with OD_BAD_INPUT or
// OD_NO_MEMORY.
static od_status open_source(const od_hdf5_file *f, const int *wanted, source *s, od_arena *arena, od_error *err) {
  const od_hdf5_dataset *d = s->set;
  const od_series *series;
  bool *is_wanted = OD_TAKE(arena, bool, d->leaves);
  s->slot = OD_TAKE(arena, size_t, d->leaves);
  if (od_arena_status(arena) != OD_OK) return OD_NO_MEMORY;
  s->low = SIZE_MAX;
  for (int i = s->first; i <= s->last; i++) {
    series = &f->columns.item[wanted[i]];
    is_wanted[((const od_hdf5_leaf *)series->array->source)->index] = true;
    if (series->index < s->low) s->low = series->index;
    if (series->index > s->high) s->high = series->index;
  }
  s->is_wanted = is_wanted;
  s->id = open_set(f->id, s, s->chunks);
  hid_t type = s->id >= 0 ? H5Dget_type(s->id) : -1;
  size_t used = 0, needed = 0;
  int leaf = 0;
  for (int i = 0; i < d->leaves; i++) needed += is_wanted[i] ? 8 * d->leaf[i].slots : 0;
  s->space = s->id >= 0 ? H5Dget_space(s->id) : -1;
  s->type = type >= 0 ? memory_type(s, type, 0, &leaf, 0, &used) : -1;
  if (s->space < 0 || s->type < 0 || H5Tget_size(s->type) != used || used != needed)
    return od_hdf5_damaged(d->path, err);
  s->width = d->is_compound ? used / 8 : s->high - s->low + 1;
  return OD_OK;
}

// Groups the wanted columns into sources and opens the sources. A source has neighboring entries of `wanted` that belong to one
// dataset; the columns and the rows of a square matrix are two sources. bytes: size of the file. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status open_sources(const od_hdf5_file *f, const int *wanted, int count, long long bytes, source **out,
                              int *sources, od_arena *arena, od_error *err) {
  *sources = 0;
  *out = OD_TAKE(arena, source, count);
  if (!*out) return OD_NO_MEMORY;
  for (int i = 0; i < count; i++) {
    const od_series *series = &f->columns.item[wanted[i]];
    const od_hdf5_dataset *d = ((const od_hdf5_leaf *)series->array->source)->set;
    source *s = *sources > 0 ? &(*out)[*sources - 1] : NULL;
    bool same = s && s->set == d && f->columns.item[wanted[s->first]].is_row == series->is_row;
    if (!same) s = &(*out)[(*sources)++], s->set = d, s->first = i;
    s->last = i;
  }
  for (int i = 0; i < *sources; i++) {
    source *s = &(*out)[i];
    const od_series *series = &f->columns.item[wanted[s->first]];
    s->along_second = s->set->is_compound || od_array_is_vector(series->array) ? s->set->rows == 1 : series->is_row;
  }
  od_status status = choose_caches(*out, *sources, bytes, err);
  for (int i = 0; i < *sources && status == OD_OK; i++) status = open_source(f, wanted, &(*out)[i], arena, err);
  return status;
}

// Returns the number of rows of a block. The block has the usual size, or the length of the longest chunk if this chunk is longer
// and not too large.
static size_t rows_of_block(const source *s, int sources, size_t rows) {
  size_t width = 1, chunk = 1;
  for (int i = 0; i < sources; i++) {
    width += s[i].width;
    size_t own = s[i].along_second ? s[i].set->chunk[1] : s[i].set->chunk[0];
    if (own > chunk) chunk = own;
  }
  size_t usual = BLOCK / 8 / width, longest = LARGEST_BLOCK / 8 / width;
  if (usual < chunk && chunk <= longest) usual = chunk;
  if (usual > MOST_ROWS) usual = MOST_ROWS;
  if (usual < 1) usual = 1;
  return usual < rows ? usual : rows;
}

// --- Reading ------------------------------------------------------------------------------------------------------

static od_status read_block(const source *s, size_t row, size_t rows, od_error *err) {
  const od_hdf5_dataset *d = s->set;
  hsize_t start[H5S_MAX_RANK] = {0}, length[H5S_MAX_RANK], in_memory = rows * (d->is_compound ? 1 : s->width);
  for (int i = 0; i < d->rank; i++) length[i] = 1;
  int along = d->at[s->along_second], across = d->at[!s->along_second];
  if (along >= 0) start[along] = row, length[along] = rows;
  if (across >= 0 && !d->is_compound && s->width > 1) length[across] = s->width;
  if (across >= 0 && !d->is_compound) start[across] = s->low;
  hid_t memory = H5Screate_simple(1, &in_memory, NULL);
  bool ok = memory >= 0 && H5Sselect_hyperslab(s->space, H5S_SELECT_SET, start, NULL, length, NULL) >= 0 &&
            H5Dread(s->id, s->type, memory, s->space, H5P_DEFAULT, s->block) >= 0;
  if (memory >= 0) H5Sclose(memory);
  return ok ? OD_OK : od_hdf5_damaged(d->path, err);
}

// Returns the number that a stored value represents; NAN if the stored value means a missing value.
static double number_of(const od_hdf5_dataset *d, od_hdf5_kind kind, double value) {
  if (kind == OD_HDF5_BITS) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (double)bits;
  }
  if (d->is_compound) return value;
  for (int i = 0; i < d->missing_count; i++)
    if (value == d->missing[i]) return NAN;
  return d->scale != 1 || d->offset != 0 ? value * d->scale + d->offset : value;
}

// Copies the numbers of a column from the block of its dataset.
static void copy_column(const source *s, const od_series *series, size_t rows, double *to) {
  const od_hdf5_leaf *leaf = series->array->source;
  size_t first = s->set->is_compound ? s->slot[leaf->index] + series->index : series->index - s->low, step = s->width;
  if (!s->set->is_compound && s->along_second) first *= rows, step = 1;
  for (size_t i = 0; i < rows; i++) to[i] = number_of(s->set, leaf->kind, s->block[first + i * step]);
}

static od_status send_rows(const od_hdf5_file *f, source *s, int sources, const int *wanted, od_arena *arena,
                           od_channel *to, od_error *err) {
  size_t all = f->columns.rows, most = rows_of_block(s, sources, all);
  double *column = OD_TAKE(arena, double, most);
  for (int i = 0; i < sources; i++) s[i].block = OD_TAKE(arena, double, most *s[i].width);
  if (od_arena_status(arena) != OD_OK) return OD_NO_MEMORY;
  for (size_t row = 0; row < all && !to->broken; row += most) {
    size_t rows = all - row < most ? all - row : most;
    // The time limit applies only while this program reads rows, not while the caller uses them.
    alarm(PATIENCE);
    for (int i = 0; i < sources; i++) {
      od_status status = read_block(&s[i], row, rows, err);
      if (status != OD_OK) return status;
    }
    alarm(0);
    od_channel_put_number(to, OD_HELPER_BLOCK);
    od_channel_put_number(to, rows);
    for (int i = 0; i < sources; i++)
      for (int k = s[i].first; k <= s[i].last; k++) {
        copy_column(&s[i], &f->columns.item[wanted[k]], rows, column);
        od_channel_put(to, column, rows * sizeof *column);
      }
  }
  return OD_OK;
}

od_status od_hdf5_read_rows(const char *path, long long bytes, const od_mat_wish *wish, const int *wanted, int count,
                            od_channel *to, od_error *err) {
  OD_SCRATCH(scratch);
  od_hdf5_file f;
  source *s;
  int sources;
  od_status status = od_hdf5_open(path, wish, &scratch, &f, err);
  if (status != OD_OK) return status;
  for (int i = 0; i < count; i++)
    if (wanted[i] < 0 || wanted[i] >= f.columns.count || f.columns.item[wanted[i]].array->flaw)
      return od_fail(err, OD_BAD_INPUT, "the file changed while it was being read; read the file again");
  status = open_sources(&f, wanted, count, bytes, &s, &sources, &scratch, err);
  return status == OD_OK ? send_rows(&f, s, sources, wanted, &scratch, to, err) : status;
}
