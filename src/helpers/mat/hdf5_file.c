// The contents of an HDF5 file: groups, datasets and their attributes. hdf5_rows.c reads the numbers.
//
// Attributes: `unit` or `units` (a text, or one text per column), CF conventions (units "seconds since DATE",
// scale_factor, add_offset, _FillValue, missing_value; `axis` "T" or `standard_name` "time" for the time), and the
// attributes in which pandas stores the names of columns and indices.
#include "mat/hdf5_datasets.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/table.h"
#include "io/unpacked.h"
#include "mat/mat_objects.h"

enum {
  DEEPEST = 8,
  MOST_OBJECTS = 100000,
  MOST_LEAVES = 10000,        // fields of a compound type
  MOST_LABELS = 10000,        // texts of an attribute
  LARGEST_CHUNK = 128 << 20,  // bytes
  MOST_FILTERS = 16
};

// --- Errors of the library ----------------------------------------------------------------------------------------

static herr_t keep_reason(unsigned n, const H5E_error2_t *error, void *to) {
  (void)n;
  char *text = to;
  if (!text[0] && error->desc) snprintf(text, OD_HDF5_REASON, "%s", error->desc);
  return 0;
}

od_status od_hdf5_damaged(const char *what, od_error *err) {
  char reason[OD_HDF5_REASON] = "";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_reason, reason);
  if (strstr(reason, "unable to lock file") || strstr(reason, "already open for write"))
    return od_fail(
        err, OD_BAD_INPUT,
        "another program has opened the file for writing, or has not closed it (%s); close the file there first",
        reason);
  return od_fail(err, OD_BAD_INPUT, "%.150s cannot be read (%s); the file may be damaged; write the file again", what,
                 reason[0] ? reason : "without a reason");
}

// --- Types --------------------------------------------------------------------------------------------------------

// Returns the type in memory to which the numbers of a type are converted; OD_HDF5_NOTHING: the type has no numbers.
static od_hdf5_kind kind_of(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
    case H5T_FLOAT:
    case H5T_ENUM: return OD_HDF5_NUMBERS;
    case H5T_BITFIELD: return H5Tget_size(type) <= 8 ? OD_HDF5_BITS : OD_HDF5_NOTHING;
    default: return OD_HDF5_NOTHING;
  }
}

static const char *words_for(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_STRING: return "texts";
    case H5T_VLEN: return "lists of different lengths";
    case H5T_REFERENCE: return "references";
    case H5T_TIME: return "times of a type that HDF5 does not convert";
    default: return "values that are not numbers";
  }
}

bool od_hdf5_has_members(hid_t type, int depth) {
  return depth < DEEPEST && H5Tget_class(type) == H5T_COMPOUND;
}

// Adds the leaves of a type: the fields of a compound type, or the type itself. hdf5_rows.c processes the fields in the same order.
static void add_leaves(od_hdf5_dataset *d, od_arena *arena, hid_t type, const char *name, int depth) {
  if (d->leaves >= MOST_LEAVES) return;
  if (od_hdf5_has_members(type, depth)) {
    int members = H5Tget_nmembers(type);
    for (int i = 0; i < members; i++) {
      char path[OD_ARRAY_NAME];
      char *member = H5Tget_member_name(type, (unsigned)i);
      hid_t inner = H5Tget_member_type(type, (unsigned)i);
      bool fits = member && snprintf(path, sizeof path, "%s.%s", name, member) < (int)sizeof path;
      if (!fits) snprintf(path, sizeof path, "%.200s.%d", name, i + 1);
      if (inner >= 0) add_leaves(d, arena, inner, path, depth + 1);
      if (inner >= 0) H5Tclose(inner);
      H5free_memory(member);
    }
    return;
  }
  od_hdf5_leaf *list = od_arena_extend(arena, d->leaf, d->leaves, sizeof *list);
  if (!list) return;
  d->leaf = list;
  od_hdf5_leaf *leaf = &d->leaf[d->leaves++];
  *leaf = (od_hdf5_leaf){.kind = kind_of(type), .slots = 1, .words = words_for(type)};
  snprintf(leaf->name, sizeof leaf->name, "%s", name);
  if (H5Tget_class(type) != H5T_ARRAY) return;
  hid_t base = H5Tget_super(type);
  size_t whole = H5Tget_size(type), one = base >= 0 ? H5Tget_size(base) : 0;
  if (base >= 0) leaf->kind = kind_of(base), leaf->words = words_for(base);
  leaf->slots = one > 0 ? whole / one : 1;
  if (leaf->slots < 1 || leaf->slots > MOST_LABELS) leaf->kind = OD_HDF5_NOTHING;
  if (base >= 0) H5Tclose(base);
}

