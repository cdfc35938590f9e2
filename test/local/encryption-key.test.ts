import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { encryptionKey } from '../../infra/local/keys.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-key-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('encryption key', () => {
  test('is created one time when 50 callers need it at the same time', async () => {
    const keys = await Promise.all(Array.from({ length: 50 }, () => encryptionKey(directory)));
    expect(new Set(keys).size).toBe(1);
    expect(Buffer.from(keys[0] ?? '', 'base64')).toHaveLength(32);
    expect(await encryptionKey(directory)).toBe(keys[0]);
  });

  test('is an error when it is missing and there are data', async () => {
    await mkdir(path.join(directory, 'mongo'));
    await expect(encryptionKey(directory)).rejects.toThrow(/encryption-key, is missing[\s\S]*delete/);
  });

  test('is an error when it is damaged', async () => {
    await writeFile(path.join(directory, 'encryption-key'), 'half');
    await expect(encryptionKey(directory)).rejects.toThrow(/is damaged/);
  });
});
