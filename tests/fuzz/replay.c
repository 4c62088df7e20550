// Runs a fuzz target without libFuzzer, always in the same way: every seed, prefixes of it, and changes of it drawn with a
// fixed seed. Usage: fuzz_TARGET COUNT FILE..., with COUNT changes in all. The program ends by a signal if the target
// crashes; the present input is then in the file fuzz-crash.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

enum { LARGEST = 1 << 16, PREFIXES = 20 };

typedef struct bytes {
  uint8_t *at;
  size_t size;
} bytes;

static bytes present;
static long executions;

static void keep_input(int signal_number) {
  int file = open("fuzz-crash", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ssize_t written = file >= 0 ? write(file, present.at, present.size) : 0;
  (void)written;  // it crashes in any case
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void execute(bytes input) {
  present = input;
  executions++;
  LLVMFuzzerTestOneInput(input.at, input.size);
}

static bytes read_bytes(const char *path) {
  bytes b = {malloc(LARGEST), 0};
  FILE *file = fopen(path, "rb");
  if (!b.at || !file) {
    perror(path);
    exit(1);
  }
  b.size = fread(b.at, 1, LARGEST, file);
  fclose(file);
  return b;
}

// xorshift64*: the same numbers everywhere.
static uint64_t dice_state = 20260101;
static size_t dice(size_t below) {
  dice_state ^= dice_state >> 12, dice_state ^= dice_state << 25, dice_state ^= dice_state >> 27;
  return below ? (size_t)((dice_state * 0x2545F4914F6CDD1Dull >> 33) % below) : 0;
}

// Replaces `cut` bytes at a place by others.
static void splice(bytes *b, size_t place, size_t cut, const void *with, size_t length) {
  if (cut > b->size - place) cut = b->size - place;
  if (b->size - cut + length > LARGEST) return;
  memmove(b->at + place + length, b->at + place + cut, b->size - place - cut);
  memcpy(b->at + place, with, length);
  b->size += length - cut;
}

// Typical damage: very long numbers, structure, bytes that are not text.
static void change(bytes *b, bytes other) {
  static const char *const words[] = {"1e308", "-1",  "nan", "1e-320", "{", "}",  "[", "]", ":",  "- ",   "\n  ",
                                      "\t",    "&a ", "*a ", "\"",     "'", "\0", ",", "#", "0",  "\xff", "99999",
                                      "<<: ",  "%",   "^",   "(",      ")", "/",  "=", ";", "m s"};
  size_t place = dice(b->size + 1);
  switch (dice(6)) {
    case 0:
      if (place < b->size) b->at[place] ^= (uint8_t)(1u << dice(8));
      break;
    case 1: splice(b, place, 1 + dice(40), "", 0); break;
    case 2: {
      const char *word = words[dice(sizeof words / sizeof *words)];
      splice(b, place, dice(2) * (1 + dice(4)), word, word[0] ? strlen(word) : 1);
      break;
    }
    case 3: {  // a piece of another seed
      size_t from = dice(other.size + 1), length = dice(60);
      splice(b, place, dice(60), other.at + from, length < other.size - from ? length : other.size - from);
      break;
    }
    case 4: {  // a piece of the same seed
      uint8_t piece[64];
      size_t length = dice(sizeof piece);
      if (length > b->size - place) length = b->size - place;
      memcpy(piece, b->at + place, length);
      splice(b, dice(b->size + 1), 0, piece, length);
      break;
    }
    default: b->size = place;
  }
}

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 0;
  int seeds = argc - 2;
  if (seeds < 1) {
    fprintf(stderr, "usage: %s COUNT FILE...\n", argv[0]);
    return 2;
  }
  const int signals[] = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], keep_input);
  bytes *seed = calloc((size_t)seeds, sizeof *seed), changed = {malloc(LARGEST), 0};
  if (!seed || !changed.at) return 1;
  for (int i = 0; i < seeds; i++) execute(seed[i] = read_bytes(argv[2 + i]));
  for (int k = 0; count > 0 && k < PREFIXES; k++) {
    const bytes *whole = &seed[dice((size_t)seeds)];
    execute((bytes){whole->at, dice(whole->size + 1)});
  }
  for (long k = 0; k < count; k++) {
    const bytes *from = &seed[dice((size_t)seeds)];
    memcpy(changed.at, from->at, from->size);
    changed.size = from->size;
    for (size_t changes = 1 + dice(4); changes > 0; changes--) change(&changed, seed[dice((size_t)seeds)]);
    execute(changed);
  }
  printf("%ld executions\n", executions);
  for (int i = 0; i < seeds; i++) free(seed[i].at);
  free(seed);
  free(changed.at);
  return 0;
}
