"""AWS::Logs::*, AWS::CloudWatch::*"""

from .kind import Kept, Kind, Made, Replaced, call, generated, kinds, of_type, without

kinds["AWS::Logs::QueryDefinition"] = Kept("logs", "put_query_definition")


@of_type("AWS::Logs::LogGroup")
class LogGroup(Kind):
    def create(self, context, properties):
        name = properties.get("LogGroupName") or generated(context, 500)
        wanted = {**without(properties, "RetentionInDays"), "LogGroupName": name}
        call(context, "logs", "create_log_group", wanted)
        self._retain(context, name, properties)
        return Made(name, {"Arn": f"arn:aws:logs:{context.region}:{context.account}:log-group:{name}:*"})

    @staticmethod
    def _retain(context, name, properties):
        client = context.client("logs")
        if "RetentionInDays" in properties:
            client.put_retention_policy(logGroupName=name, retentionInDays=int(properties["RetentionInDays"]))
        else:
            client.delete_retention_policy(logGroupName=name)

    def update(self, context, made, properties, before):
        if properties.get("LogGroupName") != before.get("LogGroupName"):
            raise Replaced
        self._retain(context, made.physical, properties)
        return made

    def delete(self, context, made, properties):
        context.client("logs").delete_log_group(logGroupName=made.physical)


@of_type("AWS::Logs::MetricFilter")
class MetricFilter(Kind):
    def _put(self, context, name, properties):
        call(context, "logs", "put_metric_filter", {**properties, "FilterName": name})
        return Made(name)

    def create(self, context, properties):
        return self._put(context, properties.get("FilterName") or generated(context), properties)

    def update(self, context, made, properties, before):
        if properties["LogGroupName"] != before["LogGroupName"]:
            raise Replaced
        return self._put(context, made.physical, properties)

    def delete(self, context, made, properties):
        group = properties["LogGroupName"]
        context.client("logs").delete_metric_filter(logGroupName=group, filterName=made.physical)


@of_type("AWS::CloudWatch::Alarm")
class Alarm(Kind):
    def _put(self, context, name, properties):
        call(context, "cloudwatch", "put_metric_alarm", {**properties, "AlarmName": name})
        return Made(name, {"Arn": f"arn:aws:cloudwatch:{context.region}:{context.account}:alarm:{name}"})

    def create(self, context, properties):
        return self._put(context, properties.get("AlarmName") or generated(context), properties)

    def update(self, context, made, properties, before):
        if properties.get("AlarmName") != before.get("AlarmName"):
            raise Replaced
        return self._put(context, made.physical, properties)

    def delete(self, context, made, properties):
        context.client("cloudwatch").delete_alarms(AlarmNames=[made.physical])


@of_type("AWS::CloudWatch::Dashboard")
class Dashboard(Kind):
    def create(self, context, properties):
        name = properties.get("DashboardName") or generated(context)
        call(context, "cloudwatch", "put_dashboard", {**properties, "DashboardName": name})
        return Made(name)

    def update(self, context, made, properties, before):
        call(context, "cloudwatch", "put_dashboard", {**properties, "DashboardName": made.physical})
        return made

    def delete(self, context, made, properties):
        context.client("cloudwatch").delete_dashboards(DashboardNames=[made.physical])
