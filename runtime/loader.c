/* A loader for what the backend emits: one ET_REL object at a time, no libraries, no lazy binding.
 *
 *     slab (64 pages)   | block: text, rodata, stubs | block ...      | free |
 *                         one run of pages, written while RW, then RX for good
 *
 *  1. Memory is never writable and executable at once. Neighbouring blocks have equal rights, so that the kernel
 *     keeps them as one mapping: the number of mappings does not grow with the number of kernels.
 *  2. Memory is private: after a fork parent and child place and free independently.
 *  3. Everything of a block lies within 2 GB of itself. The few C functions that generated code may name (LLVM calls
 *     them where an instruction is missing) are reached through stubs at the block's end.
 *  4. x86-64 only. On AArch64 the relocations needed would be CALL26, ADR_PREL_PG_HI21, ADD_ABS_LO12_NC and
 *     LDST*_ABS_LO12_NC; until they are applied here an object for it is refused. */
#include "runtime/loader.h"
#include <elf.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLAB_PAGES 64
#define STUB_BYTES 16

struct slab {
    struct slab *next;
    char *base;
    size_t pages;
    uint64_t used; /* bit per page; a slab of more pages holds one block */
};

struct jy_code_block {
    struct slab *slab;
    char *base;
    size_t pages, nsymbols;
    struct {
        char *name;
        void *address;
    } symbols[];
};

/* All slabs; guarded by the GIL. */
static struct slab *slabs;

/* What generated code may call by name. */
static const struct {
    const char *name;
    void (*function)(void);
} externs[] = {
#define EXTERN(f) { #f, (void (*)(void))f }
    EXTERN(floor), EXTERN(floorf), EXTERN(ceil),   EXTERN(ceilf),  EXTERN(trunc),   EXTERN(truncf),
    EXTERN(rint),  EXTERN(rintf),  EXTERN(memcpy), EXTERN(memset), EXTERN(memmove),
#undef EXTERN
};

/* The object being read. */
struct object {
    const char *bytes;
    size_t size;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    const Elf64_Sym *symbols;
    size_t nsymbols;
    const char *names;
    size_t names_size;
    uint64_t *place; /* per section: offset in the block, or UINT64_MAX */
    uint64_t stubs;  /* offset in the block */
    size_t nstubs;
    const char *why;
};

static bool
is_inside(const struct object *o, uint64_t offset, uint64_t n)
{
    return offset <= o->size && n <= o->size - offset;
}

/* Parsing --------------------------------------------------------------------------------------------------------- */

static bool
read_header(struct object *o)
{
    o->header = (const Elf64_Ehdr *)o->bytes;
    if (o->size < sizeof *o->header || memcmp(o->header->e_ident, ELFMAG, SELFMAG) != 0)
        o->why = "not an ELF object";
    else if (o->header->e_ident[EI_CLASS] != ELFCLASS64 || o->header->e_ident[EI_DATA] != ELFDATA2LSB ||
             o->header->e_type != ET_REL)
        o->why = "not a relocatable 64-bit object";
    else if (o->header->e_machine != EM_X86_64)
        o->why = "an object for a machine whose relocations the loader does not apply";
    else if (o->header->e_shentsize != sizeof(Elf64_Shdr) || o->header->e_shoff % 8 != 0 ||
             !is_inside(o, o->header->e_shoff, (uint64_t)o->header->e_shnum * sizeof(Elf64_Shdr)))
        o->why = "a damaged section table";
    if (o->why == NULL)
        o->sections = (const Elf64_Shdr *)(o->bytes + o->header->e_shoff);
    return o->why == NULL;
}

