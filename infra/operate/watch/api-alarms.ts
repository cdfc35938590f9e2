import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';
import type { AlarmDefinition } from './alarm-definition.ts';
import { failuresNotOurs } from './failures-not-ours.ts';

/** One response in a hundred, with a minimum number of responses. */
const failingPercent = 1;
const minFailures = 5;

/** The gateway's limit is 30 s, a function's 29 s. */
const nearLimitMs = 25_000;

const period = Duration.minutes(5);

/**
 * Percentage of a gateway's responses that are 5xx and the service's fault; 0 below five in five minutes. Failures of a
 * project's own database or of missing settings are subtracted, so no caller can raise the alarm.
 */
const failureRate = (api: HttpApi): MathExpression =>
  new MathExpression({
    expression: `IF(failures - FILL(others, 0) >= ${minFailures}, 100 * (failures - FILL(others, 0)) / requests, 0)`,
    usingMetrics: {
      failures: api.metricServerError({ period, statistic: 'Sum' }),
      requests: api.metricCount({ period, statistic: 'Sum' }),
      others: failuresNotOurs(api, period),
    },
    period,
    label: '5xx of ours in per cent',
  });

/** Alarms for failing or slow responses; `whose` such as "the public API". */
export const apiAlarms = (id: string, whose: string, api: HttpApi): readonly AlarmDefinition[] => [
  {
    id: `${id}Failing`,
    title: `Requests to ${whose} fail`,
    when: `At least ${failingPercent} % of the responses in 5 minutes were 5xx that the service itself returned.`,
    fix: 'Run the log queries "5xx by route" and "Errors". 503: MongoDB or DynamoDB is unavailable.',
    metric: failureRate(api),
    atLeast: failingPercent,
  },
  {
    id: `${id}Slow`,
    title: `Requests to ${whose} nearly time out`,
    when: `Responses took ${nearLimitMs / 1000} s or more for 10 minutes. The limit is 29 s.`,
    fix: 'Run the log query "Slowest routes", and check the load of MongoDB.',
    metric: api.metricLatency({ period, statistic: 'Maximum' }),
    atLeast: nearLimitMs,
    periods: 2,
  },
];
