/* machine_save.c - a machine file written with some of its keys changed: the YAML document as it was read, and as fc_machine_set
 * changes it. Comments are lost. */
#include "core/yaml_file.h"
#include "models/machine_files.h"
#include "models/machine_set.h"

static int write_to(void *out, unsigned char *text, size_t size)
{
    return fwrite(text, 1, size, out) == size;
}

/* Takes the document over, also when it fails. */
static enum fc_code emit(yaml_document_t *document, FILE *out, struct fc_status *st)
{
    yaml_emitter_t emitter;
    if (!yaml_emitter_initialize(&emitter)) {
        yaml_document_delete(document);
        return fc_out_of_memory(st, "writing a machine file");
    }
    yaml_emitter_set_output(&emitter, write_to, out);
    yaml_emitter_set_width(&emitter, 120);
    yaml_emitter_set_unicode(&emitter, 1);
    if (!yaml_emitter_open(&emitter) || !yaml_emitter_dump(&emitter, document) || !yaml_emitter_close(&emitter))
        fc_out_of_memory(st, "writing a machine file");
    yaml_emitter_delete(&emitter);
    return st->code;
}

enum fc_code fc_machine_save(const char *name_or_path, const char *const *settings, size_t n_settings,
                             const char *heading, const char *path, struct fc_status *st)
{
    char from[1200];
    struct fc_text text;
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_yaml yaml;
    struct fc_output out = {0};
    if (!fc_machine_locate(name_or_path, from, sizeof from, &arena, st) && !fc_read_file(from, &arena, &text, st) &&
        !fc_yaml_read(&yaml, &text, text.file, " (expected one machine a file)", st)) {
        for (size_t i = 0; i < n_settings && !st->code; i++) fc_machine_set(&yaml.document, settings[i], i, st);
        if (st->code || fc_output_open(&out, path, st))
            fc_yaml_free(&yaml);
        else if (fputs(heading ? heading : "", out.stream), !emit(&yaml.document, out.stream, st))
            fc_output_close(&out, st);
        fc_output_abandon(&out);
    }
    return st->code;
}
