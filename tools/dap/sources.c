/* SPDX-License-Identifier: MIT */
/* Names sources of kernels to an editor: by their path where a file is known, else by a number it can ask for. */
#include <string.h>

#include "tools/dap/adapter.h"

static json_t *name_json(const char *name)
{
    const char *last = strrchr(name, '/');

    name = last && last[1] != 0 ? last + 1 : name;
    return wire_text(name, strlen(name));
}

json_t *sources_of_line(const struct adapter *adapter, const struct loaded *loaded, const char *file, uint32_t *line)
{
    const struct known_file *known = session_file_of(&adapter->session, loaded, file, line);
    const char *main_file = loaded->info ? info_source(loaded->info) : NULL;
    const bool is_main = !file || !main_file || strcmp(file, main_file) == 0;

    if (known) {
        return json_pack("{s:o, s:o}", "name", name_json(known->path), "path",
                         wire_text(known->path, strlen(known->path)));
    }
    json_t *source = json_pack("{s:o}", "name", name_json(file ? file : main_file ? main_file : "kernel.cl"));
    if (is_main && loaded->text != 0) {
        json_object_set_new(source, "sourceReference", json_integer(loaded->text));
        json_object_set_new(source, "origin", json_string("source that the program gave to OpenCL"));
    } else {
        json_object_set_new(source, "presentationHint", json_string("deemphasize"));
    }
    return source;
}

/* The last program with a source. */
static const struct loaded *find_text(const struct session *session, json_int_t number)
{
    for (uint32_t i = session->loads; number != 0 && i-- > 0;) {
        if (session->loaded[i].text == number) {
            return &session->loaded[i];
        }
    }
    return NULL;
}

static json_t *text_json(const struct adapter *adapter, uint32_t number)
{
    const struct loaded *loaded = find_text(&adapter->session, number);
    uint32_t line = 1;

    return loaded ? sources_of_line(adapter, loaded, NULL, &line) : NULL;
}

void sources_tell(struct adapter *adapter)
{
    while (adapter->texts_told < adapter->session.texts) {
        json_t *source = text_json(adapter, ++adapter->texts_told);
        if (source) {
            adapter_tell(adapter, "loadedSource", json_pack("{s:s, s:o}", "reason", "new", "source", source));
        }
    }
}

/* ---- requests ---- */

json_t *request_source(struct adapter *adapter, const json_t *arguments)
{
    const json_int_t inner = argument_number(json_object_get(arguments, "source"), "sourceReference", 0);
    const json_int_t number = argument_number(arguments, "sourceReference", inner);
    const struct loaded *loaded = find_text(&adapter->session, number != 0 ? number : inner);

    if (!loaded) {
        return adapter_refuse(adapter, "no program has source %lld", (long long)number);
    }
    return json_pack("{s:o, s:s}", "content", wire_text(loaded->source, strlen(loaded->source)), "mimeType",
                     "text/x-opencl-src");
}

json_t *request_loaded_sources(struct adapter *adapter, const json_t *arguments)
{
    json_t *list = json_array();

    (void)arguments;
    for (uint32_t i = 1; i <= adapter->session.texts; i++) {
        json_t *source = text_json(adapter, i);
        if (source) {
            json_array_append_new(list, source);
        }
    }
    return json_pack("{s:o}", "sources", list);
}
