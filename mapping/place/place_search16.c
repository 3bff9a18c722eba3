/* place_search16.c - all layouts of a task with loads in numbers of 16 bits. */
#define LANE int16_t
#define TASK fc_place_task16
#include "mapping/place/place_search_lanes.h"
