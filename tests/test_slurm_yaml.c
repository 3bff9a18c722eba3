/* test_slurm_yaml.c - Slurm's topology.yaml, and blocks and rings of topology.conf: the same network from either; a 3-D torus is
 * the family's own. */
#include "models/family_torus.h"
#include "models/import/import.h"
#include "tests/graph_checks.h"

static const char slurm[] = "slurm-topology";
static const char rates[] = "links: {link: {bandwidth: 1 GB/s}, node: {bandwidth: 1 GB/s}}\n"; /* of rings and tori */

/* Both texts give the same routers, nodes and links. */
static void same_network(const char *a, const char *b, const char *links)
{
    struct fc_machine ma, mb;
    struct fc_network na, nb;
    if (!graph_of(slurm, a, links, &ma, &na)) return;
    if (!graph_of(slurm, b, links, &mb, &nb)) return;
    CU_ASSERT(na.n_routers == nb.n_routers && na.n_nodes == nb.n_nodes && na.n_links == nb.n_links);
    CU_ASSERT(na.n_links == nb.n_links && !memcmp(na.link_target, nb.link_target, na.n_links * sizeof *na.link_target));
    fc_test_close(&ma, &na);
    fc_test_close(&mb, &nb);
}

static void test_tree(void)
{
    same_network("SwitchName=leaf0 Nodes=cn[0-3]\nSwitchName=leaf1 Nodes=cn[4-6]\nSwitchName=top Switches=leaf[0-1]\n",
                 "# a comment\n- topology: t\n  cluster_default: true\n  tree:\n    switches:\n"
                 "    - {switch: leaf0, nodes: 'cn[0-3]'}\n    - {switch: leaf1, nodes: 'cn[4-6]'}\n"
                 "    - {switch: top, children: 'leaf[0-1]'}\n- topology: u\n  flat: true\n",
                 "links: {link: {bandwidth: 1 GB/s}}\n");
}

/* Four blocks of two nodes, pairs of blocks near each other: every node has a cable all the way up. */
static void test_blocks(void)
{
    static const char conf[] = "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockName=b3 Nodes=n[5-6]\n"
                               "BlockName=b4 Nodes=n[7-8]\nBlockSizes=2,4\n";
    static const char links[] =
        "links: {leaf: {bandwidth: 1 GB/s}, level1: {bandwidth: 1 GB/s}, level2: {bandwidth: 1 GB/s}}\n";
    struct fc_machine machine;
    struct fc_network net;
    if (!graph_of(slurm, conf, links, &machine, &net)) return;
    CU_ASSERT(net.n_nodes == 8 && net.n_routers == 4 + 2 + 1);
    CU_ASSERT_EQUAL(degree(&net, vertex_named(&net, "b1")), 2 + 2);
    CU_ASSERT_EQUAL(degree(&net, vertex_named(&net, "places-of-4-1")), 4 + 4);
    CU_ASSERT_EQUAL(degree(&net, vertex_named(&net, "network")), 8);
    CU_ASSERT(class_cables(&net, "leaf") == 8 && class_cables(&net, "level1") == 8 &&
              class_cables(&net, "level2") == 8);
    network_is_sound(&net);
    fc_test_close(&machine, &net);
    same_network(
        conf,
        "- topology: t\n  block:\n    block_sizes: [2, 4]\n    blocks:\n    - {block: b1, nodes: 'n[1-2]'}\n"
        "    - {block: b2, nodes: 'n[3-4]'}\n    - {block: b3, nodes: 'n[5-6]'}\n    - {block: b4, nodes: 'n[7-8]'}\n",
        links);
}

/* The network of a family's machine file. */
static void equals_torus(const char *text, const char *dims, uint32_t inner)
{
    char yaml[300];
    struct fc_machine machine, torus;
    struct fc_network net, other;
    uint32_t cables, ends;
    snprintf(yaml, sizeof yaml, "name: t\nnetwork: {family: torus, dims: [%s]}\nlinks: {torus: {bandwidth: 1 GB/s}}\n",
             dims);
    if (!graph_of(slurm, text, rates, &machine, &net)) return;
    count_cables(&net, &cables, &ends);
    CU_ASSERT(cables == inner && ends == net.n_nodes);
    network_is_sound(&net);
    if (fc_test_network(yaml, &torus, &other)) {
        struct fc_recognised shape = {0};
        struct fc_status st = {0};
        CU_ASSERT(other.n_nodes == net.n_nodes);
        CU_ASSERT_EQUAL(fc_recognise_torus(&net, &shape, &st), FC_OK);
        CU_ASSERT(shape.family && !strcmp(shape.family, "torus"));
        CU_ASSERT(strstr(shape.keys, dims) != NULL);
        fc_arena_free(&shape.arena);
        fc_test_close(&torus, &other);
    }
    fc_test_close(&machine, &net);
}

