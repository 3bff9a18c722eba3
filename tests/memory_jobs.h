/* memory_jobs.h - small machines, jobs and commands whose allocations are failed, one after the other. */
#pragma once

#include "tests/memory_check.h"

#define FC_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* In a command "@NAME" is the path of an input. */
static const struct memory_input {
    const char *name, *text;
} memory_inputs[] = {
    {"torus.yaml",
     "name: four\nnetwork: {family: torus, dims: [2, 2]}\nlinks: {torus: {bandwidth: 175 MB/s}}\nclock: 175 MHz\n"
     "router: {routing: adaptive, escape: bubble, flit: 32 B, vcs: 2, buffer: 1 KiB}\n"
     "packet: {min: 32 B, max: 256 B}\nnode: {cores: 1}\n"},
    {"ring.yaml",
     "name: ring\nnetwork: {family: torus, dims: [4]}\nlinks: {torus: {bandwidth: 1 GB/s, latency: 10 ns}}\n"
     "clock: 500 MHz\nrouter: {routing: dimension-order, escape: dateline, flow_control: wormhole, flit: 16 B, vcs: 2, "
     "buffer: 256 B}\npacket: {max: 64 B}\nnode: {cores: 2}\nhosts: cn[0-3]\n"},
    {"tree.yaml",
     "name: tree\nnetwork: {family: fat-tree, children: [2, 2], parents: [1, 2]}\n"
     "links: {leaf: {bandwidth: 1 GB/s}, level1: {bandwidth: 1 GB/s}}\nclock: 500 MHz\nnode: {cores: 1}\n"},
    {"percs.yaml",
     "name: percs\nnetwork: {family: two-level, supernodes: 2, drawers: 2, nodes_per_drawer: 2}\nclock: 500 MHz\n"
     "links: {ll: {bandwidth: 2 GB/s}, lr: {bandwidth: 1 GB/s}, d: {bandwidth: 2 GB/s}}\nnode: {cores: 1}\n"},
    {"tmesh.yaml",
     "name: chips\nnetwork: {family: tmesh, dims: [2, 2, 2], mesh: [2, 3], bridges: {x-: 0, y-: 1, z-: 2, x+: 3, y+: 4, "
     "z+: 5}, router_nodes_compute: true}\nlinks: {torus: {bandwidth: 1 GB/s}, mesh: {bandwidth: 2 GB/s}}\n"
     "clock: 500 MHz\nnode: {cores: 1}\n"},
    {"graph.yaml", "name: graph\nnetwork: {family: graph, file: graph.txt, format: edge-list}\n"
                   "node: {cores: 1}\n"},
    {"graph.txt",
     "router s0 router s1 20 GB/s\nrouter s0 node n0 10 GB/s\nrouter s0 node n1 10 GB/s\nrouter s1 node n2 10 GB/s\n"
     "router s1 node n3 10 GB/s\n"},
    {"job.txt",
     "fabricast-trace 1\nranks 4\ncomm 0 0-3\ncomm 1 0-1\nevents 22\n"
     "rank 0 7\ninit 0 0 0\nirecv 0.1 0.1 0.1 comm=0 peer=1 tag=0 bytes=1024 request=0\n"
     "isend 0.1 0.1 0 comm=0 peer=2 tag=1 bytes=70000 request=1\nwait 0.1 0.2 0 requests=0-1\n"
     "allreduce 0.3 0.4 0.1 comm=0 bytes=64\nalltoallv 0.4 0.45 0 comm=0 bytes=60 sizes=0,10,20,30\nfinalize 0.5 0.5 0.1\n"
     "rank 1 5\ninit 0 0 0\nsend 0.1 0.1 0.1 comm=0 peer=0 tag=0 bytes=1024\n"
     "allreduce 0.3 0.4 0.1 comm=0 bytes=64\nalltoallv 0.4 0.45 0 comm=0 bytes=60 sizes=10,0,20,30\nfinalize 0.5 0.5 0.1\n"
     "rank 2 6\ninit 0 0 0\nrecv 0.1 0.1 0.1 comm=0 peer=0 tag=1 bytes=70000\n"
     "isend 0.1 0.1 0 comm=0 peer=2 tag=9 bytes=8 request=0\n"
     "allreduce 0.3 0.4 0.1 comm=0 bytes=64\nalltoallv 0.4 0.45 0 comm=0 bytes=60 sizes=10,20,0,30\nfinalize 0.5 0.5 0.1\n"
     "rank 3 4\ninit 0 0 0\n"
     "allreduce 0.3 0.4 0.1 comm=0 bytes=64\nalltoallv 0.4 0.45 0 comm=0 bytes=60 sizes=10,20,30,0\nfinalize 0.5 0.5 0.1\nend\n"},
    {"job.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 4\n1 2 1000\n2 3 2000\n3 4 1000\n4 1 500\n"},
};

