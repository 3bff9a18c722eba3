/* test_fabrics.c - InfiniBand fabrics as ibnetdiscover writes them: grammar, refusals, and real dumps where
 * at hand. */
#include "tests/graph_checks.h"

#include <sys/stat.h>

#define REAL "../shared/reference/fabrics/"

static void rails(void)
{
    struct fc_machine machine;
    struct fc_network net;
    uint32_t inner, outer;
    char text[300];
    if (!fc_test_network("tests/fabrics/rails_ndr.yaml", &machine, &net)) return;
    const struct fc_graph_shape *s = fc_graph(&net);
    CU_ASSERT(net.n_nodes == 4 && net.n_routers == 4 && s->n_aggregation == 4 && s->n_unnamed == 1);
    count_cables(&net, &inner, &outer);
    CU_ASSERT(inner == 8 && outer == 8);
    for (uint32_t i = 0; i < net.n_nodes; i++) CU_ASSERT_EQUAL(degree(&net, fc_node_vertex(&net, i)), 2);
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&net, fc_node_vertex(&net, 1), text, sizeof text), "gpu02");
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&net, fc_node_vertex(&net, 3), text, sizeof text), "gpu10");
    uint32_t leaf = vertex_named(&net, "MF0;leaf1:TEST/U1"), gpu = vertex_named(&net, "gpu09");
    CU_ASSERT_STRING_EQUAL(fc_link_name(&net, fc_find_link(&net, gpu, leaf), text, sizeof text),
                           "4xNDR gpu09[1]->MF0;leaf1:TEST/U1[3]");
    CU_ASSERT(machine.classes[0].bandwidth_bytes_per_s == 50e9 && machine.classes[0].latency_s == 100e-9);
    network_is_sound(&net);
    loads_agree_always(&net, &fc_routing_shortest, 1);
    fc_test_close(&machine, &net);
}

static void unnamed_adapters(void)
{
    char directory[1024], yaml[1400];
    struct fc_machine machine;
    struct fc_network net;
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(directory, sizeof directory));
    snprintf(yaml, sizeof yaml,
             "name: n\nnetwork: {family: graph, file: %s/tests/fabrics/rails_ndr.txt, format: ibnetdiscover, "
             "unnamed: node}\n",
             directory);
    if (!fc_test_network(yaml, &machine, &net)) return;
    CU_ASSERT(net.n_nodes == 5 && fc_graph(&net)->n_unnamed == 1);
    CU_ASSERT_EQUAL(degree(&net, vertex_named(&net, "H-0a11ce0000000011")), 1);
    loads_agree_always(&net, &fc_routing_shortest, 2);
    fc_test_close(&machine, &net);
}

/* A degraded cable is a class of its own and gets its full part of the traffic, so it is what binds. */
static void degraded(void)
{
    struct fc_machine machine;
    struct fc_network net;
    uint32_t inner, outer;
    if (!fc_test_network("tests/fabrics/degraded_edr.yaml", &machine, &net)) return;
    count_cables(&net, &inner, &outer);
    CU_ASSERT(net.n_nodes == 9 && net.n_routers == 5 && inner == 12 && outer == 9);
    CU_ASSERT(class_cables(&net, "4xDDR") == 1 && class_cables(&net, "4xQDR") == 1 &&
              class_cables(&net, "4xEDR") == 19);
    CU_ASSERT_EQUAL(class_bandwidth(&net, "4xEDR"), 12.5e9);
    CU_ASSERT_EQUAL(class_bandwidth(&net, "4xDDR"), 2e9);
    CU_ASSERT_EQUAL(class_bandwidth(&net, "4xQDR"), 3.9e9); /* the machine file overrides */
    vertex_named(&net, "S-0a11ce0000000001");               /* all five switches share a description */
    network_is_sound(&net);
    loads_agree_always(&net, &fc_routing_shortest, 3);
    double *ones = malloc(9 * sizeof *ones), *load = calloc(net.n_links, sizeof *load), slowest = 0;
    struct fc_status st = {0};
    for (int i = 0; i < 9; i++) ones[i] = 1;
    CU_ASSERT_EQUAL(fc_routing_shortest.rank_one(&net, ones, ones, load, &st), FC_OK);
    for (uint32_t l = 0; l < net.n_links; l++) {
        bool uplink = !fc_is_node(&net, net.link_source[l]) && !fc_is_node(&net, net.link_target[l]);
        CU_ASSERT_DOUBLE_EQUAL(load[l], uplink ? 3 * 6 / 4.0 : 8, 1e-12);
        slowest = fmax(slowest, load[l] / fc_link_bandwidth(&net, l));
    }
    CU_ASSERT_DOUBLE_EQUAL(slowest, 4.5 / 2e9, 1e-20);
    free(ones), free(load);
    fc_test_close(&machine, &net);
}

