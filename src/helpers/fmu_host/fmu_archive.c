#define _GNU_SOURCE  // O_NOFOLLOW
#include "fmu_host/fmu_archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include "memory/scoped.h"

// Limits of archives: size of the model description, size of all unpacked files, number of entries.
enum { MOST_XML = 128 << 20, MOST_ENTRIES = 100000, PATH_SIZE = 4096 };
static const uint64_t most_bytes = (uint64_t)2 << 30;

static inline void close_archive(zip_t **archive) {
  if (*archive) zip_discard(*archive);
}
#define ARCHIVE OD_SCOPED(close_archive) zip_t

static zip_t *open_archive(const char *path, od_error *err) {
  int reason = 0;
  zip_t *archive = zip_open(path, ZIP_RDONLY, &reason);
  if (!archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, reason);
    od_fail(err, reason == ZIP_ER_NOENT ? OD_IO : OD_BAD_INPUT,
            "cannot be read as a ZIP archive: %s; export the FMU again", zip_error_strerror(&error));
    zip_error_fini(&error);
  } else if (zip_get_num_entries(archive, 0) > MOST_ENTRIES) {
    od_fail(err, OD_BAD_INPUT, "the archive has too many entries; expected at most %d", (int)MOST_ENTRIES);
    zip_discard(archive);
    archive = NULL;
  }
  return archive;
}

od_status od_fmu_archive_description(const char *path, od_arena *arena, char **xml, size_t *size, od_error *err) {
  static const char name[] = "modelDescription.xml";
  ARCHIVE *archive = open_archive(path, err);
  zip_stat_t s;
  if (!archive) return err->status;
  if (zip_stat(archive, name, 0, &s) != 0)
    return od_fail(err, OD_BAD_INPUT, "the archive has no file %s; an FMU has this file in its main folder", name);
  if (!(s.valid & ZIP_STAT_SIZE) || s.size > MOST_XML)
    return od_fail(err, OD_BAD_INPUT, "%s is too large; expected at most 128 MB", name);
  zip_file_t *f = zip_fopen(archive, name, 0);
  if (!f) return od_fail(err, OD_BAD_INPUT, "%s cannot be unpacked: %s", name, zip_strerror(archive));
  *xml = OD_TAKE(arena, char, (long long)s.size + 1);
  *size = (size_t)s.size;
  zip_int64_t got = *xml ? zip_fread(f, *xml, s.size) : -1;
  bool complete = got == (zip_int64_t)s.size;
  zip_fclose(f);
  if (!*xml) return od_fail(err, OD_NO_MEMORY, "out of memory");
  return complete ? OD_OK : od_fail(err, OD_BAD_INPUT, "%s is damaged in the archive", name);
}

// --- Unpacking ----------------------------------------------------------------------------------------------------

const char *od_fmu_platform(int version) {
#if defined __x86_64__
  return version == 2 ? "linux64" : "x86_64-linux";
#elif defined __i386__
  return version == 2 ? "linux32" : "x86-linux";
#elif defined __aarch64__
  return (void)version, "aarch64-linux";
#elif defined __riscv
  return (void)version, "riscv64-linux";
#else
  return (void)version, "unknown";
#endif
}

// Returns whether the name of an entry stays within the folder.
static bool is_inside(const char *name) {
  if (name[0] == '/' || !name[0]) return false;
  for (const char *at = name; *at; at++) {
    bool begins = at == name || at[-1] == '/';
    if (*at == '\\' || *at == ':' || (unsigned char)*at < ' ') return false;
    if (begins && at[0] == '.' && at[1] == '.' && (at[2] == '/' || !at[2])) return false;
  }
  return true;
}

// Creates all folders of a path below `folder`. Returns false if a folder cannot be created.
static bool make_folders(char *path, size_t from) {
  for (char *at = path + from; (at = strchr(at, '/')) != NULL; at++) {
    *at = '\0';
    bool there = mkdir(path, 0700) == 0 || errno == EEXIST;
    *at = '/';
    if (!there) return false;
  }
  return true;
}

