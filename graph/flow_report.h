/* What is told of the program's loops (jitney.explain): where they stand, what became of their checks, and why they are not vectorised.
 *
 * The frontend says of each block which loop of the program it is of (f_loop), and stamps each check with its place in the bytecode: a *site*. Passes copy both along; where one does without a
 * check it says so of the site. jy_flow_report counts when all passes are done. Nothing of it is looked at by a pass, by machine code or by a run, and nothing of it is an object. */
#ifndef JY_GRAPH_FLOW_REPORT_H
#define JY_GRAPH_FLOW_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jy_flow;
struct jy_flow_loop;

enum jy_report_kind { JY_REPORT_FOR, JY_REPORT_WHILE, JY_REPORT_COMPREHENSION, JY_REPORT_FUNCTION };

enum { JY_REPORT_LONG_BODY = 400 }; /* values of a loop's body that flow_counted.c looks at; taste */

/* In ascending order: several copies of a check are what the worst of them is. */
enum jy_site_state {
    JY_SITE_PROVEN,  /* it holds in every call */
    JY_SITE_HOISTED, /* it is made in front of the rounds, or follows from a test there */
    JY_SITE_NOTED,   /* rounds only note what tells of it, which is asked for once for many rounds */
    JY_SITE_LEFT,    /* a comparison and a branch of each round */
    JY_SITE_COUNT,
};

/* ORDER loop_why */
enum jy_loop_why {
    JY_WHY_NONE,
#define LOOP_WHY(name, what, hint) JY_WHY_##name,
#include "graph/loop_whys.def"
#undef LOOP_WHY
    JY_WHY_COUNT,
};

extern const struct jy_loop_why_info {
    const char *name, *what, *hint;
} jy_loop_why_info[JY_WHY_COUNT];

struct jy_flow_report {
    const char *file, *function; /* the code's file and name */
    uint32_t first_line;         /* of that code */
    uint32_t line, last_line;    /* of the loop; the last of its body */
    uint32_t offset;             /* of its head, in code units */
    uint32_t around;             /* the report of what it stands in: number + 1; 0: of nothing */
    uint8_t kind;                /* enum jy_report_kind */
    uint64_t key;                /* the frontend's: loops of one key are one */
    bool is_counted;             /* flow_counted.c knows how many rounds it has */
    bool is_fast;                /* it has a copy without most checks */
    bool is_round;               /* some block of the flow goes round it */
    bool calls_itself;           /* of a FUNCTION */
    uint8_t why;                 /* enum jy_loop_why; NONE: it may be vectorised */
    const char *detail;          /* which check, which function; NULL */
    uint32_t why_line;           /* of that; 0: none */
    uint32_t checks[JY_SITE_COUNT];
};

struct jy_flow_site {
    uint32_t loop; /* number + 1 of its report */
    uint32_t ordinal;
    uint64_t place; /* loop, place and ordinal: versions of one check have the same */
    uint8_t state;
    bool counts; /* the frontend's first simplification has left it */
};

/* flow.c: the check, whose exit is set, gets a site where w_here says so. */
void jy_flow_stamp(struct jy_flow *w, uint32_t v);
/* The frontend is done with the flow: the checks that there are count, and nothing is stamped any more. */
void jy_flow_report_begin(struct jy_flow *root);
/* A pass does without a copy of the check. */
void jy_flow_site_note(struct jy_flow *w, uint32_t site, enum jy_site_state state);
/* Behind all passes: fills the reports. fastmath: sums have no order. */
void jy_flow_report(struct jy_flow *root, bool fastmath);
/* Of a natural loop: the innermost loop of the program that has all of its blocks; number + 1, 0: none. */
uint32_t jy_flow_report_of(const struct jy_flow *w, const struct jy_flow_loop *loop);

#endif
