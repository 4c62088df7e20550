#include "document/constants.h"

#include <math.h>
#include <string.h>

#include "document/suggest.h"

enum { DEEPEST = 64, MOST_NAMES = 64 };

static const double pi = 3.14159265358979323846;

// --- Names in expressions -----------------------------------------------------------------------------------------

// The constants that an expression may refer to: the words of its text that are names of constants.
typedef struct visible {
  const od_loader *ld;
  const char *name[MOST_NAMES];
  int constant[MOST_NAMES];  // index of the constant; -1: pi
  int count;
} visible;

static int find(const od_loader *ld, const char *name) {
  return od_index_find(&ld->document->constants.index, name);
}

// Returns the index of the constant with this name; -1: none. The scope of the instance is searched first, then the enclosing
// scopes.
static int find_in_scope(od_loader *ld, const char *scope, const char *name) {
  const char *around = scope != NULL ? scope : "";
  while (around[0] != '\0') {
    int found = find(ld, od_format(ld, "%s.%s", around, name));
    if (found >= 0) return found;
    const char *dot = strrchr(around, '.');
    around = od_copy(ld, around, dot != NULL ? (size_t)(dot - around) : 0);
  }
  return find(ld, name);
}

static const char *name_at(const void *user, int i) {
  return ((const visible *)user)->name[i];
}

// Callback of the parser: returns the SI unit of variable i. Returns "?", which is no unit, for a constant without a unit and for
// pi: the parser then accepts the variable in place of any unit.
static const char *unit_at(const void *user, int i) {
  const visible *v = user;
  const char *unit = v->constant[i] >= 0 ? v->ld->document->constants.item[v->constant[i]].unit : NULL;
  return unit != NULL ? unit : "?";
}

static bool evaluate(od_loader *ld, int constant, int depth);

// Finds the words of a text that are constants, and evaluates these constants. Returns false if a constant has no value; the error
// has already been reported.
static bool find_constants(od_loader *ld, const char *scope, const char *text, int depth, visible *v) {
  bool sound = true;
  *v = (visible){.ld = ld, .name = {"pi"}, .constant = {-1}, .count = 1};
  for (const char *c = text; *c != '\0';) {
    size_t length = 0;
    while (od_is_letter(c[length]) || od_is_digit(c[length]) || c[length] == '_' || c[length] == '.') length++;
    if (length > 0 && od_is_letter(*c) && v->count < MOST_NAMES) {
      const char *name = od_copy(ld, c, length);
      bool is_known = false;
      for (int i = 0; i < v->count; i++) is_known = is_known || strcmp(v->name[i], name) == 0;
      int found = is_known ? -1 : find_in_scope(ld, scope, name);
      if (found >= 0) {
        sound = evaluate(ld, found, depth + 1) && sound;
        v->constant[v->count] = found;
        v->name[v->count++] = name;
      }
    }
    c += length > 0 ? length : 1;
  }
  return sound;
}

// --- Expressions --------------------------------------------------------------------------------------------------

// The value, the unit and the operations of an expression.
typedef struct result {
  double value;
  const char *unit;  // SI unit of the value; NULL: the value fits any unit
  od_expression e;
  visible names;
} result;

const char *od_unit_of_powers(od_loader *ld, const double *power) {
  char text[120];
  od_unit_text(power, text);
  const char *usual = text[0] != '\0' ? od_units_si(ld->units, text) : "1";
  return usual != NULL ? usual : od_copy(ld, text, strlen(text));
}

// Evaluates an expression in SI units. On failure returns false, and the text of *problem describes the error. If this text is
// empty, a constant has no value, and the error has already been reported.
static bool compute(od_loader *ld, const char *scope, const char *text, int depth, result *r,
                    od_expression_problem *problem) {
  problem->text[0] = '\0';
  if (!find_constants(ld, scope, text, depth, &r->names)) return false;
  const od_expression_names names = {
      .count = r->names.count, .name = name_at, .unit = unit_at, .user = &r->names, .units = ld->units};
  if (!od_expression_parse(text, &names, &r->e, problem)) return false;
  double value[MOST_NAMES];
  for (int i = 0; i < r->names.count; i++)
    value[i] = r->names.constant[i] >= 0 ? ld->document->constants.item[r->names.constant[i]].value : pi;
  r->value = od_expression_value(&r->e, value, r->names.count, NULL);
  r->unit = r->e.any_unit ? NULL : od_unit_of_powers(ld, r->e.power);
  if (isfinite(r->value)) return true;
  snprintf(
      problem->text, sizeof problem->text,
      "the expression has no finite value; check its numbers for a division by zero or a root of a negative number");
  return false;
}

