/* array.c - arrays that grow: twice the room each time, so that n additions cost O(n). */
#include "core/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 4 };

bool fc_array_grow(void *array, void *capacity, size_t capacity_bytes, size_t need, size_t element_bytes)
{
    bool is_short = capacity_bytes == sizeof(uint32_t);
    uint32_t count = 0;
    uint64_t larger = 0;
    void *elements;
    memcpy(&elements, array, sizeof elements);
    if (is_short)
        memcpy(&count, capacity, sizeof count);
    else
        memcpy(&larger, capacity, sizeof larger);
    larger = is_short ? count : larger;
    if (need > SIZE_MAX / 4 / element_bytes) return false;
    larger = 2 * larger > need ? 2 * larger : need;
    if (larger < LEAST) larger = LEAST;
    if (is_short && larger > INT32_MAX) return false;
    elements = realloc(elements, larger * element_bytes);
    if (!elements) return false;
    memcpy(array, &elements, sizeof elements);
    count = (uint32_t)larger;
    if (is_short)
        memcpy(capacity, &count, sizeof count);
    else
        memcpy(capacity, &larger, sizeof larger);
    return true;
}
