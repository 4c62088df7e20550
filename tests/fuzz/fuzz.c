#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static void remove_folder(void) {
  char path[512];
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    unlink(path);
  }
  if (d) closedir(d);
  rmdir(folder);
}

static void make_folder(const char *example) {
  char from[512], to[512];
  strcpy(folder, "/tmp/oleodyn-fuzz-XXXXXX");
  if (!mkdtemp(folder)) abort();
  atexit(remove_folder);
  snprintf(from, sizeof from, OD_SOURCE_DIR "/%s", example);
  DIR *d = opendir(from);
  for (struct dirent *e; d && (e = readdir(d));) {
    if (e->d_name[0] == '.') continue;
    snprintf(from, sizeof from, OD_SOURCE_DIR "/%s/%s", example, e->d_name);
    snprintf(to, sizeof to, "%s/%s", folder, e->d_name);
    if (symlink(from, to) != 0) abort();
  }
  if (d) closedir(d);
}

const char *fuzz_file(const uint8_t *data, size_t size, const char *name, const char *example) {
  static char path[512];
  if (!folder[0]) make_folder(example);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  if (!file || (size > 0 && fwrite(data, 1, size, file) != size) || fclose(file) != 0) abort();
  return path;
}

const od_machine *fuzz_machine(int index) {
  static const char *const files[FUZZ_MACHINES] = {"cases/fourbar-swing/machine.yaml",
                                                   "tests/cases/machines/sampled_valve.yaml",
                                                   "tests/cases/machines/sampled.yaml",
                                                   "cases/hydrostatic-transmission/machine.yaml",
                                                   "cases/charging/machine.yaml",
                                                   "cases/slider-crank/machine.yaml",
                                                   "cases/position-servo/machine.yaml",
                                                   "cases/hydraulic-actuator/machine.yaml",
                                                   "tests/cases/machines/ports.yaml",
                                                   "tests/cases/machines/stop.yaml",
                                                   "tests/cases/machines/small-volumes.yaml",
                                                   "tests/cases/machines/pulled.yaml",
                                                   "tests/cases/machines/check.yaml",
                                                   "cases/rssr/machine.yaml",
                                                   "cases/friction-compensation/machine.yaml",
                                                   "cases/friction-trajectories/machine.yaml",
                                                   "cases/fin-servo/machine.yaml",
                                                   "cases/double-pendulum/machine.yaml",
                                                   "tests/cases/machines/piston.yaml",
                                                   "tests/cases/machines/rubbing.yaml",
                                                   "tests/cases/machines/leak.yaml",
                                                   "tests/cases/machines/relief.yaml",
                                                   "tests/cases/machines/emptying.yaml",
                                                   "tests/fuzz/lag/lag.yaml"};
  static od_machine *made[FUZZ_MACHINES];
  char path[500];
  snprintf(path, sizeof path, OD_SOURCE_DIR "/%s", files[index]);
  if (!made[index] && od_machine_load(path, NULL, &made[index], NULL) != OD_OK) abort();
  return made[index];
}

// A function of libFuzzer; other builds do not have it and do not call fuzz_mutate().
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

size_t fuzz_mutate(uint8_t *data, size_t size, size_t most, unsigned seed, size_t head, size_t group, int bases,
                   int slow) {
  unsigned dice = seed * 2654435761u >> 8;
  size_t whole = head + (1 + dice % 3) * group;
  if (dice / 3 % 4 == 0) whole += 4 * group;
  size = LLVMFuzzerMutate(data, size, most);
  if (whole > most) whole = most;
  if (size > whole) size = whole;
  if (size > head) {  // an incomplete group is filled
    size_t rest = (size - head) % group;
    while (rest > 0 && rest < group && size < most) data[size++] = (uint8_t)(dice >> rest), rest++;
  }
  if (size > 0 && data[0] % bases < slow && dice / 12 % 32 != 0)
    data[0] = (uint8_t)(slow + (int)(dice / 384 % (unsigned)(bases - slow)));
  return size;
}

char *fuzz_text(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) abort();
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

void fuzz_judge(od_status status, const void *made, od_messages *messages) {
  static FILE *nowhere;
  if (!nowhere) nowhere = fopen("/dev/null", "w");
  od_messages_print(messages, nowhere, true);
  if ((status == OD_OK) != (made != NULL)) abort();
  if (status != OD_OK && od_messages_errors(messages) == 0) abort();
  od_messages_free(messages);
}

// libfyaml 0.7.12 does not free a list of the parts of a quoted text with many doubled quotes. Leaks of its other objects are found by valgrind
// (make verify).
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:libfyaml.so\n";
}
