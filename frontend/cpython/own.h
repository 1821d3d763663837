/* What an object itself holds under a name, without making its dictionary exist (that would slow every later access to its attributes). */
#ifndef JY_FRONTEND_CPYTHON_OWN_H
#define JY_FRONTEND_CPYTHON_OWN_H

#include <Python.h>
#include <stdbool.h>

/* Borrowed; NULL: nothing. Runs no code of the program's; name: interned. Leaves no exception. */
PyObject *jy_own_attribute(PyObject *object, PyObject *name);
/* Does its dictionary hold keys that are no strings?  Their __eq__ may run at any look-up; jy_own_attribute answers the dictionary then,
 * which is no attribute's value. */
bool jy_own_has_foreign_keys(PyObject *object);
/* The same of a class and of those that it inherits from: any look-up of an attribute in it may run code then. */
bool jy_own_class_has_foreign_keys(PyTypeObject *type);
/* Its dictionary, if that exists as an object already; borrowed. */
PyObject *jy_own_dict(PyObject *object);
/* What this class itself holds; as above. */
PyObject *jy_own_class_attribute(PyTypeObject *type, PyObject *name);
/* Do instances have a dictionary? */
bool jy_own_has_dict(PyTypeObject *type);
/* Is it the descriptor of a slot that instances of the type have? */
bool jy_own_is_slot(PyTypeObject *type, PyObject *descriptor);
/* The member that a slot descriptor of __slots__ stands for, borrowed; NULL: empty. *ok false: it is another kind of member. */
PyObject *jy_own_slot(bool *ok, PyObject *object, PyObject *descriptor);

/* A collections.deque, or one of a subclass: its bound (-1: none) and an item, borrowed. Whatever its class has overridden is not asked. */
bool jy_own_is_deque(PyTypeObject *type);
Py_ssize_t jy_own_deque_maxlen(PyObject *deque);
PyObject *jy_own_deque_item(PyObject *deque, Py_ssize_t i);

#endif
