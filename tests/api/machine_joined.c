/* SPDX-License-Identifier: MIT */
/* Starts the machine of the API tests in the test's own process. */
#include "tests/api/api.h"
#include "tests/joined/joined.h"

static struct joined *joined;

struct ppu_transport *machine_start(const struct machine_config *config)
{
    struct joined_options options;
    const char *why = NULL;

    joined_default(&options);
    if (config->sms != 0) {
        options.config.sms = config->sms;
        options.config.gpcs = 1;
    }
    if (config->sm_threads != 0) {
        options.config.sm_threads = config->sm_threads - 1;
    }
    if (config->slots != 0) {
        options.config.slots = config->slots;
    }
    options.config.cache_model = config->cache_model;
    options.config.subvector = !config->no_subvector;
    joined = joined_start(&options, &why);
    if (!joined) {
        fail_msg("the joined machine does not start: %s", why);
    }
    return joined_transport(joined);
}

void machine_stop(void)
{
    joined_stop(joined);
    joined = NULL;
}

const char *machine_firmware(void)
{
    return joined_firmware(joined);
}

bool machine_is_slow(void)
{
    return true;
}

bool machine_crash(void)
{
    joined_crash(joined);
    return true;
}

bool machine_lock_up(void)
{
    joined_lock_up(joined);
    return true;
}

bool machine_pause(void)
{
    joined_pause(joined);
    return true;
}

void machine_resume(void)
{
    joined_resume(joined);
}

bool machine_reload(const char **why)
{
    return joined_reload(joined, why);
}