// Stores the formula in the document. Returns its index, or -1 if the formula contains no constants or an allocation fails.
static int keep_formula(od_loader *ld, const result *r) {
  od_constants *c = &ld->document->constants;
  od_arena *arena = &ld->document->arena;
  if (r->names.count < 2) return -1;
  od_constant_formula f = {.operations = r->e.count,
                           .operation = OD_TAKE(arena, od_operation, r->e.count),
                           .variables = r->names.count,
                           .constant = OD_TAKE(arena, int, r->names.count)};
  od_constant_formula *list = od_arena_extend(arena, c->formula, c->formulas, sizeof *list);
  if (list == NULL || f.operation == NULL || f.constant == NULL) return -1;
  memcpy(f.operation, r->e.operation, (size_t)f.operations * sizeof *f.operation);
  memcpy(f.constant, r->names.constant, (size_t)f.variables * sizeof *f.constant);
  c->formula = list;
  c->formula[c->formulas] = f;
  return c->formulas++;
}

bool od_is_arithmetic(const char *text) {
  for (const char *c = text; *c != '\0'; c++) {
    bool spaced = c > text && c[-1] == ' ' && (c[1] == ' ' || c[1] == '(');
    if (spaced && (*c == '+' || *c == '-')) return true;
    if (*c != '*' && *c != '/') continue;
    const char *next = c + 1 + strspn(c + 1, " (");
    if ((*c == '*' || spaced) && (od_is_digit(*next) || *next == '.')) return true;
    // In "10 l/min / sqrt(35 bar)" the letters are the name of a function.
    size_t length = od_word_length(next);
    if (length > 0 && next[length] == '(') return true;
  }
  return false;
}

// Returns whether a text is probably an expression: the text is arithmetic or contains operators. If the text starts with a number,
// only '+' and '*' are operators here, because other operators may belong to a unit.
static bool looks_like_expression(const char *text) {
  double value;
  const char *unit;
  if (od_is_arithmetic(text)) return true;
  bool begins_with_number = od_split_quantity(text, &value, &unit);
  return strpbrk(text, begins_with_number ? "+*" : "+*/^()") != NULL;
}

// Returns a suggestion for an unknown name of a constant.
static od_suggestion nearest_constant(od_loader *ld, const char *scope, const char *name) {
  const od_constants *all = &ld->document->constants;
  size_t length = scope != NULL ? strlen(scope) : 0;
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < all->count; i++) {
    const char *other = all->item[i].name;
    bool inside = length > 0 && strncmp(other, scope, length) == 0 && other[length] == '.';
    od_nearest_try(&nearest, inside ? other + length + 1 : other);
  }
  return od_nearest_suggestion(&nearest, all->count > 0 ? NULL : "define this constant under 'constants'");
}

// Reports a problem of the parser. For an unknown name the message suggests a constant in place of the parser's list, which
// has only the constants that occur in the text. A suggested function remains.
static void complain(od_loader *ld, const od_given *given, const od_expression_problem *problem) {
  static const char undefined[] = "' is not defined here";
  const char *text = problem->text, *known = strstr(text, undefined);
  od_suggestion suggestion = {""};
  if (text[0] == '\'' && known != NULL && strstr(text, "did you mean") == NULL) {
    suggestion = nearest_constant(ld, given->place.scope, od_copy(ld, text + 1, (size_t)(known - text - 1)));
    text = od_copy(ld, text, (size_t)(known - text) + strlen(undefined));
  }
  od_complain_given(ld, given, "in '%s': %s%s", od_excerpt(ld, given->text), text, suggestion.text);
}

// Returns whether an expression is a frequency in Hz: the expression or one of its constants contains this unit.
// Without this unit, the result may be in rad/s, as in "1 / T".
static bool is_in_hertz(const od_loader *ld, const char *text, const result *r) {
  bool named = od_units_names_hertz(text);
  for (int i = 1; i < r->names.count && !named; i++)
    named = od_units_names_hertz(ld->document->constants.item[r->names.constant[i]].text);
  return named && r->unit != NULL && strcmp(r->unit, "Hz") == 0;
}