static const char *const memory_commands[] = {
    "list",
    "list strategies --json",
    "machines @torus.yaml",
    "machines @torus.yaml --json",
    "load -m @torus.yaml -p uniform",
    "load -m @torus.yaml -p transpose --json",
    "load -m @torus.yaml -p transpose -o x.json --json --set node.cores=2",
    "load -m @torus.yaml -p permutation:seed=3 --bound lp",
    "load -m @ring.yaml --worst-case",
    "load -m @tree.yaml -g @job.mtx -o x.txt",
    "load -m @percs.yaml -t @job.txt",
    "load -m @graph.yaml -t @job.txt",
    "predict -m @torus.yaml -p stencil2d:grid=2x2,bytes=1KiB",
    "predict -m @torus.yaml -t @job.txt --json -o x.json",
    "predict -m @torus.yaml,@ring.yaml -t @job.txt --map def,rnm",
    "predict -m @torus.yaml -t @job.txt --network queueing",
    "predict -m @torus.yaml -t @job.txt --network ideal",
    "predict -m @graph.yaml -t @job.txt --sensitivity --time 1us --json",
    "predict -m @calibrated.yaml -p stencil2d:grid=2x2,bytes=1KiB --json",
    "map -m @torus.yaml -t @job.txt --strategy optimize --time 0.01 --threads 1",
    "map -m @ring.yaml -p stencil2d:grid=2x4,bytes=1KiB --strategy optimize --time 0.01 --format slurm -o hosts --threads 2",
    "map -m @torus.yaml -g @job.mtx --strategy scotch --format json -o x.json",
    "map -m @tree.yaml -g @job.mtx --strategy scotch",
    "map -m @graph.yaml -g @job.mtx --strategy scotch",
    "map -m @torus.yaml -g @job.mtx --strategy exact",
    "map -m @torus.yaml -g @job.mtx --strategy all --time 0.01 --threads 1",
    "curve -m @torus.yaml -p uniform --loads 20%:40%:20% --solver queueing",
    "curve -m @torus.yaml -p uniform --loads 20%:40%:20% --solver flit --warmup 50 --measure 200 --json",
    "curve -m @calibrated.yaml -p uniform --loads 20%:40%:20% --solver both --warmup 50 --measure 200 -o x.txt",
    "flit -m @torus.yaml -p uniform --load 20% --warmup 50 --measure 200 --engine event --threads 1",
    "flit -m @torus.yaml -p uniform --load 20% --warmup 50 --measure 200 --engine event --threads 2",
    "flit -m @ring.yaml -p uniform --load 20% --warmup 50 --measure 200 --engine cycle --threads 1 -o x.txt",
    "flit -m @ring.yaml -p uniform --load 20% --warmup 50 --measure 200 --engine cycle --threads 2",
    "report -m @torus.yaml -t @job.txt --time 0.01 -o x.html --threads 1",
    "report -m @tmesh.yaml -p permutation:seed=3 --versus random -o x.html",
    "trace convert @job.txt -o x.fct",
    "trace convert @job.txt --format text -o x.txt",
    "trace convert @job.txt --format goal -o x.goal",
    "trace convert @job.txt --format mtx -o x.mtx",
    "trace convert @job.txt --format ti -o x.ti",
    "trace info @job.txt",
    "trace info @job.fct",
    "trace info @job.txt.gz",
    "trace info @job.txt.xz",
    "trace info @job.goal",
    "predict -m @torus.yaml -t @job.fct",
    "trace info @job.txt --json",
};

/* The machine of a shipped calibration, and of that every list's first entry: small, and nothing left out. */
static inline bool memory_calibrated(const char *folder)
{
    char command[1000];
    snprintf(
        command, sizeof command,
        "cp models/machines/bgl-64.yaml '%s/calibrated.yaml' && awk '/^[a-z]/ {n=0} /^  - / {n++} /^    [a-z]/ {m=0} "
        "/^    - / {m++} n<=1 && m<=1' models/machines/bgl-64.calibration.yaml > '%s/calibrated.calibration.yaml'",
        folder, folder);
    return system(command) == 0;
}

/* Writes the inputs; `program` and `library` as given to execv and LD_PRELOAD. */
static inline bool memory_open(struct memory_check *m, const char *program, const char *library)
{
    *m = (struct memory_check){0};
    if (!realpath(program, m->program) || !realpath(library, m->preload)) return perror(program), false;
    strcpy(m->folder, "/tmp/fabricast-memory-XXXXXX");
    if (!mkdtemp(m->folder) || !memory_calibrated(m->folder)) return perror(m->folder), false;
    for (size_t i = 0; i < FC_COUNT_OF(memory_inputs); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", m->folder, memory_inputs[i].name);
        FILE *file = fopen(path, "w");
        if (!file || fputs(memory_inputs[i].text, file) < 0 || fclose(file)) return perror(path), false;
    }
    char command[3 * PATH_MAX];
    snprintf(
        command, sizeof command,
        "cd '%s' && '%s' trace convert job.txt -o job.fct && '%s' trace convert job.txt --format goal -o job.goal 2>/dev/null && "
        "gzip -k job.txt && xz -k job.txt",
        m->folder, m->program, m->program);
    return system(command) == 0;
}

static inline void memory_close(struct memory_check *m)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", m->folder);
    if (*m->folder && system(command)) fprintf(stderr, "%s stays\n", m->folder);
}

/* The command with the inputs' paths, from folder/run/out. */
static inline void memory_command(char *out, size_t size, const char *command)
{
    size_t n = 0;
    for (; *command && n + 8 < size; command++) {
        if (*command == '@')
            n += (size_t)snprintf(out + n, size - n, "../../");
        else
            out[n++] = *command;
    }
    out[n] = 0;
}
