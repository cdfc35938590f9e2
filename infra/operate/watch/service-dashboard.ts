import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront';
import {
  type AlarmBase,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryWidget,
  MathExpression,
  Metric,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { QueuePair } from '../../stacks/queue-stack.ts';
import { failuresNotOurs } from './failures-not-ours.ts';
import { failuresByRoute, slowestRoutes } from './log-queries.ts';

interface WatchedApi {
  readonly name: string;
  readonly api: HttpApi;
  readonly accessLog: LogGroup;
}

interface ServiceDashboardProps {
  readonly deployment: string;
  readonly apis: readonly WatchedApi[];
  readonly queues: readonly (QueuePair & { readonly name: string })[];
  readonly table: ITable;
  /** Undefined without CloudFront. */
  readonly publicFiles: Distribution | undefined;
  readonly console: Distribution | undefined;
  readonly alarms: readonly AlarmBase[];
}

const period = Duration.minutes(5);
const width = 8;

const graph = (title: string, left: readonly IMetric[], right: readonly IMetric[] = []): IWidget =>
  new GraphWidget({ title, left: [...left], right: [...right], width, height: 6 });

const apiRow = ({ name, api, accessLog }: WatchedApi): readonly IWidget[] => [
  graph(
    `${name}: requests, and those that failed`,
    [api.metricCount({ period, statistic: 'Sum', label: 'requests' })],
    [
      api.metricServerError({ period, statistic: 'Sum', label: '5xx' }),
      failuresNotOurs(api, period),
      api.metricClientError({ period, statistic: 'Sum', label: '4xx' }),
    ],
  ),
  graph(
    `${name}: milliseconds to the response`,
    ['p50', 'p95', 'p99'].map((statistic) => api.metricLatency({ period, statistic, label: statistic })),
  ),
  new LogQueryWidget({
    title: `${name}: 5xx by route`,
    logGroupNames: [accessLog.logGroupName],
    queryString: failuresByRoute,
    width,
  }),
  new LogQueryWidget({
    title: `${name}: slowest routes`,
    logGroupNames: [accessLog.logGroupName],
    queryString: slowestRoutes,
    width: 3 * width,
  }),
];

const lambda = (metricName: string, statistic: string): Metric =>
  new Metric({ namespace: 'AWS/Lambda', metricName, statistic, period, label: metricName });

/** The ten functions with the highest values. */
const highest = (deployment: string, metricName: string, statistic: string): MathExpression =>
  new MathExpression({
    expression: `SORT(SEARCH('{AWS/Lambda,FunctionName} MetricName="${metricName}" "${deployment}-"', '${statistic}', ${period.toSeconds()}), MAX, DESC, 10)`,
    usingMetrics: {},
    period,
    label: '',
  });

const functionRow = (deployment: string): readonly IWidget[] => [
  graph('Functions: instances at work', [lambda('ConcurrentExecutions', 'Maximum')], [lambda('Throttles', 'Sum')]),
  graph('Functions: the slowest, p95 in milliseconds', [highest(deployment, 'Duration', 'p95')]),
  graph('Functions: errors', [highest(deployment, 'Errors', 'Sum')]),
];

const queueRow = ({ name, queue, deadLetters }: ServiceDashboardProps['queues'][number]): IWidget =>
  graph(
    `${name}: messages that wait, and the age of the oldest in seconds`,
    [
      queue.metricApproximateNumberOfMessagesVisible({ period, label: 'waiting' }),
      deadLetters.metricApproximateNumberOfMessagesVisible({ period, label: 'given up' }),
    ],
    [queue.metricApproximateAgeOfOldestMessage({ period, label: 'oldest' })],
  );

const tableRow = (table: ITable): IWidget =>
  graph('Table: units a period', [
    table.metricConsumedWriteCapacityUnits({ period, label: 'writes' }),
    table.metricConsumedReadCapacityUnits({ period, label: 'reads' }),
  ]);

/** CloudFront's metrics are in us-east-1. A dashboard can read them from any region, alarms cannot. */
const edgeRegion = 'us-east-1';

const edgeRow = (name: string, distribution: Distribution): IWidget =>
  graph(
    `${name}: requests, and the share that failed in per cent`,
    [distribution.metricRequests({ region: edgeRegion, period, statistic: 'Sum', label: 'requests' })],
    [distribution.metric5xxErrorRate({ region: edgeRegion, period, statistic: 'Average', label: '5xx' })],
  );

/** The page to open when something is wrong: alarms, APIs, functions, queues, table, files, console. */
export class ServiceDashboard extends Dashboard {
  constructor(scope: Construct, id: string, props: ServiceDashboardProps) {
    const { deployment, apis, queues, table, publicFiles, console, alarms } = props;
    super(scope, id, { dashboardName: deployment, defaultInterval: Duration.hours(3) });
    this.addWidgets(new AlarmStatusWidget({ alarms: [...alarms], width: 3 * width, height: 4 }));
    for (const api of apis) this.addWidgets(...apiRow(api));
    this.addWidgets(...functionRow(deployment));
    this.addWidgets(...queues.map(queueRow), tableRow(table));
    this.addWidgets(
      ...(publicFiles ? [edgeRow('Public files', publicFiles)] : []),
      ...(console ? [edgeRow('Console', console)] : []),
    );
  }
}
