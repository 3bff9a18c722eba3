/* test_routes.c - forwarding tables of a fabric: read in all forms, loads are those of packets that follow the tables link by
 * link, nodes with several cables keep to their nearest, tables that lead nowhere or in circles are refused, and the deadlock
 * certificate is of the tables. */
#include "models/family_graph.h"
#include "models/import/import.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- an InfiniBand fabric: two leaves, two spines, two cables from leaf b to spine d, four hosts ---- */

#define FABRIC                                                                                                         \
    "switchguid=0xa\nSwitch 8 \"S-000000000000000a\" # \"leaf a\" base port 0 lid 1 lmc 0\n"                           \
    "[1] \"H-0000000000000011\"[1](11) # \"n1 HCA-1\" lid 11 4xEDR\n"                                                  \
    "[2] \"H-0000000000000012\"[1](12) # \"n2 HCA-1\" lid 12 4xEDR\n"                                                  \
    "[3] \"S-000000000000000c\"[1] # \"spine c\" lid 3 4xEDR\n[4] \"S-000000000000000d\"[1] # \"spine d\" lid 4 "      \
    "4xEDR\n\n"                                                                                                        \
    "switchguid=0xb\nSwitch 8 \"S-000000000000000b\" # \"leaf b\" base port 0 lid 2 lmc 0\n"                           \
    "[1] \"H-0000000000000013\"[1](13) # \"n3 HCA-1\" lid 13 4xEDR\n"                                                  \
    "[2] \"H-0000000000000014\"[1](14) # \"n4 HCA-1\" lid 14 4xEDR\n"                                                  \
    "[3] \"S-000000000000000c\"[2] # \"spine c\" lid 3 4xEDR\n[4] \"S-000000000000000d\"[2] # \"spine d\" lid 4 "      \
    "4xEDR\n[5] \"S-000000000000000d\"[3] # \"spine d\" lid 4 4xEDR\n\n"                                               \
    "switchguid=0xc\nSwitch 8 \"S-000000000000000c\" # \"spine c\" base port 0 lid 3 lmc 0\n"                          \
    "[1] \"S-000000000000000a\"[3] # \"leaf a\" lid 1 4xEDR\n[2] \"S-000000000000000b\"[3] # \"leaf b\" lid 2 "        \
    "4xEDR\n\n"                                                                                                        \
    "switchguid=0xd\nSwitch 8 \"S-000000000000000d\" # \"spine d\" base port 0 lid 4 lmc 0\n"                          \
    "[1] \"S-000000000000000a\"[4] # \"leaf a\" lid 1 4xEDR\n[2] \"S-000000000000000b\"[4] # \"leaf b\" lid 2 4xEDR\n" \
    "[3] \"S-000000000000000b\"[5] # \"leaf b\" lid 2 4xEDR\n\n"                                                       \
    "caguid=0x11\nCa 1 \"H-0000000000000011\" # \"n1 HCA-1\"\n[1](11) \"S-000000000000000a\"[1] # lid 11 lmc 0 "       \
    "\"leaf a\" lid 1 4xEDR\n\n"

/* Port of each switch (a, b, c, d) for LIDs 11 to 14; n4 goes from leaf a by way of spine d and its third port. */
static const int ports[4][4] = {{1, 2, 3, 4}, {3, 4, 1, 2}, {1, 1, 2, 2}, {1, 1, 2, 3}};

static char *tables(bool colons, const int port[4][4])
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    for (int s = 0; s < 4; s++) {
        if (colons)
            fprintf(f,
                    "dump_ucast_routes: Switch 0x%016x\nLID    : Port : Hops : Optimal\n0x0001 : 000  : 00   : yes\n",
                    0xa + s);
        else
            fprintf(f,
                    "Unicast lids [0x0-0xe] of switch Lid %d guid 0x%016x (switch):\n  Lid  Out   Destination\n"
                    "       Port     Info \n0x0001 000 : (Switch portguid 0xa: 'leaf a')\n",
                    s + 1, 0xa + s);
        for (int l = 0; l < 4; l++)
            fprintf(f, colons ? "0x%04X : %03d  : 01   : yes\n" : "0x%04x %03d : (Channel Adapter portguid 0x1: 'n')\n",
                    11 + l, port[s][l]);
        if (colons)
            fprintf(f, "0x000F : UNREACHABLE\n");
        else
            fprintf(f, "5 valid lids dumped \nMulticast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0x1\n 0xc000 x\n");
    }
    fclose(f);
    return text;
}

