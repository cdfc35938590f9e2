"""
What an operator has before a deployment gets domains: a hosted zone, and certificates in the region of the APIs and
in that of CloudFront. Prints their ids as JSON: `python -m emulator.prepare_domains example.com`.
"""

import json
import sys

import boto3

zone = sys.argv[1]


def certificate(region=None):
    return boto3.client("acm", region_name=region).request_certificate(DomainName=f"*.{zone}")["CertificateArn"]


made = boto3.client("route53").create_hosted_zone(Name=zone, CallerReference=zone)
edge = certificate("us-east-1")
ids = {
    "hostedZoneId": made["HostedZone"]["Id"].split("/")[-1],
    "apiCertificateArn": certificate(),
    "filesCertificateArn": edge,
    "consoleCertificateArn": edge,
}
print(json.dumps(ids))
