"""AWS::S3::*, AWS::CloudFront::*, AWS::Route53::RecordSet"""

import json

from .kind import Kept, Kind, Made, Replaced, call, generated, kinds, of_type, without

kinds["AWS::CloudFront::CachePolicy"] = Kept("cloudfront", "create_cache_policy", lambda physical: {"Id": physical})
kinds["AWS::CloudFront::PublicKey"] = Kept("cloudfront", "create_public_key", lambda physical: {"Id": physical})
kinds["AWS::CloudFront::KeyGroup"] = Kept("cloudfront", "create_key_group", lambda physical: {"Id": physical})
kinds["AWS::CloudFront::ResponseHeadersPolicy"] = Kept(
    "cloudfront", "create_response_headers_policy", lambda physical: {"Id": physical}
)


def _rule(rule):
    """One rule of a lifecycle, whose form in templates is older than that of the API."""
    renamed = without(rule, "ExpirationInDays", "Prefix", "NoncurrentVersionExpiration")
    older = rule.get("NoncurrentVersionExpiration")
    return {
        **renamed,
        "Filter": {"Prefix": rule.get("Prefix", "")},
        **({"Expiration": {"Days": rule["ExpirationInDays"]}} if "ExpirationInDays" in rule else {}),
        **({"NoncurrentVersionExpiration": older} if older else {}),
    }


def _cors(configuration):
    names = {"AllowedHeaders": "AllowedHeaders", "ExposedHeaders": "ExposeHeaders", "MaxAge": "MaxAgeSeconds"}
    rules = [{names.get(key, key): value for key, value in rule.items()} for rule in configuration["CorsRules"]]
    return {"CORSRules": rules}


def _encryption(configuration):
    rules = [
        {"ApplyServerSideEncryptionByDefault": rule["ServerSideEncryptionByDefault"]}
        for rule in configuration["ServerSideEncryptionConfiguration"]
    ]
    return {"Rules": rules}


@of_type("AWS::S3::Bucket")
class Bucket(Kind):
    def _configure(self, context, name, properties):
        def put(method, parameter, value):
            call(context, "s3", method, {"Bucket": name, parameter: value})

        parts = {
            "AccessControl": ("put_bucket_acl", "ACL", str.lower),
            "BucketEncryption": ("put_bucket_encryption", "ServerSideEncryptionConfiguration", _encryption),
            "CorsConfiguration": ("put_bucket_cors", "CORSConfiguration", _cors),
            "OwnershipControls": ("put_bucket_ownership_controls", "OwnershipControls", None),
            "PublicAccessBlockConfiguration": ("put_public_access_block", "PublicAccessBlockConfiguration", None),
            "Tags": ("put_bucket_tagging", "Tagging", lambda tags: {"TagSet": tags}),
            "VersioningConfiguration": ("put_bucket_versioning", "VersioningConfiguration", None),
            "LifecycleConfiguration": (
                "put_bucket_lifecycle_configuration",
                "LifecycleConfiguration",
                lambda configuration: {"Rules": [_rule(rule) for rule in configuration["Rules"]]},
            ),
        }
        for part, value in without(properties, "BucketName").items():
            method, parameter, convert = parts[part]
            put(method, parameter, convert(value) if convert else value)

    def create(self, context, properties):
        name = properties.get("BucketName") or generated(context, 63).lower()
        place = {} if context.region == "us-east-1" else {"LocationConstraint": context.region}
        context.client("s3").create_bucket(Bucket=name, **({"CreateBucketConfiguration": place} if place else {}))
        self._configure(context, name, properties)
        attributes = {
            "Arn": f"arn:aws:s3:::{name}",
            "DomainName": f"{name}.s3.amazonaws.com",
            "RegionalDomainName": f"{name}.s3.{context.region}.amazonaws.com",
        }
        return Made(name, attributes)

    def update(self, context, made, properties, before):
        if properties.get("BucketName") != before.get("BucketName"):
            raise Replaced
        self._configure(context, made.physical, properties)
        return made

    def delete(self, context, made, properties):
        context.client("s3").delete_bucket(Bucket=made.physical)


@of_type("AWS::S3::BucketPolicy")
class BucketPolicy(Kind):
    def create(self, context, properties):
        policy = json.dumps(properties["PolicyDocument"])
        context.client("s3").put_bucket_policy(Bucket=properties["Bucket"], Policy=policy)
        return Made(properties["Bucket"])

    def update(self, context, made, properties, before):
        if properties["Bucket"] != before["Bucket"]:
            raise Replaced
        return self.create(context, properties)

    def delete(self, context, made, properties):
        context.client("s3").delete_bucket_policy(Bucket=made.physical)


@of_type("AWS::CloudFront::OriginAccessControl")
class OriginAccessControl(Kind):
    def create(self, context, properties):
        control = call(context, "cloudfront", "create_origin_access_control", properties)["OriginAccessControl"]
        return Made(control["Id"], {"Id": control["Id"]})

    def delete(self, context, made, properties):
        context.client("cloudfront").delete_origin_access_control(Id=made.physical)


