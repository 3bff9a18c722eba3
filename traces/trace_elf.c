/* trace_elf.c - which MPI functions a program can call that the recorder does not see, and whether it can be seen at all.
 *
 * Read from the dynamic symbols of its files (ELF-64, System V gABI chapter 4): what is undefined there and
 * begins with MPI_, MPIX_ or mpi_ is called by name at run time. Functions that neither communicate nor wait
 * are left out. Limits: what is looked up by name at run time (dlsym) or linked statically is not listed
 * there.
 */
#include "traces/trace_capture.h"

#include <ctype.h>
#include <elf.h>
#include <string.h>

/* Functions without communication, in lower case and without mpi_; a star stands for any rest. */
/* clang-format off */
static const char *const local_names[] = {
    "abort", "add_error_*", "address", "aint_*", "alloc_mem*", "attr_*", "buffer_*", "cart_coords",
    "cart_get", "cart_map", "cart_rank", "cart_shift", "cartdim_get", "comm_c2f", "comm_call_errhandler",
    "comm_compare", "comm_create_errhandler", "comm_create_keyval", "comm_delete_attr", "comm_dup_fn",
    "comm_f2c", "comm_free_keyval", "comm_get_attr", "comm_get_errhandler", "comm_get_info",
    "comm_get_name", "comm_get_parent", "comm_group", "comm_null_*", "comm_rank", "comm_remote_*",
    "comm_set_*", "comm_size", "comm_test_inter", "conversion_fn*", "dims_create", "dist_graph_neighbors*",
    "dup_fn", "errhandler_*", "error_*", "f_sync_reg", "file_c2f", "file_f2c", "file_call_errhandler",
    "file_create_errhandler", "file_get_*", "file_set_errhandler", "finalized", "fortran_*", "free_mem",
    "get_address", "get_count", "get_elements*", "get_library_version", "get_processor_name", "get_version",
    "graph_get", "graph_map", "graph_neighbors*", "graphdims_get", "grequest_*", "group_*", "info_*",
    "initialized", "is_thread_main", "keyval_*", "message_*", "null_*", "op_*", "pack*", "pcontrol",
    "query_cuda_support", "query_thread", "reduce_local", "register_datarep", "request_c2f", "request_f2c", "request_get_status",
    "sizeof*", "status_*", "t_*", "test_cancelled", "topo_test", "type_*", "unpack*", "win_attach",
    "win_c2f", "win_call_errhandler", "win_create_errhandler", "win_create_keyval", "win_delete_attr",
    "win_detach", "win_dup_fn", "win_f2c", "win_free_keyval", "win_get_*", "win_null_*", "win_set_*",
    "win_shared_query*", "win_sync", "wtick*", "wtime*"
};
/* clang-format on */

enum fc_code fc_names_add(struct fc_name_list *names, const char *name, struct fc_arena *arena, struct fc_status *st)
{
    for (uint32_t i = 0; i < names->n; i++)
        if (strcmp(names->name[i], name) == 0) return FC_OK;
    if (names->n == names->capacity) {
        uint32_t capacity = names->capacity ? 2 * names->capacity : 64;
        const char **larger = fc_alloc(arena, capacity, sizeof *larger, st);
        if (!larger) return FC_NO;
        if (names->n) memcpy(larger, names->name, names->n * sizeof *larger);
        names->name = larger;
        names->capacity = capacity;
    }
    names->name[names->n] = fc_copy_text(arena, name, st);
    return names->name[names->n++] ? FC_OK : FC_NO;
}

/* Is it an MPI function that communicates? MPIX_: extensions, such as persistent collectives before MPI 4. */
static bool matters(const char *symbol)
{
    char name[64];
    size_t n = strlen(symbol);
    bool fortran = symbol[0] == 'm';
    size_t prefix = strncasecmp(symbol, "mpix_", 5) == 0 ? 5 : 4;
    if (n <= prefix || n >= sizeof name || strncmp(symbol, fortran ? "mpix_" : "MPIX_", prefix - 1) != 0 ||
        symbol[prefix - 1] != '_')
        return false;
    if (fortran && symbol[n - 1] != '_') return false; /* Fortran's names end in an underscore */
    while (fortran && n > prefix && symbol[n - 1] == '_') n--;
    if (fortran && n > prefix + 4 && memcmp(symbol + n - 4, "_f08", 4) == 0) n -= 4;
    for (size_t i = prefix; i < n; i++) name[i - prefix] = (char)tolower((unsigned char)symbol[i]);
    name[n - prefix] = '\0';
    for (size_t i = 0; i < FC_COUNT(local_names); i++) {
        size_t length = strcspn(local_names[i], "*");
        bool star = local_names[i][length] == '*';
        if (strncmp(name, local_names[i], length) == 0 && (star || name[length] == '\0')) return false;
    }
    return true;
}

struct symbols {
    const Elf64_Sym *symbol;
    size_t n;
    const char *names;
    size_t names_size;
};

static bool within(const struct fc_text *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset;
}

/* The sections of an ELF-64 of this byte order; NULL: it is none. The text is 64-byte aligned, so tables at aligned
 * offsets can be read in place. */
