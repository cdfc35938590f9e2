import { Long, ObjectId, Timestamp } from 'mongodb';
import { describe, expect, it, test } from 'vitest';
import { guardHello } from '../../../shared/customer-database/guards.ts';

const guarded = (reply: Record<string, unknown>): { reply: Record<string, unknown>; refused: number } => {
  let refused = 0;
  guardHello(reply, () => {
    refused += 1;
  });
  return { reply, refused };
};

test('allowed members keep the notation of the driver', () => {
  const { reply, refused } = guarded({
    hosts: ['A.example.com:27018', 'b.example.com', '[2606:4700::1111]:1', '8.8.8.8:2'],
    passives: [],
    arbiters: ['c.example.com:3'],
  });
  expect(reply).toEqual({
    hosts: ['a.example.com:27018', 'b.example.com:27017', '[2606:4700::1111]:1', '8.8.8.8:2'],
    passives: [],
    arbiters: ['c.example.com:3'],
  });
  expect(refused).toBe(0);
});

describe('a member is rejected:', () => {
  const members: readonly unknown[] = [
    ...['10.0.0.1:27017', '127.0.0.1:27017', 'localhost:27017', '[::1]:27017', '169.254.169.254:80', '127.1:1'],
    ...['x.internal:1', '/tmp/mongodb-27017.sock', '%2Ftmp%2Fm.sock', 'a.example.com:0', 'a.example.com:99999'],
    ...['a b.example.com:1', 'user@a.example.com:1', 'a.example.com/x', '', 5, null, {}, ['a.example.com'], undefined],
  ].filter((member) => !Array.isArray(member));
  it.each(members.map((member) => [member]))('%j', (member) => {
    for (const field of ['hosts', 'passives', 'arbiters']) {
      const { reply, refused } = guarded({ [field]: ['a.example.com:1', member] });
      expect(reply).toEqual({ [field]: ['a.example.com:1'] });
      expect(refused).toBe(1);
    }
  });
});

test('a name with a port is accepted when it ends like a socket', () => {
  expect(guarded({ hosts: ['mongo.sock'] }).reply).toEqual({ hosts: ['mongo.sock:27017'] });
});

test('members are cut when there are more than a replica set can have', () => {
  const hosts = Array.from({ length: 10_000 }, (_, n) => `h${n}.example.com:1`);
  expect(guarded({ hosts }).reply.hosts).toHaveLength(50);
});

test('fields stay when they have the expected type', () => {
  const reply = {
    ok: 1,
    setName: 'rs',
    me: 'a.example.com:1',
    primary: 'a.example.com:1',
    setVersion: 1,
    electionId: new ObjectId(),
    tags: { region: 'eu' },
    minWireVersion: 0,
    maxWireVersion: 21,
    logicalSessionTimeoutMinutes: 30,
    lastWrite: { lastWriteDate: new Date() },
    topologyVersion: { processId: new ObjectId(), counter: Long.fromNumber(6) },
    $clusterTime: { clusterTime: new Timestamp(5n) },
  };
  expect(guarded({ ...reply }).reply).toEqual(reply);
});

describe('a field is removed when it has another type:', () => {
  const wrong: Readonly<Record<string, readonly unknown[]>> = {
    setName: [5, {}, null],
    me: [5, ['a'], null],
    setVersion: ['1', {}, Number.NaN],
    electionId: ['x', {}, 5],
    tags: [5, { a: {} }, null, 'x'],
    minWireVersion: ['0', {}],
    maxWireVersion: [Number.POSITIVE_INFINITY, '21'],
    lastWrite: [5, {}, { lastWriteDate: 'now' }],
    topologyVersion: [5, {}, { processId: 'x', counter: 1 }, { processId: new ObjectId(), counter: 'x' }],
    $clusterTime: [5, {}, { clusterTime: 5 }],
  };
  for (const [field, values] of Object.entries(wrong)) {
    it.each(values.map((value) => [value]))(`${field}: %j`, (value) => {
      expect(guarded({ ok: 1, [field]: value }).reply).toEqual({ ok: 1 });
    });
  }

  it.each([[5], ['a.example.com:1'], [{ length: 1 }], [null]])('hosts: %j', (hosts) => {
    expect(guarded({ hosts }).reply).toEqual({ hosts: [] });
  });
});
