// Parses the text of an expression by recursive descent to a list of operations, and checks units. For every operation the parser
// stores the powers of the base units of the result.
#include "document/expression.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/formula.h"
#include "document/quantities.h"
#include "document/suggest.h"

const od_expression_function od_expression_functions[] = {
    {"sqrt", OD_OPERATION_SQRT, 1, OD_HALVES_UNIT},
    {"exp", OD_OPERATION_EXP, 1, OD_OF_PLAIN},
    {"log", OD_OPERATION_LOG, 1, OD_OF_PLAIN},
    {"sin", OD_OPERATION_SIN, 1, OD_OF_PLAIN},
    {"cos", OD_OPERATION_COS, 1, OD_OF_PLAIN},
    {"tan", OD_OPERATION_TAN, 1, OD_OF_PLAIN},
    {"asin", OD_OPERATION_ASIN, 1, OD_OF_PLAIN},
    {"acos", OD_OPERATION_ACOS, 1, OD_OF_PLAIN},
    {"atan", OD_OPERATION_ATAN, 1, OD_OF_PLAIN},
    {"sinh", OD_OPERATION_SINH, 1, OD_OF_PLAIN},
    {"cosh", OD_OPERATION_COSH, 1, OD_OF_PLAIN},
    {"tanh", OD_OPERATION_TANH, 1, OD_OF_PLAIN},
    {"abs", OD_OPERATION_ABS, 1, OD_KEEPS_UNIT},
    {"sign", OD_OPERATION_SIGN, 1, OD_DROPS_UNIT},
    {"min", OD_OPERATION_MIN, 2, OD_KEEPS_UNIT},
    {"max", OD_OPERATION_MAX, 2, OD_KEEPS_UNIT},
    {"smooth_root", OD_OPERATION_SMOOTH_ROOT, 2, OD_HALVES_UNIT},
    {"if", OD_OPERATION_IF_NEGATIVE, 3, OD_KEEPS_UNIT},
    {.name = NULL},
};

double od_expression_value(const od_expression *e, const double *variable, int variables, double *gradient) {
  const od_formula f = {e->count, e->operation};
  if (e->count < 1) return NAN;
  return gradient ? od_formula_slopes(&f, variable, variables, NULL, 0, NULL, gradient)
                  : od_formula_value(&f, variable, variables, NULL, NULL);
}

// --- The parser -----------------------------------------------------------------------------------------------------

// The unit of the result of an operation.
typedef struct dimension {
  double power[OD_UNIT_BASES];
  bool any;  // whether the result contains only plain numbers and thus fits any unit
} dimension;

typedef struct parser {
  const char *text;
  int at, depth, calls;  // calls: number of enclosing calls with several arguments
  const od_expression_names *names;
  od_expression *out;
  dimension unit[OD_EXPRESSION_LONGEST];
  bool constant[OD_EXPRESSION_LONGEST];  // whether a result depends only on numbers; its value is in `value`
  double value[OD_EXPRESSION_LONGEST];
  od_expression_problem *problem;
  bool failed;
} parser;

// Stores the first problem and returns -1. Later problems are consequences of the first problem and are ignored.
__attribute__((format(printf, 3, 4))) static int fail(parser *p, int at, const char *format, ...) {
  if (p->failed) return -1;
  p->failed = true;
  p->problem->at = at;
  va_list args;
  va_start(args, format);
  vsnprintf(p->problem->text, sizeof p->problem->text, format, args);
  va_end(args);
  return -1;
}

static char peek(parser *p) {
  while (p->text[p->at] == ' ' || p->text[p->at] == '\t' || p->text[p->at] == '\n') p->at++;
  return p->text[p->at];
}

static bool take(parser *p, char c) {
  if (peek(p) != c) return false;
  p->at++;
  return true;
}

// Returns the text at a place, for messages: "the end", or the next 16 bytes in quotes.
static const char *found(const parser *p, int at, char text[40]) {
  if (p->text[at] == '\0') return "the end";
  snprintf(text, 40, "'%.16s'", p->text + at);
  return text;
}

