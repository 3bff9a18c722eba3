/* cmd_certify.c - `certify`: is the routing free of deadlock under a virtual-channel rule; the cycle if not. */
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/watch.h"

struct answer {
    const struct fc_session *session;
    const struct fc_certificate *certificate;
};

static void print(FILE *stream, const void *what)
{
    const struct answer *a = what;
    const struct fc_certificate *c = a->certificate;
    const struct fc_machine *m = &a->session->machine;
    char name[256];
    fc_print_machine(m, stream);
    fprintf(stream, "rule        %s on routing %s: %d virtual channels a link\n", c->policy, m->routing->name,
            c->n_vcs);
    fprintf(stream, "graph       %llu channels (%llu used), %llu arcs\n", (unsigned long long)c->n_channels,
            (unsigned long long)c->n_used_channels, (unsigned long long)c->n_arcs);
    fprintf(stream, "answer      %s\n",
            !c->safe     ? "CAN DEADLOCK"
            : !c->enough ? "NOT with this machine's virtual channels"
            : c->acyclic ? "free of deadlock: acyclic"
                         : "free of deadlock: by the escape");
    if (!c->enough)
        fprintf(stream, "            The rule takes %d virtual channels of a link; router.vcs has %lld.\n", c->data_vcs,
                m->router.vcs);
    fprintf(stream, "            %s\n", c->argument);
    for (uint32_t i = 0; i < c->n_cycle; i++)
        fprintf(stream, "  %s %s\n", i ? "waits for" : "cycle:   ",
                fc_channel_name(&a->session->net, c->cycle[i], c->n_vcs, name, sizeof name));
    if (c->n_cycle)
        fprintf(stream, "  waits for %s\n",
                fc_channel_name(&a->session->net, c->cycle[0], c->n_vcs, name, sizeof name));
}

static json_t *to_json(const struct answer *a)
{
    const struct fc_certificate *c = a->certificate;
    char name[256];
    json_t *cycle = json_array();
    for (uint32_t i = 0; i < c->n_cycle; i++)
        json_array_append_new(cycle,
                              json_string(fc_channel_name(&a->session->net, c->cycle[i], c->n_vcs, name, sizeof name)));
    return json_pack("{s:s, s:s, s:s, s:b, s:b, s:i, s:i, s:I, s:I, s:I, s:I, s:s, s:o}", "machine",
                     a->session->machine.name, "routing", a->session->machine.routing->name, "rule", c->policy,
                     "deadlock_free", c->safe && c->enough, "acyclic", c->acyclic, "virtual_channels", c->n_vcs,
                     "vcs_needed", c->data_vcs, "vcs", (json_int_t)a->session->machine.router.vcs, "channels",
                     (json_int_t)c->n_channels, "channels_used", (json_int_t)c->n_used_channels, "arcs",
                     (json_int_t)c->n_arcs, "argument", c->argument, "cycle", cycle);
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    FC_SCOPED(fc_session_close) struct fc_session session = {0};
    FC_SCOPED(fc_certificate_free) struct fc_certificate certificate = {0};
    if (fc_open_machine(arguments, arguments->ask.machine, &session, st)) return st->code;
    if (!fc_certify(&session.net, arguments->run.vc_rule, &certificate, st)) {
        struct answer answer = {&session, &certificate};
        if (!fc_deliver(arguments, arguments->json ? to_json(&answer) : NULL, print, &answer, st) && !certificate.safe)
            fc_refuse(st, FC_NO, "%s can deadlock under rule %s", session.machine.name, certificate.policy);
        else if (!st->code && !certificate.enough)
            fc_refuse(st, FC_NO,
                      "%s has too few virtual channels for rule %s: router.vcs is %lld (expected at least %d)",
                      session.machine.name, certificate.policy, session.machine.router.vcs, certificate.data_vcs);
    }
    return st->code;
}

const struct fc_command fc_command_certify = {
    .name = "certify",
    .summary = "deadlock certificate: the channel dependency graph of routing and virtual channels, or its cycle",
    .example = "fabricast certify -m tmesh-216 --vc-rule shared",
    .options = FC_GROUPS(FC_MACHINE, FC_ROUTING, FC_WITHOUT, FC_CHANNELS, FC_OUTPUT, FC_COMMON),
    .run = run,
    .swept = "",
};
