#include "export/c_text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

// ---- numbers

// Writes the bits of a positive finite number as 0x1.MANTISSAp+EXPONENT. printf("%a") depends on the locale.
static void write_hexadecimal(char *text, double value) {
  int exponent;
  double rest = 2 * frexp(value, &exponent) - 1;
  char digits[16];
  int count = 0;
  while (rest > 0 && count < 13) {
    rest *= 16;
    int digit = (int)rest;
    digits[count++] = "0123456789abcdef"[digit];
    rest -= digit;
  }
  digits[count] = '\0';
  snprintf(text, OD_C_NUMBER_SIZE - 1, "0x1%s%sp%+d", count ? "." : "", digits, exponent - 1);
}

void od_c_number(char text[OD_C_NUMBER_SIZE], double value) {
  const char *sign = signbit(value) ? "-" : "";
  char size[OD_C_NUMBER_SIZE - 1];
  if (isnan(value))
    sign = "", strcpy(size, "NAN");
  else if (isinf(value))
    strcpy(size, "INFINITY");
  else if (fabs(value) < 1e6 && value == floor(value))
    snprintf(size, sizeof size, signbit(value) && value == 0 ? "0.0" : "%.0f", fabs(value));
  else
    write_hexadecimal(size, fabs(value));
  strcpy(text, sign);
  strcat(text, size);
}

// ---- arrays

// Prints the separator before entry i of an array: a comma, or also a new line.
static void separate(FILE *to, long i, long per_line) {
  fputs(i == 0 ? "\n    " : i % per_line == 0 ? ",\n    " : ", ", to);
}

void od_c_numbers(FILE *to, const char *name, const double *value, long count) {
  char text[OD_C_NUMBER_SIZE];
  fprintf(to, "static const double %s[] = {", name);
  for (long i = 0; i < count; i++) {
    separate(to, i, 4);
    od_c_number(text, value[i]);
    fputs(text, to);
  }
  fputs(count ? "};\n" : "0};\n", to);
}

void od_c_integers(FILE *to, const char *name, const int *value, long count) {
  fprintf(to, "static const int %s[] = {", name);
  for (long i = 0; i < count; i++) {
    separate(to, i, 16);
    fprintf(to, "%d", value[i]);
  }
  fputs(count ? "};\n" : "0};\n", to);
}

// ---- texts

void od_c_comment(FILE *to, const char *text) {
  for (; *text; text++) {
    bool ends = text[0] == '*' && text[1] == '/';
    fputc((unsigned char)*text < ' ' || ends || (*text == '\\' && text[1] == '\0') ? ' ' : *text, to);
  }
}

static bool is_taken(const char *name, const char *const *taken, int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(name, taken[i]) == 0) return true;
  return false;
}

const char *od_c_name(od_arena *arena, const char *text, bool upper, const char *const *taken, int count) {
  bool begins_with_digit = isdigit((unsigned char)*text);
  char *name = od_arena_format(arena, "%s%s_", begins_with_digit ? "n" : "", text);
  if (!name) return NULL;
  char *end = name;
  for (const char *c = name; *c; c++) {
    unsigned char letter = (unsigned char)*c;
    bool is_plain = letter < 128 && isalnum(letter);
    if (is_plain)
      *end++ = (char)(upper ? toupper(letter) : tolower(letter));
    else if (end > name && end[-1] != '_')
      *end++ = '_';
  }
  while (end > name && end[-1] == '_') end--;
  if (end == name) *end++ = upper ? 'N' : 'n';
  *end = '\0';
  const char *unique = name;
  for (int number = 2; unique && is_taken(unique, taken, count); number++)
    unique = od_arena_format(arena, "%s_%d", name, number);
  return unique;
}
