/* The program's lines in assembly texts.
 *
 * The emitters name the line of a value in its metadata (`!jitney`), which code generation drops. What it keeps are debug locations: so where a text is wanted they are made of that, and what the printer
 * makes of them - directives, sections of debug information - becomes a comment where the line changes:
 *
 *     # line 5
 *         vmovupd (%rdi,%rbp,8), %zmm4
 *     # no line                            what passes have added
 *
 * The object code is made without them. */
#include "session.h"
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lines {
    LLVMContextRef context;
    LLVMDIBuilderRef builder;
    LLVMMetadataRef file, type;
    unsigned kind; /* of `jitney` */
};

/* 0: nothing is said of it. */
static unsigned
line_of(const struct lines *s, LLVMValueRef instruction)
{
    LLVMValueRef node = LLVMGetMetadata(instruction, s->kind), part;
    unsigned n;
    if (node == NULL || LLVMGetMDNodeNumOperands(node) != 1)
        return 0;
    LLVMGetMDNodeOperands(node, &part);
    const char *text = LLVMGetMDString(part, &n);
    return text != NULL && n > 5 ? (unsigned)strtoul(text + 5, NULL, 10)
                                 : 0; /* "line 12"; not ended by NUL, but what follows is no digit of it */
}

static void
begin(struct lines *s, LLVMModuleRef module)
{
    static const char name[] = "program", maker[] = "jitney";
    s->context = LLVMGetModuleContext(module);
    s->kind = LLVMGetMDKindIDInContext(s->context, "jitney", 6);
    s->builder = LLVMCreateDIBuilder(module);
    s->file = LLVMDIBuilderCreateFile(s->builder, name, sizeof name - 1, "", 0);
    LLVMDIBuilderCreateCompileUnit(s->builder, LLVMDWARFSourceLanguagePython, s->file, maker, sizeof maker - 1, true,
                                   "", 0, 0, "", 0, LLVMDWARFEmissionLineTablesOnly, 0, false, false, "", 0, "", 0);
    s->type = LLVMDIBuilderCreateSubroutineType(s->builder, s->file, NULL, 0, LLVMDIFlagZero);
    LLVMAddModuleFlag(
        module, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18,
        LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(s->context), LLVMDebugMetadataVersion(), 0)));
}

/* The last that is said in the block; 0: nothing is. */
static unsigned
last_line(const struct lines *s, LLVMBasicBlockRef block)
{
    unsigned line = 0;
    for (LLVMValueRef i = LLVMGetLastInstruction(block); i != NULL && line == 0; i = LLVMGetPreviousInstruction(i))
        line = line_of(s, i);
    return line;
}

/* A value's line stands at the last instruction that makes it: those before it are of that line, too; and so is what comes last, as jumps. */
static void
add_to_block(const struct lines *s, LLVMBasicBlockRef block, LLVMMetadataRef scope)
{
    unsigned line = last_line(s, block);
    for (LLVMValueRef i = LLVMGetLastInstruction(block); i != NULL; i = LLVMGetPreviousInstruction(i)) {
        unsigned own = line_of(s, i);
        line = own != 0 ? own : line;
        LLVMInstructionSetDebugLoc(i, LLVMDIBuilderCreateDebugLocation(s->context, line, 0, scope, NULL));
    }
}

void
jy_lines_add(LLVMModuleRef module)
{
    struct lines s;
    begin(&s, module);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
        if (LLVMGetFirstBasicBlock(f) == NULL)
            continue;
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        LLVMMetadataRef scope = LLVMDIBuilderCreateFunction(s.builder, s.file, name, n, "", 0, s.file, 0, s.type, true,
                                                            true, 0, LLVMDIFlagZero, true);
        LLVMSetSubprogram(f, scope);
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL; b = LLVMGetNextBasicBlock(b))
            add_to_block(&s, b, scope);
    }
    LLVMDIBuilderFinalize(s.builder);
    LLVMDisposeDIBuilder(s.builder);
}

static bool
begins(const char *row, const char *with)
{
    return strncmp(row, with, strlen(with)) == 0;
}

/* Directives that are there for debug information alone. */
static bool
is_noise(const char *row)
{
    return begins(row, "\t.cfi_") || begins(row, ".Ltmp") || begins(row, ".Lfunc_begin") || begins(row, "\t.loc\t") ||
           begins(row, "\t.file\t0") || begins(row, "\t.file\t1");
}

void
jy_lines_tidy(char *text)
{
    char *to = text;
    unsigned long last = 0;
    bool hidden = false; /* within a section of debug information */
    for (char *row = text, *next; *row != '\0'; row = next) {
        char *end = strchr(row, '\n');
        next = end != NULL ? end + 1 : row + strlen(row);
        if (begins(row, "\t.section\t"))
            hidden = begins(row, "\t.section\t.debug_");
        if (begins(row, "\t.loc\t") && !hidden) {
            char *at = row + 6;
            strtoul(at, &at, 10); /* the file */
            unsigned long line = strtoul(at, NULL, 10);
            if (line != last) /* the comment is shorter than the directive */
                to += line != 0 ? sprintf(to, "# line %lu\n", line) : sprintf(to, "# no line\n");
            last = line;
        }
        if (hidden || is_noise(row))
            continue;
        memmove(to, row, (size_t)(next - row));
        to += next - row;
    }
    *to = '\0';
}
