import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';
import type { AlarmDefinition } from './alarm-definition.ts';
import { failuresNotOurs } from './failures-not-ours.ts';

/** One answer in a hundred, and never for a handful of them. */
const failingPercent = 1;
const minFailures = 5;

/** The gateway gives up after 30 s, a function after 29 s. */
const nearLimitMs = 25_000;

const period = Duration.minutes(5);

/**
 * Share of a gateway's answers that are 5xx of our own making, in per cent; 0 for fewer than five of them in five
 * minutes. No caller can bring it about: what is down of a project's own, or was never set up, is taken off.
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

/** What is lost when a gateway's answers fail or take too long; `whose` as in "the public API". */
export const apiAlarms = (id: string, whose: string, api: HttpApi): readonly AlarmDefinition[] => [
  {
    id: `${id}Failing`,
    title: `Requests to ${whose} fail`,
    when: `At least ${failingPercent} % of the responses in 5 minutes were our own 5xx.`,
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