/* The short form that ibsim reads, a switch that was not queried, and an adapter without a record. */
static void short_forms(void)
{
    static const char *const text = "Switch 8 \"one\"\n[1] \"Hca1\"[1]\n[3]\t\"two\"[3]\n[5] \"two\"[5] # comment\n\n"
                                    "Switch\t8 \"two\"\r\n[1] \"Hca2\"[2]\r\n[3] \"one\"[3]\n[5] \"one\"[5]\n"
                                    "[7][ext 2]\t\"S-77\"[20]\t# \"far away\" lid 3 1xSDR s=1 w=1 v=4\n"
                                    "[8]\t\"H-88\"[1][ext 1](88)\t# \"host8 hfi1_0\" lid 4 12xXDR (scp)\n\n"
                                    "Chassis 1 (guid 0x1)\nHostname: x\n"
                                    "Hca 2 \"Hca1\"\n[1](99) \"one\"[1]\n\nHca 2 \"Hca2\"\n[2] \"two\"[1]\n";
    struct fc_machine machine;
    struct fc_network net;
    uint32_t inner, outer;
    if (!graph_of("ibnetdiscover", text, "links: {link: {bandwidth: 1 GB/s}}\n", &machine, &net)) return;
    count_cables(&net, &inner, &outer);
    CU_ASSERT(net.n_routers == 3 && net.n_nodes == 3 && inner == 3 && outer == 3);
    CU_ASSERT_EQUAL(degree(&net, vertex_named(&net, "far away")), 1);
    CU_ASSERT_EQUAL(degree(&net, vertex_named(&net, "host8")), 1);
    CU_ASSERT(class_cables(&net, "link") == 4 && class_bandwidth(&net, "1xSDR") == 0.25e9);
    CU_ASSERT_EQUAL(class_bandwidth(&net, "12xXDR"), 300e9);
    fc_test_close(&machine, &net);
}

/* Data rates: fact sheets of the InfiniBand Trade Association, 4 lanes, in Gb/s. */
static void data_rates(void)
{
    static const struct {
        const char *name;
        double gigabits;
    } rates[] = {{"4xSDR", 8},   {"4xDDR", 16},  {"4xQDR", 32},  {"4xFDR10", 40}, {"4xFDR", 54.545454545454545},
                 {"4xEDR", 100}, {"4xHDR", 200}, {"2xHDR", 100}, {"4xNDR", 400},  {"4xXDR", 800}};
    for (size_t i = 0; i < FC_COUNT(rates); i++) {
        char text[300];
        struct fc_machine machine;
        struct fc_network net;
        snprintf(text, sizeof text, "Switch 2 \"S-1\"\n[1] \"H-2\"[1] # \"a HCA-1\" lid 1 %s\n", rates[i].name);
        if (!graph_of("ibnetdiscover", text, "", &machine, &net)) continue;
        CU_ASSERT_DOUBLE_EQUAL(class_bandwidth(&net, rates[i].name), rates[i].gigabits * 1e9 / 8, 1e-6);
        fc_test_close(&machine, &net);
    }
}

