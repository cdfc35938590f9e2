import { randomBytes } from 'node:crypto';
import type { Answer } from '../support/clients/client.ts';
import type { History, Output } from './history.ts';
import { Keys } from './keys.ts';
import { pick, type Random } from './random.ts';
import type { Service } from './service.ts';

const schema = [
  { key: 'n', type: 'Number', min: 0, max: 9, integer: true },
  { key: 'text', type: 'String' },
  { key: 'log', type: 'Array', items: { type: 'Number' } },
];

export const documentCollections = [
  { name: 'plain', schema },
  { name: 'fed', schema, changes: true },
];

interface Fields extends Record<string, unknown> {
  readonly code?: string;
  readonly data?: Fields;
  readonly n?: number;
  readonly text?: string;
  readonly log?: readonly number[];
}

/** An id of a document that no one has used. */
export const newId = (): string =>
  Math.floor(Date.now() / 1000)
    .toString(16)
    .padStart(8, '0') + randomBytes(8).toString('hex');

const outputOf = ({ status, headers, body }: Answer<Fields>): Output => {
  const rev = Number(/^"(\d+)"$/.exec(headers.get('etag') ?? '')?.[1] ?? 0);
  if (status >= 300) return { status, code: body.code, rev };
  const { n = 0, text = '', log = [] } = body.data ?? body;
  return { status, rev, n, text, log: log.join() };
};

interface Action {
  readonly op: string;
  readonly method: string;
  readonly suffix?: string;
  readonly changes?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly input?: Readonly<Record<string, unknown>>;
}

const whereAtLeast = (n: number): string => `?where=${encodeURIComponent(JSON.stringify({ n: { $gte: n } }))}`;

/** Every write to a document and its read; updates are the most frequent. `unique` marks what this action writes. */
const actionOf = (random: Random, unique: number, seen: number): Action => {
  const by = pick(random, [-3, -2, -1, 1, 2]);
  const inc: Action = { op: 'inc', method: 'PATCH', changes: { $inc: { n: by } }, input: { by } };
  const push = { log: { $each: [unique], $slice: -4 } };
  const actions: readonly Action[] = [
    { op: 'read', method: 'GET' },
    { op: 'read', method: 'GET' },
    inc,
    inc,
    { ...inc, headers: { 'if-match': `"${seen}"` }, input: { by, ifMatch: seen } },
    { op: 'push', method: 'PATCH', changes: { $push: push }, input: { unique } },
    { op: 'push', method: 'PATCH', changes: { $push: push }, input: { unique } },
    {
      op: 'take',
      method: 'PATCH',
      suffix: whereAtLeast(2),
      changes: { $inc: { n: -2 }, text: `w${unique}` },
      input: { by: -2, text: `w${unique}` },
    },
    {
      op: 'set',
      method: 'PUT',
      changes: { text: `w${unique}` },
      headers: { 'if-match': `"${seen}"` },
      input: { text: `w${unique}`, ifMatch: seen },
    },
    { op: 'insert', method: 'PUT', changes: { n: 5, text: '', log: [] }, headers: { 'if-none-match': '*' } },
    { op: 'trash', method: 'DELETE' },
    { op: 'recover', method: 'PATCH', suffix: '/recover' },
    { op: 'recover', method: 'PATCH', suffix: '/recover' },
    { op: 'purge', method: 'DELETE', suffix: '?permanent=true' },
  ];
  return pick(random, actions);
};

const operationsPerKey = 150;

/** Reads and writes of documents. The documents of `fed` are in a changes feed. */
export class Documents {
  readonly #service: Service;
  readonly #history: History;
  readonly #collection: 'plain' | 'fed';
  readonly #keys = new Keys(4, operationsPerKey, newId);
  readonly #seen = new Map<string, number>();
  #unique = 0;

  constructor(service: Service, history: History, collection: 'plain' | 'fed') {
    this.#service = service;
    this.#history = history;
    this.#collection = collection;
  }

  async #send(client: number, id: string, { op, method, suffix = '', changes, headers, input }: Action) {
    const operation = { model: 'document', key: id, input: { op, ...input, fed: this.#collection === 'fed' } } as const;
    const path = `/api/data/${this.#collection}/${id}${suffix}`;
    const options = { ...(changes && { body: changes }), ...(headers && { headers }) };
    return this.#history.record<Fields>(client, operation, () => this.#service.api(method, path, options), outputOf);
  }

  async act(client: number, random: Random): Promise<void> {
    const { key: id, isNew } = this.#keys.next(random);
    this.#unique += 1;
    const insert = { op: 'insert', method: 'PUT', changes: { n: 5, text: '', log: [] } };
    const response = await this.#send(
      client,
      id,
      isNew
        ? { ...insert, headers: { 'if-none-match': '*' } }
        : actionOf(random, this.#unique, this.#seen.get(`${client} ${id}`) ?? 1),
    );
    const rev = /^"(\d+)"$/.exec(response?.headers.get('etag') ?? '')?.[1];
    if (rev) this.#seen.set(`${client} ${id}`, Number(rev));
  }

  /** Reads each document one last time. Returns the revisions of those that exist, by id. */
  async finish(): Promise<ReadonlyMap<string, number>> {
    const revisions = new Map<string, number>();
    for (const id of this.#keys.all) {
      const response = await this.#send(0, id, { op: 'read', method: 'GET' });
      const rev = /^"(\d+)"$/.exec(response?.headers.get('etag') ?? '')?.[1];
      if (response?.status === 200) revisions.set(id, Number(rev));
    }
    return revisions;
  }
}
