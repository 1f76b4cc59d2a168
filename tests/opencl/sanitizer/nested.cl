/* SPDX-License-Identifier: MIT */
/*
 * Holds kernels with data races between them and the blocks that they enqueue, or between these, each with its
 * corrected twin behind it. The comment `wrong` marks the line of the report, or of its other side. There are 64
 * work-items in groups of 32, a has n = 64 numbers, b 100.
 */
#define ARGUMENTS global int *a, global int *b, constant int *c, local int *l, global int *none, uint n
#define GID (uint)get_global_id(0)
#define LID (uint)get_local_id(0)
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define QUEUE get_default_queue()
#define NO_WAIT CLK_ENQUEUE_FLAGS_NO_WAIT
#define WAIT CLK_ENQUEUE_FLAGS_WAIT_KERNEL
#define ONE ndrange_1D(1)

/* ---- a kernel and what it enqueues ---- */

kernel void store_behind_bad(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[3] = 1; });
        a[3] = 2; // wrong
    }
}

kernel void store_behind_good(ARGUMENTS)
{
    if (GID == 0) {
        a[3] = 2;
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[3] = 1; });
        a[4] = 2;
    }
}

kernel void load_behind_bad(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[3] = 1; });
        b[0] = a[3]; // wrong
    }
}

kernel void load_behind_good(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ b[1] = a[3]; });
        b[0] = a[3];
    }
}

kernel void no_wait_bad(ARGUMENTS)
{
    if (LID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ndrange_1D(GID, 32, 32), ^{ a[GID] = 1; });
    }
    b[GID] = a[GID]; // wrong
}

kernel void no_wait_good(ARGUMENTS)
{
    if (LID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ndrange_1D(GID, 32, 32), ^{ a[GID] = 1; });
    }
    BARRIER;
    ppu_wait_children();
    b[GID] = a[GID];
}

kernel void next_one_bad(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[1] = 1; });
        ppu_wait_children();
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[2] = 1; });
        b[0] = a[1] + a[2]; // wrong
    }
}

kernel void next_one_good(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[1] = 1; });
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[2] = 1; });
        ppu_wait_children();
        b[0] = a[1] + a[2];
    }
}

kernel void no_barrier_before_bad(ARGUMENTS)
{
    a[GID] = 1; // wrong
    if (LID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ndrange_1D(GID, 32, 32), ^{ b[GID] = a[GID]; });
    }
}

kernel void no_barrier_before_good(ARGUMENTS)
{
    a[GID] = 1;
    BARRIER;
    if (LID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ndrange_1D(GID, 32, 32), ^{ b[GID] = a[GID]; });
    }
}

kernel void other_group_bad(ARGUMENTS)
{
    a[GID] = 1; // wrong
    BARRIER;
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ndrange_1D(64), ^{ b[GID] = a[GID]; });
    }
}

kernel void other_group_good(ARGUMENTS)
{
    a[GID] = 1;
    BARRIER;
    if (GID == 0) {
        enqueue_kernel(QUEUE, WAIT, ndrange_1D(64), ^{ b[GID] = a[GID]; });
    }
}

kernel void after_parent_bad(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[40] = 1; });
    }
    a[GID] = 2; // wrong
}

kernel void after_parent_good(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, WAIT, ONE, ^{ a[40] = 1; });
    }
    a[GID] = 2;
}

kernel void waits_for_others_bad(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[40] = 1; });
    }
    if (GID == 32) {
        ppu_wait_children();
        b[0] = a[40]; // wrong
    }
}

kernel void waits_for_others_good(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[40] = 1; });
        ppu_wait_children();
        b[0] = a[40];
    }
}

kernel void counts_bad(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ndrange_1D(16), ^{ atomic_inc(a); });
        b[0] = a[0]; // wrong
    }
}

kernel void counts_good(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ndrange_1D(16), ^{ atomic_inc(a); });
        ppu_wait_children();
        b[0] = a[0];
    }
}

/* ---- below what is enqueued ---- */

kernel void grandchild_bad(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{
            enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[7] = 1; });
        });
        a[7] = 2; // wrong
    }
}

kernel void grandchild_good(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{
            enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[7] = 1; });
        });
        ppu_wait_children();
        a[7] = 2;
    }
}

kernel void child_of_child_bad(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{
            enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ b[0] = a[7]; });
            a[7] = 2; // wrong
        });
    }
}

kernel void child_of_child_good(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{
            a[7] = 2;
            enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ b[0] = a[7]; });
        });
    }
}

kernel void in_a_block_bad(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ndrange_1D(32, 32), ^{
            a[get_local_id(0)] = 1;
            b[get_local_id(0)] = a[31 - get_local_id(0)]; // wrong
        });
    }
}

kernel void in_a_block_good(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ndrange_1D(32, 32), ^{
            a[get_local_id(0)] = 1;
            BARRIER;
            b[get_local_id(0)] = a[31 - get_local_id(0)];
        });
    }
}

