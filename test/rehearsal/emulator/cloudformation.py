"""The calls of CloudFormation that the CDK and this repository make."""

import uuid

from moto.cloudformation.exceptions import CloudFormationError, ValidationError
from moto.core.responses import ActionResult, BaseResponse, EmptyResult

from .stacks import Stack, Stacks
from .template import Refused

NO_CHANGES = "The submitted information didn't contain changes. Submit different information to create a change set."


class ChangeSetNotFound(CloudFormationError):
    code = "ChangeSetNotFound"


class CloudFormation(BaseResponse):
    """One request. `stacks_of` says what the account has in a region; moto reads the request and writes the answer."""

    regions: dict = {}
    change_sets: dict = {}
    clients = None

    def __init__(self):
        super().__init__(service_name="cloudformation")
        self.automated_parameter_parsing = True

    @property
    def stacks(self) -> Stacks:
        key = (self.current_account, self.region)
        return self.regions.setdefault(key, Stacks(type(self).clients, *key))

    def _stack(self):
        name = self._get_param("StackName")
        stack = self.stacks.find(name)
        if stack is None:
            raise ValidationError(message=f"Stack with id {name} does not exist")
        return stack

    def _template(self):
        url = self._get_param("TemplateURL")
        if not url:
            return self._get_param("TemplateBody")
        bucket, key = url.split("://", 1)[1].split("/", 1)[1].split("/", 1)
        if url.split("://", 1)[1].split(".", 1)[1].startswith("s3"):
            bucket, key = url.split("://", 1)[1].split(".", 1)[0], url.split("://", 1)[1].split("/", 1)[1]
        found = type(self).clients("s3", self.region).get_object(Bucket=bucket, Key=key)
        return found["Body"].read().decode()

    def create_change_set(self):
        name = self._get_param("StackName")
        stack = self.stacks.find(name)
        body = self._template()
        try:
            self.stacks.check(body)
        except Refused as refused:
            raise ValidationError(message=str(refused)) from refused
        if stack is None:
            stack = self.stacks.stacks[name] = Stack(name, self.region, self.current_account)
        given = {
            parameter["ParameterKey"]: stack.given[parameter["ParameterKey"]]
            if parameter.get("UsePreviousValue")
            else parameter["ParameterValue"]
            for parameter in self._get_param("Parameters", [])
        }
        tags = {tag["Key"]: tag["Value"] for tag in self._get_param("Tags", [])}
        changed = (body, given, tags) != (stack.body, stack.given, stack.tags)
        change_set = {
            "Id": f"{stack.id.replace(':stack/', ':changeSet/')}/{uuid.uuid4()}",
            "Name": self._get_param("ChangeSetName"),
            "stack": stack,
            "wanted": (body, given, tags),
            "Status": "CREATE_COMPLETE" if changed else "FAILED",
            "StatusReason": None if changed else NO_CHANGES,
        }
        self.change_sets[change_set["Id"]] = change_set
        return ActionResult({"Id": change_set["Id"], "StackId": stack.id})

    def _change_set(self):
        name, stack = self._get_param("ChangeSetName"), self._get_param("StackName")
        for change_set in reversed([*self.change_sets.values()]):
            of_stack = stack is None or stack in (change_set["stack"].name, change_set["stack"].id)
            if name == change_set["Id"] or name == change_set["Name"] and of_stack:
                return change_set
        raise ChangeSetNotFound(f"ChangeSet [{name}] does not exist")

    def describe_change_set(self):
        change_set = self._change_set()
        stack = change_set["stack"]
        described = {
            "ChangeSetName": change_set["Name"],
            "ChangeSetId": change_set["Id"],
            "StackId": stack.id,
            "StackName": stack.name,
            "Status": change_set["Status"],
            "StatusReason": change_set["StatusReason"],
            "ExecutionStatus": "AVAILABLE" if change_set["Status"] == "CREATE_COMPLETE" else "UNAVAILABLE",
            "Changes": [{"Type": "Resource", "ResourceChange": {"Action": "Modify", "LogicalResourceId": "All"}}],
        }
        return ActionResult(described)

    def delete_change_set(self):
        try:
            del self.change_sets[self._change_set()["Id"]]
        except ChangeSetNotFound:
            pass
        return EmptyResult()

    def execute_change_set(self):
        change_set = self._change_set()
        self.stacks.carry_out(change_set["stack"], *change_set["wanted"])
        return EmptyResult()

    def describe_stacks(self):
        stacks = [self._stack()] if self._get_param("StackName") else [*self.stacks.stacks.values()]
        return ActionResult({"Stacks": [self._described(stack) for stack in stacks]})

    def _described(self, stack):
        return {
            "StackId": stack.id,
            "StackName": stack.name,
            "StackStatus": stack.status,
            "StackStatusReason": stack.reason,
            "CreationTime": stack.created,
            "EnableTerminationProtection": stack.protected,
            "Parameters": [{"ParameterKey": key, "ParameterValue": value} for key, value in stack.given.items()],
            "Outputs": stack.outputs,
            "Tags": [{"Key": key, "Value": value} for key, value in stack.tags.items()],
        }

    def list_stacks(self):
        wanted = self._get_param("StackStatusFilter")
        stacks = [*self.stacks.stacks.values(), *self.stacks.deleted.values()]
        found = [stack for stack in stacks if not wanted or stack.status in wanted]
        return ActionResult({"StackSummaries": [self._described(stack) for stack in found]})

    def describe_stack_events(self):
        return ActionResult({"StackEvents": self._stack().events[::-1]})

    def describe_stack_resources(self):
        stack = self._stack()
        more = {"StackName": stack.name, "Timestamp": stack.created}
        return ActionResult({"StackResources": [{**resource, **more} for resource in self._listed(stack)]})

    def list_stack_resources(self):
        return ActionResult({"StackResourceSummaries": self._listed(self._stack())})

    @staticmethod
    def _listed(stack):
        return [
            {
                "LogicalResourceId": logical,
                "PhysicalResourceId": resource.physical,
                "ResourceType": resource.type,
                "ResourceStatus": "CREATE_COMPLETE",
                "LastUpdatedTimestamp": stack.created,
            }
            for logical, resource in stack.resources.items()
        ]

    def list_exports(self):
        exports = [
            {"ExportingStackId": stack.id, "Name": name, "Value": value}
            for stack in self.stacks.stacks.values()
            for name, value in stack.exports().items()
        ]
        return ActionResult({"Exports": exports})

    def get_template(self):
        return ActionResult({"TemplateBody": self._stack().body, "StagesAvailable": ["Original", "Processed"]})

    def update_termination_protection(self):
        stack = self._stack()
        stack.protected = self._get_param("EnableTerminationProtection")
        return ActionResult({"StackId": stack.id})

    def delete_stack(self):
        name = self._get_param("StackName")
        stack = self.stacks.find(name)
        if stack is not None and stack.status != "DELETE_COMPLETE":
            try:
                self.stacks.delete(stack)
            except Refused as refused:
                raise ValidationError(message=str(refused)) from refused
        return EmptyResult()
