/* graph_checks.h - what the tests of fabric files share: machines whose fabric file is a text, and counts. */
#pragma once

#include "models/family_graph.h"
#include "tests/network_checks.h"

extern const struct fc_routing_ops fc_routing_shortest;

/* A machine whose fabric file holds `text`. */
static inline enum fc_code graph_machine(const char *format, const char *text, const char *more,
                                         struct fc_machine *machine, struct fc_status *st)
{
    char path[64], yaml[512];
    if (!fc_test_file(path, ".txt", text, strlen(text))) return fc_refuse(st, FC_NO, "cannot write %s", path);
    snprintf(yaml, sizeof yaml, "name: g\nclock: 500 MHz\nnetwork: {family: graph, file: %s, format: %s}\n%s", path,
             format, more);
    enum fc_code code = fc_test_machine(yaml, machine, st);
    unlink(path);
    return code;
}

static inline bool graph_of(const char *format, const char *text, const char *more, struct fc_machine *machine,
                            struct fc_network *net)
{
    struct fc_status st = {0};
    enum fc_code code = graph_machine(format, text, more, machine, &st);
    if (!code && fc_network_build(machine, net, &st)) fc_machine_free(machine);
    if (st.code) printf("\n    %s:%ld: %s\n", st.file, st.line, st.message);
    CU_ASSERT_EQUAL(st.code, FC_OK);
    return st.code == FC_OK;
}

static inline void refused_text(const char *format, const char *text, const char *part)
{
    struct fc_machine machine;
    struct fc_status st = {0};
    if (graph_machine(format, text, "links: {link: {bandwidth: 1 GB/s}}\n", &machine, &st) == FC_OK)
        fc_machine_free(&machine);
    CU_ASSERT(fc_says(&st, FC_INPUT, part));
}

static inline uint32_t vertex_named(const struct fc_network *net, const char *name)
{
    char text[300];
    for (uint32_t v = 0; v < net->n_vertices; v++)
        if (!strcmp(fc_vertex_name(net, v, text, sizeof text), name)) return v;
    CU_FAIL_FATAL("no vertex of that name");
    return FC_NONE;
}

static inline uint32_t degree(const struct fc_network *net, uint32_t v)
{
    return net->first_link[v + 1] - net->first_link[v];
}

/* Cables between routers, and to nodes. */
static inline void count_cables(const struct fc_network *net, uint32_t *inner, uint32_t *outer)
{
    *inner = *outer = 0;
    for (uint32_t l = 0; l < net->n_links; l++)
        if (fc_is_node(net, net->link_source[l]))
            (*outer)++;
        else if (!fc_is_node(net, net->link_target[l]))
            (*inner)++;
    *inner /= 2;
}

static inline uint32_t class_cables(const struct fc_network *net, const char *name)
{
    uint32_t n = 0;
    for (uint32_t l = 0; l < net->n_links; l++) n += !strcmp(net->machine->classes[net->link_class[l]].name, name);
    return n / 2;
}

static inline double class_bandwidth(const struct fc_network *net, const char *name)
{
    for (int c = 0; c < net->machine->n_classes; c++)
        if (!strcmp(net->machine->classes[c].name, name)) return net->machine->classes[c].bandwidth_bytes_per_s;
    return 0;
}
