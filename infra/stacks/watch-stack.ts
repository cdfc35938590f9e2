import type { Distribution } from 'aws-cdk-lib/aws-cloudfront';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Aws, CfnOutput, Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { QueueName } from '../../functions/jobs/jobs.ts';
import type { AlarmDefinition } from '../operate/watch/alarm-definition.ts';
import { apiAlarms } from '../operate/watch/api-alarms.ts';
import { addBudget } from '../operate/watch/budget.ts';
import { functionAlarms, webhookAlarms } from '../operate/watch/function-alarms.ts';
import { jobAlarms } from '../operate/watch/job-alarms.ts';
import { queueAlarms } from '../operate/watch/queue-alarms.ts';
import { saveQueries } from '../operate/watch/saved-queries.ts';
import { ServiceDashboard } from '../operate/watch/service-dashboard.ts';
import { tableAlarms } from '../operate/watch/table-alarms.ts';
import type { ApiStack } from './api-stack.ts';
import type { Concurrency } from './concurrency.ts';
import type { EndpointFunction } from './endpoint-function.ts';
import type { QueuePair } from './queue-stack.ts';

interface WatchStackProps extends StackProps {
  readonly deployment: string;
  readonly open: ApiStack;
  readonly dashboard: ApiStack;
  readonly queues: Readonly<Record<QueueName, QueuePair>>;
  readonly table: ITable;
  readonly publicFiles: Distribution | undefined;
  readonly console: Distribution | undefined;
  readonly jobs: ReadonlyMap<string, EndpointFunction>;
  /** Functions with their own address, whose requests no gateway counts. */
  readonly webhooks: readonly LambdaFunction[];
  readonly concurrency: Concurrency;
  /** Receives the alarms. Without it, the alarms exist but notify nobody. */
  readonly alarmEmail: string | undefined;
  /** US dollars per month; `alarmEmail` is warned. */
  readonly monthlyBudget: number | undefined;
}

/** A deployment's alarms, each named after what a user loses, with their notifications, a dashboard and log queries. */
export class WatchStack extends Stack {
  readonly #topic: Topic;

  constructor(scope: Construct, id: string, props: WatchStackProps) {
    const { deployment, open, dashboard, queues, table, publicFiles, console, jobs, webhooks, ...others } = props;
    const { concurrency, alarmEmail, monthlyBudget, ...stackProps } = others;
    super(scope, id, stackProps);
    this.#topic = this.#alarmTopic(deployment, alarmEmail);
    const alarms = [
      ...apiAlarms('Public', 'the public API', open.api),
      ...apiAlarms('Dashboard', 'the dashboard API', dashboard.api),
      ...functionAlarms(concurrency),
      ...webhooks.flatMap(webhookAlarms),
      ...queueAlarms('mail', queues.mail),
      ...queueAlarms('work', queues.work),
      ...queueAlarms('webhooks', queues.webhooks),
      ...jobAlarms(this, jobs),
      ...tableAlarms(table),
    ];
    new ServiceDashboard(this, 'Dashboard', {
      deployment,
      apis: [
        { name: 'Public API', api: open.api, accessLog: open.accessLog },
        { name: 'Dashboard API', api: dashboard.api, accessLog: dashboard.accessLog },
      ],
      queues: [
        { name: 'Mails', ...queues.mail },
        { name: 'Tasks', ...queues.work },
        { name: 'Webhooks', ...queues.webhooks },
      ],
      table,
      publicFiles,
      console,
      alarms: alarms.map((alarm) => this.#alarm(deployment, alarm)),
    });
    saveQueries(this, deployment);
    if (monthlyBudget !== undefined && alarmEmail !== undefined) addBudget(this, deployment, monthlyBudget, alarmEmail);
    new CfnOutput(this, 'AlarmTopicArn', { value: this.#topic.topicArn });
  }

  #alarm(deployment: string, { id, title, when, fix, metric, atLeast, periods = 1 }: AlarmDefinition): Alarm {
    const alarm = new Alarm(this, id, {
      alarmName: `${deployment}: ${title}`,
      alarmDescription: `${title}. ${when}\n${fix}`,
      metric,
      threshold: atLeast,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: periods,
      // No requests mean no data points.
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    const tell = new SnsAction(this.#topic);
    alarm.addAlarmAction(tell);
    alarm.addOkAction(tell);
    return alarm;
  }

  #alarmTopic(deployment: string, alarmEmail: string | undefined): Topic {
    const topic = new Topic(this, 'Alarms', { displayName: `${deployment} alarms`, enforceSSL: true });
    // An explicit policy replaces the default one, which would allow alarms to publish.
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: {
          StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID },
          ArnLike: {
            'aws:SourceArn': `arn:${Aws.PARTITION}:cloudwatch:${Aws.REGION}:${Aws.ACCOUNT_ID}:alarm:${deployment}*`,
          },
        },
      }),
    );
    if (alarmEmail !== undefined) topic.addSubscription(new EmailSubscription(alarmEmail));
    return topic;
  }
}
