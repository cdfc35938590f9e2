import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Duration } from 'aws-cdk-lib/core';
import type { Concurrency } from '../../stacks/concurrency.ts';
import type { AlarmDefinition } from './alarm-definition.ts';

/** Lambda's metric of all functions in this account and region. */
const ofAllFunctions = (metricName: string, statistic: string): Metric =>
  new Metric({ namespace: 'AWS/Lambda', metricName, statistic, period: Duration.minutes(1) });

const nearShare = 0.8;

/** Alarms for throttled functions. */
export const functionAlarms = ({ most }: Concurrency): readonly AlarmDefinition[] => [
  {
    id: 'Throttled',
    title: 'Requests are rejected: no function instance is free',
    when: 'Lambda rejected runs in 3 minutes in a row. Callers got 503.',
    fix: 'Raise accountConcurrency or mongoConnections, or find out why MongoDB is slow.',
    metric: ofAllFunctions('Throttles', 'Sum'),
    atLeast: 1,
    periods: 3,
  },
  {
    id: 'NearConcurrency',
    title: 'Requests will soon be rejected: few function instances are free',
    when: `${Math.ceil(most * nearShare)} of the ${most} instances were busy for 3 minutes.`,
    fix: 'Raise the quota (accountConcurrency), or use a larger cluster (mongoConnections).',
    metric: ofAllFunctions('ConcurrentExecutions', 'Maximum'),
    atLeast: Math.ceil(most * nearShare),
    periods: 3,
  },
];

/** Alarms for the address that the mail provider calls. */
export const webhookAlarms = (webhook: LambdaFunction): readonly AlarmDefinition[] => [
  {
    id: 'WebhookFailing',
    title: 'Deliveries, bounces and complaints of emails are not recorded',
    when: 'The webhook returned 5xx five times in 5 minutes. Bounced addresses may still get emails.',
    fix: 'Run the log query "Errors". The provider resends events for about a day.',
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
    title: 'Events of the mail provider are rejected',
    when: 'Too many calls of the webhook at the same time: a flood, or a large broadcast.',
    fix: 'No action: the provider resends rejected events.',
    metric: webhook.metricThrottles({ statistic: 'Sum', period: Duration.minutes(5) }),
    atLeast: 1,
    periods: 3,
  },
];
