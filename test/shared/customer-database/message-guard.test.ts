import { describe, expect, it } from 'vitest';
import { MessageGuard, maxUnaskedBytes } from '../../../shared/customer-database/guards.ts';

const message = (size: number, { announced = size, operation = 2013 } = {}): Buffer => {
  const bytes = Buffer.alloc(size);
  bytes.writeInt32LE(announced, 0);
  bytes.writeInt32LE(operation, 12);
  return bytes;
};

const limit = 1000;

/** True if the guard rejects the bytes when they arrive in pieces of this size. */
const refuses = (bytes: Buffer, pieces = bytes.length, waiting = true): boolean => {
  const guard = new MessageGuard();
  for (let at = 0; at < bytes.length; at += pieces) {
    if (guard.refuses(bytes.subarray(at, at + pieces), limit, waiting)) return true;
  }
  return false;
};

describe('MessageGuard', () => {
  const good = Buffer.concat([message(16), message(1000), message(17), message(999)]);

  it.each([1, 3, 15, 16, 17, 500, 5000])('lets messages up to the limit pass, in pieces of %i bytes', (pieces) => {
    expect(refuses(good, pieces)).toBe(false);
  });

  it.each([
    ['is larger than the limit', message(16, { announced: 1001 })],
    ['announces as much as a number holds', message(16, { announced: 2 ** 31 - 1 })],
    ['has no bytes, which would be read without end', message(16, { announced: 0 })],
    ['is smaller than its own header', message(16, { announced: 15 })],
    ['has a negative size', message(16, { announced: -1 })],
    ['is compressed', message(100, { operation: 2012 })],
  ])('rejects a message that %s, in any position and in pieces of any size', (_what, bad) => {
    for (const pieces of [1, 7, 5000]) {
      expect(refuses(bad, pieces)).toBe(true);
      expect(refuses(Buffer.concat([good, bad]), pieces)).toBe(true);
    }
  });

  it('rejects a size when its four bytes have arrived', () => {
    expect(refuses(message(16, { announced: 0 }).subarray(0, 4), 1)).toBe(true);
    expect(refuses(message(16, { announced: 16 }).subarray(0, 4), 1)).toBe(false);
  });

  it('rejects unsolicited data when it exceeds the limit', () => {
    const many = Buffer.concat(Array.from({ length: maxUnaskedBytes / 1000 + 1 }, () => message(1000)));
    expect(refuses(many, 500, true)).toBe(false);
    expect(refuses(many, 500, false)).toBe(true);
    expect(refuses(many.subarray(0, maxUnaskedBytes), 500, false)).toBe(false);
  });

  it('starts counting again when a reply is awaited', () => {
    const guard = new MessageGuard();
    const half = message(maxUnaskedBytes / 2);
    for (let turn = 0; turn < 10; turn++) {
      expect(guard.refuses(half, half.length, false)).toBe(false);
      expect(guard.refuses(half, half.length, true)).toBe(false);
    }
  });
});