// --- Storage ------------------------------------------------------------------------------------------------------

// Returns the reason why the numbers of a dataset cannot be read, as a text in the arena; NULL: the numbers can be read.
static const char *find_obstacle(hid_t set, hid_t properties, od_hdf5_dataset *d, od_arena *arena) {
  H5D_layout_t layout = H5Pget_layout(properties);
  hid_t type = H5Dget_type(set), space = H5Dget_space(set);
  hssize_t points = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
  double size = type >= 0 ? (double)H5Tget_size(type) : 0;
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  d->logical = (double)points * size;
  d->stored = (double)H5Dget_storage_size(set);
  if (layout == H5D_VIRTUAL || H5Pget_external_count(properties) > 0)
    return "has its numbers in another file, which is not read; copy the numbers into this file";
  if (layout == H5D_CONTIGUOUS && d->stored < d->logical) return "has no stored numbers";
  if (layout != H5D_CHUNKED) return NULL;
  hsize_t chunk[H5S_MAX_RANK];
  int rank = H5Pget_chunk(properties, H5S_MAX_RANK, chunk);
  d->chunk_bytes = size;
  for (int i = 0; i < rank; i++) d->chunk_bytes *= (double)chunk[i];
  for (int i = 0; i < 2; i++) d->chunk[i] = d->at[i] >= 0 && d->at[i] < rank ? (size_t)chunk[d->at[i]] : 1;
  if (!(d->chunk_bytes <= LARGEST_CHUNK)) return "has chunks of more than 128 MB; write smaller chunks";
  int filters = H5Pget_nfilters(properties);
  for (int i = 0; i < filters && i < MOST_FILTERS; i++) {
    unsigned flags, configuration;
    size_t values = 0;
    char name[80] = "";
    H5Z_filter_t filter =
        H5Pget_filter2(properties, (unsigned)i, &flags, &values, NULL, sizeof name, name, &configuration);
    if (filter < 0 || H5Zfilter_avail(filter) > 0) continue;
    return od_arena_format(arena,
                           "is compressed with '%.40s' (filter %d of HDF5), which is not available; write the file "
                           "with gzip compression",
                           name, (int)filter);
  }
  return NULL;
}

// --- Attributes ---------------------------------------------------------------------------------------------------

// Splits the units of CF conventions, "seconds since 2020-01-01", into unit and date. Returns the unit.
static const char *split_since(char *unit, const char **date) {
  static const char *const words[][2] = {{"second", "s"}, {"sec", "s"},          {"minute", "min"},
                                         {"hour", "h"},   {"day", "d"},          {"millisecond", "ms"},
                                         {"msec", "ms"},  {"microsecond", "us"}, {"nanosecond", "ns"}};
  char *since = strstr(unit, " since ");
  if (!since) return unit;
  *since = '\0';
  *date = since + 7;
  size_t n = strlen(unit);
  if (n > 1 && unit[n - 1] == 's') n--;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i][0]) == n && !strncasecmp(unit, words[i][0], n)) return words[i][1];
  return unit;
}

static bool is_text(hid_t set, const char *name, const char *text, od_arena *arena) {
  const char *found = od_hdf5_text(set, name, arena);
  return found && !strcasecmp(found, text);
}

// Returns whether the numbers of a dataset are stored with single precision.
static bool is_single(hid_t set) {
  hid_t type = H5Dget_type(set);
  bool is = type >= 0 && H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == sizeof(float);
  if (type >= 0) H5Tclose(type);
  return is;
}

// Rounds a number to single precision, as a dataset of single precision stores the number. An attribute of double precision is then
// equal to the stored number.
static double to_single(double value) {
  return fabs(value) <= (double)FLT_MAX ? (double)(float)value : value;
}

