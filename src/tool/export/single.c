// A pass over the tokens of C source. The sources of the core contain no trigraphs, no line ends within tokens and no macros that paste parts of
// numbers, so tokens can be converted one by one.
#include "export/single.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "export/c_text.h"
#include "io/number.h"

// Words with another name in single precision. Functions of math.h and complex.h get an f at the end.
static const char *const functions[] = {"acos",  "asin",  "atan", "atan2",  "cabs",  "cacos",     "casin",  "catan",
                                        "ccos",  "ccosh", "ceil", "cexp",   "cimag", "clog",      "cos",    "cosh",
                                        "cpow",  "creal", "csin", "csinh",  "csqrt", "ctan",      "ctanh",  "copysign",
                                        "erf",   "erfc",  "exp",  "exp2",   "expm1", "fabs",      "floor",  "fma",
                                        "fmax",  "fmin",  "fmod", "frexp",  "hypot", "ldexp",     "lgamma", "log",
                                        "log10", "log1p", "log2", "lround", "modf",  "nextafter", "pow",    "rint",
                                        "round", "sin",   "sinh", "sqrt",   "tan",   "tanh",      "tgamma", "trunc"};
static const struct {
  const char *word, *single;
} others[] = {{"double", "float"},
              {"DBL_MIN", "FLT_MIN"},
              {"DBL_MAX", "FLT_MAX"},
              {"DBL_EPSILON", "FLT_EPSILON"},
              {"DBL_DIG", "FLT_DIG"},
              {"DBL_MANT_DIG", "FLT_MANT_DIG"},
              {"DBL_MAX_EXP", "FLT_MAX_EXP"},
              {"CMPLX", "CMPLXF"}};

// Ratio of the binary digits of both formats; factor of tolerances, which allow for several roundings.
static const double digits_ratio = 24. / 53, tolerance_factor = 2;
// Smallest constant that has all its digits in single precision; ratio of the ranges of exponents.
static const double least = 1e-37, range_ratio = 126. / 1022;

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static bool equals(const char *at, size_t length, const char *word) {
  return strlen(word) == length && memcmp(at, word, length) == 0;
}

static void print_number(FILE *to, double value) {
  char text[OD_C_NUMBER_SIZE];
  od_c_number(text, value);
  fprintf(to, "%s%s", text, strpbrk(text, ".p") ? "f" : "");
}

// Prints a word. `long double` stays: the core uses this type only for the alignment of memory.
static void print_word(FILE *to, const char *begin, const char *at, size_t length) {
  if (at - begin > 5 && equals(at, length, "double") && memcmp(at - 5, "long ", 5) == 0) {
    fputs("double", to);
    return;
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (equals(at, length, others[i].word)) {
      fputs(others[i].single, to);
      return;
    }
  fwrite(at, 1, length, to);
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (equals(at, length, functions[i])) fputc('f', to);
}

// Returns the length of the preprocessing number at `at`.
static size_t number_length(const char *at, const char *end) {
  const char *from = at;
  for (; at < end && (is_word(*at) || *at == '.' || ((*at == '+' || *at == '-') && strchr("eEpP", at[-1]))); at++) {
  }
  return (size_t)(at - from);
}

// Converts a constant. Integers and constants with a suffix stay.
static void print_constant(FILE *to, const char *at, size_t length) {
  bool is_hex = length > 1 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
  bool is_real = memchr(at, '.', length) || memchr(at, 'p', length) || (!is_hex && memchr(at, 'e', length));
  double value = 1;
  if (is_real && !is_hex) od_number_parse(at, length, false, &value);
  bool has_suffix = strchr("fFlL", at[length - 1]) && (!is_hex || memchr(at, 'p', length));
  if (is_real && !has_suffix && value > 0 && value < least) {
    print_number(to, pow(value, range_ratio));
    return;
  }
  fwrite(at, 1, length, to);
  if (is_real && !has_suffix) fputc('f', to);
}

// Returns the length of a text or character constant, or of a comment.
static size_t quoted_length(const char *at, const char *end) {
  const char *from = at, quote = *at++;
  for (; at < end && *at != quote; at++) at += *at == '\\';
  return (size_t)((at < end ? at + 1 : end) - from);
}
static size_t comment_length(const char *at, const char *end, bool is_block) {
  const char *from = at;
  for (at += 2; at < end && (is_block ? !(at[-1] == '/' && at[-2] == '*' && at - from > 3) : *at != '\n'); at++) {
  }
  return (size_t)(at - from);
}

// Prints OD_TOLERANCE(t) as a constant. Returns the length of the call; 0: `at` is no such call.
static size_t print_tolerance(FILE *to, const char *at, const char *end) {
  static const char call[] = "OD_TOLERANCE(";
  size_t length = sizeof call - 1;
  if ((size_t)(end - at) <= length || memcmp(at, call, length) != 0 || !isdigit((unsigned char)at[length])) return 0;
  const char *close = memchr(at, ')', (size_t)(end - at));
  double t;
  if (!close || !od_number_parse(at + length, (size_t)(close - at) - length, false, &t)) return 0;
  print_number(to, tolerance_factor * pow(t, digits_ratio));
  return (size_t)(close + 1 - at);
}

void od_single_print(FILE *to, const char *source, size_t length) {
  for (const char *at = source, *end = source + length; at < end;) {
    size_t rest = (size_t)(end - at), count = 1;
    bool begins_line = at == source || at[-1] == '\n';
    if (begins_line && rest > 8 && memcmp(at, "#include", 8) == 0) {
      count = strcspn(at, "\n");
      fwrite(at, 1, count, to);
    } else if (rest > 1 && at[0] == '/' && (at[1] == '/' || at[1] == '*')) {
      count = comment_length(at, end, at[1] == '*');
      fwrite(at, 1, count, to);
    } else if (*at == '"' || *at == '\'') {
      count = quoted_length(at, end);
      fwrite(at, 1, count, to);
    } else if (isdigit((unsigned char)*at) || (rest > 1 && *at == '.' && isdigit((unsigned char)at[1]))) {
      count = number_length(at, end);
      print_constant(to, at, count);
    } else if (is_word(*at)) {
      while (count < rest && is_word(at[count])) count++;
      size_t call = print_tolerance(to, at, end);
      if (call)
        count = call;
      else
        print_word(to, source, at, count);
    } else {
      fputc(*at, to);
    }
    at += count;
  }
}