od_expression_verdict od_read_expression(od_loader *ld, const od_given *given, const char *unit, double *value) {
  result r;
  od_expression_problem problem = {0};
  const char *its_unit;
  if (od_split_quantity(given->text, value, &its_unit) && !looks_like_expression(given->text)) return OD_NO_EXPRESSION;
  if (!compute(ld, given->place.scope, given->text, 0, &r, &problem)) {
    if (problem.text[0] == '\0') return OD_EXPRESSION_WRONG;
    if (!looks_like_expression(given->text)) return OD_NO_EXPRESSION;
    complain(ld, given, &problem);
    return OD_EXPRESSION_WRONG;
  }
  if (strcmp(unit, "rad/s") == 0 && od_given_is_frequency(given) && is_in_hertz(ld, given->text, &r)) {
    const char *in_radians = od_format(ld, "(%s) * %.17g rad", given->text, OD_TURN);
    if (!compute(ld, given->place.scope, in_radians, 0, &r, &problem)) return OD_EXPRESSION_WRONG;
  }
  if (od_units_convert(ld->units, r.unit != NULL ? r.unit : "", unit, r.value, value) != OD_UNIT_FITS) {
    const char *measures = od_units_measures(ld->units, r.unit);
    if (strcmp(unit, "rad/s") == 0 && od_given_is_frequency(given) && strcmp(r.unit, "Hz") == 0)
      measures = "in 1/s, which may be Hz or rad/s";
    od_complain_given(ld, given, "'%s' is %s%s; %s must be %s", od_excerpt(ld, given->text),
                      measures != NULL ? measures : "in ", measures != NULL ? "" : r.unit, given->label,
                      od_given_wanted(ld, given, unit));
    return OD_EXPRESSION_WRONG;
  }
  int formula = keep_formula(ld, &r);
  if (formula >= 0) od_index_add(&ld->document->constants.of_path, &ld->document->arena, given->path, formula);
  return OD_EXPRESSION_READ;
}

bool od_is_expression(od_loader *ld, od_place place, const char *text) {
  result r;
  od_expression_problem problem = {0};
  return compute(ld, place.scope, text, 0, &r, &problem) || problem.text[0] == '\0';
}

bool od_text_value(od_loader *ld, od_place place, const char *text, const char *si, double *value) {
  result r;
  od_expression_problem problem = {0};
  double number;
  const char *unit;
  bool quantity = !od_is_arithmetic(text) && od_split_quantity(text, &number, &unit);
  if (quantity && od_units_convert(ld->units, unit, si, number, value) == OD_UNIT_FITS) return true;
  return compute(ld, place.scope, text, 0, &r, &problem) &&
         od_units_convert(ld->units, r.unit != NULL ? r.unit : "", si, r.value, value) == OD_UNIT_FITS;
}

const char *od_text_unit(od_loader *ld, od_place place, const char *text) {
  result r;
  od_expression_problem problem = {0};
  double value;
  const char *unit;
  bool quantity = !od_is_arithmetic(text) && od_split_quantity(text, &value, &unit);
  if (quantity && (unit[0] == '\0' || od_units_knows(ld->units, unit))) return unit;
  if (compute(ld, place.scope, text, 0, &r, &problem)) return r.unit != NULL ? r.unit : "";
  return quantity ? unit : "";
}

// --- Constants ----------------------------------------------------------------------------------------------------

static bool fail(od_loader *ld, int constant) {
  ld->document->constants.item[constant].state = OD_CONSTANT_FAILED;
  return false;
}

static od_given given_by(const od_constant *c) {
  return (od_given){.path = c->path, .label = c->name, .text = c->text, .place = c->place};
}

// Sets the value and the SI unit of a constant whose text is a quantity. Returns false if the text is not a quantity, if the unit
// is unknown, or if the value is not finite.
static bool take_quantity(od_loader *ld, od_constant *c) {
  double value, power[OD_UNIT_BASES];
  const char *unit;
  od_conversion conversion = {1, 1, 0};
  if (od_is_arithmetic(c->text) || !od_split_quantity(c->text, &value, &unit)) return false;
  if (unit[0] != '\0' && !od_units_base(ld->units, unit, &conversion, power)) return false;
  c->value = od_convert(&conversion, value);
  c->unit = unit[0] != '\0' ? od_unit_of_powers(ld, power) : NULL;
  return isfinite(c->value);
}

// Marks a constant as evaluated and appends it to the order of evaluation. Returns true.
static bool finish(od_loader *ld, int constant) {
  od_constants *all = &ld->document->constants;
  od_constant *c = &all->item[constant];
  c->state = OD_CONSTANT_DONE;
  all->order[all->ordered++] = constant;
  if (c->formula >= 0) od_index_add(&all->of_path, &ld->document->arena, c->path, c->formula);
  return true;
}

