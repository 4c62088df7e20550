// The places of the page are collected in memory, because the data of the page precede its pictures, and the header needs the verdict.
#include "report/page.h"

#include <locale.h>
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "io/atomic_file.h"
#include "io/json.h"
#include "io/number.h"
#include "io/svg.h"
#include "oleodyn/oleodyn.h"
#include "report/page_files.h"
#include "report/page_parts.h"

// --- The page -----------------------------------------------------------------------------------------------------

od_page *od_page_new(const char *kind, const char *title) {
  OD_OWNED(od_page_free) od_page *p = od_calloc(1, sizeof *p);
  if (!p) return NULL;
  p->kind = kind;
  p->title = title;
  p->data = od_page_data_new();
  p->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (p->plain) p->before = uselocale(p->plain);
  bool ok = p->plain && p->data;
  for (int i = 0; i < PARTS; i++) {
    p->part[i].to = open_memstream(&p->part[i].text, &p->part[i].length);
    ok = ok && p->part[i].to;
  }
  p->body = p->part[PART_SECTIONS].to;
  return ok ? OD_GIVE(p) : NULL;
}

void od_page_free(od_page *p) {
  if (p->plain) {
    uselocale(p->before);
    freelocale(p->plain);
  }
  for (int i = 0; i < PARTS; i++) {
    if (p->part[i].to) fclose(p->part[i].to);
    od_libc_free(p->part[i].text);
  }
  json_decref(p->findings);
  od_page_data_free(p->data);
  od_arena_free(&p->arena);
  od_free(p);
}

bool od_page_require(od_page *p, bool has_memory) {
  p->failed = p->failed || !has_memory;
  return has_memory;
}

od_page_data *od_page_get_data(od_page *p) {
  return p->data;
}

void od_page_subtitle(od_page *p, const char *text) {
  od_page_require(p, (p->subtitle = od_arena_text(&p->arena, text)) != NULL);
}

void od_page_verdict(od_page *p, od_trust trust, const char *text) {
  p->has_verdict = true;
  p->trust = trust;
  od_page_require(p, (p->verdict = od_arena_text(&p->arena, text)) != NULL);
}

// Closes the open list and opens a list with this tag (NULL: no list). Does nothing if a list with this tag is open.
static void use_list(od_page *p, const char *tag) {
  if (p->list == tag) return;
  if (p->list) fprintf(p->body, "</%s>\n", p->list);
  if (tag) fprintf(p->body, "<%s>\n", tag);
  p->list = tag;
}

FILE *od_page_picture_begin(od_page *p, od_picture_kind kind, const char *style) {
  p->picture = kind;
  p->picture_style[kind] = style;
  return p->part[kind == OD_PICTURE_MACHINE ? PART_MACHINE : PART_CIRCUIT].to;
}

void od_page_picture_end(od_page *p) {
  fputc('\n', p->part[p->picture == OD_PICTURE_MACHINE ? PART_MACHINE : PART_CIRCUIT].to);
}

static void set_text(json_t *object, const char *key, const char *text) {
  if (text && text[0]) json_object_set_new(object, key, od_json_text(text));
}

static void set_time(json_t *object, const char *key, double time) {
  if (!isnan(time)) json_object_set_new(object, key, od_json_number(time));
}

// Writes the sentences of a finding: the name of the part at the start is marked as a name, and no line break separates
// a number from its unit.
static void write_sentences(FILE *to, const char *text, const char *owner) {
  size_t length = owner ? strlen(owner) : 0;
  if (length > 0 && strncmp(text, owner, length) == 0 && strchr(" :", text[length])) {
    fputs("<b>", to);
    od_xml_text(to, owner);
    fputs("</b>", to);
    text += length;
  }
  for (const char *next = text; *next; text = next) {
    next += strcspn(next, " ");
    od_xml_part(to, text, (size_t)(next - text));
    bool is_number = next > text && isdigit((unsigned char)next[-1]);
    if (*next) fputs(is_number ? "\u00a0" : " ", to), next++;
  }
}

