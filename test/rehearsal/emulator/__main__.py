import sys

from .server import serve

serve(*sys.argv[1:])
