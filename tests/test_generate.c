/* test_generate.c - networks made by a rule: sizes, degrees and distances against the papers' closed forms, files that read
 * back, the same seed the same bytes, refusals. */
#include "models/family_graph.h"
#include "models/demand_build.h"
#include "models/generate/generate.h"
#include "solvers/solvers.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Makes the network in a folder of its own and opens it; the files are removed again. */
static bool generated(const char *text, struct fc_machine *machine, struct fc_network *net, struct fc_status *st)
{
    char folder[] = "/tmp/fc_generate_XXXXXX", path[64], edges[64];
    bool made = mkdtemp(folder) != NULL;
    snprintf(path, sizeof path, "%s/m.yaml", folder);
    snprintf(edges, sizeof edges, "%s/m.edges", folder);
    made = made && !fc_machine_generate(text, path, st) && !fc_machine_load(path, machine, st);
    if (made && fc_network_build(machine, net, st)) {
        fc_machine_free(machine);
        made = false;
    }
    CU_ASSERT(made || access(path, F_OK));
    unlink(path);
    unlink(edges);
    rmdir(folder);
    return made;
}

/* Every router has `links` to routers and `nodes` nodes; two nodes are at most `hops` apart, and some are (0: any). */
static void regular(const char *text, uint32_t routers, uint32_t links, uint32_t nodes, uint32_t hops)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    struct fc_certificate certificate;
    struct fc_facts facts;
    if (!generated(text, &machine, &net, &st)) {
        printf("%s: %s\n", text, st.message);
        CU_FAIL("not made");
        return;
    }
    CU_ASSERT(net.n_routers == routers && net.n_nodes == routers * nodes);
    for (uint32_t r = 0; r < net.n_routers; r++) {
        uint32_t to_routers = 0, all = net.first_link[r + 1] - net.first_link[r];
        for (uint32_t l = net.first_link[r]; l < net.first_link[r + 1]; l++)
            to_routers += !fc_is_node(&net, net.link_target[l]) && net.link_target[l] != r;
        CU_ASSERT(to_routers == links && all == links + nodes);
    }
    CU_ASSERT_EQUAL(fc_network_facts(&net, &facts, &st), FC_OK);
    CU_ASSERT(hops == 0 ? isfinite(facts.diameter_hops) : facts.diameter_hops == hops);
    /* The file's own channels suffice for its own rule. */
    CU_ASSERT_EQUAL(fc_certify(&net, NULL, &certificate, &st), FC_OK);
    CU_ASSERT(certificate.safe && certificate.enough && !strcmp(certificate.policy, "hops"));
    CU_ASSERT_EQUAL(certificate.n_vcs, facts.diameter_hops);
    fc_certificate_free(&certificate);
    fc_test_close(&machine, &net);
}

static void hyperx(void)
{
    regular("hyperx:dims=10x10,nodes=10", 100, 18, 10, 2);
    regular("hyperx:dims=5x4x3,nodes=2", 60, 4 + 3 + 2, 2, 3);
    regular("hyperx:dims=7,nodes=3", 7, 6, 3, 1);
}

/* Besta & Hoefler, SC'14, table and section 3: 2 q^2 routers of (3 q - delta) / 2 links, diameter 2; delta -1, 0, 1, fields of
 * primes and of their powers. */
static void slim_fly(void)
{
    regular("slimfly:q=5", 50, 7, 4, 2); /* Hoffman and Singleton's graph: Moore's bound, 1 + 7 + 7 * 6 = 50 */
    regular("slimfly:q=4", 32, 6, 3, 2);
    regular("slimfly:q=7,nodes=1", 98, 11, 1, 2);
    regular("slimfly:q=8,nodes=1", 128, 12, 1, 2);
    regular("slimfly:q=9", 162, 13, 7, 2);
    regular("slimfly:q=11,nodes=1", 242, 17, 1, 2);
    regular("slimfly:q=13,nodes=1", 338, 19, 1, 2);
}

static void jellyfish(void)
{
    regular("jellyfish:switches=40,ports=6,nodes=3,seed=1", 40, 6, 3, 0);
    regular("jellyfish:switches=40,ports=6,nodes=3,seed=2", 40, 6, 3, 0);
    regular("jellyfish:switches=8,ports=7,nodes=1", 8, 7, 1, 1);
}

