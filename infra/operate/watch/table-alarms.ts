import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { type ITable, Operation } from 'aws-cdk-lib/aws-dynamodb';
import { Duration } from 'aws-cdk-lib/core';
import type { AlarmDefinition } from './alarm-definition.ts';

const period = Duration.minutes(5);

const throttleEvents = (table: ITable, kind: 'Read' | 'Write'): Metric =>
  new Metric({
    namespace: 'AWS/DynamoDB',
    metricName: `${kind}ThrottleEvents`,
    dimensionsMap: { TableName: table.tableName },
    statistic: 'Sum',
    period,
  });

/** The operations that the service uses. DynamoDB counts its own failures per operation. */
const operations = [
  Operation.BATCH_WRITE_ITEM,
  Operation.DELETE_ITEM,
  Operation.GET_ITEM,
  Operation.PUT_ITEM,
  Operation.QUERY,
  Operation.TRANSACT_GET_ITEMS,
  Operation.TRANSACT_WRITE_ITEMS,
  Operation.UPDATE_ITEM,
];

/** Alarms for rejected and failed operations. */
export const tableAlarms = (table: ITable): readonly AlarmDefinition[] => [
  {
    id: 'TableWritesThrottled',
    title: 'Writes, sign-ins, uploads and emails fail or are late: the table rejects writes',
    when: 'DynamoDB throttled writes. Requests that cannot be counted return 503, except reads of data.',
    fix: 'A new peak passes within minutes. If one project or address causes over 1 000 writes/s, read docs/concepts/scaling.md.',
    metric: throttleEvents(table, 'Write'),
    atLeast: 10,
    periods: 2,
  },
  {
    id: 'TableReadsThrottled',
    title: 'Sign-ins and uploads fail or are late: the table rejects reads',
    when: 'DynamoDB throttled reads.',
    fix: 'Read "DynamoDB" in docs/concepts/scaling.md.',
    metric: throttleEvents(table, 'Read'),
    atLeast: 10,
    periods: 2,
  },
  {
    id: 'TableFailing',
    title: 'All writes, sign-ins, uploads and emails fail: DynamoDB has an outage',
    when: 'DynamoDB returned errors. Requests cannot be counted, so they return 503, except reads of data.',
    fix: 'See the AWS Health Dashboard. No action is needed afterwards.',
    metric: table.metricSystemErrorsForOperations({ operations, period, statistic: 'Sum' }),
    atLeast: 5,
  },
];
