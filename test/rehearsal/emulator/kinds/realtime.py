"""AWS::AppSync::*"""

from .kind import Kind, Made, Replaced, call, of_type, without


@of_type("AWS::AppSync::Api")
class EventApi(Kind):
    def create(self, context, properties):
        api = call(context, "appsync", "create_api", properties)["api"]
        dns = {f"Dns.{part}": api["dns"][part.upper()] for part in ("Http", "Realtime")}
        return Made(api["apiArn"], {"ApiArn": api["apiArn"], "ApiId": api["apiId"], **dns})

    def update(self, context, made, properties, before):
        if without(properties, "Tags") != without(before, "Tags"):
            raise Replaced
        return made

    def delete(self, context, made, properties):
        context.client("appsync").delete_api(apiId=made.attributes["ApiId"])


@of_type("AWS::AppSync::ChannelNamespace")
class ChannelNamespace(Kind):
    def create(self, context, properties):
        made = call(context, "appsync", "create_channel_namespace", properties)["channelNamespace"]
        return Made(made["channelNamespaceArn"], {"ChannelNamespaceArn": made["channelNamespaceArn"]})

    def delete(self, context, made, properties):
        context.client("appsync").delete_channel_namespace(apiId=properties["ApiId"], name=properties["Name"])