static int add(parser *p, od_operation operation, dimension unit) {
  if (p->failed) return -1;
  if (p->out->count == OD_EXPRESSION_LONGEST)
    return fail(p, p->at, "the expression has more than %d operations; simplify the expression", OD_EXPRESSION_LONGEST);
  const int operand[] = {operation.a, operation.b, operation.c};
  int operands = od_operation_operands(operation.kind), place = p->out->count;
  p->unit[place] = unit;
  p->out->operation[place] = operation;
  p->constant[place] = operation.kind != OD_OPERATION_VARIABLE;
  for (int i = 0; i < operands; i++) p->constant[place] = p->constant[place] && p->constant[operand[i]];
  p->out->count++;
  // A constant result that is not finite, such as sqrt(-1), is reported here, not during a run.
  if (p->constant[place]) p->value[place] = od_operation_value(p->out->operation, place, p->value);
  if (p->constant[place] && !isfinite(p->value[place]))
    return fail(
        p, p->at,
        "the expression up to this place has no finite value; check for a division by zero or a root of a negative number");
  return place;
}

// --- Units --------------------------------------------------------------------------------------------------------

static bool same_unit(const dimension *a, const dimension *b) {
  for (int i = 0; i < OD_UNIT_BASES; i++)
    if (fabs(a->power[i] - b->power[i]) > 1e-9) return false;
  return true;
}

static bool is_plain(const dimension *a) {
  const dimension none = {0};
  return same_unit(a, &none);
}

// Writes a readable unit: powers of base units such as "m kg s-2", or "a plain number".
static const char *unit_text(const dimension *d, char text[120]) {
  if (*od_unit_text(d->power, text) == '\0') snprintf(text, 120, "a plain number");
  return text;
}

// Returns the common unit of two terms of a sum, two arguments or two sides of a relation. Reports different units at `at`.
// Relations may omit the radian: N/m over kg equals (rad/s)^2.
static dimension common(parser *p, int at, const char *what, const dimension *a, const dimension *b) {
  char left[120], right[120];
  dimension other = *b;
  if (a->any) return *b;
  for (int i = 0; i < OD_UNIT_BASES; i++)
    if (strpbrk(what, "<=>") && strcmp(od_unit_base(i), "rad") == 0) other.power[i] = a->power[i];
  if (!b->any && !same_unit(a, &other))
    fail(p, at,
         od_is_letter(*what)
             ? "the arguments of %s() have different units, %s and %s; expected one unit"
             : "the units on both sides of '%s' differ: %s on the left, %s on the right; expected one unit",
         what, unit_text(a, left), unit_text(b, right));
  return *a;
}

static dimension scaled(const dimension *a, double factor) {
  dimension d = {.any = a->any};
  for (int i = 0; i < OD_UNIT_BASES; i++) d.power[i] = factor * a->power[i];
  return d;
}

static dimension combined(const dimension *a, const dimension *b, double sign) {
  dimension d = {.any = a->any && b->any};
  for (int i = 0; i < OD_UNIT_BASES; i++) d.power[i] = a->power[i] + sign * b->power[i];
  return d;
}

// --- Numbers and names ----------------------------------------------------------------------------------------------

// Returns the length of the unit after a number: the longest text without spaces that is a unit; 0: none.
static int unit_length(parser *p, int at) {
  int end = at, length = 0;
  while (od_is_letter(p->text[end]) || od_is_digit(p->text[end]) || strchr("/*^.-%", p->text[end])) {
    if (p->text[end] == '\0') break;
    end++;
  }
  for (length = end - at; length > 0; length--) {
    char unit[80], last = p->text[at + length - 1];
    if (length >= (int)sizeof unit || strchr("/*^.-", last)) continue;
    if (od_is_letter(last) && od_is_letter(p->text[at + length])) continue;
    snprintf(unit, sizeof unit, "%.*s", length, p->text + at);
    if (od_units_knows(p->names->units, unit)) return length;
  }
  return 0;
}

