/* test_machine_file.c - machine files: every refusal with its line and words, sizes that no memory holds, and that the
 * order of keys means nothing. */
#include "tests/network_checks.h"

#define NET "network: {family: torus, dims: [4, 4]}\n"
#define LINKS "links: {torus: {bandwidth: 1 GB/s, latency: 1 ns}}\n"
#define REST NET LINKS
#define TORUS(keys) "name: a\nnetwork: {family: torus, " keys "}\n" LINKS
#define TWO_LEVEL(keys)                                                                                                \
    "name: a\nnetwork: {family: two-level, " keys "}\nlinks: {ll: {bandwidth: 1 GB/s}, lr: {bandwidth: 1 GB/s}, d: "   \
    "{bandwidth: 1 GB/s}}\n"

struct refusal {
    const char *yaml;
    enum fc_code code;
    long line;
    const char *part;
};

/* ---- what is no machine file ---- */

static const struct refusal documents[] = {
    {"", FC_INPUT, 1, "not a machine file (expected keys name:, network:, links:, ...)"},
    {"# nothing\n\n", FC_INPUT, 1, "not a machine file"},
    {"just words\n", FC_INPUT, 1, "not a machine file"},
    {"- name: a\n", FC_INPUT, 1, "not a machine file"},
    {"name: [a\n", FC_INPUT, 2, "not YAML: did not find expected ',' or ']'"},
    {"name: a\n\tclock: 1 GHz\n", FC_INPUT, 2, "not YAML: "},
    {"name: a\nnetwork: {family: torus\nlinks: 1\n", FC_INPUT, 3, "not YAML: "},
    {"name: a\n" NET "title: \xff\n", FC_INPUT, 3, "not YAML: "},
    {"name: a\n" NET "title: \x01\n", FC_INPUT, 3, "not YAML: "},
    {"name: a\n" REST "---\nname: b\n" REST, FC_INPUT, 5, "a second document (expected one machine a file)"},
    {"name: a\n" REST "...\n}\n", FC_INPUT, 5, "not YAML: "},
    {"name: *other\n" REST, FC_INPUT, 1, "not YAML: found undefined alias"},
};

/* ---- keys ---- */

static const struct refusal keys[] = {
    {REST, FC_INPUT, 1, "name: is missing"},
    {"name:\n" REST, FC_INPUT, 1, "name: is missing"},
    {"name: a\ncolour: red\n" REST, FC_INPUT, 2,
     "unknown key 'colour' (known: name, title, source, confidence, clock, "},
    {"name: a\nclok: 1 GHz\n" REST, FC_INPUT, 2, "unknown key 'clok' (did you mean 'clock'? known: "},
    {"name: a\nnetwork:\n  family: torus\n  dims: [4, 4]\n  size: 3\n" LINKS, FC_INPUT, 5,
     "unknown key 'size' (known: dims, links_per_dim, wrap, longest_line)"},
    {"name: a\nnetwork:\n  family: fat-tree\n  children: [4]\n  parents: [1]\n  nodes_per_router: 2\nlinks: {}\n",
     FC_INPUT, 6, "unknown key 'nodes_per_router'"},
    {"name: a\n" REST "router:\n  vcs: 2\n  dealy: 5 ns\n", FC_INPUT, 6, "unknown key 'dealy' (did you mean 'delay'? "},
    {"name: a\n" NET "links:\n  torus:\n    bandwidth: 1 GB/s\n    width: 3\n", FC_INPUT, 6,
     "unknown key 'width' (known: bandwidth, latency)"},
    {"name: a\n" REST "packet: {max: 256 B, heder: 16 B}\n", FC_INPUT, 4, "unknown key 'heder'"},
    {"name: a\n" REST "node: {core: 2}\n", FC_INPUT, 4, "unknown key 'core' (did you mean 'cores'? known: cores, "},
    {"name: a\n" REST "software: {sned: 1 us}\n", FC_INPUT, 4, "unknown key 'sned'"},
    {"name: a\n<<: {clock: 1 GHz}\n" REST, FC_INPUT, 2, "unknown key '<<'"},
    {"name: a\n? [x, y]\n: 1\n" REST, FC_INPUT, 2, "a key must be a plain word"},
    {"name: a\n\"clock\\0\": 1 GHz\n" REST, FC_INPUT, 2, "a key must be a plain word"},
    {"name: a\ntitle: t\nname: b\n" REST, FC_INPUT, 3, "name: given twice"},
    {"name: a\n" REST NET, FC_INPUT, 4, "network: given twice"},
    {"name: a\nnetwork:\n  family: torus\n  dims: [4]\n  dims: [8]\n" LINKS, FC_INPUT, 5, "dims: given twice"},
    {"name: a\n" NET "links:\n  torus: {bandwidth: 1 GB/s}\n  torus: {bandwidth: 2 GB/s}\n", FC_INPUT, 5,
     "torus: given twice"},
    {"name: a\n" NET "links:\n  torus: {bandwidth: 1 GB/s, bandwidth: 2 GB/s}\n", FC_INPUT, 4,
     "bandwidth: given twice"},
};