void od_page_add_finding(od_page *p, const od_page_finding *f) {
  FILE *to = p->part[PART_FINDINGS].to;
  fprintf(to, "<li class=\"finding %s\" data-finding=\"%d\"><b>", f->severity, p->finding_count++);
  od_xml_text(to, f->title);
  fputs("</b>", to);
  double at = isnan(f->at) ? f->from : f->at;
  if (!isnan(at)) fprintf(to, " <span class=\"at\">%s\u00a0s</span>", od_time_text(at, od_time_digits(f->length)).text);
  fputs("<p>", to);
  write_sentences(to, f->text ? f->text : "", f->owner);
  fputs("</p></li>\n", to);
  json_t *item = json_object();
  set_text(item, "code", f->code);
  set_text(item, "severity", f->severity);
  set_text(item, "owner", f->owner);
  set_text(item, "output", f->output);
  set_time(item, "from", f->from);
  set_time(item, "to", f->to);
  set_time(item, "at", f->at);
  set_text(item, "title", f->title);
  set_text(item, "text", f->text);
  if (!p->findings) p->findings = json_array();
  od_page_require(p, json_array_append_new(p->findings, item) == 0);
}

void od_page_choose_place(od_page *p, od_page_place place) {
  use_list(p, NULL);
  p->place = place;
  p->body = p->part[place == OD_PLACE_CHARTS ? PART_CHARTS : PART_SECTIONS].to;
}

// --- The file -----------------------------------------------------------------------------------------------------

static void write_part(const od_page *p, int part, FILE *to) {
  fwrite(p->part[part].text, 1, p->part[part].length, to);
}

static const char *const trust_classes[] = {[OD_SOUND] = "sound", [OD_DOUBTFUL] = "doubtful", [OD_UNSOUND] = "unsound"};
static const char *const trust_words[] = {[OD_SOUND] = "Sound", [OD_DOUBTFUL] = "Doubtful", [OD_UNSOUND] = "Unsound"};

static void write_embedded(const unsigned char *bytes, size_t size, FILE *to) {
  fwrite(bytes, 1, size, to);
}

static void write_head(const od_page *p, FILE *to) {
  fputs(
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>",
      to);
  od_xml_text(to, p->title);
  fputs("</title>\n<style>\n/*<![CDATA[*/\n", to);
  for (int i = 0; i < OD_PICTURES; i++)
    if (p->picture_style[i]) fprintf(to, "%s\n", p->picture_style[i]);
  write_embedded(od_page_css, od_page_css_size, to);
  fputs(
      "/*]]>*/\n</style>\n</head>\n<body>\n<header class=\"top\"><span class=\"brand\">oleodyn</span><div class=\"titles\"><h1>",
      to);
  od_xml_text(to, p->title);
  fputs("</h1>\n<p class=\"subtitle\">", to);
  if (p->subtitle && p->subtitle[0]) {
    od_xml_text(to, p->subtitle);
    fputs(" \u00b7 ", to);
  }
  od_xml_text(to, p->kind);
  fputs("</p></div>\n", to);
  if (p->has_verdict) {
    fprintf(to, "<p class=\"verdict %s\"><b>%s</b> <span>", trust_classes[p->trust], trust_words[p->trust]);
    od_xml_text(to, p->verdict ? p->verdict : "");
    fputs("</span></p>", to);
  }
  fputs("<div id=\"controls\"></div></header>\n", to);
}

static void write_views(const od_page *p, FILE *to) {
  static const char *const ids[] = {"machine", "circuit"}, *const titles[] = {"Machine", "Circuit"};
  bool machine = p->picture_style[OD_PICTURE_MACHINE] != NULL, circuit = p->picture_style[OD_PICTURE_CIRCUIT] != NULL;
  if (!machine && !circuit) return;
  if (machine && circuit && p->tall > 0)
    fprintf(to, "<div class=\"views stacked\" style=\"--tall:%.3g\">\n", p->tall);
  else
    fprintf(to, "<div class=\"views%s\">\n", machine && circuit ? "" : " single");
  for (int i = 0; i < OD_PICTURES; i++) {
    if (!p->picture_style[i]) continue;
    fprintf(to, "<section class=\"card\" id=\"%s\"><h2>%s</h2><div class=\"picture\">\n", ids[i], titles[i]);
    write_part(p, i == OD_PICTURE_MACHINE ? PART_MACHINE : PART_CIRCUIT, to);
    fputs("</div></section>\n", to);
  }
  fputs("</div>\n<section class=\"card\" id=\"time\" hidden=\"hidden\"></section>\n", to);
}

void od_page_stack_pictures(od_page *p, double tall) {
  p->tall = tall;
}