static int number(parser *p) {
  const char *rest;
  double value;
  int begin = p->at;
  // A comma ends an argument. Elsewhere a comma would be a decimal comma, which is not allowed in a number.
  char argument[80];
  int comma = (int)strcspn(p->text + p->at, ",");
  bool ends = p->calls > 0 && comma < (int)sizeof argument;
  if (ends) snprintf(argument, sizeof argument, "%.*s", comma, p->text + p->at);
  const char *from = ends ? argument : p->text + p->at;
  if (!od_split_quantity(from, &value, &rest))
    return fail(p, p->at, "this is not a number; a number is written like 12, 1.5 or 2e-3");
  p->at += (int)(rest - from);  // strtod() would also read hexadecimal digits
  dimension unit = {.any = true};
  peek(p);
  const char *after = p->text + p->at;
  bool inverse = strncmp(after, "1/", 2) == 0 && od_is_letter(after[2]);  // "12 1/s"
  if (od_is_letter(*after) || *after == '%' || inverse) {
    int length = unit_length(p, p->at);
    if (length == 0)
      return fail(p, p->at, "'%.*s' is not a unit; to multiply, write '*' after the number",
                  (int)od_word_length(p->text + p->at), p->text + p->at);
    char text[80];
    snprintf(text, sizeof text, "%.*s", length, p->text + p->at);
    od_conversion c;
    if (!od_units_base(p->names->units, text, &c, unit.power))
      return fail(p, p->at, "'%s' is not a unit; expected a unit such as bar, mm or l/min", text);
    value = od_convert(&c, value);
    unit.any = false;
    p->at += length;
  }
  if (!isfinite(value)) return fail(p, begin, "the number is too large; expected less than 1.8e308");
  return add(p, (od_operation){.kind = OD_OPERATION_NUMBER, .value = value}, unit);
}

// Returns the length of a name: letters, digits, '_', points and indices; and '-' between such characters.
static int name_length(const char *text) {
  int end = 0;
  for (;; end++) {
    char c = text[end], next = c ? text[end + 1] : '\0';
    bool inner = c == '.' || c == '-';
    if (od_is_letter(c) || od_is_digit(c) || c == '_') continue;
    if (inner && end > 0 && (od_is_letter(next) || od_is_digit(next) || next == '_')) continue;
    if (c == '[' && od_is_digit(next)) {
      int close = end + 1;
      while (od_is_digit(text[close])) close++;
      if (text[close] == ']') {
        end = close;
        continue;
      }
    }
    return end;
  }
}

static int find_name(const parser *p, const char *text, int length) {
  for (int i = 0; i < p->names->count; i++) {
    const char *name = p->names->name(p->names->user, i);
    if ((int)strlen(name) == length && strncmp(name, text, (size_t)length) == 0) return i;
  }
  return -1;
}

static int unknown_name(parser *p, int length) {
  char name[120];
  snprintf(name, sizeof name, "%.*s", length, p->text + p->at);
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < p->names->count; i++) {
    const char *known = p->names->name(p->names->user, i);
    if (*known) od_nearest_try(&nearest, known);
  }
  const char *after = p->text + p->at + length;
  bool called = after[strspn(after, " ")] == '(';
  for (const od_expression_function *f = od_expression_functions; called && f->name; f++)
    od_nearest_try(&nearest, f->name);
  return fail(p, p->at, "'%s' is not defined here%s", name,
              od_nearest_suggestion(&nearest, "define this name first").text);
}

static int variable(parser *p) {
  const char *text = p->text + p->at;
  int length = name_length(text), index = find_name(p, text, length);
  // "a-b" is a difference if no variable has this name.
  for (int shorter = length - 1; index < 0 && shorter > 0; shorter--)
    if (text[shorter] == '-' && (index = find_name(p, text, shorter)) >= 0) length = shorter;
  if (index < 0) return unknown_name(p, length);
  dimension unit = {.any = false};
  od_conversion c;
  if (!od_units_base(p->names->units, p->names->unit(p->names->user, index), &c, unit.power)) unit.any = true;
  p->at += length;
  return add(p, (od_operation){.kind = OD_OPERATION_VARIABLE, .a = index}, unit);
}