/* ---- families, classes, routings ---- */

static const struct refusal names[] = {
    {"name: a\n" LINKS, FC_INPUT, 1, "network: is missing (expected network: {family: ...})"},
    {"name: a\nnetwork: 5\n" LINKS, FC_INPUT, 2, "network: is not a mapping"},
    {"name: a\nnetwork: [torus]\n" LINKS, FC_INPUT, 2, "network: is not a mapping"},
    {"name: a\nnetwork: {dims: [4]}\n" LINKS, FC_INPUT, 2, "network.family: a name is missing (known: torus, mesh, "},
    {"name: a\nnetwork:\n  dims: [4]\n  family: [torus]\n" LINKS, FC_INPUT, 4, "network.family: a name is missing"},
    {"name: a\nnetwork:\n  dims: [4]\n  family: hypercube\n" LINKS, FC_INPUT, 4,
     "network.family: 'hypercube' is unknown (known: torus, mesh, fat-tree, tmesh, two-level, dragonfly-plus, graph)"},
    {"name: a\n" NET "links:\n  torus: {bandwidth: 1 GB/s}\n  warp: {bandwidth: 1 GB/s}\n", FC_INPUT, 5,
     "links: this torus network has no link class 'warp' (it has: torus, injection)"},
    {"name: a\n" NET "links:\n  torus: {bandwidth: 1 GB/s}\n  up: {bandwidth: 1 GB/s}\n", FC_INPUT, 5,
     "has no link class 'up'"},
    {"name: a\n" NET "links:\n  torus: {bandwidth: 1 GB/s}\n  z: {bandwidth: 1 GB/s}\n", FC_INPUT, 5,
     "has no link class 'z' (it has: torus, injection)"},
    {"name: a\n" NET, FC_INPUT, 1, "links: class 'torus' is missing (expected torus: {bandwidth: ..., latency: ...})"},
    {"name: a\n" NET "links: {injection: {bandwidth: 1 GB/s}}\n", FC_INPUT, 3, "links: class 'torus' is missing"},
    {"name: a\n" NET "links:\n  x: {bandwidth: 1 GB/s}\n", FC_INPUT, 4, "links: class 'y' is missing"},
    {"name: a\n" NET "links:\n  torus: {latency: 1 ns}\n", FC_INPUT, 4, "links.torus: bandwidth is missing"},
    {"name: a\n" NET "links:\n  torus: 1 GB/s\n", FC_INPUT, 4,
     "links.torus: expected {bandwidth: 1 GB/s, latency: 10 ns}"},
    {"name: a\n" NET "links: 1 GB/s\n", FC_INPUT, 3, "links: is not a mapping (expected links: {key: value, ...})"},
    {"name: a\nnetwork: {family: two-level, supernodes: 4, nodes_per_drawer: 4}\nlinks: {ll: {bandwidth: 1 "
     "GB/s}}\n",
     FC_INPUT, 3, "links: class 'd' is missing"},
    {"name: a\n" REST "router:\n  vcs: 2\n  routing: direct\n", FC_INPUT, 6,
     "a torus network cannot do routing 'direct' (it can: dimension-order, adaptive, valiant)"},
    {"name: a\n" REST "router:\n  routing: quickest\n", FC_INPUT, 5, "cannot do routing 'quickest'"},
    {"name: a\n" REST "router:\n  escape: bubbles\n", FC_INPUT, 5,
     "router.escape: 'bubbles' is not known (did you mean 'bubble'? allowed: none, bubble, dateline, "
     "direction-ordered, bubble-direction-ordered, hops, layers, updown)"},
    {"name: a\n" REST "router:\n  flow_control: teleport\n", FC_INPUT, 5,
     "router.flow_control: 'teleport' is not known (allowed: cut-through, wormhole)"},
    {"name: a\n" REST "router:\n  arbitration: fair\n", FC_INPUT, 5,
     "router.arbitration: 'fair' is not known (allowed: "},
    {TWO_LEVEL("supernodes: 4, nodes_per_drawer: 4, d_link: magic"), FC_INPUT, 2,
     "network.d_link: 'magic' is not known (allowed: packed, modulo, block, relative, hashed, free, listed)"},
};

/* ---- types, units, ranges ---- */

