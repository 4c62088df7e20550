// The parser writes operations in reverse Polish notation; the value is computed on a stack of fixed size.
#include "formats/mdf_formula.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "io/number.h"

enum { MOST_OPERATIONS = 512, DEEPEST = 32 };  // also in messages

typedef enum kind {
  NUMBER,
  VARIABLE,
  // one operand
  NEGATE,
  NOT,
  INVERT,
  CALL_ONE,
  // two operands
  ADD,
  SUBTRACT,
  MULTIPLY,
  DIVIDE,
  REMAINDER,
  POWER,
  AND,
  OR,
  XOR,
  LEFT,
  RIGHT,
  BOTH,
  EITHER,
  EQUAL,
  UNEQUAL,
  LESS,
  LESS_EQUAL,
  MORE,
  MORE_EQUAL,
  CALL_TWO
} kind;

typedef struct operation {
  kind kind;
  int function;  // index in the table of functions
  double number;
} operation;

struct od_mdf_formula {
  int count;
  operation operation[];
};

static double sign_of(double x) {
  return x > 0 ? 1 : x < 0 ? -1 : x;
}

static const struct {
  const char *name;
  double (*one)(double);
  double (*two)(double, double);
} functions[] = {{"sin", sin, NULL},     {"cos", cos, NULL},      {"tan", tan, NULL},     {"asin", asin, NULL},
                 {"acos", acos, NULL},   {"atan", atan, NULL},    {"arcsin", asin, NULL}, {"arccos", acos, NULL},
                 {"arctan", atan, NULL}, {"sinh", sinh, NULL},    {"cosh", cosh, NULL},   {"tanh", tanh, NULL},
                 {"exp", exp, NULL},     {"log", log, NULL},      {"ln", log, NULL},      {"log10", log10, NULL},
                 {"lg", log10, NULL},    {"log2", log2, NULL},    {"sqrt", sqrt, NULL},   {"abs", fabs, NULL},
                 {"fabs", fabs, NULL},   {"floor", floor, NULL},  {"ceil", ceil, NULL},   {"round", round, NULL},
                 {"trunc", trunc, NULL}, {"sign", sign_of, NULL}, {"pow", NULL, pow},     {"power", NULL, pow},
                 {"atan2", NULL, atan2}, {"min", NULL, fmin},     {"max", NULL, fmax},    {"fmod", NULL, fmod},
                 {"mod", NULL, fmod}};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

// Binary operators with their levels; level 0 is the weakest. An operator comes after the longer operators that begin
// with the same characters.
static const struct {
  const char *text;
  int level;
  kind kind;
} operators[] = {{"||", 0, EITHER},     {"&&", 1, BOTH},     {"==", 5, EQUAL},  {"!=", 5, UNEQUAL},
                 {"<>", 5, UNEQUAL},    {"<<", 7, LEFT},     {">>", 7, RIGHT},  {"<=", 6, LESS_EQUAL},
                 {">=", 6, MORE_EQUAL}, {"<", 6, LESS},      {">", 6, MORE},    {"|", 2, OR},
                 {"^^", 3, XOR},        {"XOR", 3, XOR},     {"xor", 3, XOR},   {"&", 4, AND},
                 {"+", 8, ADD},         {"-", 8, SUBTRACT},  {"**", 10, POWER}, {"*", 9, MULTIPLY},
                 {"/", 9, DIVIDE},      {"%", 9, REMAINDER}, {"^", 10, POWER}};
enum { OPERATORS = sizeof operators / sizeof *operators, POWERS = 10 };

typedef struct parser {
  const char *at;
  operation operation[MOST_OPERATIONS];
  int count;
  int nested;       // number of operands and operators that are not complete
  int depth;        // number of values on the stack
  const char *why;  // NULL: no error
} parser;

static void skip_blanks(parser *p) {
  while (isspace((unsigned char)*p->at)) p->at++;
}

static void fail(parser *p, const char *why) {
  if (!p->why) p->why = why;
}

