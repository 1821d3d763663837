/* Which loops LLVM has made vectors of: read from the module behind its vectoriser, for reports.
 *
 * emit_flow_mark.c has given each innermost loop the number of the program's loop as a row of its own in the loop's metadata. What LLVM makes of a loop keeps that row, and gets another one where the
 * vectoriser is done with it: the loop of vectors, the scalar one for the rest, and loops that it has only interleaved. So a loop counts as vectorised if it has both rows and works on vectors. */
#include "session.h"
#include <string.h>

static bool
is_text(LLVMValueRef v, const char *text)
{
    unsigned n;
    const char *at = LLVMGetMDString(v, &n);
    return at != NULL && n == strlen(text) && memcmp(at, text, n) == 0;
}

enum { MOST_OPERANDS = 8 };

/* Row `name` of the loop's node: *value, its number or 1. False: there is none. */
static bool
find_row(LLVMValueRef node, const char *name, uint64_t *value)
{
    LLVMValueRef rows[MOST_OPERANDS], parts[MOST_OPERANDS];
    unsigned n = (unsigned)LLVMGetMDNodeNumOperands(node);
    if (n > MOST_OPERANDS)
        return false;
    LLVMGetMDNodeOperands(node, rows);
    for (unsigned k = 1; k < n; k++) { /* the first is the node itself */
        if (rows[k] == NULL || LLVMIsAMDNode(rows[k]) == NULL)
            continue;
        unsigned nparts = (unsigned)LLVMGetMDNodeNumOperands(rows[k]);
        if (nparts == 0 || nparts > MOST_OPERANDS)
            continue;
        LLVMGetMDNodeOperands(rows[k], parts);
        if (parts[0] == NULL || LLVMIsAMDString(parts[0]) == NULL || !is_text(parts[0], name))
            continue;
        *value = nparts > 1 && LLVMIsAConstantInt(parts[1]) != NULL ? LLVMConstIntGetZExtValue(parts[1]) : 1;
        return true;
    }
    return false;
}

/* The least number of elements of the vectors in the block, or `least`. Accesses to every second element have twice as many. */
static unsigned
least_vector(LLVMBasicBlockRef block, unsigned least)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != NULL; i = LLVMGetNextInstruction(i)) {
        LLVMValueRef of = LLVMGetInstructionOpcode(i) == LLVMStore ? LLVMGetOperand(i, 0) : i;
        LLVMTypeRef type = LLVMTypeOf(of);
        unsigned n = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 0;
        if (n > 1 && (least == 0 || n < least))
            least = n;
    }
    return least;
}

static bool
is_head(LLVMBasicBlockRef block, LLVMBasicBlockRef latch)
{
    LLVMValueRef first = LLVMGetFirstInstruction(block);
    return block == latch || (LLVMIsAPHINode(first) != NULL && LLVMCountIncoming(first) > 1);
}

/* Of the loop that this instruction jumps back to. */
static unsigned
vector_size(LLVMValueRef jump)
{
    LLVMBasicBlockRef latch = LLVMGetInstructionParent(jump);
    unsigned least = least_vector(latch, 0);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(jump); k++)
        if (is_head(LLVMGetSuccessor(jump, k), latch))
            least = least_vector(LLVMGetSuccessor(jump, k), least);
    return least;
}

void
jy_vectors_find(LLVMModuleRef module, uint8_t *vectors, size_t n)
{
    unsigned kind = LLVMGetMDKindIDInContext(LLVMGetModuleContext(module), "llvm.loop", 9);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL; b = LLVMGetNextBasicBlock(b)) {
            LLVMValueRef jump = LLVMGetBasicBlockTerminator(b), node = NULL;
            uint64_t number = 0, done = 0;
            if (jump != NULL)
                node = LLVMGetMetadata(jump, kind);
            if (node == NULL || !find_row(node, JY_LOOP_NUMBER, &number) || number == 0 || number > n)
                continue;
            unsigned size = find_row(node, "llvm.loop.isvectorized", &done) && done != 0 ? vector_size(jump) : 0;
            size = size == 0 ? 1 : size;
            if (size > vectors[number - 1])
                vectors[number - 1] = size < UINT8_MAX ? (uint8_t)size : UINT8_MAX;
        }
}