static bool
read_symbols(struct object *o)
{
    for (size_t i = 0; i < o->header->e_shnum; i++) {
        const Elf64_Shdr *s = &o->sections[i];
        if (s->sh_type != SHT_NOBITS && !is_inside(o, s->sh_offset, s->sh_size)) {
            o->why = "a section beyond the object's end";
            return false;
        }
        if (s->sh_type == SHT_SYMTAB && s->sh_link < o->header->e_shnum && s->sh_offset % 8 == 0) {
            o->symbols = (const Elf64_Sym *)(o->bytes + s->sh_offset);
            o->nsymbols = s->sh_size / sizeof(Elf64_Sym);
            o->names = o->bytes + o->sections[s->sh_link].sh_offset;
            o->names_size = o->sections[s->sh_link].sh_size;
        }
    }
    if (o->symbols == NULL || o->names_size == 0 || o->names[o->names_size - 1] != '\0')
        o->why = "no symbol table";
    return o->why == NULL;
}

static const char *
symbol_name(const struct object *o, const Elf64_Sym *s)
{
    return s->st_name < o->names_size ? o->names + s->st_name : "";
}

/* Unwind tables are left out: nothing unwinds through kernels. */
static bool
is_placed(const Elf64_Shdr *s)
{
    return (s->sh_flags & SHF_ALLOC) != 0 && s->sh_size > 0 && s->sh_type != SHT_X86_64_UNWIND;
}

static uint64_t
round_up(uint64_t n, uint64_t align)
{
    return align <= 1 ? n : (n + align - 1) / align * align;
}

/* Gives each section and the stubs their place; the block's size. */
static uint64_t
lay_out(struct object *o)
{
    uint64_t at = 0;
    for (size_t i = 0; i < o->header->e_shnum; i++) {
        const Elf64_Shdr *s = &o->sections[i];
        o->place[i] = UINT64_MAX;
        if (!is_placed(s))
            continue;
        if ((s->sh_flags & SHF_WRITE) != 0 || s->sh_size > INT32_MAX / 2 || s->sh_addralign > 4096)
            o->why = "a writable or oversized section";
        at = round_up(at, s->sh_addralign);
        o->place[i] = at;
        at += s->sh_size;
    }
    o->stubs = round_up(at, STUB_BYTES);
    for (size_t i = 1; i < o->nsymbols; i++)
        o->nstubs += o->symbols[i].st_shndx == SHN_UNDEF;
    at = o->stubs + o->nstubs * STUB_BYTES;
    if (at > INT32_MAX / 2)
        o->why = "an object of more than 1 GB";
    return at;
}

/* Memory ---------------------------------------------------------------------------------------------------------- */

static uint64_t
page_mask(size_t first, size_t n)
{
    return (n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1) << first;
}

static struct slab *
new_slab(size_t pages, size_t page)
{
    struct slab *slab = malloc(sizeof *slab);
    void *base = mmap(NULL, pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == NULL || base == MAP_FAILED) {
        if (base != MAP_FAILED)
            munmap(base, pages * page);
        free(slab);
        return NULL;
    }
    *slab = (struct slab){ .next = slabs, .base = base, .pages = pages };
    return slabs = slab;
}

/* A run of `n` free pages of a slab; its first page, or -1. */
static int
find_run(const struct slab *slab, size_t n)
{
    for (size_t first = 0; slab->pages == SLAB_PAGES && first + n <= SLAB_PAGES; first++)
        if ((slab->used & page_mask(first, n)) == 0)
            return (int)first;
    return -1;
}

/* Takes writable pages for the block. */
static bool
take_pages(struct jy_code_block *block, size_t pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct slab *slab = slabs;
    int first = -1;
    while (slab != NULL && (first = find_run(slab, pages)) < 0)
        slab = slab->next;
    if (slab == NULL) {
        slab = new_slab(pages > SLAB_PAGES ? pages : SLAB_PAGES, page);
        first = 0;
    }
    if (slab == NULL || mprotect(slab->base + (size_t)first * page, pages * page, PROT_READ | PROT_WRITE) != 0)
        return false;
    slab->used |= page_mask((size_t)first, pages);
    block->slab = slab;
    block->base = slab->base + (size_t)first * page;
    block->pages = pages;
    return true;
}

static void
drop_slab(struct slab *slab, size_t page)
{
    struct slab **at = &slabs;
    while (*at != slab)
        at = &(*at)->next;
    *at = slab->next;
    munmap(slab->base, slab->pages * page);
    free(slab);
}

