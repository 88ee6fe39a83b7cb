#!/usr/bin/env python3
"""mdwe.py COMMAND... - runs it so that the kernel lets no code become writable (PR_SET_MDWE, which exec inherits)"""
import ctypes
import os
import sys

if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) != 0:
    sys.exit("the kernel has no PR_SET_MDWE")
os.execvp(sys.argv[1], sys.argv[1:])
