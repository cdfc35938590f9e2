import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../shared/persistence/aws-client.ts';
import { onTable } from '../../shared/persistence/dynamo.ts';
import { onControl } from '../../shared/persistence/mongo.ts';
import { FakeTable } from '../schedules/fake-table.ts';
import { FakeCollection } from '../support/fixtures/fake-collection.ts';

// The simulator's stores must do what the real ones do: the same random operations have the same results.

const seed = Number(process.env.FUZZ_SEED ?? 20_261_129);
const numRuns = Number(process.env.FUZZ_RUNS ?? 150);

const values = {
  ':n': { N: '2' },
  ':m': { N: '-1' },
  ':t': { S: 'b' },
  ':u': { S: 'bc' },
  ':s': { SS: ['a', 'b'] },
  ':r': { SS: ['a'] },
};
const value = fc.constantFrom(...Object.keys(values));
const attribute = fc.constantFrom('n', '#m', 't', 's', 'gone');

const { condition } = fc.letrec<{ condition: string; plain: string }>((tie) => ({
  plain: fc.oneof(
    fc.tuple(fc.constantFrom('attribute_exists', 'attribute_not_exists'), attribute).map(([f, a]) => `${f}(${a})`),
    fc.tuple(attribute, fc.constantFrom('=', '<', '<=', '>', '>='), value).map((parts) => parts.join(' ')),
    fc.tuple(attribute, fc.constantFrom(':t', ':u')).map(([a, v]) => `contains(${a}, ${v})`),
    fc
      .tuple(fc.constantFrom('s', 'gone', 't'), fc.constantFrom('<', '<=', '='))
      .map(([a, sign]) => `size(${a}) ${sign} :n`),
    fc.constantFrom('n BETWEEN :m AND :n', 't BETWEEN :t AND :u', 'begins_with(t, :t)'),
  ),
  condition: fc.oneof(
    { maxDepth: 2 },
    tie('plain'),
    tie('condition').map((one) => `NOT (${one})`),
    fc.tuple(tie('condition'), fc.constantFrom('AND', 'OR'), tie('condition')).map((all) => all.join(' ')),
    fc.tuple(tie('condition'), fc.constantFrom('AND', 'OR'), tie('plain')).map(([a, by, b]) => `(${a}) ${by} ${b}`),
  ),
}));

/** At most one change of each attribute. */
const update = fc
  .record({
    n: fc.constantFrom(
      '',
      'SET n = :n',
      'SET n = if_not_exists(n, :n) + :n',
      'SET n = #m - :n',
      'ADD n :n',
      'REMOVE n',
    ),
    m: fc.constantFrom('', 'ADD #m :n', 'ADD #m :m', 'SET #m = if_not_exists(n, :m)'),
    t: fc.constantFrom('', 'SET t = :t', 'REMOVE t'),
    s: fc.constantFrom('', 'ADD s :s', 'ADD s :r', 'DELETE s :s', 'DELETE s :r', 'REMOVE s'),
  })
  .map((all) => {
    const changes = Object.values(all).filter((change) => change !== '');
    const sections = Object.groupBy(changes, (change) => change.split(' ', 1)[0] ?? '');
    return Object.entries(sections)
      .map(([name, of = []]) => `${name} ${of.map((change) => change.slice(name.length + 1)).join(', ')}`)
      .join(' ');
  })
  .filter((text) => text !== '');

const key = fc.constantFrom('a', 'a#b', 'b');
const item = fc.record({ n: value, m: value, t: value, s: value }, { requiredKeys: [] });
// The service never requests the previous item of an update.
const returns = fc.constantFrom('NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_NEW');

type Part = Readonly<Record<string, object>>;
type Operation = readonly [name: string, input: object];

