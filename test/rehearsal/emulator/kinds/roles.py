"""AWS::IAM::*"""

import json

from .kind import Kind, Made, Replaced, call, generated, of_type, without


@of_type("AWS::IAM::Role")
class Role(Kind):
    def _policies(self, context, name, properties, before):
        client = context.client("iam")
        wanted = {policy["PolicyName"]: policy["PolicyDocument"] for policy in properties.get("Policies", [])}
        for policy in before.get("Policies", []):
            if policy["PolicyName"] not in wanted:
                client.delete_role_policy(RoleName=name, PolicyName=policy["PolicyName"])
        for policy, document in wanted.items():
            client.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=json.dumps(document))
        arns = set(properties.get("ManagedPolicyArns", []))
        for arn in set(before.get("ManagedPolicyArns", [])) - arns:
            client.detach_role_policy(RoleName=name, PolicyArn=arn)
        for arn in arns:
            client.attach_role_policy(RoleName=name, PolicyArn=arn)

    def create(self, context, properties):
        name = properties.get("RoleName") or generated(context)
        wanted = without(properties, "Policies", "ManagedPolicyArns")
        role = call(context, "iam", "create_role", {**wanted, "RoleName": name})["Role"]
        self._policies(context, name, properties, {})
        return Made(name, {"Arn": role["Arn"], "RoleId": role["RoleId"]})

    def update(self, context, made, properties, before):
        if properties.get("RoleName") != before.get("RoleName"):
            raise Replaced
        document = json.dumps(properties["AssumeRolePolicyDocument"])
        context.client("iam").update_assume_role_policy(RoleName=made.physical, PolicyDocument=document)
        self._policies(context, made.physical, properties, before)
        return made

    def delete(self, context, made, properties):
        self._policies(context, made.physical, {}, properties)
        context.client("iam").delete_role(RoleName=made.physical)


@of_type("AWS::IAM::Policy")
class Policy(Kind):
    def create(self, context, properties):
        for role in properties["Roles"]:
            wanted = {**without(properties, "Roles"), "RoleName": role}
            call(context, "iam", "put_role_policy", wanted)
        return Made(properties["PolicyName"])

    def delete(self, context, made, properties):
        for role in properties["Roles"]:
            context.client("iam").delete_role_policy(RoleName=role, PolicyName=made.physical)
