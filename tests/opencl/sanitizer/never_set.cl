/* SPDX-License-Identifier: MIT */
/* Holds kernels that make others wait for an event that no kernel of the program sets; see lost.cl. */
#define ARGUMENTS global int *a, global int *b, constant int *c, local int *l, global int *none, uint n

kernel void never_set_bad(ARGUMENTS)
{
    if (get_global_id(0) == 5) {
        clk_event_t event = create_user_event(); // wrong
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &event, NULL, ^{ a[0] = 1; });
        release_event(event);
    }
}

kernel void in_array_bad(ARGUMENTS)
{
    if (get_global_id(0) == 5) {
        clk_event_t event = create_user_event(), all[2]; // wrong
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 0, NULL, &all[0], ^{ a[1] = 1; });
        all[1] = event;
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 2, all, NULL, ^{ a[0] = 1; });
        release_event(all[0]);
        release_event(event);
    }
}

kernel void nobody_waits_good(ARGUMENTS)
{
    if (get_global_id(0) == 5) {
        clk_event_t event = create_user_event();
        release_event(event);
    }
}

kernel void waits_for_kernel_good(ARGUMENTS)
{
    if (get_global_id(0) == 5) {
        clk_event_t event;
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 0, NULL, &event, ^{ a[1] = 1; });
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &event, NULL, ^{ a[0] = 1; });
        release_event(event);
    }
}
