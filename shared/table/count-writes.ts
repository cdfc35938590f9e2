import type { Update } from '@aws-sdk/client-dynamodb';
import { type Call, remember, undo } from './call-memory.ts';

/** One of the numbers that an item counts: an attribute, by how much it rises, and how far it may. */
export interface Count {
  readonly name: string;
  readonly weight: number;
  readonly limit: number;
}

/** An item that counts within one window, which its key names; `expiresAt` in seconds since 1970, after its end. */
export interface Tally {
  readonly key: { readonly pk: string; readonly sk: string };
  readonly expiresAt: number;
  readonly counts: readonly Count[];
}

/** What is taken by one call: of the first item, which remembers the call, and of any others at once or not at all. */
export interface Taking {
  readonly tallies: readonly [Tally, ...Tally[]];
  readonly call: Call;
  /**
   * Ids to be held in the first item until they are given back or kept: 1 to 100, of which the first is new or none.
   */
  readonly held?: readonly string[];
}

/** The key of an item, as the table takes it. */
export const keyOf = ({ key: { pk, sk } }: Pick<Tally, 'key'>) => ({ pk: { S: pk }, sk: { S: sk } });

/** The parts of an update that change the numbers of a tally by `sign` times their weights. */
const changeOf = ({ counts, expiresAt }: Tally, sign: 1 | -1) => ({
  add: counts.map((_, at) => `#n${at} :n${at}`),
  fits: counts.map((_, at) => `(attribute_not_exists(#n${at}) OR #n${at} <= :room${at})`),
  names: Object.fromEntries(counts.map(({ name }, at) => [`#n${at}`, name])),
  values: {
    ...Object.fromEntries(counts.map(({ weight }, at) => [`:n${at}`, { N: String(sign * weight) }])),
    ':end': { N: String(expiresAt) },
  },
  rooms: Object.fromEntries(counts.map(({ weight, limit }, at) => [`:room${at}`, { N: String(limit - weight) }])),
});

/** One update, without the table. */
export type CountWrite = Omit<Update, 'TableName'> & { readonly UpdateExpression: string };

/** Takes of the item that remembers. A call of no weight is the same write, and leaves nothing behind. */
export const takeFirst = ({ tallies: [tally], call, held = [] }: Taking): CountWrite => {
  const { add, fits, names, values, rooms } = changeOf(tally, 1);
  const weighs = tally.counts.some(({ weight }) => weight > 0);
  const known = remember(call, weighs ? call.id : '-');
  const [first] = held;
  return {
    Key: keyOf(tally),
    UpdateExpression: `SET expiresAt = :end REMOVE ${known.remove} ADD ${[...add, known.add, ...(first === undefined ? [] : ['held :held'])].join(', ')}`,
    ConditionExpression: [...fits, known.isNew, ...(first === undefined ? [] : ['NOT contains(held, :first)'])].join(
      ' AND ',
    ),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: {
      ...values,
      ...rooms,
      ...known.values,
      ...(first !== undefined && { ':held': { SS: [...held] }, ':first': { S: first } }),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
};

/** Takes of another item, in one transaction with the first. */
export const takeOther = (tally: Tally): CountWrite => {
  const { add, fits, names, values, rooms } = changeOf(tally, 1);
  return {
    Key: keyOf(tally),
    UpdateExpression: `SET expiresAt = :end ADD ${add.join(', ')}`,
    ConditionExpression: fits.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: { ...values, ...rooms },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
};

/** Gives back to the item that remembers, once: what it holds, or what the call took. */
export const giveFirst = ({ tallies: [tally], call, held = [] }: Taking): CountWrite => {
  const { add, names, values } = changeOf(tally, -1);
  const known = undo(call);
  const isHeld = held.length > 0;
  return {
    Key: keyOf(tally),
    UpdateExpression: `SET expiresAt = :end ADD ${[...add, ...(isHeld ? [] : [known.add])].join(', ')}${isHeld ? ' DELETE held :held' : ''}`,
    ConditionExpression: isHeld ? held.map((_, at) => `contains(held, :held${at})`).join(' AND ') : known.isNew,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: {
      ...values,
      ...(isHeld
        ? { ':held': { SS: [...held] }, ...Object.fromEntries(held.map((id, at) => [`:held${at}`, { S: id }])) }
        : known.values),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
};

/** Gives back to another item. */
export const giveOther = (tally: Tally): CountWrite => {
  const { add, names, values } = changeOf(tally, -1);
  return {
    Key: keyOf(tally),
    UpdateExpression: `SET expiresAt = :end ADD ${add.join(', ')}`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
};

/** Lets ids go that an item holds, and changes no number. */
export const keepHeld = (tally: Tally, held: readonly string[]): CountWrite => ({
  Key: keyOf(tally),
  UpdateExpression: 'DELETE held :held',
  ConditionExpression: 'attribute_exists(held)',
  ExpressionAttributeValues: { ':held': { SS: [...held] } },
});
