/* validate_report.c - the page of `report` in a real browser without a window (Debian's chromium; says so and
 * skips where it is missing). A row a statement: what was seen, whether it holds; exit status 1 where one
 * does not.
 *
 *     FABRICAST  the program (default obj/fabricast)
 *     KEEP       a directory that keeps the pages, screenshots at 1280 and 390 pixels, light and dark, and
 * the printed page
 *
 * Names of links: every name that the page's script makes is compared with the library's. */
#include "models/link_map.h"
#include "tests/browser.h"

#include <math.h>
#include <sys/stat.h>

static int n_missed;
static char folder[256];

static void row(const char *page, const char *what, bool holds, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void row(const char *page, const char *what, bool holds, const char *format, ...)
{
    char seen[600];
    va_list list;
    va_start(list, format);
    vsnprintf(seen, sizeof seen, format, list);
    va_end(list);
    printf("%-10s %-46s %-44s %s\n", page, what, seen, holds ? "ok" : "MISSED");
    fflush(stdout);
    n_missed += !holds;
}

static const struct page {
    const char *name, *machine, *arguments;
} pages[] = {
    {"percs", "percs-64", "-p stencil4d:grid=16x16x16x16,bytes=2MiB"},
    {"bluegene", "bgl-64k", "-p permutation:seed=3 --map random --versus def"},
    {"torus", "bgl-512", "-p stencil2d:grid=32x32,bytes=64KiB"},
    {"fat-tree", "qsnet-64", "-t traces/samples/lammps-lj-64.fct"},
    {"tmesh", "tmesh-216", "-p permutation:seed=3 --versus random"},
    {"gemini", "gemini-xe6", "-p stencil3d:grid=32x32x32,bytes=64KiB --versus hilbert"},
    {"summit", "summit", "-p stencil3d:grid=32x32x32,bytes=64KiB --versus random"},
    {"dragonfly", "frontier", "-p stencil3d:grid=32x32x32,bytes=64KiB --versus random"},
    {"graph", NULL, "-p permutation:seed=3 --versus random"},
};

/* A fabric of 8 leaf and 4 spine routers and 64 nodes. */
static bool write_graph(char *machine, size_t size)
{
    char path[400];
    snprintf(path, sizeof path, "%s/edges", folder);
    FILE *edges = fopen(path, "w");
    if (!edges) return false;
    for (int l = 0; l < 8; l++) {
        for (int s = 0; s < 4; s++) fprintf(edges, "router leaf%d router spine%d 20 GB/s\n", l, s);
        for (int n = 0; n < 8; n++) fprintf(edges, "router leaf%d node n%d 10 GB/s\n", l, 8 * l + n);
    }
    fclose(edges);
    snprintf(machine, size, "%s/graph.yaml", folder);
    FILE *yaml = fopen(machine, "w");
    if (!yaml) return false;
    fprintf(yaml, "name: cluster\nnetwork: {family: graph, file: edges, format: edge-list}\n");
    return fclose(yaml) == 0;
}

static bool make(const struct page *page, const char *machine, char *path, size_t size)
{
    char command[1500];
    const char *program = getenv("FABRICAST");
    snprintf(path, size, "%s/%s.html", folder, page->name);
    snprintf(command, sizeof command, "'%s' report -m '%s' %s -o '%s' -q >/dev/null",
             program ? program : "obj/fabricast", machine, page->arguments, path);
    struct stat info;
    bool made = system(command) == 0 && stat(path, &info) == 0;
    row(page->name, "page written, under 3 MB", made && info.st_size < 3000000, "%.1f KB",
        made ? (double)info.st_size / 1e3 : 0.0);
    return made;
}

/* What the checks ask of the page. */
static const char probe[] =
    "var probe = {"
    "show(e) { e.scrollIntoView({block: 'center', behavior: 'instant'}); },"
    "box(e) { return e.getBoundingClientRect(); },"
    "text(id) { return document.getElementById(id).innerText.replace(/\\s+/g, ' '); },"
    "links() { return data.classes.reduce((n, c) => n + c.links, 0); },"
    "map() { return data.panels[0].canvases[0]; },"
    "chip() { return document.querySelector('[data-class=\"0\"]'); },"
    /* a point on the hottest curve of the ring */
    "curve() { const r = this.box(document.getElementById('overview-0')), k = overview.strokes[0].at(-1).at;"
    " return [r.left + r.width * (k[0] + 2 * k[2] + k[4]) / 4, r.top + r.height * (k[1] + 2 * k[3] + k[5]) / "
    "4]; },"
    "hidden() { return data.panels.filter((p) => p.class === 0).every((p) => p.box.hidden)"
    " && document.querySelector('.hist[data-class=\"0\"]').hidden; },"
    "colours() { const c = data.panels[0].canvases[1], seen = new Set();"
    " const d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);"
    " d.forEach((pixel) => seen.add(pixel)); return seen.size; },"
    "focus() { const e = document.activeElement;"
    " return e === document.body ? '' : e.id || e.className || e.tagName; },"
    "seen(e) { const s = e && getComputedStyle(e);"
    " return !!s && s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2; },"
    "ring() { const e = document.activeElement; return this.seen(e) || this.seen(e.closest('.chip')); },"
    "top() { return this.box(document.activeElement).top + scrollY; },"
    "paper() { const c = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number);"
    " return (c[0] + c[1] + c[2]) / 3; },"
    "names(p) { return Array.from({length: p.n}, (_, i) => nameOf(p, i)).join('\\n'); },"
    /* the busiest link of every class in the maps against the prediction */
    "off() { const said = JSON.parse(document.getElementById('predictions').textContent).predictions; let "
    "off = 0;"
    " sides.forEach((side, i) => { const most = {};"
    "  for (const p of data.panels) for (let c = 0; c < p.n; c++) {"
    "   const v = bytesOf(side, p.start + c), k = data.classes[p.class].title.toLowerCase();"
    "   if (v > (most[k] || 0)) most[k] = v; }"
    "  for (const [k, v] of Object.entries(said[i].links))"
    "   if (v.used) off = Math.max(off, Math.abs((most[k.toLowerCase()] || 0) / v.max_bytes - 1)); });"
    " return off; } };";

/* Opens the page and gives it the probe; milliseconds as browser_open. */
static double open_page(struct browser *b, const char *path)
{
    double ms = browser_open(b, path);
    browser_run(b, probe);
    return ms;
}

/* ---- what is said ---- */

static void check_names(struct browser *b, const struct page *page, const char *machine_name)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_picture map;
    struct fc_status st = {0};
    size_t n = 0, wrong = 0;
    char expression[200], name[700], example[1500] = "";
    if (fc_machine_load(machine_name, &machine, &st)) return;
    if (!fc_network_build(&machine, &net, &st) && !fc_link_map_build(&net, &map, &st)) {
        for (int p = 0; p < map.n_panels; p++) {
            snprintf(expression, sizeof expression, "probe.names(data.panels[%d])", p);
            json_t *value = browser_value(b, expression);
            const char *at = json_string_value(value);
            for (size_t i = 0; at && i < fc_panel_cells(&map.panels[p]); i++) {
                size_t length = strcspn(at, "\n");
                if (map.panels[p].cell[i] != FC_NONE) {
                    fc_link_name(&net, map.panels[p].cell[i], name, sizeof name);
                    n++;
                    if (strlen(name) != length || memcmp(name, at, length)) {
                        if (!wrong++) snprintf(example, sizeof example, ": '%.*s' for '%s'", (int)length, at, name);
                    }
                }
                at += length + (at[length] == '\n');
            }
            if (!at) wrong++;
            json_decref(value);
        }
        row(page->name, "names of links, against the library", wrong == 0 && n == net.n_links, "%zu of %u, %zu wrong%s",
            n, net.n_links, wrong, example);
        fc_link_map_free(&map);
    }
    fc_network_free(&net);
    fc_machine_free(&machine);
}

