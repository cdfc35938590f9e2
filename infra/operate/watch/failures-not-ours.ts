import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { type Duration, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { notOurs } from '../../../shared/core/errors.ts';

const metricName = 'failures-not-ours';

const namespaceOf = (api: HttpApi): string => Stack.of(api).stackName;

/**
 * Counts 5xx responses that are not the service's fault (`notOurs`). The gateway counts them as failures, and its log
 * has no error codes.
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

/** Their number per period behind a gateway. */
export const failuresNotOurs = (api: HttpApi, period: Duration): Metric =>
  new Metric({ namespace: namespaceOf(api), metricName, statistic: 'Sum', period, label: 'not ours' });
