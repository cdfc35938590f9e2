import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { type Duration, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { notOurs } from '../../../shared/core/errors.ts';

const metricName = 'failures-not-ours';

/** One metric for all functions behind a gateway. */
const namespaceOf = (api: HttpApi): string => Stack.of(api).stackName;

/**
 * Has the requests counted that a function answers 5xx though the service itself has no part in it (`notOurs`): the
 * gateway counts them with its failures, and its log does not know the code.
 */
export const countNotOurs = (scope: Construct, id: string, api: HttpApi, logGroup: LogGroup): void => {
  new MetricFilter(scope, id, {
    logGroup,
    filterPattern: FilterPattern.all(
      FilterPattern.exists('$.route'),
      FilterPattern.any(...notOurs.map((code) => FilterPattern.stringValue('$.code', '=', code))),
    ),
    metricNamespace: namespaceOf(api),
    metricName,
    metricValue: '1',
  });
};

/** How many there were behind a gateway, a period. */
export const failuresNotOurs = (api: HttpApi, period: Duration): Metric =>
  new Metric({ namespace: namespaceOf(api), metricName, statistic: 'Sum', period, label: 'not ours' });