static od_status write_entry(zip_t *archive, zip_uint64_t i, const char *path, uint64_t *left, od_error *err) {
  char piece[1 << 16];
  zip_file_t *f = zip_fopen_index(archive, i, 0);
  if (!f)
    return od_fail(err, OD_BAD_INPUT, "'%.200s' cannot be unpacked: %s", zip_get_name(archive, i, 0),
                   zip_strerror(archive));
  int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0700);
  od_status status = OD_OK;
  if (to < 0)
    status = errno == EEXIST
                 ? od_fail(err, OD_BAD_INPUT, "the archive contains '%.200s' twice; expected each file once",
                           zip_get_name(archive, i, 0))
                 : od_fail(err, OD_IO, "cannot write %.300s: %s", path, strerror(errno));
  zip_int64_t got = 0;
  while (status == OD_OK && (got = zip_fread(f, piece, sizeof piece)) > 0) {
    if ((uint64_t)got > *left)
      status = od_fail(err, OD_BAD_INPUT, "the contents of the archive are too large; expected at most 2 GB");
    else if (write(to, piece, (size_t)got) != got)
      status = od_fail(err, OD_IO, "cannot write %.300s: %s", path, strerror(errno));
    *left -= (uint64_t)got <= *left ? (uint64_t)got : *left;
  }
  if (status == OD_OK && got < 0)
    status = od_fail(err, OD_BAD_INPUT, "'%.200s' is damaged in the archive", zip_get_name(archive, i, 0));
  if (to >= 0) close(to);
  zip_fclose(f);
  return status;
}

// Adds a platform to the list unless it is already there.
static void list_platform(const char *name, char *list, size_t size) {
  const char *begin = name + strlen("binaries/");
  char platform[64];
  snprintf(platform, sizeof platform, "%.*s", (int)strcspn(begin, "/"), begin);
  if (!strchr(begin, '/') || strstr(list, platform) || strlen(list) + strlen(platform) + 3 > size) return;
  snprintf(list + strlen(list), size - strlen(list), "%s%s", list[0] ? ", " : "", platform);
}

od_status od_fmu_archive_unpack(const char *path, const char *folder, int version, const char *identifier,
                                od_error *err) {
  ARCHIVE *archive = open_archive(path, err);
  if (!archive) return err->status;
  char binaries[128], binary[1200], platforms[400] = "";
  bool has_binary = false;
  uint64_t left = most_bytes;
  snprintf(binaries, sizeof binaries, "binaries/%s/", od_fmu_platform(version));
  snprintf(binary, sizeof binary, "%s%s.so", binaries, identifier);
  zip_int64_t entries = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < entries; i++) {
    const char *name = zip_get_name(archive, (zip_uint64_t)i, 0);
    if (!name || !is_inside(name))
      return od_fail(err, OD_BAD_INPUT,
                     "the archive contains the unsafe path '%.200s'; expected paths inside the archive",
                     name ? name : "");
    if (strncmp(name, "binaries/", 9) == 0) list_platform(name, platforms, sizeof platforms);
    bool wanted = strncmp(name, binaries, strlen(binaries)) == 0 || strncmp(name, "resources/", 10) == 0;
    if (!wanted || name[strlen(name) - 1] == '/') continue;
    char to[PATH_SIZE];
    if (snprintf(to, sizeof to, "%s/%s", folder, name) >= (int)sizeof to)
      return od_fail(err, OD_BAD_INPUT, "the archive contains a path that is too long; expected shorter names");
    if (!make_folders(to, strlen(folder) + 1))
      return od_fail(err, OD_IO, "cannot write to %.300s: %s", folder, strerror(errno));
    if (write_entry(archive, (zip_uint64_t)i, to, &left, err) != OD_OK) return err->status;
    has_binary = has_binary || strcmp(name, binary) == 0;
  }
  if (!has_binary)
    return od_fail(err, OD_BAD_INPUT, "the FMU has no binary '%.300s' for this platform; it has binaries for: %s",
                   binary, platforms[0] ? platforms : "no platform");
  return OD_OK;
}