static const Elf64_Shdr *sections(const struct fc_text *file, size_t *n)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)file->data;
    if (!within(file, 0, sizeof *head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB ||
        head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shoff % 8 != 0 ||
        !within(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr)))
        return NULL;
    *n = head->e_shnum;
    return (const Elf64_Shdr *)(const void *)(file->data + head->e_shoff);
}

/* The table of symbols of that type, SHT_DYNSYM or SHT_SYMTAB; false: there is none. */
static bool find_symbols(const struct fc_text *file, uint32_t type, struct symbols *found)
{
    size_t n = 0;
    const Elf64_Shdr *section = sections(file, &n);
    for (size_t i = 0; section && i < n; i++) {
        const Elf64_Shdr *table = &section[i];
        if (table->sh_type != type || table->sh_link >= n || table->sh_offset % 8 != 0) continue;
        const Elf64_Shdr *names = &section[table->sh_link];
        if (!within(file, table->sh_offset, table->sh_size) || !within(file, names->sh_offset, names->sh_size))
            return false;
        *found = (struct symbols){(const Elf64_Sym *)(const void *)(file->data + table->sh_offset),
                                  table->sh_size / sizeof(Elf64_Sym), file->data + names->sh_offset, names->sh_size};
        return found->names_size > 0 && found->names[found->names_size - 1] == '\0';
    }
    return false;
}

static const char *name_of(const struct symbols *s, size_t i)
{
    return s->symbol[i].st_name < s->names_size ? s->names + s->symbol[i].st_name : "";
}

static bool defines(const struct symbols *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->symbol[i].st_shndx != SHN_UNDEF && strcmp(name_of(s, i), name) == 0) return true;
    return false;
}

/* A name of MPICH's mpi_f08 for a function with a buffer, mpi_send_f08ts_, leads to the C function, which is recorded where
 * mpi_send_f08_ is. */
static bool is_wrapped(const struct symbols *wrapped, const char *name)
{
    static const char with_buffer[] = "_f08ts_";
    char plain[64];
    size_t n = strlen(name), k = strlen(with_buffer);
    if (n <= k || n >= sizeof plain || strcmp(name + n - k, with_buffer) != 0) return defines(wrapped, name);
    snprintf(plain, sizeof plain, "%.*s_f08_", (int)(n - k), name);
    return defines(wrapped, plain);
}

enum fc_code fc_unwrapped_symbols(const char *object, const char *recorder, struct fc_name_list *names,
                                  struct fc_arena *arena, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_status ignored = {0};
    struct fc_text theirs, ours;
    struct symbols used, wrapped;
    enum fc_code code = FC_OK;
    if (fc_read_file(recorder, &scratch, &ours, st) == FC_OK && !find_symbols(&ours, SHT_DYNSYM, &wrapped))
        fc_fail(st, FC_INPUT, (struct fc_place){recorder, 0}, "not a shared library");
    code = st->code;
    /* a file that is gone or unreadable (the kernel's own page has none) cannot be judged */
    if (!code && fc_read_file(object, &scratch, &theirs, &ignored) == FC_OK &&
        find_symbols(&theirs, SHT_DYNSYM, &used) && !defines(&used, "PMPI_Init") && !defines(&used, "ompi_mpi_init") &&
        !defines(&used, "pmpi_init_") && !defines(&used, "pmpi_init_f08_"))
        for (size_t i = 0; i < used.n && !code; i++) {
            const char *name = name_of(&used, i);
            if (used.symbol[i].st_shndx == SHN_UNDEF && matters(name) && !is_wrapped(&wrapped, name))
                code = fc_names_add(names, name, arena, st);
        }
    return code;
}

enum fc_elf_kind fc_elf_look(const char *path)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_status ignored = {0};
    struct fc_text file;
    struct symbols s;
    enum fc_elf_kind kind = FC_ELF_NONE;
    if (fc_read_file(path, &scratch, &file, &ignored) == FC_OK && file.size > EI_NIDENT &&
        memcmp(file.data, ELFMAG, SELFMAG) == 0) {
        const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)file.data;
        const Elf64_Phdr *part = (const Elf64_Phdr *)(const void *)(file.data + head->e_phoff);
        bool good = sections(&file, &(size_t){0}) && head->e_phoff % 8 == 0 && head->e_phentsize == sizeof *part &&
                    within(&file, head->e_phoff, (uint64_t)head->e_phnum * sizeof *part);
        kind = good ? FC_ELF_STATIC : FC_ELF_FOREIGN;
        for (size_t i = 0; good && i < head->e_phnum; i++)
            if (part[i].p_type == PT_INTERP) kind = FC_ELF_DYNAMIC;
        if (kind == FC_ELF_DYNAMIC && (find_symbols(&file, SHT_SYMTAB, &s) || find_symbols(&file, SHT_DYNSYM, &s)) &&
            defines(&s, "PMPI_Init"))
            kind = FC_ELF_HAS_MPI;
    }
    return kind;
}

bool fc_elf_defines(const char *path, const char *name)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_status ignored = {0};
    struct fc_text file;
    struct symbols s;
    bool there = fc_read_file(path, &scratch, &file, &ignored) == FC_OK && find_symbols(&file, SHT_DYNSYM, &s) &&
                 defines(&s, name);
    return there;
}
