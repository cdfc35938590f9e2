import { describe, expect, test } from 'vitest';
import { open, seal } from '../../../shared/projects/sealed.ts';

process.env.ENCRYPTION_KEY = Buffer.alloc(32, 1).toString('base64');

const flip = (sealed: string, at: number): string => {
  const bytes = Buffer.from(sealed, 'base64url');
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return bytes.toString('base64url');
};

describe('seal and open', () => {
  test.each(['', 'x', 'mongodb://user:p%40ss@host/db', '€ 🙂\0\u2028', 'x'.repeat(100_000)])(
    'return %j unchanged',
    async (plain) => {
      expect(await open(await seal(plain, 'record'), 'record')).toBe(plain);
    },
  );

  test('never return the same text twice, nor the plain text', async () => {
    const sealed = [await seal('secret', 'record'), await seal('secret', 'record')];
    expect(sealed[0]).not.toBe(sealed[1]);
    expect(Buffer.from(sealed.join(), 'base64url').toString('latin1')).not.toContain('secret');
  });

  test('reject a value when it was moved to another record', async () => {
    const sealed = await seal('secret', 'record');
    await expect(open(sealed, 'recor')).rejects.toThrow();
    await expect(open(sealed, '')).rejects.toThrow();
  });

  test('reject a value when any byte was changed', async () => {
    const sealed = await seal('secret', 'record');
    for (let at = 0; at < Buffer.from(sealed, 'base64url').length; at++) {
      await expect(open(flip(sealed, at), 'record'), `byte ${at}`).rejects.toThrow();
    }
  });

  test.each(['', 'AQ', 'not sealed', Buffer.alloc(28, 1).toString('base64url')])('reject %j', async (value) => {
    await expect(open(value, 'record')).rejects.toThrow();
  });
});
