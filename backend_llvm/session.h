/* What one compilation needs of LLVM beyond the builder: a target machine that is kept, options set once, errors
 * that come back. */
#ifndef JY_BACKEND_SESSION_H
#define JY_BACKEND_SESSION_H

#include "graph/backend.h"
#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <setjmp.h>

/* A target machine and what the emitters decide by. */
struct jy_target {
    LLVMTargetMachineRef machine;
    LLVMTargetDataRef layout;
    char *triple, *cpu, *features;
    unsigned vector_bits; /* 512, 256 or 128: as wide as the features allow */
    bool masks;           /* masked loads, stores, gathers of every element type are single instructions */
};

/* The machine for these features (NULL: the host's); kept until other features are asked for. NULL and *why on
 * failure. */
const struct jy_target *jy_session_target(const char *features, const char **why);
const char *jy_session_host_features(void);
const char *jy_session_host_cpu(void);
/* After a fatal error nothing of the kept machine can be trusted: it is forgotten, not freed. */
void jy_session_forget(void);
/* One compilation at a time: LLVM's fatal error handler has one place to return to. */
void jy_session_lock(void);
void jy_session_unlock(void);

/* The pass pipeline for a flow, or for kernels; NULL on success, else a message to be freed with LLVMDisposeMessage. */
char *jy_optimize_run(LLVMModuleRef module, const struct jy_target *target, bool is_flow);
/* The same for a flow whose loops are numbered from 1 to n: vectors[k - 1] becomes the number of elements that loop k works on at once, 1: it is not vectorised, 0: no such
 * loop is left. */
char *jy_optimize_flow(LLVMModuleRef module, const struct jy_target *target, uint8_t *vectors, size_t n);
/* loop_vectors.c: the row of a loop's metadata with its number; what jy_optimize_flow fills in. */
#define JY_LOOP_NUMBER "jitney.loop"
void jy_vectors_find(LLVMModuleRef module, uint8_t *vectors, size_t n);

/* diagnostics.c: where a fatal error of LLVM returns to, and the text of the last error (NULL: none). */
jmp_buf *jy_diagnostics_guard(void);
void jy_diagnostics_install(LLVMContextRef context);
void jy_diagnostics_reset(void);
const char *jy_diagnostics_error(void);
/* NULL when sound; else a message to be freed with LLVMDisposeMessage. */
char *jy_diagnostics_verify(LLVMModuleRef module);
/* Heap texts of the module: IR, and the assembly that it becomes (from a copy: code generation changes a module). */
char *jy_diagnostics_ir(LLVMModuleRef module);
char *jy_diagnostics_asm(LLVMModuleRef module, const struct jy_target *target);

/* asm_lines.c: debug locations of what the module says of lines, in front of the passes; and their traces in the assembly text made comments, in place. */
void jy_lines_add(LLVMModuleRef module);
void jy_lines_tidy(char *text);

#endif