// Reads the attributes of a dataset without fields: unit, scale, missing values, and whether the dataset is the time.
static void read_attributes(od_hdf5_file *f, hid_t set, od_hdf5_dataset *d, od_array *a) {
  od_arena *arena = f->list->arena;
  const char *const names[] = {"unit", "units"};
  const char *const absent[] = {"_FillValue", "missing_value"}, *date = NULL;
  for (int i = 0; i < 2; i++) {
    char **text;
    int count = od_hdf5_texts(set, names[i], MOST_LABELS, &text, arena);
    if (count == 1) a->unit = split_since(text[0], &date);
    if (count > 1 && (size_t)count == a->columns && a->rows > 1) a->own_unit = (const char *const *)text;
    if (od_hdf5_number(set, absent[i], &d->missing[d->missing_count])) {
      if (is_single(set)) d->missing[d->missing_count] = to_single(d->missing[d->missing_count]);
      d->missing_count++;
    }
  }
  d->scale = 1;
  od_hdf5_number(set, "scale_factor", &d->scale);
  od_hdf5_number(set, "add_offset", &d->offset);
  a->is_time = date || is_text(set, "axis", "T", arena) || is_text(set, "standard_name", "time", arena);
  if (a->is_time && date && !f->start_time) f->start_time = date;
  // The array may be the index of a table of pandas.
  const char *kind = od_hdf5_text(set, "kind", arena);
  size_t n = strlen(a->name);
  bool is_index = kind && ((n >= 5 && !strcmp(a->name + n - 5, "axis1")) || od_name_ends_in(a->name, "index"));
  if (is_index) a->is_time = true;
  if (is_index && !strcmp(kind, "datetime64") && !a->unit) a->unit = "ns";
}

// Sets labels NAME.TEXT for the columns of an array. group: the name without its last part.
static void set_labels(od_array *a, char **text, int count, const char *group, od_arena *arena) {
  if (count < 1 || (size_t)count != a->columns) return;
  const char **label = OD_TAKE(arena, const char *, count);
  for (int i = 0; i < count && label; i++) {
    label[i] = od_arena_format(arena, "%.120s%s%.120s", group, group[0] ? "." : "", text[i]);
    if (!label[i]) return;
  }
  a->label = label;
}

// pandas stores numbers of one type as the matrix "block0_values", and the names of the columns as "block0_items".
static void read_pandas_items(od_hdf5_file *f, hid_t group, const char *name, const char *prefix, od_array *a) {
  size_t n = strlen(name);
  char items[80], **text;
  if (n < 8 || n > sizeof items - 8 || strncmp(name, "block", 5) != 0 || strcmp(name + n - 7, "_values") != 0) return;
  snprintf(items, sizeof items, "%.*s_items", (int)n - 7, name);
  if (H5Lexists(group, items, H5P_DEFAULT) <= 0) return;
  hid_t set = H5Dopen2(group, items, H5P_DEFAULT);
  if (set < 0) return;
  int count = od_hdf5_texts(set, NULL, MOST_LABELS, &text, f->list->arena);
  set_labels(a, text, count, prefix, f->list->arena);
  H5Dclose(set);
}

// Reads the attributes with which PyTables and pandas describe a field: names of the columns of an array, kind of the index.
static void read_field_attributes(od_hdf5_file *f, hid_t set, const char *prefix, int at, od_array *a) {
  od_arena *arena = f->list->arena;
  const char *field = a->name + strlen(prefix) + 1;
  char name[OD_ARRAY_NAME + 8];
  snprintf(name, sizeof name, "%s_kind", field);
  char *kind = od_hdf5_text(set, name, arena), *text[200];
  int count = kind ? od_hdf5_pickled(kind, 200, text) : 0;
  if (count > 0 && a->columns == (size_t)count && strncmp(field, "values_block_", 13) == 0)
    set_labels(a, text, count, prefix, arena);
  a->is_time = kind && !strcmp(field, "index");
  if (a->is_time && !strcmp(kind, "datetime64")) a->unit = "ns";
  snprintf(name, sizeof name, "FIELD_%d_UNITS", at);
  const char *unit = od_hdf5_text(set, name, arena);
  if (unit) a->unit = unit;
}

// --- Datasets -----------------------------------------------------------------------------------------------------

// Adds an array for each leaf of a compound type.
static void list_fields(od_hdf5_file *f, hid_t set, od_hdf5_dataset *d, const char *name, const char *obstacle) {
  od_arena *arena = f->list->arena;
  size_t rows = d->rows * d->columns;
  char **unit;
  int units = od_hdf5_texts(set, "units", MOST_LABELS, &unit, arena);
  if (units == 0) units = od_hdf5_texts(set, "unit", MOST_LABELS, &unit, arena);
  for (int i = 0; i < d->leaves; i++) {
    od_hdf5_leaf *leaf = &d->leaf[i];
    bool fine = leaf->kind != OD_HDF5_NOTHING && !obstacle;
    od_array *a = od_arrays_add(f->list, leaf->name, rows, fine ? leaf->slots : 1);
    if (!a) return;
    a->source = leaf;
    if (leaf->kind == OD_HDF5_NOTHING)
      a->flaw = od_arena_format(arena, "'%.100s' contains %s; expected numbers", leaf->name, leaf->words);
    else if (obstacle)
      a->flaw = od_arena_format(arena, "'%.100s' %s", leaf->name, obstacle);
    if (units == d->leaves && units > 1) a->unit = unit[i];
    if (strlen(leaf->name) > strlen(name)) read_field_attributes(f, set, name, i, a);
  }
}