// Adds a number for each evaluated constant that has no number yet. A parameter may be evaluated while the numbers of an element
// are read. The numbers of an element must be contiguous, so the number of the parameter is added later.
void od_number_constants(od_loader *ld) {
  od_constants *all = &ld->document->constants;
  for (int i = 0; i < all->ordered; i++) {
    od_constant *c = &all->item[all->order[i]];
    const od_field field = {c->name, c->unit != NULL ? c->unit : "1", OD_ANY, NAN};
    od_given given = given_by(c);
    if (c->number < 0) c->number = od_add_number(ld, &given, c->value, &field, OD_IN_LOADER);
  }
}

static bool evaluate(od_loader *ld, int constant, int depth) {
  od_constant *c = &ld->document->constants.item[constant];
  od_given given = given_by(c);
  if (c->state == OD_CONSTANT_DONE) return true;
  if (c->state == OD_CONSTANT_FAILED) return false;
  if (c->state == OD_CONSTANT_BUSY || depth > DEEPEST) {
    if (c->state == OD_CONSTANT_BUSY)
      od_complain_given(ld, &given,
                        "'%s' refers to itself, directly or through other constants; remove one of the references",
                        c->name);
    else
      od_complain_given(ld, &given,
                        "'%s' is in a chain of more than %d constants that refer to each other; shorten the chain",
                        c->name, DEEPEST);
    return fail(ld, constant);
  }
  c->state = OD_CONSTANT_BUSY;
  if (take_quantity(ld, c)) return finish(ld, constant);
  result r;
  od_expression_problem problem = {0};
  bool sound = compute(ld, c->place.scope, c->text, depth, &r, &problem);
  if (c->state == OD_CONSTANT_FAILED)
    return false;  // the constant refers to itself; the error has already been reported
  if (!sound) {
    double value;
    const char *unit;
    bool quantity = !od_is_arithmetic(c->text) && od_split_quantity(c->text, &value, &unit) && od_is_letter(unit[0]) &&
                    !strpbrk(unit, "+*");
    if (quantity)
      od_complain_given(ld, &given, "unknown unit '%s' in '%s'; expected a unit such as mm, bar or l/min",
                        od_excerpt(ld, unit), od_excerpt(ld, c->text));
    else if (problem.text[0] != '\0')
      complain(ld, &given, &problem);
    return fail(ld, constant);
  }
  c->value = r.value;
  c->unit = r.unit;
  c->formula = keep_formula(ld, &r);
  return finish(ld, constant);
}

// Returns whether a constant may have the name of the key. If not, reports an error.
static bool check_name(od_loader *ld, int key) {
  const char *name = od_text_of(ld, key), *dot = strrchr(name, '.');
  const char *own = dot != NULL ? dot + 1 : name;
  bool taken = strcmp(own, "pi") == 0;
  for (const od_expression_function *f = od_expression_functions; f->name != NULL; f++)
    taken = taken || strcmp(own, f->name) == 0;
  bool sound = od_is_letter(own[0]) && own[od_word_length(own)] == '\0' &&
               (dot == NULL || ld->tree.origin[ld->tree.node[key].origin].scope[0] != '\0');
  if (taken)
    od_complain(ld, key, "the name '%s' is reserved; choose another name for this constant", own);
  else if (!sound)
    od_complain(
        ld, key,
        "'%s' cannot be the name of a constant; a name consists of letters, digits and '_' and starts with a letter",
        od_excerpt(ld, name));
  return sound && !taken;
}

// Adds the constant, or the parameter of an instance, with the name and the text of the key.
static void declare(od_loader *ld, int key, bool is_parameter) {
  od_constants *all = &ld->document->constants;
  const char *name = od_text_of(ld, key);
  int node = od_value(ld, key), other = find(ld, name);
  if (is_parameter && ld->tree.node[node].kind != OD_TREE_TEXT) return;
  if (!is_parameter && !check_name(ld, key)) return;
  if (other >= 0) {
    const int line = all->item[other].place.line;  // 0: --set gives the value
    od_complain(ld, key, "the constant '%s' is given twice%s; remove one entry", od_excerpt(ld, name),
                line > 0 ? od_format(ld, ": here and in line %d", line) : "");
    return;
  }
  od_constant *list = od_arena_extend(&ld->document->arena, all->item, all->count, sizeof *list);
  if (list == NULL || !od_index_add(&all->index, &ld->document->arena, name, all->count)) return;
  all->item = list;
  const char *path = is_parameter ? name : od_format(ld, "constants.%s", name);
  od_given given = od_given_for(ld, node, path, name, "SI units", od_place_of(ld, key));
  if (given.place.scope == NULL) given.place.scope = od_place_of(ld, node).scope;
  all->item[all->count++] = (od_constant){.name = name,
                                          .path = path,
                                          .text = given.text,
                                          .place = given.place,
                                          .state = given.text != NULL ? OD_CONSTANT_NEW : OD_CONSTANT_FAILED,
                                          .is_parameter = is_parameter,
                                          .formula = -1,
                                          .number = -1};
}

