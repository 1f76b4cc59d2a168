/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine in x86-64-v3: AVX2, FMA. */
#include "sm_state.h"

#ifdef ENGINE_HAS_LEVELS
#define ENGINE_LEVEL v3
#include "engine_build.h"
#endif
