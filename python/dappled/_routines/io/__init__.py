"""Reading and writing files: every rank its piece.

Input: a path that all ranks name alike, or a file object. Output: our arrays. Guarantees: a file is
replaced as a whole, and all ranks raise the same error.

```text
npy        save, load, fromfile, tofile
npz        savez and members of archives
text       loadtxt, savetxt
memmap     np.memmap, open_memmap
parallel   parallel reads and writes, errors of one rank on all
```
"""
