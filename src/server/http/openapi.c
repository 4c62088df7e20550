// The description of the API (OpenAPI 3.1), from the table of routes and from schemas.json.
#include <string.h>

#include "http/door.h"
#include "http/door_files.h"
#include "io/json.h"
#include "oleodyn/version.h"

static json_t *schema_reference(const char *name) {
  return json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%s", name));
}

// Returns the content of a body or an answer: its type and schema.
static json_t *content_of(const char *type, const char *schema) {
  return json_pack("{s:o}", type, schema ? json_pack("{s:o}", "schema", schema_reference(schema)) : json_object());
}

static json_t *query_parameter(const od_query_key *key) {
  static const char *const types[] = {"number", "integer", "string", "array", "array", "boolean"};
  json_t *schema = json_pack("{s:s}", "type", types[key->shape]);
  json_t *p = json_pack("{s:s, s:s, s:s}", "name", key->name, "in", "query", "description", key->meaning);
  if (key->shape == OD_QUERY_TEXTS || key->shape == OD_QUERY_LIST) {
    json_object_set_new(schema, "items", json_pack("{s:s}", "type", "string"));
    json_object_set_new(schema, "maxItems", json_integer(OD_MOST_QUERY_TEXTS));
    json_object_set_new(p, "style", json_string("form"));
    json_object_set_new(p, "explode", json_boolean(key->shape == OD_QUERY_TEXTS));
  }
  if (key->low < key->high) {
    json_object_set_new(schema, "minimum", json_real(key->low));
    json_object_set_new(schema, "maximum", json_real(key->high));
  }
  json_object_set_new(p, "schema", schema);
  return p;
}

// Returns the parameters in the path and in the query.
static json_t *parameters_of(const od_route *route) {
  json_t *list = json_array();
  if (strstr(route->path, "{machine}"))
    json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:s, s:{s:s}}", "name", "machine", "in", "path", "required",
                                          1, "description", "name of a machine", "schema", "type", "string"));
  if (strstr(route->path, "{id}"))
    json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:s, s:{s:s}}", "name", "id", "in", "path", "required", 1,
                                          "description", "id of an event", "schema", "type", "integer"));
  for (int i = 0; i < route->queries; i++) json_array_append_new(list, query_parameter(&route->query[i]));
  const bool changes = strcmp(route->method, "GET") != 0;
  if (changes && !route->is_login)
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:b, s:s, s:{s:s}}", "name", "X-CSRF-Token", "in", "header", "required", 0,
                        "description", "text of the session; not needed with a token in the header Authorization",
                        "schema", "type", "string"));
  return list;
}

static json_t *operation_of(const od_route *route) {
  static const char *const roles[] = {"none", "read", "act"};
  json_t *o = json_pack("{s:s, s:s, s:s}", "summary", route->summary, "description", route->meaning, "x-role",
                        roles[route->role]);
  json_t *answers = json_pack("{s:{s:s, s:o}, s:{s:s, s:o}}", "200", "description", route->summary, "content",
                              content_of(route->type, route->schema), "default", "description", "An error.", "content",
                              content_of("application/json", "Error"));
  json_object_set_new(o, "parameters", parameters_of(route));
  json_object_set_new(o, "responses", answers);
  if (route->body)
    json_object_set_new(
        o, "requestBody",
        json_pack("{s:b, s:o}", "required", route->is_login, "content", content_of("application/json", route->body)));
  if (route->role == OD_ROLE_NONE) json_object_set_new(o, "security", json_array());
  return o;
}

void od_route_openapi(od_request *r) {
  json_t *paths = json_object();
  for (const od_route *route = od_routes; route->path; route++) {
    char method[8] = "";
    for (size_t i = 0; route->method[i] && i + 1 < sizeof method; i++) method[i] = (char)(route->method[i] - 'A' + 'a');
    json_t *item = json_object_get(paths, route->path);
    if (!item) {
      item = json_object();
      json_object_set_new(paths, route->path, item);
    }
    json_object_set_new(item, method, operation_of(route));
  }
  json_t *schemas = json_loadb((const char *)od_api_schemas, od_api_schemas_size, 0, NULL);
  json_t *o =
      json_pack("{s:s, s:{s:s, s:s, s:s}, s:o, s:[{s:[]}, {s:[]}], s:{s:o, s:{s:{s:s, s:s}, s:{s:s, s:s, s:o}}}}",
                "openapi", "3.1.0", "info", "title", "oleodyn twin", "version", OD_VERSION, "description",
                "Machines in operation with their estimates. Values are in SI units; null: no value.", "paths", paths,
                "security", "token", "session", "components", "schemas", schemas, "securitySchemes", "token", "type",
                "http", "scheme", "bearer", "session", "type", "apiKey", "in", "cookie", "name",
                json_string(od_guard_cookie_name(r->door->page).text));
  od_answer_json(r, o);
}