void od_load_constants(od_loader *ld, int constants, int parameters) {
  od_constants *all = &ld->document->constants;
  for (int which = 0; which < 2; which++) {
    int node = which == 0 ? constants : parameters;
    for (int key = od_first(ld, node, "constants"); key >= 0; key = od_next(ld, key)) {
      if (all->count == OD_MOST_CONSTANTS) {
        od_complain(ld, key, "the file has more than %d constants, the largest allowed number; use fewer constants",
                    OD_MOST_CONSTANTS);
        break;
      }
      declare(ld, key, which == 1);
    }
  }
  all->order = OD_TAKE(&ld->document->arena, int, all->count);
  if (all->order == NULL) return;
  for (int i = 0; i < all->count; i++) {
    od_constant copy = all->item[i];
    if (copy.state == OD_CONSTANT_FAILED) continue;
    // Parameters that are quantities become numbers even without references, so that they appear in the list of numbers.
    if (!copy.is_parameter || take_quantity(ld, &copy)) evaluate(ld, i, 0);
  }
  od_number_constants(ld);
}

// --- Dependence of numbers on constants ---------------------------------------------------------------------------

static const od_constant_formula *formula_of(const od_document *d, int number) {
  int formula = d->numbers.item[number].formula;
  return formula >= 0 ? &d->constants.formula[formula] : NULL;
}

int od_constant_of(const od_document *d, int number) {
  for (int i = 0; i < d->constants.count; i++)
    if (d->constants.item[i].number == number) return d->constants.item[i].formula < 0 ? i : -1;
  return -1;
}

static bool is_reached(const od_constant_formula *f, const bool *reached) {
  for (int i = 0; i < f->variables; i++)
    if (f->constant[i] >= 0 && reached[f->constant[i]]) return true;
  return false;
}

void od_constants_reach(const od_document *d, bool *reached) {
  for (int i = 0; i < d->constants.ordered; i++) {
    int c = d->constants.order[i], formula = d->constants.item[c].formula;
    if (formula >= 0 && is_reached(&d->constants.formula[formula], reached)) reached[c] = true;
  }
}

bool od_number_is_reached(const od_document *d, int number, const bool *reached) {
  const od_constant_formula *f = formula_of(d, number);
  return f != NULL && is_reached(f, reached);
}

bool od_number_is_constant(const od_document *d, int number) {
  for (int i = 0; i < d->constants.count; i++)
    if (d->constants.item[i].number == number) return true;
  return false;
}

int od_number_source(const od_document *d, int number) {
  const od_constant_formula *f = formula_of(d, number);
  int source = -1;
  while (f != NULL) {
    source = -1;
    for (int i = 0; i < f->variables && source < 0; i++) source = f->constant[i];
    int inner = source >= 0 ? d->constants.item[source].formula : -1;
    f = inner >= 0 ? &d->constants.formula[inner] : NULL;
  }
  return source;
}

// Returns the value of a formula for these values of the constants. *its_change: the derivative of the formula's value along
// `change`, a direction with one entry per constant (NULL: not computed).
static double formula_value(const od_constant_formula *f, const double *value, const double *change,
                            double *its_change) {
  od_expression e = {.count = f->operations};
  double variable[MOST_NAMES], gradient[MOST_NAMES];
  memcpy(e.operation, f->operation, (size_t)f->operations * sizeof *f->operation);
  for (int i = 0; i < f->variables; i++) variable[i] = f->constant[i] >= 0 ? value[f->constant[i]] : pi;
  double its_value = od_expression_value(&e, variable, f->variables, change != NULL ? gradient : NULL);
  if (change == NULL) return its_value;
  *its_change = 0;
  for (int i = 0; i < f->variables; i++)
    if (f->constant[i] >= 0) *its_change += gradient[i] * change[f->constant[i]];
  return its_value;
}

void od_constants_follow(const od_document *d, const bool *wanted, double *value, double *change) {
  for (int i = 0; i < d->constants.ordered; i++) {
    int c = d->constants.order[i], formula = d->constants.item[c].formula;
    if (formula < 0 || !wanted[c]) continue;
    value[c] = formula_value(&d->constants.formula[formula], value, change, change != NULL ? &change[c] : NULL);
  }
}

double od_number_follow(const od_document *d, int number, const double *value, const double *change,
                        double *its_change) {
  return formula_value(formula_of(d, number), value, change, its_change);
}
