#pragma once

// Marks a function to be compiled once more for AVX2 and chosen when the program starts, so that
// one build is fast on any x86-64 machine. Results do not depend on which one runs.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__)
#define CONTEND_VECTORISE __attribute__((target_clones("avx2", "default")))
#else
#define CONTEND_VECTORISE
#endif
