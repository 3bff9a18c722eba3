/* lab_delay.c - cables that take time (tests/fabric_lab.sh): lab_delay A B MICROSECONDS [A B MICROSECONDS ...]
 *
 * Every frame that comes in at device A leaves at B so much later, and the other way round, with what the kernel knows of its
 * checksum and segments (PACKET_VNET_HDR). The queue of a direction is first in, first out. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ENDS = 256, LARGEST = 70000 };

struct frame {
    struct frame *next;
    double due_s;
    size_t bytes;
    char text[];
};
static struct frame *first[MOST_ENDS], **last[MOST_ENDS]; /* that came in at an end */
static struct pollfd in[MOST_ENDS];
static double delay_s[MOST_ENDS];

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "lab_delay: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int attach(const char *device)
{
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(ETH_P_ALL)), one = 1, room = 16 << 20;
    struct sockaddr_ll at = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(device)};
    if (fd < 0 || !at.sll_ifindex || setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one) ||
        setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) ||
        setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) || bind(fd, (struct sockaddr *)&at, sizeof at))
        fail(device);
    return fd;
}

static void take_in(int end)
{
    static char text[LARGEST];
    for (ssize_t n; (n = recv(in[end].fd, text, sizeof text, 0)) > 0;) {
        struct frame *f = malloc(sizeof *f + (size_t)n);
        if (!f) fail("memory");
        *f = (struct frame){.due_s = now_s() + delay_s[end], .bytes = (size_t)n};
        memcpy(f->text, text, (size_t)n);
        *last[end] = f;
        last[end] = &f->next;
    }
}

/* Sends what is due; when the next one is. */
static double let_out(int end, double next_s)
{
    for (struct frame *f; (f = first[end]) && f->due_s <= now_s();) {
        while (send(in[end ^ 1].fd, f->text, f->bytes, 0) < 0 && (errno == EAGAIN || errno == ENOBUFS)) usleep(50);
        first[end] = f->next;
        if (!f->next) last[end] = &first[end];
        free(f);
    }
    return first[end] && first[end]->due_s < next_s ? first[end]->due_s : next_s;
}

int main(int argc, char **argv)
{
    int n = 0;
    prctl(PR_SET_TIMERSLACK, 1);
    prctl(PR_SET_PDEATHSIG, 9);
    for (int i = 1; i + 2 < argc && n + 1 < MOST_ENDS; i += 3)
        for (int k = 0; k < 2; k++, n++) {
            in[n] = (struct pollfd){.fd = attach(argv[i + k]), .events = POLLIN};
            delay_s[n] = 1e-6 * atof(argv[i + 2]);
            last[n] = &first[n];
        }
    for (;;) {
        double next_s = now_s() + 1;
        for (int i = 0; i < n; i++) next_s = let_out(i, next_s);
        double left = next_s - now_s();
        struct timespec wait = {.tv_nsec = left > 0.999 ? 999000000 : left > 0 ? (long)(1e9 * left) : 0};
        if (ppoll(in, (nfds_t)n, &wait, NULL) > 0)
            for (int i = 0; i < n; i++)
                if (in[i].revents) take_in(i);
    }
}