static const struct refusal values[] = {
    {"name: [a, b]\n" REST, FC_INPUT, 1, "name: a list where one value is expected"},
    {"name: a\ntitle: {b: c}\n" REST, FC_INPUT, 2, "title: a mapping where one value is expected"},
    {"name: a\ntitle: \"b\\0c\"\n" REST, FC_INPUT, 2, "title: the value holds a zero byte"},
    {"name: a\nclock:\n- 1 GHz\n" REST, FC_INPUT, 3, "clock: a list where one value is expected"},
    {"name: a\n" REST "node:\n  cores: [2, 3]\n", FC_INPUT, 5, "node.cores: a list where one value is expected"},
    {"name: a\nnetwork:\n  family: torus\n  dims: {x: 4, y: 4}\n" LINKS, FC_INPUT, 4,
     "network.dims: a mapping where a list is expected"},
    {"name: a\nnetwork:\n  family: torus\n  dims: [4, [5]]\n" LINKS, FC_INPUT, 4,
     "network.dims: expected plain values in the list"},
    {TORUS("dims: []"), FC_INPUT, 2, "network.dims: "},
    {TORUS("dims: [4, x]"), FC_INPUT, 2, "network.dims: 'x' is not an integer"},
    {TORUS("dims: [4, 4.5]"), FC_INPUT, 2, "network.dims: '4.5' is not a whole number"},
    {"name: a\nclock: 1 GHz\n" NET "links:\n  torus: {bandwidth: 1 GB/s, latency: 12}\n", FC_INPUT, 5,
     "links.torus.latency: '12' is ambiguous (write 12 cycles or 12 ns)"},
    {"name: a\nclock: 1 GHz\n" REST "router: {delay: 3}\n", FC_INPUT, 5, "router.delay: '3' is ambiguous"},
    {"name: a\n" NET "links:\n  torus: {bandwidth: 1 GB/s, latency: 12 cycles}\n", FC_INPUT, 4,
     "links.torus.latency: '12 cycles' needs a clock, and none is known here"},
    {"name: a\n" NET "links:\n  torus:\n    bandwidth: 3 ns\n", FC_INPUT, 5,
     "links.torus.bandwidth: '3 ns' is not a quantity (expected bytes/s, e.g. 175 MB/s)"},
    {"name: a\n" NET "links: {torus: {bandwidth: 1 GB/s, latency: 3 B}}\n", FC_INPUT, 3, "links.torus.latency: '3 B'"},
    {"name: a\nclock: 3 ns\n" REST, FC_INPUT, 2, "clock: '3 ns' is not a quantity"},
    {"name: a\nclock: fast\n" REST, FC_INPUT, 2, "clock: 'fast' is not a quantity"},
    {"name: a\nclock:\n" REST, FC_INPUT, 2, "clock: '' is not a quantity"},
    {"name: a\n" REST "router: {flit: 4 GB/s}\n", FC_INPUT, 4, "router.flit: '4 GB/s' is not a quantity"},
    {"name: a\n" REST "packet: {max: 256 ns}\n", FC_INPUT, 4, "packet.max: '256 ns' is not a quantity"},
    {"name: a\n" REST "node: {cores: 4 GB}\n", FC_INPUT, 4, "node.cores: '4 GB' is not an integer"},
    {"name: a\n" REST "software: {send: nan}\n", FC_INPUT, 4, "software.send: 'nan'"},
    {"name: a\n" REST "software: {compute_scale: 2 s}\n", FC_INPUT, 4, "software.compute_scale: '2 s'"},
};

#define UGAL(keys)                                                                                                     \
    "name: a\nnetwork: {family: two-level, supernodes: 4, nodes_per_drawer: 4}\nlinks: {ll: {bandwidth: 1 GB/s}, d: "  \
    "{bandwidth: 1 GB/s}}\nrouter:\n  ugal: " keys "\n"
#define PLUS_UGAL(keys)                                                                                                      \
    "name: a\nnetwork: {family: dragonfly-plus, cells: [3], leaves: [2], spines: [2], nodes_per_cell: [4]}\nlinks: {spine: " \
    "{bandwidth: 1 GB/s}, global: {bandwidth: 1 GB/s}}\nrouter:\n  ugal: " keys "\n"
