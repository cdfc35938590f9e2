"""Custom::*: a function of the stack makes the resource, and says how that ended."""

import json
import uuid

from .kind import Kind, Made, of_type


@of_type("Custom::Trigger")
class Custom(Kind):
    def _ask(self, context, request, properties, **more):
        event = {
            "RequestType": request,
            "ResponseURL": "https://response.invalid/",
            "StackId": context.stack_id,
            "RequestId": str(uuid.uuid4()),
            "LogicalResourceId": context.logical,
            "ResourceType": "Custom::Trigger",
            "ResourceProperties": properties,
            **more,
        }
        answer = context.client("lambda").invoke(FunctionName=properties["ServiceToken"], Payload=json.dumps(event))
        payload = json.loads(answer["Payload"].read())
        if "FunctionError" in answer:
            raise RuntimeError(payload["errorMessage"])
        if payload["Status"] != "SUCCESS":
            raise RuntimeError(f"Received response status [FAILED] from custom resource. {payload['Reason']}")
        return Made(payload["PhysicalResourceId"], payload.get("Data") or {})

    def create(self, context, properties):
        return self._ask(context, "Create", properties)

    def update(self, context, made, properties, before):
        more = {"PhysicalResourceId": made.physical, "OldResourceProperties": before}
        return self._ask(context, "Update", properties, **more)

    def delete(self, context, made, properties):
        self._ask(context, "Delete", properties, PhysicalResourceId=made.physical)
