#include "survey/propose_mapping.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/display.h"
#include "machine/machine.h"
#include "survey/name_words.h"

static const double least_score = 0.5;          // least score of a proposal
static const double ambiguous_distance = 0.03;  // largest difference of scores that count as equal
// Largest difference between the best score and the score of a listed alternative.
static const double listed_distance = 0.1;
static const double certain_score = 0.75;  // an output with this score keeps its column, even if an input has no column
typedef struct vocabulary {
  const char **word;
  int *uses;  // number of targets with this word
  int count, targets;
} vocabulary;

typedef struct target_words {
  od_name_words words;
  int index[OD_MOST_WORDS];                      // indices in the vocabulary
  char joined[OD_MOST_WORDS][2 * OD_WORD_SIZE];  // each word joined with the next word
} target_words;

typedef struct work {
  od_arena *memory;
  od_units *units;
  const od_map_column *column;
  const od_map_target *target;
  int columns, targets;
  vocabulary vocabulary;
  target_words *words;  // per target
} work;

static int find_word(vocabulary *v, const char *word, od_arena *memory) {
  for (int i = 0; i < v->count; i++)
    if (!strcmp(v->word[i], word)) return i;
  const char **words = od_arena_extend(memory, v->word, v->count, sizeof *words);
  if (words) v->word = words;
  int *uses = od_arena_extend(memory, v->uses, v->count, sizeof *uses);
  if (uses) v->uses = uses;
  if (!words || !uses) return 0;
  words[v->count] = word;
  return v->count++;
}

// Joins word k of a name with the next word.
static void join_words(char joined[2 * OD_WORD_SIZE], const od_name_words *words, int k) {
  size_t length = strlen(words->word[k]);
  memcpy(joined, words->word[k], length);
  strcpy(joined + length, words->word[k + 1]);
}

static void read_targets(work *w) {
  w->words = OD_TAKE(w->memory, target_words, w->targets);
  for (int i = 0; w->words && i < w->targets; i++) {
    target_words *t = &w->words[i];
    t->words = od_name_words_of(w->target[i].name);
    for (int k = 0; k < t->words.count; k++) {
      t->index[k] = find_word(&w->vocabulary, t->words.word[k], w->memory);
      if (od_arena_status(w->memory) != OD_OK) return;
      w->vocabulary.uses[t->index[k]]++;
      if (k + 1 < t->words.count) join_words(t->joined[k], &t->words, k);
    }
  }
  w->vocabulary.targets = w->targets;
}

// Returns the weight of a word of the vocabulary: rare words weigh more.
static double weight_of(const vocabulary *v, int word) {
  return 0.4 + log((1.0 + v->targets) / (1.0 + v->uses[word])) / log(1.0 + v->targets);
}

// --- Units and ranges ---------------------------------------------------------------------------------------------

// The agreement of a column's unit and range with a target.
typedef struct unit_match {
  bool is_possible;
  double factor;
  const char *added;   // unit that the file does not contain; NULL: none
  int word;            // index of the word that contains the unit; -1: none
  bool has_dimension;  // whether the unit determines the quantity
  double low, high;    // range in the unit of the target; NAN: no values
  char note[64];       // text for the reason of the proposal: "unit bar"
} unit_match;

static void convert_range(const work *w, const od_map_column *c, const char *unit, const char *si, unit_match *m) {
  od_units_convert(w->units, unit, si, c->low, &m->low);
  od_units_convert(w->units, unit, si, c->high, &m->high);
}

// Returns whether the range suits the usual values of the target; true for targets without usual values.
static bool range_is_usual(const od_map_target *t, const unit_match *m) {
  const od_limits *usual = od_measured_limits(t->name, t->unit);
  double largest = fmax(fabs(m->low), fabs(m->high));
  if (!usual || isnan(largest) || largest == 0) return true;
  return largest >= usual->usual_low && largest <= usual->usual_high;
}

