/* Reads the signatures of flow_helpers.def. The functions themselves are runtime/flow_helpers.c's. */
#include "graph/flow_helper.h"
#include <string.h>

static const struct {
    const char *name, *signature;
} rows[] = {
#define HELPER(name, signature, function) { #name, signature },
#include "graph/flow_helpers.def"
#undef HELPER
};

static uint8_t
type_of(char letter)
{
    switch (letter) {
    case 'i':
        return JY_F_I64;
    case 'f':
        return JY_F_F64;
    case 'b':
        return JY_F_I1;
    case 'p':
        return JY_F_PTR;
    default:
        return JY_F_NONE;
    }
}

static void
read_signature(struct jy_flow_helper *out, const char *s)
{
    out->wants_call = *s == 'c';
    for (s += out->wants_call; *s != '>'; s++)
        out->args[out->nargs++] = type_of(*s);
    out->type = type_of(s[1]);
    out->may_fail = s[2] == '!';
    out->pure = s[2] == '*';
}

/* What stands behind the type of the result and its '!' or '*'; of no row: nothing. */
static const char *
behind_result(const char *name)
{
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
        if (strcmp(rows[k].name, name) == 0) {
            const char *result = strchr(rows[k].signature, '>') + 1;
            return result + 1 + (result[1] == '!' || result[1] == '*');
        }
    return "";
}

bool
jy_flow_helper_is_long(const char *name)
{
    return *behind_result(name) == '~';
}

const char *
jy_flow_helper_changes(const char *name)
{
    const char *rest = behind_result(name);
    return rest + (*rest == '~');
}

bool
jy_flow_helper_needs_no_gil(const struct jy_flow_helper *helper)
{
    return (helper->pure && !helper->wants_call) || strchr(jy_flow_helper_changes(helper->name), 'u') != NULL;
}

bool
jy_flow_helper_row(struct jy_flow_helper *out, const char *name)
{
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
        if (strcmp(rows[k].name, name) == 0) {
            *out = (struct jy_flow_helper){ .name = rows[k].name };
            read_signature(out, rows[k].signature);
            return true;
        }
    return false;
}