/* Loads as the maps have them against the prediction that the page carries. */
static void check_loads(struct browser *b, const struct page *page)
{
    double off = browser_number(b, "probe.off()");
    row(page->name, "busiest of each class, against the prediction", off >= 0 && off < 1e-12, "off by %.3g", off);
}

/* ---- what can be done ---- */

static void check_pointer(struct browser *b)
{
    char text[300];
    browser_run(b, "probe.show(probe.map())");
    double s = browser_number(b, "data.panels[0].tiling.s"), x = browser_number(b, "probe.box(probe.map()).left"),
           y = browser_number(b, "probe.box(probe.map()).top");
    browser_mouse(b, "mouseMoved", x + 4.5 * s, y + 0.5 * s);
    browser_text(b, "probe.text('readout')", text, sizeof text);
    row("percs", "pointing at a cell tells its values",
        strstr(text, "D 0.0->4.0") && strstr(text, "optimize ") &&
            strstr(text, "def 2.147 GB, busy 214.7 ms, 100.0 % of the busiest"),
        "%.40s...", text);
    browser_run(b, "probe.show(document.getElementById('overview-0'))");
    browser_run(b, "select(data.panels[1], data.panels[1].hottest[0])");
    browser_mouse(b, "mouseMoved", browser_number(b, "probe.curve()[0]"), browser_number(b, "probe.curve()[1]"));
    browser_text(b, "probe.text('r-name')", text, sizeof text);
    row("percs", "pointing at a curve of the ring names its link", !strncmp(text, "D ", 2), "%s", text);
}