// Finds the unit of a column without a unit by its range: SI, or the first usual unit in which the values are usual.
static void guess_unit(const work *w, const od_map_column *c, const od_map_target *t, unit_match *m) {
  static const char *const units[][4] = {{"Pa", "bar", "MPa", NULL}, {"m", "mm", "cm", NULL}};
  convert_range(w, c, "", t->unit, m);
  if (range_is_usual(t, m)) return;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (strcmp(units[i][0], t->unit) != 0) continue;
    for (int k = 1; units[i][k]; k++) {
      convert_range(w, c, units[i][k], t->unit, m);
      if (!range_is_usual(t, m)) continue;
      m->added = units[i][k];
      snprintf(m->note, sizeof m->note, "unit %s by its range", m->added);
      return;
    }
  }
  convert_range(w, c, "", t->unit, m);
}

static unit_match find_match(const work *w, const od_map_column *c, const od_name_words *words,
                             const od_map_target *t) {
  static const double without_unit = 0.92, unknown_unit = 0.8, unusual = 0.7;
  unit_match m = {.is_possible = true, .factor = 1, .word = -1, .low = NAN, .high = NAN};
  od_conversion conversion;
  bool is_plain = !strcmp(t->unit, "1");
  if (c->unit[0] != '\0') {
    od_unit_verdict verdict = od_units_conversion(w->units, c->unit, t->unit, &conversion);
    m.is_possible = verdict != OD_UNIT_MISFITS;
    if (verdict == OD_UNIT_UNKNOWN) m.factor = unknown_unit;
    if (verdict != OD_UNIT_FITS) return m;
    m.has_dimension = !is_plain;
    convert_range(w, c, c->unit, t->unit, &m);
    snprintf(m.note, sizeof m.note, "unit %.40s", c->unit);
    for (char *at = m.note; *at; at++)
      if ((unsigned char)*at < ' ') *at = ' ';
  } else {
    for (int i = 0; i < words->count && !m.added; i++) {
      const char *unit = od_word_unit(words->word[i], i > 0 && i == words->count - 1);
      if (!unit || i == 0 || od_units_conversion(w->units, unit, t->unit, &conversion) != OD_UNIT_FITS) continue;
      m.added = unit;
      m.word = i;
    }
    if (m.added) {
      m.has_dimension = !is_plain;
      convert_range(w, c, m.added, t->unit, &m);
      snprintf(m.note, sizeof m.note, "unit %s in the name", m.added);
    } else {
      m.factor = is_plain ? 1 : without_unit;
      guess_unit(w, c, t, &m);
    }
  }
  if (!range_is_usual(t, &m)) m.factor *= unusual;
  return m;
}

// Matches of a column with the targets of one unit and one usual range.
enum { MOST_MATCHES = 64 };
typedef struct known_matches {
  struct {
    const char *unit;
    const od_limits *usual;
    unit_match match;
  } item[MOST_MATCHES];
  int count;
} known_matches;

// Returns the agreement of a column's unit and range with a target. The result depends only on the unit and the usual
// range of the target.
static unit_match match_unit(const work *w, const od_map_column *c, const od_name_words *words, const od_map_target *t,
                             known_matches *known) {
  const od_limits *usual = od_measured_limits(t->name, t->unit);
  for (int i = 0; i < known->count; i++)
    if (known->item[i].usual == usual && !strcmp(known->item[i].unit, t->unit)) return known->item[i].match;
  unit_match m = find_match(w, c, words, t);
  if (known->count < MOST_MATCHES) {
    known->item[known->count].unit = t->unit;
    known->item[known->count].usual = usual;
    known->item[known->count++].match = m;
  }
  return m;
}

// --- Names --------------------------------------------------------------------------------------------------------

// Returns whether a word means a quantity. The unit of a column can replace such a word.
static bool is_quantity(const char *word) {
  static const char *const quantities[] = {"pressure", "length", "position",    "angle", "rate",  "force",
                                           "torque",   "flow",   "temperature", "power", "speed", "acceleration"};
  for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++)
    if (!strcasecmp(quantities[i], word)) return true;
  return false;
}