struct opened {
    char machine[64], fabric[64], routes[64];
    struct fc_machine m;
    struct fc_network net;
};

static bool opened(const char *format, const char *fabric, const char *routes, struct opened *o, struct fc_status *st)
{
    char yaml[600];
    *st = (struct fc_status){0};
    if (!fc_test_file(o->fabric, ".txt", fabric, strlen(fabric)) ||
        !fc_test_file(o->routes, ".lft", routes, strlen(routes)))
        return false;
    snprintf(yaml, sizeof yaml, "name: r\nnetwork: {family: graph, format: %s, file: %s, routes: %s}\n%s", format,
             o->fabric, o->routes, strcmp(format, "edge-list") ? "" : "links: {link: {bandwidth: 1 GB/s}}\n");
    if (!fc_test_file(o->machine, ".yaml", yaml, strlen(yaml)) || fc_machine_load(o->machine, &o->m, st)) return false;
    if (!fc_network_build(&o->m, &o->net, st)) return true;
    fc_machine_free(&o->m);
    return false;
}

static void closed(struct opened *o, bool open)
{
    remove(o->machine);
    remove(o->fabric);
    remove(o->routes);
    if (!open) return;
    fc_network_free(&o->net);
    fc_machine_free(&o->m);
}

/* ---- loads, by packets that follow the tables ---- */

/* The load of the link out of switch `s` (0 to 3) by `port` when every host sends every other 1 byte. */
static double packets_through(int s, int port)
{
    static const int leaf[4] = {0, 0, 1, 1}, /* of n1 to n4 */
        beyond[4][6] = {{-1, -1, -1, 2, 3, -1}, {-1, -1, -1, 2, 3, 3}, {-1, 0, 1, -1, -1, -1}, {-1, 0, 1, 1, -1, -1}};
    double n = 0;
    for (int src = 0; src < 4; src++)
        for (int dst = 0; dst < 4; dst++)
            for (int at = leaf[src]; src != dst && at >= 0; at = beyond[at][ports[at][dst]])
                n += at == s && ports[at][dst] == port;
    return n;
}

static void loads(void)
{
    for (int colons = 0; colons < 2; colons++) {
        struct opened o;
        struct fc_status st;
        char *routes = tables(colons, ports);
        bool open = opened("ibnetdiscover", FABRIC, routes, &o, &st);
        free(routes);
        if (!open) printf("%s:%ld: %s\n", st.file, st.line, st.message);
        CU_ASSERT_TRUE_FATAL(open);
        CU_ASSERT_STRING_EQUAL(o.m.routing->name, "tables");
        double one[4] = {1, 1, 1, 1}, load[64] = {0};
        CU_ASSERT(!o.m.routing->rank_one(&o.net, one, one, load, &st));
        const struct fc_graph_tables *t = o.net.extra;
        int seen = 0;
        for (uint32_t l = 0; l < o.net.first_link[o.net.n_routers]; l++) {
            const struct fc_cable *c = &fc_graph(&o.net)->cables[t->cable[l]];
            int s = (int)o.net.link_source[l], port = c->router == o.net.link_source[l] ? c->port : c->other_port;
            double expected = packets_through(s, port);
            CU_ASSERT_EQUAL(load[l], expected);
            seen += expected > 0;
        }
        CU_ASSERT_EQUAL(seen, 12); /* not the other cable of b to d, nor d's other two */
        closed(&o, true);
    }
}

/* The formulas are the sum of the walks. */
static void as_walked(const struct fc_network *net)
{
    double *by_walk = calloc(net->n_links, 8), *dense = calloc(net->n_links, 8), *sparse = calloc(net->n_links, 8);
    double *a = calloc(net->n_nodes, 8), *b = calloc(net->n_nodes, 8);
    struct fc_walk walk;
    struct fc_status st = {0};
    const struct fc_routing_ops *r = net->machine->routing;
    CU_ASSERT_FALSE_FATAL(fc_walk_start(&walk, r->walk_capacity(net), &st));
    for (uint32_t n = 0; n < net->n_nodes; n++) a[n] = 1 + n % 3, b[n] = n % 4;
    for (uint32_t s = 0; s < net->n_nodes; s++)
        for (uint32_t d = 0; d < net->n_nodes; d++) {
            double bytes = a[s] * b[d], into = 0;
            if (s == d) continue;
            walk.n = 0;
            r->walk(net, s, d, 1, &walk);
            for (uint32_t i = 0; i < walk.n; i++) {
                by_walk[walk.link[i]] += bytes * walk.weight[i];
                into += net->link_target[walk.link[i]] == fc_node_vertex(net, d) ? walk.weight[i] : 0;
            }
            CU_ASSERT(fc_near(into, 1, 1e-12));
            CU_ASSERT_EQUAL(r->sparse(net, &s, &d, &bytes, 1, sparse, &st), FC_OK);
        }
    CU_ASSERT_EQUAL(r->rank_one(net, a, b, dense, &st), FC_OK);
    for (uint32_t l = 0; l < net->n_links; l++)
        CU_ASSERT(fc_near(dense[l], by_walk[l], 1e-12) && fc_near(sparse[l], by_walk[l], 1e-12));
    fc_walk_free(&walk);
    free(by_walk), free(dense), free(sparse), free(a), free(b);
}