/** Only the names and values that its expressions use, as DynamoDB requires. */
const withParts = (input: Readonly<Record<string, unknown>>): object => {
  const text = `${input.ConditionExpression ?? ''} ${input.UpdateExpression ?? ''} `;
  const used = Object.entries(values).filter(([name]) => text.includes(name));
  const names = Object.entries({ '#m': 'm' }).filter(([name]) => text.includes(name));
  return {
    ...Object.fromEntries(Object.entries(input).filter(([, part]) => part !== undefined)),
    ...(used.length > 0 && { ExpressionAttributeValues: Object.fromEntries(used) }),
    ...(names.length > 0 && { ExpressionAttributeNames: Object.fromEntries(names) }),
    ...(input.ConditionExpression !== undefined && { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
  };
};

const writeOf = (pk: string, TableName: string) => {
  const keyOf = (sk: string) => ({ pk: { S: pk }, sk: { S: sk } });
  const guard = fc.option(condition, { nil: undefined });
  const put = fc.tuple(key, item, guard).map(([sk, attributes, ConditionExpression]) => {
    const all = Object.entries(attributes).map(([name, from]) => [name, values[from as keyof typeof values]]);
    return { Put: withParts({ TableName, Item: { ...keyOf(sk), ...Object.fromEntries(all) }, ConditionExpression }) };
  });
  const change = fc.tuple(key, update, guard).map(([sk, UpdateExpression, ConditionExpression]) => ({
    Update: withParts({ TableName, Key: keyOf(sk), UpdateExpression, ConditionExpression }),
  }));
  const remove = fc.tuple(key, guard).map(([sk, ConditionExpression]) => ({
    Delete: withParts({ TableName, Key: keyOf(sk), ConditionExpression }),
  }));
  const check = fc.tuple(key, condition).map(([sk, ConditionExpression]) => ({
    ConditionCheck: withParts({ TableName, Key: keyOf(sk), ConditionExpression }),
  }));
  return {
    one: fc.oneof<fc.Arbitrary<Part>[]>(put, change, remove),
    any: fc.oneof<fc.Arbitrary<Part>[]>(put, change, remove, check),
  };
};

const operationOf = (pk: string, TableName: string): fc.Arbitrary<readonly Operation[]> => {
  const { one, any } = writeOf(pk, TableName);
  const single = fc.tuple(one, returns).map(([part, ReturnValues]) => {
    const [[kind, input] = ['Put', {}]] = Object.entries(part);
    const allowed = (kind === 'Update') === (ReturnValues !== 'ALL_OLD') ? ReturnValues : 'NONE';
    return [[`${kind}Item`, { ...input, ReturnValues: allowed }]] as const;
  });
  // A repeat of a transaction with a token changes nothing.
  const together = fc
    .tuple(fc.array(any, { minLength: 1, maxLength: 3 }), fc.option(fc.nat(1_000_000), { nil: undefined }))
    .map(([TransactItems, token]): Operation[] =>
      token === undefined
        ? [['TransactWriteItems', { TransactItems }]]
        : Array(2).fill(['TransactWriteItems', { TransactItems, ClientRequestToken: `${pk}${token}` }]),
    );
  const range = fc.constantFrom('', ' AND begins_with(sk, :sk)', ' AND sk < :sk', ' AND sk BETWEEN :sk AND :to');
  const query = fc.tuple(range, fc.boolean(), fc.constantFrom(1, 2, 5)).map(([text, ScanIndexForward, Limit]) => {
    const all = { ':pk': { S: pk }, ':sk': { S: 'a#' }, ':to': { S: 'b' } };
    const used = Object.entries(all).filter(([name]) => `pk = :pk${text} `.includes(`${name} `));
    const ExpressionAttributeValues = { ...Object.fromEntries(used), ...(text.includes('(') && { ':sk': all[':sk'] }) };
    return [
      [
        'Query',
        {
          TableName,
          KeyConditionExpression: `pk = :pk${text}`,
          ExpressionAttributeValues,
          ScanIndexForward,
          Limit,
          ConsistentRead: true,
        },
      ],
    ] as const;
  });
  return fc.oneof<fc.Arbitrary<readonly Operation[]>[]>(single, single, together, query);
};

/** Comparable: without the order of sets, and only what `shared/` reads. */
const shown = (result: unknown): unknown =>
  JSON.parse(
    JSON.stringify(result, (name, part) => {
      if (name === 'SS' && Array.isArray(part)) return [...part].sort();
      if (name === 'N') return Number(part);
      if (['Count', 'ScannedCount', 'LastEvaluatedKey', 'ConsumedCapacity', 'Message', 'message'].includes(name))
        return undefined;
      if (Array.isArray(part) || typeof part !== 'object' || part === null) return part;
      return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
    }),
  );

const resultOf = async (act: () => unknown): Promise<unknown> => {
  try {
    return shown(await act());
  } catch (thrown) {
    const error = thrown instanceof ServiceError ? thrown : (thrown as Error).cause;
    if (!(error instanceof ServiceError)) throw thrown;
    const { Item, CancellationReasons } = error.answer;
    return shown({ error: error.name, Item, CancellationReasons });
  }
};

/** The result, or `taken` for a duplicate. */
const outcomeOf = async (act: () => Promise<unknown>): Promise<unknown> => {
  try {
    return JSON.parse(JSON.stringify((await act()) ?? null));
  } catch (error) {
    if ((error as { code?: unknown }).code === 11000 || (error as { code?: unknown }).code === 'DUPLICATE_VALUE')
      return 'taken';
    throw error;
  }
};

const commandOf = (ids: readonly ObjectId[]) => {
  const time = fc.constantFrom(0, 5, 10).map((ms) => new Date(ms));
  const _id = fc.constantFrom(...ids);
  const filter = fc.record(
    {
      _id,
      'job.until': fc.oneof(
        time,
        time.map(($lte) => ({ $lte })),
        time.map(($lt) => ({ $lt })),
        fc.boolean().map(($exists) => ({ $exists })),
      ),
      state: fc.constantFrom<unknown>('a', { $eq: 'b' }, { $in: ['a', null] }, { $ne: 'a' }),
    },
    { requiredKeys: [] },
  );
  const update = fc.constantFrom<Record<string, Record<string, unknown>>>(
    { $set: { state: 'b' } },
    { $set: { 'job.until': new Date(10) }, $inc: { count: 2 } },
    { $unset: { 'job.until': '' }, $set: { state: 'a' } },
    { $inc: { 'job.tries': 1 } },
  );
  return fc.record({
    name: fc.constantFrom('insert', 'insert', 'find', 'delete', 'update', 'update'),
    record: fc.record({
      _id,
      slot: fc.nat(2),
      state: fc.constantFrom('a', 'b'),
      job: time.map((until) => ({ until })),
    }),
    filter,
    update,
    returnDocument: fc.constantFrom('before', 'after'),
  });
};

describe('stores in memory', () => {
  test('the table gives the results of DynamoDB for random operations', async () => {
    const partition = `test#${randomUUID().slice(0, 13)}#`;
    const { TABLE_NAME: TableName = 'basalt' } = process.env;
    let run = 0;
    const property = fc.asyncProperty(
      fc.array(operationOf('PARTITION', TableName), { minLength: 2, maxLength: 10 }),
      async (operations) => {
        const text = JSON.stringify(operations.flat()).replaceAll('PARTITION', `${partition}${run++}`);
        const fake = new FakeTable();
        for (const [name, input] of JSON.parse(text) as Operation[]) {
          const real = await resultOf(() => onTable((client) => client.send(name as 'GetItem', input as never)));
          expect(await resultOf(() => fake.send(name, input)), `${name} ${JSON.stringify(input)}`).toEqual(real);
        }
      },
    );
    await fc.assert(property, { seed, numRuns });
  });

  test('the collection gives the results of MongoDB for random commands', async () => {
    const ids = [new ObjectId(), new ObjectId()];
    const property = fc.asyncProperty(fc.array(commandOf(ids), { minLength: 2, maxLength: 12 }), async (commands) => {
      const fake = new FakeCollection(['slot']);
      await onControl(async (db) => {
        const real = await db.createCollection(`fake-${randomUUID()}`);
        await real.createIndex({ slot: 1 }, { unique: true });
        for (const { name, record, filter, update, returnDocument } of commands) {
          const [expected, result] = await Promise.all([
            outcomeOf(async () => {
              if (name === 'insert') return void (await real.insertOne({ ...record }));
              if (name === 'find') return real.find(filter).toArray();
              if (name === 'delete') return (await real.deleteOne(filter)).deletedCount;
              return real.findOneAndUpdate(filter, update, { returnDocument });
            }),
            outcomeOf(async () => {
              if (name === 'insert') return fake.insertOne(record);
              if (name === 'find') return fake.find(filter);
              if (name === 'delete') return fake.deleteOne(filter);
              return fake.findOneAndUpdate(filter, update, returnDocument);
            }),
          ]);
          expect(result, `${name} ${JSON.stringify([record, filter, update])}`).toEqual(expected);
        }
        await real.drop();
      });
    });
    await fc.assert(property, { seed, numRuns });
  });
});
