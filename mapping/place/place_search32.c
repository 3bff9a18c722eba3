/* place_search32.c - all layouts of a task with loads in numbers of 32 bits. */
#define LANE int32_t
#define TASK fc_place_task32
#include "mapping/place/place_search_lanes.h"
