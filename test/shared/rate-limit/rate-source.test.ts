import { describe, expect, test } from 'vitest';
import { sourceOf } from '../../../shared/rate-limit/rate-limit.ts';

describe('the source a request is counted for', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '::ffff:203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('of %s is %s', (address, source) => {
    expect(sourceOf(address)).toBe(source);
  });
});