static void ibnetdiscover_refusals(void)
{
    static const char ib[] = "ibnetdiscover";
#define SWITCH "Switch 4 \"S-1\"\n"
    struct fc_status st = {0};
    struct fc_machine machine;
    fc_machine_load("tests/fabrics/malformed.yaml", &machine, &st);
    CU_ASSERT(fc_says(&st, FC_INPUT, "tests/fabrics/malformed.txt:13: malformed at '1(0a11ce"));
    refused_text(ib, "", "has no nodes");
    refused_text(ib, "[1] \"H-2\"[1]\n", ":1: malformed");
    refused_text(ib, SWITCH "\n[1] \"H-2\"[1]\n", ":3: malformed");
    refused_text(ib, "Switch four \"S-1\"\n", ":1: number of ports: 'four' is not an integer");
    refused_text(ib, "Switch -4 \"S-1\"\n", "out of range");
    refused_text(ib, "Switch 9223372036854775808 \"S-1\"\n", "out of range");
    refused_text(ib, "Switch 4 S-1\n", ":1: malformed at 'S-1' (expected a device in quotes)");
    refused_text(ib, "Switch 4 \"S-1\n", "a device in quotes");
    refused_text(ib, "Switch 4 \"\"\n", "a name of 0 bytes");
    refused_text(ib, "Switch 4 \"S-1\" more\n", "# or the end of the line");
    refused_text(ib, "Bridge 4 \"S-1\"\n", "expected Switch, Ca");
    refused_text(ib, "\x1f\x8b", "the compressed data is cut in the middle");
    refused_text(ib, SWITCH "[0] \"H-2\"[1]\n", ":2: port: '0' is out of range");
    refused_text(ib, SWITCH "[-1] \"H-2\"[1]\n", "out of range");
    refused_text(ib, SWITCH "[9223372036854775808] \"H-2\"[1]\n", "out of range");
    refused_text(ib, SWITCH "[5] \"H-2\"[1]\n", ":2: port 5 of a device of 4 ports");
    refused_text(ib, SWITCH "[1 \"H-2\"[1]\n", "expected [PORT]");
    refused_text(ib, SWITCH "[1] \"H-2\"\n", "expected [PORT]");
    refused_text(ib, SWITCH "[1] \"H-2\"[1](2\n", "expected (GUID)");
    refused_text(ib, SWITCH "[1] \"H-2\"[1] lid 3\n", "# or the end of the line");
    refused_text(ib, SWITCH "[1] \"X-2\"[1]\n", ":2: device 'X-2' is cabled but has no record");
    refused_text(ib, SWITCH "[1] \"H-2\"[1]\n[1] \"H-3\"[1]\n", ":3: port 1 is listed already on line 2");
    refused_text(ib, SWITCH "[1] \"S-1\"[2]\n[2] \"S-1\"[1]\n", "to itself");
    refused_text(ib, SWITCH "\n" SWITCH, ":3: device 'S-1' has a record already on line 1");
    refused_text(ib, "Ca 1 \"H-1\"\n[1] \"H-2\"[1]\n", "two adapters");
    refused_text(ib, "Ca 1 \"H-1\"\n", "node 'H-1' has no cable");
    refused_text(ib, "Switch 1 \"S-1\" # \"S-2\"\n\nSwitch 1 \"S-2\"\n", ":3: 'S-2' is the description of one");
    refused_text(ib, SWITCH "[1] \"H-2\"[1]\n\nCa 2 \"H-2\"\n[1] \"S-1\"[2]\n",
                 ":2: 'S-1' port 1 is cabled to 'H-2' port 1, but");
    refused_text(ib, SWITCH "[1] \"H-2\"[1]\n[2] \"H-2\"[1]\n", ":3: 'H-2' port 1 is cabled already on line 2");
    refused_text(ib, SWITCH "[1] \"S-2\"[1]\n\nSwitch 4 \"S-2\"\n[2] \"H-3\"[1]\n", "does not list");
    refused_text(ib, SWITCH "[1] \"H-2\"[2]\n\nCa 1 \"H-2\"\n", "does not list");
    refused_text(ib, SWITCH "[1] \"H-2\"[1] # 4xEDR\n\nCa 1 \"H-2\"\n[1] \"S-1\"[1] # 4xQDR\n",
                 ":2: this end of the cable runs at 4xEDR, line 5 says 4xQDR");
    refused_text(ib, SWITCH "[1] \"H-2\"[1] # \"localhost HCA-1\"\n[2] \"H-3\"[1] # \"localhost HCA-1\"\n",
                 ":3: a second adapter is called 'localhost HCA-1' (the first is on line 2)");
    refused_text(ib, SWITCH "[1] \"H-2\"[1] # \"MT1 ConnectX   Mellanox Technologies\" lid 3 4xEDR\n",
                 "none of the 1 adapters tells its host");
    refused_text(ib, SWITCH "[1] \"H-2\"[1] # \"a\xff HCA-1\" lid 3 4xEDR\n", "not printable");
    refused_text(ib, SWITCH "[1] \"H-2\"[1] # \"a HCA-1\" lid 3 4x?\?\?\n", "(it has: 4x?\?\?, injection)");
    refused_text(ib,
                 "Switch 20 \"S-1\"\n[1] \"S-2\"[1] # 1xA\n[2] \"S-2\"[2] # 1xB\n[3] \"S-2\"[3] # 1xC\n"
                 "[4] \"S-2\"[4] # 1xD\n[5] \"S-2\"[5] # 1xE\n[6] \"S-2\"[6] # 1xF\n[7] \"S-2\"[7] # 1xG\n"
                 "[8] \"S-2\"[8] # 1xH\n[9] \"S-2\"[9] # 1xI\n[10] \"S-2\"[10] # 1xJ\n[11] \"S-2\"[11] # 1xK\n"
                 "[12] \"S-2\"[12] # 1xL\n[13] \"S-2\"[13] # 1xM\n[14] \"S-2\"[14] # 1xN\n[15] \"S-2\"[15] # 1xO\n"
                 "[16] \"S-2\"[16] # 1xP\n",
                 "'1xP' is one kind of link too many");
#undef SWITCH
}

