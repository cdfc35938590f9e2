import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { encryptionKey } from '../../infra/local/encryption-key.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-key-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('the key of a state directory', () => {
  test('is made once, the same for all who ask at once', async () => {
    const keys = await Promise.all(Array.from({ length: 50 }, () => encryptionKey(directory)));
    expect(new Set(keys).size).toBe(1);
    expect(Buffer.from(keys[0] ?? '', 'base64')).toHaveLength(32);
    expect(await encryptionKey(directory)).toBe(keys[0]);
  });

  test('is not replaced where data are there that it sealed', async () => {
    await mkdir(path.join(directory, 'mongo'));
    await expect(encryptionKey(directory)).rejects.toThrow(/encryption-key, is missing[\s\S]*delete/);
  });

  test('is refused where it is damaged', async () => {
    await writeFile(path.join(directory, 'encryption-key'), 'half');
    await expect(encryptionKey(directory)).rejects.toThrow(/is damaged/);
  });
});