/* Our form; n0 and n1 have a cable to each of two planes, n2 to one. */
#define RAILS                                                                                                          \
    "router a node n0\nrouter p node n0\nrouter b node n1\nrouter p node n1\nrouter b node n2\n"                       \
    "router a router b 1 GB/s 0 s 2\nrouter a router c\nrouter c router b\n"
#define RAIL_TABLES                                                                                                    \
    "# plane p needs no entries but its own\nat p to n0 next n0\nat p to n1 next n1\nat a to n0 next n0\n"             \
    "at a to n1 next b cable 1\nat b to n1 next n1\nat b to n0 next a # the first\nat b to n2 next n2\n"               \
    "at a to n2 next c\nat c to n2 next b\n"
static void rails(void)
{
    struct opened o;
    struct fc_status st;
    struct fc_walk walk;
    char name[300];
    bool open = opened("edge-list", RAILS, RAIL_TABLES, &o, &st);
    if (!open) printf("%s:%ld: %s\n", st.file, st.line, st.message);
    CU_ASSERT_TRUE_FATAL(open);
    CU_ASSERT_FALSE_FATAL(fc_walk_start(&walk, o.m.routing->walk_capacity(&o.net), &st));
    walk.n = 0;
    o.m.routing->walk(&o.net, 0, 1, 1, &walk); /* by plane p: two links */
    double through_p = 0, through_b = 0;
    for (uint32_t i = 0; i < walk.n; i++) {
        fc_link_name(&o.net, walk.link[i], name, sizeof name);
        through_p += strstr(name, "n0->p") ? walk.weight[i] : 0;
        through_b += strstr(name, "a->b") ? walk.weight[i] : 0;
    }
    CU_ASSERT(fc_near(through_p, 1, 1e-12) && through_b == 0);
    walk.n = 0;
    o.m.routing->walk(&o.net, 0, 2, 1, &walk);
    CU_ASSERT_EQUAL_FATAL(walk.n, 4); /* n0 -> a -> c -> b -> n2, although a -> b is shorter */
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&o.net, o.net.link_target[walk.link[1]], name, sizeof name), "c");
    fc_walk_free(&walk);
    as_walked(&o.net);
    closed(&o, true);
}

static void formulas(void)
{
    struct opened o;
    struct fc_status st;
    char *routes = tables(false, ports);
    CU_ASSERT_TRUE_FATAL(opened("ibnetdiscover", FABRIC, routes, &o, &st));
    as_walked(&o.net);
    free(routes);
    closed(&o, true);
}

/* ---- deadlock ---- */

#define RING                                                                                                           \
    "router r0 node n0\nrouter r1 node n1\nrouter r2 node n2\nrouter r3 node n3\nrouter r0 router r1\n"                \
    "router r1 router r2\nrouter r2 router r3\nrouter r3 router r0\n"

/* Round the ring one way; and never from r3 to r0. */
static char *round_ring(bool cut)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    for (int r = 0; r < 4; r++)
        for (int n = 0; n < 4; n++) {
            int next = cut && n < r ? r - 1 : (r + 1) % 4;
            if (r == n)
                fprintf(f, "at r%d to n%d next n%d\n", r, n, n);
            else
                fprintf(f, "at r%d to n%d next r%d\n", r, n, next);
        }
    fclose(f);
    return text;
}

static void deadlock(void)
{
    for (int cut = 0; cut < 2; cut++) {
        struct opened o;
        struct fc_status st;
        struct fc_certificate c;
        char *routes = round_ring(cut);
        CU_ASSERT_TRUE_FATAL(opened("edge-list", RING, routes, &o, &st));
        CU_ASSERT_FALSE_FATAL(fc_certify(&o.net, NULL, &c, &st));
        CU_ASSERT_EQUAL(c.safe, cut);
        fc_certificate_free(&c);
        free(routes);
        closed(&o, true);
    }
}

