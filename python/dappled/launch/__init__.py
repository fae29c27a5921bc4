"""`dappled run` and `dappled doctor`: programs on several ranks.

```text
command    dappled run: its options
mpiexec    which mpiexec starts the ranks, and what Open MPI's has to be told
job        the ranks started, watched, ended
rank       beside every rank: starts the program there, and says how it ended
records    what the ranks said, and what follows: the reason and the exit status
client     the ranks' end of the pipe to the supervisor
streams    what the ranks printed, and how much of it is shown
doctor     dappled doctor: what would be used, and whether it works
```
"""
