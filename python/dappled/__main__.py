"""`python -m dappled`, the same as the command `dappled`."""

import sys

from dappled.cli import main

if __name__ == "__main__":
    sys.exit(main())