// Appends an operation to the program of a formula.
static void emit(parser *p, operation o) {
  p->depth += o.kind <= VARIABLE ? 1 : o.kind >= ADD ? -1 : 0;
  if (p->count == MOST_OPERATIONS)
    fail(p, "has more than 512 operations");
  else if (p->depth > DEEPEST)
    fail(p, "needs more than 32 intermediate results at once");
  else
    p->operation[p->count++] = o;
}

static void expression(parser *p, int level);

static bool accept(parser *p, char c) {
  skip_blanks(p);
  bool is_next = *p->at == c;
  p->at += is_next;
  return is_next;
}

static void expect(parser *p, char c, const char *why) {
  if (!accept(p, c)) fail(p, why);
}

// Parses a variable, a constant or a call. The name begins at p->at.
static void name(parser *p) {
  const char *begin = p->at;
  while (isalnum((unsigned char)*p->at) || *p->at == '_') p->at++;
  size_t length = (size_t)(p->at - begin);
  bool is_x = (*begin == 'X' || *begin == 'x') && (length == 1 || (length == 2 && begin[1] == '1'));
  if (is_x) {
    emit(p, (operation){.kind = VARIABLE});
    return;
  }
  if (length == 2 && strncmp(begin, "pi", 2) == 0) {
    emit(p, (operation){.kind = NUMBER, .number = 3.14159265358979323846});
    return;
  }
  char lower[16] = "";
  for (size_t i = 0; i < length && i < sizeof lower - 1; i++) lower[i] = (char)tolower((unsigned char)begin[i]);
  int f = 0;
  while (f < FUNCTIONS && (strlen(functions[f].name) != length || strcmp(functions[f].name, lower) != 0)) f++;
  if (f == FUNCTIONS) {
    fail(p, "has a name other than X, X1, pi and the functions of MDF");
    return;
  }
  expect(p, '(', "has a function without '('");
  if (p->why) return;
  expression(p, 0);
  if (functions[f].two) {
    expect(p, ',', "has a function with too few arguments");
    if (!p->why) expression(p, 0);
  }
  expect(p, ')', "has a '(' without ')'");
  emit(p, (operation){.kind = functions[f].two ? CALL_TWO : CALL_ONE, .function = f});
}

// Returns the length of the number at the beginning of a text; 0: there is no number.
static size_t number_length(const char *text) {
  size_t n = strspn(text, "0123456789");
  if (text[n] == '.') n += 1 + strspn(text + n + 1, "0123456789");
  if (text[n] == 'e' || text[n] == 'E') {
    size_t sign = text[n + 1] == '-' || text[n + 1] == '+', digits = strspn(text + n + 1 + sign, "0123456789");
    if (digits > 0) n += 1 + sign + digits;
  }
  return n;
}

// Parses a number: decimal, or hexadecimal as "0x1F".
static void number(parser *p) {
  double value = 0;
  if (p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X') && isxdigit((unsigned char)p->at[2])) {
    for (p->at += 2; isxdigit((unsigned char)*p->at); p->at++) {
      int c = tolower((unsigned char)*p->at);
      value = 16 * value + (c <= '9' ? c - '0' : c - 'a' + 10);
    }
  } else {
    size_t length = number_length(p->at);
    if (!od_number_parse(p->at, length, false, &value)) fail(p, "has a number that cannot be read");
    p->at += length;
  }
  emit(p, (operation){.kind = NUMBER, .number = value});
}

// Parses an operand: a sign, a number, a name, or an expression in parentheses. A power binds tighter than a sign before the base.
static void operand(parser *p) {
  skip_blanks(p);
  char c = *p->at;
  if (p->why || ++p->nested > DEEPEST) {
    fail(p, "is nested deeper than 32 levels");
  } else if (c == '-' || c == '+' || c == '!' || c == '~') {
    p->at++;
    expression(p, POWERS);
    if (c != '+') emit(p, (operation){.kind = c == '-' ? NEGATE : c == '!' ? NOT : INVERT});
  } else if (accept(p, '(')) {
    expression(p, 0);
    expect(p, ')', "has a '(' without ')'");
  } else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)p->at[1]))) {
    number(p);
  } else if (isalpha((unsigned char)c)) {
    name(p);
  } else {
    fail(p, "lacks an operand");
  }
  p->nested--;
}

