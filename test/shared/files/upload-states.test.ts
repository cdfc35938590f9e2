import { describe, expect, test } from 'vitest';
import { type FileRef, fileItemKey, quotaKey, userQuotaKey } from '../../../shared/files/file-items.ts';
import {
  confirmCharge,
  expire,
  keepUploadId,
  refundFile,
  reserve,
  stateOf,
} from '../../../shared/files/upload-states.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';

const { time, read, put } = useMemoryTable();
const projectId = 'a'.repeat(24);
const owner = 'b'.repeat(24);
const refOf = (name: string): FileRef => ({ projectId, storageId: 's', filePath: `${projectId}/${name}` });
const storageKey = quotaKey(refOf('any'));
const userKey = userQuotaKey(refOf('any'), owner);

const ofUser = { owner, bounded: 1, of: undefined, name: undefined, visibility: 'private' } as const;
const ofKey = { owner: undefined, bounded: undefined, of: undefined, name: undefined, visibility: undefined } as const;
const contentType = 'text/plain';
const user = { bytes: 10, files: 3, reservations: 2 };

const request = (
  name: string,
  size: number,
  limits: Partial<Parameters<typeof reserve>[2]> = {},
  owned: typeof ofUser | typeof ofKey = ofUser,
) => reserve(refOf(name), { ...owned, contentType, size }, { storage: 20, user, ...limits });
const confirm = (name: string, size: number) => confirmCharge(refOf(name), { size, etag: 'e', contentType }, ofUser);

describe('a reservation', () => {
  test('fills the storage up to its last byte', async () => {
    expect(await request('a', 21, {}, ofKey)).toEqual({ of: 'storage' });
    await request('a', 8, {}, ofKey);
    expect(await request('b', 13, {}, ofKey)).toEqual({ of: 'storage' });
    expect(await request('b', 12, {}, ofKey)).toBeUndefined();
    expect(await read(storageKey)).toEqual({ held: 20 });
  });

  test('has no limit of bytes when the storage and the user have none', async () => {
    expect(await request('a', 1000, { storage: null, user: { ...user, bytes: null } })).toBeUndefined();
    expect(await request('b', 1000, { storage: null, user: { ...user, bytes: null } })).toBeUndefined();
    expect(await read(storageKey)).toEqual({ held: 2000 });
    expect(await read(userKey)).toEqual({ held: 2000, files: 2, reservations: 2 });
  });

  test("fills the user's bytes up to the last one, and returns what the user has", async () => {
    expect(await request('a', 11)).toEqual({ of: 'user', has: undefined });
    await request('a', 4);
    expect(await request('b', 7)).toMatchObject({ of: 'user', has: { held: 4, files: 1, reservations: 1 } });
    expect(await request('b', 6)).toBeUndefined();
    expect(await read(userKey)).toEqual({ held: 10, files: 2, reservations: 2 });
  });

  test("ends at the user's number of reservations, and of files", async () => {
    await request('a', 1);
    await request('b', 1);
    expect(await request('c', 1)).toMatchObject({ of: 'user', has: { reservations: 2 } });
    await confirm('a', 1);
    expect(await request('c', 1)).toBeUndefined();
    await confirm('b', 1);
    expect(await request('d', 1)).toMatchObject({ of: 'user', has: { files: 3, reservations: 1 } });
    expect(await read(storageKey)).toEqual({ held: 3, used: 2, files: 2 });
  });

  test('without a bound, or without an owner, counts for no user', async () => {
    const limits = { storage: 20, user };
    await reserve(refOf('a'), { ...ofUser, bounded: undefined, contentType, size: 5 }, limits);
    await reserve(refOf('b'), { ...ofUser, owner: undefined, contentType, size: 5 }, limits);
    expect(await read(storageKey)).toEqual({ held: 10 });
    expect(await read(userKey)).toBeUndefined();
  });

  test('of the whole storage, and of all bytes of the user, fits', async () => {
    expect(await request('a', 10)).toBeUndefined();
    expect(await request('b', 20, { storage: 30 }, ofKey)).toBeUndefined();
    expect(await request('c', 40, { storage: 40 }, ofKey)).toEqual({ of: 'storage' });
  });

  test('of a user with room fails when the storage is full', async () => {
    await request('a', 15, {}, ofKey);
    expect(await request('b', 6)).toEqual({ of: 'storage' });
    expect(await read(userKey)).toBeUndefined();
  });

  test('that is repeated counts one time', async () => {
    await request('a', 4);
    expect(await request('a', 4)).toBeUndefined();
    expect(await read(storageKey)).toEqual({ held: 4 });
    expect(await read(userKey)).toEqual({ held: 4, files: 1, reservations: 1 });
  });
});