static const struct refusal ugal[] = {
    {UGAL("30"), FC_INPUT, 5, "router.ugal: is not a mapping (expected ugal: {threshold: FLITS, "},
    {UGAL("[30, 2]"), FC_INPUT, 5, "router.ugal: is not a mapping"},
    {UGAL("{threshold: -1}"), FC_INPUT, 5, "router.ugal.threshold: '-1' is negative"},
    {UGAL("{threshold: 2e6}"), FC_INPUT, 5, "router.ugal.threshold: '2e6' is out of range"},
    {UGAL("{threshold: 30 B}"), FC_INPUT, 5, "router.ugal.threshold: "},
    {UGAL("{weight: 0}"), FC_INPUT, 5, "router.ugal.weight: '0' is out of range (allowed: 1 to 1000)"},
    {UGAL("{weight: 1.5}"), FC_INPUT, 5, "router.ugal.weight: "},
    {UGAL("{queue: remote}"), FC_INPUT, 5, "router.ugal.queue: 'remote'"},
    {UGAL("{via: group}"), FC_INPUT, 5, "router.ugal.via: 'group'"},
    {UGAL("{queue: [local]}"), FC_INPUT, 5, "router.ugal.queue: a list where one value is expected"},
    {UGAL("{bias: 3}"), FC_INPUT, 5, "unknown key 'bias' (did you mean 'via'? known: threshold, weight, queue, via)"},
    {UGAL("{weight: 2, weight: 3}"), FC_INPUT, 5, "weight"},
    {PLUS_UGAL("{via: router}"), FC_INPUT, 5, "router.ugal.via: a dragonfly-plus network has no such choice"},
    {"name: a\n" REST "router: {ugal: {weight: 2}}\n", FC_INPUT, 4, "router.ugal: a torus network has no routing ugal"},
};

static void ugal_values(void)
{
    struct fc_machine m;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_test_machine(UGAL("{threshold: 7, weight: 3, queue: local}"), &m, &st), FC_OK);
    CU_ASSERT(m.router.ugal.threshold_flits == 7 && m.router.ugal.weight == 3 && m.router.ugal.queue == FC_UGAL_LOCAL);
    CU_ASSERT_EQUAL(fc_ugal_threshold_flits(&m), 7);
    fc_machine_free(&m);
    CU_ASSERT_EQUAL_FATAL(fc_test_machine(UGAL("{}"), &m, &st), FC_OK);
    CU_ASSERT(isnan(m.router.ugal.threshold_flits) && m.router.ugal.weight == 2 &&
              m.router.ugal.queue == FC_UGAL_BOTH && m.router.ugal.via == FC_UGAL_SUPERNODE);
    CU_ASSERT_EQUAL(fc_ugal_threshold_flits(&m), 30);
    m.packet.max_bytes = 32 * 40;
    CU_ASSERT_EQUAL(fc_ugal_threshold_flits(&m), 240); /* six packets */
    m.classes[0].latency_s = 32e-6;                    /* 64 us at 1 GB/s: 2000 flits under way */
    CU_ASSERT_EQUAL(fc_ugal_threshold_flits(&m), 250);
    fc_machine_free(&m);
}

