"""DynamoDB by moto, in memory: moto-server.py PORT. Prints "ready", and ends when its standard input closes."""

import os
import sys
import threading

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server


class Handler(MotoRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_request(self, *_args, **_more):
        pass


app = DomainDispatcherApplication(create_backend_app)
lock = threading.Lock()


def one_at_a_time(environ, start_response):
    """moto reads and writes an item in two steps, so a conditional write would not be atomic."""
    with lock:
        return list(app(environ, start_response))


server = make_server("127.0.0.1", int(sys.argv[1]), one_at_a_time, threaded=True, request_handler=Handler)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
print("ready", flush=True)
server.serve_forever()