/* The least and the most that a link between routers carries of uniform traffic, one flit a node and cycle; minimal routing saturates
 * at 1 / most. */
static void loads_between(const char *text, double least, double mean, double most)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_load load;
    struct fc_status st = {0};
    double sum = 0, low = INFINITY, high = 0;
    uint32_t n = 0;
    if (!generated(text, &machine, &net, &st)) {
        CU_FAIL("not made");
        return;
    }
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "uniform", 1, &demand, &st), FC_OK);
    uint32_t *node = malloc(net.n_nodes * sizeof *node);
    for (uint32_t i = 0; i < net.n_nodes; i++) node[i] = i;
    struct fc_placement placement = {net.n_nodes, node};
    CU_ASSERT_EQUAL_FATAL(fc_load_solve(&net, &demand, &placement, &(struct fc_load_settings){0}, &load, &st), FC_OK);
    for (uint32_t l = 0; l < net.n_links; l++) {
        if (fc_is_node(&net, net.link_source[l]) || fc_is_node(&net, net.link_target[l])) continue;
        sum += load.bytes[l];
        low = fmin(low, load.bytes[l]);
        high = fmax(high, load.bytes[l]);
        n++;
    }
    if (!fc_near(sum / n, mean, 1e-12) || !fc_near(high, most, 1e-12))
        printf("%s: %.15g to %.15g, %.15g on average\n", text, low, high, sum / n);
    CU_ASSERT(fc_near(sum / n, mean, 1e-12));
    CU_ASSERT(fc_near(low, least, 1e-12) && fc_near(high, most, 1e-12));
    free(node);
    fc_load_free(&load);
    fc_demand_free(&demand);
    fc_test_close(&machine, &net);
}

/* HyperX (Ahn et al., SC'09): T of a router's nodes' flits change coordinate d with chance (S_d - 1) / S_d, over S_d - 1 links:
 * T / S_d on each. Slim Fly (Besta & Hoefler, SC'14): on average p (2 (N_r - 1) - k') / (N_r k'), since of a router's N_r - 1 others
 * k' are one hop away and the rest two; of q = 5, a Moore graph, on every link. Of q = 9 some pairs have several shortest paths, and links
 * are not alike. All to all (Jellyfish of 8 switches and 7 ports): nodes^2 pairs of N on a link. */
static void channel_loads(void)
{
    loads_between("hyperx:dims=4x4,nodes=6", 1.5, 1.5, 1.5);
    loads_between("hyperx:dims=5x4x2,nodes=2", 0.4, (4 * 0.4 + 3 * 0.5 + 1 * 1.0) / 8, 1);
    loads_between("slimfly:q=5", 1.04, 4.0 * (2 * 49 - 7) / (50 * 7), 1.04);
    loads_between("jellyfish:switches=8,ports=7,nodes=3", 9.0 / 24, 9.0 / 24, 9.0 / 24);
}

/* The same arguments are the same bytes, another seed others. */
static void seeds(void)
{
    static const char *const text[] = {"jellyfish:switches=40,ports=6,seed=1", "jellyfish:switches=40,ports=6,seed=1",
                                       "jellyfish:switches=40,ports=6,seed=2"};
    struct fc_network net[3];
    struct fc_machine machine[3];
    struct fc_status st = {0};
    for (int i = 0; i < 3; i++)
        if (!generated(text[i], &machine[i], &net[i], &st)) {
            CU_FAIL("not made");
            return;
        }
    size_t size = net[0].n_links * sizeof *net[0].link_target;
    CU_ASSERT(net[0].n_links == net[1].n_links && net[0].n_links == net[2].n_links);
    CU_ASSERT(!memcmp(net[0].link_target, net[1].link_target, size));
    CU_ASSERT(memcmp(net[0].link_target, net[2].link_target, size));
    for (int i = 0; i < 3; i++) fc_test_close(&machine[i], &net[i]);
}

/* Families of their own: counts of the papers. Kim et al.: N = a p (a h + 1); Al-Fares et al.: k^3 / 4 nodes, 5 k^2 / 4
 * switches. */
