/* SPDX-License-Identifier: MIT */
#include "tools/report/page_stacks.h"

#include <stdlib.h>

json_t *page_stacks(const struct stacks *stacks)
{
    json_t **made = stacks->nodes != 0 ? calloc(stacks->nodes, sizeof(json_t *)) : NULL;
    json_t *root = NULL;

    /* Parents come before their children. */
    for (uint32_t i = 0; made && i < stacks->nodes; i++) {
        const struct stacks_node *node = &stacks->node[i];
        json_t *name = json_string(stacks->texts.text[node->name]);
        made[i] = json_pack("{s:o, s:I, s:I, s:[]}", "name", name ? name : json_string("?"), "own",
                            (json_int_t)node->insns, "total", (json_int_t)node->total, "calls");
        if (i == 0) {
            root = made[i];
        } else {
            json_array_append_new(json_object_get(made[node->parent], "calls"), made[i]);
        }
    }
    free(made);
    return root ? root : json_null();
}