/* Pointing at the slices of a torus, and at a node. */
static void check_slices(struct browser *b)
{
    char text[300];
    browser_run(b, "probe.show(document.getElementById('overview-1'))");
    double x = browser_number(b, "probe.box(document.getElementById('overview-1')).left + 5"),
           y = browser_number(b, "probe.box(document.getElementById('overview-1')).top + 5");
    browser_mouse(b, "mouseMoved", x, y);
    browser_text(b, "probe.text('r-name')", text, sizeof text);
    row("torus", "pointing at a router names its busiest link", strstr(text, " (0,0,0)->") != NULL, "%s", text);
    browser_run(b, "document.querySelector('#nodes canvas').focus()");
    browser_key(b, "ArrowRight", 39);
    browser_text(b, "probe.text('node-readout')", text, sizeof text);
    row("torus", "arrow keys tell the tasks of a node",
        !strncmp(text, "node 1 ", 7) && strstr(text, "def: 2 tasks, 2-3"), "%.44s", text);
}

static void check_filters(struct browser *b)
{
    browser_run(b, "probe.show(document.getElementById('controls'))");
    double x = browser_number(b, "probe.box(probe.chip()).left + 5"),
           y = browser_number(b, "probe.box(probe.chip()).top + 5");
    browser_mouse(b, "mousePressed", x, y);
    browser_mouse(b, "mouseReleased", x, y);
    bool gone = browser_number(b, "probe.hidden()") == 1;
    browser_key(b, " ", 32);
    bool back = browser_number(b, "probe.hidden()") == 0;
    row("percs", "a class is hidden by the mouse, back by space", gone && back, "%s, %s", gone ? "hidden" : "shown",
        back ? "shown" : "hidden");
    double before = browser_number(b, "probe.colours()");
    browser_run(b, "document.getElementById('floor').focus()");
    for (int i = 0; i < 10; i++) browser_key(b, "ArrowRight", 39);
    double after = browser_number(b, "probe.colours()");
    row("percs", "links under 10 % of the busiest are hidden", before > 2 && after <= 2, "%.0f colours, then %.0f",
        before, after);
    for (int i = 0; i < 10; i++) browser_key(b, "ArrowLeft", 37);
}

/* From the top by Tab alone: everything that can be worked is reached in the order of the page, and is seen
 * to be. */
static void check_keyboard(struct browser *b, const char *path)
{
    char order[2000] = "", what[200], name[2][200];
    bool seen = true, panel = false;
    open_page(b, path);
    int stops = 0, past = -1;
    double last = -1e9;
    for (; stops < 40; stops++) {
        browser_key(b, "Tab", 9);
        if (!*browser_text(b, "probe.focus()", what, sizeof what)) break;
        bool ring = browser_number(b, "probe.ring()") == 1;
        double top = browser_number(b, "probe.top()");
        if (!ring) snprintf(order + strlen(order), sizeof order - strlen(order), " no ring on %s;", what);
        if (stops > 0 && top < last - 60) past = stops;
        last = top;
        seen = seen && ring;
        if (panel || strcmp(what, "panel")) continue;
        panel = true;
        browser_key(b, "Home", 36);
        browser_text(b, "probe.text('r-name')", name[0], sizeof name[0]);
        browser_key(b, "ArrowDown", 40);
        browser_key(b, "ArrowRight", 39);
        browser_text(b, "probe.text('r-name')", name[1], sizeof name[1]);
    }
    row("percs", "Tab reaches the controls in order, focus is seen", seen && panel && stops >= 12 && past < 0,
        "%d stops%s", stops, order);
    row("percs", "Home and arrow keys move over the links",
        panel && !strcmp(name[0], "D 0.0->4.0") && !strcmp(name[1], "D 1.0->5.0"), "%s, then %s", panel ? name[0] : "",
        panel ? name[1] : "");
}

/* ---- how it looks ---- */

static void keep_picture(struct browser *b, const char *name)
{
    char path[400];
    if (!getenv("KEEP")) return;
    json_t *metrics = browser_call(b, "Page.getLayoutMetrics", NULL),
           *size = json_object_get(metrics, "cssContentSize");
    json_t *clip = json_pack("{s:i, s:i, s:O, s:O, s:i}", "x", 0, "y", 0, "width", json_object_get(size, "width"),
                             "height", json_object_get(size, "height"), "scale", 1);
    json_t *shot =
        browser_call(b, "Page.captureScreenshot", json_pack("{s:o, s:b}", "clip", clip, "captureBeyondViewport", 1));
    snprintf(path, sizeof path, "base64 -d > '%s/%s.png'", folder, name);
    FILE *out = popen(path, "w");
    if (out) {
        fputs(json_string_value(json_object_get(shot, "data")), out);
        pclose(out);
    }
    json_decref(metrics);
    json_decref(shot);
}