static void list_dataset(od_hdf5_file *f, hid_t group, hid_t set, const char *link, const char *prefix,
                         const char *name) {
  od_arena *arena = f->list->arena;
  hsize_t length[H5S_MAX_RANK];
  size_t dimension[H5S_MAX_RANK];
  hid_t space = H5Dget_space(set), type = H5Dget_type(set), properties = H5Dget_create_plist(set);
  int rank = space >= 0 ? H5Sget_simple_extent_dims(space, length, NULL) : -1;
  for (int i = 0; i < rank; i++) dimension[i] = (size_t)length[i];
  od_hdf5_dataset *d = OD_TAKE(arena, od_hdf5_dataset, 1);
  if (d && type >= 0 && properties >= 0 && rank > 0 && od_arrays_shape(dimension, rank, &d->rows, &d->columns, d->at)) {
    d->rank = rank;
    ssize_t size = H5Iget_name(set, NULL, 0);
    d->path = OD_TAKE(arena, char, size > 0 ? size + 1 : 1);
    if (d->path && size > 0) H5Iget_name(set, d->path, (size_t)size + 1);
    d->is_compound = H5Tget_class(type) == H5T_COMPOUND;
    add_leaves(d, arena, type, name, 0);
    const char *obstacle = find_obstacle(set, properties, d, arena);
    for (int i = 0; i < d->leaves; i++) d->leaf[i].set = d, d->leaf[i].index = i;
    bool single = d->rows == 1 || d->columns == 1;
    if (d->is_compound || (d->leaves == 1 && (d->leaf[0].slots > 1 || d->leaf[0].kind == OD_HDF5_NOTHING))) {
      d->is_compound = true;
      if (single) list_fields(f, set, d, name, obstacle);
    } else if (d->leaves == 1) {
      od_array *a = od_arrays_add(f->list, name, d->rows, d->columns);
      if (a && obstacle) a->flaw = od_arena_format(arena, "'%.100s' %s", name, obstacle);
      if (a && obstacle && single) a->rows = d->rows * d->columns, a->columns = 1;
      if (a) {
        a->source = &d->leaf[0];
        read_attributes(f, set, d, a);
        read_pandas_items(f, group, link, prefix, a);
      }
    }
  }
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  if (properties >= 0) H5Pclose(properties);
}

// --- Groups -------------------------------------------------------------------------------------------------------

typedef struct visit {
  od_hdf5_file *file;
  const char *prefix;
  int depth;
  const struct visit *outer;  // the visit of the group that contains this group; NULL: the root
  haddr_t address;            // address of the group
} visit;

static bool list_group(visit v, hid_t group);

static herr_t list_member(hid_t group, const char *name, const H5L_info_t *info, void *user) {
  const visit *v = user;
  char path[OD_ARRAY_NAME];
  if (info->type != H5L_TYPE_HARD) return 0;
  if (++v->file->visited > MOST_OBJECTS) return -1;
  if (snprintf(path, sizeof path, "%s%s%s", v->prefix, v->prefix[0] ? "." : "", name) >= (int)sizeof path) return 0;
  for (const visit *outer = v; outer; outer = outer->outer)
    if (outer->address == info->u.address) return 0;  // the group contains itself
  hid_t object = H5Oopen(group, name, H5P_DEFAULT);
  if (object < 0) return -1;
  H5I_type_t is = H5Iget_type(object);
  bool ok = true;
  // PyTables stores the indices of a table as a group of the class TINDEX.
  if (is == H5I_GROUP && v->depth < DEEPEST && !is_text(object, "CLASS", "TINDEX", v->file->list->arena))
    ok = list_group((visit){v->file, path, v->depth + 1, v, info->u.address}, object);
  if (is == H5I_DATASET) list_dataset(v->file, group, object, name, v->prefix, path);
  H5Oclose(object);
  return ok ? 0 : -1;
}

static bool list_group(visit v, hid_t group) {
  hsize_t at = 0;
  return H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, list_member, &v) >= 0;
}