static void test_tori(void)
{
    equals_torus(
        "- topology: t\n  torus3d:\n    toruses:\n    - name: pod\n      dims: {x: 5, y: 4, z: 3}\n      nodes: 'n[00-59]'\n"
        "      placements: [{dims: {x: 1, y: 1, z: 1}}]\n",
        "5, 4, 3", 3 * 60);
    equals_torus("RingName=r Nodes=n[1-7]\n", "7", 7);
    /* x fastest; regions from their corners; sides of one and two; two toruses */
    struct fc_machine machine;
    struct fc_network net;
    char name[300];
    if (!graph_of(
            slurm,
            "- topology: t\n  torus3d:\n    toruses:\n"
            "    - {name: a, dims: {x: 4, y: 2, z: 1}, regions: [{anchor: {x: 2, y: 0, z: 0}, dims: {x: 2, y: 2, z: 1}, "
            "nodes: 'n[5-8]'}, {anchor: {x: 0, y: 0, z: 0}, dims: {x: 2, y: 1, z: 1}, nodes: 'n[1-2]'}]}\n"
            "    - {name: b, dims: {x: 1, y: 1, z: 1}, nodes: m}\n",
            rates, &machine, &net)) {
        return;
    }
    CU_ASSERT(net.n_routers == 9 && net.n_nodes == 7);
    for (uint32_t n = 0; n < 7; n++) {
        static const char *const at[] = {"m", "n1", "n2", "n5", "n6", "n7", "n8"}, *const on[] = {"b-0-0-0", "a-0-0-0",
                                                                                                  "a-1-0-0", "a-2-0-0",
                                                                                                  "a-3-0-0", "a-2-1-0",
                                                                                                  "a-3-1-0"};
        uint32_t v = vertex_named(&net, at[n]);
        CU_ASSERT_STRING_EQUAL(fc_vertex_name(&net, net.link_target[net.first_link[v]], name, sizeof name), on[n]);
    }
    CU_ASSERT_EQUAL(degree(&net, vertex_named(&net, "a-0-1-0")), 2 + 1); /* no node; one cable along the side of two */
    CU_ASSERT_EQUAL(degree(&net, vertex_named(&net, "b-0-0-0")), 1);
    fc_test_close(&machine, &net);
}