// Returns the index of the operator at p->at, or -1.
static int next_operator(parser *p) {
  skip_blanks(p);
  for (int i = 0; i < OPERATORS; i++)
    if (strncmp(p->at, operators[i].text, strlen(operators[i].text)) == 0) return i;
  return -1;
}

// Parses operands with operators of this level and of stronger levels. Powers are right-associative.
static void expression(parser *p, int level) {
  operand(p);
  for (int i = next_operator(p); !p->why && i >= 0 && operators[i].level >= level; i = next_operator(p)) {
    p->at += strlen(operators[i].text);
    if (++p->nested > DEEPEST) fail(p, "is nested deeper than 32 levels");
    if (!p->why) expression(p, operators[i].level == POWERS ? POWERS : operators[i].level + 1);
    p->nested--;
    emit(p, (operation){.kind = operators[i].kind});
  }
}

od_status od_mdf_formula_parse(const char *text, od_arena *memory, od_mdf_formula **out, const char **why) {
  parser p = {.at = text};
  *out = NULL;
  expression(&p, 0);
  skip_blanks(&p);
  if (*p.at == ';') p.at++;
  skip_blanks(&p);
  if (*p.at) fail(&p, "has an unexpected character");
  *why = p.why;
  if (p.why) return OD_BAD_INPUT;
  od_mdf_formula *f = od_arena_take(memory, sizeof *f + (size_t)p.count * sizeof *f->operation);
  if (!f) return OD_NO_MEMORY;
  f->count = p.count;
  memcpy(f->operation, p.operation, (size_t)p.count * sizeof *f->operation);
  *out = f;
  return OD_OK;
}

// Converts a number to an integer for operations on bits; 0 if the number is out of range.
static int64_t bits_of(double x) {
  return x >= -9.2e18 && x <= 9.2e18 ? (int64_t)x : 0;
}

// Shifts to the left by a number of bits. A negative number of bits shifts to the right.
static double shifted(double x, double by) {
  int64_t bits = bits_of(x), count = bits_of(by);
  if (count >= 64 || count <= -64) return count < 0 && bits < 0 ? -1 : 0;
  return (double)(count >= 0 ? (int64_t)((uint64_t)bits << count) : bits >> -count);
}

static double binary(const operation *o, double a, double b) {
  switch (o->kind) {
    case ADD: return a + b;
    case SUBTRACT: return a - b;
    case MULTIPLY: return a * b;
    case DIVIDE: return a / b;
    case REMAINDER: return fmod(a, b);
    case POWER: return pow(a, b);
    case AND: return (double)(bits_of(a) & bits_of(b));
    case OR: return (double)(bits_of(a) | bits_of(b));
    case XOR: return (double)(bits_of(a) ^ bits_of(b));
    case LEFT: return shifted(a, b);
    case RIGHT: return shifted(a, -b);
    case BOTH: return a != 0 && b != 0;
    case EITHER: return a != 0 || b != 0;
    case EQUAL: return a == b;
    case UNEQUAL: return a != b;
    case LESS: return a < b;
    case LESS_EQUAL: return a <= b;
    case MORE: return a > b;
    case MORE_EQUAL: return a >= b;
    default: return functions[o->function].two(a, b);
  }
}

double od_mdf_formula_value(const od_mdf_formula *f, double x) {
  double stack[DEEPEST + 1] = {0};
  int top = 0;  // number of values on the stack
  for (const operation *o = f->operation; o < f->operation + f->count; o++) {
    if (o->kind <= VARIABLE) {
      stack[top++] = o->kind == NUMBER ? o->number : x;
    } else if (o->kind < ADD) {
      double *a = &stack[top - 1];
      *a = o->kind == NEGATE   ? -*a
           : o->kind == NOT    ? *a == 0
           : o->kind == INVERT ? (double)~bits_of(*a)
                               : functions[o->function].one(*a);
    } else {
      top--;
      stack[top - 1] = binary(o, stack[top - 1], stack[top]);
    }
  }
  return stack[0];
}
