/* array.h - arrays that grow (array.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether there is room for `need` elements: true at once, or after `array` (a pointer, NULL at first) was moved to at
 * least twice its capacity (an unsigned or positive number of 4 or 8 bytes, 0 at first). False: out of memory, or more
 * than the capacity's type can count; then both are as before. `need` is looked at twice. free() it in the end. */
#define FC_GROW(array, capacity, need)                                                                                 \
    ((size_t)(need) <= (size_t)(capacity) ||                                                                           \
     fc_array_grow(&(array), &(capacity), sizeof(capacity), (size_t)(need), sizeof *(array)))

/* What FC_GROW does where there is no room: `array` is the address of the pointer, `capacity` that of the number. */
bool fc_array_grow(void *array, void *capacity, size_t capacity_bytes, size_t need, size_t element_bytes);