static const char one_class[] = "links: {link: {bandwidth: 1 GB/s}}\n";

/* ---- real fabrics ---- */

struct real {
    const char *file, *format;
    uint32_t nodes, routers, inner, outer, aggregation, unnamed;
    bool connected;
    const char *class, *other_class; /* cables of two classes */
    uint32_t class_cables, other_cables;
};
/* Counted in the files by an independent script; one host of the second has both ports cabled. */
static const struct real reals[] = {
    {"ibnetdiscover/cluster_edr_6sw_96ca_degraded.txt", "ibnetdiscover", 96, 6, 48, 96, 0, 0, true, "4xEDR", "4xDDR",
     143, 1},
    {"ibnetdiscover/cluster_qdr_fdr10_8sw_144ca.txt", "ibnetdiscover", 144, 8, 47, 145, 0, 0, true, "4xQDR", "4xFDR10",
     145, 47},
    {"ibnetdiscover/dgx_ndr_40sw_582ca.txt.gz", "ibnetdiscover", 122, 40, 532, 473, 40, 69, true, "4xNDR", NULL, 1005,
     0},
    {"ibnetdiscover/kary_4_3_128.txt.gz", "ibnetdiscover", 128, 80, 256, 128, 0, 0, true, "4xEDR", NULL, 384, 0},
    {"ibnetdiscover/ibsim_net.2sw2path4hca", "ibnetdiscover", 4, 2, 2, 4, 0, 0, true, "link", NULL, 6, 0},
    {"slurm/janus_topology.conf", "slurm-topology", 1368, 80, 231, 1368, 0, 0, true, "link", NULL, 1599, 0},
    {"slurm/curc_summit_opa_topology.conf", "slurm-topology", 508, 25, 128, 508, 0, 0, false, "link", NULL, 636, 0},
    {"slurm/circe_superpod_topology.conf", "slurm-topology", 79, 5, 0, 80, 0, 0, false, "link", NULL, 80, 0},
};