od_status od_hdf5_open(const char *path, const od_mat_wish *wish, od_arena *arena, od_hdf5_file *f, od_error *err) {
  *f = (od_hdf5_file){.list = OD_TAKE(arena, od_arrays, 1)};
  if (!f->list) return OD_NO_MEMORY;
  f->list->arena = arena;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  f->id = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (f->id < 0) return od_hdf5_damaged("the file", err);
  hid_t root = H5Gopen2(f->id, "/", H5P_DEFAULT);
  if (root < 0 || !list_group((visit){.file = f, .prefix = "", .address = HADDR_UNDEF}, root)) {
    if (f->visited > MOST_OBJECTS)
      return od_fail(err, OD_BAD_INPUT, "the file has more than %d groups and datasets; expected fewer", MOST_OBJECTS);
    return od_hdf5_damaged("the file", err);
  }
  H5Gclose(root);
  if (od_arena_status(arena) != OD_OK) return OD_NO_MEMORY;
  int numbers = 0;
  const char *flaw = NULL;
  for (int i = 0; i < f->list->count; i++) {
    numbers += !f->list->item[i].flaw;
    if (!flaw) flaw = f->list->item[i].flaw;
  }
  if (numbers == 0)
    return od_fail(err, OD_BAD_INPUT, "the file contains no vectors or matrices of numbers%s%s%s",
                   flaw ? ": " : "; expected vectors of equal length", flaw ? flaw : "", "");
  od_status status = od_series_select(f->list, wish, &f->columns, err);
  if (status != OD_OK) return status;
  f->label = OD_TAKE(arena, od_series_label, f->columns.count);
  if (!f->label) return OD_NO_MEMORY;
  for (int i = 0; i < f->columns.count; i++) od_series_describe(&f->columns.item[i], &f->label[i]);
  return OD_OK;
}

// Fails with OD_BAD_INPUT if the described numbers need more bytes than od_most_unpacked() allows, as in a small file that describes long
// constant data.
static od_status check_size(const od_hdf5_file *f, long long bytes, od_error *err) {
  double logical = 0;
  const od_hdf5_dataset *last = NULL;
  for (int i = 0; i < f->columns.count; i++) {
    const od_hdf5_leaf *leaf = f->columns.item[i].array->source;
    if (f->columns.item[i].array->flaw || leaf->set == last) continue;
    last = leaf->set;
    logical += last->logical;
  }
  return od_check_unpacked(NULL, (double)bytes, logical, err);
}

od_status od_hdf5_read_head(const char *path, long long bytes, const od_mat_wish *wish, od_channel *to, od_error *err) {
  OD_SCRATCH(scratch);
  od_hdf5_file f;
  od_status status = od_hdf5_open(path, wish, &scratch, &f, err);
  if (status == OD_OK) status = check_size(&f, bytes, err);
  if (status == OD_OK) od_series_put_head(to, &f.columns, f.label, f.start_time);
  return status;
}

// --- MATLAB files of level 7.3 -------------------------------------------------------------------------------------

static bool list_objects(hid_t group, const char *prefix, int depth, od_arrays *to);

typedef struct object_visit {
  od_arrays *to;
  const char *prefix;
  int depth;
  int visited;
} object_visit;

// MATLAB writes the class of every variable as the attribute MATLAB_class, and MATLAB_object_decode for objects.
static herr_t find_object(hid_t group, const char *name, const H5L_info_t *info, void *user) {
  object_visit *v = user;
  char path[OD_ARRAY_NAME];
  if (info->type != H5L_TYPE_HARD || name[0] == '#' || ++v->visited > MOST_OBJECTS) return 0;
  if (snprintf(path, sizeof path, "%s%s%s", v->prefix, v->prefix[0] ? "." : "", name) >= (int)sizeof path) return 0;
  hid_t object = H5Oopen(group, name, H5P_DEFAULT);
  if (object < 0) return 0;
  const char *class_name = od_hdf5_text(object, "MATLAB_class", v->to->arena);
  double decode = 0;
  bool is_object = od_hdf5_number(object, "MATLAB_object_decode", &decode) && decode >= 2;
  if (class_name && is_object)
    od_mat_add_object(v->to, path, class_name);
  else if (H5Iget_type(object) == H5I_GROUP && v->depth < DEEPEST)
    list_objects(object, path, v->depth + 1, v->to);
  H5Oclose(object);
  return 0;
}

static bool list_objects(hid_t group, const char *prefix, int depth, od_arrays *to) {
  object_visit v = {to, prefix, depth, 0};
  hsize_t at = 0;
  return H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, find_object, &v) >= 0;
}

void od_hdf5_find_objects(const char *path, od_arrays *to) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), root = file >= 0 ? H5Gopen2(file, "/", H5P_DEFAULT) : -1;
  if (root >= 0) list_objects(root, "", 0, to);
  if (root >= 0) H5Gclose(root);
  if (file >= 0) H5Fclose(file);
}
