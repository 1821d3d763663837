/* Threads that help with a piece of work, and then sleep. They run no code of Python's, and take no signals. */
#ifndef JY_RUNTIME_POOL_H
#define JY_RUNTIME_POOL_H

enum { JY_POOL_MOST = 64 };

/* Called once by each thread that takes part, with numbers from 0 on; 0 is whoever asked. Each takes what is left to do until nothing is. */
typedef void (*jy_pool_work)(void *context, unsigned who);

/* Does the work on up to so many threads; those who come too late find it done and are not waited for. Two who ask at once do not share: the second works alone. */
void jy_pool_run(unsigned nthreads, jy_pool_work work, void *context);
unsigned jy_pool_cores(void); /* that this process may use; at most JY_POOL_MOST */
/* Once per process: a child of fork() starts without threads. */
void jy_pool_init(void);
/* Ends the threads. */
void jy_pool_stop(void);

#endif