static bool real_network(const struct real *real, struct fc_machine *machine, struct fc_network *net)
{
    char yaml[1400], directory[900], path[64] = "", command[1400];
    bool packed = strlen(real->file) > 3 && !strcmp(real->file + strlen(real->file) - 3, ".gz");
    if (!getcwd(directory, sizeof directory)) return false;
    if (packed) {
        if (!fc_test_file(path, ".txt", "", 0)) return false;
        snprintf(command, sizeof command, "gzip -dc '" REAL "%s' > %s", real->file, path);
        CU_ASSERT_EQUAL(system(command), 0);
        snprintf(yaml, sizeof yaml, "name: r\nnetwork: {family: graph, file: %s, format: %s}\n", path, real->format);
    } else {
        snprintf(yaml, sizeof yaml, "name: r\nnetwork: {family: graph, file: %s/" REAL "%s, format: %s}\n", directory,
                 real->file, real->format);
    }
    if (!strcmp(real->class, "link")) strcat(yaml, one_class);
    bool done = fc_test_network(yaml, machine, net);
    if (packed) unlink(path);
    return done;
}

static void real_fabrics(void)
{
    struct stat info;
    if (stat(REAL, &info) != 0) {
        printf("(skipped: no real fabric files at " REAL ") ");
        return;
    }
    for (size_t i = 0; i < FC_COUNT(reals); i++) {
        const struct real *real = &reals[i];
        struct fc_machine machine;
        struct fc_network net;
        struct fc_facts facts;
        struct fc_status st = {0};
        uint32_t inner, outer;
        if (!real_network(real, &machine, &net)) continue;
        count_cables(&net, &inner, &outer);
        CU_ASSERT_EQUAL(net.n_nodes, real->nodes);
        CU_ASSERT_EQUAL(net.n_routers, real->routers);
        CU_ASSERT_EQUAL(inner, real->inner);
        CU_ASSERT_EQUAL(outer, real->outer);
        CU_ASSERT_EQUAL(fc_graph(&net)->n_aggregation, real->aggregation);
        CU_ASSERT_EQUAL(fc_graph(&net)->n_unnamed, real->unnamed);
        CU_ASSERT_EQUAL(class_cables(&net, real->class), real->class_cables);
        if (real->other_class) CU_ASSERT_EQUAL(class_cables(&net, real->other_class), real->other_cables);
        CU_ASSERT_EQUAL(fc_network_facts(&net, &facts, &st), FC_OK);
        CU_ASSERT_EQUAL(isfinite(facts.diameter_hops) != 0, real->connected);
        if (real->connected && real->nodes < 1000) {
            double *ones = malloc(net.n_nodes * sizeof *ones);
            for (uint32_t n = 0; n < net.n_nodes; n++) ones[n] = 1;
            loads_agree(&net, &fc_routing_shortest, ones, ones);
            free(ones);
        }
        fc_test_close(&machine, &net);
    }
}

int suite_fabrics(void)
{
    static const CU_TestInfo tests[] = {
        {"ibnetdiscover: rails, reduction engines, adapters without a host", rails},
        {"ibnetdiscover: adapters without a host as nodes", unnamed_adapters},
        {"ibnetdiscover: a degraded cable", degraded},
        {"ibnetdiscover: short forms and one-sided cables", short_forms},
        {"ibnetdiscover: data rates", data_rates},
        {"ibnetdiscover: refusals", ibnetdiscover_refusals},
        {"real fabrics", real_fabrics},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("fabrics", tests);
}