// Returns a factor for the last word of an output: quantities that are measured often have the factor 1.
static double quantity_factor(const od_map_target *t, const od_name_words *w) {
  static const char *const others[] = {"spool", "opening"};
  const char *last = w->count > 0 ? w->word[w->count - 1] : "";
  if (t->is_input || is_quantity(last)) return 1;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (!strcasecmp(others[i], last)) return 1;
  return 0.9;
}

// Similarities of the words of a column to the words of the vocabulary.
typedef struct column_words {
  od_name_words words;
  double *similarity;  // one row per word of the name: similarities to the words of the vocabulary
  double *joined;      // the same for each word joined with the next word
  double *weight;      // weight of each word
  known_matches *known;
} column_words;

static bool read_column(const work *w, const od_map_column *c, od_arena *memory, column_words *out) {
  out->words = od_name_words_of(c->name);
  int n = out->words.count, size = w->vocabulary.count;
  out->similarity = OD_TAKE(memory, double, n *size);
  out->joined = OD_TAKE(memory, double, n *size);
  out->weight = OD_TAKE(memory, double, n);
  out->known = OD_TAKE(memory, known_matches, 1);
  if (!out->similarity || !out->joined || !out->weight || !out->known) return false;
  for (int i = 0; i < n; i++) {
    const char *word = out->words.word[i];
    char both[2 * OD_WORD_SIZE] = "";
    if (i + 1 < n) join_words(both, &out->words, i);
    double best = 0;
    out->weight[i] = 0.8;
    for (int k = 0; k < size; k++) {
      double s = od_word_similarity(word, w->vocabulary.word[k]);
      out->similarity[i * size + k] = s;
      out->joined[i * size + k] = i + 1 < n && !strcasecmp(both, w->vocabulary.word[k]);
      if (s > best) best = s, out->weight[i] = weight_of(&w->vocabulary, k);
    }
    if (od_word_is_empty(word)) out->weight[i] = 0.1;
  }
  return true;
}

// Returns the similarity of the names of a column and a target, from 0 to 1.
static double name_similarity(const work *w, const column_words *c, const target_words *t, const unit_match *unit) {
  // Similarity of a word for a quantity if the unit of the column determines this quantity.
  static const double by_unit = 0.85;
  const int n = c->words.count, size = w->vocabulary.count;
  double of_column[OD_MOST_WORDS] = {0}, target_sum = 0, target_weight = 0, column_sum = 0, column_weight = 0;
  for (int k = 0; k < t->words.count; k++) {
    int index = t->index[k];
    double best = 0, weight = weight_of(&w->vocabulary, index);
    for (int i = 0; i < n; i++) {
      if (i == unit->word) continue;
      double s = c->similarity[i * size + index];
      if (c->joined[i * size + index] > s) {
        s = 1;
        if (i + 1 < n) of_column[i + 1] = 1;
      }
      // A word of the target joined with a neighbor: "Uref" and "U_ref".
      if (k + 1 < t->words.count && !strcasecmp(t->joined[k], c->words.word[i])) s = 1;
      if (k > 0 && !strcasecmp(t->joined[k - 1], c->words.word[i])) s = 1;
      best = fmax(best, s);
      of_column[i] = fmax(of_column[i], s);
    }
    if (unit->has_dimension && is_quantity(t->words.word[k])) best = fmax(best, by_unit);
    target_sum += weight * best;
    target_weight += weight;
  }
  for (int i = 0; i < n; i++) {
    if (i == unit->word) continue;
    column_sum += c->weight[i] * of_column[i];
    column_weight += c->weight[i];
  }
  return target_weight > 0 && column_weight > 0 ? sqrt(target_sum / target_weight * column_sum / column_weight) : 0;
}

// --- Choice -------------------------------------------------------------------------------------------------------

// Writes the reason of a proposal: "name 93 %, unit bar, 3 bar to 140 bar".
static const char *reason_of(const work *w, const od_map_proposal *p, double similarity, const unit_match *m) {
  const od_map_target *t = &w->target[p->target];
  char range[240] = "";
  if (isfinite(m->low) && isfinite(m->high))
    snprintf(range, sizeof range, ", %s to %s%s", od_display_quantity(m->low, t->unit).text,
             od_display_quantity(m->high, t->unit).text, range_is_usual(t, m) ? "" : " (unusual)");
  if (p->is_by_unit) return od_arena_format(w->memory, "the only input and the only column with %s%s", m->note, range);
  return od_arena_format(w->memory, "name %d %%%s%s%s", (int)lround(100 * similarity), m->note[0] != '\0' ? ", " : "",
                         m->note, range);
}