kernel void local_of_a_block_bad(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ndrange_1D(32, 32), ^(local void *m) {
            local int *at = m;
            at[get_local_id(0)] = 1;
            b[get_local_id(0)] = at[31 - get_local_id(0)]; // wrong
        }, 128);
    }
}

kernel void local_of_a_block_good(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ndrange_1D(32, 32), ^(local void *m) {
            local int *at = m;
            at[get_local_id(0)] = 1;
            BARRIER;
            b[get_local_id(0)] = at[31 - get_local_id(0)];
        }, 128);
    }
}

/* ---- what one kernel enqueues ---- */

kernel void sisters_bad(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[9] = 1; });
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[9] = 2; }); // wrong
    }
}

kernel void sisters_good(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[9] = 1; });
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[10] = 2; });
    }
}

kernel void two_streams_bad(ARGUMENTS)
{
    if (GID == 0) {
        queue_t one = ppu_create_stream(), two = ppu_create_stream();
        enqueue_kernel(one, NO_WAIT, ONE, ^{ a[9] = 1; });
        enqueue_kernel(two, NO_WAIT, ONE, ^{ b[0] = a[9]; }); // wrong
    }
}

kernel void two_streams_good(ARGUMENTS)
{
    if (GID == 0) {
        queue_t one = ppu_create_stream();
        enqueue_kernel(one, NO_WAIT, ONE, ^{ a[9] = 1; });
        enqueue_kernel(one, NO_WAIT, ONE, ^{ b[0] = a[9]; });
    }
}

kernel void below_a_stream_bad(ARGUMENTS)
{
    if (GID == 0) {
        queue_t one = ppu_create_stream(), two = ppu_create_stream();
        enqueue_kernel(one, NO_WAIT, ONE, ^{
            enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[9] = 1; });
        });
        enqueue_kernel(two, NO_WAIT, ONE, ^{ b[0] = a[9]; }); // wrong
    }
}

kernel void below_a_stream_good(ARGUMENTS)
{
    if (GID == 0) {
        queue_t one = ppu_create_stream();
        enqueue_kernel(one, NO_WAIT, ONE, ^{
            enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[9] = 1; });
        });
        enqueue_kernel(one, NO_WAIT, ONE, ^{ b[0] = a[9]; });
    }
}

kernel void no_event_bad(ARGUMENTS)
{
    if (GID == 0) {
        clk_event_t first;
        enqueue_kernel(QUEUE, NO_WAIT, ONE, 0, NULL, &first, ^{ a[11] = 1; });
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ b[0] = a[11]; }); // wrong
        release_event(first);
    }
}

kernel void no_event_good(ARGUMENTS)
{
    if (GID == 0) {
        clk_event_t first;
        enqueue_kernel(QUEUE, NO_WAIT, ONE, 0, NULL, &first, ^{ a[11] = 1; });
        enqueue_kernel(QUEUE, NO_WAIT, ONE, 1, &first, NULL, ^{ b[0] = a[11]; });
        release_event(first);
    }
}

kernel void other_event_bad(ARGUMENTS)
{
    if (GID == 0) {
        clk_event_t first;
        enqueue_kernel(QUEUE, NO_WAIT, ONE, 0, NULL, &first, ^{ a[12] = 1; });
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[11] = 1; });
        enqueue_kernel(QUEUE, NO_WAIT, ONE, 1, &first, NULL, ^{ b[0] = a[11]; }); // wrong
        release_event(first);
    }
}

kernel void other_event_good(ARGUMENTS)
{
    if (GID == 0) {
        clk_event_t first, second;
        enqueue_kernel(QUEUE, NO_WAIT, ONE, 0, NULL, &first, ^{ a[11] = 1; });
        enqueue_kernel(QUEUE, NO_WAIT, ONE, 1, &first, &second, ^{ a[12] = 1; });
        enqueue_kernel(QUEUE, NO_WAIT, ONE, 1, &second, NULL, ^{ b[0] = a[11]; });
        release_event(first);
        release_event(second);
    }
}

kernel void sister_behind_wait_bad(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[13] = 1; });
    }
    if (GID == 32) {
        ppu_wait_children();
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ b[0] = a[13]; }); // wrong
    }
}

kernel void sister_behind_wait_good(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ a[13] = 1; });
        ppu_wait_children();
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ b[0] = a[13]; });
    }
}

/* A user event tells whatever whoever sets it knows. */
kernel void user_event_bad(ARGUMENTS)
{
    if (GID == 0) {
        enqueue_kernel(QUEUE, NO_WAIT, ONE, ^{ b[0] = a[14]; });
        a[14] = 1; // wrong
    }
}

kernel void user_event_good(ARGUMENTS)
{
    if (GID == 0) {
        clk_event_t told = create_user_event();
        enqueue_kernel(QUEUE, NO_WAIT, ONE, 1, &told, NULL, ^{ b[0] = a[14]; });
        a[14] = 1;
        set_user_event_status(told, CL_COMPLETE);
        release_event(told);
    }
}
