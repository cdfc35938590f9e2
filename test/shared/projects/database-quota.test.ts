import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import {
  databaseUsed,
  forgetDatabaseUse,
  requireDatabaseRoom,
  requireManagedRoom,
} from '../../../shared/projects/database-quota.ts';
import { plans } from '../../../shared/projects/plans.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { signInMethods } from '../../../shared/projects/user-settings.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';

const database = vi.hoisted(() => ({
  bytes: 0,
  indexes: 0,
  measured: 0,
  down: false,
  pending: undefined as Promise<never> | undefined,
}));

vi.mock('../../../shared/persistence/mongo.ts', () => ({
  onManaged: async () => {
    database.measured += 1;
    if (database.down) throw new Error('down');
    await database.pending;
    return { dataSize: database.bytes, indexSize: database.indexes };
  },
}));

const project = (rest: Partial<Project> = {}): Project => ({
  id: 'a'.repeat(24),
  name: 'test',
  ownerId: 'f'.repeat(24),
  plan: 'free',
  ownerKey: 'owner',
  ownerVerified: true,
  placement: { kind: 'managed', cell: 'main' },
  siteUrl: null,
  allowedDomains: ['*'],
  allowPublicSignup: true,
  authEnabled: true,
  signingKeys: [],
  signIn: signInMethods(),
  hadAnonymous: false,
  uploads: { users: false, maxBytes: 10_485_760, types: ['*/*'] },
  socialProviders: {},
  storage: { kind: 'managed' },
  sealedProviderApiKey: null,
  providerFromEmail: null,
  ...rest,
});
const external = project({ placement: { kind: 'external', encryptedUri: '', host: 'h', openUri: async () => '' } });
const limit = plans.free.databaseBytes;

let time = 0;
beforeEach(() => {
  Object.assign(database, { bytes: 0, indexes: 0, measured: 0, down: false, pending: undefined });
  time = 1_000_000;
  vi.spyOn(clock, 'now').mockImplementation(() => time);
  forgetDatabaseUse();
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('DATABASE_QUOTA_EXCEEDED', () => {
  test('from the first byte over the plan', async () => {
    database.bytes = limit - 100;
    await requireDatabaseRoom(project(), 100);
    expect(await laterRefusalOf(requireDatabaseRoom(project(), 1))).toMatchObject({
      code: 'DATABASE_QUOTA_EXCEEDED',
      message: expect.stringContaining('50 MiB'),
    });
  });

  test('from the first byte of indexes over four times the plan', async () => {
    database.indexes = 4 * limit;
    await requireDatabaseRoom(project(), 1);
    forgetDatabaseUse();
    database.indexes += 1;
    expect(await laterRefusalOf(requireDatabaseRoom(project(), 1))).toMatchObject({ code: 'DATABASE_QUOTA_EXCEEDED' });
  });

  test('counts the bytes written since the last measurement', async () => {
    database.bytes = limit - 1000;
    const writes = Array.from({ length: 50 }, () => requireDatabaseRoom(project(), 100));
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  });

  test('ends when a new measurement shows room', async () => {
    database.bytes = limit;
    await laterRefusalOf(requireDatabaseRoom(project(), 1));
    database.bytes = 0;
    time += 1000;
    await requireDatabaseRoom(project(), 1);
  });

  test('measures a full database at most every second', async () => {
    database.bytes = limit;
    for (let write = 0; write < 20; write += 1) await laterRefusalOf(requireDatabaseRoom(project(), 1));
    expect(database.measured).toBe(1);
    time += 1000;
    for (let write = 0; write < 20; write += 1) await laterRefusalOf(requireDatabaseRoom(project(), 1));
    expect(database.measured).toBe(2);
  });

  test('follows the plan', async () => {
    database.bytes = limit;
    await requireDatabaseRoom(project({ plan: 'pro' }), 1);
  });
});

describe('a project with room', () => {
  test('is measured once in 10 s when many write', async () => {
    await Promise.all(Array.from({ length: 50 }, () => requireDatabaseRoom(project(), 1)));
    time += 9999;
    await requireDatabaseRoom(project(), 1);
    expect(database.measured).toBe(1);
    time += 1;
    await requireDatabaseRoom(project(), 1);
    expect(database.measured).toBe(2);
  });

  test('is measured independently of other projects', async () => {
    database.bytes = limit;
    await laterRefusalOf(requireDatabaseRoom(project(), 1));
    database.bytes = 0;
    await requireDatabaseRoom(project({ id: 'b'.repeat(24) }), 1);
  });

  test('is measured again when a measurement failed', async () => {
    database.down = true;
    await expect(requireDatabaseRoom(project(), 1)).rejects.toThrow('down');
    database.down = false;
    await requireDatabaseRoom(project(), 1);
  });

  test('is not measured again when a measurement that was replaced fails', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    database.pending = promise;
    const slow = requireDatabaseRoom(project(), 1);
    database.pending = undefined;
    time += 10_000;
    await requireDatabaseRoom(project(), 1);
    reject(new Error('down'));
    await expect(slow).rejects.toThrow('down');
    await requireDatabaseRoom(project(), 1);
    expect(database.measured).toBe(2);
  });
});

test("a project's own database has no limit and is not measured", async () => {
  database.bytes = limit * 2;
  await requireDatabaseRoom(external, 1);
  expect(database.measured).toBe(0);
});

test('users of a project with its own database are in ours, and count there', async () => {
  database.bytes = limit;
  expect(await databaseUsed(external)).toBe(limit);
  expect(await laterRefusalOf(requireManagedRoom(external, 1))).toMatchObject({ code: 'DATABASE_QUOTA_EXCEEDED' });
});

test('databaseUsed is what the database reports', async () => {
  database.bytes = 1234;
  expect(await databaseUsed(project())).toBe(1234);
});
