"""
Serves the account at an address of loopback: `python -m emulator <node> <folder>`, where functions are unpacked to be
run by that Node. Writes `{"port": …}` once it is up, and ends with its standard input.
"""

import json
import os
import sys
import threading
import uuid
from functools import lru_cache
from pathlib import Path

import boto3
from botocore.config import Config
from moto.awslambda.responses import LambdaResponse
from moto.cloudformation import urls
from moto.iam.access_control import PermissionResult
from moto.route53 import models as route53
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.s3.models import FakeBucket
from werkzeug.serving import make_server

from .cloudformation import CloudFormation
from .invocation import invoking

HOST = "127.0.0.1"
CREDENTIALS = {"aws_access_key_id": "rehearsal", "aws_secret_access_key": "rehearsal"}


class QuietHandler(MotoRequestHandler):
    """Writes no line a request."""

    protocol_version = "HTTP/1.1"

    def log_request(self, *_args, **_more):
        pass


def serve(node, folder):
    os.environ["MOTO_IAM_LOAD_MANAGED_POLICIES"] = "true"
    # It reads policies of buckets without their conditions, and would take "deny without TLS" for "deny".
    FakeBucket.get_permission = lambda *_: PermissionResult.NEUTRAL
    # Its ids of hosted zones begin with any letter, those of AWS with Z.
    route53.create_route53_zone_id = lambda **_: f"Z{uuid.uuid4().hex[:20].upper()}"
    urls.url_paths["{0}/$"] = CloudFormation.dispatch
    server = make_server(
        HOST, 0, DomainDispatcherApplication(create_backend_app), threaded=True, request_handler=QuietHandler
    )
    address = f"http://{HOST}:{server.server_port}"

    @lru_cache(maxsize=None)
    def clients(service, region):
        config = Config(region_name=region, retries={"max_attempts": 1}, s3={"addressing_style": "path"})
        return boto3.client(service, endpoint_url=address, config=config, **CREDENTIALS)

    CloudFormation.clients = staticmethod(clients)
    LambdaResponse.invoke = invoking(
        Path(folder),
        lambda region: {
            "NODE": node,
            "AWS_ENDPOINT_URL": address,
            "AWS_REGION": region,
            "AWS_ACCESS_KEY_ID": "rehearsal",
            "AWS_SECRET_ACCESS_KEY": "rehearsal",
        },
    )
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    print(json.dumps({"port": server.server_port}), flush=True)
    server.serve_forever()