/* ---- refusals ---- */

static void refusals(void)
{
    static const char all[] = "at a to n0 next n0\nat b to n0 next a\nat a to n1 next b\n";
    static const struct {
        const char *routes, *says;
        long line;
    } cases[] = {
        {"router a node n0\n", "malformed at 'router a node n0' (expected tables of", 1},
        {"0x0001 003 :\n", "malformed at '0x0001 003 :' (expected tables of", 1},
        {"at a to n0 n0\n", "malformed at 'at a to n0 n0' (expected at ROUTER to NODE next ROUTER or NODE)", 1},
        {"at a to n0 next n0 1\n", "malformed at '1' (expected cable N)", 1},
        {"at a to n0 next n0 cable\n", "malformed at 'at a to n0 next n0 cable' (expected a number behind cable)", 1},
        {"at a to n0 next n0 cable 0 0\n", "malformed at '0' (expected the end of the line)", 1},
        {"at a to n0 next n0 cable x\n", "cable", 1},
        {"at q to n0 next n0\n", "'q' is no router of ", 1},
        {"at a to q next n0\n", "'q' is no node of ", 1},
        {"\nat a to n0 next q\n", "'q' is no router, and not that node, of ", 2},
        {"at a to n0 next n1\n", "'n1' is no router, and not that node, of ", 1},
        {"at a to n0 next b cable 1\n", "'a' has 1 cables to 'b' (expected one that counts 1)", 1},
        {"at a to n1 next n1\n", "'a' has 0 cables to 'n1' (expected one that counts 0)", 1},
        {"at a to n0 next n0\nat a to n0 next b\n", "'a' has another entry for node 'n0' already", 2},
        {"Unicast lids [0x0-0x3] of switch Lid 2 guid 0x5 (x):\n", "switch 0x5 is not in ", 1},
        {"Unicast lids [0x0-0x3] of switch Lid 2\n", "(expected the GUID of a switch)", 1},
        {all, "nothing leads from 'n0' to 'n1': 'b' has no entry for it", 0},
        {"at a to n0 next n0\nat b to n0 next a\nat a to n1 next b\nat b to n1 next a\n",
         "from 'n0' to 'n1' packets go round in a circle, through 'a'", 0},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct opened o;
        struct fc_status st;
        bool open =
            opened("edge-list", "router a node n0\nrouter b node n1\nrouter a router b\n", cases[i].routes, &o, &st);
        CU_ASSERT_FALSE(open);
        if (!strstr(st.message, cases[i].says) || st.line != cases[i].line || strcmp(st.file, o.routes))
            printf("%zu: %s:%ld: %s\n", i, st.file, st.line, st.message);
        CU_ASSERT_PTR_NOT_NULL(strstr(st.message, cases[i].says));
        CU_ASSERT(st.line == cases[i].line && !strcmp(st.file, o.routes));
        closed(&o, open);
    }
    static const struct {
        int s, lid, port;
        const char *says;
    } wrong[] = {{0, 2, 7, "LID 13 (node 'n3') leaves 'leaf a' by port 7, which has no cable in "},
                 {2, 3, 1, "from 'n1' to 'n4' packets go round"},
                 {1, 2, 2, "nothing leads from 'n1' to 'n3': 'leaf b' has no entry for it, or one to another node"},
                 {1, 2, 255, "nothing leads from 'n1' to 'n3'"}};
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        struct opened o;
        struct fc_status st;
        int port[4][4];
        memcpy(port, ports, sizeof port);
        port[wrong[i].s][wrong[i].lid] = wrong[i].port;
        if (i == 1) port[0][3] = 3;
        char *routes = tables(i % 2, port);
        bool open = opened("ibnetdiscover", FABRIC, routes, &o, &st);
        CU_ASSERT_FALSE(open);
        if (!strstr(st.message, wrong[i].says)) printf("%zu: %s:%ld: %s\n", i, st.file, st.line, st.message);
        CU_ASSERT_PTR_NOT_NULL(strstr(st.message, wrong[i].says));
        free(routes);
        closed(&o, open);
    }
    struct fc_machine m;
    struct fc_network net;
    struct fc_status st = {0};
    static const char *const lists[] = {"[]", "\"\"", "\"a,,b\""};
    char edges[64], yaml[300];
    CU_ASSERT_TRUE_FATAL(fc_test_file(edges, ".edges", RING, strlen(RING)));
    for (size_t i = 0; i < FC_COUNT(lists); i++) {
        st = (struct fc_status){0};
        snprintf(
            yaml, sizeof yaml,
            "name: t\nnetwork: {family: graph, format: edge-list, file: %s, routes: %s}\nlinks: {link: {bandwidth: 1 "
            "GB/s}}\n",
            edges, lists[i]);
        CU_ASSERT_EQUAL(fc_test_machine(yaml, &m, &st), FC_INPUT);
        CU_ASSERT(strstr(st.message, "network.routes: an empty name") && st.line == 2);
    }
    remove(edges);
    st = (struct fc_status){0};
    CU_ASSERT_TRUE_FATAL(fc_test_network("tests/fabrics/tree.yaml", &m, &net));
    CU_ASSERT(!fc_routing_takes(&fc_routing_tables, &m) && fc_routing_takes(&fc_routing_shortest, &m));
    CU_ASSERT_EQUAL(fc_machine_route(&m, "tables", &st), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "routing 'tables': network.routes is missing"));
    fc_test_close(&m, &net);
}

