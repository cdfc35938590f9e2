import { randomBytes } from 'node:crypto';
import type { Answer } from '../support/clients/client.ts';
import { newId } from './documents.ts';
import type { History, Output } from './history.ts';
import { Keys } from './keys.ts';
import { pick, type Random } from './random.ts';
import type { Service } from './service.ts';

const code = { key: 'code', type: 'String', required: true, unique: true };

export const valueCollections = [
  { name: 'codes', schema: [code] },
  { name: 'counts', schema: [code, { key: 'n', type: 'Number' }] },
  { name: 'orders', schema: [{ key: 'mark', type: 'String' }] },
];

interface Body extends Record<string, unknown> {
  readonly _id?: string;
  readonly code?: string;
  readonly data?: { readonly items: readonly { readonly n?: number }[] };
}

const randomKey = (): string => randomBytes(12).toString('hex');
const statusOf = ({ status, body }: Answer<Body>): Output => ({ status, ...(status >= 300 && { code: body.code }) });
const revOf = ({ headers }: Answer<unknown>): number => Number(/^"(\d+)"$/.exec(headers.get('etag') ?? '')?.[1] ?? 0);

const send = (service: Service, method: string, path: string, body?: object, headers?: Record<string, string>) =>
  service.api<Body>(method, `/api/data/${path}`, { ...(body && { body }), ...(headers && { headers }) });

/** Clients insert documents with the same unique value, and delete them. */
export const uniqueValues = (service: Service, history: History) => {
  const keys = new Keys(3, 150, randomKey);
  const holders = new Map<string, string>();
  return async (client: number, random: Random): Promise<void> => {
    const { key } = keys.next(random);
    const holder = holders.get(key);
    if (holder && random(3) === 0) {
      const operation = { model: 'unique', key, input: { op: 'free', id: holder } } as const;
      const path = `codes/${holder}?permanent=true`;
      await history.record(client, operation, () => send(service, 'DELETE', path), statusOf);
      return;
    }
    const id = newId();
    const operation = { model: 'unique', key, input: { op: 'take', id } } as const;
    const insert = () => send(service, 'PUT', `codes/${id}`, { code: key }, { 'if-none-match': '*' });
    const response = await history.record(client, operation, insert, statusOf);
    // An unknown outcome may have taken the value.
    if (!response || response.status >= 500 || response.status === 201) holders.set(key, id);
  };
};

/** Clients insert or update the document of a unique value, and read it by that value. */
export const upserts = (service: Service, history: History) => {
  const keys = new Keys(3, 150, randomKey);
  let unique = 0;
  return async (client: number, random: Random): Promise<void> => {
    const { key } = keys.next(random);
    unique += 1;
    const n = unique;
    if (random(3) === 0) {
      const read = () => send(service, 'GET', `counts?code=${key}`);
      const found = ({ status, body }: Answer<Body>): Output => ({ status, n: body.data?.items[0]?.n ?? 0 });
      await history.record(client, { model: 'upsert', key, input: { op: 'read' } }, read, found);
      return;
    }
    const write = () => send(service, 'POST', 'counts?onConflict=code', { code: key, n });
    await history.record(client, { model: 'upsert', key, input: { op: 'write', n } }, write, (response) => ({
      status: response.status,
      rev: revOf(response),
    }));
  };
};

/** Clients send the same insert with the same `Idempotency-Key`, and count the documents that it inserted. */
export const repeats = (service: Service, history: History) => {
  const keys = new Keys(4, 12, randomKey);
  const count = async (client: number, key: string): Promise<void> => {
    const list = () => send(service, 'GET', `orders?mark=${key}`);
    const counted = ({ status, body }: Answer<Body>): Output => ({ status, count: body.data?.items.length ?? -1 });
    await history.record(client, { model: 'once', key, input: { op: 'count' } }, list, counted);
  };
  const inserted = ({ status, body }: Answer<Body>): Output =>
    body.code === 'IDEMPOTENCY_IN_PROGRESS' ? undefined : { status, id: body._id ?? body.code };
  return {
    act: async (client: number, random: Random): Promise<void> => {
      const { key } = keys.next(random);
      if (pick(random, [true, false, false, false])) return count(client, key);
      const insert = () => send(service, 'POST', 'orders', { mark: key }, { 'idempotency-key': key });
      await history.record(client, { model: 'once', key, input: { op: 'insert' } }, insert, inserted);
    },
    finish: async (): Promise<void> => {
      for (const key of keys.all) await count(0, key);
    },
  };
};