static const struct refusal ranges[] = {
    {TORUS("dims: [4, 0]"), FC_INPUT, 2, "network.dims: '0' is out of range (allowed: 1 to 4294967295)"},
    {TORUS("dims: [4, -4]"), FC_INPUT, 2, "network.dims: '-4' is out of range"},
    {TORUS("dims: [9223372036854775808, 2]"), FC_INPUT, 2, "network.dims: '9223372036854775808' is too large"},
    {TORUS("dims: [18446744073709551617]"), FC_INPUT, 2, "is too large"},
    {TORUS("dims: [4], nodes_per_router: 0"), FC_INPUT, 2, "network.nodes_per_router: '0' is out of range"},
    {TORUS("dims: [4], nodes_per_router: 9223372036854775808"), FC_INPUT, 2, "network.nodes_per_router: "},
    {TORUS("dims: [4], links_per_dim: [0]"), FC_INPUT, 2, "network.links_per_dim: '0' is out of range"},
    {"name: a\nclock: 0\n" REST, FC_INPUT, 2, "clock: '0' is out of range"},
    {"name: a\nclock: -1 GHz\n" REST, FC_INPUT, 2, "clock: '-1 GHz' is negative"},
    {"name: a\n" NET "links: {torus: {bandwidth: 0}}\n", FC_INPUT, 3, "links.torus.bandwidth: '0' is out of range"},
    {"name: a\n" NET "links: {torus: {bandwidth: -1 GB/s}}\n", FC_INPUT, 3, "'-1 GB/s' is negative"},
    {"name: a\n" NET "links: {torus: {bandwidth: 1e400}}\n", FC_INPUT, 3, "links.torus.bandwidth: '1e400'"},
    {"name: a\n" NET "links: {torus: {bandwidth: 1 GB/s, latency: 11 s}}\n", FC_INPUT, 3, "'11 s' is out of range"},
    {"name: a\n" REST "router: {flit: 0}\n", FC_INPUT, 4, "router.flit: '0' is out of range"},
    {"name: a\n" REST "router: {buffer: 0}\n", FC_INPUT, 4, "router.buffer: '0' is out of range"},
    {"name: a\n" REST "router: {buffer: 8 EiB}\n", FC_INPUT, 4, "router.buffer: '8 EiB'"},
    {"name: a\n" REST "router: {vcs: 0}\n", FC_INPUT, 4, "router.vcs: '0' is out of range (allowed: 1 to 64)"},
    {"name: a\n" REST "router: {paths: -1}\n", FC_INPUT, 4, "router.paths: '-1' is out of range"},
    {"name: a\n" REST "node: {cores: 0}\n", FC_INPUT, 4, "node.cores: '0' is out of range"},
    {"name: a\n" REST "node: {cores: 9223372036854775808}\n", FC_INPUT, 4,
     "node.cores: '9223372036854775808' is too large"},
    {"name: a\n" REST "packet: {max: 0}\n", FC_INPUT, 4, "packet.max: '0' is out of range"},
    {"name: a\n" REST "packet: {max: 9223372036854775808}\n", FC_INPUT, 4,
     "packet.max: '9223372036854775808' is too large"},
    {"name: a\n" REST "software: {eager: 9223372036854775808 B}\n", FC_INPUT, 4, "software.eager: "},
    {"name: a\n" REST "software: {eager_beyond: 1 KiB}\n", FC_INPUT, 4,
     "software.eager_beyond: without software.eager_partners every partner has eager buffers"},
    {"name: a\n" REST "software: {eager: 1 KiB, eager_beyond: 2 KiB, eager_partners: 2}\n", FC_INPUT, 4,
     "software.eager_beyond: 2048 B are more than software.eager (expected at most 1024 B)"},
    {"name: a\n" REST "software: {send: -1 us}\n", FC_INPUT, 4, "software.send: '-1 us' is negative"},
    {"name: a\n" REST "packet:\n  min: 32 B\n  header: 16 B\n", FC_INPUT, 5, "packet.max is missing"},
    {"name: a\n" REST "packet:\n  max: 64 B\n  header: 64 B\n", FC_INPUT, 6,
     "packet.header: 64 B leaves no payload in max 64 B"},
    {"name: a\n" REST "packet:\n  header: 65 B\n  max: 64 B\n", FC_INPUT, 5, "packet.header: 65 B leaves no payload"},
    {"name: a\n" REST "packet:\n  max: 64 B\n  min: 128 B\n", FC_INPUT, 6, "packet.min: 128 B is more than max 64 B"},
};

static const struct refusal shapes[] = {
    {"name: a\nnetwork: {family: torus}\n" LINKS, FC_INPUT, 2, "network.dims is missing (e.g. dims: [8, 8, 8])"},
    {TORUS("dims: [2, 2, 2, 2, 2, 2, 2, 2, 2]"), FC_INPUT, 2, "network.dims has 9 dimensions (at most 8)"},
    {"name: a\nnetwork:\n  family: torus\n  dims: [4, 4]\n  links_per_dim: [1, 2, 3]\n" LINKS, FC_INPUT, 5,
     "network.links_per_dim has 3 entries (expected 2, one a dimension)"},
    {"name: a\nnetwork:\n  wrap: [1]\n  family: torus\n  dims: [4, 4]\n" LINKS, FC_INPUT, 3,
     "network.wrap has 1 entries"},
    {TORUS("dims: [4, 4], wrap: [1, 2]"), FC_INPUT, 2, "network.wrap: '2' is out of range"},
    {TORUS("dims: [4, 26], longest_line: 4"), FC_INPUT, 2,
     "network.dims: 26 is longer than longest_line and no whole lines make it up (expected at most 4, "},
    {TORUS("dims: [4, 8], wrap: [1, 0], longest_line: 4"), FC_INPUT, 2,
     "network.dims: 8 is longer than longest_line and no ring (expected at most 4, "},
    {TORUS("dims: [8, 8, 8, 8, 8], longest_line: 4"), FC_INPUT, 2, "network.dims: more than 8 dimensions when folded"},
    {TWO_LEVEL("nodes_per_drawer: 4"), FC_INPUT, 2, "network.supernodes is missing"},
    {TWO_LEVEL("supernodes: 4"), FC_INPUT, 2, "network.nodes_per_drawer is missing"},
    {TWO_LEVEL("supernodes: 0, nodes_per_drawer: 4"), FC_INPUT, 2, "network.supernodes: '0' is out of range"},
    {TWO_LEVEL("supernodes: 513, drawers: 4, nodes_per_drawer: 8"), FC_INPUT, 2,
     "network: d_link packed places 16 D links a router, 32 routers a supernode hold those of 512 supernodes only"},
};

