/* import.h - machine files of networks that a site has: topology files read, and the shape recognised (import.c). */
#ifndef FC_MODELS_IMPORT_H
#define FC_MODELS_IMPORT_H

#include "models/models.h"

/* What a graph turned out to be: the shape as keys of a family, and where its nodes stand there. */
struct fc_recognised {
    struct fc_arena arena;
    const char *family; /* NULL: nothing but a graph */
    char keys[300];     /* lines below `network:` */
    char words[300];    /* for people */
    int class_of[4];    /* link class of the graph for each of `classes`, n_classes; -1: it has none such */
    const char *classes[4];
    uint32_t times[4]; /* so many parallel cables are one link of that class; 0: one */
    int n_classes;
    const char *cables,
        *cables_key;    /* lines of a file of their own, and the key below `network:` that names it; NULL: none */
    const char *router; /* keys below `router:`; NULL: those of every machine */
    uint32_t *node;     /* [n_nodes] the graph's node that is number i of the shape */
};
/* A k-ary n-cube: every router has the same nodes, one cable each, and is linked to 2 n others as on a torus of sides of three
 * or more, as many parallel cables along a dimension. Exact: the graph is the torus, not only like it. O(links) for each of at
 * most 105 ways to pair the links of one router. */
enum fc_code fc_recognise_torus(const struct fc_network *net, struct fc_recognised *r, struct fc_status *st);
/* An extended generalised fat-tree of one to three levels, every node on one leaf switch. Exact as above. O(links log links). */
enum fc_code fc_recognise_fat_tree(const struct fc_network *net, struct fc_recognised *r, struct fc_status *st);

/* A dragonfly, or another two-level network of groups that are alike (recognise_dragonfly.c). Exact as above. O(links x classes^2),
 * where all links are of one class O(links x links of a router^2). */
enum fc_code fc_recognise_dragonfly(const struct fc_network *net, struct fc_recognised *r, struct fc_status *st);

/* A dragonfly by the component names of a Cray's nodes in `file`: the machine file behind the lines `head`, and its hosts in their
 * order (import_xname.c). What it is goes to words[size], a line each. FC_INPUT with the place in the file. */
enum fc_code fc_import_xnames(const char *file, const char *hosts_file, const char *head, FILE *machine, FILE *hosts,
                              char *words, size_t size, struct fc_status *st);

/* Reads files[n] of a kind (perhaps compressed) and writes the machine file `path` (NAME.yaml). Kinds slurm, ibnetdiscover and
 * edges take one file, and with forwarding tables beside it (fc_read_routes) several; opensm-routes is ibnetdiscover's file and
 * such tables; cray-xname a list of router tiles, or one of nodes. The machine is of a family where the graph is exactly of its kind, with the hosts in NAME.hosts; else, and with
 * tables, a graph that reads the files. What it is, and what the files do not tell, goes to words[size], a line each. Figures that
 * they lack are placeholders, marked. Both files are written whole or none. FC_INPUT: an unknown kind, a file that cannot be
 * read so. */
enum fc_code fc_machine_import(const char *kind, const char *const *files, size_t n, const char *path, char *words,
                               size_t size, struct fc_status *st);

#endif