// --- Grammar ------------------------------------------------------------------------------------------------------

static int sum(parser *p);

static int parenthesis(parser *p) {
  char text[40];
  int open = p->at - 1;
  if (++p->depth > OD_EXPRESSION_DEEPEST)
    return fail(p, open, "parentheses are nested deeper than %d levels; simplify the expression",
                OD_EXPRESSION_DEEPEST);
  int inner = sum(p);
  p->depth--;
  if (!p->failed && !take(p, ')')) return fail(p, p->at, "found %s, expected ')'", found(p, p->at, text));
  return inner;
}

// Returns the unit of f(x), where x has the unit `of`. Reports a unit of x if f needs a plain number; an angle is allowed as a
// plain number.
static dimension function_unit(parser *p, int at, const od_expression_function *f, const dimension *of) {
  if (f->unit == OD_HALVES_UNIT) return scaled(of, 0.5);
  if (f->unit == OD_KEEPS_UNIT) return *of;
  dimension bare = *of;
  char text[120];
  bare.power[OD_UNIT_BASES - 1] = 0;
  if (f->unit == OD_OF_PLAIN && !is_plain(&bare))
    fail(p, at, "the argument of %s() is in %s; expected a plain number", f->name, unit_text(of, text));
  return (dimension){.any = of->any && f->unit != OD_DROPS_UNIT};
}

// Parses the comparison at the start of if(). Returns the operation whose result is negative if the comparison holds or, if
// *swapped is set, if the comparison does not hold.
static int comparison(parser *p, bool *swapped) {
  char text[40];
  int left = sum(p), at = (peek(p), p->at);
  if (p->failed) return -1;
  char c = p->text[at];
  if (c != '<' && c != '>') return fail(p, at, "found %s, expected '<', '<=', '>' or '>='", found(p, at, text));
  p->at++;
  bool or_equal = p->text[p->at] == '=', greater = c == '>';
  if (or_equal) p->at++;
  int right = sum(p);
  if (p->failed) return -1;
  // If a < b, a - b is negative. If a <= b, b - a is not negative.
  *swapped = or_equal;
  bool reversed = greater != or_equal;
  const char sign[2] = {c, '\0'};
  return add(p,
             (od_operation){.kind = OD_OPERATION_SUBTRACT, .a = reversed ? right : left, .b = reversed ? left : right},
             common(p, at, sign, &p->unit[left], &p->unit[right]));
}

static bool next_argument(parser *p, const od_expression_function *f) {
  char text[40];
  if (p->failed) return false;
  if (take(p, ',')) return true;
  fail(p, p->at, "found %s, expected ',': %s() has %d arguments", found(p, p->at, text), f->name, f->arguments);
  return false;
}

static int call(parser *p, int function) {
  const od_expression_function *f = &od_expression_functions[function];
  int at = p->at, argument[3] = {0}, first = 0;
  bool swapped = false;
  char text[40];
  p->at += (int)strlen(f->name);
  if (!take(p, '(')) return fail(p, p->at, "expected '(' after %s", f->name);
  if (++p->depth > OD_EXPRESSION_DEEPEST)
    return fail(p, p->at - 1, "parentheses are nested deeper than %d levels; simplify the expression",
                OD_EXPRESSION_DEEPEST);
  p->calls += f->arguments > 1;
  if (f->kind == OD_OPERATION_IF_NEGATIVE) argument[first++] = comparison(p, &swapped);
  for (int i = first; i < f->arguments && (i == 0 || next_argument(p, f)); i++) argument[i] = sum(p);
  p->calls -= f->arguments > 1;
  p->depth--;
  if (!p->failed && !take(p, ')')) return fail(p, p->at, "found %s, expected ')'", found(p, p->at, text));
  if (p->failed) return -1;
  dimension unit = p->unit[argument[first]];
  if (f->arguments > first + 1) unit = common(p, at, f->name, &unit, &p->unit[argument[first + 1]]);
  return add(
      p,
      (od_operation){.kind = f->kind, .a = argument[0], .b = argument[swapped ? 2 : 1], .c = argument[swapped ? 1 : 2]},
      function_unit(p, at, f, &unit));
}