static void test_refusals(void)
{
    static const struct {
        const char *text, *what;
    } wrong[] = {
        {"BlockName=b Nodes=a\nSwitchName=s Nodes=b\n", ":2: a line: 's' (expected blocks)"},
        {"BlockName=b Nodes=a\nBlockName=b Nodes=c\n", ":2: BlockName: 'b' (expected one line a block)"},
        {"BlockName=b Nodes=a\nBlockName=c Nodes=a\n", ":2: node 'a' is listed twice"},
        {"BlockName=b Switches=a\n", ":1: a line: 'b' (expected Nodes=... and nothing else)"},
        {"BlockName=b\n", ":1: a line: 'BlockName=b' (expected Nodes=...)"},
        {"BlockName=network Nodes=a\nBlockName=b Nodes=c\n", "a place is called network"},
        {"BlockName=b Nodes=a\nBlockSizes=2,6\n", ":2: BlockSizes: 6 after 2 (expected each a power of two times"},
        {"BlockName=b Nodes=a\nBlockSizes=2,2\n", ":2: BlockSizes: 2 after 2"},
        {"BlockName=b Nodes=a\nBlockSizes=0\n", ":2: BlockSizes: '0' is out of range"},
        {"BlockName=b Nodes=a\nBlockSizes=1\nBlockSizes=1\n", ":3: a second list"},
        {"SwitchName=b Nodes=a\nBlockSizes=2\n", "BlockSizes without blocks"},
        {"RingName=r Nodes=a,b\nRingName=s Nodes=b\n", ":2: node 'b' is listed twice"},
        {"Speed=3\n", ":1: unknown key: 'Speed'"},
        {"- topology: t\n", ":1: expected one of tree, block, ring and torus3d"},
        {"- topology: t\n  flat: true\n", ":1: a flat topology describes no network"},
        {"- cluster_default: true\n", ":1: topology is missing (expected a word)"},
        {"- topology: t\n  mesh: true\n", ":2: unknown key 'mesh' (expected topology cluster_default"},
        {"- topology: t\n  tree: {switches: [{switch: s, nodes: a}]}\n- topology: u\n  flat: true\n",
         ":1: several topologies and none with cluster_default: true"},
        {"- topology: t\n  tree: {}\n", ":2: switches is missing (expected a list)"},
        {"- topology: t\n  tree: {switches: [{switch: s}]}\n", ":2: children is missing"},
        {"- topology: t\n  tree: {switches: [{switch: s, nodes: a, children: b}]}\n", "(expected either)"},
        {"- topology: t\n  tree: {switches: [{switch: s, nodes: a}], switches: []}\n", "switches: given twice"},
        {"- topology: t\n  tree: {switches: [{switch: s,\n    children: u}]}\n", ":2: Switches: 'u'"},
        {"- topology: t\n  block: {block_sizes: x, blocks: []}\n", ":2: block_sizes is of another kind"},
        {"- topology: t\n  block: {block_sizes: [x], blocks: []}\n", ":2: BlockSizes: 'x' is not an integer"},
        {"- [a\n", "not YAML"},
        {"[]\n", "no list of topologies"},
        {"- topology: t\n  torus3d: {toruses: [{name: a, dims: {x: 2, y: 2}, nodes: n}]}\n", ":2: z is missing"},
        {"- topology: t\n  torus3d: {toruses: [{name: a, dims: {x: 0, y: 2, z: 1}, nodes: n}]}\n",
         ":2: x: '0' is out of range"},
        {"- topology: t\n  torus3d: {toruses: [{name: a, dims: {x: 4096, y: 4096, z: 1}, nodes: n}]}\n",
         "more than 1000000 positions"},
        {"- topology: t\n  torus3d: {toruses: [{name: a, dims: {x: 1, y: 1, z: 1}, nodes: n},\n    {name: b, dims: {x: 1000, y: "
         "1000, z: 1}, regions: []}]}\n",
         ":3: more than 1000000 positions"},
        {"- topology: t\n  torus3d: {toruses: [{name: a, dims: {x: 2, y: 2, z: 1}, nodes: 'n[1-3]'}]}\n",
         ":2: 3 nodes for 2 x 2 x 1 positions"},
        {"- topology: t\n  torus3d: {toruses: [{name: a, dims: {x: 2, y: 2, z: 1}, nodes: 'n[1-5]'}]}\n",
         ":2: more nodes than the 4 positions"},
        {"- topology: t\n  torus3d: {toruses: [{name: a, dims: {x: 2, y: 2, z: 1}, nodes: 'n,n,a,b'}]}\n",
         ":2: node 'n' is listed twice"},
        {"- topology: t\n  torus3d: {toruses: [{name: a, dims: {x: 2, y: 1, z: 1}, regions: [{anchor: {x: 1, y: 0, z: 0}, "
         "dims: {x: 2, y: 1, z: 1}, nodes: 'n[1-2]'}]}]}\n",
         ":2: a region that reaches over the torus' side"},
        {"- topology: t\n  torus3d: {toruses: [{name: a, dims: {x: 1, y: 1, z: 1}, regions: [{anchor: {x: 0, y: 0, z: 0}, "
         "dims: {x: 1, y: 1, z: 1}, nodes: a}, {anchor: {x: 0, y: 0, z: 0}, dims: {x: 1, y: 1, z: 1}, nodes: b}]}]}\n",
         ":2: node 'b' is where another region's node is"},
        {"- topology: t\n  torus3d: {toruses: [{name: a, dims: {x: 1, y: 1, z: 1}, nodes: n}, {name: a, dims: {x: 1, y: 1, "
         "z: 1}, nodes: m}]}\n",
         ":2: two toruses of one name"},
    };
    for (size_t i = 0; i < FC_COUNT(wrong); i++) refused_text(slurm, wrong[i].text, wrong[i].what);
}

int suite_slurm_yaml(void)
{
    static const CU_TestInfo tests[] = {
        {"a tree in either file", test_tree},
        {"blocks of blocks", test_blocks},
        {"rings and 3-D tori", test_tori},
        {"what is refused", test_refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("slurm_yaml", tests);
}
