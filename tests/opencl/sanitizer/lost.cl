/* SPDX-License-Identifier: MIT */
/*
 * Holds kernels that lose nested work, each with its corrected twin behind it. The comment `wrong` marks the line of
 * the report. There are 64 work-items in groups of 32; a has n = 64 numbers, b 100.
 */
#define ARGUMENTS global int *a, global int *b, constant int *c, local int *l, global int *none, uint n
#define GID (uint)get_global_id(0)
#define FIRST if (GID == 0)
#define NOW CLK_ENQUEUE_FLAGS_NO_WAIT
#define TOO_LARGE 100000 /* for a work-group */

void put(queue_t queue, ndrange_t range, global int *to)
{
    enqueue_kernel(queue, NOW, range, ^{ to[get_global_id(0)] = 1; }); // wrong, for helper_bad
}

kernel void not_enqueued_bad(ARGUMENTS)
{
    FIRST enqueue_kernel(get_default_queue(), NOW, ndrange_1D(TOO_LARGE, TOO_LARGE), ^{ a[0] = 1; }); // wrong
}

kernel void not_enqueued_good(ARGUMENTS)
{
    FIRST enqueue_kernel(get_default_queue(), NOW, ndrange_1D(32, 32), ^{ a[get_global_id(0)] = 1; });
}

kernel void never_read_bad(ARGUMENTS)
{
    FIRST {
        int error = enqueue_kernel(get_default_queue(), NOW, ndrange_1D(TOO_LARGE, TOO_LARGE), ^{ a[0] = 1; }); // wrong
    }
}

kernel void never_read_good(ARGUMENTS)
{
    FIRST {
        int error = enqueue_kernel(get_default_queue(), NOW, ndrange_1D(TOO_LARGE, TOO_LARGE), ^{ a[0] = 1; });
        a[1] = error;
    }
}

kernel void helper_bad(ARGUMENTS)
{
    FIRST put(get_default_queue(), ndrange_1D(TOO_LARGE, TOO_LARGE), a);
}

kernel void helper_good(ARGUMENTS)
{
    FIRST put(get_default_queue(), ndrange_1D(16, 16), a);
}

kernel void local_memory_bad(ARGUMENTS)
{
    FIRST enqueue_kernel(get_default_queue(), NOW, ndrange_1D(32), ^(local void *p) { a[0] = *(local int *)p; }, // wrong
                         1u << 30);
}

kernel void local_memory_good(ARGUMENTS)
{
    FIRST enqueue_kernel(get_default_queue(), NOW, ndrange_1D(1), ^(local void *p) { a[0] = *(local int *)p; }, 1u << 10);
}

kernel void bad_event_bad(ARGUMENTS)
{
    queue_t queue = get_default_queue();
    FIRST {
        clk_event_t event = CLK_NULL_EVENT;
        enqueue_marker(queue, 1, &event, NULL); // wrong
    }
}

kernel void bad_event_good(ARGUMENTS)
{
    queue_t queue = get_default_queue();
    FIRST {
        clk_event_t event;
        enqueue_kernel(queue, NOW, ndrange_1D(1), 0, NULL, &event, ^{ a[0] = 1; });
        enqueue_marker(queue, 1, &event, NULL);
        release_event(event);
    }
}

kernel void event_lost_bad(ARGUMENTS)
{
    FIRST {
        clk_event_t event;
        enqueue_kernel(get_default_queue(), NOW, ndrange_1D(1), 0, NULL, &event, ^{ a[0] = 1; }); // wrong
    }
}

kernel void event_lost_good(ARGUMENTS)
{
    FIRST {
        clk_event_t event;
        enqueue_kernel(get_default_queue(), NOW, ndrange_1D(1), 0, NULL, &event, ^{ a[0] = 1; });
        release_event(event);
    }
}

kernel void marker_lost_bad(ARGUMENTS)
{
    FIRST {
        clk_event_t event, all;
        enqueue_kernel(get_default_queue(), NOW, ndrange_1D(1), 0, NULL, &event, ^{ a[0] = 1; });
        enqueue_marker(get_default_queue(), 1, &event, &all); // wrong
        release_event(event);
    }
}

kernel void marker_lost_good(ARGUMENTS)
{
    FIRST {
        clk_event_t event, all;
        enqueue_kernel(get_default_queue(), NOW, ndrange_1D(1), 0, NULL, &event, ^{ a[0] = 1; });
        enqueue_marker(get_default_queue(), 1, &event, &all);
        enqueue_kernel(get_default_queue(), NOW, ndrange_1D(1), 1, &all, NULL, ^{ a[1] = 1; });
        release_event(event);
        release_event(all);
    }
}

kernel void user_event_good(ARGUMENTS)
{
    FIRST {
        clk_event_t event = create_user_event();
        enqueue_kernel(get_default_queue(), NOW, ndrange_1D(1), 1, &event, NULL, ^{ a[0] = 1; });
        set_user_event_status(event, CL_COMPLETE);
        release_event(event);
    }
}
