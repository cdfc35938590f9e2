"""Prints as JSON what the account holds, read through its API: `python -m emulator.inventory`."""

import json

import boto3
from botocore.exceptions import ClientError


def every(service, method, key, **arguments):
    """All pages of a list."""
    client = boto3.client(service)
    if not client.can_paginate(method):
        return getattr(client, method)(**arguments)[key]
    return [item for page in client.get_paginator(method).paginate(**arguments) for item in page.get(key, [])]


def absent_as_none(method, **arguments):
    try:
        return method(**arguments)
    except ClientError as error:
        if error.response["Error"]["Code"] in ("ResourceNotFoundException", "404"):
            return None
        raise


def stacks():
    return {
        stack["StackName"]: {
            "status": stack["StackStatus"],
            "protected": stack["EnableTerminationProtection"],
            "outputs": {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])},
        }
        for stack in every("cloudformation", "describe_stacks", "Stacks")
    }


def function(client, configuration):
    name = {"FunctionName": configuration["FunctionName"]}
    policy = absent_as_none(client.get_policy, **name)
    url = absent_as_none(client.get_function_url_config, **name)
    asynchronous = absent_as_none(client.get_function_event_invoke_config, **name)
    statements = json.loads(policy["Policy"])["Statement"] if policy else []
    return {
        "arn": configuration["FunctionArn"],
        "description": configuration["Description"],
        "variables": configuration.get("Environment", {}).get("Variables", {}),
        "runtime": configuration["Runtime"],
        "architecture": configuration["Architectures"][0],
        "memory": configuration["MemorySize"],
        "timeout": configuration["Timeout"],
        "role": configuration["Role"].split("/")[-1],
        "subnets": configuration.get("VpcConfig", {}).get("SubnetIds", []),
        "reserved": client.get_function_concurrency(**name).get("ReservedConcurrentExecutions"),
        "callers": [
            {
                "action": statement["Action"],
                "principal": statement["Principal"]
                if isinstance(statement["Principal"], str)
                else statement["Principal"].get("Service") or statement["Principal"].get("AWS"),
                "source": statement.get("Condition", {}).get("ArnLike", {}).get("AWS:SourceArn"),
            }
            for statement in statements
        ],
        "url": url and {"url": url["FunctionUrl"], "auth": url["AuthType"]},
        "retries": asynchronous and asynchronous.get("MaximumRetryAttempts"),
    }


def functions():
    client = boto3.client("lambda")
    return {found["FunctionName"]: function(client, found) for found in every("lambda", "list_functions", "Functions")}


def api(client, found):
    here = {"ApiId": found["ApiId"]}
    targets = {
        f"integrations/{integration['IntegrationId']}": integration["IntegrationUri"]
        for integration in client.get_integrations(**here)["Items"]
    }
    return {
        "id": found["ApiId"],
        "name": found["Name"],
        "endpoint": found["ApiEndpoint"],
        "stages": [stage["StageName"] for stage in client.get_stages(**here)["Items"]],
        "cors": bool(found.get("CorsConfiguration")),
        "routes": {route["RouteKey"]: targets.get(route["Target"]) for route in client.get_routes(**here)["Items"]},
    }


def gateways():
    client = boto3.client("apigatewayv2")
    names = [domain["DomainName"] for domain in client.get_domain_names()["Items"]]
    return {
        "apis": [api(client, found) for found in client.get_apis()["Items"]],
        "domains": {name: client.get_api_mappings(DomainName=name)["Items"] for name in names},
    }


def mappings():
    return [
        {
            "function": mapping["FunctionArn"],
            "source": mapping["EventSourceArn"],
            "batch": mapping["BatchSize"],
            "concurrency": mapping.get("ScalingConfig", {}).get("MaximumConcurrency"),
            "responses": mapping.get("FunctionResponseTypes", []),
            "state": mapping["State"],
        }
        for mapping in every("lambda", "list_event_source_mappings", "EventSourceMappings")
    ]


def rules():
    client = boto3.client("events")
    return [
        {
            "schedule": rule["ScheduleExpression"],
            "state": rule["State"],
            "targets": [target["Arn"] for target in client.list_targets_by_rule(Rule=rule["Name"])["Targets"]],
        }
        for rule in every("events", "list_rules", "Rules")
    ]


def records():
    client = boto3.client("route53")
    return [
        {"Name": record["Name"], "Type": record["Type"], "target": record["AliasTarget"]["DNSName"]}
        for zone in client.list_hosted_zones()["HostedZones"]
        for record in client.list_resource_record_sets(HostedZoneId=zone["Id"])["ResourceRecordSets"]
        if "AliasTarget" in record
    ]


def distributions():
    found = boto3.client("cloudfront").list_distributions()["DistributionList"].get("Items", [])
    return [
        {
            "Id": one["Id"],
            "aliases": one["Aliases"].get("Items", []),
            "domain": one["DomainName"],
            "comment": one["Comment"],
        }
        for one in found
    ]


def objects(bucket):
    found = every("s3", "list_objects_v2", "Contents", Bucket=bucket)
    heads = {one["Key"]: boto3.client("s3").head_object(Bucket=bucket, Key=one["Key"]) for one in found}
    return {key: {"type": head["ContentType"], "cache": head.get("CacheControl")} for key, head in heads.items()}


def edge_secrets():
    """What the origins of distributions are told that no viewer knows."""
    client = boto3.client("cloudfront")
    return [
        header["HeaderValue"]
        for one in distributions()
        for origin in client.get_distribution(Id=one["Id"])["Distribution"]["DistributionConfig"]["Origins"]["Items"]
        for header in origin.get("CustomHeaders", {}).get("Items", [])
        if header["HeaderName"] == "x-viewer-secret"
    ]


def networks():
    found = every("ec2", "describe_vpcs", "Vpcs")
    return [vpc["VpcId"] for vpc in found if not vpc["IsDefault"]]


def everything():
    alarms = every("cloudwatch", "describe_alarms", "MetricAlarms")
    groups = every("logs", "describe_log_groups", "logGroups")
    subscriptions = every("sns", "list_subscriptions", "Subscriptions")
    buckets = [bucket["Name"] for bucket in every("s3", "list_buckets", "Buckets")]
    return {
        **gateways(),
        "stacks": stacks(),
        "functions": functions(),
        "mappings": mappings(),
        "rules": rules(),
        "records": records(),
        "distributions": distributions(),
        "networks": networks(),
        "alarms": [{"name": alarm["AlarmName"], "actions": alarm["AlarmActions"]} for alarm in alarms],
        "subscriptions": [{"topic": one["TopicArn"], "endpoint": one["Endpoint"]} for one in subscriptions],
        "roles": [role["RoleName"] for role in every("iam", "list_roles", "Roles")],
        "logGroups": {group["logGroupName"]: group.get("retentionInDays") for group in groups},
        "topics": [topic["TopicArn"] for topic in every("sns", "list_topics", "Topics")],
        "queues": every("sqs", "list_queues", "QueueUrls"),
        "tables": every("dynamodb", "list_tables", "TableNames"),
        "buckets": buckets,
        "pages": [objects(name) for name in buckets if "-console-" in name],
        "edgeSecrets": edge_secrets(),
        "secrets": [secret["Name"] for secret in every("secretsmanager", "list_secrets", "SecretList")],
        "addresses": [address["PublicIp"] for address in every("ec2", "describe_addresses", "Addresses")],
    }


print(json.dumps(everything()))