/* More than 32-bit numbers or any memory hold: refused before anything is allocated. */
static const struct refusal giants[] = {
    {TORUS("dims: [2000, 2000, 2000]"), FC_NO, 2, "network.dims: 8e+09 nodes are too many"},
    {TORUS("dims: [4294967295, 4294967295]"), FC_NO, 2, "nodes are too many"},
    {TORUS("dims: [100000], nodes_per_router: 65536"), FC_NO, 2, "nodes are too many"},
    {TORUS("dims: [60000, 60000]"), FC_NO, 2, "network: 2.16e+10 links are too many (at most 4294967294 can be held)"},
    {TORUS("dims: [1000, 1000, 1], links_per_dim: [256, 256, 256], nodes_per_router: 4000"), FC_NO, 2,
     "links are too many"},
    {TORUS("dims: [500000000, 1, 1, 1, 1, 1, 1, 1]"), FC_NO, 2, "network"}, /* ports, or memory where it is small */
    {TWO_LEVEL("supernodes: 100000, drawers: 1000, nodes_per_drawer: 1000, d_link: modulo"), FC_NO, 2,
     "network: 1e+11 nodes are too many"},
    {TWO_LEVEL("supernodes: 16000000, nodes_per_drawer: 16, d_link: modulo"), FC_NO, 2, "links are too many"},
    {TWO_LEVEL("supernodes: 4000, drawers: 2, nodes_per_drawer: 2, d_link: modulo, links_per_pair: 4096"), FC_NO, 2,
     "links are too many"},
    {TWO_LEVEL("supernodes: 2, drawers: 1, nodes_per_drawer: 65536"), FC_NO, 2, "links are too many"},
    {"name: a\nnetwork: {family: fat-tree, children: [60000, 60000], parents: [1, 1]}\n"
     "links: {leaf: {bandwidth: 1 GB/s}, up: {bandwidth: 1 GB/s}}\n",
     FC_NO, 2, "are too many"},
    {"name: a\nnetwork: {family: tmesh, dims: [6000, 6000], mesh: [6, 6], bridges: {x-: 0, x+: 1, y-: 2, y+: 3}}\n"
     "links: {torus: {bandwidth: 1 GB/s}, mesh: {bandwidth: 1 GB/s}}\n",
     FC_NO, 2, "are too many"},
};

static void expect(const struct refusal *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct refusal *c = &cases[i];
        char path[64];
        struct fc_machine machine;
        struct fc_network net;
        struct fc_status st = {0};
        CU_ASSERT_FATAL(fc_test_file(path, ".yaml", c->yaml, strlen(c->yaml)));
        if (fc_machine_load(path, &machine, &st) == FC_OK) {
            if (fc_network_build(&machine, &net, &st) == FC_OK) fc_network_free(&net);
            fc_machine_free(&machine);
        }
        unlink(path);
        bool same_place = !strcmp(st.file, path) && st.line == c->line;
        if (!same_place) printf("\n    expected line %ld of %s in\n%s", c->line, path, c->yaml);
        CU_ASSERT(fc_says(&st, c->code, c->part));
        CU_ASSERT(same_place);
    }
}

static void refused_documents(void)
{
    expect(documents, FC_COUNT(documents));
}
static void refused_keys(void)
{
    expect(keys, FC_COUNT(keys));
}
static void refused_names(void)
{
    expect(names, FC_COUNT(names));
}
static void refused_values(void)
{
    expect(values, FC_COUNT(values));
}
static void refused_ugal(void)
{
    expect(ugal, FC_COUNT(ugal));
}
static void refused_ranges(void)
{
    expect(ranges, FC_COUNT(ranges));
}
static void refused_shapes(void)
{
    expect(shapes, FC_COUNT(shapes));
}

static void refused_giants(void)
{
    double start_s = fc_wall_s(), before = (double)fc_peak_rss_bytes();
    expect(giants, FC_COUNT(giants));
    CU_ASSERT(fc_wall_s() - start_s < 1);
    CU_ASSERT((double)fc_peak_rss_bytes() - before < 16e6);
}

/* 4.29e9 links do fit 32-bit numbers; their 56 GB do not fit this computer (where they do, nothing is to be seen). */
static void refused_by_memory(void)
{
    static const struct refusal big[] = {{TORUS("dims: [1024, 1024, 511]"), FC_NO, 2,
                                          "network: 4286578688 links need 55.73 GB of memory (this machine allows"}};
    if (fc_memory_bytes() > 50e9) return;
    double start_s = fc_wall_s(), before = (double)fc_peak_rss_bytes();
    expect(big, 1);
    CU_ASSERT(fc_wall_s() - start_s < 0.5);
    CU_ASSERT((double)fc_peak_rss_bytes() - before < 4e6);
}

