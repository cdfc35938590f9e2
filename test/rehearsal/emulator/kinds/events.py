"""AWS::Events::Rule, AWS::SNS::*, AWS::SQS::*"""

import json

from .kind import Kind, Made, Replaced, call, generated, of_type, without


@of_type("AWS::Events::Rule")
class Rule(Kind):
    def _put(self, context, name, properties):
        answer = call(context, "events", "put_rule", {**without(properties, "Targets"), "Name": name})
        call(context, "events", "put_targets", {"Rule": name, "Targets": properties["Targets"]})
        return Made(name, {"Arn": answer["RuleArn"]})

    def create(self, context, properties):
        return self._put(context, properties.get("Name") or generated(context), properties)

    def update(self, context, made, properties, before):
        ids = {target["Id"] for target in before["Targets"]} - {target["Id"] for target in properties["Targets"]}
        if ids:
            context.client("events").remove_targets(Rule=made.physical, Ids=list(ids))
        return self._put(context, made.physical, without(properties, "Tags"))

    def delete(self, context, made, properties):
        client = context.client("events")
        client.remove_targets(Rule=made.physical, Ids=[target["Id"] for target in properties["Targets"]])
        client.delete_rule(Name=made.physical)


@of_type("AWS::SNS::Topic")
class Topic(Kind):
    def create(self, context, properties):
        name = properties.get("TopicName") or generated(context)
        attributes = without(properties, "TopicName", "Tags")
        wanted = {"Name": name, "Attributes": attributes, "Tags": properties.get("Tags", [])}
        return Made(call(context, "sns", "create_topic", wanted)["TopicArn"], {"TopicName": name})

    def delete(self, context, made, properties):
        context.client("sns").delete_topic(TopicArn=made.physical)


@of_type("AWS::SNS::TopicPolicy")
class TopicPolicy(Kind):
    def create(self, context, properties):
        for topic in properties["Topics"]:
            value = {"TopicArn": topic, "AttributeName": "Policy", "AttributeValue": properties["PolicyDocument"]}
            call(context, "sns", "set_topic_attributes", value)
        return Made(generated(context))

    def update(self, context, made, properties, before):
        self.create(context, properties)
        return made

    def delete(self, context, made, properties):
        pass


@of_type("AWS::SNS::Subscription")
class Subscription(Kind):
    def create(self, context, properties):
        answer = call(context, "sns", "subscribe", {**properties, "ReturnSubscriptionArn": True})
        return Made(answer["SubscriptionArn"])

    def delete(self, context, made, properties):
        context.client("sns").unsubscribe(SubscriptionArn=made.physical)


@of_type("AWS::SQS::Queue")
class Queue(Kind):
    def create(self, context, properties):
        name = properties.get("QueueName") or generated(context, 80)
        attributes = without(properties, "QueueName", "Tags")
        wanted = {"QueueName": name, "Attributes": attributes, "tags": properties.get("Tags", [])}
        url = call(context, "sqs", "create_queue", wanted)["QueueUrl"]
        answer = context.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        return Made(url, {"Arn": answer["Attributes"]["QueueArn"], "QueueName": name})

    def update(self, context, made, properties, before):
        if properties.get("QueueName") != before.get("QueueName"):
            raise Replaced
        attributes = without(properties, "QueueName", "Tags")
        call(context, "sqs", "set_queue_attributes", {"QueueUrl": made.physical, "Attributes": attributes})
        return made

    def delete(self, context, made, properties):
        context.client("sqs").delete_queue(QueueUrl=made.physical)


@of_type("AWS::SQS::QueuePolicy")
class QueuePolicy(Kind):
    def create(self, context, properties):
        policy = json.dumps(properties["PolicyDocument"])
        for url in properties["Queues"]:
            context.client("sqs").set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})
        return Made(generated(context))

    def update(self, context, made, properties, before):
        self.create(context, properties)
        return made

    def delete(self, context, made, properties):
        for url in properties["Queues"]:
            context.client("sqs").set_queue_attributes(QueueUrl=url, Attributes={"Policy": ""})