static void families(void)
{
    static const struct {
        const char *text, *family;
        uint32_t nodes, routers;
        double diameter;
    } cases[] = {
        {"dragonfly:a=8,h=4,p=4,g=33", "two-level", 8 * 4 * 33, 8 * 33, 3},
        {"dragonfly:a=8,h=4", "two-level", 8 * 4 * 33, 8 * 33, 3},
        {"dragonfly:a=4,h=2,p=2,g=5", "two-level", 40, 20, 3},
        {"dragonfly:a=1,h=5", "two-level", 30, 6, 1},
        {"dragonfly+:groups=5,leaves=4,links_per_pair=4", "dragonfly-plus", 80, 40, 3},
        {"megafly:groups=3,leaves=2,spines=4,nodes=6,links_per_pair=4", "dragonfly-plus", 36, 18, 3},
        {"fat-tree:k=8", "fat-tree", 128, 80, 4},
        {"fat-tree:k=8,levels=2,taper=2", "fat-tree", 32, 10, 2},
        {"fat-tree:k=6,levels=1", "fat-tree", 3, 1, 0},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_status st = {0};
        struct fc_facts facts;
        if (!generated(cases[i].text, &machine, &net, &st)) {
            printf("%s: %s\n", cases[i].text, st.message);
            CU_FAIL("not made");
            continue;
        }
        CU_ASSERT_STRING_EQUAL(machine.family->name, cases[i].family);
        CU_ASSERT(net.n_nodes == cases[i].nodes && net.n_routers == cases[i].routers);
        CU_ASSERT(!fc_network_facts(&net, &facts, &st) && facts.diameter_hops == cases[i].diameter);
        fc_test_close(&machine, &net);
    }
}

static void rates(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    if (!generated("hyperx:dims=3x3,nodes=1,bandwidth=12.5 GB/s,latency=7ns,delay=90ns,cores=6", &machine, &net, &st)) {
        CU_FAIL("not made");
        return;
    }
    CU_ASSERT(machine.classes[0].bandwidth_bytes_per_s == 12.5e9 && machine.router.delay_s == 90e-9);
    CU_ASSERT(fc_near(machine.classes[0].latency_s, 7e-9, 1e-12) && machine.cores_per_node == 6);
    fc_test_close(&machine, &net);
}

static void refusals(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"hyperx:dims=3x3,nodes=1\n", "a character that cannot be printed"},
        {"nonsense", "no network is called 'nonsense' (known: hyperx, slimfly, dragonfly,"},
        {"hyperx:x=3", "unknown key 'x' (known: dims, nodes,"},
        {"hyperx:dims=0x3", "dims"},
        {"hyperx:dims=60000x60000", "more than 1048576 routers"},
        {"hyperx:dims=30000,nodes=1", "are too many"},
        {"slimfly:q=6", "6 is no power of a prime of the form"},
        {"slimfly:q=15", "15 is no power of a prime"},
        {"slimfly:q=10", "10 is no power of a prime"},
        {"dragonfly:a=8,h=4,g=40", "a h = 32 links of a group lead to 32 others at most"},
        {"jellyfish:switches=10,ports=10", "10 to other switches, of which there are 9"},
        {"jellyfish:switches=9,ports=1", "the graph drawn is not connected"},
        {"fat-tree:k=7", "7 ports (expected an even number)"},
        {"fat-tree:k=8,taper=3", "3 does not divide the 4 ports up"},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_status st = {0};
        bool made = generated(cases[i].text, &machine, &net, &st);
        CU_ASSERT(!made);
        if (made) fc_test_close(&machine, &net);
        if (!strstr(st.message, cases[i].says)) printf("%s: %s\n", cases[i].text, st.message);
        CU_ASSERT_PTR_NOT_NULL(strstr(st.message, cases[i].says));
    }
    static const char *const paths[] = {"m.yml", "m", ".yaml", "/tmp/a b.yaml"};
    for (size_t i = 0; i < FC_COUNT(paths); i++) {
        struct fc_status st = {0};
        CU_ASSERT_EQUAL(fc_machine_generate("hyperx", paths[i], &st), FC_INPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "expected NAME.yaml"));
    }
}

int suite_generate(void)
{
    static const CU_TestInfo tests[] = {
        {"HyperX: degrees and distances", hyperx},
        {"Slim Fly: degrees and diameter two over primes and their powers", slim_fly},
        {"Jellyfish: regular, connected", jellyfish},
        {"channel loads of uniform traffic against the papers' closed forms", channel_loads},
        {"Jellyfish: a seed is a graph", seeds},
        {"dragonflies and fat-trees: the papers' counts", families},
        {"rates", rates},
        {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("generate", tests);
}
