/* test_kubernetes.c - clusters as Kueue, Volcano and DLRover see them: the same six nodes in two racks of one block and one of
 * another, told in three ways. */
#include "tests/graph_checks.h"

static const char kubernetes[] = "kubernetes";
static const char rates[] =
    "links: {leaf: {bandwidth: 1 GB/s}, level1: {bandwidth: 1 GB/s}, level2: {bandwidth: 1 GB/s}}\n";

#define NODE(name, block, rack)                                                                                        \
    "{\"kind\": \"Node\", \"metadata\": {\"name\": \"" name "\", \"labels\": {\"net/block\": \"" block                 \
    "\", \"net/rack\": \"" rack "\"}}}"
#define NODES                                                                                                          \
    "{\"kind\": \"List\", \"items\": [" NODE("w0", "b0", "r0") "," NODE("w1", "b0", "r0") "," NODE(                    \
        "w2", "b0", "r1") "," NODE("w3", "b0", "r1") "," NODE("w4", "b1", "r0") "," NODE("w5", "b1", "r0") "]}\n"
#define LEVELS                                                                                                         \
    "{\"kind\": \"TopologyList\", \"items\": [{\"kind\": \"Topology\", \"metadata\": {\"name\": \"t\"}, \"spec\": {"   \
    "\"levels\": [{\"nodeLabel\": \"net/block\"}, {\"nodeLabel\": \"net/rack\"}, {\"nodeLabel\": "                     \
    "\"kubernetes.io/hostname\"}]}}]}\n"
#define MEMBER(type, selector) "{\"type\": \"" type "\", \"selector\": {" selector "}}"
#define EXACT(type, name) MEMBER(type, "\"exactMatch\": {\"name\": \"" name "\"}")
#define HYPER(name, members)                                                                                           \
    "{\"kind\": \"HyperNode\", \"metadata\": {\"name\": \"" name "\"}, \"spec\": {\"members\": [" members "]}}\n"

/* Nodes of a rack are 2 hops apart, of a block 4, else 6; as many cables above a place as nodes below. */
static void is_the_cluster(const char *text, const char *rack, const char *block)
{
    static const int expected[6] = {0, 2, 4, 4, 6, 6};
    struct fc_machine machine;
    struct fc_network net;
    if (!graph_of(kubernetes, text, rates, &machine, &net)) return;
    CU_ASSERT(net.n_nodes == 6 && net.n_routers == 6);
    CU_ASSERT_EQUAL(degree(&net, vertex_named(&net, rack)), 2 + 2);
    CU_ASSERT_EQUAL(degree(&net, vertex_named(&net, block)), 4 + 4);
    CU_ASSERT_EQUAL(degree(&net, vertex_named(&net, "network")), 6);
    struct fc_walk walk = {0};
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, machine.routing->walk_capacity(&net), &st), FC_OK);
    for (uint32_t n = 1; n < 6; n++) {
        double links = 0;
        walk.n = 0;
        machine.routing->walk(&net, 0, n, 1, &walk);
        for (uint32_t i = 0; i < walk.n; i++) links += walk.weight[i];
        CU_ASSERT_DOUBLE_EQUAL(links, expected[n], 1e-9);
    }
    fc_walk_free(&walk);
    network_is_sound(&net);
    fc_test_close(&machine, &net);
}

static void test_kueue(void)
{
    is_the_cluster(LEVELS NODES, "b0/r1", "b0");
    is_the_cluster(NODES LEVELS, "b0/r0", "b0");
}

static void test_volcano(void)
{
    static const char racks[] = HYPER("s0", EXACT("Node", "w0") "," EXACT("Node", "w1"))
        HYPER("s2", MEMBER("Node", "\"regexMatch\": {\"pattern\": \"^w[^]0-3]$\"}"))
            HYPER("s1", MEMBER("Node", "\"labelMatch\": {\"matchLabels\": {\"net/rack\": \"r1\"}}"));
    static const char blocks[] = HYPER("p0", EXACT("HyperNode", "s0") "," EXACT("HyperNode", "s1"))
        HYPER("p1", MEMBER("HyperNode", "\"regexMatch\": {\"pattern\": \"^\\\\w{1}[2]\\\\b$|\\\\.\\\\d\"}"));
    char text[8000];
    snprintf(text, sizeof text, "%s%s%s", NODES, racks, blocks);
    is_the_cluster(text, "s1", "p0");
}

static void test_dlrover(void)
{
    struct fc_machine machine;
    struct fc_network net;
    is_the_cluster(
        "[{\"node_ip\": \"w0\", \"asw\": \"a\", \"psw\": \"p\"}, {\"node_ip\": \"w1\", \"asw\": \"a\", \"psw\": \"p\"},"
        "{\"node_ip\": \"w2\", \"asw\": \"b\", \"psw\": \"p\"}, {\"node_ip\": \"w3\", \"asw\": \"b\", \"psw\": \"p\"},"
        "{\"node_ip\": \"w4\", \"asw\": \"c\", \"psw\": \"q\"}, {\"node_ip\": \"w5\", \"asw\": \"c\", \"psw\": \"q\"}]",
        "b", "p");
    if (!graph_of(kubernetes,
                  "[{\"node_ip\": \"w0\", \"asw\": \"a\"}, {\"node_ip\": \"w1\", \"asw\": \"a\", \"psw\": \"\"}]",
                  "links: {leaf: {bandwidth: 1 GB/s}}\n", &machine, &net))
        return;
    CU_ASSERT(net.n_routers == 1 && net.n_nodes == 2);
    fc_test_close(&machine, &net);
}

