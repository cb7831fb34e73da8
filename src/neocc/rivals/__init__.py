"""What NEO-CC is compared with: whole methods, each in a folder of its own.

`lowrank` (semidefinite NEO-K-Means), `rocc` and `plaid`. Nothing else rests on them: `core`,
`engines` and `kernels` do not know them, and the estimators import one only where a parameter asks
for it.
"""
