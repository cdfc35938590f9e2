"""AWS::DynamoDB::GlobalTable, AWS::SecretsManager::Secret, AWS::SSM::Parameter, AWS::ECR::Repository"""

from .kind import Kind, Made, Plain, Replaced, call, generated, of_type, without


@of_type("AWS::DynamoDB::GlobalTable")
class GlobalTable(Kind):
    """A table with one replica, in the region of its stack."""

    def create(self, context, properties):
        (replica,) = properties["Replicas"]
        name = properties.get("TableName") or generated(context)
        backups = replica.pop("PointInTimeRecoverySpecification", None)
        own = without(replica, "Region")
        wanted = {**without(properties, "Replicas", "TimeToLiveSpecification"), **own, "TableName": name}
        answer = call(context, "dynamodb", "create_table", wanted)
        expiry = {"TableName": name, "TimeToLiveSpecification": properties["TimeToLiveSpecification"]}
        call(context, "dynamodb", "update_time_to_live", expiry)
        if backups:
            specification = {"TableName": name, "PointInTimeRecoverySpecification": backups}
            call(context, "dynamodb", "update_continuous_backups", specification)
        return Made(name, {"Arn": answer["TableDescription"]["TableArn"]})

    def delete(self, context, made, properties):
        context.client("dynamodb").delete_table(TableName=made.physical)


@of_type("AWS::SecretsManager::Secret")
class Secret(Kind):
    def create(self, context, properties):
        wanted = without(properties, "GenerateSecretString")
        generate = properties.get("GenerateSecretString")
        if generate is not None:
            wanted["SecretString"] = call(context, "secretsmanager", "get_random_password", generate)["RandomPassword"]
        name = properties.get("Name") or generated(context)
        return Made(call(context, "secretsmanager", "create_secret", {**wanted, "Name": name})["ARN"])

    def delete(self, context, made, properties):
        context.client("secretsmanager").delete_secret(SecretId=made.physical, ForceDeleteWithoutRecovery=True)


@of_type("AWS::SSM::Parameter")
class Parameter(Kind):
    def create(self, context, properties):
        call(context, "ssm", "put_parameter", properties)
        return Made(properties["Name"], {"Value": properties["Value"]})

    def delete(self, context, made, properties):
        context.client("ssm").delete_parameter(Name=made.physical)


@of_type("AWS::ECR::Repository")
class Repository(Kind):
    def create(self, context, properties):
        wanted = without(properties, "LifecyclePolicy", "RepositoryPolicyText")
        answer = call(context, "ecr", "create_repository", wanted)["repository"]
        return Made(answer["repositoryName"], {"Arn": answer["repositoryArn"]})

    def delete(self, context, made, properties):
        context.client("ecr").delete_repository(repositoryName=made.physical)
