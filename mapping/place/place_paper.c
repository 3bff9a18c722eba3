/* place_paper.c - Table 1 of the TMesh paper: Liu, Xun, Cao & Sun, Co-design of on-chip networks and system
 * interconnection networks. Its RN nodes are not printed: they are those whose mean turn hops are the table's
 * (docs/place.md). */
#include "mapping/place/place.h"

const struct fc_published_layout fc_place_table1[FC_PLACE_TABLE1] = {
    {"8,4,0", {{11, 8, 7, 4, 3, 0}}, 383.1, 84.0, 2.89}, {"0,2,4", {{1, 0, 3, 2, 5, 4}}, 341.3, 75.9, 1.78},
    {"4,5,6", {{7, 4, 9, 5, 10, 6}}, 333.9, 77.2, 1.78}, {"9,6,4", {{10, 9, 7, 6, 5, 4}}, 321.0, 78.0, 1.67},
    {"4,5,9", {{8, 4, 6, 5, 10, 9}}, 321.2, 79.6, 1.56}, {"5,4,6", {{9, 5, 8, 4, 10, 6}}, 318.8, 80.2, 1.56},
    {"1,5,9", {{2, 1, 6, 5, 10, 9}}, 315.5, 74.0, 1.56},
};