/* An empty slab goes; pages in a slab that lives on lose their contents and their rights. */
static void
give_pages(struct jy_code_block *block)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), first = (size_t)(block->base - block->slab->base) / page;
    block->slab->used &= ~page_mask(first, block->pages);
    if (block->slab->used == 0) {
        drop_slab(block->slab, page);
        return;
    }
    madvise(block->base, block->pages * page, MADV_DONTNEED);
    mprotect(block->base, block->pages * page, PROT_NONE);
}

/* Relocation ------------------------------------------------------------------------------------------------------ */

static void *
find_extern(const char *name)
{
    for (size_t i = 0; i < sizeof externs / sizeof *externs; i++)
        if (strcmp(externs[i].name, name) == 0)
            return (void *)(uintptr_t)externs[i].function;
    return NULL;
}

/* jmp *[rip+2]; padding; address */
static char *
make_stub(struct object *o, char *base, size_t index, const Elf64_Sym *symbol)
{
    static const unsigned char jump[8] = { 0xff, 0x25, 2, 0, 0, 0, 0xcc, 0xcc };
    char *stub = base + o->stubs + index * STUB_BYTES;
    void *target = find_extern(symbol_name(o, symbol));
    if (target == NULL) {
        o->why = "a call of a function that the loader does not know";
        return stub;
    }
    memcpy(stub, jump, sizeof jump);
    memcpy(stub + sizeof jump, &target, sizeof target);
    return stub;
}

/* Number of undefined symbols before this one: its stub's index. */
static size_t
stub_index(const struct object *o, size_t symbol)
{
    size_t n = 0;
    for (size_t i = 1; i < symbol; i++)
        n += o->symbols[i].st_shndx == SHN_UNDEF;
    return n;
}

static bool
is_defined(const struct object *o, const Elf64_Sym *s)
{
    return s->st_shndx != SHN_UNDEF && s->st_shndx < o->header->e_shnum && o->place[s->st_shndx] != UINT64_MAX &&
           s->st_value <= o->sections[s->st_shndx].sh_size;
}

static char *
symbol_address(struct object *o, char *base, size_t index)
{
    const Elf64_Sym *s = index < o->nsymbols ? &o->symbols[index] : NULL;
    if (s != NULL && s->st_shndx == SHN_UNDEF && index != 0)
        return make_stub(o, base, stub_index(o, index), s);
    if (s != NULL && is_defined(o, s))
        return base + o->place[s->st_shndx] + s->st_value;
    o->why = "a reference to something that is not placed";
    return base;
}

static void
write_32(struct object *o, char *at, int64_t value, bool is_signed)
{
    int32_t low = (int32_t)value;
    if (is_signed ? low != value : (uint32_t)low != (uint64_t)value)
        o->why = "a reference beyond its range";
    memcpy(at, &low, sizeof low);
}

static void
apply(struct object *o, char *base, char *at, const Elf64_Rela *r)
{
    int64_t value = (int64_t)(uintptr_t)symbol_address(o, base, ELF64_R_SYM(r->r_info)) + r->r_addend;
    switch (ELF64_R_TYPE(r->r_info)) {
    case R_X86_64_NONE:
        break;
    case R_X86_64_64:
        memcpy(at, &value, sizeof value);
        break;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
        write_32(o, at, value - (int64_t)(uintptr_t)at, true);
        break;
    case R_X86_64_PC64:
        value -= (int64_t)(uintptr_t)at;
        memcpy(at, &value, sizeof value);
        break;
    case R_X86_64_32:
        write_32(o, at, value, false);
        break;
    case R_X86_64_32S:
        write_32(o, at, value, true);
        break;
    default:
        o->why = "a relocation that the loader does not know";
    }
}

static size_t
relocation_bytes(uint32_t type)
{
    return type == R_X86_64_NONE ? 0 : type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
}