static int find_function(const parser *p) {
  int length = (int)od_word_length(p->text + p->at);
  for (int i = 0; od_expression_functions[i].name; i++)
    if ((int)strlen(od_expression_functions[i].name) == length &&
        strncmp(od_expression_functions[i].name, p->text + p->at, (size_t)length) == 0 &&
        name_length(p->text + p->at) == length)
      return i;
  return -1;
}

static int primary(parser *p) {
  char text[40], c = peek(p);
  if (p->failed) return -1;
  if (od_is_digit(c) || c == '.') return number(p);
  if (take(p, '(')) return parenthesis(p);
  if (!od_is_letter(c)) return fail(p, p->at, "found %s, expected a number, a name or '('", found(p, p->at, text));
  int function = find_function(p);
  return function >= 0 && find_name(p, p->text + p->at, (int)od_word_length(p->text + p->at)) < 0 ? call(p, function)
                                                                                                  : variable(p);
}

static int factor(parser *p);

// Parses a^b, which is right-associative and has a higher precedence than a sign before a.
static int power(parser *p) {
  int base = primary(p), at = (peek(p), p->at);
  if (p->failed || !take(p, '^')) return base;
  if (++p->depth > OD_EXPRESSION_DEEPEST)
    return fail(p, at, "powers and signs are nested deeper than %d levels; simplify the expression",
                OD_EXPRESSION_DEEPEST);
  int exponent = factor(p);
  p->depth--;
  if (p->failed) return -1;
  char text[120];
  const od_operation *o = &p->out->operation[exponent];
  const od_operation *inner = o->kind == OD_OPERATION_NEGATE ? &p->out->operation[o->a] : o;
  bool constant = inner->kind == OD_OPERATION_NUMBER;
  if (!is_plain(&p->unit[exponent]))
    return fail(p, at, "the exponent is in %s; expected a plain number", unit_text(&p->unit[exponent], text));
  if (!constant && !p->unit[base].any && !is_plain(&p->unit[base]))
    return fail(p, at, "the exponent of a quantity with a unit (%s) must be a literal number",
                unit_text(&p->unit[base], text));
  dimension unit = scaled(&p->unit[base], constant ? (inner == o ? 1 : -1) * inner->value : 1);
  unit.any = unit.any && p->unit[exponent].any;
  // A negative number as an exponent is one constant, so that the base may be negative.
  if (constant && inner != o) {
    double value = -inner->value;
    p->out->operation[exponent] = (od_operation){.kind = OD_OPERATION_NUMBER, .value = value};
  }
  return add(p, (od_operation){.kind = OD_OPERATION_POWER, .a = base, .b = exponent}, unit);
}

static int factor(parser *p) {
  bool negative = take(p, '-');
  if (!negative && !take(p, '+')) return power(p);
  if (++p->depth > OD_EXPRESSION_DEEPEST)
    return fail(p, p->at, "powers and signs are nested deeper than %d levels; simplify the expression",
                OD_EXPRESSION_DEEPEST);
  int inner = factor(p);
  p->depth--;
  if (p->failed || !negative) return inner;
  return add(p, (od_operation){.kind = OD_OPERATION_NEGATE, .a = inner}, p->unit[inner]);
}

static int product(parser *p) {
  int left = factor(p);
  while (!p->failed) {
    char c = peek(p);
    if (c != '*' && c != '/') break;
    int slash = p->at++;
    int right = factor(p);
    if (p->failed) break;
    bool divides = c == '/';
    if (divides && p->constant[right] && p->value[right] == 0)
      return fail(p, slash, "division by zero; expected a divisor other than zero");
    left = add(p, (od_operation){.kind = divides ? OD_OPERATION_DIVIDE : OD_OPERATION_MULTIPLY, .a = left, .b = right},
               combined(&p->unit[left], &p->unit[right], divides ? -1 : 1));
  }
  return left;
}

