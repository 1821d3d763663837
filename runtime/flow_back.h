/* What a run has changed in native lists that came in goes into their objects: first what may fail, then what cannot. */
#ifndef JY_RUNTIME_FLOW_BACK_H
#define JY_RUNTIME_FLOW_BACK_H

#include "runtime/flow_native.h"

/* Makes what the objects will need; nobody sees it. False: an exception, no memory, and jy_flow_back_undo is due. No collection may begin. */
bool jy_flow_back_prepare(struct jy_flow_owner *owner);
void jy_flow_back_commit(struct jy_flow_owner *owner);
/* Objects are as they were before they were prepared. */
void jy_flow_back_undo(struct jy_flow_owner *owner);

#endif