static void
relocate_section(struct object *o, char *base, const Elf64_Shdr *s)
{
    const Elf64_Rela *r = (const Elf64_Rela *)(o->bytes + s->sh_offset);
    if (s->sh_info >= o->header->e_shnum || o->place[s->sh_info] == UINT64_MAX)
        return;
    for (size_t i = 0; i < s->sh_size / sizeof *r && o->why == NULL; i++) {
        uint64_t room = o->sections[s->sh_info].sh_size;
        if (r[i].r_offset > room || relocation_bytes(ELF64_R_TYPE(r[i].r_info)) > room - r[i].r_offset)
            o->why = "a relocation outside of its section";
        else
            apply(o, base, base + o->place[s->sh_info] + r[i].r_offset, &r[i]);
    }
}

static void
fill(struct object *o, char *base)
{
    for (size_t i = 0; i < o->header->e_shnum; i++)
        if (o->place[i] != UINT64_MAX && o->sections[i].sh_type != SHT_NOBITS)
            memcpy(base + o->place[i], o->bytes + o->sections[i].sh_offset, o->sections[i].sh_size);
    for (size_t i = 0; i < o->header->e_shnum && o->why == NULL; i++) {
        if (o->sections[i].sh_type == SHT_RELA && o->sections[i].sh_offset % 8 == 0)
            relocate_section(o, base, &o->sections[i]);
        else if (o->sections[i].sh_type == SHT_REL)
            o->why = "relocations without addends";
    }
}

/* Blocks ---------------------------------------------------------------------------------------------------------- */

static bool
fill_symbols(struct jy_code_block *block, const struct object *o)
{
    for (size_t i = 1; i < o->nsymbols; i++) {
        const Elf64_Sym *s = &o->symbols[i];
        if (ELF64_ST_BIND(s->st_info) != STB_GLOBAL || !is_defined(o, s))
            continue;
        char *name = strdup(symbol_name(o, s));
        if (name == NULL)
            return false;
        block->symbols[block->nsymbols].name = name;
        block->symbols[block->nsymbols++].address = block->base + o->place[s->st_shndx] + s->st_value;
    }
    return true;
}

static void
free_block(struct jy_code_block *block)
{
    for (size_t i = 0; i < block->nsymbols; i++)
        free(block->symbols[i].name);
    if (block->slab != NULL)
        give_pages(block);
    free(block);
}

static jy_status
place(struct jy_code_block *block, struct object *o)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t bytes = lay_out(o);
    if (o->why != NULL)
        return JY_BREAK;
    if (bytes == 0) {
        o->why = "an object without code";
        return JY_BREAK;
    }
    if (!take_pages(block, round_up(bytes, page) / page) || !fill_symbols(block, o))
        return JY_NOMEM;
    fill(o, block->base);
    if (o->why != NULL)
        return JY_BREAK;
    return mprotect(block->base, block->pages * page, PROT_READ | PROT_EXEC) == 0 ? JY_OK : JY_NOMEM;
}

jy_status
jy_loader_place(struct jy_code_block **out, const char *object, size_t size, const char **why)
{
    struct object o = { .bytes = object, .size = size };
    jy_status status = JY_NOMEM;
    *out = NULL;
    *why = NULL;
    if (!read_header(&o) || !read_symbols(&o)) {
        *why = o.why;
        return JY_BREAK;
    }
    struct jy_code_block *block = calloc(1, sizeof *block + o.nsymbols * sizeof *block->symbols);
    o.place = malloc((o.header->e_shnum + (size_t)1) * sizeof *o.place);
    if (block != NULL && o.place != NULL)
        status = place(block, &o);
    free(o.place);
    if (status == JY_OK)
        *out = block;
    else if (block != NULL)
        free_block(block);
    *why = o.why;
    return status;
}

void *
jy_loader_symbol(const struct jy_code_block *block, const char *name)
{
    for (size_t i = 0; i < block->nsymbols; i++)
        if (strcmp(block->symbols[i].name, name) == 0)
            return block->symbols[i].address;
    return NULL;
}

void
jy_loader_free(struct jy_code_block *block)
{
    if (block != NULL)
        free_block(block);
}
