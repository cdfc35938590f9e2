"""
What CloudFormation does not let happen, tried on two small stacks of which one takes from the other. Prints how each
attempt ended as JSON: `python -m emulator.refusals`.
"""

import json

import boto3
from botocore.exceptions import ClientError

client = boto3.client("cloudformation")
topic = {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "given"}}
exported = {"Topic": {"Value": {"Ref": "Topic"}, "Export": {"Name": "given-topic"}}}
giver = {"Resources": {"Topic": topic}, "Outputs": exported}
tags = [{"Key": "topic", "Value": {"Fn::ImportValue": "given-topic"}}]
queue = {"Type": "AWS::SQS::Queue", "Properties": {"Tags": tags}}
misspelt = {"Type": "AWS::CloudWatch::Alarm", "Properties": {"AlarmNane": "x"}}
nobodys = {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": {"Fn::ImportValue": "nobody's"}}}
wrong = {"Resources": {"Another": topic, "Topic": topic, "Alarm": misspelt}, "Outputs": exported}


def attempt(stack, template, kind="UPDATE"):
    """The status of a stack after a template was tried on it, and why."""
    try:
        made = client.create_change_set(
            StackName=stack, ChangeSetName="try", ChangeSetType=kind, TemplateBody=json.dumps(template)
        )
    except ClientError as error:
        return f"refused: {error.response['Error']['Message']}"
    client.execute_change_set(ChangeSetName=made["Id"])
    described = client.describe_stacks(StackName=made["StackId"])["Stacks"][0]
    return f"{described['StackStatus']}: {described.get('StackStatusReason', '')}"


def deletion(stack):
    try:
        client.delete_stack(StackName=stack)
    except ClientError as error:
        return f"refused: {error.response['Error']['Message']}"
    left = [one for one in client.describe_stacks()["Stacks"] if one["StackName"] == stack]
    return f"{left[0]['StackStatus']}: {left[0].get('StackStatusReason', '')}" if left else "gone"


def topics():
    return len(boto3.client("sns").list_topics()["Topics"])


ended = {
    "giver": attempt("Giver", giver, "CREATE"),
    "taker": attempt("Taker", {"Resources": {"Queue": queue}}, "CREATE"),
    "unknown type": attempt("Giver", {"Resources": {"Topic": {"Type": "AWS::SNS::Tropic"}}}),
    "unknown export": attempt("Other", {"Resources": {"Queue": nobodys}}, "CREATE"),
    "export in use, removed": attempt("Giver", {"Resources": {"Topic": topic}}),
    "export in use, deleted": deletion("Giver"),
    "property misspelt": attempt("Giver", wrong),
}
ended["topics"] = topics()
client.update_termination_protection(StackName="Taker", EnableTerminationProtection=True)
ended["protected"] = deletion("Taker")
client.update_termination_protection(StackName="Taker", EnableTerminationProtection=False)
ended["taker, deleted"] = deletion("Taker")
ended["giver, deleted"] = deletion("Giver")
deletion("Other")
ended["topics left"] = topics()
print(json.dumps(ended))
