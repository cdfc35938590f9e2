import { ServiceError } from '../../shared/persistence/aws-client.ts';
import { type Attribute, type Attributes, changed, holds, InvalidExpression } from './expressions.ts';

interface Write {
  readonly Key?: Attributes;
  readonly Item?: Attributes;
  readonly ConditionExpression?: string;
  readonly UpdateExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Attributes;
  readonly ReturnValues?: string;
}

type Kind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck';
type Part = Partial<Record<Kind, Write>>;

const failure = (code: string, more: object = {}): ServiceError =>
  new ServiceError('Fake', 400, 'fake', JSON.stringify({ __type: code, message: code, ...more }));

export const transactionConflict = (): ServiceError =>
  failure('TransactionCanceledException', { CancellationReasons: [{ Code: 'TransactionConflict' }] });
export const heldByTransaction = (): ServiceError => failure('TransactionConflictException');

const textOf = (value: Attribute | undefined): string => (value && 'S' in value ? value.S : '');
const keyOf = (key: Attributes): string => `${textOf(key.pk)}\n${textOf(key.sk)}`;

const pick = (item: Attributes, names: readonly string[]): Attributes =>
  Object.fromEntries(names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])));

const expressionsOf = (write: Write & { readonly KeyConditionExpression?: string }): string =>
  [write.ConditionExpression, write.UpdateExpression, write.KeyConditionExpression].join(' ');

/** DynamoDB rejects values without a use, and uses without a value. */
const requireValues = (write: Write): void => {
  const used = new Set(expressionsOf(write).match(/:\w+/g));
  const given = Object.keys(write.ExpressionAttributeValues ?? {});
  if (used.size !== given.length || given.some((name) => !used.has(name))) throw new InvalidExpression();
};

const contextOf = (item: Attributes | undefined, write: Write) => ({
  item,
  names: write.ExpressionAttributeNames ?? {},
  values: write.ExpressionAttributeValues ?? {},
});

/** What a write makes of an item; `undefined` deletes it. */
const outcomeOf = (kind: Kind, item: Attributes | undefined, write: Write) => {
  if (kind === 'ConditionCheck') return { after: item, names: [] };
  if (kind === 'Delete') return { after: undefined, names: [] };
  if (kind === 'Put') return { after: write.Item, names: [] };
  const changes = changed(write.UpdateExpression ?? '', contextOf(item, write));
  const after: Record<string, Attribute> = { ...(item ?? write.Key) };
  for (const [name, value] of changes) {
    if (value) after[name] = value;
    else delete after[name];
  }
  return { after, names: changes.map(([name]) => name) };
};

/** What a write of a transaction makes of its item, or the reason to cancel the transaction. */
const partOf = ({ kind, write, before }: { kind: Kind; write: Write; before: Attributes | undefined }) => {
  if (!holds(write.ConditionExpression, contextOf(before, write))) {
    return { after: before, reason: { Code: 'ConditionalCheckFailed', ...(before && { Item: before }) } };
  }
  try {
    return { after: outcomeOf(kind, before, write).after, reason: undefined };
  } catch (error) {
    if (!(error instanceof InvalidExpression)) throw error;
    return { after: before, reason: { Code: 'ValidationError' } };
  }
};

/** A table of DynamoDB in memory: the operations and expressions that `shared/` uses. Each operation is atomic. */
export class FakeTable {
  readonly #items = new Map<string, Attributes>();
  /** Tokens of transactions that were carried out: their repeats succeed and change nothing. */
  readonly #tokens = new Set<string>();

  #set(key: string, item: Attributes | undefined): void {
    if (item) this.#items.set(key, item);
    else this.#items.delete(key);
  }

  #write(kind: Kind, write: Write) {
    requireValues(write);
    const key = keyOf(write.Key ?? write.Item ?? {});
    const before = this.#items.get(key);
    if (!holds(write.ConditionExpression, contextOf(before, write))) {
      throw failure('ConditionalCheckFailedException', before && { Item: before });
    }
    const { after, names } = outcomeOf(kind, before, write);
    this.#set(key, after);
    const returned = { ALL_OLD: before, ALL_NEW: after, UPDATED_NEW: after && pick(after, names) };
    const Attributes = returned[write.ReturnValues as keyof typeof returned];
    return Attributes && Object.keys(Attributes).length > 0 ? { Attributes } : {};
  }

  #transact({ TransactItems, ClientRequestToken }: { TransactItems: readonly Part[]; ClientRequestToken?: string }) {
    if (ClientRequestToken !== undefined && this.#tokens.has(ClientRequestToken)) return {};
    const parts = TransactItems.map((part) => {
      const [kind = 'Put'] = Object.keys(part) as Kind[];
      const write = part[kind] ?? {};
      requireValues(write);
      const key = keyOf(write.Key ?? write.Item ?? {});
      return { kind, write, key, before: this.#items.get(key) };
    });
    if (new Set(parts.map(({ key }) => key)).size < parts.length) throw failure('ValidationException');
    const outcomes = parts.map((part) => ({ key: part.key, ...partOf(part) }));
    const reasons = outcomes.map(({ reason }) => reason ?? { Code: 'None' });
    if (outcomes.some(({ reason }) => reason)) {
      throw failure('TransactionCanceledException', { CancellationReasons: reasons });
    }
    for (const { key, after } of outcomes) this.#set(key, after);
    if (ClientRequestToken !== undefined) this.#tokens.add(ClientRequestToken);
    return {};
  }

  #query(input: Write & { KeyConditionExpression?: string; ScanIndexForward?: boolean; Limit?: number }) {
    const sorted = [...this.#items.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const found = (input.ScanIndexForward === false ? sorted.reverse() : sorted)
      .map((key) => this.#items.get(key))
      .filter((item) => item !== undefined && holds(input.KeyConditionExpression, contextOf(item, input)));
    return { Items: found.slice(0, input.Limit ?? found.length) };
  }

  get(Key: Attributes): Attributes | undefined {
    return this.#items.get(keyOf(Key));
  }

  /** Items whose sort keys have this prefix, for the checks of models. */
  items(prefix: string): readonly Attributes[] {
    return [...this.#items.values()].filter(({ sk }) => textOf(sk).startsWith(prefix));
  }

  /** The operation `name`, as the client sends it. Throws what the client throws. */
  send(name: string, input: object): object {
    try {
      return this.#send(name, input as never);
    } catch (error) {
      throw error instanceof InvalidExpression ? failure('ValidationException') : error;
    }
  }

  #send(name: string, input: never): object {
    if (name === 'PutItem') return this.#write('Put', input);
    if (name === 'UpdateItem') return this.#write('Update', input);
    if (name === 'DeleteItem') return this.#write('Delete', input);
    if (name === 'TransactWriteItems') return this.#transact(input);
    if (name === 'Query') return this.#query(input);
    if (name === 'GetItem') {
      const { Key, ExpressionAttributeNames: names } = input as Required<Write>;
      const Item = this.get(Key);
      return Item ? { Item: names ? pick(Item, Object.values(names)) : Item } : {};
    }
    if (name === 'TransactGetItems') {
      const { TransactItems } = input as { TransactItems: { Get: { Key: Attributes } }[] };
      const found = TransactItems.map(({ Get: { Key } }) => this.get(Key));
      return { Responses: found.map((Item) => (Item ? { Item } : {})) };
    }
    throw new Error(`The fake table has no operation ${name}`);
  }
}
