"""AWS::ApiGatewayV2::*"""

from .kind import Kind, Made, Plain, Replaced, call, kinds, of_type, without

kinds["AWS::ApiGatewayV2::Api"] = Plain(
    "apigatewayv2", "api", "ApiId", attributes=("ApiEndpoint", "ApiId"), fixed=("ProtocolType",)
)
kinds["AWS::ApiGatewayV2::Integration"] = Plain("apigatewayv2", "integration", "IntegrationId", within=("ApiId",))
kinds["AWS::ApiGatewayV2::Route"] = Plain("apigatewayv2", "route", "RouteId", within=("ApiId",))


class Remade(Kind):
    """The emulator has no call that changes it, and its name is its id: it is removed and made anew."""

    def update(self, context, made, properties, before):
        self.delete(context, made, before)
        return self.create(context, properties)


@of_type("AWS::ApiGatewayV2::Stage")
class Stage(Remade):
    def create(self, context, properties):
        call(context, "apigatewayv2", "create_stage", properties)
        return Made(properties["StageName"])

    def update(self, context, made, properties, before):
        if any(properties[name] != before[name] for name in ("ApiId", "StageName")):
            raise Replaced
        return super().update(context, made, properties, before)

    def delete(self, context, made, properties):
        call(context, "apigatewayv2", "delete_stage", {"ApiId": properties["ApiId"], "StageName": made.physical})


@of_type("AWS::ApiGatewayV2::DomainName")
class DomainName(Remade):
    def create(self, context, properties):
        name = properties["DomainName"]
        for configuration in properties["DomainNameConfigurations"]:
            arn = configuration["CertificateArn"]
            context.client("acm", arn.split(":")[3]).describe_certificate(CertificateArn=arn)
            if arn.split(":")[3] != context.region:
                raise ValueError("The certificate of an API has to be in its region")
        call(context, "apigatewayv2", "create_domain_name", properties)
        attributes = {
            "RegionalDomainName": f"d-{name.replace('.', '-')}.execute-api.{context.region}.amazonaws.com",
            "RegionalHostedZoneId": "Z2FDTNDATAQYW2",
        }
        return Made(name, attributes)

    def update(self, context, made, properties, before):
        if properties["DomainName"] != before["DomainName"]:
            raise Replaced
        return super().update(context, made, properties, before)

    def delete(self, context, made, properties):
        context.client("apigatewayv2").delete_domain_name(DomainName=made.physical)


@of_type("AWS::ApiGatewayV2::ApiMapping")
class ApiMapping(Remade):
    def create(self, context, properties):
        return Made(call(context, "apigatewayv2", "create_api_mapping", properties)["ApiMappingId"])

    def delete(self, context, made, properties):
        address = {"DomainName": properties["DomainName"], "ApiMappingId": made.physical}
        context.client("apigatewayv2").delete_api_mapping(**address)