static void unreadable_files(void)
{
    struct fc_machine machine;
    struct fc_status none = {0}, directory = {0}, name = {0}, near = {0};
    CU_ASSERT_EQUAL(fc_machine_load("/tmp/no/such/machine.yaml", &machine, &none), FC_INPUT);
    CU_ASSERT(fc_says(&none, FC_INPUT, "/tmp/no/such/machine.yaml: cannot be read: No such file or directory"));
    char path[] = "/tmp/fabricast-test-XXXXXX";
    CU_ASSERT_FATAL(mkdtemp(path) != NULL);
    CU_ASSERT_EQUAL(fc_machine_load(path, &machine, &directory), FC_INPUT);
    CU_ASSERT(fc_says(&directory, FC_INPUT, "cannot be read: Is a directory"));
    rmdir(path);
    CU_ASSERT_EQUAL(fc_machine_load("no-such-computer", &machine, &name), FC_INPUT);
    CU_ASSERT(
        fc_says(&name, FC_INPUT, "no shipped machine is called 'no-such-computer' (`fabricast machines` lists them"));
    CU_ASSERT_EQUAL(fc_machine_load("bgl-513", &machine, &near), FC_INPUT);
    CU_ASSERT(fc_says(&near, FC_INPUT, "no shipped machine is called 'bgl-513'; did you mean 'bgl-512'?"));
}

/* ---- reading ---- */

static const struct {
    const char *name;
    const char *keys[12]; /* none: the name is the whole line */
} sections[] = {
    {"name: shuffled", {NULL}},
    {"title: 'keys in any order'", {NULL}},
    {"clock: 500 MHz", {NULL}},
    {"network",
     {"family: torus", "dims: [4, 3, 2]", "links_per_dim: [1, 2, 1]", "wrap: [1, 0, 1]", "nodes_per_router: 2"}},
    {"links",
     {"x: {latency: 3 cycles, bandwidth: 1 GB/s}", "y: {bandwidth: 2 GB/s, latency: 4 ns}", "z: {bandwidth: 3 GB/s}",
      "injection: {latency: 5 cycles, bandwidth: 4 GB/s}"}},
    {"router",
     {"delay: 7 cycles", "flow_control: wormhole", "flit: 16 B", "vcs: 3", "escape: bubble", "buffer: 2 KiB",
      "routing: valiant", "arbitration: age", "paths: 2"}},
    {"packet", {"min: 32 B", "max: 512 B", "header: 24 B", "trailer: 6 B"}},
    {"node", {"cores: 6"}},
    {"software",
     {"send: 9 cycles", "recv: 2 us", "gap: 3 us", "eager: 4 KiB", "per_byte: 1 ns/B", "compute_scale: 0.5"}},
};

/* Sections and the keys within each in a random order; seed 0: as they stand. */
static void shuffled_text(uint64_t seed, char *text, size_t size)
{
    uint32_t order[FC_COUNT(sections)], inner[12];
    size_t n = 0;
    for (uint32_t i = 0; i < FC_COUNT(sections); i++) order[i] = i;
    if (seed) fc_random_permutation(seed, 0, order, FC_COUNT(sections));
    for (uint32_t i = 0; i < FC_COUNT(sections); i++) {
        uint32_t s = order[i], n_keys = 0;
        while (n_keys < FC_COUNT(inner) && sections[s].keys[n_keys]) inner[n_keys] = n_keys, n_keys++;
        if (seed) fc_random_permutation(seed, 1 + s, inner, n_keys);
        n += (size_t)snprintf(text + n, size - n, "%s%s\n", sections[s].name, n_keys ? ":" : "");
        for (uint32_t k = 0; k < n_keys; k++)
            n += (size_t)snprintf(text + n, size - n, "  %s\n", sections[s].keys[inner[k]]);
    }
    CU_ASSERT_FATAL(n < size);
}

static void read_shuffled(uint64_t seed, struct fc_machine *machine)
{
    char text[4096];
    struct fc_status st = {0};
    shuffled_text(seed, text, sizeof text);
    if (fc_test_machine(text, machine, &st)) printf("\n    seed %llu: %s\n", (unsigned long long)seed, st.message);
    CU_ASSERT_EQUAL_FATAL(st.code, FC_OK);
}