// Stores the alternatives of a column in the order of their scores. Targets of other proposals are left out.
static void find_alternatives(const work *w, const double *score, const bool *is_used, od_map_proposal *p) {
  for (int t = 0; t < w->targets; t++) {
    if (t == p->target || is_used[t] || score[t] < p->score - listed_distance) continue;
    int at = p->alternatives < OD_MAP_ALTERNATIVES ? p->alternatives++ : OD_MAP_ALTERNATIVES - 1;
    if (at == OD_MAP_ALTERNATIVES - 1 && p->alternative_score[at] >= score[t]) continue;
    for (; at > 0 && score[t] > p->alternative_score[at - 1]; at--) {
      p->alternative[at] = p->alternative[at - 1];
      p->alternative_score[at] = p->alternative_score[at - 1];
    }
    p->alternative[at] = t;
    p->alternative_score[at] = score[t];
  }
  p->is_ambiguous = !p->is_by_unit && p->alternatives > 0 && p->alternative_score[0] > p->score - ambiguous_distance;
}

// Computes the score of a pair; 0: the pair is impossible. similarity and match may be NULL.
static double score_of(const work *w, int column, const column_words *c, int target, double *similarity,
                       unit_match *match) {
  const od_map_target *t = &w->target[target];
  unit_match m = match_unit(w, &w->column[column], &c->words, t, c->known);
  if (!m.is_possible) return 0;
  double s = name_similarity(w, c, &w->words[target], &m);
  if (similarity) *similarity = s;
  if (match) *match = m;
  return s * m.factor * quantity_factor(t, &w->words[target].words);
}

void od_mapping_free(od_mapping *m) {
  od_arena_free(&m->memory);
  *m = (od_mapping){0};
}

// Returns the unused target with the highest score; -1: no score exceeds least_score.
static int best_target(const work *w, const double *score, const bool *is_used) {
  int best = -1;
  double highest = least_score;
  for (int t = 0; t < w->targets; t++)
    if (!is_used[t] && score[t] > highest) highest = score[t], best = t;
  return best;
}

// Returns whether no other input has the unit of an input.
static bool has_own_unit(const work *w, int input) {
  od_conversion conversion;
  const od_map_target *t = &w->target[input];
  for (int i = 0; i < w->targets; i++)
    if (i != input && w->target[i].is_input &&
        od_units_conversion(w->units, w->target[i].unit, t->unit, &conversion) == OD_UNIT_FITS)
      return false;
  return true;
}