@of_type("AWS::CloudFront::Function")
class EdgeFunction(Kind):
    def create(self, context, properties):
        wanted = {**without(properties, "AutoPublish", "Tags"), "FunctionCode": properties["FunctionCode"].encode()}
        answer = call(context, "cloudfront", "create_function", wanted)
        arn = answer["FunctionSummary"]["FunctionMetadata"]["FunctionARN"]
        return Made(arn, {"FunctionARN": arn})

    def update(self, context, made, properties, before):
        # The emulator has no call that changes it; its address is made of its name, and stays.
        self.delete(context, made, before)
        return self.create(context, properties)

    def delete(self, context, made, properties):
        client = context.client("cloudfront")
        tag = client.describe_function(Name=properties["Name"])["ETag"]
        client.delete_function(Name=properties["Name"], IfMatch=tag)


def _behavior(behavior):
    groups = behavior.get("TrustedKeyGroups")
    trusted = {"TrustedKeyGroups": {"Enabled": True, "Items": groups}} if groups else {}
    return {**behavior, **trusted, "AllowedMethods": {"Items": behavior["AllowedMethods"]}}


def _origin(origin):
    """An origin, whose form in templates has other names."""
    own = {**without(origin, "OriginCustomHeaders"), "CustomHeaders": origin.get("OriginCustomHeaders", [])}
    if "CustomOriginConfig" in own:
        own["CustomOriginConfig"] = {"HTTPPort": 80, "HTTPSPort": 443, **own["CustomOriginConfig"]}
    return own


@of_type("AWS::CloudFront::Distribution")
class Distribution(Kind):
    def create(self, context, properties):
        configuration = self._configuration(context, properties)
        answer = call(context, "cloudfront", "create_distribution", {"DistributionConfig": configuration})
        made = answer["Distribution"]
        return Made(made["Id"], {"Id": made["Id"], "DomainName": made["DomainName"]})

    @staticmethod
    def _configuration(context, properties):
        configuration = dict(properties["DistributionConfig"])
        certificate = configuration.get("ViewerCertificate")
        if certificate is not None:
            arn = certificate["AcmCertificateArn"]
            if arn.split(":")[3] != "us-east-1":
                raise ValueError("The certificate of a distribution has to be in us-east-1")
            context.client("acm", "us-east-1").describe_certificate(CertificateArn=arn)
            renamed = {"AcmCertificateArn": "ACMCertificateArn", "SslSupportMethod": "SSLSupportMethod"}
            wanted = {renamed.get(name, name): value for name, value in certificate.items()}
            configuration["ViewerCertificate"] = wanted
        configuration["IsIPV6Enabled"] = configuration.pop("IPV6Enabled")
        # The emulator knows no groups of origins: each stands for the first of its members.
        groups = configuration.pop("OriginGroups", {}).get("Items", [])
        firsts = {group["Id"]: group["Members"]["Items"][0]["OriginId"] for group in groups}
        behaviors = [configuration["DefaultCacheBehavior"], *configuration.get("CacheBehaviors", [])]
        led = [{**one, "TargetOriginId": firsts.get(one["TargetOriginId"], one["TargetOriginId"])} for one in behaviors]
        configuration["DefaultCacheBehavior"], *others = [_behavior(one) for one in led]
        configuration["CacheBehaviors"] = others
        configuration["Origins"] = [_origin(one) for one in configuration["Origins"]]
        return {"CallerReference": context.logical, **configuration}

    def update(self, context, made, properties, before):
        client = context.client("cloudfront")
        tag = client.get_distribution_config(Id=made.physical)["ETag"]
        wanted = {
            "DistributionConfig": self._configuration(context, properties),
            "Id": made.physical,
            "IfMatch": tag,
        }
        call(context, "cloudfront", "update_distribution", wanted)
        return made

    def delete(self, context, made, properties):
        client = context.client("cloudfront")
        tag = client.get_distribution_config(Id=made.physical)["ETag"]
        client.delete_distribution(Id=made.physical, IfMatch=tag)


@of_type("AWS::Route53::RecordSet")
class RecordSet(Kind):
    @staticmethod
    def _change(context, action, properties):
        record = without(properties, "HostedZoneId")
        alias = record.get("AliasTarget")
        if alias is not None:
            record["AliasTarget"] = {"EvaluateTargetHealth": False, **alias}
        change = {"Changes": [{"Action": action, "ResourceRecordSet": record}]}
        wanted = {"HostedZoneId": properties["HostedZoneId"], "ChangeBatch": change}
        call(context, "route53", "change_resource_record_sets", wanted)

    def create(self, context, properties):
        self._change(context, "CREATE", properties)
        return Made(properties["Name"])

    def update(self, context, made, properties, before):
        if any(properties[name] != before[name] for name in ("Name", "Type", "HostedZoneId")):
            raise Replaced
        self._change(context, "UPSERT", properties)
        return made

    def delete(self, context, made, properties):
        self._change(context, "DELETE", properties)
