import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Duration } from 'aws-cdk-lib/core';
import type { Concurrency } from '../../stacks/concurrency.ts';
import type { AlarmDefinition } from './alarm-definition.ts';

/** A metric of all functions of the account in this region together, which Lambda keeps without dimensions. */
const ofAllFunctions = (metricName: string, statistic: string): Metric =>
  new Metric({ namespace: 'AWS/Lambda', metricName, statistic, period: Duration.minutes(1) });

const nearShare = 0.8;

/** What is lost when there are too few instances for the requests. */
export const functionAlarms = ({ most }: Concurrency): readonly AlarmDefinition[] => [
  {
    id: 'Throttled',
    title: 'Requests are turned away: no function instance is free',
    help: 'Lambda refused runs in three minutes in a row; callers got 503. Either there are more requests than the account or mongoConnections allow, or MongoDB is slow and every request holds its instance for longer.',
    metric: ofAllFunctions('Throttles', 'Sum'),
    atLeast: 1,
    periods: 3,
  },
  {
    id: 'NearConcurrency',
    title: 'Requests will soon be turned away: few function instances are free',
    help: `${Math.ceil(most * nearShare)} of the ${most} instances that may be at work at once are. Raise the quota of the account (accountConcurrency), or take a larger cluster (mongoConnections).`,
    metric: ofAllFunctions('ConcurrentExecutions', 'Maximum'),
    atLeast: Math.ceil(most * nearShare),
    periods: 3,
  },
];

/** What is lost when the address that the mail provider calls does not answer. */
export const webhookAlarms = (webhook: LambdaFunction): readonly AlarmDefinition[] => [
  {
    id: 'WebhookFailing',
    title: 'Deliveries, bounces and complaints of mails are not recorded',
    help: 'The function URL of the webhook answered 5xx. The provider repeats events for about a day; until they are taken, mails may go to addresses that bounced.',
    metric: new Metric({
      namespace: 'AWS/Lambda',
      metricName: 'Url5xxCount',
      dimensionsMap: { FunctionName: webhook.functionName },
      statistic: 'Sum',
      period: Duration.minutes(5),
    }),
    atLeast: 5,
  },
  {
    id: 'WebhookThrottled',
    title: 'Events of the mail provider are turned away',
    help: 'More calls of the webhook came at once than are kept for it: a flood by strangers, or a very large broadcast. The provider repeats what was turned away.',
    metric: webhook.metricThrottles({ statistic: 'Sum', period: Duration.minutes(5) }),
    atLeast: 1,
    periods: 3,
  },
];