static void check_looks(struct browser *b, const struct page *page, const char *path)
{
    char name[100];
    for (int dark = 0; dark < 2; dark++)
        for (int phone = 0; phone < 2; phone++) {
            browser_screen(b, phone ? 390 : 1280, phone ? 844 : 900, dark);
            open_page(b, path);
            double wide = browser_number(b, "document.documentElement.scrollWidth");
            double light = browser_number(b, "probe.paper()");
            snprintf(name, sizeof name, "%s at %d pixels", dark ? "dark" : "light", phone ? 390 : 1280);
            row(page->name, name, wide <= (phone ? 390 : 1280) && (dark ? light < 60 : light > 200),
                "%.0f pixels wide, paper %.0f", wide, light);
            snprintf(name, sizeof name, "%s-%d-%s", page->name, phone ? 390 : 1280, dark ? "dark" : "light");
            keep_picture(b, name);
        }
    json_t *pdf =
        browser_call(b, "Page.printToPDF", json_pack("{s:b, s:b}", "printBackground", 0, "preferCSSPageSize", 1));
    const char *text = json_string_value(json_object_get(pdf, "data"));
    row(page->name, "prints", text && strlen(text) > 20000, "%.0f KB of PDF",
        text ? (double)strlen(text) * 0.75e-3 : 0);
    if (getenv("KEEP") && text) {
        char command[400];
        snprintf(command, sizeof command, "base64 -d > '%s/%s.pdf'", folder, page->name);
        FILE *out = popen(command, "w");
        if (out) {
            fputs(text, out);
            pclose(out);
        }
    }
    json_decref(pdf);
}

static void check_page(struct browser *b, const struct page *page)
{
    char path[400], machine[400];
    snprintf(machine, sizeof machine, "%s", page->machine ? page->machine : "");
    if ((!page->machine && !write_graph(machine, sizeof machine)) || !make(page, machine, path, sizeof path)) {
        row(page->name, "made", false, "no");
        return;
    }
    browser_screen(b, 1280, 900, false);
    double best_ms = INFINITY, cpu_ms = INFINITY;
    b->n_errors = b->n_requests = 0;
    for (int i = 0; i < 4; i++) {
        double ms = open_page(b, path);
        double cpu = ms >= 0 ? browser_cpu_ms(b) : -1;
        if (ms >= 0 && ms < best_ms) best_ms = ms;
        if (cpu >= 0 && cpu < cpu_ms) cpu_ms = cpu;
    }
    row(page->name, "drawn within 1 s of CPU, best of four", cpu_ms < 1000,
        "%.0f ms (%.0f ms on the clock), %.0f links", cpu_ms, best_ms, browser_number(b, "probe.links()"));
    check_names(b, page, machine);
    check_loads(b, page);
    if (!strcmp(page->name, "percs")) {
        double ratio = browser_number(b, "data.panels[0].busiest_s[1] / data.panels[0].busiest_s[0]");
        row("percs", "the D links are hot before, and not after", ratio > 0 && ratio < 0.1,
            "busiest after %.1f %% of before", 100 * ratio);
        check_pointer(b);
        check_filters(b);
        check_keyboard(b, path);
    }
    if (!strcmp(page->name, "torus")) check_slices(b);
    check_looks(b, page, path);
    row(page->name, "no error, nothing asked of a network", b->n_errors == 0 && b->n_requests == 0,
        "%d errors, %d requests", b->n_errors, b->n_requests);
}

int main(int argc, char **argv)
{
    struct browser b;
    const char *keep = getenv("KEEP");
    if (!browser_start(&b) || !browser_page(&b)) {
        printf("SKIPPED: no browser (apt-get install chromium)\n");
        browser_end(&b);
        return 0;
    }
    if (keep) {
        char *real = mkdir(keep, 0777) == 0 || access(keep, W_OK) == 0 ? realpath(keep, NULL) : NULL;
        snprintf(folder, sizeof folder, "%s", real ? real : "");
        free(real);
    } else {
        strcpy(folder, "/tmp/fabricast-report-XXXXXX");
        if (!mkdtemp(folder)) *folder = 0;
    }
    for (size_t i = 0; i < FC_COUNT(pages) && *folder; i++) {
        bool chosen = argc < 2;
        for (int k = 1; k < argc; k++) chosen = chosen || !strcmp(argv[k], pages[i].name);
        if (chosen) check_page(&b, &pages[i]);
    }
    if (b.lost || !*folder) row("", "the browser answers", false, "no");
    browser_end(&b);
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (!keep && *folder && system(command)) printf("%s stays\n", folder);
    printf("%d missed\n", n_missed);
    return n_missed > 0;
}