static void test_refusals(void)
{
    static const struct {
        const char *text, *what;
    } wrong[] = {
        {"", "expected Nodes and a Topology, or HyperNodes"},
        {NODES, "expected Nodes and a Topology, or HyperNodes"},
        {LEVELS, "has no nodes"},
        {"[]", "expected Nodes and a Topology"},
        {"[]\n{", ":2: not JSON"},
        {"[] x\n", ":1: not JSON"},
        {"3", ":1: not JSON"},
        {LEVELS LEVELS NODES, "several Topologies"},
        {"{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p\"}}", ":1: an object of kind 'Pod'"},
        {"{\"kind\": \"Node\"}", ":1: a Node without metadata.name"},
        {"{\"kind\": \"List\", \"items\": [{\"kind\": \"List\", \"items\": []}]}", "a list in a list"},
        {LEVELS "{\"kind\": \"Node\", \"metadata\": {\"name\": \"cp\", \"labels\": {\"net/block\": \"b\"}}}",
         "node 'cp' has no label net/rack, by which the topology goes (kubectl get nodes -l net/rack leaves it out)"},
        {LEVELS NODE("a", "b", "r") NODE("a", "b", "r"), "node 'a' is listed twice"},
        {LEVELS NODE("a", "network", "r") NODE("c", "b", "r"), "a place is called network"},
        {"{\"kind\": \"Topology\", \"metadata\": {\"name\": \"t\"}}" NODE("a", "b", "r"), "'t' has no spec.levels"},
        {"{\"kind\": \"Topology\", \"metadata\": {\"name\": \"t\"}, \"spec\": {\"levels\": [{\"nodeLabel\": "
         "\"kubernetes.io/hostname\"}]}}" NODE("a", "b", "r"),
         "no level above the node"},
        {"{\"kind\": \"Topology\", \"metadata\": {\"name\": \"t\"}, \"spec\": {\"levels\": [{}]}}" NODE("a", "b", "r"),
         "a level without nodeLabel"},
        {HYPER("a", EXACT("HyperNode", "b")) HYPER("b", EXACT("HyperNode", "a")), "members of each other, in a circle"},
        {HYPER("t", EXACT("HyperNode", "a")) HYPER("a", EXACT("HyperNode", "b")) HYPER("b", EXACT("HyperNode", "a")),
         "HyperNode 'a' is a member twice"},
        {HYPER("r", EXACT("Node", "n")) HYPER("a", EXACT("HyperNode", "b")) HYPER("b", EXACT("HyperNode", "a")),
         "members of each other, in a circle"},
        {HYPER("a", MEMBER("HyperNode", "\"regexMatch\": {\"pattern\": \"a\"}")),
         "'a' is in a circle: a member of itself"},
        {HYPER("a", EXACT("Node", "n")) HYPER("b", EXACT("Node", "n")), "node 'n' is listed twice"},
        {HYPER("p", EXACT("HyperNode", "a")) HYPER("q", EXACT("HyperNode", "a")) HYPER("a", EXACT("Node", "n")),
         "HyperNode 'a' is a member twice"},
        {HYPER("a", MEMBER("Node", "")), "HyperNode 'a': a member that is no Node or HyperNode by one exactMatch"},
        {HYPER("a", EXACT("Rack", "n")), "HyperNode 'a': a member that is no Node"},
        {HYPER("a", MEMBER("Node", "\"regexMatch\": {\"pattern\": \"(\"}")), "no regular expression"},
        {NODES HYPER("a", MEMBER("Node", "\"regexMatch\": {\"pattern\": \"w\\\\pL\"}")),
         "a \\ in a pattern that is not read"},
        {NODES HYPER("a", MEMBER("Node", "\"regexMatch\": {\"pattern\": \"w[\\\\d]\"}")),
         "a \\ in a pattern that is not read"},
        {NODES HYPER("a", MEMBER("Node", "\"regexMatch\": {\"pattern\": \"^x\"}")),
         "'a': a pattern or labels that nothing in the file has"},
        {HYPER("a", EXACT("HyperNode", "z")), "HyperNode 'a' has no member 'z'"},
        {HYPER("a", EXACT("Node", "n")) LEVELS, "expected Nodes and a Topology, or HyperNodes"},
        {"[{\"node_ip\": \"w\"}]", "entry 0 has no node_ip and asw"},
        {"[{\"node_ip\": \"w\", \"asw\": \"a\", \"psw\": 5}]", "entry 0 has no node_ip and asw"},
        {"[7]", "entry 0 has no node_ip and asw"},
        {"[{\"node_ip\": \"w\", \"asw\": \"a\", \"psw\": \"p\"}, {\"node_ip\": \"v\", \"asw\": \"a\", \"psw\": \"q\"}]",
         "'a' is in 'q', and in 'p' elsewhere"},
    };
    for (size_t i = 0; i < FC_COUNT(wrong); i++) refused_text(kubernetes, wrong[i].text, wrong[i].what);
}

int suite_kubernetes(void)
{
    static const CU_TestInfo tests[] = {
        {"Kueue's topology and the nodes' labels", test_kueue},
        {"Volcano's HyperNodes", test_volcano},
        {"DLRover's switches", test_dlrover},
        {"what is refused", test_refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("kubernetes", tests);
}
