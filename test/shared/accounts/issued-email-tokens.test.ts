import { describe, expect, test, vi } from 'vitest';
import {
  addressKeyOf,
  changeKeyOf,
  consumeCode,
  consumeToken,
  countChangeMail,
  endCooldown,
  issueTokens,
  type TokenPlace,
} from '../../../shared/accounts/email-tokens.ts';
import { JsonClient } from '../../../shared/persistence/aws-client.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { restoreItem } from '../../../shared/persistence/single-use.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';

const { time, faults } = useMemoryTable();
const scope = projectScope('a'.repeat(24));
const userId = 'b'.repeat(24);
const email = 'a@example.com';
const ip = '192.0.2.1';
const place: TokenPlace = { scope, kind: 'verify', addressKey: addressKeyOf(email) };
const minuteMs = 60_000;
const wrong = 'AAAA-AAAA';

const byToken = (token: string, from: TokenPlace = place) => consumeToken(from.scope, from.kind, token, { ip });
const byCode = (code: string, from = ip) => consumeCode(place, code, { ip: from });

describe('an emailed token and code', () => {
  test('prove the address one time, together', async () => {
    const first = await issueTokens(place, email, userId);
    expect(first.isGood).toBe(true);
    expect(await byToken(first.token)).toMatchObject({ owner: { email: { $eq: email } } });
    expect(await byCode(first.code)).toBeUndefined();
    time.now += minuteMs;
    const second = await issueTokens(place, email, userId);
    expect(await byCode(second.code)).toBeDefined();
    expect(await byToken(second.token)).toBeUndefined();
  });

  test('are valid again after a use that is undone', async () => {
    const { token, code } = await issueTokens(place, email, userId);
    const consumed = await byToken(token);
    if (!consumed) throw new Error('not consumed');
    await restoreItem(consumed.use);
    expect(await byCode(code)).toBeDefined();
  });

  test('are valid when the response of the write was lost, and a late write makes none valid again', async () => {
    faults.isRepeated = true;
    const sent = vi.mocked(JsonClient.prototype.send);
    sent.mockClear();
    const { token, isGood } = await issueTokens(place, email, userId);
    expect(isGood).toBe(true);
    const [late = ['', {}]] = sent.mock.calls;
    expect(await byToken(token)).toBeDefined();
    faults.isRepeated = false;
    await expect(JsonClient.prototype.send(...late)).rejects.toThrow();
    expect(await byToken(token)).toBeUndefined();
  });

  test('are of one kind, project and account', async () => {
    const { token, code } = await issueTokens(place, email, userId);
    expect(await byToken(token, { ...place, kind: 'reset' })).toBeUndefined();
    expect(await byToken(token, { ...place, scope: projectScope('c'.repeat(24)) })).toBeUndefined();
    expect(await consumeToken(scope, 'verify', token, { ip, userId: 'c'.repeat(24) })).toBeUndefined();
    expect(await consumeCode(place, code, { ip, userId: 'c'.repeat(24) })).toBeUndefined();
    expect(await byToken('none')).toBeUndefined();
    expect(await consumeToken(scope, 'verify', token, { ip, userId })).toBeDefined();
    expect(changeKeyOf(userId, email)).not.toBe(changeKeyOf('c'.repeat(24), email));
  });

  test.each([
    ['verify', 24 * 60],
    ['reset', 60],
    ['change', 60],
    ['code', 10],
  ] as const)('of kind %s: the link expires after %i minutes, and the code after 10', async (kind, minutes) => {
    const own = { ...place, kind };
    const { token, code } = await issueTokens(own, email, userId);
    time.now += 10 * minuteMs;
    expect(await consumeCode(own, code, { ip })).toBeUndefined();
    time.now += (minutes - 10) * minuteMs;
    expect(await byToken(token, own)).toBeUndefined();
    const last = await issueTokens(own, email, userId);
    time.now += minutes * minuteMs - 1000;
    expect(await byToken(last.token, own)).toBeDefined();
  });

  test('are replaced by others after a minute, not earlier', async () => {
    const first = await issueTokens(place, email, userId);
    time.now += minuteMs - 1000;
    const refused = await issueTokens(place, email, userId);
    expect(refused.isGood).toBe(false);
    expect(await byToken(refused.token)).toBeUndefined();
    time.now += 1000;
    const second = await issueTokens(place, email, userId);
    expect(second.isGood).toBe(true);
    expect(await byToken(first.token)).toBeUndefined();
    expect(await byToken(second.token)).toBeDefined();
  });

  test('are replaced immediately after an email that could not be sent, but not by an older one', async () => {
    const first = await issueTokens(place, email, userId);
    await endCooldown(place, first.token);
    const second = await issueTokens(place, email, userId);
    expect(second.isGood).toBe(true);
    await endCooldown(place, first.token);
    expect((await issueTokens(place, email, userId)).isGood).toBe(false);
  });

  test('for an address without an account prove nothing and delay no other email', async () => {
    const { token, code, isGood } = await issueTokens(place, email, undefined);
    expect(isGood).toBe(true);
    expect(await byToken(token)).toBeUndefined();
    expect(await byCode(code)).toBeUndefined();
    expect((await issueTokens(place, email, userId)).isGood).toBe(true);
  });
});

describe('a code', () => {
  test('ends after 5 attempts from one place; the others can still use it', async () => {
    const { code } = await issueTokens(place, email, userId);
    for (let left = 4; left > 0; left--) expect(await byCode(wrong)).toBeUndefined();
    expect(await byCode('malformed')).toBeUndefined();
    expect(await byCode(wrong)).toBeUndefined();
    expect(await byCode(code)).toBeUndefined();
    expect(await byCode(code, '192.0.2.2')).toBeDefined();
  });

  test('can be the fifth attempt', async () => {
    const { code } = await issueTokens(place, email, userId);
    for (let left = 4; left > 0; left--) await byCode(wrong);
    await byCode('malformed');
    expect(await byCode(code)).toBeDefined();
  });

  test('ends after 100 attempts from anywhere, and the link does not', async () => {
    const { token, code } = await issueTokens(place, email, userId);
    for (let left = 99; left > 0; left--) await byCode(wrong, `192.0.2.${left % 20}`);
    const other = '198.51.100.1';
    expect(await byCode(wrong, other)).toBeUndefined();
    expect(await byCode(code, other)).toBeUndefined();
    expect(await byToken(token)).toBeDefined();
  });
});

test('an address receives at most 10 emails of changes in an hour', async () => {
  for (let left = 10; left > 0; left--) expect(await countChangeMail(scope, email)).toBe(true);
  expect(await countChangeMail(scope, email)).toBe(false);
  expect(await countChangeMail(scope, 'b@example.com')).toBe(true);
  time.now += 60 * minuteMs;
  expect(await countChangeMail(scope, email)).toBe(true);
});