static void with_escape(void)
{
    struct opened o;
    struct fc_status st;
    char *routes = round_ring(true);
    CU_ASSERT_TRUE_FATAL(opened("edge-list", RING, routes, &o, &st));
    for (int escape = FC_ESCAPE_HOPS; escape <= FC_ESCAPE_UPDOWN; escape++) {
        st = (struct fc_status){0};
        o.m.router.escape = escape;
        CU_ASSERT_EQUAL(fc_machine_route(&o.m, "tables", &st), FC_INPUT);
        CU_ASSERT_PTR_NOT_NULL(
            strstr(st.message, "router.escape: hops, layers and updown are rules of other routings"));
    }
    free(routes);
    closed(&o, true);
}

/* ---- import ---- */

static void imported(void)
{
    char fabric[64], folder[] = "/tmp/fc_routes_XXXXXX", yaml[64], words[2048], lft[2][64];
    struct fc_status st = {0};
    char *routes = tables(false, ports),
         *second = strstr(routes + 10, "Unicast"); /* a file a switch, as ibroute writes */
    CU_ASSERT_TRUE_FATAL(fc_test_file(fabric, ".txt", FABRIC, strlen(FABRIC)) && mkdtemp(folder) != NULL);
    CU_ASSERT_TRUE_FATAL(fc_test_file(lft[0], ".a", routes, (size_t)(second - routes)));
    CU_ASSERT_TRUE_FATAL(fc_test_file(lft[1], ".b", second, strlen(second)));
    snprintf(yaml, sizeof yaml, "%s/site.yaml", folder);
    const char *files[] = {lft[0], fabric, lft[1]};
    if (fc_machine_import("opensm-routes", files, 3, yaml, words, sizeof words, &st)) printf("%s\n", st.message);
    CU_ASSERT_EQUAL(st.code, FC_OK);
    struct fc_machine m;
    CU_ASSERT_FALSE_FATAL(fc_machine_load(yaml, &m, &st));
    CU_ASSERT(!strcmp(m.routing->name, "tables") && fc_machine_graph(&m)->n_ends == 4);
    CU_ASSERT_PTR_NOT_NULL(strstr(words, "kept as a graph"));
    fc_machine_free(&m);
    CU_ASSERT_EQUAL(fc_machine_import("opensm-routes", files, 2, yaml, words, sizeof words, &st), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "nothing leads from"));
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_machine_import("opensm-routes", files + 1, 1, yaml, words, sizeof words, &st), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "no forwarding tables"));
    const char *two[] = {fabric, fabric};
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_machine_import("opensm-routes", two, 2, yaml, words, sizeof words, &st), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "holds no forwarding tables"));
    st = (struct fc_status){0};
    const char *none[] = {lft[0], lft[1]};
    CU_ASSERT_EQUAL(fc_machine_import("opensm-routes", none, 2, yaml, words, sizeof words, &st), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "no file of the fabric"));
    free(routes);
    remove(yaml), remove(fabric), remove(lft[0]), remove(lft[1]);
    rmdir(folder);
}

int suite_routes(void)
{
    static const CU_TestInfo tests[] = {
        {"loads are those of packets that follow the tables", loads},
        {"formulas are the sum of the walks", formulas},
        {"nodes with several cables", rails},
        {"deadlock certificate of the tables", deadlock},
        {"refusals", refusals},
        {"rules of shortest paths", with_escape},
        {"import", imported},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("routes", tests);
}