static void write_report(const od_page *p, FILE *to) {
  bool has_charts = p->part[PART_CHARTS].length > 0;
  fprintf(to, "<div class=\"report%s\">\n<section class=\"card\" id=\"findings\"><h2>Findings</h2>\n",
          has_charts ? "" : " single");
  if (p->finding_count > 0) {
    fputs("<ol>\n", to);
    write_part(p, PART_FINDINGS, to);
    fputs("</ol>", to);
  } else {
    fputs("<p class=\"empty\">No remarks.</p>", to);
  }
  fputs("</section>\n", to);
  if (has_charts) {
    fputs("<div id=\"charts\">\n", to);
    write_part(p, PART_CHARTS, to);
    fputs("</div>\n", to);
  }
  fputs("</div>\n", to);
}

// Adds the texts of the header to the data.
static void describe(od_page *p) {
  od_page_data_set(p->data, "program", json_string("oleodyn " OD_VERSION));
  od_page_data_set(p->data, "kind", od_json_text(p->kind));
  od_page_data_set(p->data, "title", od_json_text(p->title));
  if (p->subtitle) od_page_data_set(p->data, "subtitle", od_json_text(p->subtitle));
  if (p->findings) od_page_data_set(p->data, "findings", json_incref(p->findings));
  if (!p->has_verdict) return;
  json_t *verdict = json_object();
  json_object_set_new(verdict, "trust", json_string(trust_classes[p->trust]));
  json_object_set_new(verdict, "text", od_json_text(p->verdict));
  od_page_data_set(p->data, "verdict", verdict);
}

static void write_script(const unsigned char *bytes, size_t size, FILE *to) {
  fputs("<script>\n//<![CDATA[\n", to);
  write_embedded(bytes, size, to);
  fputs("\n//]]>\n</script>\n", to);
}

void od_page_add_bytes(od_page *p, const char *id, const void *bytes, size_t size) {
  int i = p->byte_elements++;
  p->bytes[i].id = id;
  p->bytes[i].bytes = bytes;
  p->bytes[i].size = size;
}

static bool write_bytes(const od_page *p, FILE *to) {
  bool ok = true;
  for (int i = 0; i < p->byte_elements; i++) {
    fprintf(to, "<script type=\"application/octet-stream\" id=\"%s\">", p->bytes[i].id);
    ok = od_page_data_write_packed(p->bytes[i].bytes, p->bytes[i].size, to) && ok;
    fputs("</script>\n", to);
  }
  return ok;
}

od_status od_page_write(od_page *p, const char *path, od_error *err) {
  od_atomic_file f;
  od_page_choose_place(p, OD_PLACE_SECTIONS);
  if (p->has_section) fputs("</section>\n", p->body);
  describe(p);
  bool ok = !p->failed && od_page_data_is_complete(p->data);
  for (int i = 0; i < PARTS; i++) ok = fflush(p->part[i].to) == 0 && !ferror(p->part[i].to) && ok;
  if (!ok) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  write_head(p, f.file);
  fputs("<main>\n", f.file);
  write_views(p, f.file);
  write_report(p, f.file);
  fputs("<div class=\"sections\">\n", f.file);
  write_part(p, PART_SECTIONS, f.file);
  fputs("</div>\n</main>\n<footer>Written by oleodyn " OD_VERSION
        ".</footer>\n"
        "<script type=\"application/json\" id=\"page-data\">",
        f.file);
  ok = od_page_data_write(p->data, f.file);
  fputs("</script>\n", f.file);
  ok = write_bytes(p, f.file) && ok;
  write_script(od_page_js, od_page_js_size, f.file);
  if (p->byte_elements > 0) write_script(od_interactive_js, od_interactive_js_size, f.file);
  fputs("</body>\n</html>\n", f.file);
  if (ok) return od_atomic_commit(&f, err);
  od_atomic_discard(&f);
  return od_fail(err, OD_NO_MEMORY, "out of memory");
}

// --- Texts --------------------------------------------------------------------------------------------------------

static const char facts[] = "dl", items[] = "ul";  // tags of lists

// Writes an escaped text between two pieces of HTML.
static void put(od_page *p, const char *begin, const char *text, const char *end) {
  fputs(begin, p->body);
  od_xml_text(p->body, text);
  fputs(end, p->body);
}

// Opens the section that was begun, or a card without a title if there is no section. A section without content is not written.
static void require_section(od_page *p) {
  if (p->place != OD_PLACE_SECTIONS || p->has_section) return;
  fputs("<section class=\"card\">", p->body);
  if (p->section) put(p, "<h2>", p->section, "</h2>");
  fputc('\n', p->body);
  p->has_section = true;
}

