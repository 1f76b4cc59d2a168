/* SPDX-License-Identifier: MIT */
/*
 * Implements a doubly linked list whose nodes lie inside the objects. An object is in at most one list by each of its
 * nodes; all operations take the same few steps.
 */
#ifndef FIRMWARE_LIST_H
#define FIRMWARE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list_node {
    struct list_node *next;
    struct list_node *prev;
};

static inline void list_init(struct list_node *list)
{
    list->next = list;
    list->prev = list;
}

static inline bool list_empty(const struct list_node *list)
{
    return list->next == list;
}

static inline void list_insert(struct list_node *node, struct list_node *prev, struct list_node *next)
{
    node->prev = prev;
    node->next = next;
    prev->next = node;
    next->prev = node;
}

static inline void list_push_front(struct list_node *list, struct list_node *node)
{
    list_insert(node, list, list->next);
}

static inline void list_push_back(struct list_node *list, struct list_node *node)
{
    list_insert(node, list->prev, list);
}

/* Leaves the node alone: removing it once more does nothing. */
static inline void list_remove(struct list_node *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

/* Takes the first node off the list; NULL when it is empty. */
static inline struct list_node *list_take_front(struct list_node *list)
{
    struct list_node *node = list->next;
    if (node == list) {
        return NULL;
    }
    list_remove(node);
    return node;
}

#endif
