"""Stacks: what CloudFormation keeps of each, what it lets be changed, and what stacks take from one another."""

import json
import threading
import uuid
from datetime import datetime, timezone

import yaml

from .kinds import kinds
from .resource_changes import Changes, Context, remove
from .template import Refused, Scope

MOST_RESOURCES = 500
MOST_BYTES = 1_000_000


def parsed(body):
    return json.loads(body) if body.lstrip().startswith("{") else yaml.safe_load(body)


class Stack:
    def __init__(self, name, region, account):
        self.name = name
        self.id = f"arn:aws:cloudformation:{region}:{account}:stack/{name}/{uuid.uuid4()}"
        self.status = "REVIEW_IN_PROGRESS"
        self.reason = None
        self.body = "{}"
        self.given = {}
        self.tags = {}
        self.protected = False
        self.outputs = []
        self.imported = set()
        self.resources = {}
        self.events = []
        self.created = datetime.now(timezone.utc)

    def tell(self, logical, kind, status, physical="", reason=None):
        event = {
            "StackId": self.id,
            "StackName": self.name,
            "EventId": str(uuid.uuid4()),
            "LogicalResourceId": logical,
            "PhysicalResourceId": physical,
            "ResourceType": kind,
            "Timestamp": datetime.now(timezone.utc),
            "ResourceStatus": status,
            "ResourceStatusReason": reason,
        }
        self.events.append(event)

    def turn(self, status, reason=None):
        self.status = status
        self.reason = reason
        self.tell(self.name, "AWS::CloudFormation::Stack", status, self.id, reason)

    def exports(self):
        return {output["ExportName"]: output["OutputValue"] for output in self.outputs if "ExportName" in output}


class Stacks:
    """The stacks of one region. One change is carried out at a time."""

    def __init__(self, clients, account, region):
        self.clients = clients
        self.account = account
        self.region = region
        self.stacks = {}
        self.deleted = {}
        self.lock = threading.Lock()

    def find(self, name):
        """A stack by name or id, one that was deleted by its id only."""
        for stack in [*self.stacks.values(), *self.deleted.values()]:
            if name == stack.id or name == stack.name and stack.name in self.stacks:
                return stack
        return None

    def _context(self, stack):
        return Context(self.clients, self.account, self.region, stack.name, stack.id)

    def _export(self, name):
        for stack in self.stacks.values():
            if name in stack.exports():
                return stack.exports()[name]
        raise Refused(f"No export named {name} found. Rollback requested by user.")

    def _secret(self, arn):
        return self.clients("secretsmanager", self.region).get_secret_value(SecretId=arn)["SecretString"]

    def _importers(self, stack, name):
        return [other.name for other in self.stacks.values() if other is not stack and name in other.imported]

    def _parameters(self, template, given):
        values = {}
        for name, parameter in template.get("Parameters", {}).items():
            value = given.get(name, parameter.get("Default"))
            if value is None:
                raise Refused(f"Parameters: [{name}] must have values")
            if parameter["Type"].startswith("AWS::SSM::Parameter::Value"):
                value = self.clients("ssm", self.region).get_parameter(Name=value)["Parameter"]["Value"]
            elif parameter["Type"] == "CommaDelimitedList":
                value = [part for part in value.split(",") if part]
            values[name] = value
        return values

    @staticmethod
    def check(body):
        """Whether a template can be taken at all; `Refused` where not."""
        template = parsed(body)
        unknown = {resource["Type"] for resource in template["Resources"].values()} - set(kinds)
        conditional = {r["Type"] for r in template["Resources"].values() if "Condition" in r}
        if unknown - conditional:
            raise Refused(f"Template format error: Unrecognized resource types: {sorted(unknown - conditional)}")
        if len(template["Resources"]) > MOST_RESOURCES:
            raise Refused(f"Template format error: more than {MOST_RESOURCES} resources")
        if len(body.encode()) > MOST_BYTES:
            raise Refused(f"Template may not exceed {MOST_BYTES} bytes in size")

    def _outputs(self, stack, template, scope):
        outputs = []
        for name, output in template.get("Outputs", {}).items():
            if "Condition" in output and not scope.holds(output["Condition"]):
                continue
            value = {"OutputKey": name, "OutputValue": str(scope.resolve(output["Value"]))}
            if "Export" in output:
                value["ExportName"] = scope.resolve(output["Export"]["Name"])
            outputs.append(value)
        exported = {output["ExportName"]: output["OutputValue"] for output in outputs if "ExportName" in output}
        for name, value in stack.exports().items():
            importers = self._importers(stack, name)
            if importers and exported.get(name) != value:
                step = "updated" if name in exported else "deleted"
                raise Refused(f"Export {name} cannot be {step} as it is in use by {', '.join(importers)}")
        return outputs

    def carry_out(self, stack, body, given, tags):
        """Makes a stack what its template says, or leaves it as it was."""
        with self.lock:
            step = "CREATE" if stack.status == "REVIEW_IN_PROGRESS" else "UPDATE"
            stack.turn(f"{step}_IN_PROGRESS", "User Initiated")
            changes = Changes(self._context(stack), stack.resources, stack.tell)
            try:
                template = parsed(body)
                pseudo = {
                    "AWS::AccountId": self.account,
                    "AWS::Region": self.region,
                    "AWS::Partition": "aws",
                    "AWS::URLSuffix": "amazonaws.com",
                    "AWS::StackName": stack.name,
                    "AWS::StackId": stack.id,
                }
                parameters = self._parameters(template, given)
                scope = Scope(template, parameters, pseudo, stack.resources, self._export, self._secret)
                changes.carry_out(template, scope)
                outputs = self._outputs(stack, template, scope)
            except Refused as refused:
                stack.tell(stack.name, "AWS::CloudFormation::Stack", f"{step}_FAILED", stack.id, str(refused))
                changes.take_back()
                stack.turn("ROLLBACK_COMPLETE" if step == "CREATE" else "UPDATE_ROLLBACK_COMPLETE", str(refused))
                return
            stack.outputs, stack.imported = outputs, scope.imported
            stack.body, stack.given, stack.tags = body, given, tags
            changes.settle()
            stack.turn(f"{step}_COMPLETE")

    def delete(self, stack):
        with self.lock:
            if stack.protected:
                raise Refused(f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled")
            for name in stack.exports():
                importers = self._importers(stack, name)
                if importers:
                    reason = f"Cannot delete export {name} as it is in use by {', '.join(importers)}."
                    stack.turn("DELETE_FAILED", f"Delete canceled. {reason}")
                    return
            stack.turn("DELETE_IN_PROGRESS", "User Initiated")
            for logical, resource in reversed([*stack.resources.items()]):
                try:
                    remove(self._context(stack), logical, resource, stack.tell, keep=resource.retained)
                except Exception as error:
                    stack.tell(logical, resource.type, "DELETE_FAILED", resource.physical, str(error))
                    stack.turn("DELETE_FAILED", f"The following resource(s) failed to delete: [{logical}].")
                    return
            del self.stacks[stack.name]
            self.deleted[stack.id] = stack
            stack.turn("DELETE_COMPLETE")