// Opens a section if none is open, and the list with this tag (NULL: no list).
static void begin_content(od_page *p, const char *tag) {
  require_section(p);
  use_list(p, tag);
}

void od_page_begin_content(od_page *p) {
  begin_content(p, NULL);
}

void od_page_section(od_page *p, const char *title) {
  od_page_choose_place(p, OD_PLACE_SECTIONS);
  if (p->has_section) fputs("</section>\n", p->body);
  p->has_section = false;
  p->section = title;
}

void od_page_heading(od_page *p, const char *title) {
  begin_content(p, NULL);
  put(p, "<h3>", title, "</h3>\n");
}

void od_page_text(od_page *p, const char *format, ...) {
  OD_SCRATCH(scratch);
  va_list list;
  va_start(list, format);
  size_t size = (size_t)vsnprintf(NULL, 0, format, list) + 1;
  va_end(list);
  char *text = od_arena_take(&scratch, size);
  if (!od_page_require(p, text != NULL)) return;
  va_start(list, format);
  vsnprintf(text, size, format, list);
  va_end(list);
  begin_content(p, NULL);
  put(p, "<p>", text, "</p>\n");
}

void od_page_code(od_page *p, const char *lines) {
  begin_content(p, NULL);
  put(p, "<pre style=\"overflow-x:auto\">", lines, "</pre>\n");
}

void od_page_notice(od_page *p, od_trust trust, const char *lead, const char *text) {
  static const char *const begin[] = {[OD_SOUND] = "<p class=\"notice good\"><b>",
                                      [OD_DOUBTFUL] = "<p class=\"notice doubt\"><b>",
                                      [OD_UNSOUND] = "<p class=\"notice bad\"><b>"};
  begin_content(p, NULL);
  put(p, begin[trust], lead, "</b> ");
  put(p, "", text, "</p>\n");
}

void od_page_fact(od_page *p, const char *name, const char *value) {
  begin_content(p, facts);
  put(p, "<dt>", name, "</dt><dd>");
  put(p, "", value, "</dd>\n");
}

void od_page_item(od_page *p, const char *lead, const char *text) {
  begin_content(p, items);
  put(p, "<li><b>", lead, "</b> ");
  put(p, "", text, "</li>\n");
}

// --- Tables -------------------------------------------------------------------------------------------------------

void od_page_table_begin(od_page *p, const od_page_column *columns, int count) {
  begin_content(p, NULL);
  fputs("<div class=\"wide\"><table>\n<thead><tr>", p->body);
  p->columns = count < MOST_COLUMNS ? count : MOST_COLUMNS;
  p->column = -1;
  for (int i = 0; i < p->columns; i++) {
    p->words[i] = columns[i].words;
    put(p, columns[i].words ? "<th scope=\"col\" class=\"words\">" : "<th scope=\"col\">", columns[i].title, "</th>");
  }
  fputs("</tr></thead>\n<tbody>\n", p->body);
}

static void end_row(od_page *p) {
  if (p->column >= 0) fputs("</tr>\n", p->body);
}

void od_page_row(od_page *p, const char *name) {
  end_row(p);
  put(p, "<tr><th scope=\"row\">", name, "</th>");
  p->column = 1;
}

void od_page_cell(od_page *p, bool is_marked, const char *text) {
  static const char *const begin[2][2] = {{"<td>", "<td class=\"marked\">"},
                                          {"<td class=\"words\">", "<td class=\"words marked\">"}};
  put(p, begin[p->column < p->columns && p->words[p->column]][is_marked], text, "</td>\n");
  p->column++;
}

// Adds the cell. The background color is weak, so that the number is readable in light and in dark mode.
void od_page_heat_cell(od_page *p, double value) {
  char shade[OD_NUMBER_SIZE], text[OD_NUMBER_SIZE] = "-";
  od_number_fixed(shade, isnan(value) ? 0 : 0.55 * fmin(fabs(value), 1), 2);
  if (!isnan(value)) od_number_fixed(text, value, 2);
  fprintf(p->body, "<td style=\"background:rgba(%s,%s)\">%s</td>\n", value < 0 ? "213,94,0" : "0,114,178", shade, text);
  p->column++;
}

void od_page_table_end(od_page *p) {
  end_row(p);
  fputs("</tbody>\n</table></div>\n", p->body);
}