static void values_as_written(void)
{
    struct fc_machine m;
    read_shuffled(0, &m);
    CU_ASSERT_STRING_EQUAL(m.name, "shuffled");
    CU_ASSERT_STRING_EQUAL(m.title, "keys in any order");
    CU_ASSERT(*m.source == 0 && *m.confidence == 0 && m.clock_hz == 500e6 && m.nodes_per_router == 2);
    CU_ASSERT_EQUAL_FATAL(m.n_classes, 4);
    CU_ASSERT(m.classes[0].bandwidth_bytes_per_s == 1e9 && m.classes[0].latency_s == 6e-9);
    CU_ASSERT(m.classes[1].bandwidth_bytes_per_s == 2e9 && m.classes[1].latency_s == 4e-9);
    CU_ASSERT(m.classes[2].bandwidth_bytes_per_s == 3e9 && m.classes[2].latency_s == 0);
    CU_ASSERT_STRING_EQUAL(m.classes[3].name, "injection");
    CU_ASSERT(m.classes[3].bandwidth_bytes_per_s == 4e9 && m.classes[3].latency_s == 10e-9);
    CU_ASSERT(m.router.delay_s == 14e-9 && m.router.flow_control == FC_WORMHOLE && m.router.flit_bytes == 16);
    CU_ASSERT(m.router.vcs == 3 && m.router.escape == FC_ESCAPE_BUBBLE && m.router.buffer_bytes == 2048);
    CU_ASSERT(m.router.arbitration == FC_AGE && m.router.paths == 2 && !strcmp(m.routing->name, "valiant"));
    CU_ASSERT(m.packet.min_bytes == 32 && m.packet.max_bytes == 512 && m.packet.header_bytes == 24);
    CU_ASSERT(m.packet.trailer_bytes == 6 && m.cores_per_node == 6);
    CU_ASSERT(m.software.send_s == 18e-9 && m.software.recv_s == 2e-6 && m.software.gap_s == 3e-6);
    CU_ASSERT(m.software.eager_bytes == 4096 && m.software.per_byte_s == 1e-9 && m.software.compute_scale == 0.5);
    fc_machine_free(&m);
}

static void order_means_nothing(void)
{
    struct fc_machine first, other;
    struct fc_network one, two;
    struct fc_status st = {0};
    read_shuffled(0, &first);
    CU_ASSERT_EQUAL_FATAL(fc_network_build(&first, &one, &st), FC_OK);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        read_shuffled(seed, &other);
        CU_ASSERT_EQUAL_FATAL(fc_network_build(&other, &two, &st), FC_OK);
        first.router.routing = other.router.routing = NULL; /* the only pointer within what is compared */
        CU_ASSERT(!strcmp(first.name, other.name) && !strcmp(first.title, other.title));
        CU_ASSERT(first.clock_hz == other.clock_hz && first.family == other.family && first.routing == other.routing);
        CU_ASSERT(first.nodes_per_router == other.nodes_per_router && first.cores_per_node == other.cores_per_node);
        CU_ASSERT(first.n_classes == other.n_classes && !memcmp(first.classes, other.classes, sizeof first.classes));
        CU_ASSERT(!memcmp(&first.router, &other.router, sizeof first.router));
        CU_ASSERT(!memcmp(&first.packet, &other.packet, sizeof first.packet));
        CU_ASSERT(!memcmp(&first.software, &other.software, sizeof first.software));
        CU_ASSERT_EQUAL_FATAL(one.n_links, two.n_links);
        CU_ASSERT(!memcmp(one.link_target, two.link_target, one.n_links * sizeof *one.link_target));
        CU_ASSERT(!memcmp(one.link_class, two.link_class, one.n_links));
        fc_test_close(&other, &two);
    }
    fc_test_close(&first, &one);
}

/* Every beginning of a machine file is read or refused within its lines; nothing crashes or leaks. */
static void every_prefix(void)
{
    char text[4096], cut[4096];
    shuffled_text(0, text, sizeof text);
    size_t n = strlen(text), good = 0;
    for (size_t i = 0; i < n; i++) {
        struct fc_machine machine;
        struct fc_status st = {0};
        memcpy(cut, text, i);
        cut[i] = 0;
        if (fc_test_machine(cut, &machine, &st) == FC_OK) {
            good++;
            fc_machine_free(&machine);
            continue;
        }
        long lines = 1;
        for (size_t c = 0; c < i; c++) lines += cut[c] == '\n';
        CU_ASSERT(st.code == FC_INPUT && *st.message && st.line >= 1 && st.line <= lines);
    }
    CU_ASSERT(good > 10); /* everything behind links: has defaults */
}

static const CU_TestInfo tests[] = {
    {"what is no machine file", refused_documents},
    {"unknown, repeated and odd keys", refused_keys},
    {"unknown families, classes, routings", refused_names},
    {"wrong types and units", refused_values},
    {"zero, negative and huge values", refused_ranges},
    {"router.ugal: values and defaults", ugal_values},
    {"router.ugal: refusals", refused_ugal},
    {"shapes that do not fit together", refused_shapes},
    {"machines too large for numbers", refused_giants},
    {"machines too large for memory", refused_by_memory},
    {"unreadable files and names", unreadable_files},
    {"values as written", values_as_written},
    {"the order of keys means nothing", order_means_nothing},
    {"every beginning of a file", every_prefix},
    CU_TEST_INFO_NULL,
};

int suite_machine_file(void)
{
    return fc_add_suite("machine_file", tests);
}
