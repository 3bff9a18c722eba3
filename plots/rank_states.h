/* rank_states.h - how figures show what ranks do: dark to light, so that they read in grey. Private to plots/. */
#pragma once

#include "core/timeline.h"

/* In the order in which they are stacked, from below. */
struct fc_rank_shade {
    enum fc_rank_state state;
    const char *name, *colour;
};
static const struct fc_rank_shade fc_rank_shades[FC_RANK_STATES] = {
    {FC_RANK_COMPUTES, "computation", "#1f3f7a"},
    {FC_RANK_RECEIVES, "receiving", "#2a8f85"},
    {FC_RANK_SENDS, "sending", "#e69f45"},
    {FC_RANK_WAITS, "waiting", "#dcdad5"},
};
