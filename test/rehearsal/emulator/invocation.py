"""Runs a function that is invoked by Node, with the code, the handler and the variables that it was deployed with."""

import io
import json
import os
import subprocess
import zipfile
from pathlib import Path
from urllib.parse import unquote

from moto.awslambda.models import lambda_backends

RUNNER = Path(__file__).with_name("run-function.mjs")


def _unpacked(function, folder):
    target = folder / function.code_sha_256.replace("/", "_").rstrip("=")
    if not target.exists():
        with zipfile.ZipFile(io.BytesIO(function.code_bytes)) as archive:
            archive.extractall(target)
        # As on Lambda, a file .js is a script, whatever the folders around it say.
        (folder / "package.json").write_text('{"type":"commonjs"}')
    return target


def run(function, event, folder, environment):
    """What the function answered, as `(payload, whether it failed)`."""
    code = _unpacked(function, folder)
    variables = {"PATH": os.environ["PATH"], **function.environment_vars, **environment}
    command = [environment["NODE"], RUNNER, code, function.handler]
    done = subprocess.run(
        command, input=event or "null", env=variables, capture_output=True, text=True, timeout=function.timeout
    )
    *lines, last = [line for line in done.stdout.split("\n") if line] or [""]
    for line in lines + done.stderr.split("\n"):
        if line:
            print(f"{function.function_name}: {line}", flush=True)
    if not last.startswith('{"ended":'):
        return json.dumps({"errorMessage": f"{function.function_name} ended with {done.returncode}: {last}"}), True
    ended = json.loads(last)["ended"]
    return json.dumps(ended["value"]), ended["failed"]


def invoking(folder, environment_of):
    """The call `Invoke` of Lambda, for moto's answers to it."""

    def invoke(self):
        name = unquote(self.path.rsplit("/", 2)[-2])
        function = lambda_backends[self.current_account][self.region].get_function(
            name, self._get_param("Qualifier") or self._get_param("qualifier")
        )
        event = self.body.decode() if isinstance(self.body, bytes) else self.body
        payload, failed = run(function, event, folder, environment_of(self.region))
        headers = {"content-type": "application/json"}
        if failed:
            headers["x-amz-function-error"] = "Unhandled"
        status = 202 if self.headers.get("X-Amz-Invocation-Type") == "Event" else 200
        return status, {**headers, "status": status}, payload

    return invoke