// Returns the only column with the unit of an input; -1: none or several.
static int only_column(const work *w, int input) {
  int found = -1;
  for (int i = 0; i < w->columns; i++) {
    od_name_words words = od_name_words_of(w->column[i].name);
    unit_match m = find_match(w, &w->column[i], &words, &w->target[input]);
    if (!m.is_possible || !m.has_dimension || isnan(m.low)) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

// Proposes columns for inputs without a column by their units alone, because a run needs its inputs.
static void choose_by_unit(const work *w, bool *is_used, bool *is_chosen, od_map_proposal *chosen) {
  for (int t = 0; t < w->targets; t++) {
    if (!w->target[t].is_input || is_used[t] || !has_own_unit(w, t)) continue;
    int column = only_column(w, t);
    if (column < 0) continue;
    od_map_proposal *p = &chosen[column];
    if (is_chosen[column] && (p->score >= certain_score || w->target[p->target].is_input)) continue;
    if (is_chosen[column]) is_used[p->target] = false;
    *p = (od_map_proposal){.column = column, .target = t, .score = least_score, .is_by_unit = true};
    is_chosen[column] = is_used[t] = true;
  }
}

// Chooses pairs in the order of their scores. False: out of memory.
static bool choose(const work *w, const double *score, od_mapping *out, od_arena *scratch) {
  bool *is_used = OD_TAKE(scratch, bool, w->targets), *is_chosen = OD_TAKE(scratch, bool, w->columns);
  int *best = OD_TAKE(scratch, int, w->columns);  // best unused target of each column
  od_map_proposal *chosen = OD_TAKE(scratch, od_map_proposal, w->columns);
  if (!is_used || !is_chosen || !chosen || !best) return false;
  for (int i = 0; i < w->columns; i++) best[i] = best_target(w, score + (long)i * w->targets, is_used);
  for (;;) {
    int column = -1;
    double highest = 0;
    for (int i = 0; i < w->columns; i++) {
      if (is_chosen[i] || best[i] < 0) continue;
      const double *row = score + (long)i * w->targets;
      if (is_used[best[i]]) best[i] = best_target(w, row, is_used);
      if (best[i] >= 0 && row[best[i]] > highest) highest = row[best[i]], column = i;
    }
    if (column < 0) break;
    int target = best[column];
    is_chosen[column] = is_used[target] = true;
    chosen[column] = (od_map_proposal){.column = column, .target = target, .score = highest};
  }
  choose_by_unit(w, is_used, is_chosen, chosen);
  out->proposal = OD_TAKE(&out->memory, od_map_proposal, w->columns);
  for (int i = 0; out->proposal && i < w->columns; i++) {
    if (!is_chosen[i]) continue;
    OD_SCRATCH(of_column);
    column_words words;
    if (!read_column(w, &w->column[i], &of_column, &words)) return false;
    od_map_proposal *p = &out->proposal[out->count++];
    *p = chosen[i];
    double similarity = 0;
    unit_match match = {0};
    score_of(w, i, &words, p->target, &similarity, &match);
    p->unit = match.added;
    p->reason = reason_of(w, p, similarity, &match);
    find_alternatives(w, score + (long)i * w->targets, is_used, p);
  }
  return true;
}

od_status od_mapping_propose(const od_map_column *columns, int column_count, const od_map_target *targets,
                             int target_count, od_mapping *out, od_error *err) {
  OD_SCRATCH(scratch);
  *out = (od_mapping){0};
  OD_OWNED(od_units_free) od_units *units = od_units_new(err);
  if (!units) return OD_NO_MEMORY;
  work w = {&out->memory, units, columns, targets, column_count, target_count, {0}, NULL};
  read_targets(&w);
  double *score = OD_TAKE_MATRIX(&scratch, double, column_count, target_count);
  bool ok = score && od_arena_status(&out->memory) == OD_OK;
  for (int i = 0; ok && i < column_count; i++) {
    OD_SCRATCH(of_column);
    column_words words;
    ok = read_column(&w, &columns[i], &of_column, &words);
    for (int t = 0; ok && t < target_count; t++)
      score[(long)i * target_count + t] = score_of(&w, i, &words, t, NULL, NULL);
  }
  if (ok && choose(&w, score, out, &scratch) && od_arena_status(&out->memory) == OD_OK &&
      od_arena_status(&scratch) == OD_OK)
    return OD_OK;
  return od_fail(err, OD_NO_MEMORY, "out of memory");
}

od_map_target *od_map_targets_of(const od_machine *machine, od_arena *memory, int *count) {
  int inputs = od_machine_input_count(machine), outputs = od_machine_output_count(machine);
  od_map_target *list = OD_TAKE(memory, od_map_target, inputs + outputs);
  *count = 0;
  for (int i = 0; list && i < inputs; i++)
    list[(*count)++] = (od_map_target){od_machine_input_name(machine, i), od_machine_input_unit(machine, i), true};
  for (int i = 0; list && i < outputs; i++) {
    const char *name = od_machine_output_name(machine, i);
    bool is_input = false;  // an input may also be an output with the same name
    for (int k = 0; k < inputs; k++) is_input = is_input || !strcmp(list[k].name, name);
    if (!is_input) list[(*count)++] = (od_map_target){name, od_machine_output_unit(machine, i), false};
  }
  return list;
}