static int sum(parser *p) {
  int left = product(p);
  while (!p->failed) {
    char c = peek(p), sign[2] = {c, '\0'};
    int at = p->at;
    if (c != '+' && c != '-') break;
    p->at++;
    int right = product(p);
    if (p->failed) break;
    left = add(p, (od_operation){.kind = c == '+' ? OD_OPERATION_ADD : OD_OPERATION_SUBTRACT, .a = left, .b = right},
               common(p, at, sign, &p->unit[left], &p->unit[right]));
  }
  return left;
}

static void finish(parser *p) {
  if (p->failed) return;
  const dimension *d = &p->unit[p->out->count - 1];
  memcpy(p->out->power, d->power, sizeof d->power);
  p->out->any_unit = d->any;
}

bool od_expression_parse(const char *text, const od_expression_names *names, od_expression *out,
                         od_expression_problem *problem) {
  char rest[40];
  parser p = {.text = text, .names = names, .out = out, .problem = problem};
  out->count = 0;
  sum(&p);
  if (!p.failed && peek(&p) != '\0') fail(&p, p.at, "found %s, expected an operator or the end", found(&p, p.at, rest));
  finish(&p);
  return !p.failed;
}

// --- Relations ------------------------------------------------------------------------------------------------------

static bool take_relation(parser *p, od_relation_kind *kind) {
  static const struct sign {
    const char *text;
    od_relation_kind kind;
  } signs[] = {{"<=", OD_AT_MOST}, {">=", OD_AT_LEAST}, {"=", OD_EQUAL}};
  char c = peek(p), text[40];
  const char *at = p->text + p->at;
  for (int i = 0; i < 3; i++)
    if (strncmp(at, signs[i].text, strlen(signs[i].text)) == 0 && strncmp(at, "==", 2) != 0) {
      p->at += (int)strlen(signs[i].text);
      *kind = signs[i].kind;
      return true;
    }
  if (strncmp(at, "==", 2) == 0)
    fail(p, p->at, "found '==', expected '='");
  else if (c == '<' || c == '>')
    fail(p, p->at, "found '%c', expected '%c='; bounds are inclusive", c, c);
  else if (c != '\0')
    fail(p, p->at, "found %s, expected an operator, '<=', '>=' or '='", found(p, p->at, text));
  return false;
}

static dimension side_unit(const od_expression *e) {
  dimension d = {.any = e->any_unit};
  memcpy(d.power, e->power, sizeof d.power);
  return d;
}

bool od_relation_parse(const char *text, const od_expression_names *names, od_relation *out,
                       od_expression_problem *problem) {
  static const char *const signs[] = {"=", "<=", ">="};
  parser p = {.text = text, .names = names, .problem = problem};
  out->sides = 0;
  int sign = 0;  // position of the last relation sign
  for (bool more = true; more && !p.failed;) {
    if (out->sides == OD_RELATION_SIDES) {
      fail(&p, p.at, "the chain of relations has more than %d sides; write several relations", OD_RELATION_SIDES);
      break;
    }
    int s = out->sides++;
    p.out = &out->side[s];
    p.out->count = 0;
    peek(&p);
    out->begin[s] = p.at;
    sum(&p);
    out->end[s] = p.at;
    while (out->end[s] > out->begin[s] && text[out->end[s] - 1] == ' ') out->end[s]--;
    finish(&p);
    int at = (peek(&p), p.at);
    if (s > 0 && !p.failed) {
      dimension left = side_unit(&out->side[s - 1]), right = side_unit(&out->side[s]);
      common(&p, sign, signs[out->kind[s - 1]], &left, &right);
    }
    sign = at;
    more = !p.failed && take_relation(&p, &out->kind[s]);
    if (!more && !p.failed && s == 0) fail(&p, at, "found the end, expected '<=', '>=' or '='");
  }
  return !p.failed;
}
