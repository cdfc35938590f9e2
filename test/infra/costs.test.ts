import { describe, expect, test } from 'vitest';
import { unitsOf } from '../../bench/costs/dynamo-meter.ts';
import {
  mix,
  monthOf,
  parsePrices,
  priceOf,
  type Quantities,
  quantitiesOf,
  units,
} from '../../bench/costs/quantities.ts';
import { renderCosts } from '../../bench/costs/report.ts';

const one: Quantities = quantitiesOf({
  serverMicros: 1000,
  engineMicros: 500,
  commands: [
    'mongodb find',
    'mongodb insert',
    'sqs SendMessageCommand',
    's3 CopyObjectCommand',
    's3 HeadObjectCommand',
  ],
  writes: 2,
  reads: 0.5,
});
const rows = Object.fromEntries(Object.keys(mix).map((row) => [row, one]));

test('usage of a request includes its CPU, commands and request units', () => {
  expect(one).toEqual({
    lambdaRequests: 1,
    lambdaGbSeconds: expect.closeTo(0.00173, 5),
    dynamoWriteUnits: 2,
    dynamoReadUnits: 0.5,
    sqsRequests: 1,
    s3Writes: 1,
    s3Reads: 1,
    mongoCommands: 2,
    mongoCpuSeconds: 0.0005,
  });
});

test('usage of a month is the sum of the mix, whose shares are one in total', () => {
  expect(Object.values(mix).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
  expect(monthOf(rows, 100).lambdaRequests).toBeCloseTo(100 * 30 * 86_400, 0);
  expect(monthOf(rows, 100).dynamoWriteUnits).toBeCloseTo(2 * 100 * 30 * 86_400, 0);
});

test('usage of a month is an error with the row when one was not measured', () => {
  const { get: _get, ...others } = rows;
  expect(() => monthOf(others, 1)).toThrow('The mix needs the row get');
});

describe('prices', () => {
  test('are per unit, and zero when one is missing', () => {
    const prices = parsePrices('{"lambdaRequests": 0.2, "dynamoWriteUnits": 3}');
    expect(priceOf(one, prices)).toBeCloseTo(0.2 + 2 * 3, 9);
  });

  test('are rejected with the known keys when a key is unknown', () => {
    expect(() => parsePrices('{"lambda": 1}')).toThrow(`There is no price of lambda; there are: ${units.join(', ')}`);
  });

  test.each(['"1"', '-1', 'null'])('are rejected when one is %s', (price) => {
    expect(() => parsePrices(`{"s3Reads": ${price}}`)).toThrow('The price of s3Reads is to be a number from 0 on');
  });
});

test('report compares quantities and prices when an earlier run is given', () => {
  const before = Object.fromEntries(Object.keys(rows).map((row) => [row, { ...one, dynamoWriteUnits: 4 }]));
  const [, , beside = '', price = ''] = renderCosts(rows, { dynamoWriteUnits: 1 }, before);
  expect(beside).toMatch(/ratio.*\| +0\.50 \|/s);
  expect(price).toMatch(/10,000\/s.*0\.50/);
});

describe('request units of DynamoDB', () => {
  test.each([
    ['UpdateItem', {}, 1, 0],
    ['TransactWriteItems', { TransactItems: [{}, {}, {}] }, 6, 0],
    ['GetItem', { ConsistentRead: true }, 0, 1],
    ['Query', {}, 0, 0.5],
  ])('of %s %j are %d writes and %d reads', (operation, call, writes, reads) => {
    expect(unitsOf(operation, call)).toEqual({ writes, reads });
  });

  test('are an error when the operation is unknown', () => {
    expect(() => unitsOf('ExportTable', {})).toThrow('Nothing is known of what ExportTable costs');
  });
});