describe('a requested path', () => {
  test('is confirmed one time, and only with the reserved size', async () => {
    await request('a', 4);
    expect(await confirm('a', 5)).toMatchObject({ kind: 'requested', size: 4 });
    expect(await confirm('a', 4)).toMatchObject({ kind: 'confirmed', size: 4 });
    expect(await confirm('a', 4)).toMatchObject({ kind: 'confirmed', size: 4 });
    expect(await read(storageKey)).toEqual({ held: 4, used: 4, files: 1 });
    expect(await read(userKey)).toEqual({ held: 4, files: 1, reservations: 0 });
  });

  test('is read with what was announced, and a confirmed one with its own', async () => {
    const announced = { ...ofUser, unproven: 1, contentType, size: 4 } as const;
    await reserve(refOf('a'), announced, { storage: 20, user });
    expect(await stateOf(refOf('a'))).toMatchObject({ isUnproven: true, requestedAt: time.now, visibility: 'private' });
    await keepUploadId(refOf('a'), { key: 'k', uploadId: 'first' });
    await confirm('a', 4);
    expect(await stateOf(refOf('a'))).toMatchObject({
      kind: 'confirmed',
      isUnproven: false,
      visibility: 'private',
      owner,
    });
    expect(await stateOf(refOf('a'))).toMatchObject({ uploadId: undefined, requestedAt: undefined });
    await request('b', 4, {}, ofKey);
    expect(await stateOf(refOf('b'))).toMatchObject({ isUnproven: false, visibility: 'public', owner: undefined });
    await confirmCharge(refOf('b'), { size: 4, etag: 'e', contentType }, { ...ofKey, visibility: 'public' });
    expect(await read(fileItemKey(refOf('b')))).not.toHaveProperty('visibility');
  });

  test('is not confirmed when it was never requested', async () => {
    expect(await confirm('a', 4)).toBeUndefined();
    expect(await read(storageKey)).toBeUndefined();
  });

  test('expires one time', async () => {
    await request('a', 4);
    await request('b', 3);
    const expired = { size: 4, owner, bounded: 1 } as const;
    expect(await expire(refOf('a'), expired)).toBe(true);
    expect(await expire(refOf('a'), expired)).toBe(false);
    expect(await read(storageKey)).toEqual({ held: 3 });
    expect(await read(userKey)).toEqual({ held: 3, files: 1, reservations: 1 });
  });

  test('keeps the first upload in parts', async () => {
    await request('a', 4);
    expect(await keepUploadId(refOf('a'), { key: 'k', uploadId: 'first' })).toBe('first');
    expect(await keepUploadId(refOf('a'), { key: 'k', uploadId: 'second' })).toBe('first');
    expect(await stateOf(refOf('a'))).toMatchObject({ kind: 'requested', uploadId: 'first' });
    expect(await keepUploadId(refOf('b'), { key: 'k', uploadId: 'third' })).toBeUndefined();
    expect(await stateOf(refOf('b'))).toBeUndefined();
  });
});

test('a deleted file is refunded one time', async () => {
  await request('a', 4);
  await request('b', 3);
  await confirm('a', 4);
  const file = { ...ofUser, bytes: 4 };
  expect(await refundFile(refOf('a'), file)).toEqual(new Set());
  expect(await refundFile(refOf('a'), file)).toBeUndefined();
  expect(await read(storageKey)).toEqual({ held: 3, used: 0, files: 0 });
  expect(await read(userKey)).toEqual({ held: 3, files: 1, reservations: 1 });
});

test('a path that was deleted cannot be confirmed', async () => {
  await put({ ...storageKey, held: 0 });
  await request('a', 4);
  await confirm('a', 4);
  await refundFile(refOf('a'), { ...ofUser, bytes: 4 });
  expect(await confirm('a', 4)).toBeUndefined();
  expect(await read(storageKey)).toEqual({ held: 0, used: 0, files: 0 });
});
