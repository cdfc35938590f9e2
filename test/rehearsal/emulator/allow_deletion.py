"""Lets stacks be deleted: `python -m emulator.allow_deletion <stack> …`, as the guide has it for tearing down."""

import json
import sys

import boto3

for name in sys.argv[1:]:
    boto3.client("cloudformation").update_termination_protection(StackName=name, EnableTerminationProtection=False)
print(json.dumps(sys.argv[1:]))
