// A small SVG writer: the few shapes that charts need.
#ifndef OD_SVG_H
#define OD_SVG_H

#include <stdbool.h>
#include <stdio.h>

// Writes a text with escaped markup characters, for content and attributes. Bytes that are not UTF-8 become '?'.
void od_xml_text(FILE *to, const char *text);

// Begins and ends a drawing; style is CSS.
void od_svg_begin(FILE *to, double width, double height, const char *title, const char *style);
void od_svg_end(FILE *to);

void od_svg_line(FILE *to, const char *class_name, double x0, double y0, double x1, double y1);
void od_svg_rectangle(FILE *to, const char *class_name, double x, double y, double width, double height);
void od_svg_circle(FILE *to, const char *class_name, double x, double y, double radius);
// Text with escaped characters; anchor "start", "middle" or "end".
void od_svg_text(FILE *to, const char *class_name, double x, double y, const char *anchor, const char *text);
// A name in bold, then a note in a lighter tone, on one line.
void od_svg_label(FILE *to, double x, double y, const char *name, const char *note);

// A path: begin, points in order ('M': start a new line here, 'L': continue), end. The name is stored in the file; NULL: none.
void od_svg_path_begin(FILE *to, const char *class_name, const char *name);
void od_svg_path_point(FILE *to, char how, double x, double y);
void od_svg_path_end(FILE *to);

#endif
