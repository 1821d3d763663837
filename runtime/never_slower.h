/* Decorated functions that may be slower than plain ones are tried by the clock, and go back to CPython where they are. */
#ifndef JY_RUNTIME_NEVER_SLOWER_H
#define JY_RUNTIME_NEVER_SLOWER_H

struct jy_function;

#define JY_WEIGH_CALLS 256u /* a power of two: so often calls are looked at */

/* Every so many calls; and when f_arrivals has come to f_weigh_arrivals and no call of the function is in its middle. */
void jy_never_slower_note_calls(struct jy_function *function);
void jy_never_slower_note_arrivals(struct jy_function *function);
/* All is as it was when the function was made: its trial ends without a verdict, one against it is forgotten. */
void jy_never_slower_forget(struct jy_function *function);

#endif
