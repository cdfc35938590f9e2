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

/** The operations of the service, for which DynamoDB keeps its own failures apart. */
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

/** What is lost when the table refuses or fails. */
export const tableAlarms = (table: ITable): readonly AlarmDefinition[] => [
  {
    id: 'TableWritesThrottled',
    title: 'Writes, sign-ins, uploads and mails are refused or late: the table takes no more writes',
    help: 'DynamoDB turned writes away, and whatever is not a plain read answers 503 where it cannot be counted; reads go on uncounted. A peak that doubles the last one passes within minutes; one project or one address above 1 000 writes a second does not (docs/scale.md, "DynamoDB").',
    metric: throttleEvents(table, 'Write'),
    atLeast: 10,
    periods: 2,
  },
  {
    id: 'TableReadsThrottled',
    title: 'Sign-ins and uploads are refused or late: the table is read faster than it takes',
    help: 'DynamoDB turned reads away; see docs/scale.md, "DynamoDB".',
    metric: throttleEvents(table, 'Read'),
    atLeast: 10,
    periods: 2,
  },
  {
    id: 'TableFailing',
    title: 'All writes, sign-ins, uploads and mails fail: DynamoDB itself has failures',
    help: 'Whatever is not a plain read answers 503, documents included, as it cannot be counted; reads go on uncounted. See the AWS Health Dashboard; nothing has to be done afterwards.',
    metric: table.metricSystemErrorsForOperations({ operations, period, statistic: 'Sum' }),
    atLeast: 5,
  },
];
